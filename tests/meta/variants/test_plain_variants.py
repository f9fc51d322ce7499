"""Variants that change habits only: each differs from the plain sandbox in what its sentence says."""

from collections.abc import Callable
from typing import Any

import pytest

from contracts.sandbox.variants.habits import VARIANTS

Probe = Callable[[Any], Any]


def writes(kit: Any) -> list[int]:
    """Statuses of a save, a second save, an attachment, a new contact and a deletion."""
    uid = kit.uid()
    answers = [kit.save(uid), kit.save(uid), kit.attach(uid), kit.post_contact(kit.contact())]
    return [answer.status_code for answer in [*answers, kit.ask("DELETE", kit.draft(uid))]]


def bodies(kit: Any) -> list[bool]:
    uid = kit.uid()
    return [
        bool(answer.content) for answer in (kit.save(uid), kit.attach(uid), kit.post_contact(kit.contact()))
    ]


def refusals(kit: Any) -> list[int]:
    """Statuses without a token, for a draft that is not there, and for an unknown schema."""
    path = kit.draft(kit.uid())
    return [
        kit.ask("GET", path, role=None).status_code,
        kit.ask("GET", path).status_code,
        kit.ask("PUT", path, params={"schema": "unheard"}, json={}).status_code,
    ]


def faulty(kit: Any) -> tuple[int, str]:
    answer = kit.post_contact(kit.contact(country={"identifier": 1}))
    return answer.status_code, answer.json()["errors"][0]["property"]


def deleted_twice(kit: Any) -> int:
    uid = kit.saved()
    kit.ask("DELETE", kit.draft(uid))
    return int(kit.ask("DELETE", kit.draft(uid)).status_code)


def first_of_two(kit: Any) -> bool:
    uid = kit.saved()
    kit.attach(uid, "one.txt"), kit.attach(uid, "two.txt")
    return bool(kit.attachments(uid).json()[0]["filename"] == "two.txt")


def listed_of_twelve(kit: Any) -> int:
    for _ in range(12):
        kit.saved(role="nau")
    return len(kit.drafts(role="nau", collection="my").json())


def fraction(kit: Any) -> int:
    return len(kit.sign_in().json()["expiration"].rpartition(".")[2]) - 1


DIFFERENCES: dict[str, tuple[Probe, Any]] = {
    "success-200": (writes, [200, 200, 200, 200, 200]),
    "success-201": (writes, [201, 201, 201, 201, 201]),
    "success-202": (writes, [202, 202, 202, 202, 202]),
    "success-204": (writes, [204, 204, 204, 204, 204]),
    "writes-without-body": (bodies, [False, False, False]),
    "refusals-400": (refusals, [400, 400, 400]),
    "refusals-404": (refusals, [404, 404, 404]),
    "token-refused-403": (refusals, [403, 404, 400]),
    "malformed-422": (refusals, [401, 404, 422]),
    "missing-410": (refusals, [401, 410, 400]),
    "faults-200": (faulty, (200, "country")),
    "faults-409": (faulty, (409, "country")),
    "faults-422": (faulty, (422, "country.identifier")),
    "delete-idempotent": (deleted_twice, 204),
    "head-without-length": (
        lambda kit: kit.ask("HEAD", kit.draft(kit.saved())).headers.get("Content-Length", "0"),
        "0",
    ),
    "newest-first": (first_of_two, True),
    "pages-of-ten": (listed_of_twelve, 10),
    "list-items": (lambda kit: sorted(kit.drafts(top=1).json())[:1], ["items"]),
    "list-odata": (lambda kit: sorted(kit.drafts(top=1).json())[:1], ["@odata.count"]),
    "draft-under-body": (lambda kit: list(kit.ask("GET", kit.draft(kit.saved())).json())[:1], ["body"]),
    "realm-optional": (lambda kit: kit.save(kit.uid(), realm=None).status_code, 201),
    "attachments-closed": (
        lambda kit: kit.ask("GET", kit.attached(), role=None, realm=None).status_code,
        401,
    ),
    "timestamps-tenths": (fraction, 1),
    "timestamps-micro": (fraction, 6),
    "empty-text-missing": (lambda kit: kit.post_contact(kit.contact(firstName="")).status_code, 400),
    "submission-members-ignored": (
        lambda kit: kit.submit("POST", kit.uid(), {"document": kit.permit(), "note": 1}).status_code,
        201,
    ),
}


@pytest.mark.parametrize("name", DIFFERENCES)
def test_a_variant_differs_as_it_says(kit_of: Callable[..., Any], plain: Any, name: str) -> None:
    probe, seen = DIFFERENCES[name]
    assert probe(kit_of(name)) == seen
    assert probe(plain) != seen


def test_every_variant_is_probed() -> None:
    assert list(DIFFERENCES) == [variant.name for variant in VARIANTS]
