"""A member of a file of ours replaced by another kind of value ends in one clear line, never in a traceback."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from contracts.errors import RegistryContractsError
from contracts.evidence import observations
from contracts.evidence.run_comparison import realms_of_operations
from contracts.evidence.run_folder import collect
from contracts.history import baseline, runs
from contracts.history.observed_facts import read_facts
from contracts.reports import verdict_json
from contracts.session.ledger import read_entries
from tests.meta.replaced_values import replaced

#: One value of each kind that JSON has, and text that cannot be encoded.
KINDS: tuple[Any, ...] = (
    None,
    True,
    -1,
    10**30,
    0.5,
    "",
    "x",
    "\ud800",
    [],
    [None],
    {},
    {"x": None},
    {"\ud800": 1},
)


def complaint(read: Callable[[], object]) -> str:
    """Why a file cannot be used; empty when it can."""
    try:
        read()
    except RegistryContractsError as error:
        return str(error)
    return ""


def check(path: Path, read: Callable[[], object]) -> None:
    """Replace every member of a file in turn; reading ends well, or in one line that names the file or its folder."""
    content = json.loads(path.read_text("utf-8"))
    assert not complaint(read)
    complaints = []
    for other in replaced(content, KINDS):
        path.write_text(json.dumps(other), "utf-8")
        complaints.append(complaint(read))
    assert not [line for line in complaints if "\n" in line or (line and str(path.parent) not in line)]
    assert any(complaints)


def shortened(path: Path) -> Path:
    """The file with at most one object in each list, which keeps the test short."""

    def cut(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: cut(member) for name, member in value.items()}
        if isinstance(value, list):
            return [cut(item) for item in (value[:1] if isinstance(next(iter(value), None), dict) else value)]
        return value

    path.write_text(json.dumps(cut(json.loads(path.read_text("utf-8")))), "utf-8")
    return path


@pytest.fixture
def whole(rendered: Path, tmp_path: Path) -> Path:
    """A run folder of its own with all reports."""
    folder = tmp_path / "run"
    folder.mkdir()
    for path in rendered.iterdir():
        if path.is_file():
            (folder / path.name).write_bytes(path.read_bytes())
    return folder


def test_verdict(whole: Path) -> None:
    path = shortened(whole / "verdict.json")
    check(path, lambda: verdict_json.read(path))


def test_observations(whole: Path) -> None:
    path = shortened(whole / "observations.json")
    content = json.loads(path.read_text("utf-8")) | {"complete": True}
    path.write_text(json.dumps(content), "utf-8")
    check(path, lambda: read_facts(observations.read(whole)))


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("run.json", collect),
        ("drift.json", lambda folder: baseline.load_drift_settings(folder, realms_of_operations())),
        ("past.json", runs.read_past),
    ],
)
def test_a_file_that_is_read_by_its_folder(whole: Path, name: str, read: Callable[[Path], object]) -> None:
    check(whole / name, lambda: read(whole))


def test_history(whole: Path) -> None:
    path = whole / "history-entry.json"

    def read() -> None:
        entry = runs.read_line(path.read_text("utf-8"), str(path))
        runs.write(
            whole / "history.jsonl",
            runs.History((entry,)) if isinstance(entry, runs.Entry) else runs.History(),
        )
        runs.past_of(runs.read(whole / "history.jsonl"), "x", "gate")

    check(path, read)


def test_baseline(whole: Path) -> None:
    path = whole / "baseline.yaml"
    content = yaml.safe_load(path.read_text("utf-8"))
    complaints = []
    for other in replaced(content, KINDS):
        path.write_text(yaml.safe_dump(other), "utf-8")
        complaints.append(complaint(lambda: baseline.read(path, realms_of_operations())))
    assert not [line for line in complaints if "\n" in line or (line and str(path) not in line)]
    assert any(complaints)


def test_journal_events(whole: Path) -> None:
    path = next(whole.glob("journal-gw0.jsonl"))
    lines = path.read_text("ascii").splitlines()
    kinds = {json.loads(line)["kind"]: number for number, line in reversed(list(enumerate(lines)))}
    complaints = []
    for number in kinds.values():
        for content in replaced(json.loads(lines[number]), KINDS):
            text = "\n".join([*lines[:number], json.dumps(content), *lines[number + 1 :], ""])
            path.write_text(text, "utf-8")
            complaints.append(complaint(lambda: collect(whole)))
    assert not [line for line in complaints if "\n" in line]
    assert any(complaints)


def test_a_ledger_of_an_earlier_run_is_read_as_far_as_it_is_one(tmp_path: Path) -> None:
    line = {
        "number": 1,
        "operation": "saveDraft",
        "what": "draft",
        "realm": "abs-dev",
        "role": "author",
        "identifier": "rc-abcd-1",
        "state": "created",
        "at": "2026-11-22T00:00:00+00:00",
        "by": "main",
    }
    path = tmp_path / "ledger.jsonl"
    for content in replaced(line, KINDS):
        path.write_text(f"{json.dumps(content)}\n{json.dumps(line | {'number': 7})}\n", "utf-8")
        assert 7 in {entry.number for entry in read_entries([path])}
