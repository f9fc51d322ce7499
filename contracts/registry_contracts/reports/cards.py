"""The card of a cause: everything that the terminal, tickets, JUnit, the page and the summary show about it.

Its files: `findings/<id>.json` for each finding, and for each cause `<id>.md` for a ticket and `<id>.sh`.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from msgspec import structs

from registry_contracts.evidence.causes import Cause
from registry_contracts.evidence.findings import Finding, Standing
from registry_contracts.evidence.record import RunRecord
from registry_contracts.evidence.terms import Deviation
from registry_contracts.evidence.verdicts import RunVerdict
from registry_contracts.exchanges.exchange import Exchange, exchange_entry
from registry_contracts.exchanges.transcript import heading, request_text, response_text
from registry_contracts.file_formats import plain
from registry_contracts.interface.catalogue import Clause
from registry_contracts.reports.earlier_writes import earlier_writes
from registry_contracts.reports.pages import markdown_template
from registry_contracts.reports.scripts import NextCommand, own_commands, script
from registry_contracts.reports.verdict_json import target_of
from registry_contracts.safe_text import cut, json_text, listed, many, plain_line

FOLDER_NAME: Final = "findings"
#: Ending of the script that sends the requests of a finding.
SCRIPT: Final = ".sh"
_KINDS: Final = (".json", ".md", SCRIPT)
#: Most findings in the terminal; the report has all.
_FINDINGS_AT_MOST: Final = 40
_LONGEST: Final = 400
#: Longest body in a ticket: of the finding's exchanges, and of earlier writes.
_BODY, _EARLIER_BODY = 20_000, 4_000
COLOURS: Final[Mapping[Standing, str]] = {
    Standing.FAIL: "red",
    Standing.ADVISORY: "yellow",
    Standing.DEVIATION: "yellow",
    Standing.UNCONFIRMED: "yellow",
    Standing.OBSERVED: "cyan",
}
STANDING_SENTENCES: Final[Mapping[Standing, str]] = {
    Standing.FAIL: "a statement of the interface document is contradicted; this fails the run",
    Standing.ADVISORY: "a reasonable reading of the document is contradicted; this does not fail a run",
    Standing.DEVIATION: "contradicted, known and accepted until a day; this does not fail a run",
    Standing.UNCONFIRMED: "seen once, but not again with fresh data; this does not fail a run",
    Standing.OBSERVED: "the interface document is silent here; this does not fail a run",
}


@dataclass(frozen=True, slots=True)
class Card:
    """A cause with its clause, the exchanges that show it, the earlier writes that they rely on, and next commands.

    `script` sends the requests without this program; it is empty if the record does not hold them.
    """

    cause: Cause[Finding]
    clause: Clause | None
    accepted: Deviation | None
    cases: tuple[str, ...]
    before: tuple[Exchange, ...]
    shown: tuple[Exchange, ...]
    commands: tuple[NextCommand, ...]
    script: str

    @property
    def finding(self) -> Finding:
        """The finding whose evidence is shown."""
        return self.cause.lead

    @property
    def says(self) -> str:
        """Its effect on the run, as a sentence."""
        return STANDING_SENTENCES[self.finding.standing]

    @property
    def culprit(self) -> Exchange | None:
        """The exchange that shows the contradiction."""
        return next((exchange for exchange in self.shown if exchange.id == self.cause.culprit), None)


def _card_of(record: RunRecord, cause: Cause[Finding], clause: Clause | None) -> Card:
    finding = cause.lead
    shown, before = record.exchanges_of(finding), earlier_writes(record, finding)
    cases = dict.fromkeys(case for finding in cause.findings for case in finding.cases)
    everywhere = "Run all cases of its clause, from any machine"
    all_cases = NextCommand("cases", everywhere, cause.lead.reproduce.command)
    return Card(
        cause=cause,
        clause=clause,
        accepted=record.run.terms.entry(cause.lead.deviation),
        cases=tuple(_case_names(record, cases)),
        before=before,
        shown=shown,
        commands=(*own_commands(record.run.command, cause.lead), all_cases),
        script=script(record.run, cause, before, shown),
    )


def cards_of(record: RunRecord, verdict: RunVerdict) -> Iterator[Card]:
    """Yield the cards of a run, the worst first."""
    return (_card_of(record, cause, verdict.clauses.get(cause.clause)) for cause in verdict.causes)


def _case_names(record: RunRecord, cases: Mapping[str, None] | tuple[str, ...]) -> list[str]:
    """Return the names of cases, each once."""
    names = {case.id: case.name for case in record.cases}
    return list(dict.fromkeys(names.get(case, case) for case in cases))


def following(cause: Cause[Finding]) -> str:
    """The contradictions that only follow from a cause, as text."""
    return cut(listed(dict.fromkeys(f"{each.clause} ({each.operation})" for each in cause.follows)), _LONGEST)


@dataclass(frozen=True, slots=True)
class Line:
    """A line for a terminal; `colour` is empty for none."""

    text: str
    colour: str = ""
    bold: bool = False


def lines_of(verdict: RunVerdict, run_command: str, folder: Path) -> Iterator[Line]:
    """Lines on the findings of a run by cause, numbered, the worst first; at most a dozen lines each.

    Args:
        run_command: the command of the run, as `run.json` holds it.
        folder: the run's folder.
    """
    for number, cause in enumerate(verdict.causes[:_FINDINGS_AT_MOST], start=1):
        lead, colour = cause.lead, COLOURS[cause.standing]
        yield Line(f"{number}. {lead.standing}: {plain_line(cause.heading, _LONGEST)}", colour, bold=True)
        yield Line(f"   {plain_line(cause.was, _LONGEST)}", colour)
        yield Line(f"   {cause.place} · {lead.clause} · {lead.rate_in_words}")
        yield from (Line(f"   {words}") for words in _standing_of(verdict, cause))
        yield from (Line(f"   {name:<9}{plain_line(text, _LONGEST)}") for name, text in cause.details.items())
        commands = [(command.name, command.line) for command in own_commands(run_command, lead)]
        by_hand = folder / FOLDER_NAME / f"{cause.id}{SCRIPT}"
        commands += [("by hand", f"bash {shlex.quote(str(by_hand))}")] if cause.curl else []
        yield from (Line(f"   {name:<9}{line}", "cyan") for name, line in commands)
        yield Line("")
    if more := len(verdict.causes) - _FINDINGS_AT_MOST:
        yield from [Line(f"{many(more, 'finding')} more in the report")] if more > 0 else []


def _standing_of(verdict: RunVerdict, cause: Cause[Finding]) -> Iterator[str]:
    """Why a cause does not fail the run, which methods it concerns, what it blocked, and what follows from it."""
    accepted = verdict.accepting(cause.lead)
    if not cause.counted:
        yield "outside the consumer, not counted"
    if accepted:
        yield f"accepted until {accepted.expires}, {accepted.place}"
    if cause.lead.methods:
        yield f"used by {', '.join(cause.lead.methods)}"
    if cause.blocked_cases:
        yield cause.blocked_in_words
    if cause.follows:
        yield f"this also causes: {following(cause)}"


def in_text(cause: Cause[Finding]) -> str:
    """A cause as plain text, for a build server."""
    follows = [f"{each.headline} ({each.clause}, follows from it)" for each in cause.follows]
    details = [*cause.details_in_words, *filter(None, [cause.blocked_in_words])]
    return "\n".join([f"{cause.place}: {cause.headline}", *details, *follows])


def _markdown(record: RunRecord, card: Card) -> str:
    """Return a card as a Markdown page, ready for a ticket."""
    return markdown_template("finding.md.j2").render(
        card=card,
        cause=card.cause,
        finding=card.finding,
        facts=_facts(record, card),
        around=[(each, _EARLIER_BODY) for each in card.before] + [(each, _BODY) for each in card.shown],
        body=_BODY,
        heading=heading,
        request_text=request_text,
        response_text=response_text,
    )


def _facts(record: RunRecord, card: Card) -> dict[str, str]:
    cause, finding, clause, accepted = card.cause, card.finding, card.clause, card.accepted
    return {
        "Clause": f"{finding.clause}: {clause.wording if clause else cause.should}",
        "Level": str(clause.level) if clause else "unknown to the catalogue",
        "Source": clause.source if clause else "unknown to the catalogue",
        "Role": finding.role or "any",
        "Confirmed": "yes" if finding.confirmed else "no",
        "Rate": "; ".join(f"{each.realm}: {each.rate_in_words}" for each in cause.findings),
        "Counts": "yes" if finding.counted else "no: outside what the consumer uses",
        "Methods": ", ".join(finding.methods),
        "Other cases": cause.blocked_in_words,
        "Accepted": f"{accepted.reason} ({accepted.issue}, until {accepted.expires})" if accepted else "",
        "Findings": ", ".join(f"{each.id} ({each.realm})" for each in cause.findings),
        "Cases": "; ".join(card.cases),
        "Target": f"{record.run.target} ({record.run.base_url}), {record.run.started}",
    }


def write(record: RunRecord, verdict: RunVerdict, folder: Path) -> None:
    """Write the files, and remove those of an earlier rendering; the folder also exists without findings."""
    target = folder / FOLDER_NAME
    target.mkdir(exist_ok=True)
    for stale in (path for kind in _KINDS for path in target.glob(f"*{kind}")):
        stale.unlink()
    for finding in verdict.findings:
        content = json_text(_build(record, finding, verdict.clauses.get(finding.clause)), indent=2)
        (target / f"{finding.id}.json").write_text(content + "\n", "utf-8")
    for card in cards_of(record, verdict):
        (target / f"{card.cause.id}.md").write_text(_markdown(record, card), "utf-8")
        if card.script:
            (target / f"{card.cause.id}{SCRIPT}").write_text(card.script, "utf-8", newline="\n")


def _build(record: RunRecord, finding: Finding, clause: Clause | None) -> dict[str, Any]:
    """Return a finding with its clause, its target and its exchanges.

    `level`, `wording` and `source` are null if the catalogue lacks the clause. `sequence` is the minimal sequence that
    shows the finding; `arranged` was sent before it.
    """
    run = record.run
    of_clause = {name: getattr(clause, name, None) for name in ("level", "wording", "source")}
    around = {
        "target": target_of(record),
        "seed": run.seed,
        "started": run.started,
        "versions": run.versions,
        "case_names": _case_names(record, finding.cases),
        "arranged": [exchange_entry(each) for each in earlier_writes(record, finding)],
        "sequence": [exchange_entry(each) for each in record.exchanges_of(finding)],
    }
    return dict(plain({**structs.asdict(finding), **of_clause, **around}))
