"""Nights without a service: verdicts in the real format over the real catalogue, with what a test plants in them.

`python -m tests.meta.sample_nights DIR` builds the site over forty nights of two targets into a new folder, and prints
a table: what was planted, the page that has to show it, and whether it does.
"""

import html
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from contracts.evidence.findings import Standing, finding_id
from contracts.evidence.record import Verdict
from contracts.evidence.verdicts import DeviationState
from contracts.file_formats import EXIT_CODES, write_file
from contracts.history.observed_facts import Kind
from contracts.interface.catalogue import Catalogue, Level, load_catalogue
from contracts.reports.verdict_json import (
    FILE_NAME,
    CauseEntry,
    CellEntry,
    ClauseEntry,
    ConsumerEntry,
    CountedChange,
    DeviationEntry,
    EnvironmentEntry,
    FindingEntry,
    ObservationEntry,
    ReproduceEntry,
    TargetEntry,
    VerdictFile,
)

REALMS = ("abs-dev", "bch-dev", "chm-dev", "ort-dev")
_WORDS = {code: word for word, code in EXIT_CODES.items()}


@dataclass
class Night:
    """One run as a test wants it: everything holds but what is planted.

    `red` maps clause and realm to what was seen there; `cells` gives other verdicts, with their reason. `observed`
    maps a silent clause and a realm to what was seen. `accepted` are deviations; a red place that one speaks of stands
    as a deviation until its day. `more` replaces members of the file.
    """

    started: datetime
    target: str = "dev"
    base_url: str = "https://registry.example.test"
    profile: str = "nightly"
    realms: Sequence[str] = REALMS
    red: Mapping[tuple[str, str], str] = field(default_factory=dict)
    cells: Mapping[tuple[str, str], tuple[Verdict, str]] = field(default_factory=dict)
    observed: Mapping[tuple[str, str], Any] = field(default_factory=dict)
    accepted: Sequence[DeviationEntry] = ()
    drift: Sequence[CountedChange] = ()
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of its folder."""
        return f"{self.started:%Y%m%d-%H%M%S}-{self.target}"

    def write(self, reports: Path) -> Path:
        """Write its `verdict.json` into a folder of its own below the reports, and return that folder."""
        folder = reports / self.name
        folder.mkdir(parents=True)
        write_file(folder / FILE_NAME, self.verdict(), VerdictFile)
        return folder

    def verdict(self) -> VerdictFile:
        """The content of its `verdict.json`."""
        catalogue = load_catalogue()
        findings = tuple(self._finding(catalogue, *place, seen) for place, seen in self.red.items())
        clauses = tuple(self._clauses(catalogue))
        counts = dict.fromkeys(Verdict, 0)
        for clause in clauses:
            for cell in clause.realms.values():
                counts[cell.verdict] += 1
        failing = any(each.standing is Standing.FAIL for each in findings) or any(
            entry.fails for entry in self.accepted
        )
        stuck = counts[Verdict.INCONCLUSIVE] > 0
        code = 1 if failing else 6 if stuck else 0
        content: dict[str, Any] = {
            "verdict": _WORDS[code],
            "exit_code": code,
            "reason": f"{len(findings)} findings" if failing else "as planted",
            "complete": True,
            "problems": (),
            "interrupted": False,
            "target": TargetEntry(self.target, "development", self.base_url),
            "profile": self.profile,
            "strict": False,
            "waived": {},
            "consumer": None,
            "waivers": (),
            "notes": (),
            "seed": 1,
            "realms": tuple(self.realms),
            "started": self.started.isoformat(),
            "finished": (self.started + timedelta(minutes=4)).isoformat(),
            "seconds": 240.0,
            "workers": 1,
            "command": f"registry-contracts run --target {self.target} --profile {self.profile}",
            "versions": {"suite": "0.1.0"},
            "cases": len(clauses),
            "counts": counts,
            "clauses": clauses,
            "findings": findings,
            "causes": tuple(self._causes(findings)),
            "observations": tuple(
                ObservationEntry(clause, realm, catalogue.clause(clause).operations[0], "planted", seen)
                for (clause, realm), seen in self.observed.items()
            ),
            "drift": tuple(self.drift),
            "deviations": tuple(self.accepted),
            "environment": EnvironmentEntry(requests=2000),
            "residue": (),
            "leftovers": (),
        }
        return VerdictFile(**{**content, **self.more})

    def _clauses(self, catalogue: Catalogue) -> Any:
        for clause in catalogue:
            realms = [realm for realm in clause.realms if realm == "any" or realm in self.realms]
            cells = {realm: self._cell(catalogue, clause.id, realm) for realm in realms}
            if cells:
                yield ClauseEntry(clause.id, str(clause.level), cells)

    def _cell(self, catalogue: Catalogue, clause_id: str, realm: str) -> CellEntry:
        clause = catalogue.clause(clause_id)
        place = (clause_id, realm)
        if place in self.red:
            finding = self._finding(catalogue, clause_id, realm, self.red[place])
            word = Verdict(str(finding.standing))
            return CellEntry(word, 1, 0, 1, 1, (finding.id,), self.red[place])
        if place in self.cells:
            word, reason = self.cells[place]
            return CellEntry(word, int(word is Verdict.PASS), int(word is Verdict.PASS), 0, 1, (), reason)
        if clause.untested:
            return CellEntry(Verdict.UNTESTED, 0, 0, 0, 0, (), clause.untested)
        word = Verdict.OBSERVED if clause.level is Level.SILENT else Verdict.PASS
        return CellEntry(word, 1, 1, 0, 1, (), None)

    def _finding(self, catalogue: Catalogue, clause_id: str, realm: str, seen: str) -> FindingEntry:
        clause = catalogue.clause(clause_id)
        operation = clause.operations[0]
        entry = next((each for each in self.accepted if _speaks(each, clause_id, realm)), None)
        held = entry is not None and entry.expires >= self.started.date()
        firm = Standing.FAIL if clause.level is Level.MUST else Standing.ADVISORY
        return FindingEntry(
            id=finding_id(clause_id, realm, operation),
            clause=clause_id,
            realm=realm,
            operation=operation,
            standing=Standing.DEVIATION if held else firm,
            role="author",
            expected="what the clause says",
            seen=seen,
            confirmed=True,
            intermittent=False,
            rate=(2, 2),
            counted=True,
            methods=(),
            deviation=f"{entry.file}:{entry.line}" if held and entry else None,
            cases=("planted",),
            exchanges=(),
            reproduce=ReproduceEntry("registry-contracts replay", ()),
        )

    def _causes(self, findings: Sequence[FindingEntry]) -> Any:
        groups: dict[tuple[Any, ...], list[FindingEntry]] = {}
        for each in findings:
            groups.setdefault((each.clause, each.operation, each.standing), []).append(each)
        for group in groups.values():
            lead = group[0]
            yield CauseEntry(
                id=lead.id,
                clause=lead.clause,
                operation=lead.operation,
                standing=lead.standing,
                counted=True,
                realms=tuple(each.realm for each in group),
                should="What the clause says.",
                was=f"But {lead.operation} showed: {lead.seen}.",
                faults=(),
                findings=tuple(each.id for each in group),
                follows=(),
                blocked_cases=0,
                blocked_clauses=(),
            )


def _speaks(entry: DeviationEntry, clause: str, realm: str) -> bool:
    return entry.clause == clause and realm in entry.realms


def deviation(
    clause: str, *realms: str, expires: str, owner: str = "drafts team", **more: Any
) -> DeviationEntry:
    """An accepted deviation that happens in its realms, unless `more` says otherwise."""
    content: dict[str, Any] = {
        "clause": clause,
        "realms": realms,
        "operation": None,
        "reason": "Known, and promised to be settled.",
        "owner": owner,
        "issue": "https://tracker.example.test/17",
        "expires": date.fromisoformat(expires),
        "profile": "gate",
        "file": "deviations/dev.toml",
        "line": 3,
        "course": DeviationState.HAPPENS,
        "days_left": 30,
        "happens_in": realms,
        "gone_in": (),
        "unjudged_in": (),
        "findings": (),
        "counted": True,
        "fails": False,
        "warns": False,
        "says": f"happens in {', '.join(realms)}; accepted until {expires}",
    }
    return DeviationEntry(**{**content, **more})


def consumer_of(*operations: str, file: str = "other.toml") -> ConsumerEntry:
    """What a run was limited to."""
    return ConsumerEntry(file, operations, {}, (), ())


def changed(clause: str, operation: str, was: str, now: str, *realms: str) -> CountedChange:
    """A breaking change of an observation against the baseline."""
    return CountedChange(
        severity=Kind.STATUS_CHANGED.severity,
        change=str(Kind.STATUS_CHANGED),
        clause=clause,
        operation=operation,
        realms=realms,
        point="status",
        was=was,
        now=now,
        counted=True,
    )


@dataclass(frozen=True)
class Planted:
    """A change that was planted, and where a site has to show it: a page, and texts that stand on it in this order."""

    what: str
    page: str
    shown: tuple[str, ...]

    def is_shown(self, site: Path) -> bool:
        """Whether its page shows it."""
        page, in_order = site / self.page, ".*?".join(map(re.escape, self.shown))
        return page.exists() and re.search(in_order, text_of(page)) is not None


def text_of(page: Path) -> str:
    """The text of a page, as a reader sees it."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page.read_text("utf-8"))).split())


def build_site(nights: Sequence[Night], folder: Path, *words: str) -> None:
    """Build the site over nights into a folder, as `registry-contracts site` does."""
    from contracts.cli.site import command  # noqa: PLC0415 - the module loads the whole program

    with tempfile.TemporaryDirectory() as reports:
        for night in nights:
            night.write(Path(reports))
        if command.main([reports, "-o", str(folder), *words], standalone_mode=False) != 0:
            raise SystemExit("the site was not built")


_FIRST: Final = datetime(2026, 10, 1, 2, 17, tzinfo=UTC)
_NIGHTS: Final = 40
_LOST: Final = "200 without the document"
_DOCUMENTS: Final = ("abs-dev", "bch-dev", "chm-dev")


def planted_nights() -> tuple[list[Night], list[Planted]]:
    """Return forty nights of the targets dev and staging, with one run too many, and all that was planted in them."""
    nights = [_of_dev(number) for number in range(_NIGHTS)]
    nights += [_of_staging(number) for number in range(_NIGHTS)]
    stopped = Night(_at(36) + timedelta(hours=5), more=dict(_STOPPED))
    return [*nights, stopped], list(_PLANTED)


def _stuck(number: int) -> dict[tuple[str, str], tuple[Verdict, str]]:
    stuck = (Verdict.INCONCLUSIVE, "the gateway answered 503 for it")
    if number == _NIGHTS - 1:
        return {("list-skip-beyond", "bch-dev"): stuck}
    return {("list-skip", realm): stuck for realm in _DOCUMENTS} if number == 33 else {}


_STOPPED: Final = {"verdict": "interrupted", "exit_code": 2, "interrupted": True}


def _at(number: int) -> datetime:
    return _FIRST + timedelta(days=number)


def _of_staging(number: int) -> Night:
    return Night(
        _at(number) + timedelta(hours=1),
        target="staging",
        base_url="https://staging.example.test",
        red={("attachment-several", realm): "only the last of two" for realm in _DOCUMENTS},
        observed={("draft-success-status", realm): 200 for realm in _DOCUMENTS},
    )


def _of_dev(number: int) -> Night:
    red: dict[tuple[str, str], str] = {}
    if 10 <= number <= 14:
        red |= {("draft-get-content", realm): _LOST for realm in ("abs-dev", "bch-dev")}
    if number >= 30:
        red["draft-delete-removes", "chm-dev"] = "200 after the draft was deleted"
    if number >= 5:
        red["uid-too-short", "abs-dev"] = "201 for ten characters"
    if number >= 18:
        red["contact-mandatory-emails", "bch-dev"] = "201 without emails"
    if number in {24, 26, 28}:
        red["list-top", "abs-dev"] = "three items for a $top of two"
    if 20 <= number < 39:
        red["list-skip-beyond", "bch-dev"] = "500 beyond the end"
    if number == 39:
        red["token-issued", "any"] = "200 without a token"
    accepted = [deviation("uid-too-short", "abs-dev", expires=f"{_at(25):%F}")] if 7 <= number <= 25 else []
    if number > 25:
        over: dict[str, Any] = {"course": DeviationState.EXPIRED, "fails": True, "days_left": -1}
        ran_out = f"ran out on {_at(25):%F}, and it still happens in abs-dev"
        accepted = [deviation("uid-too-short", "abs-dev", expires=f"{_at(25):%F}", says=ran_out, **over)]
    if number >= 20:
        accepted.append(
            deviation("contact-mandatory-emails", "bch-dev", expires="2026-12-31", owner="contacts team")
        )
    status = 204 if number >= 22 else 200
    return Night(
        _at(number),
        realms=REALMS[:3] if number == 35 else REALMS,
        red=red,
        cells=_stuck(number),
        observed={("draft-success-status", realm): status for realm in _DOCUMENTS},
        accepted=accepted,
        drift=[changed("list-success-status", "listDrafts", "200", "206", "chm-dev")] if number >= 37 else (),
    )


#: What was planted | the page that shows it (`@20261011` is that of dev's night of that day) | texts on it, in order.
_TABLE: Final = """\
red, though the last night could not judge it | index.html | list-skip-beyond | since 2026-10-21 | last seen
  2026-11-08
red for five nights | clause-draft-get-content.html | 2026-10-11 | 2026-10-15 | fail | abs-dev | bch-dev | 200
  without the document
turned red | @20261011 | contradicted now | draft-get-content | 200 without the document
holds again | @20261016 | holds again | draft-get-content | since 2026-10-11
red since then, and not accepted | index.html | draft-delete-removes | chm-dev | since 2026-10-31 02:17 | not
  accepted
by whom accepted, until when | index.html | contact-mandatory-emails | since 2026-10-19 | accepted by contacts
  team until 2026-12-31
accepted from that night | @20261021 | accepted | contact-mandatory-emails | contacts team
a deviation ran out | @20261027 | a deviation has to be changed | uid-too-short | ran out on 2026-10-26
an acceptance that ran out | index.html | uid-too-short | since 2026-10-06 | ran out: accepted by drafts team
  until 2026-10-26
its owner and course, on the clause | clause-uid-too-short.html | expired | by drafts team until 2026-10-26
observed otherwise | clause-draft-success-status.html | Observed | status changed | 2026-10-23 | 200, now 204
observed otherwise, on its night | @20261023 | observed otherwise | draft-success-status | 200, now 204
drift from the baseline | @20261107 | drift from the baseline | list-success-status | 200, now 206
drift, on its clause | clause-list-success-status.html | Drift from the baseline | 2026-11-07 | the last night |
  206
an outage of one night | @20261103 | no longer judged | list-skip | the gateway answered 503
judged again | @20261104 | judged again | list-skip
a realm that was left out of a night | @20261105 | abs-dev, bch-dev, chm-dev)
comes and goes | clause-list-top.html | 2026-10-29 | 2026-10-28 | 2026-10-27 | 2026-10-26 | 2026-10-25
changed in the last night | index.html | Changed in the last night | token-issued | 200 without a token
a run that was interrupted | index.html | Runs that are not compared | 20261106-071700-dev | it was interrupted
dev beside staging, a verdict | compare-1.html | By verdict | attachment-several | pass | fail
dev beside staging, an observation | compare-1.html | By observation | draft-success-status | 204 | 200
realms beside each other | realms-dev-nightly.html | draft-delete-removes | pass | fail
all of staging's history | clause-attachment-several.html | staging · nightly | at least since 2026-10-01
the feed: turned red | feed.xml | contradicted now: token-issued (any): 200 without a token
the feed: accepted | feed.xml | accepted: contact-mandatory-emails (bch-dev):
the badge | badge-dev-nightly.svg | dev | fail 2026-11-09
"""


def _planted(row: str) -> Planted:
    """A planted change, of a row of the table."""
    what, page, *shown = row.split(" | ")
    night = page.replace("@", "night-dev-nightly-") + "-021700.html"
    return Planted(what, night if page[0] == "@" else page, tuple(shown))


_PLANTED: Final = tuple(map(_planted, _TABLE.replace("\n  ", " ").splitlines()))


def main() -> int:
    """Build the site and print the table; 1 where anything planted is not shown."""
    site = Path(sys.argv[1])
    nights, planted = planted_nights()
    build_site(nights, site, "--compare", "dev", "staging")
    shown = [each.is_shown(site) for each in planted]
    for each, seen in zip(planted, shown, strict=True):
        sys.stdout.write(f"{'shown' if seen else 'MISSING':<8} {each.what:<48} {each.page}\n")
    sys.stdout.write(f"{sum(shown)} of {len(shown)} planted changes are shown\n")
    return int(not all(shown))


if __name__ == "__main__":
    sys.exit(main())
