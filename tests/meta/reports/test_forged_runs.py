"""A kept run that somebody forged is refused in one line: none of its code is run, and nothing is sent."""

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.meta.program import Ended, RunCommand, assert_safe

DEEP = json.loads("[" * 900 + "]" * 900)
CASE = "property/test_identifiers.py::test_a_near_miss_of_the_rule_stores_nothing[abs-dev-saveDraft]"
EVIL = "from pathlib import Path\nPath({!r}).touch()\ndef test_t(): ...\n"
#: `{evil}` is the path of a file that leaves a mark where it is run.
CASES = [
    "{evil}::test_t",
    "../../../../../../../../../../../..{evil}::test_t",
    "{evil}",
    "conftest.py::test_t",
    "property/test_identifiers.py::test_nowhere",
    "property/test_identifiers.py::_forged",
    "property/test_identifiers.py::misses",
    "property/test_identifiers.py::test_t\x1b[2J",
    "a\x00b.py::test_t",
    "-p evil",
    "--rootdir={evil}",
    "::error::forged",
    "",
]
ADDRESSES = ["https://evil.test", "https://user:pw@evil.test", "https://today.test/prefix"]
NO_ADDRESSES = ["javascript:alert(1)", "//evil.test", "https://evil.test\r\nX: 1", DEEP]
NO_NAMES = ["../../evil", "/evil", "a\nfacts: {}", "a\u2028b", "\x1b[2J", "", DEEP]
ARGUMENTS = ["--data {evil}", "--fault x --port=80", "--cors *", "--data={evil}", "'", "-h"]

TODAY = "REGISTRY_BASE_URL names https://today.test"
PASSWORD = "the-password-of-today"

Forge = Callable[[Path], object]
Row = tuple[str, Forge, str]


def member(file: str, value: Any, *keys: str | int) -> Forge:
    """Puts a value into a JSON file, or into the first line of one with a line for each."""

    def forge(folder: Path) -> None:
        path = folder / file
        line, _, rest = path.read_text("utf-8").partition("\n" if file.endswith("l") else "\0")
        content = json.loads(line)
        inside = content
        for key in keys[:-1]:
            inside = inside[key]
        inside[keys[-1]] = value
        text = json.dumps(content).replace("{evil}", str(folder.parents[1] / "evil.py"))
        path.write_text("\n".join(filter(None, (text, rest))), "utf-8")

    return forge


def of_finding(value: Any, *keys: str | int, says: str = "") -> Row:
    return "run --finding", member("verdict.json", value, *keys), says


def instead(file: str, make: Callable[[Path, Path], object]) -> Forge:
    """Puts something else in the place of a file; what it makes may lead to a copy outside of the folder."""

    def forge(folder: Path) -> None:
        path, outside = folder / file, folder.parents[1] / "outside"
        path.rename(outside)
        make(path, outside)

    return forge


def link(path: Path, outside: Path) -> None:
    path.symlink_to(outside)


READERS = {
    "verdict.json": ("run --finding", "list findings", "explain draft-get-content"),
    "run.json": ("gate --from reports",),
    "journal-gw0.jsonl": ("gate --from reports",),
    "observations.json": ("drift", "drift accept"),
    "drift.json": ("gate --from reports",),
}
TABLE: list[Row] = [
    *(of_finding([case], "findings", 0, "cases") for case in CASES),
    of_finding([CASE, CASES[0]], "findings", 0, "cases"),
    *(of_finding(address, "target", "base_url", says=f"{address}, and {TODAY}") for address in ADDRESSES),
    *(of_finding({"name": "sandbox", "kind": "x", "base_url": address}, "target") for address in NO_ADDRESSES),
    *(of_finding({"name": name, "kind": "x", "base_url": ""}, "target") for name in NO_NAMES),
    *(of_finding(f'pytest "--sandbox-arguments={words}"', "command") for words in ARGUMENTS),
    of_finding("../x", "profile"),
    of_finding("abs", "findings", 0, "realm"),
    *(("gate --from reports", member("run.json", name, "target"), "run.json") for name in NO_NAMES[:4]),
    *(("gate --from reports", member("run.json", each, "base_url"), "run.json") for each in NO_ADDRESSES[:3]),
    ("gate --from reports", member("run.json", ["../gw0"], "expected_workers"), "not a name"),
    *(("drift accept", member("observations.json", name, "target"), "observations.json") for name in NO_NAMES[:6]),
    *(
        (command, instead(file, make), file)
        for make in (link, lambda path, _: os.mkfifo(path))
        for file, commands in READERS.items()
        for command in commands
    ),
    ("run --finding", instead("findings", link), "leads out"),
    ("list findings", lambda folder: (folder.parent / "latest").write_text("../../evil"), "latest"),
]  # fmt: skip


@pytest.fixture
def kept(rendered: Path, tmp_path: Path) -> Path:
    """A run folder of its own, of a finding on the embedded sandbox, in a folder of reports."""
    folder = tmp_path / "reports" / "20260101-000000-kept"
    shutil.copytree(rendered, folder)
    for value, *keys in (
        ([CASE], "findings", 0, "cases"),
        ({"name": "sandbox", "kind": "development", "base_url": "http://127.0.0.1:1"}, "target"),
        ("pytest --target=sandbox '--sandbox-arguments=--fault uid-accepts-ten'", "command"),
    ):
        member("verdict.json", value, *keys)(folder)
    (tmp_path / "evil.py").write_text(EVIL.format(str(tmp_path / "marked")), "utf-8")
    (folder.parent / "latest").write_text(folder.name, "utf-8")
    return folder


@pytest.fixture
def ask(kept: Path, run_command: RunCommand, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ended]:
    """Runs a command on the kept run, of its first finding where it is about one; nothing may be started or sent."""
    started: list[Any] = []
    monkeypatch.setattr(socket.socket, "connect", lambda *given: started.append(given))
    monkeypatch.setattr(subprocess, "Popen", lambda *given, **_: started.append(given))
    monkeypatch.setenv("REGISTRY_EMAIL", "a@sandbox.test")
    monkeypatch.setenv("REGISTRY_PASSWORD", PASSWORD)
    monkeypatch.setenv("REGISTRY_BASE_URL", "https://today.test")
    finding = json.loads((kept / "verdict.json").read_text("utf-8"))["findings"][0]["id"]

    def asked(command: str, *words: str) -> Ended:
        of_finding = [finding, "--plan"] if command.startswith("run") else []
        ended = run_command(*command.split(), *of_finding, *words)
        assert (started, PASSWORD in ended.output) == ([], False)
        assert_safe(ended)
        return ended

    return asked


@pytest.mark.parametrize(
    ("command", "forge", "says"), TABLE, ids=[f"{each[0]}-{n}" for n, each in enumerate(TABLE)]
)
def test_what_somebody_forged_is_one_line(
    kept: Path, ask: Callable[..., Ended], command: str, forge: Forge, says: str
) -> None:
    forge(kept)
    ended = ask(command)
    assert ended.code == 4, ended
    assert len([line for line in ended.output.splitlines() if line.strip()]) == 1, ended
    assert says in ended.output, ended
    assert not (kept.parents[1] / "marked").exists()


@pytest.mark.parametrize("address", ["http://127.0.0.1:1", "https://today.test"])
def test_a_finding_is_run_again_where_it_may_be(kept: Path, ask: Callable[..., Ended], address: str) -> None:
    member("verdict.json", address, "target", "base_url")(kept)
    assert ask("run --finding").code == 0


def test_a_case_of_a_file_that_the_command_names_is_run_again(kept: Path, ask: Callable[..., Ended]) -> None:
    member("verdict.json", ["evil.py::test_t"], "findings", 0, "cases")(kept)
    assert ask("run --finding", str(kept.parents[1] / "evil.py")).code == 0
    assert (kept.parents[1] / "marked").exists()
