"""Whole runs against the embedded sandbox: the same service never drifts, a changed one does as it should."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

#: Cheap cases at silent points: lists, their envelope and order, statuses, reading without a token.
CLAUSES = ("list-fields", "list-envelope", "list-default-order", "draft-success-status", "draft-save-answer")
PROGRAM = "from contracts.cli import main; main()"
PATIENCE = 240.0


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder to run in, where baselines and reports come to be."""
    return tmp_path_factory.mktemp("drift")


Ended = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def program(checkout: Path) -> Callable[..., Ended]:
    """Runs the program in that folder."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("REGISTRY_", "PYTEST_"))
    }

    def call(*words: str) -> Ended:
        return subprocess.run(
            [sys.executable, "-c", PROGRAM, *words],
            cwd=checkout,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )

    return call


@pytest.fixture(scope="module")
def run(program: Callable[..., Ended]) -> Callable[..., Ended]:
    """Runs a few clauses in one realm."""
    narrow = ("--realm=abs-dev", *(f"--clause={clause}" for clause in CLAUSES))
    return lambda *words: program("run", *narrow, *words)


def drift_of_latest(checkout: Path) -> list[dict[str, Any]]:
    text = (checkout / "reports" / "latest" / "verdict.json").read_text("utf-8")
    found: list[dict[str, Any]] = json.loads(text)["drift"]
    return found


def fits_its_schema(checkout: Path) -> bool:
    """Whether the latest observations.json keeps its published schema."""
    schema = files("contracts.reports").joinpath("schemas/observations.schema.json").read_text("utf-8")
    validator = jsonschema_rs.Draft202012Validator(json.loads(schema), validate_formats=True)
    text = (checkout / "reports" / "latest" / "observations.json").read_text("utf-8")
    return bool(validator.is_valid(json.loads(text))) and not validator.is_valid(
        {**json.loads(text), "more": 1}
    )


def test_a_service_that_becomes_another_variant_drifts_and_one_that_stays_does_not(
    checkout: Path, run: Callable[..., Ended], program: Callable[..., Ended]
) -> None:
    before, after = ("--sandbox-arguments=--variant success-200", "--sandbox-arguments=--variant list-items")
    first = run(before)
    assert first.returncode == 0, first.stdout
    assert "drift: no baseline of sandbox yet" in first.stdout
    assert fits_its_schema(checkout)
    assert program("drift", "accept").returncode == 0

    accepted = (checkout / "baselines" / "sandbox.yaml").read_text("utf-8")
    assert not re.search(r"rc-|\d{4}-\d\d-\d\d|sandbox-|@", accepted)

    again = run(before, "--drift=fail", "--seed=4711", "--workers=2")
    assert again.returncode == 0, again.stdout
    assert "drift: none against baselines/sandbox.yaml" in again.stdout
    assert drift_of_latest(checkout) == []

    changed = run(after, "--drift=fail")
    assert changed.returncode == 1, changed.stdout
    assert "verdict: fail: breaking drift from baselines/sandbox.yaml" in changed.stdout
    kinds = {(each["clause"], each["change"], each["severity"]) for each in drift_of_latest(checkout)}
    assert kinds == {
        ("list-envelope", "behaviour changed", "breaking"),
        ("list-fields", "kind changed", "breaking"),
        ("draft-success-status", "status changed", "breaking"),
    }
    assert program("drift").returncode == 1

    history = (checkout / "reports" / "history.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line)["verdict"] for line in history] == ["pass", "pass", "fail"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--drift=loud",), "--drift takes warn, fail, off, not 'loud'"),
        (("--baseline=nowhere.yaml",), "there is no baseline nowhere.yaml"),
    ],
)
def test_options_that_cannot_be_used_are_one_line(
    run: Callable[..., Ended], words: tuple[str, ...], why: str
) -> None:
    ended = run(*words)
    assert ended.returncode == 4
    assert why in ended.stderr
    assert "Traceback" not in ended.stderr
