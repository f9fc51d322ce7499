"""A sign-in that gives no token is told without what may be one."""

from typing import Any

import pytest

from registry_contracts.cases.sign_in import claim_token
from registry_contracts.checks.claims import Claim, Expect
from registry_contracts.checks.outcomes import Attempt, Contradiction
from tests.meta.messages import answer, exchange


@pytest.fixture
def issued(claims: Expect) -> Claim:
    """The claim that signing in gives a token."""
    return claims("token-issued", "createToken")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"message": "not now"}, "not now"),
        ({"authenticationToken": ["hidden-word"]}, "{'authenticationToken': 'list'}"),
        ({"authenticationToken": ""}, "{'authenticationToken': 'str'}"),
    ],
)
def test_an_answer_without_a_token_is_quoted(issued: Claim, attempt: Attempt, body: Any, told: str) -> None:
    with pytest.raises(Contradiction):
        claim_token(issued, lambda: exchange(answer(body), "createToken"))
    assert told in attempt.evidence[0].seen
    assert "hidden-word" not in attempt.evidence[0].seen
