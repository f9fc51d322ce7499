"""Contacts, drafts and attachments in the sandbox: what it does where the document is silent; uploads and previews.

That it keeps the clauses is shown by a run of the contract tests over it, which `prove` makes on every change.
"""

import io
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from PIL import Image

from contracts.sandbox.habits import Settings
from contracts.sandbox.service import create_app
from tests.meta.program import eventually
from tests.meta.samples import DOCUMENTS, contact, draft_path
from tests.meta.sandbox_client import TIME_LIMIT, SandboxClient

JSON = {"Content-Type": "application/json"}
EXISTING = "sandbox-existing-abs-dev"


def save_text(client: SandboxClient, uid: str, text: str, schema: str = "contact") -> Any:
    return client.put(draft_path(uid), params={"schema": schema}, data=text.encode(), headers=JSON)


def test_saving_again_replaces_the_draft_and_keeps_when_it_was_created(
    faithful: SandboxClient, uid: str
) -> None:
    created = save_text(faithful, uid, '{"a": 1}').json()
    assert save_text(faithful, uid, '{"b": "é"}', "absPermit").status_code == 200
    info = faithful.get(draft_path(uid, "/info"), role="other").json()
    assert info.keys() == {"identifier", "schema", "realm", "owner", "createdOn", "updatedOn", "size"}
    assert info["updatedOn"] >= created["updatedOn"]
    assert info | {"updatedOn": ""} == {
        "identifier": uid,
        "schema": "absPermit",
        "realm": "abs-dev",
        "owner": "author",
        "createdOn": created["createdOn"],
        "updatedOn": "",
        "size": len('{"b": "é"}'.encode()),
    }


@pytest.mark.parametrize("role", ["other", "nau", "restricted"])
def test_another_accounts_draft_is_read_but_not_changed(faithful: SandboxClient, uid: str, role: str) -> None:
    faithful.save(uid, {"a": 1})
    assert faithful.get(draft_path(uid), role=role).json() == {"a": 1}
    assert faithful.save(uid, {"a": 2}, role=role).status_code == 403
    assert faithful.request("DELETE", draft_path(uid), role=role).status_code == 403
    assert faithful.get(draft_path(uid)).json() == {"a": 1}


def test_a_draft_of_another_accounts_published_record_is_not_taken(faithful: SandboxClient) -> None:
    assert faithful.save(EXISTING, role="other").status_code == 403
    assert faithful.get(draft_path(EXISTING)).status_code == 404


def test_a_locked_record_still_takes_a_draft(faithful: SandboxClient) -> None:
    assert faithful.save("sandbox-locked-abs-dev").status_code == 200


@pytest.mark.parametrize(
    "query",
    ["", "?schema=", "?schema=bchDecision", "?schema=Contact", "?Schema=contact", "?schema=x&Realm=abs-dev"],
)
def test_save_needs_a_schema_of_the_realm(faithful: SandboxClient, uid: str, query: str) -> None:
    assert faithful.put(draft_path(uid, query), json={}).status_code == 400
    assert faithful.get(draft_path(uid)).status_code == 404


@pytest.mark.parametrize(
    ("realm", "draft", "created"),
    # A header's outer white space is not part of its value.
    [
        ("abs-dev ", 201, 201),
        *((realm, 400, 400) for realm in (None, "", "abs", "ABS-DEV", "ort-dev", "abs-dev, bch-dev")),
    ],
)
def test_documents_need_a_document_realm(
    faithful: SandboxClient, uid: str, realm: str | None, draft: int, created: int
) -> None:
    headers = {} if realm is None else {"Realm": realm.strip() + " " * realm.endswith(" ")}
    assert faithful.save(uid, {}, realm=None, headers=headers).status_code == draft
    assert faithful.post_contact(contact(), realm=None, headers=headers).status_code == created


def errors(response: Any) -> set[tuple[str, str]]:
    assert response.status_code == 400
    return {(error["code"], error["property"]) for error in response.json()["errors"]}


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("country", {}, "Error.Mandatory"),
        ("contactOrganization", {"identifier": None}, "Error.Mandatory"),
        ("websites", [{"name": "x"}], "Error.Mandatory"),
        ("organization", {}, "Error.MandatoryAnyOf"),
        ("emails", [], "Error.MandatoryAnyOf"),
        ("contactOrganization", {"identifier": "nobody-knows-this"}, "Error.InvalidValue"),
        ("header", {"identifier": "short"}, "Error.InvalidValue"),
        ("header", {"identifier": "good-identifier\n"}, "Error.InvalidValue"),
        ("header", {"schema": "absPermit"}, "Error.InvalidValue"),
        ("FirstName", "x", "Error.InvalidProperty"),
        ("", "x", "Error.InvalidProperty"),
        ("city", {"": "x"}, "Error.UnspecifiedLocale"),
        ("city", {"english": "x"}, "Error.UnspecifiedLocale"),
        ("city", {"en_GB": "x"}, "Error.UnspecifiedLocale"),
        ("header", {"languages": ["en", "??"]}, "Error.UnspecifiedLocale"),
        ("country", {"identifier": "KE"}, "Error.UnexpectedTerm"),
        ("middleName", None, "Error.InvalidType"),
        ("header", {"identifier": 1}, "Error.InvalidType"),
        ("header", {"languages": "en"}, "Error.InvalidType"),
        ("header", {"languages": [1]}, "Error.InvalidType"),
    ],
)
def test_a_faulty_value_has_its_code(faithful: SandboxClient, field: str, value: Any, code: str) -> None:
    assert errors(faithful.post_contact(contact(**{field: value}))) == {(code, field)}


def test_an_identifier_in_use_is_refused_in_its_realm_alone(faithful: SandboxClient, uid: str) -> None:
    assert [faithful.post_contact(contact(uid=uid)).status_code for _ in range(2)] == [201, 409]
    assert faithful.post_contact(contact("bch-dev", uid=uid), realm="bch-dev").status_code == 201


def test_a_contact_may_be_the_organization_of_another(faithful: SandboxClient, uid: str) -> None:
    faithful.post_contact(contact(uid=uid))
    assert faithful.post_contact(contact(contactOrganization={"identifier": uid})).status_code == 201


def test_only_a_published_contact_is_updated(faithful: SandboxClient, uid: str) -> None:
    faithful.save(uid)
    assert faithful.put_contact(uid, contact()).status_code == 404
    assert faithful.put_contact(EXISTING, contact()).status_code == 404


@pytest.mark.parametrize(
    ("role", "created", "updated"),
    [("author", 201, 200), ("other", 201, 403), ("nau", 201, 403), ("restricted", 403, 403)],
)
def test_who_may_create_contacts_and_update_those_of_the_author(
    faithful: SandboxClient, role: str, created: int, updated: int
) -> None:
    uid = faithful.post_contact(contact()).json()["identifier"]
    assert faithful.post_contact(contact(), role=role).status_code == created
    assert faithful.put_contact(uid, contact(), role=role).status_code == updated


NAMES = [
    "plain.txt",
    "no extension",
    "several.dots.tar.gz",
    "100%.txt",
    "%41.txt",
    "é 漢字 😀.pdf",
    "a+b&c=d;e?f#g.txt",
    '"quoted".txt',
    "persist-temporary",
    ".hidden",
    "x" * 2000 + ".bin",
]


def path(uid: str, *parts: Any) -> str:
    return f"{DOCUMENTS}/{uid}/attachments" + "".join("/" + quote(str(part), safe="") for part in parts)


@pytest.fixture
def document(faithful: SandboxClient) -> str:
    """Save a draft of the author and return its uid."""
    return faithful.saved()


def upload(client: SandboxClient, uid: str, name: str, content: bytes = b"content") -> dict[str, Any]:
    answer = client.post(path(uid, name), data=content)
    assert answer.status_code == 201, answer.text
    record: dict[str, Any] = answer.json()
    return record


def picture(size: tuple[int, int] = (600, 300)) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", size, "#3366aa").save(buffer, "JPEG")
    return buffer.getvalue()


@pytest.mark.parametrize("name", NAMES, ids=[name[:20] for name in NAMES])
def test_an_attachment_comes_back_under_its_name(faithful: SandboxClient, document: str, name: str) -> None:
    content = bytes(range(256)) * 5 + b"\r\n"
    record = upload(faithful, document, name, content)
    assert (record["filename"], record["size"]) == (name, len(content))
    answer = faithful.get(path(document, record["id"], name), role=None, realm=None)
    assert (answer.status_code, answer.content) == (200, content)


def test_exists_tells_the_length_without_the_content(faithful: SandboxClient, document: str) -> None:
    record = upload(faithful, document, "a.txt", b"12345")
    answer = faithful.request("HEAD", path(document, record["id"], "a.txt"), role=None)
    assert (answer.status_code, answer.content, answer.headers["Content-Length"]) == (200, b"", "5")
    assert answer.headers["Content-Type"].startswith("text/plain")


@pytest.mark.parametrize(
    ("name", "kind"), [("a.png", "image/png"), ("a.pdf", "application/pdf"), ("a.x-y", None)]
)
def test_the_content_type_follows_the_name(
    faithful: SandboxClient, document: str, name: str, kind: str | None
) -> None:
    record = upload(faithful, document, name)
    answer = faithful.get(path(document, record["id"], name))
    assert answer.headers["Content-Type"] == (kind or "application/octet-stream")
    assert record["contentType"] == answer.headers["Content-Type"]


@pytest.mark.parametrize("name", ["a/b.txt", "..", "a\\b", "a\x00b", "a\nb", "\x7f"])
def test_a_filename_names_one_file(faithful: SandboxClient, document: str, name: str) -> None:
    answer = faithful.post(path(document, name), data=b"x")
    assert answer.status_code in {400, 404, 405}
    assert faithful.get(path(document)).json() == []


@pytest.mark.parametrize("role", ["other", "nau", "restricted"])
def test_only_who_may_change_the_document_adds_attachments(
    faithful: SandboxClient, document: str, role: str
) -> None:
    assert faithful.post(path(document, "a.txt"), data=b"x", role=role).status_code == 403
    temporary = path(document, "persist-temporary", "sandbox-temporary-abs-dev-01")
    assert faithful.post(temporary, role=role).status_code == 403
    assert faithful.get(path(document), role=role).json() == []


def test_files_that_somebody_removed_are_the_environment(
    serve_app: Callable[[Any], str], caller: Callable[..., SandboxClient], tmp_path: Path
) -> None:
    client = caller(url=serve_app(create_app(Settings(data=tmp_path / "data"))))
    uid = client.saved()
    record = upload(client, uid, "a.txt")
    shutil.rmtree(tmp_path / "data" / "files")
    for method, *parts in (
        ("POST", "b.txt"),
        ("GET", record["id"], "a.txt"),
        ("HEAD", record["id"], "a.txt"),
    ):
        assert client.request(method, path(uid, *parts), data=b"x").status_code == 503


def test_names_with_a_dollar_do_nothing_for_attachments(faithful: SandboxClient, document: str) -> None:
    records = [upload(faithful, document, name) for name in ("b.txt", "a.txt")]
    assert faithful.get(path(document), params={"$top": "1", "$filter": "("}).json() == records


def test_a_temporary_file_is_used_once(faithful: SandboxClient, document: str) -> None:
    created = faithful.post("/sandbox/temporary-files/note%20%C3%A9.txt", data=b"kept", role=None)
    temporary = created.json()["tempFileId"]
    persisted = faithful.post(path(document, "persist-temporary", temporary))
    assert persisted.status_code == 201
    record = persisted.json()
    assert faithful.get(path(document, record["id"], "note é.txt")).content == b"kept"
    assert faithful.post(path(document, "persist-temporary", temporary)).status_code == 404
    assert len(faithful.get(path(document)).json()) == 1


def test_the_published_temporary_files_are_pictures(faithful: SandboxClient, document: str) -> None:
    record = faithful.post(path(document, "persist-temporary", "sandbox-temporary-ort-dev-20")).json()
    assert record["filename"] == "temporary-20.pgm"
    answer = faithful.get(path(document, record["id"], "temporary-20.pgm"))
    assert Image.open(io.BytesIO(answer.content)).size == (16, 16)


def test_a_thumbnail_is_a_small_picture_of_the_picture(faithful: SandboxClient, document: str) -> None:
    record = upload(faithful, document, "photo.jpg", picture())
    answer = faithful.get(path(document, record["id"], "photo.jpg", "thumbnail"), role=None)
    image = Image.open(io.BytesIO(answer.content))
    assert (answer.headers["Content-Type"], image.size) == ("image/png", (160, 80))
    assert image.convert("RGB").getpixel((5, 5)) == pytest.approx((0x33, 0x66, 0xAA), abs=4)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", b"text"),
        ("a", b""),
        ("a.é漢", b"x"),
        ("broken.png", b"\x89PNG\r\n\x1a\n" + b"\0" * 40),
        ("half.jpg", picture()[:200]),
        ("script.eps", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 1 1\n"),
    ],
)
def test_any_other_file_gets_a_plain_tile(
    faithful: SandboxClient, document: str, name: str, content: bytes
) -> None:
    record = upload(faithful, document, name, content)
    answer = faithful.get(path(document, record["id"], name, "thumbnail"))
    assert answer.status_code == 200
    assert Image.open(io.BytesIO(answer.content)).size == (160, 160)


def test_a_range_is_not_taken(faithful: SandboxClient, document: str) -> None:
    record = upload(faithful, document, "a.txt", b"12345")
    for value in ("bytes=1-2", "bytes=9-", "nonsense", "bytes=" + "0-0," * 500):
        answer = faithful.get(path(document, record["id"], "a.txt"), headers={"Range": value})
        assert (answer.status_code, answer.content) == (200, b"12345")


MEGABYTE = 1024**2
LIST = path("sandbox-existing-abs-dev")
PATH = path("sandbox-existing-abs-dev", "big.bin")
NOWHERE = path("nobody-has-this-uid", "big.bin")


def pieces(size: int) -> Iterator[bytes]:
    piece = b"x" * 65536
    for _ in range(size // len(piece)):
        yield piece


def stored(data: Path) -> list[Path]:
    return sorted(path for path in (data / "files").rglob("*") if path.is_file())


def test_a_large_upload_and_download_leave_memory_flat(
    start_sandbox: Callable[..., Any], caller: Any
) -> None:
    sandbox = start_sandbox()
    author = caller(url=sandbox.url)
    small = author.post(PATH, data=pieces(MEGABYTE)).json()
    before = sandbox.kilobytes("VmHWM")
    large = author.post(PATH, data=pieces(200 * MEGABYTE)).json()
    assert large["size"] == 200 * MEGABYTE
    assert sandbox.kilobytes("VmHWM") - before < 16 * 1024
    received = 0
    with author.get(f"{LIST}/{large['id']}/big.bin", stream=True) as answer:
        for piece in answer.iter_content(MEGABYTE):
            received += len(piece)
    assert received == large["size"]
    assert sandbox.kilobytes("VmHWM") - before < 32 * 1024
    assert small["id"] != large["id"]


@pytest.mark.parametrize("announced", [True, False])
def test_what_is_over_the_limit_is_refused_and_not_kept(
    start_sandbox: Callable[..., Any], caller: Any, tmp_path: Path, announced: bool
) -> None:
    url = start_sandbox("--size-limit", str(MEGABYTE), "--data", str(tmp_path)).url
    author = caller(url=url)
    before = stored(tmp_path)
    body = b"x" * (MEGABYTE + 1) if announced else (piece for piece in [b"x" * MEGABYTE, b"x"])
    answer = author.post(PATH, data=body)
    assert (answer.status_code, answer.headers["Content-Type"]) == (413, "application/json")
    assert stored(tmp_path) == before
    assert author.get(LIST).json() == []
    assert author.post(PATH, data=b"x" * MEGABYTE).status_code == 201
    assert len(stored(tmp_path)) == len(before) + 1


def test_temporary_storage_knows_no_limit(start_sandbox: Callable[..., Any], caller: Any) -> None:
    author = caller(url=start_sandbox("--size-limit", "10").url)
    created = author.post("/sandbox/temporary-files/big.bin", data=pieces(MEGABYTE)).json()
    persisted = author.post(PATH.replace("big.bin", f"persist-temporary/{created['tempFileId']}"))
    assert (persisted.status_code, persisted.json()["size"]) == (201, MEGABYTE)


@pytest.mark.parametrize("headers", [{}, {"Connection": "close"}])
@pytest.mark.parametrize(
    ("role", "path", "status"), [("author", NOWHERE, 404), ("other", PATH, 403), (None, PATH, 401)]
)
def test_a_refused_upload_is_answered_without_reading_it(
    caller: Any, headers: dict[str, str], role: str | None, path: str, status: int
) -> None:
    client = caller(role)
    answer = client.post(path, data=pieces(20 * MEGABYTE), headers=headers)
    assert answer.status_code == status
    assert client.get("/api/v2013/document-drafts").status_code in {200, 401}


@pytest.mark.parametrize(("path", "first"), [(NOWHERE, b"HTTP/1.1 404"), (PATH, b"HTTP/1.1 100")])
def test_a_client_that_asks_first_learns_whether_to_send(caller: Any, path: str, first: bytes) -> None:
    client = caller()
    address = urlsplit(client.base)
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {client.token}\r\n"
    head += "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n"
    with socket.create_connection((address.hostname, address.port), timeout=TIME_LIMIT) as connection:
        connection.sendall(head.encode())
        assert connection.recv(4096).startswith(first)
        if first.endswith(b"100"):
            connection.sendall(b"12345")
            assert connection.recv(4096).startswith(b"HTTP/1.1 201")


def test_an_upload_that_breaks_off_leaves_nothing(
    start_sandbox: Callable[..., Any], caller: Any, tmp_path: Path
) -> None:
    sandbox = start_sandbox("--data", str(tmp_path))
    client = caller(url=sandbox.url)
    before = stored(tmp_path)
    address = urlsplit(client.base)
    head = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {client.token}\r\nContent-Length: 999999\r\n\r\n"
    with socket.create_connection((address.hostname, address.port), timeout=TIME_LIMIT) as connection:
        connection.sendall(head.encode() + b"x" * 100_000)
    # The server notices the end of the connection before it takes a later one's request to its end.
    assert eventually(lambda: client.get(LIST).json() == [] and stored(tmp_path) == before)


def test_other_requests_go_on_during_an_upload(caller: Any) -> None:
    halfway, go_on = threading.Event(), threading.Event()

    def slowly() -> Iterator[bytes]:
        yield b"first half"
        halfway.set()
        assert go_on.wait(TIME_LIMIT)
        yield b"second half"

    answers = []
    uploader = caller()
    thread = threading.Thread(target=lambda: answers.append(uploader.post(PATH, data=slowly())))
    thread.start()
    assert halfway.wait(TIME_LIMIT)
    try:
        assert caller().get("/api/v2013/document-drafts").status_code == 200
    finally:
        go_on.set()
        thread.join(TIME_LIMIT)
    assert answers[0].json()["size"] == len(b"first halfsecond half")


def test_a_json_body_has_its_limit_too(caller: Any, uid: str) -> None:
    path = f"/api/v2013/documents/{uid}/versions/draft?schema=contact"
    headers = {"Content-Type": "application/json"}
    assert (
        caller().put(path, data=b'{"a": "' + b"x" * 2 * MEGABYTE + b'"}', headers=headers).status_code == 201
    )
    assert caller().put(path, data=pieces(17 * MEGABYTE), headers=headers).status_code == 413
