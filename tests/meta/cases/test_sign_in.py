"""A sign-in that gives no token is told without what may be one."""

import pytest

from registry_contracts.cases.sign_in import claim_token
from registry_contracts.checks.claims import Expect
from registry_contracts.checks.outcomes import Attempt, Contradiction
from tests.meta.messages import answer, exchange


def test_an_answer_without_a_token_is_told_without_what_may_be_one(claims: Expect, attempt: Attempt) -> None:
    issued, body = claims("token-issued", "createToken"), {"authenticationToken": ["hidden-word"]}
    with pytest.raises(Contradiction):
        claim_token(issued, lambda: exchange(answer(body), "createToken"))
    assert "{'authenticationToken': 'list'}" in attempt.evidence[0].seen
    assert "hidden-word" not in attempt.evidence[0].seen
