"""Workflow submission in the sandbox: the nine rows, which comes first, and the five steps."""

from typing import Any

import pytest

SCHEMA = "/api/v2023/documents/schemas/absPermit"
LOCKED = "sandbox-locked-abs-dev"
EXISTING = "sandbox-published-abs-dev"
OTHERS = "sandbox-foreign-abs-dev"

MISSING = "realm param is missing, please provide valid realm in querystring or httpHeaders"
UNKNOWN = "Realm is not configured, please provide valid realm."
NO_SCHEMA = "Schema not configured for the given realm {}."
IN_USE = "A document with the identifier exists, please use a different 'identifier'."
NOT_THERE = "A document with the identifier does not exist, please provide correct 'identifier' to update."
IS_LOCKED = "The record is locked for workflow, cannot proceed."
NO_UPDATE = "Insufficient rights to update the draft record."
NO_CREATE = "Insufficient rights to create a draft record."
ANONYMOUS = "Authorization required, user is anonymous."


def row(answer: Any) -> tuple[int, str]:
    body = answer.json()
    assert body["statusCode"] == answer.status_code
    return answer.status_code, body["message"]


def draft(client: Any, uid: str) -> Any:
    return client.get(f"/api/v2013/documents/{uid}/versions/draft")


def test_a_valid_submission_is_saved_and_locks_the_record(
    caller: Any, permit: dict[str, Any], uid: str
) -> None:
    author = caller()
    answer = author.post(f"{SCHEMA}/{uid}", json={"document": permit})
    assert (answer.status_code, answer.json()["identifier"]) == (201, uid)
    assert draft(author, uid).json() == permit
    assert row(author.put(f"{SCHEMA}/{uid}", json={"document": permit})) == (400, IS_LOCKED)
    assert row(author.post(f"{SCHEMA}/{uid}", json={"document": permit})) == (400, IN_USE)


def test_without_identifier_one_is_made(caller: Any, permit: dict[str, Any]) -> None:
    author = caller()
    answers = [author.post(SCHEMA, json={"document": permit}).json()["identifier"] for _ in range(2)]
    assert answers[0] != answers[1]
    assert draft(author, answers[0]).json() == permit


def test_the_headers_identifier_stands_in_for_the_paths(
    caller: Any, permit: dict[str, Any], uid: str
) -> None:
    permit["header"] = {"identifier": uid, "schema": "absPermit", "languages": ["en"]}
    assert caller().post(SCHEMA, json={"document": permit}).json()["identifier"] == uid
    assert row(caller().post(SCHEMA, json={"document": permit})) == (400, IN_USE)


def test_an_update_takes_an_existing_draft(caller: Any, permit: dict[str, Any], uid: str) -> None:
    author = caller()
    author.put(f"/api/v2013/documents/{uid}/versions/draft?schema=absPermit", json={"old": 1})
    answer = author.put(f"{SCHEMA}/{uid}", json={"document": permit})
    assert (answer.status_code, answer.json()["identifier"]) == (200, uid)
    assert draft(author, uid).json() == permit


def test_the_realm_is_taken_from_header_or_query_and_the_header_wins(
    caller: Any, permit: dict[str, Any]
) -> None:
    body = {"document": permit}
    assert caller(realm=None).post(f"{SCHEMA}?Realm=abs-dev", json=body).status_code == 201
    assert caller(realm="abs-dev").post(f"{SCHEMA}?Realm=nowhere", json=body).status_code == 201
    assert row(caller(realm="nowhere").post(f"{SCHEMA}?Realm=abs-dev", json=body)) == (400, UNKNOWN)


@pytest.mark.parametrize("query", ["", "?Realm=", "?realm=abs-dev"])
def test_no_realm_is_the_first_row(caller: Any, query: str) -> None:
    assert row(caller(realm=None).post(SCHEMA + query, json={})) == (400, MISSING)


@pytest.mark.parametrize("realm", ["abs", "bch", "chm", "ort", "ABS-DEV", "nowhere"])
def test_an_unknown_realm_is_the_second_row(caller: Any, realm: str) -> None:
    assert row(caller(realm=realm).post(SCHEMA, json={})) == (400, UNKNOWN)
    assert row(caller(realm=None).put(f"{SCHEMA}/{EXISTING}?Realm={realm}", json={})) == (400, UNKNOWN)


@pytest.mark.parametrize("schema", ["bchDecision", "abspermit", "nothing", "absPermit%20", "%FF"])
def test_an_unknown_schema_is_the_third_row(caller: Any, schema: str) -> None:
    path = f"/api/v2023/documents/schemas/{schema}"
    expected = (400, NO_SCHEMA.format("abs-dev"))
    assert row(caller().post(path, json={})) == expected
    assert row(caller().put(f"{path}/{LOCKED}", json={})) == expected


@pytest.mark.parametrize("identifier", [LOCKED, EXISTING, OTHERS, "sandbox-existing-abs-dev"])
def test_an_identifier_in_use_is_the_fourth_row(caller: Any, permit: dict[str, Any], identifier: str) -> None:
    assert row(caller().post(f"{SCHEMA}/{identifier}", json={"document": permit})) == (400, IN_USE)


def test_an_identifier_that_does_not_exist_is_the_fifth_row(
    caller: Any, permit: dict[str, Any], uid: str
) -> None:
    assert row(caller().put(f"{SCHEMA}/{uid}", json={"document": permit})) == (400, NOT_THERE)
    assert draft(caller(), uid).status_code == 404


def test_a_record_of_another_realm_does_not_exist_here(caller: Any, permit: dict[str, Any]) -> None:
    answer = caller().put(f"{SCHEMA}/sandbox-existing-bch-dev", json={"document": permit})
    assert row(answer) == (400, NOT_THERE)


def test_a_locked_record_is_the_sixth_row(caller: Any, permit: dict[str, Any]) -> None:
    assert row(caller().put(f"{SCHEMA}/{LOCKED}", json={"document": permit})) == (400, IS_LOCKED)


@pytest.mark.parametrize(
    ("role", "identifier"), [("restricted", EXISTING), ("other", EXISTING), ("author", OTHERS)]
)
def test_who_may_not_update_gets_the_seventh_row(
    caller: Any, permit: dict[str, Any], role: str, identifier: str
) -> None:
    before = draft(caller(), identifier).text
    answer = caller(role).put(f"{SCHEMA}/{identifier}", json={"document": permit})
    assert row(answer) == (403, NO_UPDATE)
    assert draft(caller(), identifier).text == before


def test_who_may_not_create_gets_the_eighth_row(caller: Any, permit: dict[str, Any], uid: str) -> None:
    restricted = caller("restricted")
    assert row(restricted.post(f"{SCHEMA}/{uid}", json={"document": permit})) == (403, NO_CREATE)
    assert row(restricted.post(SCHEMA, json={"document": permit})) == (403, NO_CREATE)
    assert draft(caller(), uid).status_code == 404


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic YTpi"}])
def test_no_valid_identity_is_the_ninth_row(
    caller: Any, permit: dict[str, Any], headers: dict[str, str]
) -> None:
    anonymous = caller(None)
    body = {"document": permit}
    assert row(anonymous.post(SCHEMA, json=body, headers=headers)) == (403, ANONYMOUS)
    assert row(anonymous.put(f"{SCHEMA}/{EXISTING}", json=body, headers=headers)) == (403, ANONYMOUS)


FAULTY = {"document": {"nothing": 1}}


@pytest.mark.parametrize(
    ("who", "request_line", "expected"),
    [
        ((None, None), ("POST", "/api/v2023/documents/schemas/nothing"), (403, ANONYMOUS)),
        (("author", None), ("POST", "/api/v2023/documents/schemas/nothing"), (400, MISSING)),
        (("author", "nowhere"), ("POST", "/api/v2023/documents/schemas/nothing"), (400, UNKNOWN)),
        (
            ("restricted", "abs-dev"),
            ("PUT", f"/api/v2023/documents/schemas/nothing/{LOCKED}"),
            (400, NO_SCHEMA.format("abs-dev")),
        ),
        (("restricted", "abs-dev"), ("POST", f"{SCHEMA}/{LOCKED}"), (400, IN_USE)),
        (("restricted", "abs-dev"), ("PUT", f"{SCHEMA}/{LOCKED}"), (400, IS_LOCKED)),
        (("restricted", "abs-dev"), ("PUT", f"{SCHEMA}/nobody-has-this"), (400, NOT_THERE)),
        (("restricted", "abs-dev"), ("POST", f"{SCHEMA}/nobody-has-this"), (403, NO_CREATE)),
        (("restricted", "abs-dev"), ("PUT", f"{SCHEMA}/{EXISTING}"), (403, NO_UPDATE)),
    ],
)
def test_the_earlier_check_wins_over_all_later_ones(
    caller: Any, who: tuple[str | None, str | None], request_line: tuple[str, str], expected: tuple[int, str]
) -> None:
    assert row(caller(*who).request(*request_line, json=FAULTY)) == expected


def test_identity_realm_and_schema_come_before_the_body(caller: Any) -> None:
    headers = {"Content-Type": "application/json"}
    for who, expected in (
        ((None, "abs-dev"), ANONYMOUS),
        (("author", None), MISSING),
        (("author", "x"), UNKNOWN),
    ):
        assert row(caller(*who).post(SCHEMA, data=b"{", headers=headers))[1] == expected
