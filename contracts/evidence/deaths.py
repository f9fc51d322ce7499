"""Workers that died in a run: what they had done counts, their case counts where it ran again."""

from collections.abc import Container, Iterable, Iterator, Mapping

from contracts.evidence.journal import Event, is_closed
from contracts.evidence.outcomes import Verdict
from contracts.evidence.record import Case, RunFacts

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
