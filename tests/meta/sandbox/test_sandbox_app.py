"""The application of the sandbox: failures in JSON, transactions, tokens, habits on the command line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contracts.sandbox.app import create_app
from contracts.sandbox.documents import Drafts
from contracts.sandbox.habits import Settings, read_habits
from contracts.sandbox.storage import Clock, Storage

DRAFT = "/api/v2013/documents/seam-draft-0001/versions/draft"


@pytest.mark.filterwarnings("ignore")
def test_a_fault_of_its_own_is_told_in_json(
    serve_app: Callable[[Any], str], caller: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = create_app(Settings())
    author = caller(serve_app(app))
    monkeypatch.setattr(Drafts, "requested", None)
    answer = author.get(DRAFT)
    assert (answer.status_code, answer.json()["statusCode"]) == (500, 500)


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
