"""Rows of the factor table that are refused, each for one reason, beside values that do not refuse.

A row's id says what is sent: `updateWorkflowRecord-locked-caller_nau` is an update of a locked record by the account
with the NAU role.
"""

from collections.abc import Iterable

import pytest

from registry_contracts.cases import Rows, contract, factors, smoke, table

DRAFTS = (*factors.READS, *factors.DRAFT_WRITES, "listDrafts")
FILES = (*factors.OF_DOCUMENTS, *factors.OF_FILES)
#: Whose requests without a token `smoke` sends; a scenario there saves a draft without one.
IN_SMOKE = ("getDraft", "getDraftInfo", "deleteDraft", "listDrafts", "createAttachment", "listAttachments")


def each(rows: list[table.Row]) -> pytest.MarkDecorator:
    """A case for each row, of the clause by which it is refused; `smoke` has the first ones without a token."""
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
    """For its one reason, whatever else of it is as it may be; with the message where nothing else can be told."""
    rows.claim(row)


@each(of(DRAFTS))
@contract(operations=DRAFTS, requests=1.6, turns=True)
def test_a_request_on_drafts_is_refused(rows: Rows, row: table.Row) -> None:
    """Without a valid token, and where there is no draft; nothing comes of it, and nothing is given."""
    rows.claim(row)


@each(of(FILES))
@contract(operations=FILES, requests=1.7, turns=True)
def test_a_request_on_attachments_is_refused(rows: Rows, row: table.Row) -> None:
    """Without a valid token where one is asked for, and where the document has no such file; nothing comes of it."""
    rows.claim(row)


@each(of(factors.CONTACTS))
@contract(operations=factors.CONTACTS, requests=1, turns=True)
def test_a_contact_is_refused(rows: Rows, row: table.Row) -> None:
    """Without a valid token, and for its content."""
    rows.claim(row)
