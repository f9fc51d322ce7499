"""The wheel carries all it needs: installed in an empty place, it judges from a folder of another repository."""

import json
import os
import re
import subprocess
import sys
import venv
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from types import MappingProxyType

import pytest
import yaml

from tests.meta.program import CHECKOUT, Ended, finished
from tests.meta.samples import CONSUMER

LONG = 600.0
#: What many a repository has; imported in place of ours, each of them would end the run. The last is a module of the
#: standard library, which child processes must not look for in the current folder.
FOREIGN = ("contracts/__init__.py", "contracts/cli.py", "tests/conftest.py", "conftest.py", "queue.py")


@dataclass
class Installed:
    """The program of a wheel, in an environment of its own, run in a folder of another repository."""

    python: Path
    folder: Path
    home: Path

    def __call__(
        self, words: str, *more: str, environment: Mapping[str, str] = MappingProxyType({})
    ) -> Ended:
        foreign = ("PYTEST_", "REGISTRY_", "SANDBOX_", "PYTHON", "COLUMNS", "XDG_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        places = {"HOME": str(self.home), "TMPDIR": str(self.home)}
        return finished([*words.split(), *more], self.folder, {**kept, **places, **environment}, timeout=LONG)

    def step(self, name: str, **environment: str) -> Ended:
        """Run a step of the workflow for gates as its runner does, with this program first in the path."""
        workflow = yaml.safe_load((CHECKOUT / ".github" / "workflows" / "gate.yml").read_text("utf-8"))
        script = next(each["run"] for each in workflow["jobs"]["gate"]["steps"] if each.get("name") == name)
        environment |= {"PATH": f"{self.python.parent}{os.pathsep}{os.environ['PATH']}"}
        for variable in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"):
            environment[variable] = str(self.home / variable)
        ended = self("bash --noprofile --norc -eo pipefail -c", script, environment=environment)
        assert ended.code == 0, ended
        return ended


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with the wheel of this checkout, and behind it the packages of this one."""
    root = tmp_path_factory.mktemp("environment")
    venv.create(root, symlinks=True)
    python = root / "bin" / "python"
    build = ["hatchling", "build", "-t", "wheel", "-d", str(root)]
    install = ["pip", "--python", str(python), "install", "-q", "--no-deps", "--no-index", "-f", str(root)]
    for words in (build, [*install, "registry-contracts"]):
        subprocess.run([sys.executable, "-m", *words], cwd=CHECKOUT, check=True, timeout=LONG)
    site = next(root.glob("lib/python*/site-packages"))
    names = ("pytest", "schemathesis", "uvicorn")
    lent = {str(metadata.distribution(name).locate_file("")) for name in names}
    (site / "lent.pth").write_text("\n".join(lent), encoding="utf-8")
    return python


@pytest.fixture
def installed(python: Path, tmp_path: Path) -> Installed:
    """The program in a folder that holds a consumer file, and packages that are called like ours."""
    for name in ("repository", "home"):
        (tmp_path / name).mkdir()
    (tmp_path / "repository" / "sdk.toml").write_text(CONSUMER, encoding="utf-8")
    for name in FOREIGN:
        path = tmp_path / "repository" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"raise ImportError('{name} of the repository was imported')\n", encoding="utf-8")
    return Installed(python, tmp_path / "repository", tmp_path / "home")


def test_the_workflow_for_gates_works_in_another_repository(installed: Installed) -> None:
    # Secrets that a repository does not have arrive as empty variables.
    asked = {"TARGET": "sandbox", "CONSUMER": "sdk.toml", "REGISTRY_EMAIL": "", "REGISTRY_PASSWORD": ""}
    gate = installed.step("Gate", WORKERS="1", **asked)
    assert gate.last.startswith("gate: pass: ")
    assert gate.err == ""
    assert (installed.home / "GITHUB_OUTPUT").read_text("utf-8") == "exit-code=0\n"
    installed.step("Summary")
    summary = (installed.home / "GITHUB_STEP_SUMMARY").read_text("utf-8")
    assert summary.startswith("## Registry contracts: pass (exit code 0, ")
    content = json.loads((installed.folder / "reports/latest/verdict.json").read_text("utf-8"))
    assert content["consumer"]["methods"] == {"client.attachments.upload": ["createAttachment"]}
    assert (installed.folder / "reports/latest/index.html").stat().st_size > 10_000
    program = installed.python.with_name("registry-contracts")
    explained = installed(f"{installed.python} -P {program}", "explain", "attachment-create-accepted")
    assert "test_attachment_life.py" in explained.out, explained.err
    foreign = {name.partition("/")[0] for name in FOREIGN}
    assert {path.name for path in installed.folder.iterdir()} - foreign == {"sdk.toml", "reports"}
    assert not list(installed.home.glob("registry-contracts-*")), "private folders of runs"


def test_a_case_of_ones_own_runs(installed: Installed, tmp_path: Path) -> None:
    """The example of docs/cases.md, in a folder of its own; this checkout's mypy looks at it as it does at us."""
    own = installed.folder = tmp_path / "own"
    own.mkdir()
    text = (CHECKOUT / "docs" / "cases.md").read_text("utf-8").partition("## A case of your own")[2]
    (example,) = re.findall(r"```python\n(.*?)```", text.partition("\n## ")[0], re.DOTALL)
    assert example == Path(__file__).with_name("own_case.py").read_text("utf-8")
    (own / "test_own.py").write_text(example, "utf-8")
    (command,) = re.findall(r"^pytest (.*?)(?: +#.*)?$", text.partition("\n## ")[0], re.MULTILINE)
    ended = installed(f"{installed.python} -P -m pytest", *command.split())
    assert ended.code == 0, ended
    verdict = json.loads((own / "reports/latest/verdict.json").read_text("utf-8"))
    assert "1 passed" in ended.out, ended.out
    (judged,) = [each for each in verdict["clauses"] if each["id"] == "draft-get-content"]
    assert judged["realms"]["abs-dev"]["verdict"] == "pass"
