"""What one field does is judged against how its operation reports faults at all."""

from typing import Any

import pytest

from contracts.cases.contact_requests import Reporting
from contracts.checks.claims import Claim
from contracts.checks.outcomes import Blocked, Contradiction

MANDATORY = [{"code": "Error.Mandatory", "property": "firstName"}]
OTHER = [{"code": "Error.Invalid", "property": "firstName"}]


def refused(answer: Any, exchange: Any, errors: Any) -> Any:
    """A contact that was refused with these errors; None for no errors array."""
    return exchange(answer({"message": "no"} if errors is None else {"errors": errors}, 400), "createContact")


def test_the_code_among_the_errors_holds(must: Claim, answer: Any, exchange: Any) -> None:
    for reporting in (Reporting(True, True, True), Reporting(True, False, False)):
        reporting.claim_some_mandatory(must, refused(answer, exchange, OTHER + MANDATORY))


@pytest.mark.parametrize(
    ("errors", "arrays", "names"), [(None, True, True), (OTHER, True, True), (OTHER, False, True)]
)
def test_an_operation_that_can_do_better_is_contradicted(
    must: Claim, answer: Any, exchange: Any, errors: Any, arrays: bool, names: bool
) -> None:
    with pytest.raises(Contradiction):
        Reporting(True, arrays, names).claim_some_mandatory(must, refused(answer, exchange, errors))


@pytest.mark.parametrize(
    ("errors", "arrays", "names", "why"),
    [
        (None, False, True, "without an errors array"),
        (OTHER, True, False, "names no missing field"),
        (None, True, False, "names no missing field"),
    ],
)
def test_what_it_never_does_is_another_clauses_finding(
    must: Claim, answer: Any, exchange: Any, errors: Any, arrays: bool, names: bool, why: str
) -> None:
    with pytest.raises(Blocked, match=why):
        Reporting(True, arrays, names).claim_some_mandatory(must, refused(answer, exchange, errors))
