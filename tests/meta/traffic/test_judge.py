"""What traffic of a service and its client shows: each side's mistakes, by one exchange and by several."""

import gzip
from typing import Any

import pytest

from registry_contracts.evidence.findings import Finding, Standing
from registry_contracts.exchanges.exchange import UNKNOWN_BODY
from registry_contracts.traffic.report import fault_of, side_of
from tests.meta import messages, samples
from tests.meta.samples import LIST
from tests.meta.traffic.sample_traffic import CONTACT, TOKEN, Client

CREATE = "/api/v2013/documents?schema=contact"
UPDATE = "/api/v2013/documents/a-contact-of-mine?schema=contact"
MINE = "/api/v2013/documents/a-draft-of-mine/versions/draft"
OTHER = "/api/v2013/documents/another-draft-of-mine/versions/draft"
SUBMIT = "/api/v2023/documents/schemas/absPermit/a-draft-of-mine"
FILES = "/api/v2013/documents/a-document-of-mine/attachments"
FILE: dict[str, Any] = {"realm": None, "sent": b"bytes"}
BOB = "another-token-of-forty-characters-012345"
X, Y = {"title": "x"}, {"title": "y"}
LOCKED = {"message": samples.LOCKED}
NAMELESS = {name: value for name, value in CONTACT.items() if name != "firstName"}
NAMED = {"identifier": "a-contact-of-mine"}
FIRST_NAME = "contact-mandatory-first-name"
#: One exchange: method, address, status, answer, what else of it, and the clauses that its answer contradicts.
Step = tuple[str, str, int, Any, dict[str, Any], set[str]]


def step(method: str, path: str, status: int, answer: Any = None, *breaks: str, **more: Any) -> Step:
    return method, path, status, answer, more, set(breaks)


def signed_in(name: str, token: str | None, *breaks: str) -> Step:
    signed = {"authenticationToken": token, "expiration": "2026-11-21T13:00:00.000Z"}
    credentials = {"email": f"{name}@registry.test", "password": f"a-secret-of-{name}"}
    answer = signed if token else {"error": "no"}
    return step("POST", samples.TOKEN, 200, answer, *breaks, sent=credentials, realm=None, Authorization=None)


def attached(number: int) -> Step:
    return step("POST", f"{FILES}/{number}.txt", 201, {"id": number}, **FILE)


SAVED = step("PUT", MINE, 201, {}, sent=X)
SUBMITTED = step("POST", SUBMIT, 201, {"identifier": "a-draft-of-mine"}, sent={"document": X})
LISTED = [{"identifier": "a-draft-of-mine"}]
AS_BOB = {"Authorization": f"Bearer {BOB}"}
GZIP = {"content-type": "application/json", "content-encoding": "gzip"}
PACKED = messages.response(200, gzip.compress(b'{"title": "x"}'), GZIP)
SEQUENCES: dict[str, list[Step]] = {
    # An expired token or an unknown schema is no business of the missing field.
    "a refusal for something else": [
        step("POST", CREATE, status, {"message": "no"}, sent=NAMELESS) for status in (401, 403, 404)
    ],
    "a message of the table comes with its own status": [
        step("PUT", SUBMIT, 400, LOCKED, sent={"document": {}}),
        step("PUT", SUBMIT, 409, LOCKED, "workflow-locked-record", sent={"document": {}}),
    ],
    "a refused update says nothing where the contact may not be there": [
        step("PUT", UPDATE, 400, {"message": "no"}, sent=NAMELESS),
        step("PUT", UPDATE, 200, NAMED, sent=CONTACT),
        step("PUT", UPDATE, 400, {"message": "no"}, FIRST_NAME, sent=NAMELESS),
    ],
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
    "a packed body": [SAVED, step("GET", MINE, 200, PACKED)],
    "another realm": [SAVED, step("HEAD", MINE, 404, realm="bch-dev")],
    "another account": [SAVED, step("HEAD", MINE, 404, **AS_BOB)],
    "a write that may have happened": [SAVED, step("DELETE", MINE, 0), step("HEAD", MINE, 404)],
    "another write meanwhile": [SAVED, step("HEAD", MINE, 404, overlapped=True)],
    # Whether a draft stays after its submission is not for two exchanges to tell.
    "a submission takes its draft along": [SAVED, SUBMITTED, step("HEAD", MINE, 404)],
    "an identifier stays taken": [
        SUBMITTED,
        step("POST", SUBMIT, 201, LISTED[0], "workflow-created-exists", sent={"document": X}),
        step(
            "PUT", SUBMIT, 400, {"message": samples.UNKNOWN}, "workflow-created-known", sent={"document": X}
        ),
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
    # Whose it is then is not shown; what its last account is given of it is what that one saved.
    "a draft that two accounts saved": [
        signed_in("ada", TOKEN),
        signed_in("bob", BOB),
        SAVED,
        step("PUT", MINE, 200, {}, sent=Y, **AS_BOB),
        step("HEAD", MINE, 404, **AS_BOB),
        step("GET", f"{LIST}?collection=my", 200, LISTED),
        step("GET", MINE, 200, X, "draft-save-updates", **AS_BOB),
    ],
    # How many a list shows unless it is asked is not shown; one that was longer before is whole.
    "a first page of attachments lacks some": [
        *map(attached, range(4)),
        step("GET", FILES, 200, [{"id": each, "filename": f"{each}.txt"} for each in range(3)], realm=None),
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


def broken(findings: tuple[Finding, ...], side: str = "service") -> dict[str, Standing]:
    """What is held against the service, by clause, or against the client, by fault."""
    found = [each for each in findings if side_of(each) == side]
    return {fault_of(each) or each.clause: each.standing for each in found}


@pytest.mark.parametrize("name", SEQUENCES)
def test_a_contradiction_is_told_only_where_nothing_else_explains_it(alone: Client, name: str) -> None:
    for number, (method, path, status, answer, more, breaks) in enumerate(SEQUENCES[name], 1):
        found = broken(alone(method, path, status, answer, **more))
        assert set(found) == breaks, number
        assert Standing.UNCONFIRMED not in found.values()


def test_where_others_write_it_is_unconfirmed_until_several_records_show_it(client: Client) -> None:
    weights = []
    for number in range(3):
        path = MINE.replace("mine", f"mine-{number}")
        client("PUT", path, 201, {}, sent=X)
        found = client("HEAD", path, 404)
        assert found[0].expected.endswith(f", because of entry {2 * number + 1}")
        weights.append((broken(found)["draft-exists-present"], client.taken[-1].verdict))
    assert weights == [*[(Standing.UNCONFIRMED, "unconfirmed")] * 2, (Standing.FAIL, "fail")]


def test_a_token_that_is_echoed_is_held_against_it_and_told_nowhere(client: Client) -> None:
    method, path, status, answer, more, _ = signed_in("ada", TOKEN)
    assert client(method, path, status, answer, **more) == ()
    found = client("GET", LIST, 403, {"message": f"{TOKEN} may not"})
    assert broken(found) == {"no-secret-echoed": Standing.FAIL}
    assert not [secret for secret in (TOKEN, "a-secret-of-ada") if secret in repr(client.taken)]


@pytest.mark.parametrize(
    ("method", "path", "status", "answer", "more", "word"),
    [
        *(("GET", LIST, status, b"<html>busy</html>", {}, "inconclusive") for status in (429, 502, 503, 504)),
        ("GET", f"{LIST}?$top=1", 200, UNKNOWN_BODY, {}, "pass"),
        # Archives of production may be judged; nothing is sent there.
        ("GET", MINE, 200, X, {"realm": "abs"}, "pass"),
        ("GET", "/style.css", 500, b"oops", {}, "nothing tested"),
        ("OPTIONS", CREATE, 204, None, {}, "nothing tested"),
        *(("GET", MINE, 200, X, {"Authorization": value}, "pass")
          for value in ("[Filtered]", "***", "<redacted>", "Bearer ***")),
    ],
)  # fmt: skip
def test_what_shows_no_mistake_is_not_held_against_anybody(
    client: Client, method: str, path: str, status: int, answer: Any, more: dict[str, Any], word: str
) -> None:
    assert client(method, path, status, answer, **more) == ()
    assert client.judge.report.verdict[0].word == word


@pytest.mark.parametrize(
    ("path", "sent", "changes", "fault", "standing"),
    [
        *((MINE, None, {"Authorization": f"Bearer {word}"}, "header.Authorization:unknown-value", Standing.FAIL)
          for word in ("undefined", "null", "[object Object]")),
        # Habits of real clients are observed.
        (MINE, None, {"realm": "ABS-DEV"}, "header.Realm:letter-case", Standing.OBSERVED),
        (MINE, None, {"realm": "ort-dev"}, "header.Realm:not-listed", Standing.OBSERVED),
        (MINE, None, {"Authorization": f"Ticket {TOKEN}"}, "header.Authorization:scheme", Standing.OBSERVED),
        (MINE, None, {"Authorization": TOKEN}, "header.Authorization:scheme", Standing.OBSERVED),
        (f"{SUBMIT}?realm=abs-dev", {"document": {}}, {"realm": None}, "query.Realm:letter-case", Standing.OBSERVED),
        (CREATE, {**CONTACT, "organization": {"EN": "E"}}, {}, "body.organization:letter-case", Standing.OBSERVED),
    ],
)  # fmt: skip
@pytest.mark.parametrize("status", [200, 400])
def test_a_mistake_of_the_client_is_its_own_whatever_is_answered(
    client: Client, path: str, sent: Any, changes: dict[str, Any], fault: str, standing: Standing, status: int
) -> None:
    answer = {"identifier": "a-draft-of-mine", "title": "x"}
    found = client("POST" if sent else "GET", path, status, answer, sent=sent, **changes)
    assert broken(found, "client") == {fault: standing}
    assert standing is Standing.FAIL or broken(found) == {}
