"""The baseline file: reads back as it was, reviews well, and says what is wrong with it."""

import difflib
from pathlib import Path
from typing import Any

import pytest
import yaml

from contracts.errors import UsageError
from contracts.evidence.run_comparison import realms_of_operations
from contracts.history import baseline
from contracts.history.baseline import accept_facts, select_facts
from contracts.history.drift import compare
from contracts.history.observed_facts import Facts, Place

REALMS_OF = realms_of_operations()
AWKWARD = (
    "true",
    "null",
    "~",
    "0404",
    "1e3",
    "a: b",
    "# no",
    "- x",
    "",
    "yes",
    "401 | 404",
    "é",
    "'",
    "[x]",
    "12:30",
)


def write(path: Path, facts: Facts, target: str = "sandbox") -> str:
    baseline.write(path, baseline.Baseline(target, facts), REALMS_OF)
    return path.read_text("utf-8")


def read(path: Path) -> baseline.Baseline:
    found = baseline.read(path, REALMS_OF)
    assert found is not None
    return found


def test_any_text_reads_back_as_it_was_written(tmp_path: Path) -> None:
    place = Place("list-envelope", "listDrafts", "abs-dev")
    facts: Facts = {place: {text or "empty": text for text in AWKWARD} | {"all": tuple(sorted(AWKWARD))}}
    write(tmp_path / "b.yaml", facts, "no: such # target")
    assert read(tmp_path / "b.yaml") == baseline.Baseline("no: such # target", facts)


def test_realms_that_agree_share_a_line_and_others_have_one_each(made: Any, tmp_path: Path) -> None:
    facts = made.facts(
        made.observation("list-envelope", "listDrafts", {"same": 200, "other": 200}, "abs-dev", "bch-dev")
        + made.observation("list-envelope", "listDrafts", {"same": 200, "other": 404, "only": 1}, "chm-dev")
        + made.observation("token-success-status", "createToken", 200, "any")
    )
    written = yaml.safe_load(write(tmp_path / "b.yaml", facts))["facts"]
    assert written["list-envelope"]["listDrafts"] == {
        "only": {"chm-dev": "1"},
        "other": {"abs-dev": "200", "bch-dev": "200", "chm-dev": "404"},
        "same": "200",
    }
    assert written["token-success-status"]["createToken"] == {"seen": "200"}
    assert read(tmp_path / "b.yaml").facts == facts


def test_one_change_is_one_line_of_a_diff(made: Any, tmp_path: Path) -> None:
    before, after = (
        write(tmp_path / "b.yaml", made.facts(made.observation("draft-success-status", "saveDraft", seen)))
        for seen in ({"create": 201, "update": 200}, {"create": 201, "update": 204})
    )
    diff = [line for line in difflib.ndiff(before.splitlines(), after.splitlines()) if line[0] in "+-"]
    assert diff == ["-       update: '200'", "+       update: '204'"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: [", "b.yaml:1: is not YAML"),
        ("- 1", "is no baseline of this version"),
        ("format: 9\ntarget: x\nrealms: []\nfacts: {}", "is no baseline of this version"),
        ("format: 1\ntarget: x\nrealms: []\nfacts: [1]", "facts"),
        (
            "format: 1\ntarget: x\nrealms: []\nfacts: {c: {getDraft: 1}}",
            "b.yaml: c: [...]: Expected object, got str",
        ),
        ("format: 1\ntarget: x\nrealms: []\nfacts: {c: {getDrafts: {a: 1}}}", "no operation 'getDrafts'"),
        ("format: 1\ntarget: x\nrealms: []\nfacts: {c: {getDraft: {a: [[1]]}}}", "a"),
        ("a: &a [1]\nb: *a", "holds an alias"),
    ],
)
def test_what_cannot_be_used_is_one_line(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "b.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(UsageError) as refused:
        baseline.read(path, REALMS_OF)
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_target_of_any_name_has_a_file_of_its_own() -> None:
    assert baseline.path_of("dev").as_posix() == "baselines/dev.yaml"
    assert baseline.path_of("../of dev").as_posix() == "baselines/..-of-dev.yaml"


def test_accepting_keeps_what_the_run_did_not_observe(made: Any) -> None:
    known = made.facts(
        made.observation("list-envelope", "listDrafts", "array")
        + made.observation("list-fields", "listDrafts", ["a"])
    )
    seen = made.facts(made.observation("list-envelope", "listDrafts", "object"))
    merged = accept_facts(known, seen, compare(known, seen))
    assert merged == known | seen
    assert compare(merged, seen) == ()


def test_accepting_takes_members_out_and_in(made: Any) -> None:
    def facts(status: int, **members: Any) -> Facts:
        body = {"type": "object", "properties": members, "required": list(members)}
        return dict(made.facts(answers=[made.answer("draft-save-answer", "saveDraft", status, body)]))

    text, inner = (
        {"type": "string"},
        {"type": "object", "properties": {"x": {"type": "null"}}, "required": ["x"]},
    )
    known = facts(200, a=text, gone=inner)
    for seen in (facts(200, a=text, new=inner), facts(200, a=inner, gone=text)):
        assert accept_facts(known, seen, compare(known, seen)) == seen


def test_accepting_keeps_what_is_wider_and_not_contradicted(made: Any) -> None:
    def facts(required: list[str]) -> Facts:
        body = {"type": "object", "properties": {"a": {"type": "string"}}, "required": required}
        return dict(made.facts(answers=[made.answer("draft-save-answer", "saveDraft", 200, body)]))

    wide, narrow = facts([]), facts(["a"])
    assert accept_facts(wide, narrow, compare(wide, narrow)) == wide


def test_accepting_can_be_limited(made: Any) -> None:
    seen = made.facts(
        made.observation("list-envelope", "listDrafts", 1) + made.observation("list-fields", "listDrafts", 1)
    )
    assert {place.clause for place in select_facts(seen, ["list-fields"], [])} == {"list-fields"}
    assert {place.realm for place in select_facts(seen, [], ["abs-dev"])} == {"abs-dev"}
    assert select_facts(seen, [], []) == seen
