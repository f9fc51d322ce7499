"""What cases note at silent points does not change with load, other people's data, or a second more or less."""

import pytest

from registry_contracts.cases import comparison
from registry_contracts.exchanges.exchange import Exchange
from tests.meta import messages


def signed_in(token: str) -> Exchange:
    content = f'{{"authenticationToken": "{token}"}}'.encode()
    answer = messages.response(200, content, {"content-type": "application/json"})
    return messages.exchange(answer, operation="createToken", method="POST")


@pytest.mark.parametrize(
    ("seconds", "usual"), [(3600, 3600), (3597.4, 3600), (3611, 3600), (86399, 86400), (1795, 1800), (2, 60)]
)
def test_a_lifetime_is_the_nearest_usual_one(seconds: float, usual: int) -> None:
    assert comparison.lifetime(seconds, signed_in("a" * 20), signed_in("b" * 20)) == {"seconds": usual}


def test_a_token_that_is_given_again_may_be_of_any_age() -> None:
    assert comparison.lifetime(1234, signed_in("a" * 20), signed_in("a" * 20)) == {"seconds": None}
