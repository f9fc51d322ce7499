"""The application of the sandbox: transactions."""

from pathlib import Path

import pytest

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
