"""The rows cover what they say: each reason beside each value that does not refuse, and one reason in each."""

from collections.abc import Iterator
from itertools import combinations, product

import pytest

from registry_contracts.model import factors, rows
from registry_contracts.model.rows import Row

EVERY = [row for operation in factors.OPERATIONS for row in rows.one_reason(operation)] + [
    *rows.pure_refusals()
]


def test_no_row_is_sent_twice_and_each_has_an_id_of_its_own() -> None:
    assert len({str(row) for row in EVERY}) == len(EVERY)


def test_each_row_has_one_reason_which_a_must_clause_gives() -> None:
    for row in EVERY:
        assert [each.name for each in row.values if each.refuses] == [row.reason], row
        assert factors.is_must(row.clause), row


@pytest.mark.parametrize("operation", factors.WORKFLOW)
def test_each_reason_of_a_submission_meets_each_value_that_is_taken(operation: str) -> None:
    assert not set(possible(operation)) - set(pairs(rows.one_reason(operation)))


def possible(operation: str) -> Iterator[tuple[str, str]]:
    """Each value that refuses with each that does not, of another factor; a given identifier has the form it has."""
    for factor, reason in factors.refusing(operation):
        state = (
            reason.name
            if factor == "state"
            else next(iter(factors.table(operation).get("state", ())), reason).name
        )
        for other, values in factors.table(operation).items():
            for value in values[1:]:
                given = (
                    state in factors.GIVEN_IDENTIFIER
                    and other == "identifier"
                    and value.name != "uid_encoded"
                )
                if other != factor and not value.refuses and not given:
                    yield reason.name, value.name


def pairs(sent: tuple[Row, ...]) -> Iterator[tuple[str, str]]:
    """Each reason with each value beside it."""
    return ((row.reason, value) for row in sent for value in row.beside)


def test_every_operation_by_uid_meets_every_credential_and_every_identifier() -> None:
    sent = [row for row in rows.pure_refusals() if row.operation in factors.BY_UID]
    of_credentials = {(row.operation, row.reason) for row in sent}
    assert of_credentials == set(product(factors.BY_UID, ("anonymous", "token_invented", "token_half")))
    identifiers = {(row.operation, row.beside) for row in sent}
    assert len(identifiers) == len(factors.BY_UID) * len(factors.IDENTIFIER.values)


def test_neighbours_meet_every_deed_and_every_caller() -> None:
    columns = [(each.deed, each.relation, each.caller) for each in rows.touches()]
    for one, other in combinations(range(3), 2):
        values = [{column[place] for column in columns} for place in (one, other)]
        assert {(column[one], column[other]) for column in columns} == set(product(*values))


def test_a_value_set_back_is_plain() -> None:
    row = Row("updateWorkflowRecord", "locked", ("caller_nau", "batch"))
    assert str(row) == "updateWorkflowRecord-locked-caller_nau-batch"
    assert row.words == "the record is locked and the caller is NAU and a batchId is given"
    assert str(row.without("caller_nau")) == "updateWorkflowRecord-locked-batch"
    assert row.rights == "workflow-update-rights"
