"""Attachments in the sandbox: bytes in are bytes out, and nothing is mixed up."""

import io
from typing import Any
from urllib.parse import quote

import pytest
from PIL import Image

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
    rest = "".join("/" + quote(str(part), safe="") for part in parts)
    return f"/api/v2013/documents/{uid}/attachments{rest}"


@pytest.fixture
def document(caller: Any, uid: str) -> str:
    """Save a draft of the author and return its uid."""
    caller().put(f"/api/v2013/documents/{uid}/versions/draft?schema=contact", json={})
    return uid


def upload(client: Any, uid: str, name: str, content: bytes = b"content") -> dict[str, Any]:
    answer = client.post(path(uid, name), data=content)
    assert answer.status_code == 201, answer.text
    record: dict[str, Any] = answer.json()
    return record


def picture(size: tuple[int, int] = (600, 300)) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", size, "#3366aa").save(buffer, "JPEG")
    return buffer.getvalue()


@pytest.mark.parametrize("name", NAMES, ids=[name[:20] for name in NAMES])
def test_an_attachment_comes_back_under_its_name(caller: Any, document: str, name: str) -> None:
    content = bytes(range(256)) * 5 + b"\r\n"
    record = upload(caller(), document, name, content)
    assert (record["filename"], record["size"]) == (name, len(content))
    answer = caller(None, None).get(path(document, record["id"], name))
    assert (answer.status_code, answer.content) == (200, content)


def test_an_empty_file_is_a_file(caller: Any, document: str) -> None:
    record = upload(caller(), document, "empty.txt", b"")
    answer = caller().get(path(document, record["id"], "empty.txt"))
    assert (answer.status_code, answer.content) == (200, b"")


def test_exists_tells_the_length_without_the_content(caller: Any, document: str) -> None:
    record = upload(caller(), document, "a.txt", b"12345")
    answer = caller(None).head(path(document, record["id"], "a.txt"))
    assert (answer.status_code, answer.content, answer.headers["Content-Length"]) == (200, b"", "5")
    assert answer.headers["Content-Type"].startswith("text/plain")


@pytest.mark.parametrize(
    ("name", "kind"), [("a.png", "image/png"), ("a.pdf", "application/pdf"), ("a.x-y", None)]
)
def test_the_content_type_follows_the_name(caller: Any, document: str, name: str, kind: str | None) -> None:
    record = upload(caller(), document, name)
    answer = caller().get(path(document, record["id"], name))
    assert answer.headers["Content-Type"] == (kind or "application/octet-stream")
    assert record["contentType"] == answer.headers["Content-Type"]


def test_the_same_name_twice_is_two_attachments(caller: Any, document: str) -> None:
    first, second = (upload(caller(), document, "a.txt", content) for content in (b"1", b"2"))
    assert first["id"] != second["id"]
    assert caller().get(path(document, first["id"], "a.txt")).content == b"1"


@pytest.mark.parametrize("rest", [(), ("thumbnail",)])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_document_number_and_name_must_belong_together(
    caller: Any, document: str, method: str, rest: tuple[str, ...]
) -> None:
    number = upload(caller(), document, "a.txt")["id"]
    wrong = [
        (document, number, "b.txt"),
        (document, number, "A.TXT"),
        (document, number + 10**6, "a.txt"),
        (document, 0, "a.txt"),
        (document, "9" * 30, "a.txt"),
        ("sandbox-existing-abs-dev", number, "a.txt"),
        ("nobody-has-this-uid", number, "a.txt"),
    ]
    for uid, *parts in wrong:
        assert caller().request(method, path(uid, *parts, *rest)).status_code == 404


@pytest.mark.parametrize("number", ["one", "-1", "1.0", "+1", "٣", "1 ", "0x1"])
def test_the_attachments_identifier_is_an_integer(caller: Any, document: str, number: str) -> None:
    assert caller().get(path(document, number, "a.txt")).status_code == 400


@pytest.mark.parametrize("name", ["a/b.txt", "..", "a\\b", "a\x00b", "a\nb", "\x7f"])
def test_a_filename_names_one_file(caller: Any, document: str, name: str) -> None:
    answer = caller().post(path(document, name), data=b"x")
    assert answer.status_code in {400, 404, 405}
    assert caller().get(path(document)).json() == []


def test_attachments_need_a_document_that_exists(caller: Any, uid: str) -> None:
    assert caller().post(path(uid, "a.txt"), data=b"x").status_code == 404
    assert caller().get(path(uid)).status_code == 404
    temporary = path(uid, "persist-temporary", "sandbox-temporary-abs-dev-01")
    assert caller().post(temporary).status_code == 404


@pytest.mark.parametrize("role", ["other", "nau", "restricted"])
def test_only_who_may_change_the_document_adds_attachments(caller: Any, document: str, role: str) -> None:
    assert caller(role).post(path(document, "a.txt"), data=b"x").status_code == 403
    temporary = path(document, "persist-temporary", "sandbox-temporary-abs-dev-01")
    assert caller(role).post(temporary).status_code == 403
    assert caller(role).get(path(document)).json() == []


def test_a_list_shows_one_documents_attachments_in_order(caller: Any, document: str) -> None:
    records = [
        upload(caller(), document, name, b"x" * size) for size, name in enumerate(["b.txt", "a.txt", "c.png"])
    ]
    numbers = [record["id"] for record in records]

    def listed(**query: str) -> list[int]:
        return [item["id"] for item in caller("other").get(path(document), params=query).json()]

    assert listed() == numbers
    assert listed(orderby="filename") == [numbers[1], numbers[0], numbers[2]]
    assert listed(filter="contentType eq 'image/png'") == numbers[2:]
    assert listed(filter=f"id ne {numbers[1]}", orderby="size desc") == [numbers[2], numbers[0]]
    assert listed(top="1", skip="1") == numbers[1:2]
    assert caller().get(path(document), params={"$top": "1", "$filter": "("}).json() == records


@pytest.mark.parametrize(
    "query", [{"filter": "("}, {"orderby": "size sideways"}, {"top": "x"}, {"filter": "file_key ne ''"}]
)
def test_faulty_list_parameters_are_refused(caller: Any, document: str, query: dict[str, str]) -> None:
    assert caller().get(path(document), params=query).status_code == 400


def test_a_temporary_file_is_used_once(caller: Any, document: str) -> None:
    created = caller(None).post("/sandbox/temporary-files/note%20%C3%A9.txt", data=b"kept")
    temporary = created.json()["tempFileId"]
    persisted = caller().post(path(document, "persist-temporary", temporary))
    assert persisted.status_code == 201
    record = persisted.json()
    assert caller().get(path(document, record["id"], "note é.txt")).content == b"kept"
    assert caller().post(path(document, "persist-temporary", temporary)).status_code == 404
    assert len(caller().get(path(document)).json()) == 1


@pytest.mark.parametrize("temporary", ["unknown", "é", "a/b", " ", "%FF", "sandbox-temporary-abs-dev-99"])
def test_an_unknown_temporary_file_is_not_found(caller: Any, document: str, temporary: str) -> None:
    assert caller().post(path(document, "persist-temporary", temporary)).status_code == 404


def test_the_published_temporary_files_are_pictures(caller: Any, document: str) -> None:
    record = caller().post(path(document, "persist-temporary", "sandbox-temporary-ort-dev-20")).json()
    assert record["filename"] == "temporary-20.png"
    answer = caller().get(path(document, record["id"], "temporary-20.png"))
    assert Image.open(io.BytesIO(answer.content)).size == (16, 16)


def test_a_thumbnail_is_a_small_picture_of_the_picture(caller: Any, document: str) -> None:
    record = upload(caller(), document, "photo.jpg", picture())
    answer = caller(None).get(path(document, record["id"], "photo.jpg", "thumbnail"))
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
def test_any_other_file_gets_a_plain_tile(caller: Any, document: str, name: str, content: bytes) -> None:
    record = upload(caller(), document, name, content)
    answer = caller().get(path(document, record["id"], name, "thumbnail"))
    assert answer.status_code == 200
    assert Image.open(io.BytesIO(answer.content)).size == (160, 160)


def test_a_range_is_not_taken(caller: Any, document: str) -> None:
    record = upload(caller(), document, "a.txt", b"12345")
    for value in ("bytes=1-2", "bytes=9-", "nonsense", "bytes=" + "0-0," * 500):
        answer = caller().get(path(document, record["id"], "a.txt"), headers={"Range": value})
        assert (answer.status_code, answer.content) == (200, b"12345")
