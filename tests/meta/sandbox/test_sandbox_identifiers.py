"""The identifier rule on every operation of the sandbox that has a uid."""

import http.client
from typing import Any
from urllib.parse import urlsplit

import pytest

DRAFT = "/api/v2013/documents/{}/versions/draft"
ATTACHMENTS = "/api/v2013/documents/{}/attachments"
WORKFLOW = "/api/v2023/documents/schemas/absPermit/{}"

OPERATIONS = {
    "updateContact": ("PUT", "/api/v2013/documents/{}?schema=contact"),
    "saveDraft": ("PUT", DRAFT + "?schema=contact"),
    "getDraft": ("GET", DRAFT),
    "getDraftInfo": ("GET", DRAFT + "/info"),
    "draftExists": ("HEAD", DRAFT),
    "deleteDraft": ("DELETE", DRAFT),
    "listAttachments": ("GET", ATTACHMENTS),
    "createAttachment": ("POST", ATTACHMENTS + "/a.txt"),
    "persistTemporaryFile": ("POST", ATTACHMENTS + "/persist-temporary/sandbox-temporary-abs-dev-01"),
    "attachmentExists": ("HEAD", ATTACHMENTS + "/1/a.txt"),
    "getAttachment": ("GET", ATTACHMENTS + "/1/a.txt"),
    "getAttachmentThumbnail": ("GET", ATTACHMENTS + "/1/a.txt/thumbnail"),
    "createWorkflowRecordWithIdentifier": ("POST", WORKFLOW),
    "updateWorkflowRecord": ("PUT", WORKFLOW),
}

# As they go over the wire, percent-encoded where they must be.
BAD = {
    "ten": "abcdefghij",
    "129": "a" * 129,
    "newline": "abcdefghijk%0A",
    "space": "abcdefghijk%20",
    "plus": "abcdefghijk+",
    "dot": "abcdef.ghijk",
    "tilde": "abcdef~ghijk",
    "letter beyond ASCII": "abcdefghijk%C3%A9",
    "digit beyond ASCII": "abcdefghijk%D9%A3",
    "bracket of the misread pattern": "abcdefghijk%5D",
    "caret of the misread pattern": "abcdefghijk%5E",
    "backslash": "abcdefghijk%5C",
    "slash": "abcdefghijk%2Fabcdefghijk",
    "encoded twice": "abcdefghijk%252D",
    "NUL": "abcdefghijk%00",
    "not UTF-8": "abcdefghijk%FF",
    "broken escape": "abcdefghijk%2",
    "bytes instead of characters": "%C3%A9%C3%A9%C3%A9%C3%A9%C3%A9%C3%A9",
    "path step": "..%2F..%2F..%2Fabcdefghijk",
}
GOOD = {
    "eleven": "Abcdefghij1",
    "128": "a" * 128,
    "digits": "12345678901",
    "hyphens": "-----------",
    "underscores": "___________",
    "encoded letter": "%61bcdefghij1",
}


def send(client: Any, method: str, target: str) -> http.client.HTTPResponse:
    """Send a request whose target goes over the wire as it stands here."""
    connection = http.client.HTTPConnection(urlsplit(client.base).netloc, timeout=20)
    headers = {
        "Authorization": f"Bearer {client.token}",
        "Realm": "abs-dev",
        "Content-Type": "application/json",
    }
    connection.request(method, target, body=b"{}" if method in {"PUT", "POST"} else None, headers=headers)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer


@pytest.mark.parametrize("bad", BAD.values(), ids=list(BAD))
@pytest.mark.parametrize(("method", "path"), OPERATIONS.values(), ids=list(OPERATIONS))
def test_what_breaks_the_rule_is_refused(caller: Any, method: str, path: str, bad: str) -> None:
    answer = send(caller(), method, path.format(bad))
    assert answer.status == 400
    assert answer.headers["Content-Type"] == "application/json"


@pytest.mark.parametrize("good", GOOD.values(), ids=list(GOOD))
@pytest.mark.parametrize(
    "operation",
    ["getDraft", "getDraftInfo", "draftExists", "deleteDraft", "listAttachments", "getAttachment"],
)
def test_what_keeps_the_rule_is_looked_for(caller: Any, operation: str, good: str) -> None:
    method, path = OPERATIONS[operation]
    assert send(caller(realm="chm-dev"), method, path.format(good)).status == 404


def test_percent_encoding_names_the_same_document(caller: Any, uid: str) -> None:
    assert send(caller(), "PUT", DRAFT.format(uid.replace("-", "%2D")) + "?schema=contact").status == 201
    assert send(caller(), "GET", DRAFT.format(uid)).status == 200


@pytest.mark.parametrize("uid", ["", ".", ".."])
def test_a_uid_that_is_no_segment_finds_nothing(caller: Any, uid: str) -> None:
    assert 400 <= send(caller(), "GET", DRAFT.format(uid)).status < 500
