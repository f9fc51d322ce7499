"""A sign-in that gives no token is told without what may be one."""

from typing import Any

import pytest

from contracts.cases.sign_in import claim_no_more_needed, claim_token
from contracts.checks.claims import Claim, Expect
from contracts.checks.outcomes import Attempt, Blocked, Contradiction
from tests.meta.messages import answer, exchange


@pytest.fixture
def issued(claims: Expect) -> Claim:
    """The claim that signing in gives a token."""
    return claims("token-issued", "createToken")


def test_a_token_holds(issued: Claim) -> None:
    claim_token(issued, lambda: exchange(answer({"authenticationToken": "abc-123"}), "createToken"))


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (None, "200"),
        ([], "200 []"),
        ({"message": "not now"}, "not now"),
        ({"authenticationToken": ["hidden-word"]}, "{'authenticationToken': 'list'}"),
        ({"authenticationToken": ""}, "{'authenticationToken': 'str'}"),
    ],
)
def test_an_answer_without_a_token_is_told_without_secrets(
    issued: Claim, attempt: Attempt, body: Any, told: str
) -> None:
    with pytest.raises(Contradiction):
        claim_token(issued, lambda: exchange(answer(body), "createToken"))
    assert told in attempt.evidence[0].seen
    assert "hidden-word" not in attempt.evidence[0].seen


@pytest.mark.parametrize(("given", "ends"), [(True, Contradiction), (False, Blocked)])
def test_a_token_with_more_headers_only_is_a_contradiction(
    issued: Claim, given: bool, ends: type[Exception]
) -> None:
    nothing = exchange(answer({"message": "no"}, 401), "createToken")
    token = exchange(answer({"authenticationToken": "abc-123"}), "createToken")
    with pytest.raises(ends):
        claim_no_more_needed(issued, lambda: nothing, lambda: token if given else nothing)
