"""The page on live environments says what the code does."""

from pathlib import Path

import pytest

from contracts.settings.documentation import settings_tables, with_current_tables
from contracts.settings.target import RealmSettings

PAGE = Path(__file__).parents[3] / "docs" / "live.md"


def test_the_tables_of_settings_are_current() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert with_current_tables(page) == page, f"run: python -m contracts.settings.documentation {PAGE.name}"


def test_every_realm_setting_has_a_row() -> None:
    tables = settings_tables()
    assert all(f"| `{name}` |" in tables for name in RealmSettings.__dataclass_fields__)


def test_a_page_without_markers_is_refused() -> None:
    with pytest.raises(ValueError, match="substring"):
        with_current_tables("no markers")
