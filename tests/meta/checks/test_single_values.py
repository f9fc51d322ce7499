"""A preview is known by its bytes and a label that does not deny them; a timestamp by all forms of ISO 8601 in UTC."""

import pytest

from registry_contracts.cases.contents import RED
from registry_contracts.checks.documents import is_image
from registry_contracts.checks.sign_in import is_utc_with_fraction
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


FINE = [
    "2026-11-21T10:11:12.3Z",
    "2026-11-21T10:11:12,345Z",
    "20261121T101112,3+0000",
    "2026-W47-6T10:11:12.5Z",
    "2024-366T10:11:12.5Z",
    "2026-12-31T23:59:60.5Z",
]
NOT = [
    None,
    "2026-11-21T10:11:12Z",
    "2026-11-21T10:11:12.Z",
    "2026-11-21T10:11:12.345",
    "2026-11-21T10:11:12.345+02:00",
    "2026-11-21 10:11:12.345Z",
    "2026-02-30T10:11:12.345Z",
    "2026-11-21T10:11:12.345Z\n",
    "٢٠٢٦-11-21T10:11:12.345Z",
]


@pytest.mark.parametrize(
    ("value", "fine"), [*((text, True) for text in FINE), *((value, False) for value in NOT)]
)
def test_every_form_of_the_standard_is_fine_and_nothing_else(value: object, fine: bool) -> None:
    assert is_utc_with_fraction(value) is fine
