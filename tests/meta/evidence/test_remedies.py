"""What was not judged is grouped by what would remedy it, and no status that answers for some of it is green."""

from typing import Any

import pytest
from msgspec import structs

from registry_contracts.evidence.record import QUIET, Block, ExitCode, Narrowed, Verdict
from registry_contracts.evidence.remedies import NEXT_STEPS, Remedy
from registry_contracts.evidence.verdicts import judge
from registry_contracts.reports.summary import Colour, statuses
from registry_contracts.session.recording import FaultEvent
from tests.meta.evidence.sample_records import case, clause, run_record

ACCOUNT = "the author's account may not write in abs-dev: saveDraft was answered 403"
#: By name: how a case ends and why, what stopped the run; the remedy, and the status that answers for it.
ROWS: dict[str, Any] = {
    "setting": (Verdict.UNTESTED, "no x", {"settings": ("realm.abs-dev.x",)}, Remedy.SETTING, "settings"),
    "role": (Verdict.UNTESTED, "no nau", {"settings": ("accounts.nau",)}, Remedy.ACCOUNT, "settings"),
    "author": (Verdict.INCONCLUSIVE, ACCOUNT, {}, Remedy.ACCOUNT, "settings"),
    "refused": (
        Verdict.INCONCLUSIVE,
        "saveDraft: answered 400",
        {"blocked_by": Block("saveDraft", "abs-dev", "answered 400")},
        Remedy.SERVICE,
        "environment",
    ),
    "ours": (Verdict.INCONCLUSIVE, "two candidates", {}, Remedy.SUITE, "suite"),
}


@pytest.mark.parametrize(("outcome", "reason", "more", "remedy", "status"), ROWS.values(), ids=ROWS)
def test_what_was_not_judged_has_a_remedy_and_a_status_that_is_not_green(
    outcome: Verdict, reason: str, more: dict[str, Any], remedy: Remedy, status: str
) -> None:
    about = clause("draft-get-content", "must", "getDraft", realms=("abs-dev",))
    stopped = case("stopped", outcome, reason=reason, clauses=(about.id,), **more)
    record = run_record(stopped, clauses=(about.id,))
    verdict = judge(record, [about])
    (group,) = verdict.not_judged
    assert (group.remedy, group.verdicts, group.reasons) == (remedy, 1, (reason,))
    assert NEXT_STEPS[remedy] in group.line
    found = {each.name: each for each in statuses(record, verdict)}
    assert (found[status].colour, found[status].verdicts) == (Colour.AMBER, 1)
    assert found["contract"].colour is not Colour.GREEN


@pytest.mark.parametrize(
    ("faults", "remedy"), [((FaultEvent("503"),), Remedy.SERVICE), ((), Remedy.SUITE)], ids=["faults", "none"]
)
def test_records_that_lost_answers_may_have_created_are_no_fault_of_the_suite(
    faults: tuple[FaultEvent, ...], remedy: Remedy
) -> None:
    about = clause("draft-get-content", "must", "getDraft", realms=("abs-dev",))
    reason = "no room for more (setting pace.permanent_records)"
    stopped = case("stopped", Verdict.INCONCLUSIVE, reason=reason, clauses=(about.id,))
    verdict = judge(run_record(stopped, clauses=(about.id,), faults=faults), [about])
    assert [group.remedy for group in verdict.not_judged] == [remedy]


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
