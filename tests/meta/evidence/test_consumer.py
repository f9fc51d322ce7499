"""What a consumer uses decides the verdict; what lies outside is reported and not counted; waivers have reasons."""

import pytest

from contracts.evidence.record import ExitCode
from contracts.evidence.terms import Terms
from tests.meta.evidence.sample_records import Story, consumer, waiver

READS = {"client.drafts.get": ("getDraft",), "client.drafts.open": ("getDraft", "draftExists")}


def test_the_consumers_own_operation_blocks_it_and_its_methods_are_named(whole: Story) -> None:
    whole.contradicts("draft-get-content")
    verdict = whole.verdict(Terms(consumer("getDraft", methods=READS)))
    assert verdict.exit_code is ExitCode.FAIL
    assert verdict.reason == (
        "1 finding in abs-dev: draft-get-content (getDraft); affects client.drafts.get, client.drafts.open"
    )
    assert verdict.findings[0].methods == ("client.drafts.get", "client.drafts.open")


def test_another_operation_does_not_block_it_and_is_reported(whole: Story) -> None:
    whole.contradicts("draft-get-content")
    verdict = whole.verdict(Terms(consumer("saveDraft")))
    assert verdict.exit_code is ExitCode.PASS
    assert verdict.reason.endswith("1 operation of sdk.toml; 1 finding outside sdk.toml not counted")
    assert [finding.counted for finding in verdict.findings] == [False]


def test_clauses_and_realms_limit_further(whole: Story) -> None:
    whole.contradicts("draft-get-content", "bch-dev")
    elsewhere = consumer("getDraft", realms=("abs-dev",)), consumer("getDraft", clauses=("uid-too-short",))
    for limited in elsewhere:
        assert whole.verdict(Terms(limited)).exit_code is ExitCode.PASS
    here = consumer("getDraft", realms=("bch-dev",), clauses=("draft-get-content",))
    assert whole.verdict(Terms(here)).exit_code is ExitCode.FAIL


def test_a_run_that_reached_nothing_of_the_consumers_is_not_green(story: Story) -> None:
    story.holds("draft-save-creates")
    verdict = story.verdict(Terms(consumer("createWorkflowRecord")))
    assert verdict.exit_code is ExitCode.NOTHING_TESTED
    assert "on what sdk.toml uses" in verdict.reason


def test_a_must_that_could_not_be_judged_blocks(whole: Story) -> None:
    whole.case("draft-get-content", "abs-dev", "inconclusive", held=0, reason="no answer in time")
    verdict = whole.verdict(Terms(consumer("getDraft")))
    assert verdict.exit_code is ExitCode.INCONCLUSIVE
    assert "draft-get-content in abs-dev: no answer in time" in verdict.reason
    assert whole.verdict(Terms(consumer("saveDraft"))).exit_code is ExitCode.PASS


def test_a_missing_setting_blocks_only_whom_it_concerns(story: Story) -> None:
    story.holds("draft-save-creates", "uid-too-short", "draft-get-content")
    reason = "setting realm.abs-dev.locked_identifier is missing"
    story.case("workflow-locked-record", outcome="untested", held=0, reason=reason)
    concerned = story.verdict(Terms(consumer("saveDraft", "createWorkflowRecord")))
    assert concerned.exit_code is ExitCode.INCONCLUSIVE
    assert "realm.abs-dev.locked_identifier" in concerned.reason
    assert story.verdict(Terms(consumer("saveDraft"))).exit_code is ExitCode.PASS


def test_a_waiver_lets_the_gate_pass_and_is_named(whole: Story) -> None:
    whole.case("draft-get-content", "abs-dev", "inconclusive", held=0, reason="no answer in time")
    used = consumer("getDraft", waivers=(waiver("draft-get-content"),))
    verdict = whole.verdict(Terms(used))
    assert verdict.exit_code is ExitCode.PASS
    assert verdict.reason.endswith("1 must clause waived")
    assert verdict.waivers[0].line == (
        "sdk.toml:9: the waiver of draft-get-content does without a judgement in abs-dev "
        "(the SDK never sends it): no answer in time"
    )


@pytest.mark.parametrize(
    ("name", "operation", "says"),
    [
        ("draft-get-content", "getDraft", "is no longer needed: the clause was judged; take the line out"),
        ("draft-get-absent", "getDraft", "is not needed: a should never blocks a release; take the line out"),
        ("draft-get-content", "saveDraft", "the consumer does not use what it concerns"),
    ],
)
def test_a_waiver_that_is_not_needed_says_so(whole: Story, name: str, operation: str, says: str) -> None:
    verdict = whole.verdict(Terms(consumer(operation, waivers=(waiver(name),))))
    assert verdict.exit_code is ExitCode.PASS
    assert len(verdict.notes) == 1
    assert verdict.notes[0].startswith("sdk.toml:9: ")
    assert says in verdict.notes[0]


def test_a_waiver_does_not_help_against_a_contradiction(whole: Story) -> None:
    whole.contradicts("draft-get-content")
    verdict = whole.verdict(Terms(consumer("getDraft", waivers=(waiver("draft-get-content"),))))
    assert verdict.exit_code is ExitCode.FAIL
    assert "does not help" in verdict.notes[0]


def test_an_operation_of_others_that_stood_in_the_way_of_a_shared_case_does_not_block(story: Story) -> None:
    story.case("uid-too-short", outcome="inconclusive", operation="saveDraft", blocked="getDraft")
    assert story.verdict(Terms(consumer("saveDraft"))).exit_code is ExitCode.PASS
    for own in ("getDraft", "saveDraft"), ("getDraft",):
        assert story.verdict(Terms(consumer(*own))).exit_code is ExitCode.INCONCLUSIVE
