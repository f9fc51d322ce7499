"""Signing in: e-mail and password are exchanged for a token with an expiration."""

from functools import partial

import pytest

from registry_contracts.cases import (
    Credentials,
    Expect,
    Observer,
    World,
    comparison,
    contract,
    is_utc_with_fraction,
    moment_of,
    seconds_ahead,
    sign_in,
    smoke,
    token_in,
)

#: Headers that the document does not list for signing in.
UNLISTED_HEADERS = {"Realm": "abs-dev", "Authorization": "Bearer none"}


@smoke("author")
@contract("token-issued", "token-needs-no-token", "token-success-status")
@contract(operations=("createToken",), requests=2)
@pytest.mark.parametrize("role", ["author", "other"])
def test_an_account_gets_a_token(
    world: World, credentials: Credentials, expect: Expect, observe: Observer, role: str
) -> None:
    """E-mail and password are exchanged for a token every time, with no more headers than Accept and Content-Type."""
    plain = partial(world.author.send, "createToken", json=credentials.of(role), token=None, realm=None)
    claims = expect("token-issued"), expect("token-needs-no-token")
    signed_in = sign_in.claim_signed_in(*claims, plain, partial(plain, headers=UNLISTED_HEADERS))
    observe("token-success-status", "createToken", signed_in.answer.status)


@smoke()
@contract("token-expiration-format", operations=("createToken",), requests=5)
def test_the_expiration_is_a_timestamp_with_fraction(
    world: World, credentials: Credentials, expect: Expect
) -> None:
    """The expiration is ISO 8601 in UTC with fractional seconds, every time and for every account."""
    for body in (credentials.of("author"), *credentials.of_each()):
        signed_in = world.author.create_token(json=body)
        expiration = sign_in.expiration_of(signed_in)
        right, seen = is_utc_with_fraction(expiration), repr(expiration)
        expected = "an ISO 8601 timestamp in UTC with fractional seconds"
        expect("token-expiration-format").holds(right, signed_in, expected=expected, seen=seen)


@contract("token-expiration-ahead", "token-lifetime", "token-second-sign-in")
@contract(operations=("createToken",), requests=2)
def test_a_fresh_token_expires_in_the_future(
    world: World, credentials: Credentials, expect: Expect, observe: Observer
) -> None:
    """The expiration of a token is later than its answer; whether a second sign-in returns the same is observed."""
    signed_in, again = (world.author.create_token(json=credentials.of("author")) for _ in range(2))
    ends = moment_of(sign_in.expiration_of(signed_in))
    ahead = seconds_ahead(ends, signed_in.answer)
    expect("token-expiration-ahead").holds(
        ahead > 0, signed_in, expected="a moment in the future", seen=f"{ends}, {ahead:.0f} seconds ahead"
    )
    observe("token-lifetime", "createToken", comparison.lifetime(ahead, signed_in, again))
    same = token_in(signed_in.answer) == token_in(again.answer)
    observe("token-second-sign-in", "createToken", {"same token": same})


@contract("token-email-letter-case", "token-unknown-member", operations=("createToken",), requests=2)
def test_variations_of_a_right_sign_in_are_observed(
    world: World, credentials: Credentials, observe: Observer
) -> None:
    """The document does not say whether the letter case of the e-mail or a further member matters."""
    email = credentials.email("author").upper()
    capitals = world.author.create_token(json=credentials.of("author", email=email))
    observe("token-email-letter-case", "createToken", capitals.answer.status)
    further = world.author.create_token(json=credentials.of("author", remember=True))
    observe("token-unknown-member", "createToken", further.answer.status)
