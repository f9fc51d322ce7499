"""The kill matrix: what counts as killed, idle, alarming."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import UsageError
from contracts.proving.matrix import (
    Proof,
    ProofPart,
    as_data,
    closing_lines,
    first_trials,
    idle_cases,
    markdown,
    matrix,
    next_stage,
    put_between,
    render,
    trials_for_case,
    waits,
)
from contracts.proving.trials import AND, STAGES, CaseFacts, CaseIndex, TrialKind, TrialResult, realms_of
from contracts.sandbox.defects import load
from contracts.sandbox.variants import ALL as VARIANTS

Make = Callable[..., TrialResult]
FACTS: dict[str, Any] = {
    "command": "python -m contracts.proving",
    "started": "2026-01-02T03:04:05+00:00",
    "seconds": 61.0,
    "seeds": [1, 2],
    "jobs": 2,
    "cores": 2,
    "versions": {},
}


def test_a_defect_is_killed_when_every_seed_killed_it(result: Make) -> None:
    assert matrix([result(seed=1), result(seed=2)], {}).holds
    found = matrix([result(seed=1), result(seed=2, killed=False)], {})
    assert not found.holds
    assert [row.defect.name for row in found.survivors] == ["uid-accepts-ten"]


def test_a_later_stage_may_kill_it(result: Make) -> None:
    found = matrix([result(killed=False), result(stage=1, realms=("abs-dev", "bch-dev"))], {})
    assert found.holds
    assert found.defects[0].seeds[0].first.trial.stage == 1


def test_a_finding_on_another_clause_is_no_kill(result: Make) -> None:
    elsewhere = result(killed=False, findings=({"clause": "uid-letters"},), exit_code=1)
    found = matrix([elsewhere], {})
    assert not found.holds
    assert any("found under uid-letters" in line for line in closing_lines(found))


def test_a_case_that_killed_nothing_is_idle_unless_it_only_observes(
    result: Make, cases: dict[str, CaseFacts]
) -> None:
    found = matrix([result()], cases)
    assert [row.name for row in found.idle] == ["uid_lengths: another"]
    alone = result(only="uid_lengths: another", cases=("uid_lengths: another",))
    assert matrix([result(), alone], cases).holds


def test_an_observing_case_that_saw_what_any_exchange_shows_is_not_among_the_counted(
    result: Make, cases: dict[str, CaseFacts]
) -> None:
    summary = matrix([result(cases=tuple(cases))], cases).summary()
    assert (summary["cases"], summary["cases_that_killed"]) == (2, 2)


def test_idle_cases_are_tried_on_the_defects_of_their_clauses(
    result: Make, cases: dict[str, CaseFacts]
) -> None:
    idle = idle_cases(CaseIndex(cases), [result()])
    assert list(idle) == ["uid_lengths: another"]
    trials = trials_for_case("uid_lengths: another", idle["uid_lengths: another"], 7)
    assert {trial.clause for trial in trials} == {"uid-too-short"}
    assert {trial.only for trial in trials} == {"uid_lengths: another"}
    assert {trial.seed for trial in trials} == {7}


def test_each_variant_meets_every_case_once_over_the_seeds_each_time_with_another() -> None:
    trials = list(first_trials(Proof((1, 2, 3), parts=(ProofPart.PAIRS,))))
    shares: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for trial in trials:
        for name in trial.name.split(AND):
            shares[name].append(trial.share)
    # Those that need settings of their own have whole gates of their own.
    assert shares.keys() == {name for name in VARIANTS if not VARIANTS[name].settings}
    assert all(sorted(found) == [(0, 3), (1, 3), (2, 3)] for found in shares.values())
    together = [trial.name for trial in trials if AND in trial.name]
    assert len(together) == len(set(together)) > len(VARIANTS)


def test_each_seed_has_a_nightly_and_a_full_run_on_variants_that_do_not_touch_each_other() -> None:
    trials = list(first_trials(Proof((1, 2, 3), parts=(ProofPart.CALM,))))
    longer = [trial for trial in trials if trial.stage]
    assert sorted((trial.seed, STAGES[trial.stage][0]) for trial in longer) == [
        (seed, profile) for seed in (1, 2, 3) for profile in ("full", "nightly")
    ]
    assert trials == list(first_trials(Proof((1, 2, 3), parts=(ProofPart.CALM,))))
    assert len({trial.name for trial in longer}) == len(longer)
    for trial in longer:
        chosen = [VARIANTS[name] for name in trial.name.split(AND)]
        assert len(chosen) == 5
        parts = [part for variant in chosen for part in (*variant.parts, *variant.habits)]
        assert len(parts) == len(set(parts))
        assert not waits(trial)


def test_what_breaks_nothing_meets_another_realm_with_documents_on_each_seed_and_the_one_without() -> None:
    trials = [
        trial for trial in first_trials(Proof((1, 2, 3), parts=(ProofPart.CALM,))) if trial.name == "lenient"
    ]
    first, *others = zip(*map(realms_of, trials), strict=True)
    assert sorted(first) == ["abs-dev", "bch-dev", "chm-dev"]
    assert others == [("ort-dev",) * 3]


def test_a_case_meets_first_what_shows_on_its_operation_and_on_no_other() -> None:
    facts = CaseFacts(("uid-too-short", "uid-too-long"), ("getDraftInfo",), ("abs-dev",), "gate", "any.py")
    names = [trial.name for trial in trials_for_case("a case", facts, 1)]
    assert set(names[:2]) == {"uid-10-answered-on-info", "uid-129-answered-on-info"}


def test_what_any_exchange_would_show_is_tried_where_it_can_show() -> None:
    facts = CaseFacts(("no-server-error",), ("deleteDraft",), ("abs-dev",), "gate", "any.py")
    trials = trials_for_case("a case", facts, 1)
    assert trials
    assert all("deleteDraft" in load(trial.name).operations for trial in trials)


@pytest.mark.parametrize(
    ("profile", "stage"),
    [
        ("smoke", ("gate", True)),
        ("gate", ("gate", True)),
        ("nightly", ("nightly", True)),
        ("full", ("full", True)),
    ],
)
def test_a_case_is_tried_alone_in_the_first_profile_that_takes_it_in(
    cases: dict[str, CaseFacts], profile: str, stage: tuple[str, bool]
) -> None:
    facts = replace(cases["uid_lengths: another"], profile=profile)
    trials = trials_for_case("a case", facts, 1)
    assert {STAGES[trial.stage] for trial in trials} == {stage}


def test_a_rare_defect_that_lives_goes_straight_to_what_repeats(result: Make) -> None:
    further = next_stage(result("draft-delete-kept-one-in-twenty", "draft-delete-removes", killed=False))
    assert further is not None
    assert STAGES[further.stage] == ("nightly", True)


def test_a_finding_without_a_defect_is_an_alarm(result: Make) -> None:
    calm = {"name": "list-docs", "clause": "", "kind": TrialKind.VARIANT, "killed": False}
    assert matrix([result(**calm)], {}).holds
    must = {"clause": "list-answers", "level": "must", "seen": "x"}
    assert matrix([result(**calm, findings=(must,))], {}).alarms
    should = {**must, "level": "should"}
    assert not matrix([result(**calm, findings=(should,))], {}).alarms
    assert matrix([result(**{**calm, "kind": TrialKind.PLAIN}, findings=(should,))], {}).alarms
    assert matrix([result(**calm, exit_code=6)], {}).alarms


def test_a_trial_that_says_nothing_keeps_the_proof_from_holding(result: Make) -> None:
    assert not matrix([result(), result(seed=2, trouble="took too long")], {}).holds


def test_a_defect_that_lives_is_tried_further_until_there_is_nothing_further(result: Make) -> None:
    first = next_stage(result(killed=False))
    assert first is not None
    assert first.stage == 1
    assert next_stage(result()) is None
    assert next_stage(result(killed=False, stage=2)) is None
    assert next_stage(result(killed=False, only="a case")) is None


def test_a_result_survives_its_line(result: Make) -> None:
    for each in (
        result(),
        result(kind=TrialKind.VARIANT, killed=False),
        result(trouble="late", only="a case"),
    ):
        assert TrialResult.read(each.line()) == each


def test_the_page_escapes_what_a_service_said_and_asks_nothing_of_the_network(
    result: Make, cases: dict[str, CaseFacts]
) -> None:
    hostile = "<script>alert(1)</script>"
    calm = result(
        "plain", "", kind=TrialKind.PLAIN, killed=False, findings=({"clause": "x", "seen": hostile},)
    )
    page = render(as_data(matrix([result(), calm], cases), FACTS))
    assert hostile not in page
    assert "uid-accepts-ten" in page
    assert "the proof does not hold" in page
    assert not {"http://", "https://", "src="} & {word for word in page.split('"') if word.startswith("http")}


def test_the_tables_go_between_the_marks_of_a_document(result: Make, tmp_path: Path) -> None:
    text = markdown(matrix([result()], {}), FACTS)
    document = tmp_path / "proof.md"
    begin, end = "<!-- begin proof -->", "<!-- end proof -->"
    document.write_text(f"before\n{begin}\nold\n{end}\nafter\n", encoding="utf-8")
    put_between(document, "proof", text)
    put_between(document, "proof", "")
    written = document.read_text(encoding="utf-8")
    assert written == f"before\n{begin}\n\n{text}\n\n{end}\nafter\n"
    assert "| defects killed on every seed | 1 of 1 |" in written
    document.write_text("no marks", encoding="utf-8")
    with pytest.raises(UsageError, match="lacks the line"):
        put_between(document, "proof", text)
