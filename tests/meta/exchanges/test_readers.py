"""What only looks like what is promised is not taken for it; what a reader makes of odd answers.

That readers find it wherever it stands is shown by the services that a proof draws.
"""

from collections.abc import Callable
from typing import Any

import pytest

from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Body, Headers, Response, in_utf8
from registry_contracts.exchanges.readers import Ambiguous
from tests.meta.messages import answer
from tests.meta.samples import TAKEN as MESSAGE

ID = "rc-abcd-12345"
DOCUMENT = {"title": {"en": "é"}, "list": [1, {"a": None}], "flag": True}


def says(response: Response) -> bool:
    return readers.contains_message(response, MESSAGE)


def carries(response: Response) -> bool:
    return readers.carries_identifier(response, ID)


def holds(response: Response) -> bool:
    return readers.holds_document(response, DOCUMENT)


@pytest.mark.parametrize(
    ("read", "body", "found"),
    [
        (carries, f"created {ID}.".encode(), True),
        (carries, {"identifier": ID + "6"}, False),
        (carries, {"identifier": "x-" + ID}, False),
        (carries, None, False),
        (says, {"message": MESSAGE.replace("'", "’")}, True),
        (says, {"message": MESSAGE.lower()}, False),
        (says, None, False),
        (holds, {**DOCUMENT, "list": [1.0, {"a": None}]}, True),
        (holds, {**DOCUMENT, "flag": 1}, False),
        (holds, {**DOCUMENT, "list": [{"a": None}, 1]}, False),
        (holds, {**DOCUMENT, "list": [1, {}]}, False),
        (holds, None, False),
    ],
)
def test_a_promise_is_told_from_a_lookalike(read: Callable[[Response], bool], body: Any, found: bool) -> None:
    assert read(answer(body)) is found


@pytest.mark.parametrize(
    ("read", "body", "found"),
    [
        (readers.errors, {"errors": {"code": 1}}, None),
        (readers.errors, {"errors": [{"code": 1}], "inner": {"errors": []}}, [{"code": 1}]),
        (readers.errors, {"errors": ["a text"], "inner": {"errors": [{"code": 1}]}}, [{"code": 1}]),
        (readers.errors, b"errors", None),
        (readers.records, {ID: {"a": 1}}, [{ID: {"a": 1}}]),
        (readers.records, {ID: 1}, None),
        (readers.records, {}, None),
        (readers.errors, {"errors": [1], "inner": {"errors": [2]}}, Ambiguous),
        (readers.records, {"mine": [{"a": 1}], "theirs": [{"a": 2}]}, Ambiguous),
    ],
)
def test_an_array_is_found_or_is_ambiguous(read: Callable[[Response], Any], body: Any, found: Any) -> None:
    if found is Ambiguous:
        with pytest.raises(Ambiguous):
            read(answer(body))
    else:
        assert read(answer(body)) == found


@pytest.mark.parametrize(
    ("label", "encoded", "charset"),
    [
        ("application/json; charset=utf-16", "utf-16", "utf-16"),
        ("application/json", "utf-16-le", "utf-16-le"),
        ("application/json; charset=ISO-8859-1", "latin-1", "iso8859-1"),
        ("application/json; charset=iso-8859-1", "utf-8", ""),
        ("application/json; charset=unheard-of", "utf-8", ""),
    ],
)
def test_json_in_another_charset_is_read_and_told(label: str, encoded: str, charset: str) -> None:
    content = '{"name": "Zoë"}'.encode(encoded)
    response = in_utf8(Response(200, "", Headers({"Content-Type": label}), Body.of(content)))
    assert response.charset == charset
    assert ("instead of UTF-8" in response.quote()) == bool(charset)
    assert response.json == {"name": "Zoë"}
