"""Sign-in requests that must yield no token.

Each case that uses a real account's e-mail ends with a valid sign-in, which resets counters of failed ones.
"""

import json
from collections.abc import Callable
from typing import Any

import pytest

from registry_contracts.cases import (
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
)


@smoke()
@contract("token-wrong-password", "token-failure-answer", operations=("createToken",), requests=3)
def test_a_wrong_password_yields_no_token(
    world: World, credentials: Credentials, expect: Expect, observe: Observer
) -> None:
    """The correct password with one more character, or in other letter case, yields no token."""
    right = credentials.password("author")
    near = [f"{right}x", *({right.swapcase()} - {right})]
    bodies = [credentials.of("author", password=wrong) for wrong in near]
    refused = [world.author.create_token(json=body) for body in bodies]
    sign_in.claim_no_token(expect("token-wrong-password"), refused)
    sign_in.token_of(world.author, credentials.of("author"))
    observe("token-failure-answer", "createToken", shape(refused[0]))


@contract("token-wrong-password", operations=("createToken",), requests=2)
def test_the_password_of_another_account_yields_no_token(
    other: Actor, credentials: Credentials, expect: Expect
) -> None:
    """An e-mail with the password of another account yields no token."""
    refused = other.create_token(json=credentials.of("other", password=credentials.password("author")))
    sign_in.claim_no_token(expect("token-wrong-password"), [refused])
    sign_in.token_of(other, credentials.of("other"))


@smoke(requests=1)
@contract("token-unknown-account", operations=("createToken",), requests=4)
def test_an_unknown_email_yields_no_token(
    world: World, credentials: Credentials, deal: Deal, expect: Expect
) -> None:
    """An e-mail without an account yields no token with any password, even if it resembles a registered one."""
    name, at, host = credentials.email("author").rpartition("@")
    near = [f"rc{name}{at}{host}", f"{name}{at}{host}x"]
    emails = deal.whole(["nobody-at-all@example.test", *near])
    refused = [world.author.create_token(json=credentials.of("author", email=email)) for email in emails]
    sign_in.claim_no_token(expect("token-unknown-account"), refused)


Right = dict[str, Any]
Bodies = Callable[[Right], list[Any]]


def empty(name: str) -> Bodies:
    """A body in which one member is empty."""
    return lambda right: [right | {name: ""}]


def of_another_kind(name: str) -> Bodies:
    """Bodies with a member that is no string, for example the right one in an array, and a query operator."""
    return lambda right: [
        right | {name: value} for value in (17, True, None, [right[name]], {"$ne": ""}, {name: right[name]})
    ]


def whole_bodies(right: Right) -> list[Any]:
    """Bodies that are absent, empty, or not an object with both members, though they may hold the correct ones."""
    values: list[Any] = [{}, [], [right], list(right.values()), json.dumps(right), None, 17, True]
    return [None, b"", *(json.dumps(value).encode() for value in values)]


def row(clause: str, way: str, bodies: Bodies, what: str, requests: float = 6) -> Any:
    """One row of the table below: what is sent, as `json` or as a `body`, and the clause that it breaks."""
    return pytest.param(clause, way, bodies, id=what, marks=contract(clause, requests=requests))


@smoke("an empty e-mail", "an empty password", "a password", values=2, requests=3)
@pytest.mark.parametrize(
    ("clause", "way", "bodies"),
    [
        row("token-email-missing", "json", empty("email"), "an empty e-mail", requests=2),
        row("token-password-missing", "json", empty("password"), "an empty password", requests=2),
        row("token-email-kind", "json", of_another_kind("email"), "an e-mail"),
        row("token-password-kind", "json", of_another_kind("password"), "a password"),
        row("token-body-kind", "body", whole_bodies, "a body"),
    ],
)
@contract(operations=("createToken",))
def test_what_is_empty_or_of_another_kind_yields_no_token(
    world: World, credentials: Credentials, expect: Expect, deal: Deal, clause: str, way: str, bodies: Bodies
) -> None:
    """An empty e-mail or password, and ones that are not strings in one object, yield no token."""
    tried = deal.whole(bodies(credentials.of("author")))
    refused = [world.author.send("createToken", **{way: value}) for value in tried]
    sign_in.claim_no_token(expect(clause), refused)
    sign_in.token_of(world.author, credentials.of("author"))
