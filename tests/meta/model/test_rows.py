"""The rows cover what they say: each reason beside each value that does not refuse, and one reason in each."""

from itertools import combinations, product

from registry_contracts.model import factors, rows
from registry_contracts.model.coverage import TAKEN, coverage_of, possible

REFUSED = [row for operation in factors.OPERATIONS for row in rows.one_reason(operation)]
EVERY = [*REFUSED, *(row for operation in TAKEN for row in rows.taken(operation))]


def test_no_row_is_sent_twice_and_each_has_an_id_of_its_own() -> None:
    assert len({str(row) for row in EVERY}) == len(EVERY)


def test_each_row_has_one_reason_which_a_must_clause_gives() -> None:
    for row in REFUSED:
        assert [each.name for each in row.values if each.refuses] == [row.reason], row
        assert factors.is_must(row.clause), row


def test_rows_have_every_pair_of_the_table() -> None:
    cases = [(f"rows/test.py::test_row[abs-dev-{row}]", "") for row in EVERY]
    covered = coverage_of(cases)
    assert covered.covered == covered.possible == len(possible())
    assert not covered.gaps


def test_a_pair_that_was_not_judged_is_a_gap_with_its_reason() -> None:
    cases = [(f"rows/test.py::test_row[abs-dev-{row}]", "no such account") for row in EVERY[:1]]
    covered = coverage_of(cases)
    assert covered.judged == covered.covered == 0
    assert covered.gaps["no such account"]
    assert covered.gaps["none of its rows was sent"]


def test_neighbours_meet_every_deed_and_every_caller() -> None:
    made = rows.touches()
    columns = [(each.deed, each.relation, each.caller) for each in made if each.deed in factors.DEEDS]
    for one, other in combinations(range(3), 2):
        values = [{column[place] for column in columns} for place in (one, other)]
        assert {(column[one], column[other]) for column in columns} == set(product(*values))
    absent = {each.relation for each in made if each.deed == factors.DELETE_ABSENT}
    assert absent == set(factors.OF_IDENTIFIERS)


def test_a_row_without_a_reason_has_the_values_that_it_names() -> None:
    row = rows.Row("createAttachment", "", ("caller_nau", "file_in_capitals"))
    assert row.of("", "file_in_capitals") == "file_in_capitals"
    assert row.of("", "file_of_dots") == ""
