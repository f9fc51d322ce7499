"""The history file: a run a line, merged without doubles, bounded, and never lost to a damaged line."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from contracts.errors import UsageError
from contracts.history.runs import (
    Entry,
    Folded,
    History,
    Mark,
    append,
    line_of,
    merge,
    read,
    read_line,
    write,
)

Made = Callable[..., Entry]


def test_an_entry_reads_back_from_its_line(made_run: Made) -> None:
    folded = Folded(
        "dev", "2026-11-01T00:00:00+00:00", 7, {"c": {"any": Mark(None, "2026-10-01T00:00:00+00:00")}}
    )
    for entry in (made_run(1), made_run(2, "fail", target="naïve"), folded):
        line = line_of(entry)
        assert "\n" not in line
        assert line.isascii()
        assert read_line(line) == entry


@pytest.mark.parametrize(
    "line",
    [
        "",
        "{",
        "[]",
        '{"format":2}',
        '{"format":1}',
        '{"format":1,"run":"x","started":"yesterday"}',
        '{"format":1,"until":"2026-11-01","cells":{}}',
    ],
)
def test_a_line_that_is_no_entry_is_refused(line: str) -> None:
    with pytest.raises(UsageError):
        read_line(line)


def test_runs_are_appended_and_an_absent_file_is_empty(made_run: Made, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "history.jsonl"
    assert read(path) == History()
    for day in (1, 2, 3):
        append(path, made_run(day))
    assert [entry.run for entry in read(path).entries] == [made_run(day).run for day in (1, 2, 3)]
    before = path.read_text()
    append(path, made_run(2))
    assert path.read_text() == before


def test_appending_leaves_earlier_lines_untouched(made_run: Made, tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    append(path, made_run(1))
    before = path.read_text()
    append(path, made_run(2))
    assert path.read_text().startswith(before)


def test_runs_that_end_at_once_are_all_there(made_run: Made, tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda day: append(path, made_run(day)), range(1, 21)))
    assert len(read(path).entries) == 20
    assert read(path).damaged == {}


def test_a_damaged_line_is_named_passed_over_and_kept(made_run: Made, tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    append(path, made_run(1))
    damaged = '{"format":1,"run":"half a li'
    with path.open("a") as file:
        file.write(damaged)
    append(path, made_run(2), keep=3)
    history = read(path)
    assert [entry.run for entry in history.entries] == [made_run(1).run, made_run(2).run]
    assert [where.startswith(f"{path}:2: is not JSON") for where in history.damaged] == [True]
    for day in range(3, 9):
        append(path, made_run(day), keep=3)
    assert damaged in path.read_text().splitlines()
    assert len(read(path).entries) == 3


def test_lines_that_are_no_text_are_damaged_lines(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_bytes(b"\xff\xfe\n\n<<<<<<< ours\n")
    assert [where.partition(": ")[0] for where in read(path).damaged] == [f"{path}:1", f"{path}:3"]


def test_merging_takes_each_run_once_in_any_order(made_run: Made) -> None:
    runs = [made_run(day) for day in range(1, 9)]
    one, other = History(tuple(runs[:5])), History(tuple(runs[:2:-1]))
    merged = merge([one, other])
    assert merged.entries == tuple(runs)
    assert merge([other, one]) == merged == merge([merged, merged])


def test_the_oldest_runs_are_folded_and_their_marks_stay(made_run: Made, tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    for day, verdict in enumerate(["pass", "fail", "fail", "inconclusive", "fail", "fail"], start=1):
        append(path, made_run(day, verdict), keep=2)
    history = read(path)
    assert [entry.started[:10] for entry in history.entries] == ["2026-11-05", "2026-11-06"]
    folded = history.folded_of("sandbox", "gate")
    assert folded is not None
    assert (folded.runs, folded.until) == (4, made_run(4).started)
    assert folded.cells["draft-get-content"]["abs-dev"] == Mark(made_run(1).started, made_run(2).started)


def test_growth_is_bounded_for_each_target(made_run: Made, tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    sizes = []
    for day in range(1, 29):
        append(path, made_run(day), keep=5)
        append(path, made_run(day, target="dev", run=f"dev-{day}"), keep=5)
        sizes.append(path.stat().st_size)
    assert {len(read(path).of(target)) for target in ("sandbox", "dev")} == {5}
    assert max(sizes[10:]) <= 2 * sizes[8]


def test_folded_histories_are_put_together(made_run: Made, tmp_path: Path) -> None:
    paths = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    for day in range(1, 7):
        append(paths[0], made_run(day, "pass" if day < 3 else "fail"), keep=2)
        append(paths[1], made_run(day, "pass" if day < 5 else "fail", run=f"other-{day}"), keep=2)
    merged = merge([read(path) for path in paths], keep=4)
    folded = merged.folded_of("sandbox", "gate")
    assert folded is not None
    assert folded.cells["draft-get-content"]["abs-dev"].last_green == made_run(4).started
    assert len(merged.entries) == 4


def test_a_history_that_cannot_be_used_is_one_line(made_run: Made, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read the history"):
        read(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot write the history"):
        write(tmp_path / "file" / "history.jsonl", History((made_run(1),)))


def test_a_run_of_every_clause_takes_about_fifty_kilobytes(made_run: Made) -> None:
    seen = json.loads(line_of(made_run(1)))["cells"]["draft-get-content"]["abs-dev"]
    assert seen == ["pass", 4, 0.25]
    cells = {f"clause-of-average-length-{n}": made_run(1).cells["draft-get-content"] for n in range(1300)}
    assert len(line_of(made_run(1, cells=cells))) < 80_000
