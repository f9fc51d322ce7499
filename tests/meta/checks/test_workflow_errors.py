"""An addition to a submission is blamed only where the plain submission is taken."""

from typing import Any

import pytest

from contracts.checks.claims import Claim
from contracts.checks.outcomes import Blocked, Contradiction
from contracts.checks.workflow_errors import accepted_for


@pytest.fixture
def submission(answer: Any, exchange: Any) -> Any:
    """Makes a submission with this status: `submission(status)`."""
    return lambda status: exchange(answer({}, status), "createWorkflowRecord")


def test_an_accepted_addition_needs_no_plain_submission(must: Claim, submission: Any) -> None:
    def never() -> Any:
        raise AssertionError("sent although the addition was taken")

    accepted_for(must, submission(201), never)


def test_a_refused_addition_to_what_is_taken_plain_is_a_contradiction(must: Claim, submission: Any) -> None:
    with pytest.raises(Contradiction):
        accepted_for(must, submission(400), lambda: submission(201))


def test_where_the_plain_submission_is_refused_too_the_addition_is_not_to_blame(
    must: Claim, submission: Any
) -> None:
    with pytest.raises(Blocked):
        accepted_for(must, submission(400), lambda: submission(400))
