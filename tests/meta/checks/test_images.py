"""A preview is known by its bytes, and by a label that does not deny them."""

import pytest

from registry_contracts.cases.contents import RED
from registry_contracts.checks.documents import is_image
from tests.meta.messages import answer

#: Body, media type, and whether it is taken for an image.
LABELLED: dict[str, tuple[bytes, str, bool]] = {
    "labelled": (RED, "image/png", True),
    "a drawing": (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml", True),
    "a format nobody here knows": (b"\x00\x01\x02\xff", "image/x-unknown", True),
    "called JSON": (RED, "application/json", False),
    "cut short": (RED[:-20], "image/png", False),
    "text called an image": ("aperçu à venir\r\n".encode(), "image/jpeg", False),
    "bytes of no format": (b"\x00\x01\x02\xff", "application/octet-stream", False),
}


@pytest.mark.parametrize("name", LABELLED)
def test_an_image_is_taken_for_one_and_nothing_else_is(name: str) -> None:
    body, media, taken = LABELLED[name]
    assert is_image(answer(body, media=media)) is taken
