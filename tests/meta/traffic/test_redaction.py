"""Secrets of other programs' traffic are learned from their places, and never kept."""

import json
from typing import Any

import pytest

from registry_contracts.exchanges.exchange import exchange_entry
from registry_contracts.exchanges.redaction import redacted
from registry_contracts.file_formats import plain
from registry_contracts.traffic.redaction import NOT_UNDERSTOOD, TrafficRedactor
from tests.meta import messages

SIGN_IN = "https://registry.test/api/v2013/authentication/token"
PASSWORD = "hunter2-correct-horse"


@pytest.mark.parametrize(
    "body",
    [
        f"{{'email': 'a@b.test', 'password': '{PASSWORD}'}}",
        f'{{"email": "a@b.test", "password": "{PASSWORD}',
        json.dumps(json.dumps({"email": "a@b.test", "password": PASSWORD})),
        json.dumps(["a@b.test", PASSWORD]),
        json.dumps({"email": "a@b.test", "password": [PASSWORD]}),
        json.dumps({"email": "a@b.test", "pass": PASSWORD}),
        f"<password>{PASSWORD}</password>",
    ],
    ids=["single quotes", "unterminated", "packed twice", "array", "nested", "other name", "xml"],
)
def test_of_a_sign_in_that_is_not_understood_no_word_is_kept(body: str) -> None:
    redactor = TrafficRedactor()
    refused = messages.exchange(
        messages.response(200, f"what is {body}?".encode()),
        request_body=body.encode(),
        url=SIGN_IN,
        method="POST",
    )
    redactor.learn_from(refused)
    kept = json.dumps(plain(exchange_entry(redacted(refused, redactor))))
    assert PASSWORD not in kept
    assert NOT_UNDERSTOOD in kept


@pytest.mark.parametrize("secret", [r"horse\u0041-battery", r"\\u0041\\u0042", "horse"])
@pytest.mark.parametrize("name", ["password", r"p\u0061ssword"])
def test_the_secret_of_a_member_is_read_as_json_reads_it(secret: str, name: str) -> None:
    redactor = TrafficRedactor()
    body = f'{{"{name}": {json.dumps(secret)}}}'.encode()
    redactor.learn_from(messages.exchange(request_body=body))
    assert redactor.knows(secret)


def test_no_length_tells_that_of_a_password() -> None:
    body = json.dumps({"email": "a@b.test", "password": PASSWORD}).encode()
    length = {"Content-Length": str(len(body)), "Accept": "application/json"}
    parts: dict[str, Any] = {"request_headers": length, "url": SIGN_IN, "method": "POST"}
    sent = messages.exchange(messages.response(200, b"{}"), request_body=body, **parts)
    redactor = TrafficRedactor()
    redactor.learn_from(sent)
    assert dict(redacted(sent, redactor).request_headers) == {"Accept": "application/json"}
