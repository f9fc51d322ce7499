"""The table of tools that take the description: pinned, and published as it was measured."""

import json
import re
import shutil
import sys
from pathlib import Path

import pytest

from benchmarks.description_tools import TOOLS, NotTaken, Place, Tool, kept_rows, measure, table

DOCUMENT = Path(__file__).parents[3] / "docs" / "openapi.md"


def refuse(_place: Place) -> str:
    raise NotTaken("it shows | nothing")


def test_every_tool_is_pinned() -> None:
    for tool in TOOLS:
        assert re.fullmatch(r"\d+\.\d+\.\d+", tool.release), tool.name
        assert all(re.search(r".@\d", package) for package in tool.packages), tool.name


def test_the_document_shows_each_tool_in_the_version_that_is_pinned_and_taken() -> None:
    rows = [line.split(" | ") for line in DOCUMENT.read_text("utf-8").splitlines() if line.startswith("| ")]
    published = {row[0].removeprefix("| "): row for row in rows}
    for tool in TOOLS:
        assert published[tool.name][1] == tool.release
        assert published[tool.name][-1].startswith("taken: ")


@pytest.mark.parametrize(
    ("tool", "taken", "says"),
    [
        (
            Tool("reads it", lambda place: str((place.folder / "registry.yaml").stat().st_size > 0)),
            True,
            "True",
        ),
        (
            Tool("fails", lambda _: "", commands=(f"{sys.executable} -c 'raise SystemExit(3)'",)),
            False,
            "exit 3: ",
        ),
        (Tool("is not there", lambda _: "", commands=("no-such-program",)), False, "FileNotFoundError"),
        (Tool("looks wrong", refuse), False, "it shows | nothing"),
    ],
    ids=lambda each: each.name if isinstance(each, Tool) else "",
)
def test_a_tool_is_taken_when_it_ends_well_and_shows_what_it_should(
    tmp_path: Path, tool: Tool, taken: bool, says: str
) -> None:
    row = measure(tool, tmp_path)
    assert (row.taken, says in row.says) == (taken, True), row


def test_tools_are_measured_one_at_a_time_and_an_older_release_does_not_count(tmp_path: Path) -> None:
    first, second = TOOLS[0], TOOLS[1]
    for tool, release in ((first, first.release), (second, "0.0.1")):
        row = {"name": tool.name, "release": release, "taken": False, "says": "a | b", "seconds": 1.0}
        folder = tmp_path / re.sub(r"\W+", "-", tool.name.lower())
        folder.mkdir()
        (folder / "result.json").write_text(json.dumps(row), "utf-8")
    rows = kept_rows(tmp_path)
    assert list(rows) == [first.name]
    assert r"**not taken**: a \| b" in table(rows)
    assert table(rows).count("not measured") == len(TOOLS) - 1
    shutil.rmtree(tmp_path / re.sub(r"\W+", "-", first.name.lower()))
    assert kept_rows(tmp_path) == {}
