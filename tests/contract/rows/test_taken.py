"""Rows of the factor table without a reason for a refusal: accepted records exist and come back whole."""

from functools import partial

from registry_contracts.cases import (
    AcceptedRows,
    TakenRows,
    contract,
    factors,
    for_each_row,
    table,
    taken_rows,
)


@for_each_row(partial(table.taken, "saveDraft"))
@contract(*taken_rows.DRAFT_CLAUSES, requests=7.7, turns=True)
@contract(operations=("saveDraft", "getDraft", "draftExists", "getDraftInfo", "deleteDraft"))
def test_a_draft_is_kept(taken_rows: TakenRows, row: table.Row) -> None:
    """Every read of drafts shows an accepted draft in full until it is deleted."""
    taken_rows.claim(row)


@for_each_row(partial(table.taken, "createAttachment"))
@contract(*taken_rows.FILE_CLAUSES, requests=5.8, turns=True)
@contract(operations=("createAttachment", "listAttachments", "attachmentExists", "getAttachment"))
def test_a_file_is_kept(taken_rows: TakenRows, row: table.Row) -> None:
    """An accepted file is listed and found, and comes back byte for byte."""
    taken_rows.claim(row)


@for_each_row(partial(table.taken, factors.CREATE))
@contract(*taken_rows.SUBMISSION_CLAUSES, operations=[factors.CREATE], requests=2, turns=True, records=1)
def test_a_record_is_created(accepted_rows: AcceptedRows, row: table.Row) -> None:
    """A valid document is accepted with every optional member, and the answer names the record."""
    accepted_rows.claim(row)


@for_each_row(partial(table.taken, factors.CREATE_NAMED))
@contract(*taken_rows.SUBMISSION_CLAUSES)
@contract(operations=[factors.CREATE_NAMED], requests=5, turns=True, records=1)
def test_a_named_record_is_created(accepted_rows: AcceptedRows, row: table.Row) -> None:
    """A valid document under a free identifier is accepted; the identifier is in use from then on."""
    accepted_rows.claim(row)


@for_each_row(partial(table.taken, factors.UPDATE))
@contract(*taken_rows.SUBMISSION_CLAUSES, "workflow-update-replaces-draft", operations=[factors.UPDATE])
@contract(requests=6, turns=True, last=True)
def test_a_record_is_updated(accepted_rows: AcceptedRows, row: table.Row) -> None:
    """A valid document for a record that is not locked is accepted, whatever the order of its members."""
    accepted_rows.claim(row)


@for_each_row(partial(table.taken, "updateContact"))
@contract("contact-update-accepted", "draft-get-content", requests=3, turns=True)
@contract(operations=["updateContact"])
def test_a_contact_is_updated(accepted_rows: AcceptedRows, row: table.Row) -> None:
    """A valid contact is accepted, whatever the order of its members."""
    accepted_rows.claim(row)


@for_each_row(partial(table.taken, "listDrafts"))
@contract(*taken_rows.LIST_CLAUSES, operations=["listDrafts"], requests=1.3, turns=True)
def test_a_list_answers_whoever_asks(accepted_rows: AcceptedRows, row: table.Row) -> None:
    """A list of drafts has no more entries than $top allows, and none twice, for every account."""
    accepted_rows.claim(row)
