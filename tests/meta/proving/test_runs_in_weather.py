"""A run in bad weather judges what can be judged, and says what cannot."""

import json
import re
import shutil
from collections.abc import Callable
from typing import Any

from contracts.settings.embedded_sandbox import SANDBOX_SETTINGS
from contracts.settings.target import ACCOUNT_ROLES
from tests.meta.program import Program


def test_an_operation_that_is_gone_leaves_the_rest_to_be_judged(
    program: Program, start_sandbox: Callable[..., Any]
) -> None:
    text = SANDBOX_SETTINGS.read_text("utf-8")
    url = start_sandbox("--weather", "hanging-operation:operation=deleteDraft").url
    text = re.sub(r"timeout_seconds = \d+", "timeout_seconds = 1", text.replace("http://127.0.0.1:8080", url))
    shutil.copytree(SANDBOX_SETTINGS.parent / "samples", program.folder / "samples")
    (program.folder / "service.toml").write_text(text, "utf-8")
    for role in ACCOUNT_ROLES:
        program.environment[f"SANDBOX_{role.upper()}_EMAIL"] = f"{role}@sandbox.test"
        program.environment[f"SANDBOX_{role.upper()}_PASSWORD"] = f"sandbox-{role}"
    clauses = ("--clause=draft-get-content", "--clause=draft-delete-removes")
    words = ("--seed=1", "--realm=abs-dev", "--history=off", f"--target={program.folder / 'service.toml'}")
    program("run", *clauses, *words)
    verdict = json.loads((program.folder / "reports" / "latest" / "verdict.json").read_text("utf-8"))
    assert verdict["exit_code"] == 6
    cells = {clause["id"]: clause["realms"].get("abs-dev") for clause in verdict["clauses"]}
    assert "deleteDraft is given up" in str(cells["draft-delete-removes"]["reason"])
    assert cells["draft-get-content"]["held"] > 0
    assert verdict["environment"]["faults"]["no answer within the time limit"] <= 10
