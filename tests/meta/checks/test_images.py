"""A preview is known by its bytes, and by a label that does not deny them."""

from io import BytesIO

import pytest
from PIL import Image

from contracts.cases.contents import RED
from contracts.checks.documents import image_kind, is_image
from tests.meta.messages import answer

FORMATS = ("png", "jpeg", "gif", "webp", "bmp", "avif")


@pytest.mark.parametrize(
    ("body", "media"),
    [
        pytest.param(RED, "image/png", id="labelled"),
        pytest.param(RED, "application/octet-stream", id="plain-bytes"),
        pytest.param(RED, "", id="no-label"),
        pytest.param(b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml", id="drawing"),
        pytest.param(b"\x00\x01\x02\xff", "image/x-unknown", id="a-format-nobody-here-knows"),
    ],
)
def test_an_image_is_taken_for_one(body: bytes, media: str) -> None:
    assert is_image(answer(body, media=media))


@pytest.mark.parametrize(
    ("body", "media"),
    [
        pytest.param(RED, "application/json", id="called-json"),
        pytest.param(RED, "text/html", id="called-a-page"),
        pytest.param(RED[:-20], "image/png", id="cut-short"),
        pytest.param(b"no preview yet", "image/png", id="text-called-an-image"),
        pytest.param("aperçu à venir\r\n".encode(), "image/jpeg", id="text-in-utf-8"),
        pytest.param(b"", "image/png", id="nothing"),
        pytest.param(b"\x00\x01\x02\xff", "application/octet-stream", id="bytes-of-no-format"),
    ],
)
def test_what_is_no_image_is_not_taken_for_one(body: bytes, media: str) -> None:
    assert not is_image(answer(body, media=media))


def picture(name: str) -> bytes:
    """A small picture in this format."""
    stored = BytesIO()
    Image.new("RGB", (40, 30), "red").save(stored, name)
    return stored.getvalue()


@pytest.mark.parametrize("name", FORMATS)
def test_a_picture_is_known_by_its_format(name: str) -> None:
    assert image_kind(picture(name)) == name


@pytest.mark.parametrize("name", FORMATS)
def test_a_picture_without_its_end_is_known_as_broken(name: str) -> None:
    whole = picture(name)
    assert image_kind(whole[: min(len(whole) // 2, whole.find(b"mdat") % len(whole))]) == ""


@pytest.mark.parametrize("other", [b"RIFF\x24\x00\x00\x00WAVEfmt ", b"FIRR\x00\x00\x00\x00WEBPVP8 "])
def test_what_shares_half_a_beginning_with_a_picture_is_none(other: bytes) -> None:
    assert image_kind(other) is None


@pytest.mark.parametrize(
    ("body", "found"),
    [
        pytest.param(b"\xef\xbb\xbf\n <svg/>", "svg", id="after-a-mark-and-a-line"),
        pytest.param(b"<!-- a --><x:svg xmlns:x='http://www.w3.org/2000/svg'/>", "svg", id="prefixed"),
        pytest.param(b"<svg><path></svg>", "", id="not-well-formed"),
        pytest.param(b"<page><svg/></page>", "", id="within-a-page"),
        pytest.param(b"<svgs/>", None, id="another-word"),
        pytest.param(b"a drawing: <svg/>", None, id="text-first"),
    ],
)
def test_a_drawing_is_known_by_its_root(body: bytes, found: str | None) -> None:
    assert image_kind(body) == found
