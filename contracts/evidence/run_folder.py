"""Makes the folder that takes what a run, a merge, a check or a call by hand leaves.

Workers that died in a run: what they had done counts, their case counts where it ran again.

Reads a run folder, `run.json` and one journal per worker, into a record; refuses gaps and doubles.
"""

from __future__ import annotations

import json
import os
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from contracts.errors import UsageError
from contracts.evidence.journal import Event, is_closed, journal_path, read_journal
from contracts.evidence.outcomes import Verdict
from contracts.evidence.record import (
    AssertionCount,
    Block,
    Case,
    Left,
    Narrowed,
    Observation,
    RecordedExchange,
    RunFacts,
    RunRecord,
    SeenFinding,
    Shard,
    Untested,
    each_once,
)
from contracts.evidence.terms import Terms
from contracts.safe_text import encodable, many
from contracts.session.ledger import RUN_FILE

#: So many that begin in one second and are called the same are none of a person's making.
_MOST: Final = 99


def new_folder(
    reports: Path, kind: str, purpose: str = "write a report to", at: datetime | None = None
) -> Path:
    """Make a folder, named by the moment and what it is for; one that is taken already gets a number behind.

    Args:
        reports: Folder that holds it; made where it is not there.
        kind: The end of its name, such as `dev-c7qm`.
        purpose: What could not be done to `reports`, for the message.
        at: The moment; now by default.

    Raises:
        UsageError: it cannot be made, or nothing can be written there.
    """
    base = f"{at or datetime.now(UTC):%Y%m%d-%H%M%S}-{kind}"
    try:
        reports.mkdir(parents=True, exist_ok=True)
        folder = _first_free(reports, base)
    except OSError as error:
        raise UsageError(
            f"cannot {purpose} '{reports}': {error.strerror}; choose another with --reports"
        ) from None
    if folder is None:
        raise UsageError(f"cannot {purpose} '{reports}': too many were begun in this second; try again")
    if not os.access(folder, os.W_OK):
        raise UsageError(f"cannot {purpose} '{reports}'; choose another with --reports")
    return folder


def _first_free(reports: Path, base: str) -> Path | None:
    for number in range(1, _MOST + 1):
        folder = reports / (base if number == 1 else f"{base}-{number}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        return folder
    return None


#: Events that a case is judged by.
_OF_A_CASE = frozenset({"begin", "case", "finding", "observation"})


def set_aside(run: RunFacts, journals: Mapping[str, list[Event]]) -> dict[str, list[Event]]:
    """Take out of the journals of workers that died what another worker was asked again.

    A worker may die after it wrote down how a case ended and before it could say so; the case then runs again.
    """
    kept = dict(journals)
    for worker in run.died:
        others = (events for name, events in kept.items() if name != worker)
        again = {event["case"] for events in others for event in events if event["kind"] == "case"}
        kept[worker] = [
            event
            for event in kept.get(worker, [])
            if event["kind"] not in _OF_A_CASE or event["case"] not in again
        ]
    return kept


def harmless_deaths(
    run: RunFacts, journals: Mapping[str, list[Event]], cases: Iterable[Case]
) -> Iterator[tuple[str, str]]:
    """Yield the workers that died and left nothing open, each with a line that says so.

    Whatever a worker has ended is in its journal before it goes on. So nothing is lost when every case that is to
    be there is there, and none of them broke off with the worker.
    """
    known = list(cases)
    broken_off = {case.worker for case in known if case.outcome is Verdict.ERROR and not case.attempts}
    whole = run.finished is not None and run.planned == len(known)
    for worker in run.died:
        events = journals.get(worker, [])
        if whole and worker not in broken_off and not is_closed(events):
            yield worker, f"worker {worker} died; what it was at was done by others"


def cut_short(run: RunFacts, worker: str, events: list[Event], ended: Container[str]) -> Iterator[Case]:
    """Yield the cases that a worker has begun and nobody has ended.

    Args:
        ended: Ids of the cases that some worker has ended.
    """
    # Cases in brackets are the suite's own housekeeping, which begins and ends with the run.
    begun = {e["case"]: e for e in _of_kind(events, "exchange") if not str(e["case"]).startswith("[")}
    begun |= {event["case"]: event for event in _of_kind(events, "begin")}
    for case, event in begun.items():
        if case in ended:
            continue
        if run.interrupted and is_closed(events):
            outcome, reason = Verdict.INCONCLUSIVE, "the run was interrupted during this case"
        else:
            outcome, reason = Verdict.ERROR, f"worker {worker} ended in the middle of this case"
        yield _case_cut_short(event, worker, outcome, reason)


def _case_cut_short(event: Event, worker: str, outcome: Verdict, reason: str) -> Case:
    operation = event.get("operation")
    return Case(
        id=event["case"],
        name=str(event.get("name", event["case"])),
        doc="",
        realm=event["realm"],
        clauses=tuple(event.get("clauses", ())),
        operations=tuple(event.get("operations", [operation] if operation else [])),
        profile=None,
        outcome=outcome,
        reason=reason,
        blocked_by=None,
        attempts=0,
        started=None,
        seconds=0.0,
        requests=0,
        assertions=(),
        worker=worker,
    )


def _of_kind(events: Iterable[Event], kind: str) -> list[Event]:
    return [event for event in events if event["kind"] == kind]


def collect(run_folder: Path) -> RunRecord:
    """Put the record of a run together.

    Args:
        run_folder: folder with `run.json` and `journal-<worker>.jsonl` of every expected worker.

    Returns:
        The record; what is not whole (a journal without its end, no closing record) stands in `problems`, and
        a case that a worker died in is there with outcome `error`.

    Raises:
        UsageError: `run.json` or an expected journal is absent, a journal is of another run or was altered,
            or two journals hold the same case.
    """
    run = read_run_facts(run_folder)
    journals = {worker: _journal(run_folder, run, worker) for worker in run.expected_workers}
    _refuse_foreign(run_folder, run, journals)
    journals = set_aside(run, journals)
    _refuse_doubles(journals)
    cases = tuple(_cases(run, journals))
    deaths = tuple(harmless_deaths(run, journals, cases))
    events = [event for journal in journals.values() for event in journal]
    exchanges = sorted(map(_exchange, _of_kind(events, "exchange")), key=lambda exchange: exchange.started)
    return RunRecord(
        run=run,
        cases=cases,
        findings=tuple(map(_finding, _of_kind(events, "finding"))),
        observations=tuple(Observation(**_fields(e, Observation)) for e in _of_kind(events, "observation")),
        exchanges={exchange.id: exchange for exchange in exchanges},
        faults=tuple(_of_kind(events, "fault")),
        residue=each_once(Left(**_fields(event, Left)) for event in _of_kind(events, "residue")),
        leftovers=each_once(Left(**_fields(event, Left)) for event in _of_kind(events, "leftover")),
        untested=tuple(Untested(**_fields(event, Untested)) for event in _of_kind(events, "untested")),
        problems=tuple(_problems(run, journals, {worker for worker, _ in deaths}, len(cases))),
        narrowed=tuple(Narrowed.read(**_fields(e, Narrowed)) for e in _of_kind(events, "narrowed")),
        deaths=tuple(said for _, said in deaths),
    )


def _journal(run_folder: Path, run: RunFacts, worker: str) -> list[Event]:
    """A worker's journal; empty where the worker died before there was one, which the run knows of its workers."""
    path = journal_path(run_folder, worker)
    known = run.finished is None or worker in run.without_journal
    return [] if known and not path.exists() else read_journal(path)


def read_run_facts(run_folder: Path) -> RunFacts:
    """Read `run.json`.

    Raises:
        UsageError: the file is absent, is not JSON, or lacks a field.
    """
    path = run_folder / RUN_FILE
    try:
        facts = encodable(json.loads(path.read_text("utf-8")))
    except FileNotFoundError as error:
        raise UsageError(f"{path} is absent: not a run folder, or the run was killed") from error
    except ValueError as error:
        raise UsageError(
            f"{path} is not JSON: it is damaged, or the run was killed while writing it"
        ) from error
    if not isinstance(facts, dict):
        raise UsageError(f"{path} is not a JSON object")
    missing = sorted(field.name for field in fields(RunFacts) if _needed(field) and field.name not in facts)
    if missing:
        raise UsageError(f"{path} lacks {', '.join(missing)}")
    known = _fields(facts, RunFacts)
    lists = {
        name: tuple(known.get(name, ()))
        for name in ("realms", "clauses", "expected_workers", "without_journal", "shards", "died")
    }
    for moment in filter(None, (known["started"], known["finished"])):
        _moment(moment)
    known |= {"terms": Terms.from_facts(known["terms"])} if "terms" in known else {}
    known |= {"shard": Shard.from_facts(known["shard"])} if known.get("shard") else {}
    return RunFacts(**{**known, **lists})


def _needed(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _refuse_foreign(run_folder: Path, run: RunFacts, journals: dict[str, list[Event]]) -> None:
    expected = {journal_path(run_folder, worker) for worker in run.expected_workers}
    for path in sorted(run_folder.glob(journal_path(run_folder, "*").name)):
        if path not in expected:
            raise UsageError(f"{path} does not belong to this run: run.json names no such worker")
    for worker, events in journals.items():
        path, start = journal_path(run_folder, worker), events[0] if events else None
        if start is None:
            continue
        if start.get("worker") != worker:
            raise UsageError(f"{path} is the journal of worker {start.get('worker')}, not {worker}")
        if start.get("version") != run.versions.get("suite"):
            raise UsageError(
                f"{path} was written by version {start.get('version')} of the suite, the run by another"
            )
        if not _within(run, str(start.get("at"))):
            raise UsageError(f"{path} does not belong to this run: it was started at another time")


def _within(run: RunFacts, moment: str) -> bool:
    at = _moment(moment)
    if at < _moment(run.started):
        return False
    return run.finished is None or at <= _moment(run.finished)


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"'{text}' is not a moment (ISO 8601): run.json or a journal was altered") from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _refuse_doubles(journals: dict[str, list[Event]]) -> None:
    for kind, key in (("case", "case"), ("exchange", "id")):
        owners: dict[str, str] = {}
        for worker, events in journals.items():
            for event in _of_kind(events, kind):
                owner = owners.setdefault(event[key], worker)
                if owner != worker:
                    raise UsageError(f"{kind} {event[key]} is in the journals of both {owner} and {worker}")


def _problems(
    run: RunFacts, journals: dict[str, list[Event]], harmless: Container[str], cases: int
) -> Iterator[str]:
    if run.finished is None:
        yield "the run has no closing record: it was killed, or it is still going on"
    elif run.planned is not None and cases < run.planned and not (run.interrupted or run.breaker):
        yield f"{many(run.planned - cases, 'case')} of {run.planned} never began"
    for worker, events in journals.items():
        if worker in harmless:
            continue
        if not events:
            yield f"worker {worker} died before it began a case; what the others saw stands below"
        elif not is_closed(events):
            ended = any(event["kind"] == "end" for event in events)
            cause = (
                "its closing line counts other events than it holds" if ended else "it has no closing line"
            )
            yield f"the journal of worker {worker} is not whole: {cause}"


def _cases(run: RunFacts, journals: dict[str, list[Event]]) -> Iterator[Case]:
    ended = {event["case"] for events in journals.values() for event in _of_kind(events, "case")}
    for worker, events in journals.items():
        yield from (_case(event, worker) for event in _of_kind(events, "case"))
        for case in cut_short(run, worker, events, ended):
            ended.add(case.id)
            yield case


def _case(event: Event, worker: str) -> Case:
    fields = {name: event[name] for name in Case.__dataclass_fields__ if name in event}
    fields |= {
        "id": event["case"],
        "worker": worker,
        "outcome": _outcome(event),
        "clauses": tuple(event["clauses"]),
        "operations": tuple(event["operations"]),
        "assertions": tuple(
            AssertionCount(**_fields(count, AssertionCount)) for count in event["assertions"]
        ),
        "blocked_by": Block(**_fields(event["blocked_by"], Block)) if event["blocked_by"] else None,
    }
    return Case(**fields)


def _outcome(event: Event) -> Verdict:
    try:
        return Verdict(event["outcome"])
    except ValueError as error:
        raise UsageError(
            f"case {event['case']} has the outcome '{event['outcome']}', which no case ends with"
        ) from error


def _finding(event: Event) -> SeenFinding:
    reproduced, attempts = event["rate"]
    sequences = {name: tuple(event[name]) for name in ("exchanges", "curl")}
    return SeenFinding(
        **{**_fields(event, SeenFinding), **sequences, "reproduced": reproduced, "attempts": attempts}
    )


def _exchange(event: Event) -> RecordedExchange:
    return RecordedExchange(**_fields(event, RecordedExchange))


def _fields(source: dict[str, Any], shape: type) -> dict[str, Any]:
    """Return the members of `source` that the dataclass `shape` knows."""
    return {name: source[name] for name in shape.__dataclass_fields__ if name in source}  # type: ignore[attr-defined]
