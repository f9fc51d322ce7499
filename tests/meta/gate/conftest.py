"""Runs told as data, files of terms, and the program in an empty folder."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.meta.gate.telling import BY_NAME, Program, Story


@pytest.fixture
def story() -> Story:
    """A run in which nothing happened yet."""
    return Story()


@pytest.fixture
def whole() -> Story:
    """A run in which everything held."""
    told = Story()
    told.holds(*BY_NAME)
    return told


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a file of terms, its lines as they stand."""

    def written(text: str) -> Path:
        path = tmp_path / "terms.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return written


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """The program, in an empty folder."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return Program(folder)
