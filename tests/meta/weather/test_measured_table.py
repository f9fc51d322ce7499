"""What was measured in the weathers is written where a document has a place for it, and nowhere else."""

from pathlib import Path

import pytest

from contracts.errors import UsageError
from contracts.proving.runs import Outcome
from contracts.proving.weather import END, START, fill, markdown, trials


def test_the_table_stands_between_its_marks(tmp_path: Path) -> None:
    document = tmp_path / "weather.md"
    document.write_text(f"before\n{START}\nold\n{END}\nafter\n", "utf-8")
    fill(document, "new")
    assert document.read_text("utf-8") == f"before\n{START}\n\nnew\n\n{END}\nafter\n"


def test_a_document_without_marks_is_refused_and_left_alone(tmp_path: Path) -> None:
    document = tmp_path / "other.md"
    document.write_text("text", "utf-8")
    with pytest.raises(UsageError, match="has no place for the table"):
        fill(document, "new")
    assert document.read_text("utf-8") == "text"


def test_a_run_without_a_verdict_has_its_line_too() -> None:
    planned = list(trials(["fair"], [], [1], close=False))
    results: dict[object, Outcome | None] = dict.fromkeys(planned)
    assert list(markdown(results))[2:] == ["| `fair` | nothing | 1 | no verdict | | | | |"]
