"""Draft versions in the sandbox: what is saved is what is read, per realm, until it is deleted."""

import json
from typing import Any

import pytest

CONTENT = (
    '{"z": 1, "a": {"nested": [null, true, -0.0, 1.10, 1E+2, 123456789012345678901234567890]}, '
    '"é 漢字 😀": "\\u0000 \\/ \\u00e9", "": [], "b": ""}'
)


def path(uid: str, rest: str = "") -> str:
    return f"/api/v2013/documents/{uid}/versions/draft{rest}"


def save(client: Any, uid: str, text: str = "{}", schema: str = "contact") -> Any:
    headers = {"Content-Type": "application/json"}
    return client.put(path(uid, f"?schema={schema}"), data=text.encode(), headers=headers)


def test_a_draft_comes_back_exactly_as_it_was_saved(caller: Any, uid: str) -> None:
    author = caller()
    assert save(author, uid, CONTENT).status_code == 201
    answer = author.get(path(uid))
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.content.decode() == CONTENT


def test_saving_again_replaces_the_draft(caller: Any, uid: str) -> None:
    author = caller()
    created = save(author, uid, '{"a": 1}').json()
    assert save(author, uid, '{"b": 2}', "absPermit").status_code == 200
    assert author.get(path(uid)).json() == {"b": 2}
    info = author.get(path(uid, "/info")).json()
    assert info["createdOn"] == created["createdOn"]
    assert info["updatedOn"] >= created["updatedOn"]
    assert info["schema"] == "absPermit"


def test_info_tells_about_the_draft_without_its_content(caller: Any, uid: str) -> None:
    save(caller(), uid, '{"a": "é"}')
    info = caller("other").get(path(uid, "/info")).json()
    assert info.keys() == {"identifier", "schema", "realm", "owner", "createdOn", "updatedOn", "size"}
    assert (info["identifier"], info["realm"], info["owner"]) == (uid, "abs-dev", "author")
    assert info["size"] == len('{"a": "é"}'.encode())


def test_exists_answers_without_content_and_with_the_length_of_get(caller: Any, uid: str) -> None:
    author = caller()
    assert author.head(path(uid)).status_code == 404
    save(author, uid, CONTENT)
    answer = author.head(path(uid))
    assert (answer.status_code, answer.content) == (200, b"")
    assert int(answer.headers["Content-Length"]) == len(CONTENT.encode())


def test_a_deleted_draft_is_gone_for_every_operation(caller: Any, uid: str) -> None:
    author = caller()
    save(author, uid)
    deleted = author.delete(path(uid))
    assert (deleted.status_code, deleted.content) == (204, b"")
    refused = [
        author.get(path(uid)),
        author.get(path(uid, "/info")),
        author.head(path(uid)),
        author.delete(path(uid)),
    ]
    assert [answer.status_code for answer in refused] == [404, 404, 404, 404]
    assert save(author, uid).status_code == 201


def test_deleting_the_draft_leaves_the_published_version(caller: Any, contact: dict[str, Any]) -> None:
    author = caller()
    uid = author.post("/api/v2013/documents?schema=contact", json=contact).json()["identifier"]
    save(author, uid)
    assert author.delete(path(uid)).status_code == 204
    assert author.put(f"/api/v2013/documents/{uid}?schema=contact", json=contact).status_code == 200


def test_the_same_uid_in_two_realms_is_two_drafts(caller: Any, uid: str) -> None:
    save(caller(realm="abs-dev"), uid, '{"realm": "abs-dev"}')
    assert caller(realm="bch-dev").get(path(uid)).status_code == 404
    save(caller(realm="bch-dev"), uid, '{"realm": "bch-dev"}')
    assert caller(realm="abs-dev").get(path(uid)).json() == {"realm": "abs-dev"}
    caller(realm="abs-dev").delete(path(uid))
    assert caller(realm="bch-dev").get(path(uid)).json() == {"realm": "bch-dev"}


def test_somebody_elses_draft_is_read_but_not_changed(caller: Any, uid: str) -> None:
    save(caller("author"), uid, '{"a": 1}')
    for role in ("other", "nau", "restricted"):
        stranger = caller(role)
        assert stranger.get(path(uid)).json() == {"a": 1}
        assert save(stranger, uid, '{"a": 2}').status_code == 403
        assert stranger.delete(path(uid)).status_code == 403
    assert caller("author").get(path(uid)).json() == {"a": 1}


def test_a_draft_of_somebody_elses_published_record_is_not_taken(caller: Any) -> None:
    assert save(caller("other"), "sandbox-existing-abs-dev").status_code == 403
    assert caller("other").get(path("sandbox-existing-abs-dev")).status_code == 404


def test_a_restricted_account_saves_nothing(caller: Any, uid: str) -> None:
    assert save(caller("restricted"), uid).status_code == 403
    assert caller().get(path(uid)).status_code == 404


def test_a_locked_record_still_takes_a_draft(caller: Any) -> None:
    assert save(caller(), "sandbox-locked-abs-dev", '{"a": 1}').status_code == 200


def test_uids_are_case_sensitive(caller: Any, uid: str) -> None:
    save(caller(), uid)
    assert caller().get(path(uid.upper())).status_code == 404


@pytest.mark.parametrize(
    "query", ["", "?schema=", "?schema=bchDecision", "?schema=Contact", "?Schema=contact"]
)
def test_save_needs_a_schema_of_the_realm(caller: Any, uid: str, query: str) -> None:
    assert caller().put(path(uid, query), json={}).status_code == 400
    assert caller().get(path(uid)).status_code == 404


@pytest.mark.parametrize("body", [[], "text", 1, None, True, [{}]])
def test_a_draft_is_a_json_object(caller: Any, uid: str, body: Any) -> None:
    assert save(caller(), uid, json.dumps(body)).status_code == 400


@pytest.mark.parametrize(
    "realm", [None, "", "abs", "ABS-DEV", "nowhere", "ort-dev", "abs-dev, bch-dev", "abs-dev "]
)
def test_draft_operations_need_a_document_realm(caller: Any, uid: str, realm: str | None) -> None:
    # A header's outer white space is not part of its value.
    expected = 201 if realm == "abs-dev " else 400
    client = caller(realm=None)
    headers = {} if realm is None else {"Realm": realm.strip() + " " * realm.endswith(" ")}
    answer = client.put(path(uid, "?schema=contact"), json={}, headers=headers)
    assert answer.status_code == expected


def test_the_realm_is_not_taken_from_the_query(caller: Any, uid: str) -> None:
    answer = caller(realm=None).put(path(uid, "?schema=contact&Realm=abs-dev"), json={})
    assert answer.status_code == 400
