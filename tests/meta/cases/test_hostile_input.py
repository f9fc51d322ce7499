"""Bodies that are no JSON really are none, and hold what a kind reader would find in them."""

import json
import string
from collections.abc import Callable
from typing import Any

import pytest

from contracts.cases import hostile_input, sign_in
from contracts.cases.requests import Request
from contracts.interface.description import load_description

#: Operations that take a record, in whatever realm.
BODIES = [
    name
    for name in load_description().operations
    if name.endswith("Contact") or name == "saveDraft" or "WorkflowRecord" in name
]
Spoil = Callable[[dict[str, Any]], dict[str, bytes]]
VALUE = {"email": "somebody@example.test", "header": {"identifier": "rc-ab12"}}


@pytest.mark.parametrize("spoil", [hostile_input.malformed, hostile_input.dialects])
def test_no_malformed_body_can_be_read(spoil: Spoil) -> None:
    for body in spoil(VALUE).values():
        with pytest.raises(ValueError, match=r"."):
            json.loads(body)


@pytest.mark.parametrize("spoil", [hostile_input.malformed, hostile_input.dialects])
def test_a_malformed_body_holds_all_of_the_value(spoil: Spoil) -> None:
    assert all(b"somebody@example.test" in body for body in spoil(VALUE).values())


def test_the_sharpest_bodies_are_json_with_the_value_in_them() -> None:
    first, second, _ = odd_bodies("saveDraft", 0)
    assert json.loads(first) | VALUE == json.loads(first)
    assert second.count(b"{") > 1000


def test_every_odd_body_is_met_by_some_operation_in_some_realm() -> None:
    met = {
        body
        for operation in BODIES
        for realm in load_description().operations[operation].realms
        for body in odd_bodies(operation, hostile_input.turn_of(operation, realm))
    }
    assert met == set(odd_bodies("saveDraft", None))


def odd_bodies(operation: str, turn: int | None) -> list[bytes]:
    """The odd bodies that an operation gets."""
    return [each.body for each in hostile_input.odd_requests(Request(operation, body=VALUE), turn)]


@pytest.mark.parametrize("token", ["a1b2c3d4e5", "QUJD-defg_123", "QUJDdefg=="])
def test_altered_tokens_are_others(token: str) -> None:
    assert token not in sign_in.altered_tokens(token)


@pytest.mark.parametrize("token", ["0f" * 24, "ABCDEF0123", "eyJh.QUJD-defg_1.xY9=="])
def test_an_invented_token_has_the_form_of_a_real_one_and_shares_no_sign_with_it(token: str) -> None:
    other = sign_in.invented(token)
    assert [(sign.isdigit(), sign.islower(), sign.isupper()) for sign in other] == [
        (sign.isdigit(), sign.islower(), sign.isupper()) for sign in token
    ]
    assert all((sign == old) != sign.isalnum() for sign, old in zip(other, token, strict=True))
    assert set(other) <= set(string.hexdigits) or "." in token
