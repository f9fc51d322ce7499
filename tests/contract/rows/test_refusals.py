"""Rows of the factor table with one reason for a refusal and any other values.

The id of a row says what is sent: `updateWorkflowRecord-locked-caller_nau` is an update of a locked record by the
account with the NAU role.
"""

from collections.abc import Iterable

import pytest

from registry_contracts.cases import (
    Rows,
    contact_requests,
    contract,
    factors,
    for_each_row,
    smoke,
    submissions,
    table,
)

DRAFTS = (*factors.READS, *factors.DRAFT_WRITES, "listDrafts")
FILES = (*factors.OF_DOCUMENTS, *factors.OF_FILES)
#: Further clauses that a refusal without a token shows.
OF_TOKENS = ("json-bodies", "token-missing-answer")
WITHOUT_TOKEN = (
    "getDraft",
    "getDraftInfo",
    "deleteDraft",
    "listDrafts",
    "createAttachment",
    "listAttachments",
)
#: Operations and reasons whose first row is in `smoke`; scenarios there save a draft and submit without a token.
IN_SMOKE = {
    *((operation, "anonymous") for operation in WITHOUT_TOKEN),
    (factors.CREATE_NAMED, "realm_missing"),
    *((operation, "caller_restricted") for operation in factors.WORKFLOW),
}


def is_due(row: table.Row) -> bool:
    """Whether nothing but its reason can have a row refused."""
    return row.alone and not row.callers


def each(operations: Iterable[str]) -> pytest.MarkDecorator:
    """Make a case for each row, with the clause that refuses it; `smoke` has the first of some reasons."""

    def rows(strength: int = table.PAIRS) -> list[table.Row]:
        return [row for operation in operations for row in table.one_reason(operation, strength)]

    first = {(row.operation, row.reason): row for row in reversed(rows())}
    # A message is judged in every realm: by the first row of a creation for whose refusal there is no other reason.
    due = {row.reason: row for row in reversed(rows()) if row.operation == factors.CREATE and is_due(row)}

    def marks(row: table.Row) -> list[pytest.MarkDecorator]:
        why = (row.operation, row.reason)
        in_smoke = why in IN_SMOKE and first[why] is row
        of_row = contract(*table.clauses_of_refusal(row), turns=due.get(row.reason) is not row)
        return [of_row, *([smoke(requests=3)] if in_smoke else [])]

    return for_each_row(rows, marks)


@each(factors.WORKFLOW)
@contract(*submissions.ERROR_CLAUSES, operations=factors.WORKFLOW, requests=1.2)
def test_a_submission_is_refused(rows: Rows, row: table.Row) -> None:
    """A submission with one reason for a refusal is refused, with that reason's message if no other can apply."""
    rows.claim(row)


@each(DRAFTS)
@contract(*OF_TOKENS, operations=DRAFTS, requests=2)
def test_a_request_on_drafts_is_refused(rows: Rows, row: table.Row) -> None:
    """A draft request without a valid token, or for a missing draft, is refused; it changes and discloses nothing."""
    rows.claim(row)


@each(FILES)
@contract(*OF_TOKENS, operations=FILES, requests=1.7)
def test_a_request_on_attachments_is_refused(rows: Rows, row: table.Row) -> None:
    """An attachment request without a required token, or for a missing file, is refused, and changes nothing."""
    rows.claim(row)


@each(factors.CONTACTS)
@contract(*OF_TOKENS, *contact_requests.TOLD_CLAUSES, operations=factors.CONTACTS, requests=1)
def test_a_contact_is_refused(rows: Rows, row: table.Row) -> None:
    """A contact without a valid token, or with a fault in its content, is refused."""
    rows.claim(row)
