"""A finding for people: its lines for a terminal, `findings/<id>.json`, and `findings/<id>.md` for a ticket.

The JSON file holds the exchanges that show the finding, and the earlier writes that they rely on. The Markdown file
holds the findings of one cause.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from msgspec import structs

from contracts.evidence.causes import Cause
from contracts.evidence.findings import Finding, Standing
from contracts.evidence.record import RunRecord
from contracts.evidence.verdicts import RunVerdict
from contracts.exchanges.exchange import Body, Exchange, ExchangeEntry, exchange_entry
from contracts.exchanges.request_facts import subject_of
from contracts.exchanges.transcript import heading, json_of, request_text, response_text
from contracts.file_formats import Level, Moment, Name, Seed, write_file
from contracts.interface.catalogue import Clause
from contracts.interface.description import load_description, operations_with
from contracts.reports.shell_commands import BY_HAND, NextCommand, next_commands, script
from contracts.reports.verdict_json import FindingEntry, TargetEntry, describe, target_of
from contracts.safe_text import cut, fenced, inline, many, plain_line
from contracts.session.namespace import SUITE_PREFIX

#: Findings that are told one by one; the report holds them all.
_FINDINGS_AT_MOST: Final = 40
_FOLLOWING_AT_MOST: Final = 3
_LONGEST: Final = 400
#: A longer line cannot be pasted from a terminal.
_LONGEST_CURL: Final = 600
_IN_TERMINAL: Final = ("explain", "again", "serve", "token", "curl")
_COLOURS: Final[Mapping[Standing, str]] = {
    Standing.FAIL: "red",
    Standing.ADVISORY: "yellow",
    Standing.DEVIATION: "yellow",
    Standing.UNCONFIRMED: "yellow",
    Standing.OBSERVED: "cyan",
}


@dataclass(frozen=True, slots=True)
class Line:
    """A line for a terminal; `colour` is empty for none."""

    text: str
    colour: str = ""
    bold: bool = False


def lines_of(verdict: RunVerdict, run_command: str, folder: Path) -> Iterator[Line]:
    """Tell the findings of a run by cause, numbered, the worst first; at most about a dozen lines for each.

    Args:
        run_command: the command of the run, as `run.json` holds it.
        folder: the run's folder.
    """
    for number, cause in enumerate(verdict.causes[:_FINDINGS_AT_MOST], start=1):
        yield from _finding(number, cause)
        yield from _next(next_commands(run_command, verdict.target, cause), cause, folder)
        yield Line("")
    more = verdict.causes[_FINDINGS_AT_MOST:]
    if more:
        yield Line(f"{many(len(more), 'finding')} more in the report")


def _finding(number: int, cause: Cause) -> Iterator[Line]:
    lead, colour = cause.lead, _COLOURS[cause.lead.standing]
    yield Line(f"{number}. {lead.standing}: {plain_line(cause.heading, _LONGEST)}", colour, bold=True)
    yield Line(f"   {plain_line(cause.was, _LONGEST)}", colour)
    yield Line(f"   {cause.place} · {lead.clause} · {lead.rate}")
    yield from (Line(f"   {detail}") for detail in [*_state(lead), *filter(None, [cause.stood_in_the_way])])
    if cause.follows:
        yield Line(f"   from it follows: {following(cause.follows)}")
    yield from (Line(f"   {name:<9}{plain_line(text, _LONGEST)}") for name, text in cause.details.items())


def _next(commands: Sequence[NextCommand], cause: Cause, folder: Path) -> Iterator[Line]:
    shown = [command for command in commands if command.name in _IN_TERMINAL]
    if not _fits(shown, cause):
        path = folder / FOLDER_NAME / f"{cause.id}{SCRIPT}"
        line = f"bash {shlex.quote(str(path))}"
        shown = [command for command in shown if command.name not in BY_HAND]
        shown += [NextCommand("by hand", "", line)] if cause.curl else []
    for command in shown:
        yield Line(f"   {command.name:<9}{command.line}", "cyan")


def _fits(commands: Iterable[NextCommand], cause: Cause) -> bool:
    """Whether one line that can be pasted from a terminal shows it."""
    operation = load_description().operations.get(cause.lead.operation or "")
    relies = operation is not None and bool(operation.needs)
    short = all(len(command.line) <= _LONGEST_CURL and "\n" not in command.line for command in commands)
    return short and not relies and len(cause.lead.curl) == 1


def following(causes: Sequence[Cause]) -> str:
    """What only follows from a finding, in a few words."""
    named = list(dict.fromkeys(f"{cause.lead.clause} ({cause.lead.operation})" for cause in causes))
    more = len(named) - _FOLLOWING_AT_MOST
    return cut(", ".join(named[:_FOLLOWING_AT_MOST]) + (f" and {more} more" if more > 0 else ""), _LONGEST)


def _state(finding: Finding) -> Iterable[str]:
    """What keeps a finding from failing the run, and whom it concerns."""
    if not finding.counted:
        yield "outside the consumer, not counted"
    if finding.accepted:
        yield f"accepted until {finding.accepted.expires}, {finding.accepted.place}"
    if finding.methods:
        yield f"used by {', '.join(finding.methods)}"


#: Identifiers of documents and temporary files as they stand in paths and bodies; longer than words and schema names.
_IDENTIFIER: Final = re.compile(r"[A-Za-z0-9_-]{11,128}")
_NUMBER: Final = re.compile(r"/attachments/(\d+)(?:/|$)")
_WRITES: Final = frozenset({"POST", "PUT", "DELETE"})
#: Characters of a body in the page of a finding, and of a write that it relies on.
_BODY, _EARLIER_BODY = 20_000, 4_000
#: A shared record may have been written to by hundreds of cases.
_MOST: Final = 12
#: Enough to tell one page of a list from the next.
_IN_A_LIST: Final = 5
_ATTACHMENT: Final = "attachment "
#: Segments of the interface's own paths.
_WORDS: Final = frozenset({"authentication", "attachments", "persist-temporary", "document-drafts"})


def earlier_writes(record: RunRecord, shown: Sequence[Exchange]) -> tuple[Exchange, ...]:
    """Return the earlier writes that exchanges rely on, in the order they were sent, and one request like theirs.

    Returns:
        Writes in the same realm that were accepted and name one of the records that the exchanges, or a write that is
        needed for them, speak of; of another case only what made the record. Before a list, what may stand in it. At
        most a dozen, the latest.
    """
    if not shown:
        return ()
    taken = {exchange.id for exchange in shown}
    wanted = {name for exchange in shown for name in _named(exchange) | _listed_documents(exchange)}
    lists = {str(exchange.operation) for exchange in shown} & {*operations_with(answers="list")}
    writes, replaced = list[Exchange](), set[tuple[str, str]]()
    asked = False
    for exchange in reversed(_before(record, shown)):
        if exchange.id in taken or len(writes) == _MOST:
            continue
        if not _was_done(exchange):
            if not asked and _was_asked_before(exchange, shown):
                asked, wanted = True, wanted | _named(exchange)
                writes.append(exchange)
            continue
        # Of what cases wrote in place of each other, the last stands: others would hide what made the record.
        place, own = (exchange.method, urlsplit(exchange.url).path), _of_the_attempt(exchange, shown)
        if place in replaced and not own:
            continue
        if exchange.method == "DELETE" and not own:
            # What another case saved and deleted is as if it had never been; a record of the settings may lack it.
            replaced |= {("PUT", place[1])}
            if any(name.startswith(SUITE_PREFIX) for name in _named(exchange)):
                continue
        room = len(writes) < (_IN_A_LIST if "listDrafts" in lists else _MOST)
        fills = room and any(_fills(exchange, name, wanted, shown) for name in lists)
        if fills or _is_needed(exchange, wanted, shown):
            wanted |= _named(exchange)
            writes.append(exchange)
            replaced |= {place} if exchange.method == "PUT" else set()
    return tuple(reversed(writes))


def _before(record: RunRecord, shown: Sequence[Exchange]) -> list[Exchange]:
    """The exchanges of the realm that were sent before the last one shown."""
    ids = {exchange.id for exchange in shown}
    everything = [exchange for exchange in record.exchanges.values() if exchange.realm == shown[0].realm]
    last = max((place for place, exchange in enumerate(everything) if exchange.id in ids), default=0)
    return everything[:last]


def _was_done(exchange: Exchange) -> bool:
    """Whether a request wrote something, by its answer."""
    response = exchange.response
    writes = exchange.method in _WRITES and exchange.operation not in (None, "createToken")
    # One that was taken without a right token is a finding itself, and prepares nothing on a service without it.
    proper = exchange.authorization in (None, "Bearer $TOKEN")
    return writes and proper and response is not None and response.status < 400


def _was_asked_before(exchange: Exchange, shown: Sequence[Exchange]) -> bool:
    """Whether the same was asked of the same document, and answered: a fault may show from the second time on."""
    asked = {(other.operation, subject_of(other.url)) for other in shown}
    answered = exchange.response is not None and exchange.response.success
    return (
        answered
        and _of_the_attempt(exchange, shown)
        and (exchange.operation, subject_of(exchange.url)) in asked
    )


def _is_needed(exchange: Exchange, wanted: set[str], shown: Sequence[Exchange]) -> bool:
    """Whether a write made, or changed in the same attempt, something that is wanted."""
    if exchange.operation in operations_with(stores="attachment"):
        return bool(wanted & {name for name in _answered(exchange) if name.startswith(_ATTACHMENT)})
    lasting = operations_with(permanent=True, takes_record=True)
    makes = exchange.method in ("PUT", "DELETE") or exchange.operation in lasting
    return (makes or _of_the_attempt(exchange, shown)) and bool(
        wanted & (_named(exchange) | _answered(exchange))
    )


def _fills(exchange: Exchange, name: str, wanted: set[str], shown: Sequence[Exchange]) -> bool:
    """Whether a write put something into a list that is shown: a draft of the same role's, a document's attachment."""
    if exchange.operation not in _writes_listed_by(name) or not exchange.request_body.whole:
        return False
    if name == "listDrafts":
        return exchange.role in {other.role for other in shown}
    # The attachments of a document that cases share were created by another of them.
    return bool(wanted & _named(exchange))


def _writes_listed_by(name: str) -> list[str]:
    """Operations that put something into what an operation lists."""
    operations = load_description().operations
    family = operations_with(family=operations[name].family)
    return [write for write in family if operations[write].stores]


def _of_the_attempt(exchange: Exchange, shown: Sequence[Exchange]) -> bool:
    return (exchange.case, exchange.attempt) in {(other.case, other.attempt) for other in shown}


def _named(exchange: Exchange) -> set[str]:
    """Identifiers and attachment numbers that a request names."""
    path = urlsplit(exchange.url).path
    segments = {unquote(part) for part in path.split("/")} - _WORDS
    names = {part for part in segments if _IDENTIFIER.fullmatch(part)}
    names |= {f"{_ATTACHMENT}{number}" for number in _NUMBER.findall(path)}
    header = _header(exchange.request_body)
    return names | ({header} if header else set())


def _answered(exchange: Exchange) -> set[str]:
    """Identifiers and numbers that an answer to a write gives."""
    values = set(_scalars(json_of(exchange.response.body))) if exchange.response else set()
    return {value for value in values if isinstance(value, str) and _IDENTIFIER.fullmatch(value)} | {
        f"{_ATTACHMENT}{value}" for value in values if isinstance(value, int) or str(value).isdigit()
    }


def _listed_documents(exchange: Exchange) -> set[str]:
    """Documents whose attachments an answer lists; one that lists another document's relies on that, too."""
    listing = exchange.operation == "listAttachments" and exchange.response is not None
    values = _scalars(json_of(exchange.response.body)) if listing and exchange.response else ()
    return {value for value in values if isinstance(value, str) and _IDENTIFIER.fullmatch(value)}


def _header(body: Body) -> str | None:
    value = json_of(body)
    record = value.get("document", value) if isinstance(value, dict) else None
    header = record.get("header") if isinstance(record, dict) else None
    name = header.get("identifier") if isinstance(header, dict) else None
    return name if isinstance(name, str) else None


def _scalars(value: Any) -> Iterator[str | int]:
    if isinstance(value, dict | list):
        for member in value.values() if isinstance(value, dict) else value:
            yield from _scalars(member)
    elif isinstance(value, str | int) and not isinstance(value, bool):
        yield value


FOLDER_NAME = "findings"
#: Ending of the file that sends the requests of a finding.
SCRIPT = ".sh"
_KINDS = (".json", ".md", SCRIPT)

STANDING_SENTENCES = {
    Standing.FAIL: "a statement of the interface document is contradicted; this fails the run",
    Standing.ADVISORY: "a reasonable reading of the document is contradicted; this does not fail a run",
    Standing.DEVIATION: "contradicted, known and accepted until a day; this does not fail a run",
    Standing.UNCONFIRMED: "seen, but it did not come back on fresh data; this does not fail a run",
    Standing.OBSERVED: "the interface document is silent here; this does not fail a run",
}


class FindingFile(FindingEntry, frozen=True, kw_only=True):
    """A finding with its clause, its target and its exchanges.

    `level`, `wording` and `source` are null where the catalogue does not have the clause. `arranged` was sent before
    `sequence`, the minimal sequence that shows the finding. `check` is the check of the table that saw it; empty for a
    comparison that a case made by itself.
    """

    level: Level | None
    wording: str | None
    source: str | None
    target: TargetEntry
    seed: Seed
    started: Moment
    versions: Mapping[str, str]
    case_names: tuple[Name, ...]
    arranged: tuple[ExchangeEntry, ...]
    sequence: tuple[ExchangeEntry, ...]
    check: str = ""


def write(record: RunRecord, verdict: RunVerdict, folder: Path) -> Path:
    """Write a JSON file per finding, a page and a script per cause, and remove those of an earlier rendering.

    Returns:
        The folder `findings`, which is there even when nothing was found.
    """
    target = folder / FOLDER_NAME
    target.mkdir(exist_ok=True)
    for stale in (path for kind in _KINDS for path in target.glob(f"*{kind}")):
        stale.unlink()
    clauses = {cell.clause.id: cell.clause for cell in verdict.cells}
    for finding in verdict.findings:
        write_file(
            target / f"{finding.id}.json", build(record, finding, clauses.get(finding.clause)), FindingFile
        )
    for cause in verdict.causes:
        page = markdown(record, cause, clauses.get(cause.lead.clause))
        (target / f"{cause.id}.md").write_text(page, "utf-8")
        if lines := script(commands_of(record, cause)):
            (target / f"{cause.id}{SCRIPT}").write_text(lines, "utf-8", newline="\n")
    return target


def commands_of(record: RunRecord, cause: Cause) -> tuple[NextCommand, ...]:
    """Return what to do next about a finding, as lines to paste where the run was started."""
    shown = shown_exchanges(record, cause.lead)
    before = earlier_writes(record, shown)
    run = record.run
    return next_commands(run.command, run.target_in_words, cause, before, shown, run.token)


def shown_exchanges(record: RunRecord, finding: Finding) -> tuple[Exchange, ...]:
    """Return the exchanges of a finding that the record holds, in the order of the sequence."""
    return tuple(record.exchanges[key] for key in finding.exchanges if key in record.exchanges)


def build(record: RunRecord, finding: Finding, clause: Clause | None) -> FindingFile:
    """Return a finding with its clause, target and exchanges."""
    run = record.run
    shown = shown_exchanges(record, finding)
    before = earlier_writes(record, shown)
    return FindingFile(
        **structs.asdict(describe(finding)),
        level=str(clause.level) if clause else None,
        wording=clause.wording if clause else None,
        source=clause.source if clause else None,
        target=target_of(record),
        seed=run.seed,
        started=run.started,
        versions=run.versions,
        case_names=tuple(_case_names(record, finding)),
        arranged=tuple(map(exchange_entry, before)),
        sequence=tuple(map(exchange_entry, shown)),
        check=finding.check,
    )


def markdown(record: RunRecord, cause: Cause, clause: Clause | None) -> str:
    """Return the findings of a cause as a Markdown page."""
    finding = cause.lead
    lines = [
        f"# {inline(cause.heading)} {inline(cause.was, 400)}",
        "",
        f"**{finding.standing}**, {inline(cause.place)} — {STANDING_SENTENCES[finding.standing]}.",
        "",
        *_facts(record, cause, clause),
        "",
        *(line for name, text in cause.details.items() for line in _quoted(name.capitalize(), text)),
        *_quoted("Expected", finding.expected),
        *_quoted("Seen", finding.seen),
        *_following(cause),
        "## Next",
        "",
    ]
    shown = shown_exchanges(record, finding)
    before = earlier_writes(record, shown)
    for command in commands_of(record, cause):
        lines += [f"{command.does}:", "", fenced(command.line, "sh"), ""]
    culprit = record.exchanges.get(cause.culprit)
    if culprit is not None:
        lines += [
            f"## The exchange that shows it: {inline(heading(culprit))}",
            "",
            *_exchanged(culprit, _BODY, cause),
        ]
    around = [(exchange, _EARLIER_BODY) for exchange in before]
    around += [(exchange, _BODY) for exchange in shown]
    if around != [(culprit, _BODY)]:
        lines += [
            "<details>",
            f"<summary>{many(len(around), 'exchange')} in the order they were sent</summary>",
            "",
        ]
        for number, (exchange, most) in enumerate(around, start=1):
            lines += [f"### {number}. {inline(heading(exchange))}", ""]
            lines += (
                ["The exchange that shows it, above.", ""]
                if exchange is culprit
                else _exchanged(exchange, most, cause)
            )
        lines += ["</details>", ""]
    return "\n".join(lines)


def _exchanged(exchange: Exchange, most: int, cause: Cause) -> list[str]:
    answer = response_text(exchange, most, cause.marks)
    return [fenced(request_text(exchange, most), "http"), "", fenced(answer, "http"), ""]


def _following(cause: Cause) -> list[str]:
    if not cause.follows:
        return []
    items = [
        f"- {inline(effect.headline, 600)} (`{effect.lead.clause}`, {inline(effect.place)})"
        for effect in cause.follows
    ]
    return ["## What only follows from it", "", *items, ""]


def _facts(record: RunRecord, cause: Cause, clause: Clause | None) -> list[str]:
    finding = cause.lead
    accepted, outside = finding.accepted, "no: outside what the consumer uses"
    facts: Mapping[str, str] = {
        "Clause": f"{finding.clause}: {clause.wording if clause else cause.should}",
        "Level": str(clause.level) if clause else "unknown to the catalogue",
        "Source": clause.source if clause else "unknown to the catalogue",
        "Role": finding.role or "any",
        "Confirmed": "yes" if finding.confirmed else "no",
        "Rate": "; ".join(f"{realm_finding.realm}: {realm_finding.rate}" for realm_finding in cause.findings),
        "Counts": "yes" if finding.counted else outside,
        **({"Methods": ", ".join(finding.methods)} if finding.methods else {}),
        **({"Other cases": cause.stood_in_the_way} if cause.cases else {}),
        **(
            {"Accepted": f"{accepted.reason} ({accepted.issue}, until {accepted.expires})"}
            if accepted
            else {}
        ),
        "Findings": ", ".join(
            f"{realm_finding.id} ({realm_finding.realm})" for realm_finding in cause.findings
        ),
        "Cases": "; ".join(_case_names(record, finding)),
        "Target": f"{record.run.target} ({record.run.base_url}), {record.run.started}",
    }
    return ["| | |", "|---|---|", *(f"| {name} | {inline(value, 2000)} |" for name, value in facts.items())]


def _quoted(title: str, text: str) -> list[str]:
    return [f"## {title}", "", fenced(text, "text"), ""]


def _case_names(record: RunRecord, finding: Finding) -> list[str]:
    names = {case.id: case.name for case in record.cases}
    return list(dict.fromkeys(names.get(case, case) for case in finding.cases))
