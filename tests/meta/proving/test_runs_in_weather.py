"""Narrow runs in bad weather: what they meet is told, and what can be judged is judged."""

import json
import re
import shutil
from collections.abc import Callable
from typing import Any

import pytest

from contracts.settings.embedded_sandbox import SANDBOX_SETTINGS
from contracts.settings.target import ACCOUNT_ROLES
from tests.meta.program import Program

CLAUSES = ("--clause=draft-get-content", "--clause=draft-delete-removes")
#: A case of a few dozen requests; each fault that it meets is waited for.
READING = ("-k", "test_any_content_that_was_saved_comes_back")
WORDS = ("run", "--seed=1", "--realm=abs-dev", "--history=off")
Run = Callable[..., tuple[str, dict[str, Any]]]


@pytest.fixture
def run_on(program: Program) -> Run:
    """Return a runner of a few cases on a sandbox with some options; it returns what was said, and the verdict."""

    def run(options: str, *cases: str) -> tuple[str, dict[str, Any]]:
        ended = program(*WORDS, *cases, f"--sandbox-arguments={options}")
        return ended.out, verdict_of(program)

    return run


@pytest.fixture
def run_against(program: Program, start_sandbox: Callable[..., Any]) -> Run:
    """Return the same for a sandbox in some weather that was served by hand; it waits a second for an answer."""

    def run(weather: str, *cases: str) -> tuple[str, dict[str, Any]]:
        text = SANDBOX_SETTINGS.read_text("utf-8")
        text = text.replace("http://127.0.0.1:8080", start_sandbox("--weather", weather).url)
        shutil.copytree(SANDBOX_SETTINGS.parent / "samples", program.folder / "samples")
        target = program.folder / "service.toml"
        target.write_text(re.sub(r"timeout_seconds = \d+", "timeout_seconds = 1", text), "utf-8")
        for role in ACCOUNT_ROLES:
            program.environment[f"SANDBOX_{role.upper()}_EMAIL"] = f"{role}@sandbox.test"
            program.environment[f"SANDBOX_{role.upper()}_PASSWORD"] = f"sandbox-{role}"
        ended = program(*WORDS, *cases, f"--target={target}")
        return ended.out, verdict_of(program)

    return run


def verdict_of(program: Program) -> dict[str, Any]:
    path = program.folder / "reports" / "latest" / "verdict.json"
    content: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return content


def test_a_run_gets_through_resets_and_says_what_it_met(run_on: Run) -> None:
    said, verdict = run_on("--weather resets:share=0.15 --weather-seed 1", *READING)
    assert (verdict["verdict"], verdict["findings"]) == ("pass", [])
    assert verdict["environment"]["faults"]
    assert "environment: " in said
    assert "judged all the same: " in said


def test_a_service_that_never_answers_is_known_to_be_down(run_against: Run) -> None:
    _, verdict = run_against("outage-from-start:as=silent", *CLAUSES)
    assert (verdict["verdict"], verdict["exit_code"], verdict["findings"]) == ("inconclusive", 6, [])
    assert "cannot be judged" in verdict["reason"]


def test_an_operation_that_is_gone_leaves_the_rest_to_be_judged(run_against: Run) -> None:
    _, verdict = run_against("hanging-operation:operation=deleteDraft", *CLAUSES)
    assert verdict["exit_code"] == 6
    cells = {clause["id"]: clause["realms"].get("abs-dev") for clause in verdict["clauses"]}
    assert "deleteDraft is given up" in str(cells["draft-delete-removes"]["reason"])
    assert cells["draft-get-content"]["held"] > 0
    assert verdict["environment"]["faults"]["no answer within the time limit"] <= 10
