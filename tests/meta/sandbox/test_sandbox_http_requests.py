"""Bad requests of any kind get a 4xx answer in JSON from the sandbox, never a 5xx, and change nothing."""

import http.client
import json
import socket
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.meta.samples import TOKEN, draft_path, record
from tests.meta.sandbox_client import TIME_LIMIT, SandboxClient

JSON = "application/json"
DRAFT = "/api/v2013/documents/hostile-draft-1/versions/draft"
SAVE = DRAFT + "?schema=contact"
CONTACT = "/api/v2013/documents?schema=contact"
WORKFLOW = "/api/v2023/documents/schemas/absPermit"

DEEP = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
BODIES = {
    "empty": b"",
    "white space": b"   ",
    "cut off": b'{"a": ',
    "trailing comma": b'{"a": 1,}',
    "single quotes": b"{'a': 1}",
    "comment": b'{"a": 1} // x',
    "two values": b"{} {}",
    "NaN": b'{"a": NaN}',
    "Infinity": b'{"a": -Infinity}',
    "float out of range": b'{"a": 1e999}',
    "integer of 5000 digits": b'{"a": ' + b"9" * 5000 + b"}",
    "leading zero": b'{"a": 01}',
    "duplicate key": b'{"a": 1, "a": 2}',
    "duplicate key further down": b'{"x": [{"a": 1, "\\u0061": 2}]}',
    "not UTF-8": b'{"a": "\xff"}',
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "byte order mark": b'\xef\xbb\xbf{"a": 1}',
    "lone surrogate": b'{"a": "\\ud800"}',
    "lone surrogate as key": b'{"\\udfff": 1}',
    "encoded surrogate": b'{"a": "\xed\xa0\x80"}',
    "raw NUL": b'{"a": "\x00"}',
    "raw newline in a string": b'{"a": "\n"}',
    "bad escape": b'{"a": "\\x"}',
    "very deep object": DEEP,
    "very deep array": b"[" * 100_000 + b"]" * 100_000,
    "three hundred levels": b'{"a":' * 300 + b"1" + b"}" * 300,
    "XML": b"<a/>",
    "form": b"a=1&b=2",
    "array": b"[]",
    "string": b'"text"',
    "null": b"null",
}
JSON_OPERATIONS = [
    ("POST", TOKEN),
    ("POST", CONTACT),
    ("PUT", SAVE),
    ("POST", WORKFLOW),
    ("POST", WORKFLOW + "/hostile-record-1"),
]
TARGETS = [
    ("GET", "//"),
    ("GET", "/api/v2013"),
    ("GET", "/api/v2024/documents"),
    ("GET", "/api/v2013/documents"),
    ("GET", DRAFT + "/"),
    ("GET", DRAFT.upper()),
    ("GET", "/%2e%2e/%2e%2e/etc/passwd"),
    ("GET", "/docs/..%2F..%2Fserve.py"),
    ("GET", "/docs/nothing.js"),
    ("GET", "http://elsewhere.example/api/v2013/document-drafts"),
    ("GET", "*"),
    ("GET", "/api/v2013/documents/abcdefghijk%2/versions/draft"),
    ("GET", "/api/v2013/documents/abcdefghijk%FF/versions/draft"),
    ("GET", "/api/v2013/documents/abcdefghijk%252D/versions/draft"),
    ("GET", "/api/v2013/documents/..%2F..%2F..%2Fabcdefghijk/attachments/1/a.txt"),
    ("PATCH", DRAFT),
    ("POST", DRAFT),
    ("TRACE", DRAFT),
    ("OPTIONS", DRAFT),
    ("CONNECT", DRAFT),
    ("BREW", "/api/v2013/document-drafts"),
    ("DELETE", "/api/v2013/document-drafts"),
    ("PUT", WORKFLOW),
    ("GET", "/api/v2013/document-drafts?%ff=1&$top=%ff"),
    ("GET", "/api/v2013/document-drafts?$filter=%00"),
    ("GET", "/api/v2013/document-drafts?$filter=identifier%20eq%20'%ED%A0%80'"),
    ("GET", "/api/v2013/document-drafts?" + "&".join(f"a{n}=1" for n in range(1000))),
    ("GET", "/api/v2013/document-drafts?collection=my&collection=my"),
    ("PUT", DRAFT + "?schema=%00"),
    ("PUT", DRAFT + "?schema=contact&schema=contact"),
    ("GET", "/api/v2013/documents/" + "a" * 60_000 + "/versions/draft"),
    ("POST", "/api/v2023/documents/schemas/%00"),
    ("POST", "/api/v2023/documents/schemas/" + "%F0%9F%98%80" * 1000),
    ("GET", "/api/v2013/documents/sandbox-existing-abs-dev/attachments/1/%00"),
    ("GET", "/api/v2013/documents/sandbox-existing-abs-dev/attachments/1/%ED%A0%80"),
    ("GET", "/api/v2013/documents/sandbox-existing-abs-dev/attachments/99999999999999999999999/a"),
]
HEADERS = [
    {"Authorization": "Bearer \xff"},
    {"Authorization": "Bearer " + "x" * 50_000},
    {"Authorization": ""},
    {"Realm": "\xe9"},
    {"Realm": "x" * 50_000},
    {"Content-Type": ""},
    {"Content-Type": "text/plain"},
    {"Content-Type": "application/json; charset=utf-16"},
    {"Content-Type": "application/jsonp"},
    {"Content-Type": ";;;"},
    {"Content-Type": "multipart/form-data"},
    {"Content-Encoding": "gzip"},
]
NO_HTTP = {
    "noise": b"\x00\x01\x02\x03\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    "bad version": b"GET / HTTQ/1.1\r\nHost: x\r\n\r\n",
    "space in the target": b"GET /a b HTTP/1.1\r\nHost: x\r\n\r\n",
    "bytes in the target": b"GET /\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n",
    "no host": b"GET / HTTP/1.1\r\n\r\n",
    "bad length": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n\r\n",
    "two lengths": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "bad chunk": b"POST /api/v2013/authentication/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    "endless header": b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 400_000,
}


def exchange(
    client: SandboxClient, method: str, target: str, body: bytes = b"", **headers: str
) -> tuple[http.client.HTTPResponse, bytes]:
    """Send a request exactly as it is given; return the response and its body."""
    connection = http.client.HTTPConnection(urlsplit(client.base).netloc, timeout=TIME_LIMIT)
    usual = {"Authorization": f"Bearer {client.token}", "Realm": "abs-dev", "Content-Type": JSON}
    connection.putrequest(method, target)
    for name, value in {**usual, "Content-Length": str(len(body)), **headers}.items():
        connection.putheader(name, value)
    connection.endheaders(body)
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response, content


def refused(client: SandboxClient, method: str, target: str, body: bytes = b"", **headers: str) -> Any:
    """Send a request exactly as it is given, and check that it is refused in JSON."""
    response, content = exchange(client, method, target, body, **headers)
    assert 400 <= response.status < 500, content
    assert response.headers["Content-Type"] == JSON
    assert json.loads(content)["message"]
    return response


@pytest.mark.parametrize(("method", "path"), JSON_OPERATIONS, ids=[path for _, path in JSON_OPERATIONS])
@pytest.mark.parametrize("body", BODIES.values(), ids=list(BODIES))
def test_a_body_that_is_no_json_object_is_refused(
    faithful: SandboxClient, body: bytes, method: str, path: str
) -> None:
    assert refused(faithful, method, path, body).status == 400
    assert faithful.get(DRAFT).status_code == 404


@pytest.mark.parametrize(("method", "target"), TARGETS, ids=[f"{m} {t[:60]}" for m, t in TARGETS])
def test_a_target_that_leads_nowhere_is_refused(faithful: SandboxClient, method: str, target: str) -> None:
    response = refused(faithful, method, target)
    assert response.status in {400, 404, 405}
    assert (response.status == 405) == ("Allow" in response.headers)


@pytest.mark.parametrize("headers", HEADERS, ids=[str(headers)[:50] for headers in HEADERS])
def test_odd_headers_are_refused(faithful: SandboxClient, headers: dict[str, str]) -> None:
    refused(faithful, "PUT", SAVE, b"{}", **headers)


@pytest.mark.parametrize("sent", NO_HTTP.values(), ids=list(NO_HTTP))
def test_what_is_no_http_is_refused_in_json_too(faithful: SandboxClient, sent: bytes) -> None:
    address = urlsplit(faithful.base)
    received = b""
    with socket.create_connection((address.hostname, address.port), timeout=TIME_LIMIT) as connection:
        connection.sendall(sent)
        while piece := connection.recv(65536):
            received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 4"), received
    assert b"application/json" in head
    assert json.loads(body)["statusCode"] == 400


def test_a_body_of_odd_but_good_json_is_taken(faithful: SandboxClient, uid: str) -> None:
    body = (
        b' {"\\u0000": "\\ud83d\\ude00", "x": ' + b"[" * 150 + b"]" * 150 + b', "y": ' + b"9" * 400 + b"} \n"
    )
    headers = {"Content-Type": "APPLICATION/JSON;charset=UTF-8"}
    response = faithful.put(draft_path(uid, "?schema=contact"), data=body, headers=headers)
    assert response.status_code == 201
    assert faithful.get(draft_path(uid)).content == body


def test_a_submission_may_hold_odd_but_good_json(faithful: SandboxClient, uid: str) -> None:
    document = record(title={"en": "\x00 😀 " + "x" * 100_000})
    assert faithful.submit("POST", uid, {"document": document}).status_code == 201
    assert faithful.get(draft_path(uid)).json() == document
