"""The wheel carries all it needs: installed in an empty place, it gates from a folder of another repository."""

import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

CHECKOUT = Path(__file__).parents[3]
PATIENCE = 600.0
CONSUMER = """\
realms = ["abs-dev"]
clauses = ["attachment-create-accepted"]
[methods]
"client.attachments.upload" = ["createAttachment"]
"""


#: What many a repository has; imported in place of ours, each of them would end the run.
FOREIGN = (
    "contracts/__init__.py",
    "contracts/cli.py",
    "tests/__init__.py",
    "tests/conftest.py",
    "conftest.py",
)
#: A module of the standard library, which child processes must not look for in the current folder.
HIDDEN = "queue.py"


@dataclass
class Installed:
    """The program of a wheel, in an environment of its own, run in a folder of another repository."""

    python: Path
    folder: Path
    home: Path

    def __call__(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        foreign = ("PYTEST_", "REGISTRY_", "SANDBOX_", "PYTHON", "COLUMNS", "XDG_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        places = {
            "HOME": str(self.home),
            "TMPDIR": str(self.home.parent / "tmp"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        ended = subprocess.run(
            [self.python.with_name("registry-contracts"), *words],
            cwd=self.folder,
            env={**kept, **places, **environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        assert "Traceback" not in ended.stdout + ended.stderr, ended.stdout + ended.stderr
        return ended

    def written(self) -> set[str]:
        """What stands in the folder beside the repository's own files, and in the home.

        Lists and tables that take long to make are kept in the user's cache folder.
        """
        found = {path.relative_to(place) for place in (self.folder, self.home) for path in place.rglob("*")}
        names = {path.as_posix() for path in found if path.parts[0] != ".cache" and len(path.parts) == 1}
        return names - {Path(name).parts[0] for name in (*FOREIGN, HIDDEN)}

    def left_private(self) -> list[Path]:
        """Private folders of runs that stay behind."""
        return [path for path in (self.home.parent / "tmp").glob("registry-contracts-*") if path.is_dir()]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    words = ["-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run([sys.executable, *words], cwd=CHECKOUT, check=True, capture_output=True, timeout=PATIENCE)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with the wheel in it, and nothing that it depends on."""
    root = tmp_path_factory.mktemp("environment")
    venv.create(root, symlinks=True)
    python = root / "bin" / "python"
    words = [
        "-m",
        "pip",
        "--python",
        str(python),
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        str(wheel),
    ]
    subprocess.run([sys.executable, *words], check=True, capture_output=True, timeout=PATIENCE)
    return python


def needed(lines: Iterable[str], extras: Iterable[str], found: set[str]) -> set[str]:
    """The names of the distributions that requirements bring, those of their own requirements included.

    Args:
        lines: The requirements, as a distribution's metadata gives them.
        extras: The extras that are asked for.
        found: Those that are known already; added to.
    """
    for each in map(Requirement, lines):
        wanted = each.marker is None or any(each.marker.evaluate({"extra": extra}) for extra in ("", *extras))
        name = canonicalize_name(each.name)
        if wanted and name not in found:
            found.add(name)
            needed(metadata.requires(name) or [], each.extras, found)
    return found


def lend(python: Path, extras: tuple[str, ...], folder: Path) -> None:
    """Give an environment what installing the wheel with extras would bring, from the environment of this process."""
    folder.mkdir()
    site = next(python.parents[1].glob("lib/python*/site-packages"))
    ours = metadata.PathDistribution(next(site.glob("registry_contracts-*.dist-info")))
    for name in needed(ours.requires or [], extras, {"registry-contracts"}) - {"registry-contracts"}:
        lent = metadata.distribution(name)  # beside this process's packages, or in another place on its path
        for top in {file.parts[0] for file in lent.files or []} - {"..", "__pycache__"}:
            if not (folder / top).exists():
                (folder / top).symlink_to(str(lent.locate_file(top)))
    (site / "lent.pth").write_text(f"{folder}\n", encoding="utf-8")


@pytest.fixture
def installed(python: Path, tmp_path: Path) -> Installed:
    """The program in a folder that holds a consumer file, and packages that are called like ours."""
    for name in ("repository", "home", "tmp"):
        (tmp_path / name).mkdir()
    (tmp_path / "repository" / "sdk.toml").write_text(CONSUMER, encoding="utf-8")
    for name in (*FOREIGN, HIDDEN):
        path = tmp_path / "repository" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"raise ImportError('{name} of the repository was imported')\n", encoding="utf-8")
    return Installed(python, tmp_path / "repository", tmp_path / "home")


@pytest.fixture
def with_sandbox(python: Path, tmp_path: Path) -> None:
    """What `pip install registry-contracts[sandbox]` brings."""
    lend(python, ("sandbox",), tmp_path / "lent")


@pytest.fixture
def plain(python: Path, tmp_path: Path) -> None:
    """What `pip install registry-contracts` brings."""
    lend(python, (), tmp_path / "lent")


@pytest.mark.usefixtures("with_sandbox")
def test_a_gate_works_in_another_repository_and_writes_nothing_but_reports(installed: Installed) -> None:
    ended = installed("gate", "--target", "sandbox", "--consumer", "sdk.toml", "--workers", "2")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.splitlines()[-1].startswith("gate: pass: ")
    content = json.loads((installed.folder / "reports/latest/verdict.json").read_text("utf-8"))
    assert content["consumer"]["methods"] == {"client.attachments.upload": ["createAttachment"]}
    assert (installed.folder / "reports/latest/index.html").stat().st_size > 10_000

    explained = installed("explain", "attachment-create-accepted")
    assert explained.returncode == 0, explained.stderr
    assert "attachment-create-accepted" in explained.stdout
    listed = installed("list", "clauses")
    assert listed.returncode == 0, listed.stderr
    assert listed.stdout.count("\n") > 200
    called = installed("call", "saveDraft", "--invalid", "body:malformed")
    assert called.returncode == 0, called.stdout + called.stderr
    assert installed("drift", "show").returncode == 0
    assert installed.written() == {"sdk.toml", "reports"}
    assert installed.left_private() == []


@pytest.mark.usefixtures("plain")
def test_a_case_of_ones_own_type_checks_against_the_installed_package(python: Path, tmp_path: Path) -> None:
    case = CHECKOUT / "tests/contract/scenario/test_draft_content.py"
    shutil.copy(case, tmp_path / "test_own.py")
    words = ["-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "mypy"), "--python-executable"]
    ended = subprocess.run(
        [sys.executable, *words, str(python), "test_own.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.usefixtures("plain")
def test_pytest_gets_the_cases_where_they_are_asked_for_and_is_left_alone_elsewhere(
    python: Path, tmp_path: Path
) -> None:
    own, empty = tmp_path / "own", tmp_path / "empty"
    (own / "contracts").mkdir(parents=True)
    empty.mkdir()
    (own / "contracts" / "__init__.py").write_text("OWN = True\n", "utf-8")
    (own / "conftest.py").write_text("def pytest_addoption(parser): parser.addoption('--target')\n", "utf-8")
    (own / "test_own.py").write_text("import contracts\ndef test_own(): assert contracts.OWN\n", "utf-8")
    for folder, words, says in (
        (own, ["--target=board"], "1 passed"),
        (empty, ["--registry-contracts", "--plan", "--realm=abs-dev", "-k", "draft"], "Nothing was sent."),
    ):
        command = [str(python), "-m", "pytest", "-p", "no:cacheprovider", *words]
        ended = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, timeout=PATIENCE
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
        assert says in ended.stdout


@pytest.mark.usefixtures("plain")
def test_the_plain_install_judges_a_service_at_an_address(
    installed: Installed, start_sandbox: Callable[..., Any]
) -> None:
    account = {"REGISTRY_EMAIL": "author@sandbox.test", "REGISTRY_PASSWORD": "sandbox-author"}
    words = ("run", "--profile", "smoke", "--realm", "abs-dev")
    ended = installed(*words, REGISTRY_BASE_URL=start_sandbox().url, **account)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "verdict: pass: " in ended.stdout
    assert installed.written() == {"sdk.toml", "reports"}
    assert installed.left_private() == []


@pytest.mark.usefixtures("plain")
def test_without_the_extra_the_sandbox_says_what_to_install(installed: Installed) -> None:
    for words in (("run", "--realm", "abs-dev"), ("sandbox", "--port", "0")):
        ended = installed(*words)
        assert ended.returncode == 4, ended.stdout + ended.stderr
        assert "[sandbox]" in ended.stdout + ended.stderr


def test_the_wheel_holds_no_tests_of_the_suite_itself_and_nothing_built(wheel: Path, tmp_path: Path) -> None:
    shutil.unpack_archive(wheel, tmp_path, "zip")
    names = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert {
        "contracts/_promises/openapi/registry.yaml",
        "contracts/py.typed",
        "registry_contracts.py",
    } <= names
    assert any(name.startswith("contracts/_promises/cases/scenario/test_") for name in names)
    assert not [name for name in names if "meta" in name.split("/") or name.endswith(".pyc")]
