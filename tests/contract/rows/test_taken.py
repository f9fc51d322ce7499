"""Rows of the factor table without a reason for a refusal: each pair of values, of drafts and of files."""

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
    """Every operation that shows drafts shows an accepted draft in full, until it is deleted."""
    taken_rows.claim(row)


@pytest.mark.parametrize("row", table.taken("createAttachment"), ids=str)
@contract(
    *taken_rows.FILE_CLAUSES,
    operations=("createAttachment", "listAttachments", "attachmentExists", "getAttachment"),
    requests=7.2,
    turns=True,
)
def test_a_file_is_kept(taken_rows: TakenRows, row: table.Row) -> None:
    """An accepted file is listed and found, and comes back byte for byte."""
    taken_rows.claim(row)
