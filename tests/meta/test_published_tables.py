"""The tables in the documentation, and the schemas that are kept as files, are those of the code."""

from collections.abc import Callable

import pytest

from docs.tables import DOCS, PUBLISHED, SCHEMAS, TABLES, schema_text


@pytest.mark.parametrize(("document", "mark", "table"), TABLES, ids=[mark for _, mark, _ in TABLES])
def test_the_tables_of_the_document_are_those_of_the_code(
    document: str, mark: str, table: Callable[[], str]
) -> None:
    between = (DOCS / document).read_text("utf-8").partition(f"<!-- begin {mark} -->")[2]
    published = between.partition(f"<!-- end {mark} -->")[0]
    assert published.strip() == table().strip(), "run python -m docs.tables"


def test_what_is_kept_as_a_schema_is_what_its_declaration_says() -> None:
    kept = {path.name.partition(".")[0]: path.read_text("utf-8") for path in SCHEMAS.iterdir()}
    assert kept == {name: schema_text(name) for name in PUBLISHED}, "run python -m docs.tables"
