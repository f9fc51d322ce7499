"""A gate's answer from a kept run: the verdict of a gate with these terms, unless the run cannot tell."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from registry_contracts.evidence.kept_gate import Question, answer
from registry_contracts.evidence.record import ExitCode, Narrowed, RunRecord
from registry_contracts.evidence.terms import Terms
from registry_contracts.evidence.verdicts import RunVerdict
from tests.meta.evidence.sample_records import CATALOGUE, TODAY, Story, consumer, deviation

READS = consumer("getDraft", realms=("abs-dev",))
BEGAN = datetime(2026, 5, 10, 8, tzinfo=UTC)
Asked = tuple[RunVerdict, list[str]]


@pytest.fixture
def ask(tmp_path: Path) -> Callable[..., Asked]:
    """Asks of a run whether what reads drafts may be released, an hour after the run began."""

    def asked(record: RunRecord, **question: Any) -> Asked:
        plain = Question(Terms(READS), "dev", None, timedelta(hours=36), BEGAN + timedelta(hours=1))
        return answer(tmp_path, record, replace(plain, **question), CATALOGUE)

    return asked


def test_deviations_are_those_of_the_day_of_the_question(whole: Story, ask: Callable[..., Asked]) -> None:
    whole.contradicts("draft-get-content")
    entry = deviation(realms=("abs-dev",), expires=TODAY)
    kept = whole.record(Terms(READS, (deviation(),), "deviations/dev.toml"))
    assert ask(kept)[0].exit_code is ExitCode.FAIL, "the deviation has been taken out since"
    terms = Terms(READS, (entry,), "deviations/dev.toml")
    assert ask(kept, terms=terms)[0].exit_code is ExitCode.PASS
    later = ask(kept, terms=terms, now=BEGAN + timedelta(days=1))[0]
    assert later.exit_code is ExitCode.FAIL
    assert "ran out on 2026-05-10" in later.deviations[0].says
    mended = Story()
    mended.holds("draft-get-content", "draft-save-creates", "uid-too-short", "workflow-locked-record")
    gone = ask(mended.record(), terms=terms)[0]
    assert (gone.exit_code, gone.deviations[0].says[:17]) == (ExitCode.FAIL, "no longer happens")


def changed(**facts: Any) -> Callable[[RunRecord], RunRecord]:
    """A kept run with other facts."""
    return lambda record: replace(record, run=replace(record.run, **facts))


LIMITED = Terms(consumer("saveDraft"))
LEFT_OUT = Narrowed("cases were left out by the selection", frozenset({("draft-get-content", "abs-dev")}))
WIDE = (*READS.realms, "chm-dev")


@pytest.mark.parametrize(
    ("kept", "question", "says"),
    [
        (changed(), {"base_url": "https://a.test"}, "it judged http://127.0.0.1, not https://a.test"),
        (changed(), {"max_age": timedelta(minutes=20)}, "it began 1.0 h ago, and 20 min are allowed"),
        (changed(started="2026-05-10T10:00:00+00:00"), {}, "it begins in the future (2026-05-10T10:00:00+00:00)"),
        (changed(interrupted=True), {}, "it was interrupted"),
        (changed(refused="--realm is unknown"), {}, "it judged nothing: --realm is unknown"),
        (lambda kept: replace(kept, problems=("the run has no closing record",)), {}, "the run has no closing record"),
        (changed(profile="smoke"), {}, "its profile is smoke, which does not take in every must clause"),
        (changed(), {"terms": Terms(replace(READS, realms=WIDE))}, "it did not judge the realm chm-dev"),
        (changed(settings={"abs-dev": {}, "ort-dev": {}}), {"terms": Terms()}, "it did not judge the realm ort-dev"),
        (changed(clauses=("uid-too-short",)), {}, "it did not judge draft-get-content in abs-dev"),
        (changed(terms=LIMITED), {}, "it was limited to sdk.toml, which does not take in all that is asked about"),
        (lambda kept: replace(kept, narrowed=(LEFT_OUT,)), {}, f"{LEFT_OUT.reason}: draft-get-content"),
    ]
)  # fmt: skip
def test_a_run_that_cannot_tell_leaves_the_answer_inconclusive(
    ask: Callable[..., Asked], kept: Callable[[RunRecord], RunRecord], question: dict[str, Any], says: str
) -> None:
    story = Story()
    story.holds("uid-too-short")
    if says.partition(" in ")[0] != "it did not judge draft-get-content":
        story.holds("draft-get-content", "draft-save-creates", "workflow-locked-record")
    verdict, gaps = ask(kept(story.record()), **question)
    assert verdict.exit_code is ExitCode.INCONCLUSIVE
    assert gaps[0].startswith(says), gaps
    assert gaps[0] in verdict.reason


def test_a_contradiction_counts_before_what_is_missing(whole: Story, ask: Callable[..., Asked]) -> None:
    whole.contradicts("draft-get-content")
    verdict, gaps = ask(changed(profile="smoke")(whole.record()))
    assert (verdict.exit_code, len(gaps)) == (ExitCode.FAIL, 1)
    old, _ = ask(whole.record(), max_age=timedelta(minutes=1))
    assert (old.exit_code, old.causes) == (ExitCode.INCONCLUSIVE, ()), "what is too old says nothing at all"
