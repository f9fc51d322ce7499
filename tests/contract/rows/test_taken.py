"""Rows of the factor table without a reason for a refusal: each pair of values, of drafts and of files."""

from functools import partial

from registry_contracts.cases import TakenRows, contract, for_each_row, table, taken_rows


@for_each_row(partial(table.taken, "saveDraft"))
@contract(
    *taken_rows.DRAFT_CLAUSES,
    operations=("saveDraft", "getDraft", "draftExists", "getDraftInfo", "deleteDraft"),
    requests=6.3,
    turns=True,
)
def test_a_draft_is_kept(taken_rows: TakenRows, row: table.Row) -> None:
    """Every operation that shows drafts shows an accepted draft in full, until it is deleted."""
    taken_rows.claim(row)


@for_each_row(partial(table.taken, "createAttachment"))
@contract(
    *taken_rows.FILE_CLAUSES,
    operations=("createAttachment", "listAttachments", "attachmentExists", "getAttachment"),
    requests=7.2,
    turns=True,
)
def test_a_file_is_kept(taken_rows: TakenRows, row: table.Row) -> None:
    """An accepted file is listed and found, and comes back byte for byte."""
    taken_rows.claim(row)
