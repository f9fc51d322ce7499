"""A folder for each run, which of them are kept, and which enter the history."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from registry_contracts.evidence.record import Narrowed
from registry_contracts.evidence.run_comparison import is_comparable
from registry_contracts.evidence.run_folder import new_folder, prune
from tests.meta.evidence.sample_records import Story

MOMENT = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)


def test_those_that_begin_in_one_second_have_a_folder_each(tmp_path: Path) -> None:
    reports = tmp_path / "deep" / "reports"
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: new_folder(reports, "traffic", at=MOMENT), range(20)))
    assert len(set(made)) == 20
    names = {path.name for path in made}
    assert names == {"20300102-030405-traffic", *(f"20300102-030405-traffic-{n}" for n in range(2, 21))}


def test_the_oldest_runs_go_unless_a_sweep_or_a_reader_still_needs_them(tmp_path: Path) -> None:
    done = {"finished": "2026-11-01T10:00:00+00:00", "left": 0}
    states: list[Any] = [done, done | {"left": 2}, done | {"finished": None}, None, *[done] * 3]
    folders = [tmp_path / f"2026110{day}-100000-dev-abcd" for day, _ in enumerate(states)]
    for folder, state in zip(folders, states, strict=True):
        folder.mkdir()
        if state is not None:
            (folder / "run.json").write_text(json.dumps(state))
    (tmp_path / "saved").mkdir()
    (tmp_path / "latest").symlink_to(folders[-1].name, target_is_directory=True)
    assert prune(tmp_path, 0) == []
    assert prune(tmp_path, 2) == [folders[0], folders[4]]
    assert {path.name for path in tmp_path.iterdir()} == {
        "saved",
        "latest",
        *(folder.name for folder in folders if folder not in (folders[0], folders[4])),
    }


@pytest.mark.parametrize(
    ("held", "command", "narrowed", "kept"),
    [
        ("draft-get-content", "pytest '--sandbox-arguments=--size-limit 100'", (), True),
        ("draft-get-content", "pytest '--sandbox-arguments=--fault list-top-ignored'", (), False),
        ("draft-get-content", "pytest --clause=x", (Narrowed("by clause", frozenset(), series=True),), True),
        ("draft-get-content", "pytest -k paging", (Narrowed("by -k", frozenset()),), False),
        ("", "pytest", (), False),
    ],
)
def test_faults_narrowed_runs_and_empty_ones_make_no_entry(
    story: Story, held: str, command: str, narrowed: tuple[Narrowed, ...], kept: bool
) -> None:
    story.holds(*filter(None, [held]))
    story.narrowed, story.facts = narrowed, {"command": command}
    assert is_comparable(story.record(), story.verdict()) is kept
