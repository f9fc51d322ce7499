"""Variants of refusals and of names: each differs from the plain sandbox in what its sentence says."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from contracts.sandbox.variants import contacts, names

Probe = Callable[[Any], Any]
MESSAGE = "Authorization required, user is anonymous."
LARGE = 4_000_000_000


def anonymous(kit: Any) -> Any:
    return kit.submit("POST", kit.uid(), role=None)


def invalid(kit: Any) -> Any:
    return kit.post_contact(kit.contact(country=None)).json()


def attachment_id(kit: Any) -> Any:
    uid = kit.saved()
    return kit.attach(uid).json()["id"]


def own_identifier(kit: Any) -> bool:
    """Whether a new contact is found under the identifier of its header."""
    uid = kit.uid()
    kit.post_contact(kit.contact(uid))
    return kit.put_contact(uid, kit.contact()).ok


def header_identifier(kit: Any) -> bool:
    uid = kit.uid()
    document = {**kit.permit(), "header": {"identifier": uid}}
    return uid in kit.submit("POST", body={"document": document}).text


def renamed(kit: Any) -> Any:
    uid = kit.saved()
    kit.attach(uid)
    rows = kit.attachments(uid, filter=f"documentUid eq '{uid}'", orderby="_id")
    return rows.ok and {"documentUid", "_id"} <= rows.json()[0].keys()


def in_capitals(kit: Any) -> Any:
    rows = kit.drafts(filter="realm eq 'ABS-DEV'", top=1).json()
    return [row["realm"] for row in rows]


def nanoseconds(kit: Any) -> bool:
    uid = kit.saved()
    moment = kit.ask("GET", kit.draft(uid, "/info")).json()["createdOn"]
    rows = kit.drafts(filter=f"createdOn eq {moment}")
    return uid in rows.text and re.search(r"\.\d{9}\+00:00$", moment) is not None


DIFFERENCES: dict[str, tuple[Probe, Any]] = {
    "message-plain-text": (lambda kit: anonymous(kit).text, MESSAGE + "\n"),
    "message-under-error": (lambda kit: anonymous(kit).json().get("error", {}).get("message"), MESSAGE),
    "message-in-array": (lambda kit: anonymous(kit).json().get("messages", [{}])[0].get("text"), MESSAGE),
    "message-spaced": (
        lambda kit: anonymous(kit).json()["message"],
        "  “Authorization\nrequired, user is anonymous.” \r\n",
    ),
    "errors-nested": (lambda kit: "errors" in invalid(kit).get("validation", {}), True),
    "refusals-without-body": (lambda kit: kit.ask("GET", kit.draft(kit.uid())).content, b""),
    "problem-json": (lambda kit: anonymous(kit).headers["Content-Type"], "application/problem+json"),
    "ids-renamed": (renamed, True),
    "attachment-id-text": (lambda kit: type(attachment_id(kit)), str),
    "attachment-id-large": (lambda kit: attachment_id(kit) > LARGE, True),
    "id-in-location": (
        lambda kit: re.sub(r"test-\w+", "…", kit.save(kit.uid()).headers.get("Location", "")),
        "/api/v2013/documents/…",
    ),
    "contacts-minted": (own_identifier, False),
    "records-minted": (header_identifier, False),
    "identifiers-uuid": (lambda kit: len(kit.submit("POST").json()["identifier"]), 36),
    "realm-in-capitals": (in_capitals, ["ABS-DEV"]),
    "timestamps-nano": (nanoseconds, True),
}


@pytest.mark.parametrize("name", DIFFERENCES)
def test_a_variant_differs_as_it_says(kit_of: Callable[..., Any], plain: Any, name: str) -> None:
    probe, seen = DIFFERENCES[name]
    kit = kit_of(name)
    kit.saved(), plain.saved()
    assert probe(kit) == seen
    assert probe(plain) != seen


def test_every_variant_is_probed() -> None:
    assert list(DIFFERENCES) == [variant.name for module in (contacts, names) for variant in module.VARIANTS]
