"""The application of the sandbox: transactions, and habits on the command line."""

from pathlib import Path

import pytest

from contracts.sandbox.habits import read_habits
from contracts.sandbox.storage import Clock, Storage


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
