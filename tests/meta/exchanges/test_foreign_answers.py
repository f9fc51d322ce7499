"""Which answers count as foreign: by what the operation must answer, and by how it has answered before.

Also what tolerant readers must not accept. The services that a proof draws show that they find everything else.
"""

from collections.abc import Callable
from typing import Any

import pytest

from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Body, Headers, Response, in_utf8
from registry_contracts.exchanges.foreign_answers import ForeignAnswers, perhaps_foreign
from registry_contracts.exchanges.readers import Ambiguous
from tests.meta.messages import answer, exchange
from tests.meta.samples import TAKEN as MESSAGE

WAF: dict[str, Any] = {"X-Amzn-Waf-Action": "challenge"}
SHORT: dict[str, Any] = {"Content-Length": "6"}
LONG: dict[str, Any] = {"Content-Length": "52"}
COUNT: dict[str, Any] = {"X-Total-Count": "0"}
BLOCK = "https://block.test"
EMPTY, PLAIN = "an empty body with", "a body of type text/plain with"
#: An answer of another operation, which shows that the service is there.
OTHER = ("getDraftInfo", answer({"size": 1}))
SAVES = [("saveDraft", answer({}, 201)), ("saveDraft", answer({}, 200))]
HEADS = [("draftExists", answer(**LONG))] * 2
DELETES = [("deleteDraft", answer(None, 204, ""))] * 2


def taken(*answers: tuple[str, Response]) -> list[str | None]:
    """The faults that are seen in a series of answers."""
    methods = {"draftExists": "HEAD", "saveDraft": "PUT", "deleteDraft": "DELETE", "createToken": "POST"}
    methods |= {"createWorkflowRecord": "POST", "createContact": "POST"}
    foreign = ForeignAnswers()
    return [
        foreign.take(exchange(given, operation, method=methods.get(operation, "GET")))
        for operation, given in answers
    ]


@pytest.mark.parametrize(
    ("before", "operation", "given", "says"),
    [
        # The document shows the body of a success.
        *(([], each, answer(), EMPTY) for each in ("createToken", "getDraft", "getDraftInfo", "listDrafts")),
        ([], "getDraft", answer(b"OK", media="text/plain"), PLAIN),
        ([], "getDraft", answer(None, 204), None),
        ([], "getDraft", answer(b"null"), None),
        ([], "getDraft", answer(b'{"a": ', **SHORT), None),
        ([], "getDraft", answer(None, 404), None),
        ([], "createWorkflowRecord", answer(None, 201), EMPTY),
        ([], "createWorkflowRecord", answer(None, 201, Location="/records/1"), None),
        ([], "getAttachment", answer(b"OK", media="text/plain"), None),
        ([], "getAttachment", answer(), EMPTY),
        # The document does not show it, so earlier successes decide.
        ([], "saveDraft", answer(), None),
        (SAVES, "saveDraft", answer(), EMPTY),
        (SAVES, "saveDraft", answer({}, 202), None),
        (SAVES, "saveDraft", answer(None, 201, Location="/records/1"), None),
        (SAVES, "saveDraft", answer(None, 204), None),
        # A service may vary its statuses, and send other headers with writes than with reads.
        (DELETES, "deleteDraft", answer(), None),
        ([("getDraft", answer({}, Date="today"))] * 4, "saveDraft", answer({}), None),
        ([("listDrafts", answer([], **COUNT))] * 4, "getDraft", answer({}), None),
        (HEADS, "draftExists", answer(), EMPTY),
        (HEADS, "draftExists", answer(media="text/plain", **LONG), "a body of type"),
        # Statuses and headers of intermediaries.
        ([], "createContact", answer({}, 520, Server="cloudflare"), "status 520 (server: cloudflare)"),
        *(([], "createContact", answer({}, odd), f"status {odd}") for odd in (408, 499, 511, 299, 999)),
        *(([], "createContact", answer({}, status), None) for status in (500, 501, 418)),
        ([], "saveDraft", answer({}, 202, **WAF), "a filter's challenge"),
        # After a challenge an empty success is odd; after an answer that broke off it is not.
        ([("saveDraft", answer({}, 202, **WAF))], "createContact", answer(), EMPTY),
        ([("listDrafts", answer(b'[{"a": '))], "createContact", answer(), None),
        ([("saveDraft", answer({}, 202, **WAF)), *DELETES], "deleteDraft", answer(), EMPTY),
        ([], "saveDraft", answer(None, 302, Location=f"{BLOCK}/"), f"a redirect to {BLOCK}"),
        ([], "saveDraft", answer(None, 302, Location="/elsewhere"), None),
        (
            [],
            "createToken",
            answer(None, 302, Location=f"{BLOCK}/?next=secret"),
            f"a redirect to {BLOCK} instead",
        ),
        ([], "saveDraft", answer(None, 303, Location="https://inside.test/api/v2013/documents/a"), None),
        ([], "draftExists", answer(None, 200, "text/html", **LONG), "an HTML page with"),
    ],
)
def test_what_an_operation_owes_decides(
    before: list[tuple[str, Response]], operation: str, given: Response, says: str | None
) -> None:
    *_, last = taken(*before, (operation, given))
    assert last is None if says is None else (last or "").startswith(says)


@pytest.mark.parametrize("odd", [answer(), answer(b"OK", media="text/plain"), answer({}, 520)])
def test_repeated_odd_answers_are_the_services_own_if_others_are_answered(odd: Response) -> None:
    again = ("getDraft", odd)
    assert [bool(each) for each in taken(again, again, OTHER, again)] == [True, True, False, False]
    assert all(taken(again, again, again, again))
    assert all(taken(OTHER, again, again, again)[1:])
    right = ("getDraft", answer({}))
    now_and_then = taken(*[right, again, OTHER, again] * 3)
    assert [each is not None for each in now_and_then] == [False, True, False, True] * 3


def test_an_answer_without_the_usual_headers_is_odd() -> None:
    theirs: dict[str, Any] = {"Date": "today", "Server": "own/1.0", "X-Request-Id": "1"}
    without = "status 200 without date, server own/1.0, x-request-id, as all others have it"
    reads = [("getDraft", answer({}, **theirs))] * 3
    assert taken(*reads, ("getDraft", answer({})))[-1] == without
    # Even the first answer of its operation is, if all others have the headers; until it is always without them.
    of_others = [(each, answer([{}], **theirs)) for each in ("listDrafts", "getDraft", "getDraftInfo")]
    bare = ("draftExists", answer(**LONG))
    assert taken(*of_others, bare)[-1] == without
    again = taken(*of_others, bare, of_others[0], bare, bare, bare)
    assert again[-2:] == [None, None]


DATED: dict[str, Any] = {"Date": "today"}
FORBIDDEN = {"message": "Forbidden"}


def read(foreign: ForeignAnswers, **headers: Any) -> ForeignAnswers:
    """Let it take three reads with some headers."""
    for operation in ("createToken", "listDrafts", "getDraft"):
        foreign.take(exchange(answer([{}], **headers), operation))
    return foreign


def test_a_refusal_without_date_may_be_foreign_if_all_reads_have_one() -> None:
    for before, doubtful in ((DATED, True), ({}, False)):
        foreign = read(ForeignAnswers(), **before)
        for headers, odd in (({}, doubtful), (DATED, False)):
            refused = exchange(answer(FORBIDDEN, 403, **headers), "saveDraft", method="PUT")
            assert foreign.take(refused) is None
            assert bool(perhaps_foreign(refused)) is odd


def test_a_filter_that_refuses_the_first_sign_in_does_not_hide_that_reads_have_a_date() -> None:
    foreign, blocked = ForeignAnswers(), exchange(answer(FORBIDDEN, 403), "createToken", method="POST")
    foreign.take(blocked)
    read(foreign, **DATED).take(blocked)
    assert perhaps_foreign(blocked)


def test_a_write_without_date_may_be_foreign_if_writes_usually_have_one() -> None:
    for headers, doubtful in ((DATED, True), ({}, False)):
        foreign = read(ForeignAnswers(), **DATED)
        for _ in range(5):
            foreign.take(exchange(answer({}, 201, **headers), "saveDraft", method="PUT"))
        removed = exchange(answer(), "deleteDraft", method="DELETE")
        assert foreign.take(removed) is None
        assert bool(perhaps_foreign(removed)) is doubtful


def test_a_cached_answer_may_be_foreign_if_others_were_not_cached() -> None:
    stored, fresh = answer({}, Age="7"), answer({})
    for answers, doubtful in (([stored, stored], False), ([fresh, stored], True)):
        foreign = ForeignAnswers()
        read = [exchange(each, "getDraft") for each in answers]
        assert [foreign.take(each) for each in read] == [None, None]
        assert bool(perhaps_foreign(read[-1])) is doubtful


def test_an_odd_answer_that_its_retry_does_not_get_shows_interference() -> None:
    foreign = ForeignAnswers()
    bare, refused = answer(), answer({}, 400)

    def take(given: Response, retries: int = 0) -> str | None:
        return foreign.take(exchange(given, "updateContact", method="PUT", retries=retries))

    # A draft that is gone a moment later shows no interference.
    assert foreign.take(exchange(bare, "getDraft", method="GET"))
    assert foreign.take(exchange(refused, "getDraft", method="GET", retries=1)) is None
    for given in (answer({}), answer({})):
        assert take(given) is None
    assert not foreign.interfered()
    for _ in range(4):
        assert take(bare)
        assert take(refused, retries=1) is None
    assert foreign.interfered()
    # From now on bare successes of operations that have not succeeded yet are odd too.
    assert foreign.take(exchange(bare, "createContact", method="POST"))


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
