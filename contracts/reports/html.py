"""`index.html`: the run for people, one page that asks nothing of the network."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, partial
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment
from markupsafe import Markup, escape

from contracts.evidence import observations
from contracts.evidence.record import RunRecord, Verdict
from contracts.evidence.verdicts import RunVerdict
from contracts.history.runs import Past, read_past
from contracts.reports.html_sections import (
    LARGEST,
    TRIES,
    Limits,
    clauses_of,
    differences,
    families,
    finding_cards,
    inlined,
    observed_points,
    realms_of,
    scope,
    template_environment,
    template_text,
    trends,
    values_by_realm,
)
from contracts.reports.questions import questions_of
from contracts.reports.summary import counts_per_realm, deviation_groups, lamps, wanting
from contracts.safe_text import printable

FILE_NAME = "index.html"
_PACKAGE = "contracts.reports"
_CASES_AT_MOST = 6
_THINNEST = 0.012
_MARKED_AT_MOST = 20
#: What the verdict on a clause in a realm says.
MEANINGS: Mapping[Verdict, str] = MappingProxyType(
    {
        Verdict.FAIL: "a must of the document is contradicted, confirmed on fresh data",
        Verdict.ERROR: "the suite itself broke",
        Verdict.INCONCLUSIVE: "the environment or a finding stood in the way",
        Verdict.ADVISORY: "a reasonable reading of the document is contradicted",
        Verdict.DEVIATION: "contradicted, known and accepted until a day",
        Verdict.UNTESTED: "out of the profile, a setting is missing, or no request could show it",
        Verdict.OBSERVED: "the document is silent; what was seen is noted",
        Verdict.PASS: "an assertion was reached, and held",
    }
)
#: Verdict of a run → the verdict of a clause whose mark and colour it takes.
KINDS: Mapping[str, str] = MappingProxyType(
    {
        **{str(verdict): str(verdict) for verdict in Verdict},
        "interrupted": "inconclusive",
        "nothing tested": "untested",
        "usage": "inconclusive",
    }
)


def write(record: RunRecord, verdict: RunVerdict, folder: Path) -> Path:
    """Write `index.html` and return its path.

    Raises:
        UsageError: what the folder keeps of earlier runs was altered.
    """
    path = folder / FILE_NAME
    page = render(record, verdict, read_past(folder), folder.resolve().name)
    path.write_text(page, "utf-8", newline="\n")
    return path


def render(record: RunRecord, verdict: RunVerdict, past: Past | None = None, name: str = "") -> str:
    """Return the page: what came over the wire is escaped, and no script but the page's own may run.

    Args:
        past: the runs before it.
    """
    past, page = past or Past(), ""
    grid, silent = _grid(record, verdict), _silent(record, verdict)
    for limits in TRIES:
        page = _render(record, verdict, limits, past, name, {**grid, **silent})
        if len(page.encode()) < LARGEST:
            break
    return page


def _render(
    record: RunRecord, verdict: RunVerdict, limits: Limits, past: Past, name: str, more: Mapping[str, Any]
) -> str:
    realms = realms_of(record, verdict)
    style = f":root {{ --realms: {len(realms)}; --cell: 106px; }}\n{template_text(_PACKAGE, 'report.css')}"
    script = template_text(_PACKAGE, "report.js")
    shown = list(finding_cards(record, verdict, past, limits))
    return (
        _environment(limits)
        .get_template("report.html.j2")
        .render(
            record=record,
            run=record.run,
            verdict=verdict,
            verdicts=list(Verdict),
            kinds=KINDS,
            lamps=lamps(record, verdict),
            realms=realms,
            cards=shown,
            carded={finding.id for card in shown for finding in card.cause.all_findings},
            meanings=MEANINGS,
            deviations=deviation_groups(verdict),
            scope=scope(record, verdict),
            trends=trends(record, verdict, past, name),
            broken=[case for case in record.cases if case.outcome is Verdict.ERROR],
            wanting=wanting(verdict.cells),
            limits=limits,
            cases_at_most=_CASES_AT_MOST,
            **inlined(style, script),
            **more,
        )
    )


def _grid(record: RunRecord, verdict: RunVerdict) -> dict[str, Any]:
    return {
        "families": families(record, verdict),
        "operations": sorted({name for cell in verdict.cells for name in cell.clause.operations}),
        "totals": Counter(cell.verdict for cell in verdict.cells),
        "levels": Counter(str(clause.level) for clause in clauses_of(verdict).values()),
        "per_realm": counts_per_realm(verdict.cells),
        "judged": any(cell.assertions for cell in verdict.cells),
    }


def _silent(record: RunRecord, verdict: RunVerdict) -> dict[str, Any]:
    seen, clauses, realms = observations.build(record), clauses_of(verdict), realms_of(record, verdict)
    apart = differences(seen, clauses, realms)
    return {
        "sights": observed_points(seen, clauses, realms),
        "differences": apart,
        "beside": partial(values_by_realm, lines=apart),
        "asked": questions_of(record, verdict, seen),
    }


@cache
def _environment(limits: Limits) -> Environment:
    environment = template_environment(_PACKAGE)
    environment.filters["bar"] = _bar
    environment.filters["cut"] = limits.cut
    environment.filters["marking"] = _marking
    environment.tests["web"] = is_web
    return environment


def _marking(text: str, marks: Sequence[str]) -> Markup:
    """Return a text with what gives a finding away marked, everything escaped."""
    text, wanted = printable(text), [printable(mark) for mark in marks if mark.strip()]
    if not wanted:
        return escape(text)
    pattern = re.compile("|".join(map(re.escape, sorted(wanted, key=len, reverse=True))))
    pieces, end = Markup(), 0
    for match in islice(pattern.finditer(text), _MARKED_AT_MOST):
        pieces += escape(text[end : match.start()]) + Markup("<mark>{}</mark>").format(match[0])
        end = match.end()
    return pieces + escape(text[end:])


def is_web(address: str) -> bool:
    """Tell whether an address may be made a link: nothing that could run, or that is not shown as it is."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.netloc) and printable(address) == address


def _bar(counts: Mapping[Verdict, int]) -> list[tuple[Verdict, float, float]]:
    """Return a bar as verdict, start and width in hundredths, the worst first, none too thin to see."""
    present = [(verdict, counts[verdict]) for verdict in Verdict if counts.get(verdict)]
    shares = [max(_THINNEST, number / sum(counts.values())) for _, number in present]
    pieces, start = [], 0.0
    for (verdict, _), share in zip(present, shares, strict=True):
        width = 100 * share / sum(shares)
        pieces.append((verdict, round(start, 3), round(width, 3)))
        start += width
    return pieces
