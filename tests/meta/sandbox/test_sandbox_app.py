"""The application of the sandbox: transactions, databases that are closed, and habits on the command line."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from registry_contracts.sandbox import storage as stores
from registry_contracts.sandbox.habits import Settings, read_habits
from registry_contracts.sandbox.lists import Page
from registry_contracts.sandbox.serve import altered, main
from registry_contracts.sandbox.storage import DATABASE, Clock, Storage, opened
from registry_contracts.sandbox.variants import parts


def test_a_transaction_keeps_all_or_nothing(tmp_path: Path) -> None:
    storage = Storage(tmp_path, Clock(3, "Z"))

    def half() -> None:
        with storage.transaction() as records:
            records.mark("first")
            raise RuntimeError("halfway")

    with pytest.raises(RuntimeError, match="halfway"):
        half()
    with storage.transaction() as records:
        assert not records.marked("first")
    storage.close()


@pytest.fixture
def databases(monkeypatch: pytest.MonkeyPatch) -> list[sqlite3.Connection]:
    """Every database that is opened."""
    made: list[sqlite3.Connection] = []

    def noted(name: str) -> sqlite3.Connection:
        made.append(opened(name))
        return made[-1]

    for module in (stores, parts):
        monkeypatch.setattr(module, "opened", noted)
    return made


def assert_closed(databases: list[Any]) -> None:
    assert databases
    for each in databases:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            each.execute("SELECT 1")


@pytest.mark.parametrize("words", [("--weather", "resett"), ("--data", ".")])
def test_a_sandbox_that_is_refused_leaves_no_database_open(
    databases: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / DATABASE).write_text("no database" * 100, "utf-8")
    assert main(["--port", "0", *words]) == 4
    assert_closed(databases)


def test_copies_for_late_lists_are_closed_with_the_sandbox(databases: list[Any]) -> None:
    service = altered(Settings(variants=("lists-late",))).state.service
    for _ in range(2):
        with service.storage.transaction() as records:
            service.lists.drafts(records, "abs-dev", None, Page(None, None, None, 0))
    service.close()
    assert len(databases) == 3
    assert_closed(databases)


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("token_status=201", 201),
        ("list_member=none", None),
        ("list_member=items", "items"),
        ("head_length=false", False),
    ],
)
def test_a_habit_is_read_in_its_own_kind(word: str, value: object) -> None:
    assert read_habits([word]) == ((word.partition("=")[0], value),)
