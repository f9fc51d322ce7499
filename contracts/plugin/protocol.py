"""Runs one case: its attempts, their confirmation, its ending, its journal records, and its reports to pytest.

An attempt that the environment disturbed is repeated; a contradiction is repeated on fresh data until it is confirmed
(design 4.6). Records hold no secrets.
"""

from __future__ import annotations

import re
import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import takewhile
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import pytest
from _pytest.runner import runtestprotocol
from hypothesis.errors import Flaky

from contracts.cases.arrangement import disturbed
from contracts.checks.outcomes import (
    MOST_REPLAYS,
    MOST_REQUESTS,
    Attempt,
    Blocked,
    Confirmed,
    Contradiction,
    Result,
    Untested,
    confirm,
)
from contracts.checks.table import note_universal
from contracts.errors import EnvironmentFault
from contracts.evidence.findings import ConsumerScope, scope_of_contradictions
from contracts.evidence.record import Verdict
from contracts.exchanges import transcript
from contracts.exchanges.exchange import Exchange
from contracts.exchanges.readers import Ambiguous
from contracts.interface.catalogue import Level
from contracts.interface.description import load_description, operations_with
from contracts.interface.operations import is_valid_uid
from contracts.plugin.collection import (
    case_of,
    clauses_of,
    deals,
    declared_clauses,
    marks,
    operations_of,
    realm_of,
    records_of,
)
from contracts.plugin.fixtures import ATTEMPT
from contracts.plugin.worker import WORKER, Worker
from contracts.session.actor import NoTokenError
from contracts.session.draft_cleanup import CLEANING as CLEANUP
from contracts.session.ledger import header_as_sent, realm_as_sent
from contracts.settings.target import ANONYMOUS, AUTHOR


@dataclass(frozen=True)
class Ending:
    """How one attempt ended: a verdict before confirmation, and why."""

    verdict: Verdict
    reason: str | None = None
    blocked: Blocked | None = None


def announce(item: pytest.Item, worker: Worker) -> None:
    """Record which case is about to run, in case a worker dies in it."""
    worker.journal.write("begin", **identity_of(item, worker))


def identity_of(item: pytest.Item, worker: Worker) -> dict[str, Any]:
    """What the journal says of a case in each of its records."""
    function = getattr(item, "function", None)
    return {
        "case": case_of(item),
        "name": getattr(item, "originalname", item.name).removeprefix("test_").replace("_", " "),
        "doc": " ".join((getattr(function, "__doc__", None) or "").split()),
        "realm": realm_of(item),
        "clauses": list(clauses_of(item)),
        "operations": list(operations_of(item, worker.catalogue)),
    }


def judged_clauses(item: pytest.Item, ending: Ending) -> dict[str, Any]:
    """The clauses that an ending is about, where they are not those of the case.

    A case of generated faults says nothing about the clauses of these faults when it was untested; the results of
    their own cases count then.
    """
    if ending.verdict is not Verdict.UNTESTED:
        return {}
    return {"clauses": list(declared_clauses(item))}


def write_findings(
    case: Mapping[str, Any], worker: Worker, attempts: list[Attempt], findings: Iterable[Confirmed]
) -> None:
    """Write the findings of a case, with the exchanges that show them and how to see them again.

    Args:
        case: What tells it from others, as `identity_of` gives it.
    """
    exchanges = [exchange for attempt in attempts for exchange in attempt.exchanges]
    realm = case["realm"]
    for finding in findings:
        evidence = finding.evidence
        worker.journal.write(
            "finding",
            clause=evidence.clause,
            realm=realm,
            operation=evidence.operation,
            case=case["case"],
            role=evidence.role,
            expected=worker.redactor.text(evidence.expected),
            seen=worker.redactor.text(evidence.seen),
            confirmed=finding.confirmed,
            rate=[finding.reproduced, finding.attempts],
            exchanges=list(evidence.exchanges),
            check=evidence.check,
            curl=transcript.curls(exchanges, evidence.exchanges, worker.redactor),
            command=transcript.command(
                target=worker.selection.target or worker.target.name,
                realm=realm,
                clause=evidence.clause,
                profile=str(worker.selection.profile),
                seed=worker.selection.seed,
                sandbox_arguments=worker.selection.sandbox_arguments,
            ),
        )


def write_case(
    case: Mapping[str, Any],
    worker: Worker,
    attempts: list[Attempt],
    ending: Ending,
    started: datetime,
    seconds: float,
    *,
    set_aside: Sequence[Attempt] = (),
    deals: bool = False,
) -> None:
    """Write how a case ended, and what it observed.

    Args:
        case: What tells it from others, as `identity_of` gives it, with the clauses that the ending is about.
        seconds: What all attempts took together.
        set_aside: Further attempts, which faults of the environment spoilt.
        deals: As `Case` says.
    """
    # The assertions of the attempt that the ending is about: a dismissed first attempt must not count.
    counted = attempts[0] if ending.verdict in (Verdict.FAIL, Verdict.ADVISORY) else attempts[-1]
    keys = sorted(counted.held.keys() | counted.contradicted.keys())
    for clause, reason in counted.untested.items():
        worker.journal.write("untested", clause=clause, realm=case["realm"], reason=reason)
    realm, blocked = case["realm"], ending.blocked
    for observation in counted.observations:
        worker.journal.write(
            "observation",
            clause=observation.clause,
            realm=realm,
            operation=observation.operation,
            case=case["case"],
            seen=worker.redactor.value(observation.seen),
        )
    worker.journal.write(
        "case",
        **case,
        profile=str(worker.selection.profile),
        outcome=str(ending.verdict),
        reason=worker.redactor.text(ending.reason) if ending.reason else None,
        blocked_by={
            "operation": blocked.operation,
            "realm": realm,
            "cause": worker.redactor.text(blocked.cause),
        }
        if blocked
        else None,
        attempts=len(attempts) + len(set_aside),
        started=started.isoformat(),
        seconds=seconds,
        requests=sum(len(attempt.exchanges) for attempt in (*attempts, *set_aside)),
        assertions=[
            {
                "clause": clause,
                "operation": operation,
                "held": counted.held[(clause, operation)],
                "contradicted": counted.contradicted[(clause, operation)],
            }
            for clause, operation in keys
        ],
        deals=deals,
    )


#: Key of the case's verdict among a report's user properties.
VERDICT_PROPERTY = "contract"


def bearing(worker: Worker, realm: str, contradictions: Iterable[Result]) -> ConsumerScope:
    """Weigh what was contradicted in a realm; a should that is not accepted does not count beside a must."""
    terms = worker.selection.terms
    day = datetime.fromisoformat(worker.plan.started).date()
    weights = []
    for contradiction in contradictions:
        accepted = terms.accepted(contradiction.clause, realm, contradiction.operation, day) is not None
        if accepted or worker.catalogue.clause(contradiction.clause).level is Level.MUST:
            weights.append((terms.counts(contradiction.clause, realm, contradiction.operation), accepted))
    return scope_of_contradictions(weights)


def tone_down(
    item: pytest.Item,
    reports: list[pytest.TestReport],
    verdict: Verdict,
    contradictions: list[Result],
    worker: Worker,
) -> None:
    """Show a contradicted case with its bearing on the run; the journal keeps what was seen."""
    weight = bearing(worker, realm_of(item), contradictions)
    if weight is ConsumerScope.COUNTS or verdict not in (Verdict.FAIL, Verdict.ADVISORY):
        return
    for report in reports:
        report.user_properties.append((VERDICT_PROPERTY, str(weight)))
        if report.failed:
            soften(
                item,
                report,
                f"{weight}: {'; '.join(contradiction.clause for contradiction in contradictions)}",
            )


def soften(item: pytest.Item, report: pytest.TestReport, reason: str) -> None:
    """Turn a failed report into one that pytest does not count as a failure."""
    path, line, _ = item.location
    report.outcome, report.longrepr = "skipped", (path, line or 0, reason)


#: How the attempt under way has ended so far, on the item's stash.
ENDING = pytest.StashKey[Ending]()
#: Attempts that the environment may spoil before a case stays inconclusive.
MOST_SPOILT = 5
_SPOILABLE = (Verdict.INCONCLUSIVE, Verdict.ERROR)


@dataclass(frozen=True)
class JudgedAttempt:
    """One attempt with its reports and its ending.

    Attributes:
        spoilt: The environment stood in the way, or may have caused what was seen; nothing in it is a finding.
    """

    attempt: Attempt
    reports: list[pytest.TestReport]
    ending: Ending
    spoilt: bool


@dataclass
class Attempts:
    """All attempts at one case, in order."""

    all: list[JudgedAttempt] = field(default_factory=list)

    @property
    def clear(self) -> list[JudgedAttempt]:
        """The attempts that the environment did not spoil."""
        return [judged_attempt for judged_attempt in self.all if not judged_attempt.spoilt]

    @property
    def spoilt_in_a_row(self) -> int:
        """How many attempts the environment has spoilt since the last clear one."""
        return len(list(takewhile(lambda judged_attempt: judged_attempt.spoilt, reversed(self.all))))

    @property
    def set_aside(self) -> list[Attempt]:
        """Attempts that the case is not judged by."""
        spoilt = [judged_attempt.attempt for judged_attempt in self.all if judged_attempt.spoilt]
        return spoilt if self.clear else spoilt[:-1]

    @property
    def judged(self) -> list[JudgedAttempt]:
        """Attempts that the case is judged by: the clear ones, or else the last, which says what went wrong."""
        return self.clear or [_in_failing_environment(self.all[-1])]

    @property
    def incomplete(self) -> bool:
        """Whether another attempt is needed."""
        if len(self.all) - len(self.clear) > MOST_SPOILT:
            return False
        return not self.clear or _needs_replay([judged_attempt.attempt for judged_attempt in self.clear])


def attempts_at(item: pytest.Item, nextitem: pytest.Item | None, worker: Worker) -> Attempts:
    """Run a case until it is judged, or its attempts are used up."""
    tries = Attempts()
    while True:
        contradicted = {clause for judged_attempt in tries.clear for clause, _ in judged_attempt.attempt.keys}
        must = any(
            worker.catalogue.clause(name).level is Level.MUST for name in contradicted or clauses_of(item)
        )
        # What a case is planned to create it creates, whatever it claims; a replay of it is in no plan.
        planned = not contradicted and bool(records_of(item))
        attempt = Attempt(len(tries.all) + 1, replay=bool(contradicted), advisory=not must and not planned)
        tries.all.append(_run_attempt(item, nextitem, worker, attempt))
        if not tries.incomplete or worker.breaker_reason:
            return tries
        worker.wait_after_faults(tries.spoilt_in_a_row)


def _run_attempt(
    item: pytest.Item, nextitem: pytest.Item | None, worker: Worker, attempt: Attempt
) -> JudgedAttempt:
    """Run the item once, and judge its exchanges by the universal checks."""
    item.stash[ATTEMPT] = attempt
    item.stash[ENDING] = Ending(Verdict.PASS)
    # Also on the reports of subtests, which go out while the case runs.
    item.user_properties[:] = [(VERDICT_PROPERTY, "")]
    unanswered, began = worker.unanswered, time.time()
    reports = runtestprotocol(item, log=False, nextitem=nextitem)
    note_universal(attempt, worker.redactor.knows)
    for mark in disturbed(attempt):
        worker.shared.mark(mark)
    ending = _ending(item.stash[ENDING], attempt)
    lost = worker.unanswered > unanswered
    faulty = worker.fault_since(began)
    return JudgedAttempt(attempt, reports, ending, _spoilt(attempt, ending, lost=lost, disturbed=faulty))


def _ending(raised: Ending, attempt: Attempt) -> Ending:
    """The attempt's verdict: what was raised, or what its assertions amount to."""
    if raised.verdict is not Verdict.PASS:
        return raised
    if attempt.keys - attempt.dismissed:
        return Ending(Verdict.ADVISORY)
    if attempt.held:
        return raised
    if attempt.observations:
        return Ending(Verdict.OBSERVED)
    return Ending(Verdict.ERROR, "the case ended without an assertion or an observation")


def _spoilt(attempt: Attempt, ending: Ending, *, lost: bool, disturbed: bool) -> bool:
    """Whether the environment may have caused how an attempt ended (design 4.7).

    Args:
        lost: A request was not answered in it, be it one of the suite's own.
        disturbed: Some worker met a fault meanwhile, so that the service may have forgotten a token of the case's own.
    """
    if attempt.keys - attempt.confirmed.keys() and (attempt.clouded or (disturbed and attempt.shut_out)):
        return True
    unfinished = ending.verdict in _SPOILABLE or (ending.verdict is Verdict.FAIL and not attempt.keys)
    return unfinished and (lost or disturbed or attempt.clouded or attempt.met_a_page)


def _needs_replay(attempts: Sequence[Attempt]) -> bool:
    """Whether something contradicted in the first attempt has neither been seen again nor looked for enough."""
    open_keys = attempts[0].keys - attempts[0].confirmed.keys()
    seen_again = {key for attempt in attempts[1:] for key in attempt.keys}
    spent = sum(len(attempt.exchanges) for attempt in attempts[1:])
    return bool(open_keys - seen_again) and len(attempts) <= MOST_REPLAYS and spent < MOST_REQUESTS


def _in_failing_environment(last: JudgedAttempt) -> JudgedAttempt:
    """The last of attempts that were all spoilt, without its contradictions."""
    ending = last.ending
    if last.attempt.keys - last.attempt.confirmed.keys():
        last.attempt.forget_doubtful()
        why = ending.reason or "see the traffic"
        words = f"contradicted only where the environment failed, which proves nothing: {why}"
        ending = Ending(Verdict.INCONCLUSIVE, words)
    return JudgedAttempt(last.attempt, last.reports, ending, spoilt=True)


_DRAFT: Final = re.compile(r"/documents/([^/]+)/versions/draft$")
#: Statuses of a look-up that say that no draft is there; another refusal may be about who asks.
_ABSENT: Final = (404, 410)

#: Realm, identifier, and the Realm header where it is not the realm's own, as `realm_as_sent` says it.
Place = tuple[str, str, str]


def _draft_lookups() -> tuple[str, ...]:
    """Operations that read at the address of a draft; another one's refusal may be about who asks."""
    return operations_with(path=load_description().operations["saveDraft"].path, safe=True)


def look_for_unexpected_drafts(worker: Worker, attempts: Sequence[Attempt]) -> None:
    """Look up each draft whose save was refused; one that exists goes into the ledger.

    Looked up are valid uids of the run, where the case itself neither found the draft absent after the refusal, nor
    saved it as well.
    """
    refused = _refused_saves([exchange for attempt in attempts for exchange in attempt.exchanges])
    for (realm, uid, sent), role in refused.items():
        if worker.breaker_reason or not (is_valid_uid(uid) and uid.startswith(worker.namespace.prefix)):
            continue
        role_used = AUTHOR if role == ANONYMOUS else role
        actor = worker.actor(role_used, realm, CLEANUP, Attempt(1))
        with suppress(EnvironmentFault):
            if actor.send("draftExists", path={"uid": uid}, headers=header_as_sent(sent)).answer.success:
                entry = worker.ledger.intend("saveDraft", realm, role_used, uid, realm_sent=sent)
                if entry is not None:
                    worker.ledger.settle(entry, "created")


def note_deleted_drafts(worker: Worker, attempts: Sequence[Attempt]) -> None:
    """Take drafts off the ledger that a case deleted and then found absent: they need no deleting."""
    deleted: dict[Place, Exchange] = {}
    absent: set[Place] = set()
    for exchange in (exchange for attempt in attempts for exchange in attempt.exchanges):
        place, answer = _place(exchange), exchange.response
        if place is None or answer is None or exchange.fault:
            continue
        if exchange.operation == "deleteDraft" and answer.success:
            deleted[place] = exchange
        elif exchange.operation in _draft_lookups() and answer.refusal and place in deleted:
            # Refused to the role that could delete it, so that it is not a matter of rights.
            absent |= {place} if _sender(exchange) == _sender(deleted[place]) else set()
        elif exchange.operation == "saveDraft" or answer.success:
            deleted.pop(place, None)
            absent.discard(place)
    for realm, uid, sent in absent:
        if uid not in worker.kept:
            worker.ledger.removed(realm, uid, sent)


def _sender(exchange: Exchange) -> tuple[str | None, str | None]:
    headers = exchange.documented.request_headers
    return headers.get("Authorization"), headers.get("Realm")


def _place(exchange: Exchange) -> Place | None:
    """The draft that an exchange is about."""
    matched = _DRAFT.search(urlsplit(exchange.url).path)
    sent = realm_as_sent(exchange.documented.request_headers, exchange.realm)
    return (exchange.realm, unquote(matched[1]), sent) if matched else None


def _refused_saves(exchanges: Sequence[Exchange]) -> dict[Place, str]:
    """Drafts whose refused save was not followed by a look-up that found none, with the role; in order."""
    open_cases: dict[Place, str] = {}
    saved: set[Place] = set()
    for exchange in exchanges:
        place, answer = _place(exchange), exchange.response
        if place is None or answer is None or exchange.fault:
            continue
        if exchange.operation == "saveDraft" and answer.success:
            saved.add(place)
        elif exchange.operation == "saveDraft" and answer.refusal:
            open_cases[place] = exchange.role
        elif exchange.operation in _draft_lookups() and answer.status in _ABSENT:
            open_cases.pop(place, None)
    return {place: role for place, role in open_cases.items() if place not in saved}


#: Endings of a case that say nothing against the service.
INCONCLUSIVE = (Blocked, EnvironmentFault, Ambiguous, Flaky)
_TRIES_DIFFER: Final = "the same requests came to something else from one try to the next"
#: Endings that a case raises on purpose.
EXPECTED = (
    Contradiction,
    *INCONCLUSIVE,
    Untested,
)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a contract case; other items go their usual way."""
    if not any(marks(item)):
        return None
    worker = item.config.stash[WORKER]
    halted = worker.halted()
    if halted:
        item.session.shouldstop = halted
        return True
    with worker.giving_up_where_broken(item.session):
        _take_turn(item, nextitem, worker)
    return True


def _take_turn(item: pytest.Item, nextitem: pytest.Item | None, worker: Worker) -> None:
    """Run a case and report it as pytest does."""
    began = time.perf_counter()
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    announce(item, worker)
    reports = _run(item, nextitem, worker)
    # The item lasts until the run ends: what its last attempt sent and got must not.
    del item.stash[ATTEMPT]
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    worker.spent["cases"] = worker.spent.get("cases", 0.0) + time.perf_counter() - began


def _run(item: pytest.Item, nextitem: pytest.Item | None, worker: Worker) -> list[pytest.TestReport]:
    started, clock = datetime.now(UTC), time.perf_counter()
    tries = attempts_at(item, nextitem, worker)
    judged = tries.judged
    attempts = [judged_attempt.attempt for judged_attempt in judged]
    first, ending = judged[0].reports, judged[0].ending
    reports = first
    for replay in judged[1:]:
        # What stood in the way of looking at advice once more says nothing of the musts, which were judged before.
        hindered = replay.attempt.advisory and replay.ending.verdict is Verdict.INCONCLUSIVE
        if not replay.attempt.keys and not hindered:
            reports, ending = replay.reports, replay.ending
    findings = list(confirm(attempts))
    confirmed = [finding for finding in findings if finding.confirmed]
    if confirmed:
        reports, ending = first, _worse(item, confirmed, ending, worker)
    elif ending.verdict is Verdict.ADVISORY and judged[0].attempt.held:
        # A finding that was not confirmed is told for its own clause.
        reports, ending = first, Ending(Verdict.PASS)
    elif ending.verdict in (Verdict.FAIL, Verdict.ADVISORY):
        reports = first
        ending = Ending(Verdict.INCONCLUSIVE, f"a contradiction that did not come back: {ending.reason}")
    case = identity_of(item, worker)
    write_findings(case, worker, attempts, findings)
    for finding in findings:
        item.ihook.pytest_contract_finding(item=item, finding=finding)
    case |= judged_clauses(item, ending)
    spent = time.perf_counter() - clock
    write_case(case, worker, attempts, ending, started, spent, set_aside=tries.set_aside, deals=deals(item))
    _mark(reports, ending, findings, worker)
    tone_down(item, reports, ending.verdict, [finding.evidence for finding in confirmed], worker)
    every = [judged_attempt.attempt for judged_attempt in tries.all]
    note_deleted_drafts(worker, every)
    look_for_unexpected_drafts(worker, every)
    worker.clean()
    return reports


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn what a case raised into its ending, and a contradiction's traceback into two plain sentences."""
    raised = call.excinfo
    expected = raised is not None and isinstance(raised.value, EXPECTED) and any(marks(item))
    if raised is not None and expected:
        call.excinfo = _cheap_ending(raised)
    report = yield
    call.excinfo = raised
    if not any(marks(item)):
        return report
    if raised is not None:
        _apply_ending(item, report, raised.value)
    _redact(report, item.config.stash[WORKER])
    return report


def _cheap_ending(raised: pytest.ExceptionInfo[BaseException]) -> pytest.ExceptionInfo[BaseException]:
    """An ending that pytest renders cheaply: a traceback costs more than most cases, and is never shown."""
    skipped = pytest.skip.Exception(str(raised.value)).with_traceback(raised.value.__traceback__)
    return pytest.ExceptionInfo.from_exception(skipped)


def _apply_ending(item: pytest.Item, report: pytest.TestReport, error: BaseException) -> None:
    if isinstance(error, Contradiction):
        _end(item, Ending(Verdict.FAIL, str(error).partition("\n")[0]))
        report.outcome, report.longrepr = "failed", str(error)
        # A subtest's report goes out at once: what it shows is weighed here.
        weight = bearing(item.config.stash[WORKER], realm_of(item), [error.evidence])
        if weight is not ConsumerScope.COUNTS:
            soften(item, report, f"{weight}: {error}")
    elif isinstance(error, INCONCLUSIVE):
        why = _TRIES_DIFFER if isinstance(error, Flaky) else str(error)
        _skip(item, report, Ending(Verdict.INCONCLUSIVE, why, _obstacle(error)))
    elif isinstance(error, Untested):
        _skip(item, report, Ending(Verdict.UNTESTED, str(error)))
    elif isinstance(error, pytest.skip.Exception):
        _end(item, Ending(Verdict.UNTESTED, str(error)))
    else:
        _end(item, Ending(Verdict.ERROR, f"{type(error).__name__}: {error}"))
        # A traceback shows arguments, and these may hold credentials.
        report.longrepr = report.longreprtext


def _redact(report: pytest.TestReport, worker: Worker) -> None:
    if isinstance(report.longrepr, str):
        report.longrepr = worker.redactor.text(report.longrepr)
    elif isinstance(report.longrepr, tuple):
        path, line, reason = report.longrepr
        report.longrepr = (path, line, worker.redactor.text(reason))
    report.sections = [(name, worker.redactor.text(text)) for name, text in report.sections]


def _obstacle(error: BaseException) -> Blocked | None:
    """The operation that stood in the way, where it was one."""
    if isinstance(error, NoTokenError):
        return Blocked("createToken", str(error))
    return error if isinstance(error, Blocked) else None


def _end(item: pytest.Item, ending: Ending) -> None:
    """Note how the attempt ended; of several endings, those of subtests included, the worst counts."""
    if ending.verdict.rank < item.stash[ENDING].verdict.rank:
        item.stash[ENDING] = ending


def _skip(item: pytest.Item, report: pytest.TestReport, ending: Ending) -> None:
    _end(item, ending)
    report.outcome = "skipped"
    path, line, _ = item.location
    report.longrepr = (path, line or 0, f"{ending.verdict}: {ending.reason}")


def _worse(item: pytest.Item, confirmed: list[Confirmed], ended: Ending, worker: Worker) -> Ending:
    """The ending of a case with confirmed findings.

    They hide no obstacle: a case that was blocked stays inconclusive beside a should, or beside a finding of the
    universal checks, which is one of its own and says nothing about the clauses of the case.
    """
    worst = _worst(confirmed, worker)
    own = any(finding.evidence.clause in clauses_of(item) for finding in confirmed)
    if ended.verdict is Verdict.ERROR or (ended.verdict is Verdict.INCONCLUSIVE and not own):
        return ended
    return ended if ended.verdict is Verdict.INCONCLUSIVE and worst is Verdict.ADVISORY else Ending(worst)


def _worst(findings: list[Confirmed], worker: Worker) -> Verdict:
    levels = {
        worker.catalogue.clause(finding.evidence.clause).level for finding in findings if finding.confirmed
    }
    return Verdict.FAIL if Level.MUST in levels else Verdict.ADVISORY


def _mark(
    reports: list[pytest.TestReport], ending: Ending, findings: list[Confirmed], worker: Worker
) -> None:
    """Put the verdict on the reports; a universal finding fails a case that ended well."""
    for report in reports:
        report.user_properties.append((VERDICT_PROPERTY, str(ending.verdict)))
    if ending.verdict in (Verdict.FAIL, Verdict.ERROR) and not any(report.failed for report in reports):
        call = next((report for report in reports if report.when == "call"), reports[0])
        call.outcome = "failed"
        lines = [str(Contradiction(finding.evidence)) for finding in findings if finding.confirmed]
        call.longrepr = worker.redactor.text("\n".join(lines) or ending.reason or "")
