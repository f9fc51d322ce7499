"""Whole runs against the embedded sandbox: the same service never drifts, a changed one does as it should."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.meta.program import Ended, Program
from tests.meta.schemas import misfits

#: Cheap cases at silent points: lists, their envelope and order, statuses, reading without a token.
CLAUSES = ("list-fields", "list-envelope", "list-default-order", "draft-success-status", "draft-save-answer")


def run(program: Program, *words: str) -> Ended:
    """Run a few clauses in one realm."""
    return program("run", "--realm=abs-dev", *(f"--clause={clause}" for clause in CLAUSES), *words)


def drift_of_latest(folder: Path) -> list[dict[str, Any]]:
    text = (folder / "reports" / "latest" / "verdict.json").read_text("utf-8")
    found: list[dict[str, Any]] = json.loads(text)["drift"]
    return found


def test_a_service_that_becomes_another_variant_drifts_and_one_that_stays_does_not(
    program: Program,
) -> None:
    folder = program.folder
    before, after = ("--sandbox-arguments=--variant success-200", "--sandbox-arguments=--variant list-items")
    first = run(program, before)
    assert first.code == 0, first.out
    assert "drift: no baseline of sandbox yet" in first.out
    assert misfits((folder / "reports" / "latest").resolve()) == []
    assert program("drift", "accept").code == 0

    accepted = (folder / "baselines" / "sandbox.yaml").read_text("utf-8")
    assert not re.search(r"rc-|\d{4}-\d\d-\d\d|sandbox-|@", accepted)

    again = run(program, before, "--drift=fail", "--seed=4711")
    assert again.code == 0, again.out
    assert "drift: none against baselines/sandbox.yaml" in again.out
    assert drift_of_latest(folder) == []

    changed = run(program, after, "--drift=fail")
    assert changed.code == 1, changed.out
    assert "verdict: fail: breaking drift from baselines/sandbox.yaml" in changed.out
    kinds = {(each["clause"], each["change"], each["severity"]) for each in drift_of_latest(folder)}
    assert kinds == {
        ("list-envelope", "behaviour changed", "breaking"),
        ("list-fields", "kind changed", "breaking"),
        ("draft-success-status", "status changed", "breaking"),
    }
    assert program("drift").code == 1

    history = (folder / "reports" / "history.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line)["verdict"] for line in history] == ["pass", "pass", "fail"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--drift=loud",), "--drift takes warn, fail, off, not 'loud'"),
        (("--baseline=nowhere.yaml",), "there is no baseline nowhere.yaml"),
    ],
)
def test_options_that_cannot_be_used_are_one_line(program: Program, words: tuple[str, ...], why: str) -> None:
    ended = run(program, *words)
    assert ended.code == 4
    assert why in ended.err
