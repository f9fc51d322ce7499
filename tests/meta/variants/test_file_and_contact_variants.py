"""Variants of attachments and of contacts: each differs from the plain sandbox in what its sentence says."""

import io
from collections.abc import Callable
from typing import Any

import pytest
from PIL import Image

from contracts.sandbox.variants import attachments, contacts

Probe = Callable[[Any], Any]


def attaching(kit: Any, name: str = "note.txt", content: bytes = b"a note") -> Any:
    return kit.attach(kit.saved(), name, content)


def picture() -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (40, 30), "red").save(buffer, "PNG")
    return buffer.getvalue()


def same_name(kit: Any) -> int:
    uid = kit.saved()
    kit.attach(uid)
    return int(kit.attach(uid).status_code)


def of_nothing(kit: Any) -> list[int]:
    uid = kit.uid()
    return [kit.attachments(uid).status_code, kit.attach(uid).status_code]


def thumbnail(kit: Any, name: str, content: bytes) -> Any:
    return kit.ask("GET", kit.attached(name, content) + "/thumbnail", realm=None)


def misnamed(kit: Any) -> int:
    path = kit.attached().replace("note.txt", "other.txt")
    return int(kit.ask("GET", path, realm=None).status_code)


def posting(kit: Any, **members: Any) -> int:
    return int(kit.post_contact(kit.contact(**members)).status_code)


def posted_twice(kit: Any, role: str = "author") -> int:
    uid = kit.uid()
    kit.post_contact(kit.contact(uid))
    return int(kit.post_contact(kit.contact(uid), role=role).status_code)


def disagreeing(kit: Any) -> int:
    uid = kit.uid()
    kit.post_contact(kit.contact(uid))
    return int(kit.put_contact(uid, kit.contact("test-quite-another")).status_code)


DIFFERENCES: dict[str, tuple[Probe, Any]] = {
    "empty-file-refused": (lambda kit: attaching(kit, content=b"").status_code, 400),
    "file-names-plain": (lambda kit: attaching(kit, "a note.txt").status_code, 400),
    "file-names-changed": (lambda kit: attaching(kit, "a note.txt").json()["filename"], "a_note.txt"),
    "file-names-unread": (misnamed, 200),
    "file-names-unique": (same_name, 409),
    "attachments-of-anything": (of_nothing, [200, 201]),
    "thumbnails-of-pictures": (lambda kit: thumbnail(kit, "note.txt", b"a note").status_code, 404),
    "thumbnails-jpeg": (
        lambda kit: Image.open(io.BytesIO(thumbnail(kit, "red.png", picture()).content)).format,
        "JPEG",
    ),
    "contact-put-creates": (lambda kit: kit.put_contact(kit.uid(), kit.contact()).status_code, 200),
    "contact-post-updates": (posted_twice, 201),
    "references-open": (
        lambda kit: posting(kit, contactOrganization={"identifier": "nobody-knows-it"}),
        201,
    ),
    "numbers-as-text": (lambda kit: posting(kit, firstName=7), 201),
    "nulls-absent": (lambda kit: posting(kit, middleName=None), 201),
    "forms-checked": (lambda kit: posting(kit, emails=["nobody"]), 400),
    "languages-six": (lambda kit: posting(kit, organization={"sw": "Ofisi"}), 400),
    "header-ignored": (disagreeing, 200),
    "header-whole": (lambda kit: posting(kit, header={"schema": "contact"}), 400),
}


@pytest.mark.parametrize("name", DIFFERENCES)
def test_a_variant_differs_as_it_says(kit_of: Callable[..., Any], plain: Any, name: str) -> None:
    probe, seen = DIFFERENCES[name]
    assert probe(kit_of(name)) == seen
    assert probe(plain) != seen


def test_a_contact_is_not_updated_by_the_post_of_another(kit_of: Callable[..., Any]) -> None:
    assert posted_twice(kit_of("contact-post-updates"), role="other") == 409


def test_a_contact_is_not_created_by_the_update_of_an_account_without_rights(
    kit_of: Callable[..., Any],
) -> None:
    kit = kit_of("contact-put-creates")
    uid = kit.uid()
    assert kit.put_contact(uid, kit.contact(), role="restricted").status_code == 403
    assert kit.ask("HEAD", kit.draft(uid)).status_code == 404


def test_every_variant_is_probed() -> None:
    assert list(DIFFERENCES) == [
        variant.name for module in (attachments, contacts) for variant in module.VARIANTS
    ]
