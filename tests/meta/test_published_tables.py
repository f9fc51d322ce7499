"""The tables in the documentation are those of the code."""

from collections.abc import Callable

import pytest

from tests.meta.published_tables import DOCS, TABLES


@pytest.mark.parametrize(("document", "mark", "table"), TABLES, ids=[mark for _, mark, _ in TABLES])
def test_the_tables_of_the_document_are_those_of_the_code(
    document: str, mark: str, table: Callable[[], str]
) -> None:
    between = (DOCS / document).read_text("utf-8").partition(f"<!-- begin {mark} -->")[2]
    published = between.partition(f"<!-- end {mark} -->")[0]
    assert published.strip() == table().strip(), "run python -m tests.meta.published_tables"
