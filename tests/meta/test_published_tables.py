"""The tables in the documentation, and the schemas that are kept as files, are those of the code."""

import re
from collections.abc import Callable

import pytest

from tools.tables import DOCS, PUBLISHED, SCHEMAS, TABLES, schema_text


@pytest.mark.parametrize(("document", "mark", "table"), TABLES, ids=[mark for _, mark, _ in TABLES])
def test_the_tables_of_the_document_are_those_of_the_code(
    document: str, mark: str, table: Callable[[], str]
) -> None:
    between = (DOCS / document).read_text("utf-8").partition(f"<!-- begin {mark} -->")[2]
    published = between.partition(f"<!-- end {mark} -->")[0]
    assert published.strip() == table().strip(), "run python -m tools.tables"


def test_what_is_kept_as_a_schema_is_what_its_declaration_says() -> None:
    kept = {path.name.partition(".")[0]: path.read_text("utf-8") for path in SCHEMAS.iterdir()}
    assert kept == {name: schema_text(name) for name in PUBLISHED}, "run python -m tools.tables"


def test_every_private_name_of_a_tool_is_told() -> None:
    sources = (DOCS.parent / "contracts", DOCS.parent / "tests" / "contract")
    texts = [path.read_text("utf-8") for source in sources for path in source.rglob("*.py")]
    imported = {
        ".".join(found)
        for text in texts
        for found in re.findall(r"^from (_pytest[.\w]*) import (\w+)", text, re.M)
    }
    read = {name for text in texts for name in re.findall(r"getattr\([^\n]*?\"(_[a-z]\w*)\"", text)}
    told = (DOCS / "maintain" / "tools.md").read_text("utf-8").partition("Two names are private")[2]
    named = set(re.findall(r"`(_[.\w]+)`", told.partition("\n\n")[0])) - {"_pytest"}
    assert imported | read == named
