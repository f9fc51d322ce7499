"""Every machine-readable file has a schema, is listed, and what the project writes keeps it."""

import re
from datetime import UTC, datetime
from pathlib import Path

import jsonschema_rs
import pytest

from tests.meta.schemas import FILES, FOLDER, PUBLISHED, SHAPES, misfits, schema, text_of

CHECKOUT = Path(__file__).parents[3]
NOW = datetime.now(UTC).isoformat()


@pytest.mark.parametrize("name", SHAPES)
def test_a_schema_is_one_and_has_a_title(name: str) -> None:
    made = schema(name)
    assert made["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert made["title"]
    jsonschema_rs.meta.validate(made)


def test_every_schema_is_listed_with_its_file() -> None:
    table = (CHECKOUT / "reports" / "README.md").read_text("utf-8").partition("| file | schema |")[2]
    assert set(re.findall(r"\| `([a-z]+)` \|$", table, re.MULTILINE)) == set(SHAPES)
    assert set(FILES.values()) <= set(SHAPES)


def test_what_is_kept_as_a_file_is_what_its_declaration_says() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {f"{name}.schema.json" for name in PUBLISHED}
    for name in PUBLISHED:
        kept = (FOLDER / f"{name}.schema.json").read_text("utf-8")
        assert kept == text_of(name), "run python -m tests.meta.schemas"


def test_a_file_without_a_schema_would_be_seen(tmp_path: Path) -> None:
    (tmp_path / "new.json").write_text("{}", encoding="utf-8")
    (tmp_path / "drift.json").write_text('{"mode": "loud"}', encoding="utf-8")
    found = misfits(tmp_path)
    assert "new.json has no schema" in found
    assert any(line.startswith("drift.json: drift: ") for line in found)
