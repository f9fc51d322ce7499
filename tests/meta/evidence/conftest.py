"""Fixtures over the sample shards."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.meta.evidence.sample_shards import CASES, write_shard


@pytest.fixture
def make_shard(tmp_path: Path) -> Callable[..., Path]:
    """A maker of shards: `make_shard(2)`; the first has the first two cases, the second the others."""

    def make(number: int, name: str = "", cases: list[str] | None = None, **more: Any) -> Path:
        mine = CASES[:2] if number == 1 else CASES[2:]
        return write_shard(
            tmp_path / (name or f"run-{number}"), number, mine if cases is None else cases, **more
        )

    return make
