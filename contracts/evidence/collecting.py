"""Reads a run folder, `run.json` and one journal per worker, into a record; refuses gaps and doubles."""

import json
from collections.abc import Container, Iterable, Iterator
from dataclasses import MISSING, Field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from contracts.errors import UsageError
from contracts.evidence.deaths import cut_short, harmless_deaths, set_aside
from contracts.evidence.journal import Event, is_closed, journal_path, read_journal
from contracts.evidence.outcomes import Verdict
from contracts.evidence.plain import encodable, many
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
    Untested,
    each_once,
)
from contracts.evidence.shards import Shard
from contracts.evidence.terms import Terms

RUN_FILE = "run.json"


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


def _of_kind(events: Iterable[Event], kind: str) -> list[Event]:
    return [event for event in events if event["kind"] == kind]


def _fields(source: dict[str, Any], shape: type) -> dict[str, Any]:
    """Return the members of `source` that the dataclass `shape` knows."""
    return {name: source[name] for name in shape.__dataclass_fields__ if name in source}  # type: ignore[attr-defined]
