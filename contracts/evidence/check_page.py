"""`index.html` of somebody's traffic, in the style of a run's: one page that asks nothing of the network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from contracts.evidence.limits import LARGEST, TRIES, Limits
from contracts.evidence.one_page import inlined, template_environment, template_text
from contracts.evidence.record import RecordedExchange
from contracts.evidence.transcript import request_text, response_text
from contracts.interface.catalogue import load_catalogue

FILE_NAME: Final = "index.html"
_PACKAGE: Final = "contracts.evidence"
_BODY_CHARACTERS: Final = 4_000


@dataclass(frozen=True, slots=True)
class _Exchange:
    heading: str
    request: str
    response: str

    @property
    def size(self) -> int:
        return len(self.request) + len(self.response)


@dataclass(frozen=True, slots=True)
class _Card:
    finding: Mapping[str, Any]
    wording: str
    source: str
    exchanges: tuple[_Exchange, ...]


def write(
    check: Mapping[str, Any], exchanges: Sequence[Mapping[int, RecordedExchange]], folder: Path
) -> Path:
    """Write the page.

    Args:
        check: what `check.json` holds.
        exchanges: for each finding some exchanges, by number, in the order of the findings.
        folder: where to put it.
    """
    path = folder / FILE_NAME
    path.write_text(render(check, exchanges), "utf-8", newline="\n")
    return path


def render(check: Mapping[str, Any], exchanges: Sequence[Mapping[int, RecordedExchange]]) -> str:
    """Return the page: what came over the wire is escaped, and no script but the page's own may run."""
    page = ""
    for limits in TRIES:
        page = _render(check, exchanges, limits)
        if len(page.encode()) < LARGEST:
            break
    return page


def _render(
    check: Mapping[str, Any], exchanges: Sequence[Mapping[int, RecordedExchange]], limits: Limits
) -> str:
    environment = template_environment(_PACKAGE)
    environment.filters["cut"] = limits.cut
    return environment.get_template("check.html.j2").render(
        check=check,
        cards=_cards(check, exchanges, limits),
        used=[name for name, times in check["operations"].items() if times],
        judged=bool(check["clauses"]),
        limits=limits,
        **inlined(template_text(_PACKAGE, "report.css"), template_text(_PACKAGE, "report.js")),
    )


def _cards(
    check: Mapping[str, Any], exchanges: Sequence[Mapping[int, RecordedExchange]], limits: Limits
) -> list[_Card]:
    """The findings; past the budget they come without exchanges."""
    catalogue, left, found = load_catalogue(), limits.budget, []
    for finding, kept in list(zip(check["findings"], exchanges, strict=True))[: limits.cards]:
        clause = catalogue.clause(finding["clause"]) if finding["clause"] else None
        shown = tuple(_exchange(number, kept[number]) for number in sorted(kept))
        size = sum(each.size for each in shown)
        shown, left = (shown, left - size) if size <= left else ((), left)
        found.append(_Card(finding, clause.wording if clause else "", clause.source if clause else "", shown))
    return found


def _exchange(number: int, exchange: RecordedExchange) -> _Exchange:
    status = exchange.response["status"] if exchange.response else "no answer"
    what = exchange.operation or exchange.request["method"]
    return _Exchange(
        f"{number}. {what} in {exchange.realm}: {status}, {exchange.seconds * 1000:.0f} ms",
        request_text(exchange, _BODY_CHARACTERS),
        response_text(exchange, _BODY_CHARACTERS),
    )
