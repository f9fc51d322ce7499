"""The baseline file: reads back as it was, reviews well, says what is wrong with it, and takes in what is accepted."""

import difflib
from pathlib import Path

import pytest

from registry_contracts.errors import UsageError
from registry_contracts.history import baseline
from registry_contracts.history.baseline import accept_facts
from registry_contracts.history.drift import compare
from registry_contracts.history.observed_facts import Facts, Place, Value

AWKWARD = ("true", "~", "0404", "1e3", "a: b", "# no", "- x", "", "401 | 404", "é", "'", "[x]", "12:30")


def facts(clause: str = "list-envelope", *realms: str, **values: Value) -> Facts:
    everywhere = realms or ("abs-dev", "bch-dev", "chm-dev")
    return {Place(clause, "listDrafts", realm): dict(values) for realm in everywhere}


def write(path: Path, content: Facts, target: str = "sandbox") -> str:
    baseline.write(path, baseline.Baseline(target, content))
    return path.read_text("utf-8")


def test_any_text_reads_back_as_it_was_written(tmp_path: Path) -> None:
    content = facts(
        "list-envelope", "abs-dev", **{text or "empty": text for text in AWKWARD}, all=AWKWARD[:1]
    )
    write(tmp_path / "b.yaml", content, "no: such # target")
    assert baseline.read(tmp_path / "b.yaml") == baseline.Baseline("no: such # target", content)


def test_realms_that_agree_share_a_line_and_one_change_is_one_line_of_a_diff(tmp_path: Path) -> None:
    path = tmp_path / "b.yaml"
    before, after = (write(path, facts(create="201", update=update)) for update in ("200", "204"))
    diff = [line for line in difflib.ndiff(before.splitlines(), after.splitlines()) if line[0] in "+-"]
    assert diff == ["-       update: '200'", "+       update: '204'"]
    apart = write(path, facts(same="1") | facts("list-envelope", "chm-dev", same="2"))
    assert "same:\n        abs-dev: '1'\n        bch-dev: '1'\n        chm-dev: '2'\n" in apart


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: [", "b.yaml:1: is not YAML"),
        ("format: 9\ntarget: x\nrealms: []\nfacts: {}", "is no baseline of this version"),
        ("format: 1\ntarget: x\nrealms: []\nfacts: {c: {getDrafts: {a: 1}}}", "no operation 'getDrafts'"),
    ],
)
def test_what_cannot_be_used_is_one_line(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "b.yaml").write_text(text, "utf-8")
    with pytest.raises(UsageError) as refused:
        baseline.read(tmp_path / "b.yaml")
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)


BODY = {"200 body": "object", "200 body.a": "string"}
WIDER = BODY | {"200 body.a": "string, optional"}
INNER = BODY | {"200 body.gone": "object", "200 body.gone.x": "null"}


@pytest.mark.parametrize(
    ("known", "seen", "merged"),
    [
        (facts(seen="array") | facts("list-fields", seen="1"), facts(seen="object"), None),
        (facts(**INNER), facts(**BODY), facts(**BODY)),
        (
            facts(**INNER),
            facts(**BODY, **{"200 body.gone": "string"}),
            facts(**BODY, **{"200 body.gone": "string"}),
        ),
        (facts(**WIDER), facts(**BODY), facts(**WIDER)),
    ],
    ids=["unseen stays", "a member goes", "a member changes", "wider stays"],
)
def test_accepting_takes_over_what_contradicts(known: Facts, seen: Facts, merged: Facts | None) -> None:
    accepted = accept_facts(known, seen, compare(known, seen))
    assert accepted == (known | seen if merged is None else merged)
    assert compare(accepted, seen) == ()
