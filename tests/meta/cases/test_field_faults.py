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


def reporting(*, arrays: bool = True, names: bool = True, takes: bool = True) -> Reporting:
    return Reporting(refuses=True, arrays=arrays, names=names, takes=takes)


def test_the_code_among_the_errors_holds(must: Claim, answer: Any, exchange: Any) -> None:
    for each in (reporting(), reporting(arrays=False, names=False)):
        each.claim_some_mandatory(must, refused(answer, exchange, OTHER + MANDATORY))


@pytest.mark.parametrize(
    ("errors", "arrays", "names"), [(None, True, True), (OTHER, True, True), (OTHER, False, True)]
)
def test_an_operation_that_can_do_better_is_contradicted(
    must: Claim, answer: Any, exchange: Any, errors: Any, arrays: bool, names: bool
) -> None:
    with pytest.raises(Contradiction):
        reporting(arrays=arrays, names=names).claim_some_mandatory(must, refused(answer, exchange, errors))


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
        reporting(arrays=arrays, names=names).claim_some_mandatory(must, refused(answer, exchange, errors))


def test_a_refusal_of_every_record_says_nothing_of_a_field_it_does_not_name(
    must: Claim, answer: Any, exchange: Any
) -> None:
    sent = refused(answer, exchange, OTHER)
    with pytest.raises(Blocked, match="refuses records that lack nothing too, and names no lastName"):
        reporting(takes=False).claim_refused(must, sent, "lastName")
    reporting(takes=False).claim_refused(must, sent, "firstName")
    reporting().claim_refused(must, sent, "lastName")
