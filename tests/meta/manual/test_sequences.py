"""Contradictions between exchanges: remarks where others may have written, faults where nothing else explains them."""

from typing import Any

import pytest

from contracts.manual.traffic_findings import Standing, TrafficFinding
from tests.meta.manual.sample_traffic import TOKEN, Client

SIGN_IN = "/api/v2013/authentication/token"
LIST = "/api/v2013/document-drafts"
MINE = "/api/v2013/documents/a-draft-of-mine/versions/draft"
OTHER = "/api/v2013/documents/another-draft-of-mine/versions/draft"
SUBMIT = "/api/v2023/documents/schemas/absPermit/a-draft-of-mine"
FILES = "/api/v2013/documents/a-document-of-mine/attachments"
FILE: dict[str, Any] = {"realm": None, "sent": b"bytes"}
BOB = "another-token-of-forty-characters-012345"
X, Y = {"title": "x"}, {"title": "y"}
UNKNOWN = "A document with the identifier does not exist, please provide correct 'identifier' to update."
#: One exchange: method, address, status, answer, what else of it, and the clauses that its answer contradicts.
Step = tuple[str, str, int, Any, dict[str, Any], set[str]]


def step(method: str, path: str, status: int, answer: Any = None, *breaks: str, **more: Any) -> Step:
    return method, path, status, answer, more, set(breaks)


def signed_in(name: str, token: str) -> Step:
    signed = {"authenticationToken": token, "expiration": "2026-11-21T13:00:00.000Z"}
    credentials = {"email": f"{name}@registry.test", "password": f"a-secret-of-{name}"}
    return step("POST", SIGN_IN, 200, signed, sent=credentials, realm=None, Authorization=None)


def attached(number: int) -> Step:
    return step("POST", f"{FILES}/{number}.txt", 201, {"id": number}, **FILE)


SAVED = step("PUT", MINE, 201, {}, sent=X)
SUBMITTED = step("POST", SUBMIT, 201, {"identifier": "a-draft-of-mine"}, sent={"document": X})
LISTED = [{"identifier": "a-draft-of-mine"}]
AS_BOB = {"Authorization": f"Bearer {BOB}"}
SEQUENCES: dict[str, list[Step]] = {
    "what is read is what was saved": [
        SAVED,
        step("GET", MINE, 200, {"body": {"title": "x", "more": 1}}),
        step("GET", MINE, 200, Y, "draft-get-content"),
        step("HEAD", MINE, 404, None, "draft-exists-present"),
    ],
    "a deleted draft is gone": [
        SAVED,
        step("DELETE", MINE, 204),
        step("HEAD", MINE, 200, None, "draft-delete-removes"),
        step("GET", MINE, 200, X, "draft-delete-content-gone"),
        step("GET", LIST, 200, LISTED, "list-deleted-gone"),
        step("GET", LIST, 200, []),
    ],
    # Whether a service minds is not shown; one that has taken such a read does not.
    "a read without Content-Type is unknown until one was taken": [
        SAVED,
        step("GET", MINE, 404, Content_Type=None),
        step("GET", MINE, 200, X, Content_Type=None),
        step("GET", MINE, 404, None, "draft-get-content", Content_Type=None),
        step("HEAD", MINE, 404, Content_Type=None),
    ],
    "another realm": [SAVED, step("HEAD", MINE, 404, realm="bch-dev")],
    "another account": [SAVED, step("HEAD", MINE, 404, **AS_BOB)],
    "a write that may have happened": [SAVED, step("DELETE", MINE, 0), step("HEAD", MINE, 404)],
    "another write meanwhile": [SAVED, step("HEAD", MINE, 404, overlapped=True)],
    # Whether a draft stays after its submission is not for two exchanges to tell.
    "a submission takes its draft along": [SAVED, SUBMITTED, step("HEAD", MINE, 404)],
    "an identifier stays taken": [
        SUBMITTED,
        step(
            "POST",
            SUBMIT,
            201,
            {"identifier": "a-draft-of-mine"},
            "workflow-created-exists",
            sent={"document": X},
        ),
        step("PUT", SUBMIT, 400, {"message": UNKNOWN}, "workflow-created-known", sent={"document": X}),
    ],
    "an attachment keeps its bytes": [
        attached(7),
        step("GET", f"{FILES}/7/7.txt", 200, b"bytes", realm=None),
        step("GET", f"{FILES}/7/7.txt", 200, b"others", "attachment-download-same", realm=None),
        step("GET", f"{FILES}/7/7.txt", 206, b"by", realm=None, Range="bytes=0-1"),
        step("GET", f"{FILES}/8/7.txt", 200, b"others", realm=None),
    ],
    "a fresh token is refused": [
        signed_in("ada", TOKEN),
        step("GET", LIST, 200, []),
        step("GET", LIST, 401, {}, "token-opens-protected"),
    ],
    "a draft of another account in a personal list": [
        signed_in("ada", TOKEN),
        signed_in("bob", BOB),
        SAVED,
        step("GET", f"{LIST}?collection=my", 200, LISTED),
        step("GET", f"{LIST}?collection=my", 200, LISTED, "list-my-without-others", **AS_BOB),
    ],
    # How many a list shows unless it is asked is not shown; one that was longer before is whole.
    "a first page of attachments lacks some": [
        *map(attached, range(4)),
        step(
            "GET",
            FILES,
            200,
            [{"id": number, "filename": f"{number}.txt"} for number in range(3)],
            realm=None,
        ),
        step("GET", FILES, 200, [{"id": 0, "filename": "0.txt"}], "attachment-create-listed", realm=None),
    ],
    "a wrong draft speaks against what happened to it": [
        SAVED,
        step("PUT", MINE, 200, {}, sent=Y),
        step("GET", MINE, 200, X, "draft-save-updates"),
        step("GET", MINE, 200, Y),
        step("PUT", OTHER, 201, {}, sent={"title": "z"}),
        step("GET", MINE, 200, {"title": "z"}, "draft-save-spares-others"),
    ],
}


def broken(findings: tuple[TrafficFinding, ...]) -> dict[str | None, Standing]:
    return {each.clause: each.standing for each in findings}


@pytest.mark.parametrize("name", SEQUENCES)
def test_an_exchange_contradicts_earlier_ones_where_nothing_else_explains_it(
    alone: Client, name: str
) -> None:
    for number, (method, path, status, answer, more, breaks) in enumerate(SEQUENCES[name], 1):
        found = broken(alone(method, path, status, answer, **more))
        assert set(found) == breaks, number
        assert Standing.REMARK not in found.values()


def test_where_others_write_it_is_a_remark_until_several_records_show_it(client: Client) -> None:
    weights = []
    for number in range(3):
        path = MINE.replace("mine", f"mine-{number}")
        client("PUT", path, 201, {}, sent=X)
        found = client("HEAD", path, 404)
        assert found[0].because_of == 2 * number + 1
        weights.append(broken(found)["draft-exists-present"])
    assert weights == [Standing.REMARK, Standing.REMARK, Standing.FAULT]


def test_a_list_is_given_time_to_settle(alone: Client) -> None:
    alone("POST", f"{FILES}/map.png", 201, {"id": 7}, **FILE)
    alone.seconds_apart = 0
    assert alone("GET", FILES, 200, [], realm=None) == ()
    alone.seconds_apart = 60
    assert [*broken(alone("GET", FILES, 200, [], realm=None))] == ["attachment-create-listed"]
