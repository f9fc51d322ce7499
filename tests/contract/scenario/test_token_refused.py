"""Sign-in requests that must yield no token.

Each case that uses a real account's e-mail ends with a right sign-in, so that counters of failed ones start afresh.
"""

from collections.abc import Callable
from typing import Any

import pytest

from contracts.cases import (
    Actor,
    Credentials,
    Deal,
    Expect,
    Observer,
    World,
    contract,
    shape,
    sign_in,
    smoke,
    unregistered_email,
)


@smoke()
@contract("token-wrong-password", "token-failure-answer", operations=("createToken",), requests=3)
def test_a_wrong_password_yields_no_token(
    world: World, credentials: Credentials, expect: Expect, observe: Observer
) -> None:
    """The right password with one more character, or in other letter case, is a wrong one."""
    bodies = [credentials.of("author", password=wrong) for wrong in credentials.near_passwords("author")]
    refused = [world.author.create_token(json=body) for body in bodies]
    sign_in.claim_no_token(expect("token-wrong-password"), refused)
    sign_in.token_of(world.author, credentials.of("author"))
    observe("token-failure-answer", "createToken", shape(refused[0]))


@contract("token-wrong-password", operations=("createToken",), requests=2)
def test_the_password_of_another_account_yields_no_token(
    other: Actor, credentials: Credentials, expect: Expect
) -> None:
    """A password opens the account it belongs to and no other."""
    refused = other.create_token(json=credentials.of("other", password=credentials.password("author")))
    sign_in.claim_no_token(expect("token-wrong-password"), [refused])
    sign_in.token_of(other, credentials.of("other"))


@smoke(requests=1)
@contract("token-unknown-account", operations=("createToken",), requests=4)
def test_an_unknown_email_yields_no_token(
    world: World, credentials: Credentials, deal: Deal, expect: Expect
) -> None:
    """An e-mail that belongs to no account opens nothing, with whatever password, be it near one that does."""
    emails = deal.whole([unregistered_email(), *credentials.near_emails("author")])
    refused = [world.author.create_token(json=credentials.of("author", email=email)) for email in emails]
    sign_in.claim_no_token(expect("token-unknown-account"), refused)


@smoke()
@pytest.mark.parametrize(
    ("clause", "member"),
    [
        pytest.param("token-email-missing", "email", id="email", marks=contract("token-email-missing")),
        pytest.param(
            "token-password-missing", "password", id="password", marks=contract("token-password-missing")
        ),
    ],
)
@contract(operations=("createToken",), requests=2)
def test_an_empty_credential_yields_no_token(
    world: World, credentials: Credentials, expect: Expect, clause: str, member: str
) -> None:
    """Both e-mail and password are needed, and an empty text is neither."""
    empty = world.author.create_token(json=credentials.of("author", **{member: ""}))
    sign_in.claim_no_token(expect(clause), [empty])
    sign_in.token_of(world.author, credentials.of("author"))


def row(clause: str, way: str, bodies: Callable[[Credentials, str], list[Any]], what: str) -> Any:
    """One row of the table below: what is sent, as `json` or as a `body`, and the clause that it breaks."""
    return pytest.param(clause, way, bodies, id=what, marks=contract(clause))


@smoke("an e-mail", "a plain password", values=2, requests=3)
@pytest.mark.parametrize(
    ("clause", "way", "bodies"),
    [
        row("token-email-kind", "json", Credentials.emails_of_another_kind, "an e-mail"),
        row("token-password-kind", "json", Credentials.passwords_of_another_kind, "a password"),
        row("token-password-kind", "json", Credentials.plain_passwords_of_another_kind, "a plain password"),
        row("token-body-kind", "body", Credentials.bodies_of_another_kind, "a body"),
    ],
)
@contract(operations=("createToken",), requests=6)
def test_what_is_of_another_kind_yields_no_token(
    world: World,
    credentials: Credentials,
    expect: Expect,
    clause: str,
    way: str,
    deal: Deal,
    bodies: Callable[[Credentials, str], list[Any]],
) -> None:
    """E-mail and password are strings in one object; in an array, a text or a query operator they are none."""
    tried = deal.whole(bodies(credentials, "author"))
    refused = [world.author.send("createToken", **{way: value}) for value in tried]
    sign_in.claim_no_token(expect(clause), refused)
    sign_in.token_of(world.author, credentials.of("author"))
