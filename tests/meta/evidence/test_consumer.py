"""What a consumer uses decides the verdict; what lies outside is reported and not counted; waivers have reasons."""

from typing import Any

import pytest

from registry_contracts.evidence.record import ExitCode
from registry_contracts.evidence.terms import Terms
from tests.meta.evidence.sample_records import Story, consumer, waiver

READS = {"client.drafts.get": ("getDraft",), "client.drafts.open": ("getDraft", "draftExists")}
WAIVED = (waiver("draft-get-content"),)
LACKS = ("realm.abs-dev.locked_identifier",)
F, P, N, I = ExitCode.FAIL, ExitCode.PASS, ExitCode.NOTHING_TESTED, ExitCode.INCONCLUSIVE  # noqa: E741


def contradicted(story: Story) -> None:
    story.contradicts("draft-get-content", "bch-dev")


def stuck(story: Story) -> None:
    story.case("draft-get-content", "abs-dev", "inconclusive", held=0, reason="no answer in time")


def lacking(story: Story) -> None:
    story.case("workflow-locked-record", outcome="untested", held=0, reason="lacks it", settings=LACKS)


def shared(story: Story) -> None:
    """An operation stood in the way of a case that judges another one too."""
    story.case("uid-too-short", outcome="inconclusive", operation="saveDraft", blocked="getDraft")


@pytest.mark.parametrize(
    ("happens", "used", "code", "says"),
    [
        (contradicted, consumer("getDraft", methods=READS), F, "; affects client.drafts.get, client.drafts.open"),
        (contradicted, consumer("saveDraft"), P, "1 operation of sdk.toml; 1 finding outside sdk.toml not counted"),
        (contradicted, consumer("getDraft", realms=("abs-dev",)), P, "not counted"),
        (contradicted, consumer("getDraft", clauses=("uid-too-short",)), P, "not counted"),
        (contradicted, consumer("getDraft", realms=("bch-dev",), clauses=("draft-get-content",)), F, "(getDraft)"),
        (contradicted, consumer("getDraft", waivers=WAIVED), F, "(getDraft)"),
        (stuck, consumer("getDraft"), I, "draft-get-content in abs-dev: no answer in time"),
        (stuck, consumer("saveDraft"), P, "1 operation of sdk.toml"),
        (stuck, consumer("getDraft", waivers=WAIVED), P, "1 must clause waived"),
    ]
)  # fmt: skip
def test_what_the_consumer_uses_decides(whole: Story, happens: Any, used: Any, code: int, says: str) -> None:
    happens(whole)
    verdict = whole.verdict(Terms(used))
    assert (verdict.exit_code, says in verdict.reason) == (code, True), verdict.reason


@pytest.mark.parametrize(
    ("held", "happens", "used", "code"),
    [
        ("draft-save-creates", None, ("createWorkflowRecord",), N),
        ("draft-save-creates", lacking, ("saveDraft", "createWorkflowRecord"), I),
        ("draft-save-creates", lacking, ("saveDraft",), P),
        ("", shared, ("saveDraft",), P),
        ("", shared, ("getDraft", "saveDraft"), I),
        ("", shared, ("getDraft",), I),
    ],
)
def test_unreached_is_not_green(
    story: Story, held: str, happens: Any, used: tuple[str, ...], code: int
) -> None:
    story.holds(*filter(None, [held]))
    if happens is not None:
        happens(story)
    assert story.verdict(Terms(consumer(*used))).exit_code is code


@pytest.mark.parametrize(
    ("happens", "name", "operation", "says"),
    [
        (None, "draft-get-content", "getDraft", "is no longer needed: the clause was judged; remove the line"),
        (None, "draft-get-absent", "getDraft", "is not needed: a should never blocks a release"),
        (None, "draft-get-content", "saveDraft", "the consumer does not use what it concerns"),
        (contradicted, "draft-get-content", "getDraft", "does not help"),
        (stuck, "draft-get-content", "getDraft", "does without a judgement in abs-dev (the SDK never sends it): no"),
    ]
)  # fmt: skip
def test_an_unneeded_waiver_is_told(whole: Story, happens: Any, name: str, operation: str, says: str) -> None:
    if happens is not None:
        happens(whole)
    verdict = whole.verdict(Terms(consumer(operation, waivers=(waiver(name),))))
    assert verdict.waivers[0].sentence.startswith(f"sdk.toml:9: the waiver of {name} ")
    assert says in verdict.waivers[0].sentence
    assert verdict.notes == (() if verdict.waivers[0].needed else (verdict.waivers[0].sentence,))
