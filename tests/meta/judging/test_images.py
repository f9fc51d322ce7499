"""A preview is known by its bytes, and by a label that does not deny them."""

from typing import Any

import pytest

from contracts.generation.files import RED
from contracts.judging.images import is_image


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
def test_an_image_is_taken_for_one(answer: Any, body: bytes, media: str) -> None:
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
def test_what_is_no_image_is_not_taken_for_one(answer: Any, body: bytes, media: str) -> None:
    assert not is_image(answer(body, media=media))
