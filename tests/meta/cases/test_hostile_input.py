"""Odd bodies and texts are dealt out so that a run meets all of them; invented tokens look like real ones."""

import string

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
VALUE = {"email": "somebody@example.test", "header": {"identifier": "rc-ab12"}}


def test_the_realms_of_a_run_share_a_table_without_gap() -> None:
    dealt = [hostile_input.Deal(place, 3)(hostile_input.ODD_TEXTS) for place in range(3)]
    assert dealt[0] | dealt[1] | dealt[2] == hostile_input.ODD_TEXTS


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
