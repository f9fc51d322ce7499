"""Runs one case: its attempts, their confirmation, its ending, its journal records, and its reports to pytest.

A contradiction is repeated on fresh data until it is confirmed. Reports hold no secrets.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import takewhile
from typing import Final

import pytest
from _pytest.runner import runtestprotocol
from hypothesis.errors import Flaky

from registry_contracts.cases.world import disturbed
from registry_contracts.checks.outcomes import (
    MOST_REPLAYS,
    MOST_REQUESTS,
    OBSTACLES,
    Attempt,
    Blocked,
    Contradiction,
    Untested,
)
from registry_contracts.checks.table import note_universal
from registry_contracts.errors import SuiteError
from registry_contracts.evidence.findings import ConsumerScope, Finding, scope_of
from registry_contracts.evidence.record import QUIET, Verdict
from registry_contracts.interface.catalogue import Level
from registry_contracts.interface.operations import SIGN_IN
from registry_contracts.interface.profiles import Profile
from registry_contracts.plugin.case import Case, Ending, case_of, is_case
from registry_contracts.plugin.worker import MAIN, WORKER, Worker
from registry_contracts.safe_text import displayed
from registry_contracts.session.authentication import NoTokenError
from registry_contracts.session.draft_cleanup import settle_drafts

#: The attribute of a report that holds the verdict of its case.
_VERDICT: Final = "contract_verdict"
#: Attempts that the environment may spoil before a case stays inconclusive.
MOST_SPOILT = 5
#: Tries at a contradiction by a case that creates permanent records or takes temporary files.
_MOST_THAT_USE_UP: Final = 3
_SPOILABLE: Final = (Verdict.INCONCLUSIVE, Verdict.ERROR)
#: Exceptions after which a case is inconclusive.
INCONCLUSIVE = (*OBSTACLES, Flaky)
#: Exceptions that a case raises on purpose.
EXPECTED = (Contradiction, *INCONCLUSIVE, Untested)
_TRIES_DIFFER: Final = "the same requests had different results at a second try"
_BAD: Final = (Verdict.FAIL, Verdict.ADVISORY)
_FAILING: Final = (Verdict.FAIL, Verdict.ERROR)


@dataclass
class Try:
    """One attempt with its reports, and its ending so far.

    Attributes:
        spoilt: The environment failed, or may have caused what was seen; nothing in it is a finding.
    """

    attempt: Attempt
    reports: list[pytest.TestReport] = field(default_factory=list)
    ending: Ending = field(default_factory=lambda: Ending(Verdict.PASS))
    spoilt: bool = False


#: The attempt under way, on the item's stash.
TRY = pytest.StashKey[Try]()


def verdict_of(report: pytest.TestReport | pytest.CollectReport) -> str | None:
    """The verdict of a report's case; empty if the report is of a single attempt, None if it is of no case."""
    verdict: str | None = getattr(report, _VERDICT, None)
    return verdict


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a contract case and report it as pytest does; leave other items to pytest."""
    if not is_case(item):
        return None
    worker = item.config.stash[WORKER]
    halted = worker.halted()
    if halted:
        item.session.shouldstop = halted
        return True
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    if worker.name == MAIN and worker.selection.profile is not Profile.SMOKE:
        worker.tokens.expire_tokens_once()
    # Names the case if the worker dies in it.
    worker.journal.write("begin", case_of(item).begun)
    reports = _run(item, nextitem, worker)
    # Free the exchanges of the last attempt: the item itself stays until the run ends.
    del item.stash[TRY]
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _run(item: pytest.Item, nextitem: pytest.Item | None, worker: Worker) -> list[pytest.TestReport]:
    """Run a case to its verdict, write it to the journal, and return the reports that stand for it."""
    case, started = case_of(item), datetime.now(UTC)
    tries = attempts_at(item, nextitem, worker)
    judged, tried = judged_by(tries), [each.attempt for each in tries]
    attempts = [each.attempt for each in judged]
    findings = worker.findings(case, attempts)
    confirmed = [finding for finding in findings if finding.confirmed]
    for finding in confirmed:
        worker.shared.offer(_mark(finding.clause, finding.operation, case), value=True)
    decisive, ending = _conclusion(case, judged, confirmed, worker)
    reports = decisive.reports
    worker.write_case(case, decisive.attempt, ending, started, findings=findings, attempts=tried)
    _set_outcome(item, reports, ending, confirmed, worker)
    item.ihook.pytest_contract_case(
        item=item, verdict=ending.verdict, reports=reports, findings=findings, attempts=attempts
    )
    settle_drafts(worker, (exchange for attempt in tried for exchange in attempt.exchanges))
    worker.cleanup.after_case()
    return reports


def attempts_at(item: pytest.Item, nextitem: pytest.Item | None, worker: Worker) -> list[Try]:
    """Run a case until it is judged or its attempts are used up; return all attempts, in order."""
    tries, case = list[Try](), case_of(item)
    while True:
        clear = [tried.attempt for tried in tries if not tried.spoilt]
        spoilt_in_a_row = len(list(takewhile(lambda tried: tried.spoilt, reversed(tries))))
        judged = bool(clear) and not _needs_replay(clear, case)
        if judged or len(tries) - len(clear) > MOST_SPOILT or (tries and worker.breaker.open):
            return tries
        if tries:
            worker.breaker.pause(spoilt_in_a_row)
        contradicted = set().union(*(attempt.keys for attempt in clear))
        worker.wait_for_deployment(case, contradicted)
        must = _about_a_must([clause for clause, _ in contradicted] or case.clauses, worker)
        # The plan of permanent records allows the first attempt of a case, but no replay.
        planned = not contradicted and bool(case.facts.records)
        attempt = Attempt(
            len(tries) + 1,
            replay=bool(contradicted),
            advisory=not must and not planned,
            before_again=partial(worker.wait_for_deployment, case),
        )
        tries.append(_run_attempt(item, nextitem, worker, attempt))


def judged_by(tries: Sequence[Try]) -> list[Try]:
    """The attempts that decide a case: those that are not spoilt, or else the last, which says what went wrong."""
    return [tried for tried in tries if not tried.spoilt] or [_in_failing_environment(tries[-1])]


def _run_attempt(item: pytest.Item, nextitem: pytest.Item | None, worker: Worker, attempt: Attempt) -> Try:
    """Run the item once, and judge its exchanges by the universal checks."""
    item.stash[TRY] = tried = Try(attempt)
    began = time.time()
    tried.reports = runtestprotocol(item, log=False, nextitem=nextitem)
    note_universal(attempt, worker.redactor.knows)
    for mark in disturbed(attempt):
        worker.shared.offer(mark, value=True)
    tried.ending = _ending(tried.ending, attempt, case_of(item), worker)
    tried.spoilt = is_spoilt(attempt, tried.ending, disturbed=worker.breaker.fault_since(began))
    return tried


def _about_a_must(clauses: Iterable[str], worker: Worker) -> bool:
    return any(worker.catalogue.clause(name).level is Level.MUST for name in clauses)


def _ending(raised: Ending, attempt: Attempt, case: Case, worker: Worker) -> Ending:
    """The ending of an attempt: what it raised, or what its assertions amount to.

    An attempt that asserts nothing on the case's own clauses did not pass.
    """
    seen = attempt.keys - attempt.dismissed
    if raised.verdict is not Verdict.PASS:
        return raised
    if attempt.obstacle and not _about_a_must((clause for clause, _ in seen), worker):
        return _ending_of(attempt.obstacle)
    if seen:
        return Ending(Verdict.ADVISORY)
    own = {clause for clause, _ in (*attempt.held, *attempt.keys)} | attempt.untested.keys()
    if not own.isdisjoint(case.clauses):
        return raised
    if attempt.observations:
        return Ending(Verdict.OBSERVED)
    # A case that sends nothing is a mistake; for one that sends, the service may have given no occasion to judge.
    return Ending(Verdict.UNTESTED if attempt.exchanges else Verdict.ERROR, QUIET)


def is_spoilt(attempt: Attempt, ending: Ending, *, disturbed: bool) -> bool:
    """Whether the environment may have caused how an attempt ended.

    Args:
        disturbed: A worker met a fault meanwhile, perhaps at one of the suite's own requests; the service may have
            restarted and forgotten the case's token.
    """
    if attempt.keys - attempt.confirmed.keys() and (attempt.clouded or (disturbed and attempt.shut_out)):
        return True
    if ending.verdict is Verdict.INCONCLUSIVE and any(exchange.blocked for exchange in attempt.exchanges):
        return False  # a repetition would be blocked again
    unfinished = ending.verdict in _SPOILABLE or (ending.verdict is Verdict.FAIL and not attempt.keys)
    return unfinished and (disturbed or attempt.clouded or attempt.met_the_way)


def _needs_replay(attempts: Sequence[Attempt], case: Case) -> bool:
    """Whether a contradiction of the first attempt was not seen again, and more replays are allowed.

    A case that uses up records or files has fewer replays.
    """
    most = _MOST_THAT_USE_UP if case.facts.records or case.facts.files else MOST_REPLAYS
    open_keys = attempts[0].keys - attempts[0].confirmed.keys()
    seen_again = {key for attempt in attempts[1:] for key in attempt.keys}
    spent = sum(len(attempt.exchanges) for attempt in attempts[1:])
    return bool(open_keys - seen_again) and len(attempts) <= most and spent < MOST_REQUESTS


def _in_failing_environment(last: Try) -> Try:
    """The last attempt, if all were spoilt, without its contradictions."""
    if last.attempt.keys - last.attempt.confirmed.keys():
        last.attempt.forget_doubtful()
        why = last.ending.reason or "see the traffic"
        words = f"contradicted only while the environment failed, which proves nothing: {why}"
        last.ending = Ending(Verdict.INCONCLUSIVE, words)
    return last


def _conclusion(
    case: Case, judged: Sequence[Try], confirmed: Sequence[Finding], worker: Worker
) -> tuple[Try, Ending]:
    """The attempt whose reports and assertions count, and how the case ended."""
    first = judged[0]
    decisive, ending = first, first.ending
    for replay in judged[1:]:
        # If an obstacle prevents a replay of a SHOULD, the MUSTs stay as the first attempt judged them.
        hindered = replay.attempt.advisory and replay.ending.verdict is Verdict.INCONCLUSIVE
        if not replay.attempt.keys and not hindered:
            decisive, ending = replay, replay.ending
    if confirmed:
        must = _about_a_must((each.clause for each in confirmed), worker)
        own = any(each.clause in case.clauses for each in confirmed)
        # An obstacle leaves the case inconclusive, unless a must of its own clauses is contradicted. A finding of the
        # universal checks says nothing about the clauses of the case.
        blocked = ending.verdict is Verdict.INCONCLUSIVE and not (own and must)
        stays = ending.verdict is Verdict.ERROR or blocked
        return first, ending if stays else Ending(Verdict.FAIL if must else Verdict.ADVISORY)
    if ending.verdict is Verdict.ADVISORY and first.attempt.held:
        # The unconfirmed finding is reported at its own clause.
        return first, Ending(Verdict.PASS)
    if ending.verdict in _BAD:
        why = f"a contradiction that could not be repeated: {ending.reason}"
        return decisive, Ending(Verdict.INCONCLUSIVE, why)
    return decisive, ending


def _set_outcome(
    item: pytest.Item,
    reports: Sequence[pytest.TestReport],
    ending: Ending,
    confirmed: Sequence[Finding],
    worker: Worker,
) -> None:
    """Set the outcome of a case's reports: failed, skipped with the reason, or passed.

    A contradiction that is an accepted deviation or outside the consumer's scope counts as skipped; the journal
    keeps what was seen.
    """
    scope = scope_of(confirmed) if ending.verdict in _BAD else ConsumerScope.COUNTS
    counts = scope is ConsumerScope.COUNTS
    of_call = next((report for report in reports if report.when == "call"), reports[0])
    decisive = next((report for report in reports if not report.passed), of_call)
    text = ""
    if not counts:
        text = f"{scope}: {', '.join(each.clause for each in confirmed)}"
    elif ending.verdict not in _FAILING:
        text = f"{ending.verdict}: {ending.reason}" if ending.reason else ""
    elif not decisive.failed:
        lines = "\n".join(each.line for each in confirmed) or ending.reason or ""
        decisive.outcome, decisive.longrepr = "failed", displayed(worker.redactor.text(lines))
    if text:
        path, line, _ = item.location
        reason = displayed(worker.redactor.text(text))
        decisive.outcome, decisive.longrepr = "skipped", (path, line or 0, reason)
    for report in reports:
        setattr(report, _VERDICT, str(ending.verdict if counts else scope))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note the ending of an attempt by what it raised."""
    report = yield
    if not is_case(item):
        return report
    tried, raised = item.stash[TRY], call.excinfo
    # Reports of subtests, which Schemathesis makes for each operation, go out at once and need it too.
    setattr(report, _VERDICT, "")
    if raised is not None:
        ending = _ending_of(raised.value)
        _note_broken_promise(raised.value, tried.attempt, item)
        tried.ending = min(tried.ending, ending, key=lambda each: each.verdict.rank)
        if ending.verdict is Verdict.ERROR:
            # A traceback shows arguments, and these may hold credentials.
            report.longrepr = report.longreprtext
    _redact(report, item.config.stash[WORKER])
    return report


@pytest.hookimpl(tryfirst=True, specname="pytest_runtest_makereport")
def pytest_report_expected(item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport | None:
    """Report exceptions raised on purpose like a skip: a traceback is slower than most cases, and never shown."""
    raised = call.excinfo
    if raised is None or not is_case(item) or not isinstance(raised.value, EXPECTED):
        return None
    skip = pytest.skip.Exception(str(raised.value)).with_traceback(raised.value.__traceback__)
    skipped = copy(call)
    skipped.excinfo = pytest.ExceptionInfo.from_exception(skip)
    return pytest.TestReport.from_item_and_call(item, skipped)


def _note_broken_promise(error: BaseException, attempt: Attempt, item: pytest.Item) -> None:
    """Note the contradiction that blocked a case, if this attempt saw it and no case of the run confirmed it yet."""
    broken = error.evidence if isinstance(error, Blocked) else None
    if broken is None or not {each.id for each in attempt.exchanges}.issuperset(broken.exchanges):
        return
    if not item.config.stash[WORKER].shared.offered(_mark(*broken.key, case_of(item))):
        attempt.note(broken)


def _mark(clause: str, operation: str | None, case: Case) -> str:
    """The key in the shared state for a finding confirmed in the realm of a case."""
    return f"confirmed {clause} {operation} {case.realm}"


def _ending_of(error: BaseException) -> Ending:
    if isinstance(error, Contradiction):
        return Ending(Verdict.FAIL, str(error).partition("\n")[0])
    if isinstance(error, Flaky):
        # A mistake of the suite counts even if the second try did not reach it.
        broke = (each for each in getattr(error, "exceptions", ()) if isinstance(each, SuiteError))
        mistake = next(broke, None)
        return _ending_of(mistake) if mistake else Ending(Verdict.INCONCLUSIVE, _TRIES_DIFFER)
    if isinstance(error, INCONCLUSIVE):
        refused = Blocked(SIGN_IN, str(error)) if isinstance(error, NoTokenError) else error
        return Ending(Verdict.INCONCLUSIVE, str(error), refused if isinstance(refused, Blocked) else None)
    if isinstance(error, (Untested, pytest.skip.Exception)):
        return Ending(Verdict.UNTESTED, str(error), settings=getattr(error, "settings", ()))
    return Ending(Verdict.ERROR, f"{type(error).__name__}: {error}")


def _redact(report: pytest.TestReport, worker: Worker) -> None:
    """Remove secrets and terminal commands from a report."""

    def plain(text: str) -> str:
        return displayed(worker.redactor.text(text))

    if isinstance(report.longrepr, str):
        report.longrepr = plain(report.longrepr)
    elif isinstance(report.longrepr, tuple):
        path, line, reason = report.longrepr
        report.longrepr = (path, line, plain(reason))
    report.sections = [(name, plain(text)) for name, text in report.sections]
