"""Tolerant readers find what is promised wherever it stands, and nothing that only looks like it."""

from collections.abc import Callable
from typing import Any

import pytest

from contracts.exchanges import readers
from contracts.exchanges.exchange import Body, Headers, Response, in_utf8
from contracts.exchanges.readers import Ambiguous
from tests.meta.messages import answer

ID = "rc-abcd-12345"


#: What names the identifier as a word, and what only looks like it.
NAMED: list[tuple[Any, bool]] = [
    ({"identifier": ID}, True),
    ({"href": f"/api/v2013/documents/{ID}/versions/draft"}, True),
    ({ID: {}}, True),
    ({"$this": ID}, True),
    ({"identifier": ID + "6"}, False),
    ({"identifier": "x-" + ID}, False),
    ({"identifier": ID.upper()}, False),
    ({}, False),
]


@pytest.mark.parametrize(
    ("body", "there"),
    [
        *NAMED,
        ({"data": [{"deep": {"_id": ID}}]}, True),
        (ID, True),
        ([ID], True),
        (f"created {ID}.".encode(), True),
        (None, False),
    ],
)
def test_an_identifier_is_found_as_a_word(body: Any, there: bool) -> None:
    assert readers.carries_identifier(answer(body), ID) is there
    assert readers.carries_identifier(answer(body, 201, location=f"/documents/{ID}"), ID)
    if (body, there) in NAMED:
        assert readers.names(body, ID) is there


MESSAGE = "A document with the identifier exists, please use a different 'identifier'."


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ({"message": MESSAGE}, True),
        ({"error": {"errors": [{"text": f"  {MESSAGE}  "}]}}, True),
        (MESSAGE, True),
        (MESSAGE.encode(), True),
        ({"message": MESSAGE.replace(" ", "\n ", 1)}, True),
        ({"message": MESSAGE.replace("'", "’")}, True),
        ({"message": f"Error: {MESSAGE} (code 7)"}, True),
        ({"message": MESSAGE.lower()}, False),
        ({"message": MESSAGE.replace("exists", "exist")}, False),
        ({}, False),
        (None, False),
    ],
)
def test_a_message_is_found_word_for_word(body: Any, found: bool) -> None:
    assert readers.contains_message(answer(body, 400), MESSAGE) is found


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ({"errors": [{"code": 1}]}, [{"code": 1}]),
        ({"body": {"errors": []}}, []),
        ({"errors": {"code": 1}}, None),
        ({"errors": [{"code": 1}], "inner": {"errors": []}}, [{"code": 1}]),
        ({"errors": ["a text"], "inner": {"errors": [{"code": 1}]}}, [{"code": 1}]),
        (b"errors", None),
    ],
)
def test_the_errors_array_is_found(body: Any, found: Any) -> None:
    assert readers.errors(answer(body)) == found


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ([], []),
        ([{"a": 1}], [{"a": 1}]),
        ({"items": [{"a": 1}], "tags": ["x"]}, [{"a": 1}]),
        ({"data": {"drafts": {"edges": [{"a": 1}]}}}, [{"a": 1}]),
        ({"links": [{"rel": "self"}], "mine": [{"a": 1}]}, [{"a": 1}]),
        ({"facets": [{"field": "schema"}], "results": [{"a": 1}], "mine": [{"a": 2}]}, [{"a": 1}]),
        ([1], [{"$this": 1}]),
        ([ID, {"a": 1}], [{"$this": ID}, {"a": 1}]),
        ({"items": [ID], "tags": ["x"]}, [{"$this": ID}]),
        ({ID: {"a": 1}}, [{ID: {"a": 1}}]),
        ({ID: 1}, None),
        ({}, None),
        (b"none", None),
    ],
)
def test_the_records_of_a_list_are_found(body: Any, found: Any) -> None:
    assert readers.records(answer(body)) == found


@pytest.mark.parametrize(
    ("read", "body"),
    [
        (readers.errors, {"errors": [1], "inner": {"errors": [2]}}),
        (readers.records, {"mine": [{"a": 1}], "theirs": [{"a": 2}]}),
    ],
)
def test_two_candidates_are_ambiguous(read: Callable[[Response], Any], body: Any) -> None:
    with pytest.raises(Ambiguous):
        read(answer(body))


DOCUMENT = {"title": {"en": "é"}, "list": [1, {"a": None}], "flag": True}


@pytest.mark.parametrize(
    ("body", "held"),
    [
        (DOCUMENT, True),
        ({"body": {**DOCUMENT, "more": 1}}, True),
        ([{"draft": {**DOCUMENT, "title": {"en": "é", "fr": "è"}}}], True),
        ({**DOCUMENT, "list": [1.0, {"a": None}]}, True),
        ({**DOCUMENT, "flag": 1}, False),
        ({**DOCUMENT, "list": [{"a": None}, 1]}, False),
        ({**DOCUMENT, "list": [1, {}]}, False),
        ({**DOCUMENT, "title": {"en": "e"}}, False),
        ({"title": DOCUMENT["title"]}, False),
        (None, False),
    ],
)
def test_a_document_is_found_whole(body: Any, held: bool) -> None:
    assert readers.holds_document(answer(body), DOCUMENT) is held


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({**DOCUMENT, "title": {"en": "e"}}, "document.title.en is 'e' where 'é' was saved"),
        ({**DOCUMENT, "title": {}}, "document.title.en is missing"),
        ({"title": {"en": "x"}}, "; nor as saved: document.list, document.flag"),
        (None, "no JSON object in the answer"),
    ],
)
def test_the_difference_names_the_place(body: Any, words: str) -> None:
    assert words in readers.difference(answer(body), DOCUMENT)


def test_numbers_are_found_also_as_text() -> None:
    assert list(readers.integers({"id": "17", "n": [3, True, 2.5, "x1", "²"]})) == [17, 3]


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        ({"a": 1, "readOn": "10:00"}, {"a": 1, "readOn": "10:01"}, {"a": 1}),
        ({"draft": {"a": [1], "age": 3}}, {"draft": {"a": [1], "age": 4}}, {"draft": {"a": [1]}}),
        ({"a": [1, 2]}, {"a": [2, 1]}, {}),
        ({"a": 1}, {"b": 1}, {}),
        (
            {"readOn": "2026-01-01T10:00:00.5Z", "draft": {"header": {}, "at": "2026-01-01T10:00:00.5Z"}},
            {"readOn": "2026-01-01T10:00:00.5Z", "draft": {"header": {}, "at": "2026-01-01T10:00:00.5Z"}},
            {"draft": {"header": {}, "at": "2026-01-01T10:00:00.5Z"}},
        ),
    ],
    ids=["a time", "nested", "an array", "a name", "a moment beside a document"],
)
def test_two_readings_have_in_common_what_did_not_change(first: Any, second: Any, kept: Any) -> None:
    assert readers.common(first, second) == kept


@pytest.mark.parametrize(
    ("record", "ranked"),
    [
        ({"size": 9, "attachmentId": 4, "ownerId": 7}, [(0, 4), (1, 7), (2, 9)]),
        ({"name": "a.txt", "url": "/api/v2013/documents/rc-1/attachments/12/a.txt"}, [(1, 12)]),
        (12, [(0, 12)]),
        ("12", [(0, 12)]),
        ([12], []),
        (None, []),
    ],
)
def test_numbers_that_may_be_ids_come_first(record: Any, ranked: Any) -> None:
    assert readers.ranked_integers(record) == ranked


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
    assert ("where JSON is in UTF-8" in response.quote()) == bool(charset)
    assert response.json == ({"name": "Zoë"} if response.json_labelled else None)


@pytest.mark.parametrize(
    ("location", "says"),
    [
        ("https://login.example.test/?next=secret", "a redirect to https://login.example.test in place"),
        ("/login", "a redirect to another path in place"),
    ],
)
def test_a_sign_in_that_is_redirected_is_answered_by_something_else(location: str, says: str) -> None:
    redirect = Response(302, "", Headers({"Location": location}))
    told = readers.environment_fault(redirect, "createToken")
    assert told is not None
    assert told.startswith(says)
    assert "secret" not in told
    assert readers.environment_fault(redirect, "getAttachment") is None
