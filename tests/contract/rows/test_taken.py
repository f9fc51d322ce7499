"""Rows of the factor table that nothing refuses: each pair of circumstances of a draft and of a file."""

import pytest

from registry_contracts.cases import TakenRows, contract, table, taken_rows


@pytest.mark.parametrize("row", table.taken("saveDraft"), ids=str)
@contract(
    *taken_rows.DRAFT_CLAUSES,
    operations=("saveDraft", "getDraft", "draftExists", "getDraftInfo", "deleteDraft"),
    requests=6.3,
    turns=True,
)
def test_a_draft_is_kept(taken_rows: TakenRows, row: table.Row) -> None:
    """A draft that was taken is there whole by every operation that shows it, and gone once it is deleted."""
    taken_rows.claim(row)


@pytest.mark.parametrize("row", table.taken("createAttachment"), ids=str)
@contract(
    *taken_rows.FILE_CLAUSES,
    operations=("createAttachment", "listAttachments", "attachmentExists", "getAttachment"),
    requests=7.2,
    turns=True,
)
def test_a_file_is_kept(taken_rows: TakenRows, row: table.Row) -> None:
    """A file that was taken is listed and found, and comes back with its bytes."""
    taken_rows.claim(row)
