"""A preview is known by its bytes, and by a label that does not deny them."""

from io import BytesIO

import pytest
from PIL import Image

from registry_contracts.cases.contents import RED
from registry_contracts.checks.documents import image_kind, is_image
from tests.meta.messages import answer

#: Body, media type, and whether it is taken for an image.
LABELLED: dict[str, tuple[bytes, str, bool]] = {
    "labelled": (RED, "image/png", True),
    "plain bytes": (RED, "application/octet-stream", True),
    "a drawing": (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml", True),
    "a format nobody here knows": (b"\x00\x01\x02\xff", "image/x-unknown", True),
    "called JSON": (RED, "application/json", False),
    "cut short": (RED[:-20], "image/png", False),
    "text called an image": ("aperçu à venir\r\n".encode(), "image/jpeg", False),
    "nothing": (b"", "image/png", False),
    "bytes of no format": (b"\x00\x01\x02\xff", "application/octet-stream", False),
}


@pytest.mark.parametrize("name", LABELLED)
def test_an_image_is_taken_for_one_and_nothing_else_is(name: str) -> None:
    body, media, taken = LABELLED[name]
    assert is_image(answer(body, media=media)) is taken


@pytest.mark.parametrize("name", ["png", "jpeg", "gif", "webp", "bmp", "avif"])
def test_a_picture_is_known_by_its_format_and_without_its_end_as_broken(name: str) -> None:
    stored = BytesIO()
    Image.new("RGB", (40, 30), "red").save(stored, name)
    whole = stored.getvalue()
    assert image_kind(whole) == name
    assert image_kind(whole[: min(len(whole) // 2, whole.find(b"mdat") % len(whole))]) == ""
