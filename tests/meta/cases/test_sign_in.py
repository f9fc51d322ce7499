"""A sign-in that gives no token is told without what may be one; invented tokens look like real ones."""

import string
from typing import Any

import pytest

from contracts.cases.sign_in import altered_tokens, claim_no_more_needed, claim_token, invented
from contracts.checks.claims import Claim, Expect
from contracts.checks.outcomes import Attempt, Blocked, Contradiction
from tests.meta.messages import answer, exchange


@pytest.fixture
def issued(claims: Expect) -> Claim:
    """The claim that signing in gives a token."""
    return claims("token-issued", "createToken")


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


@pytest.mark.parametrize("token", ["a1b2c3d4e5", "QUJD-defg_123", "QUJDdefg=="])
def test_altered_tokens_are_others(token: str) -> None:
    assert token not in altered_tokens(token)


@pytest.mark.parametrize("token", ["0f" * 24, "ABCDEF0123", "eyJh.QUJD-defg_1.xY9=="])
def test_an_invented_token_has_the_form_of_a_real_one_and_shares_no_sign_with_it(token: str) -> None:
    other = invented(token)
    assert [(sign.isdigit(), sign.islower(), sign.isupper()) for sign in other] == [
        (sign.isdigit(), sign.islower(), sign.isupper()) for sign in token
    ]
    assert all((sign == old) != sign.isalnum() for sign, old in zip(other, token, strict=True))
    assert set(other) <= set(string.hexdigits) or "." in token
