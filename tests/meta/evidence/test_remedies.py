"""Unjudged verdicts are grouped by remedy; repaired faults are counted, and at one place they are a finding."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from registry_contracts.errors import ExitCode
from registry_contracts.evidence.cells import NEXT_STEPS, Remedy
from registry_contracts.evidence.findings import Standing
from registry_contracts.evidence.record import QUIET, Block, Narrowed, RunRecord, Verdict
from registry_contracts.evidence.repairs import Repair
from registry_contracts.evidence.verdicts import RunVerdict, judge
from registry_contracts.exchanges.exchange import Exchange, Response
from registry_contracts.interface.catalogue import load_catalogue
from registry_contracts.reports.summary import Colour, statuses
from registry_contracts.session.authentication import ENDED_EARLY
from registry_contracts.session.pipeline import FaultEvent
from tests.meta.evidence.sample_records import case, clause, run_record

ACCOUNT = "the author's account may not write in abs-dev: saveDraft was answered 403"
ROOM = "no room for more (setting pace.permanent_records)"
REFUSED = {"blocked_by": Block("saveDraft", "answered 400")}
ABOUT = clause("draft-get-content", "must", "getDraft", realms=("abs-dev",))
#: By name: how a case ends and why, what else of it, faults; the remedy, and the status that answers for it.
ROWS: dict[str, Any] = {
    "setting": (Verdict.UNTESTED, "no x", {"settings": ("realm.abs-dev.x",)}, (), Remedy.SETTING, "settings"),
    "role": (Verdict.UNTESTED, "no nau", {"settings": ("accounts.nau",)}, (), Remedy.ACCOUNT, "settings"),
    "author": (Verdict.INCONCLUSIVE, ACCOUNT, {}, (), Remedy.ACCOUNT, "settings"),
    "refused": (Verdict.INCONCLUSIVE, "saveDraft: answered 400", REFUSED, (), Remedy.SERVICE, "environment"),
    "ours": (Verdict.INCONCLUSIVE, "two candidates", {}, (), Remedy.SUITE, "suite"),
    # Lost answers may have created the records.
    "no room after faults": (Verdict.INCONCLUSIVE, ROOM, {}, (FaultEvent("503"),), Remedy.SERVICE, "environment"),
    "no room": (Verdict.INCONCLUSIVE, ROOM, {}, (), Remedy.SUITE, "suite"),
}  # fmt: skip


@pytest.mark.parametrize(("outcome", "reason", "more", "faults", "remedy", "status"), ROWS.values(), ids=ROWS)
def test_what_was_not_judged_has_a_remedy_and_a_status_that_is_not_green(
    outcome: Verdict, reason: str, more: dict[str, Any], faults: Any, remedy: Remedy, status: str
) -> None:
    stopped = case("stopped", outcome, reason=reason, clauses=(ABOUT.id,), **more)
    record = run_record(stopped, clauses=(ABOUT.id,), faults=faults)
    verdict = judge(record, [ABOUT])
    (group,) = verdict.not_judged
    assert (group.remedy, group.verdicts, group.reasons) == (remedy, 1, (reason,))
    assert NEXT_STEPS[remedy] in group.line
    found = {each.name: each for each in statuses(record, verdict)}
    assert (found[status].colour, found[status].verdicts) == (Colour.AMBER, 1)
    assert found["contract"].colour is not Colour.GREEN


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(
    ("level", "left_out", "quiet", "code", "colour"),
    [
        ("must", False, False, ExitCode.INCONCLUSIVE, Colour.AMBER),
        ("must", False, True, ExitCode.INCONCLUSIVE, Colour.AMBER),
        # Another case might have reached it.
        ("must", True, True, ExitCode.PASS, Colour.GREEN),
        ("should", False, False, ExitCode.PASS, Colour.GREEN),
    ],
)
def test_a_must_that_its_cases_never_reached_is_no_pass_however_the_run_was_started(
    level: str, left_out: bool, quiet: bool, code: ExitCode, colour: Colour, strict: bool
) -> None:
    about = clause("draft-get-content", level, "getDraft", realms=("abs-dev",))
    idle = case("idle", Verdict.PASS, clauses=("c", about.id), held=1)
    idle = structs.replace(idle, outcome=Verdict.UNTESTED, reason=QUIET) if quiet else idle
    narrowed = (Narrowed("cases were left out", None),) if left_out else ()
    record = run_record(idle, clauses=(about.id, "c"), strict=strict, narrowed=narrowed)
    verdict = judge(record, [about, clause("c", "must", "getDraft", realms=("abs-dev",))])
    found = {each.name: each.colour for each in statuses(record, verdict)}
    assert (verdict.exit_code, found["suite"]) == (code, colour)


BUSY = "status 503"
#: What a run sends, again and again: the operation, the realm and the account of each request.
USUAL = [
    ("getDraft", "abs-dev", "author"),
    ("saveDraft", "abs-dev", "author"),
    ("listDrafts", "abs-dev", "other"),
    ("getDraft", "bch-dev", "author"),
    ("saveDraft", "bch-dev", "author"),
]


def met(fault: str, numbers: Iterable[int], unanswered: Iterable[int] = (), **changes: Any) -> RunRecord:
    """A run of 100 requests of which some met a fault, and got an answer at a later try, but for a few."""
    unanswered = set(unanswered)
    sent = {}
    for number in range(100):
        operation, realm, role = USUAL[number % len(USUAL)]
        exchange = Exchange(f"main-{number}", "GET", "http://127.0.0.1/", case="t.py::test_one")
        exchange.operation, exchange.realm, exchange.role = operation, realm, role
        exchange.fault, exchange.response = (fault, None) if number in unanswered else (None, Response(200))
        sent[exchange.id] = exchange
    faults = tuple(FaultEvent(fault, exchange=f"main-{number}") for number in (*numbers, *unanswered))
    return run_record(exchanges=sent, faults=faults, realms=("abs-dev", "bch-dev"), **changes)


def judged(record: RunRecord) -> RunVerdict:
    return judge(record, load_catalogue())


@pytest.mark.parametrize(
    ("fault", "clause", "standing"),
    [
        (BUSY, "no-server-error", Standing.ADVISORY),
        ("the connection was reset", "answers-in-time", Standing.ADVISORY),
        ("an HTML page with status 200 where JSON is due", "json-bodies", Standing.ADVISORY),
        # Limits of rates are not shown.
        ("status 429", "rate-limits", Standing.OBSERVED),
    ],
)
def test_repairs_of_one_operation_alone_are_a_finding(fault: str, clause: str, standing: Standing) -> None:
    verdict = judged(met(fault, range(2, 50, 5)))
    (finding,) = verdict.findings
    assert (finding.clause, finding.realm, finding.operation) == (clause, "abs-dev", "listDrafts")
    assert (finding.standing, finding.fails, finding.rate) == (standing, False, (10, 20))
    assert f"{fault}, 10 times, from listDrafts alone" in finding.seen
    assert finding.exchanges == ("main-37", "main-42", "main-47")
    assert verdict.repairs == (Repair(fault, "abs-dev", "listDrafts", 10),)


@pytest.mark.parametrize(
    ("places", "operation", "says"),
    [
        ((0, 1, 2), None, "in abs-dev alone"),
        ((0, 3), "getDraft", "always after another realm"),
        ((2, 3), None, "always after another account"),
    ],
)
def test_what_one_realm_shows_is_a_finding(places: tuple[int, ...], operation: str | None, says: str) -> None:
    numbers = [number for number in range(1, 100) if number % len(USUAL) in places]
    findings = judged(met(BUSY, numbers)).findings
    assert {finding.operation for finding in findings} == {operation}
    assert all(says in finding.seen for finding in findings)


USUALLY = range(2, 50, 5)


@pytest.mark.parametrize(
    ("fault", "numbers", "unanswered"),
    [
        # Everywhere; too seldom; another place met it, too, without an answer; nothing was repaired.
        (BUSY, range(0, 100, 3), ()),
        (BUSY, (2, 7), ()),
        (BUSY, USUALLY, (3,)),
        (BUSY, (), USUALLY),
        # The answer says that a cache or gateway sent it.
        *(
            (f"{BUSY} ({mark})", USUALLY, ())
            for mark in ("age", "via, age", "x-cache: hit", "via, server: awselb")
        ),
    ],
)
def test_network_faults_are_counted_and_no_finding(
    fault: str, numbers: Iterable[int], unanswered: Iterable[int]
) -> None:
    verdict = judged(met(fault, numbers, unanswered))
    assert verdict.findings == ()
    assert sum(each.times for each in verdict.repairs) == len([*numbers])


def test_a_disturbance_while_one_operation_is_called_is_no_finding() -> None:
    record = met(f"{BUSY} (via)", USUALLY)
    assert judged(record).findings
    together = sorted(record.exchanges.items(), key=lambda pair: str(pair[1].operation))
    assert not judged(replace(record, exchanges=dict(together))).findings


def test_tokens_that_end_early_are_told_wherever_they_do() -> None:
    findings = judged(met(ENDED_EARLY, range(0, 100, 3))).findings
    where = {(each.clause, each.operation) for each in findings}
    assert where == {("token-lasts-until-expiration", "listDrafts")}
    assert {each.standing for each in findings} == {Standing.ADVISORY}
