"""Rows of the factor table with one reason for a refusal, whatever their other values are.

A row's id says what is sent: `updateWorkflowRecord-locked-caller_nau` is an update of a locked record by the account
with the NAU role.
"""

from collections.abc import Iterable

import pytest

from registry_contracts.cases import Rows, contract, factors, smoke, table

DRAFTS = (*factors.READS, *factors.DRAFT_WRITES, "listDrafts")
FILES = (*factors.OF_DOCUMENTS, *factors.OF_FILES)
#: What a refusal for want of a token shows besides.
OF_TOKENS = ("json-bodies", "token-missing-answer")
#: Whose requests without a token `smoke` sends; a scenario there saves a draft without one.
IN_SMOKE = ("getDraft", "getDraftInfo", "deleteDraft", "listDrafts", "createAttachment", "listAttachments")


def each(rows: list[table.Row]) -> pytest.MarkDecorator:
    """Make a case for each row, with the clause that refuses it; `smoke` has the first row without a token."""
    left_out = {*table.second_rate(rows)}
    first = {row.operation: row for row in reversed(rows) if row.reason == "anonymous"}

    def marks(row: table.Row) -> list[pytest.MarkDecorator]:
        in_smoke = row.operation in IN_SMOKE and first[row.operation] is row
        return [contract(row.clause, several=row in left_out), *([smoke(requests=3)] if in_smoke else [])]

    params = [pytest.param(row, id=str(row), marks=marks(row)) for row in rows]
    return pytest.mark.parametrize("row", params)


def of(operations: Iterable[str]) -> list[table.Row]:
    """The rows of some operations."""
    return [row for operation in operations for row in table.one_reason(operation)]


@each(of(factors.WORKFLOW))
@contract(operations=factors.WORKFLOW, requests=1.1, turns=True)
def test_a_submission_is_refused(rows: Rows, row: table.Row) -> None:
    """A submission with one reason for a refusal is refused, with that reason's message if no other can apply."""
    rows.claim(row)


@each(of(DRAFTS))
@contract(*OF_TOKENS, operations=DRAFTS, requests=1.6, turns=True)
def test_a_request_on_drafts_is_refused(rows: Rows, row: table.Row) -> None:
    """A draft request without a valid token, or for a missing draft, is refused; it changes and discloses nothing."""
    rows.claim(row)


@each(of(FILES))
@contract(*OF_TOKENS, operations=FILES, requests=1.7, turns=True)
def test_a_request_on_attachments_is_refused(rows: Rows, row: table.Row) -> None:
    """An attachment request without a required token, or for a missing file, is refused, and changes nothing."""
    rows.claim(row)


@each(of(factors.CONTACTS))
@contract(*OF_TOKENS, operations=factors.CONTACTS, requests=1, turns=True)
def test_a_contact_is_refused(rows: Rows, row: table.Row) -> None:
    """A contact without a valid token, or with a fault in its content, is refused."""
    rows.claim(row)
