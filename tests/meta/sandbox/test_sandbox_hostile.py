"""Bad input of any kind gets a 4xx answer in JSON from the sandbox, never a 5xx, and changes nothing."""

import http.client
import json
import socket
from typing import Any
from urllib.parse import urlsplit

import pytest

JSON = "application/json"
DRAFT = "/api/v2013/documents/hostile-draft-1/versions/draft"
SAVE = DRAFT + "?schema=contact"
CONTACT = "/api/v2013/documents?schema=contact"
WORKFLOW = "/api/v2023/documents/schemas/absPermit"
TOKEN_PATH = "/api/v2013/authentication/token"

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
    ("POST", TOKEN_PATH),
    ("POST", CONTACT),
    ("PUT", SAVE),
    ("POST", WORKFLOW),
    ("POST", WORKFLOW + "/hostile-record-1"),
]
TARGETS = [
    ("GET", "/"),
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


def send(
    client: Any, method: str, target: str, body: bytes = b"", **headers: str
) -> http.client.HTTPResponse:
    """Send a request exactly as it is given, and check that it is refused in JSON."""
    connection = http.client.HTTPConnection(urlsplit(client.base).netloc, timeout=20)
    usual = {"Authorization": f"Bearer {client.token}", "Realm": "abs-dev", "Content-Type": JSON}
    connection.putrequest(method, target)
    for name, value in {**usual, "Content-Length": str(len(body)), **headers}.items():
        connection.putheader(name, value)
    connection.endheaders(body)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    assert 400 <= answer.status < 500, text
    assert answer.headers["Content-Type"] == JSON
    assert json.loads(text)["message"]
    return answer


@pytest.mark.parametrize(("method", "path"), JSON_OPERATIONS, ids=[path for _, path in JSON_OPERATIONS])
@pytest.mark.parametrize("body", BODIES.values(), ids=list(BODIES))
def test_a_body_that_is_no_json_object_is_refused(caller: Any, body: bytes, method: str, path: str) -> None:
    assert send(caller(), method, path, body).status == 400
    assert caller().get(DRAFT).status_code == 404


@pytest.mark.parametrize(("method", "target"), TARGETS, ids=[f"{m} {t[:60]}" for m, t in TARGETS])
def test_a_target_that_leads_nowhere_is_refused(caller: Any, method: str, target: str) -> None:
    answer = send(caller(), method, target)
    assert answer.status in {400, 404, 405}
    assert (answer.status == 405) == ("Allow" in answer.headers)


@pytest.mark.parametrize("headers", HEADERS, ids=[str(headers)[:50] for headers in HEADERS])
def test_odd_headers_are_refused(caller: Any, headers: dict[str, str]) -> None:
    send(caller(), "PUT", SAVE, b"{}", **headers)


@pytest.mark.parametrize("sent", NO_HTTP.values(), ids=list(NO_HTTP))
def test_what_is_no_http_is_refused_in_json_too(caller: Any, sent: bytes) -> None:
    address = urlsplit(caller(None).base)
    received = b""
    with socket.create_connection((address.hostname, address.port), timeout=20) as connection:
        connection.sendall(sent)
        while piece := connection.recv(65536):
            received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 4"), received
    assert b"application/json" in head
    assert json.loads(body)["statusCode"] == 400


def test_a_body_of_odd_but_good_json_is_taken(caller: Any, uid: str) -> None:
    body = (
        b' {"\\u0000": "\\ud83d\\ude00", "x": ' + b"[" * 150 + b"]" * 150 + b', "y": ' + b"9" * 400 + b"} \n"
    )
    path = f"/api/v2013/documents/{uid}/versions/draft"
    answer = caller().put(
        path + "?schema=contact", data=body, headers={"Content-Type": "APPLICATION/JSON;charset=UTF-8"}
    )
    assert answer.status_code == 201
    assert caller().get(path).content == body


def test_a_submission_may_hold_odd_but_good_json(caller: Any, permit: dict[str, Any], uid: str) -> None:
    permit["title"] = {"en": "\x00 😀 " + "x" * 100_000}
    assert caller().post(f"{WORKFLOW}/{uid}", json={"document": permit}).status_code == 201
    assert caller().get(f"/api/v2013/documents/{uid}/versions/draft").json() == permit
