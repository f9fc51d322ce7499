"""The workflows that people copy pin their actions, and install one thing; `tox -e workflows` lints them."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.meta.program import CHECKOUT

WORKFLOWS = sorted(CHECKOUT.glob(".github/workflows/*.yml"))


def test_actions_are_pinned_by_hash_with_their_release_beside() -> None:
    pinned = re.compile(r"actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
    for path in (*WORKFLOWS, CHECKOUT / "docs" / "ci.md"):
        used = re.findall(r"^\s*-? *uses: (.*)$", path.read_text("utf-8"), re.MULTILINE)
        assert used, path
        assert all(pinned.fullmatch(each) for each in used), used


@pytest.mark.parametrize(
    ("package", "code"),
    [
        ("registry-contracts==0.1.0", 0),
        ("dist/registry_contracts-0.1.0-py3-none-any.whl", 0),
        (f"registry-contracts @ git+https://example.test/x@{'a' * 40}", 0),
        ("registry-contracts", 4),
        ("git+https://example.test/x@main", 4),
        ("", 4),
    ],
)
def test_a_job_with_secrets_installs_only_what_is_one_thing(tmp_path: Path, package: str, code: int) -> None:
    workflow = yaml.safe_load((CHECKOUT / ".github" / "workflows" / "gate.yml").read_text("utf-8"))
    given = workflow[True]["workflow_call"]["inputs"]["package"]
    assert (given.get("default"), given["required"]) == (None, True)
    script = next(
        each["run"] for each in workflow["jobs"]["gate"]["steps"] if "install" in each.get("run", "")
    )
    pip = tmp_path / "python"
    pip.write_text("#!/bin/sh\n", "utf-8")
    pip.chmod(0o755)
    environment = {"PACKAGE": package, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    ended = subprocess.run(
        [str(shutil.which("bash")), "-eo", "pipefail", "-c", script], env=environment, check=False
    )
    assert ended.returncode == code
