"""Variants that read the document otherwise: each differs from the plain sandbox in what its sentence says."""

from collections.abc import Callable
from typing import Any

import pytest

from contracts.sandbox.variants.readings import READING_VARIANTS

Probe = Callable[[Any], Any]


def faults(kit: Any, **members: Any) -> Any:
    answer = kit.post_contact(kit.contact(**members))
    return [error["code"] for error in answer.json().get("errors", [])]


def posting(kit: Any, **members: Any) -> int:
    return int(kit.post_contact(kit.contact(**members)).status_code)


def saving(kit: Any, body: bytes, **query: str) -> int:
    headers = {"Content-Type": "application/json"}
    sent = query or {"schema": "contact"}
    return int(kit.ask("PUT", kit.draft(kit.uid()), params=sent, data=body, headers=headers).status_code)


def between_realms(kit: Any) -> int:
    """Whether a submission is accepted that names its realm in the query and another in the header."""
    body = {"document": kit.permit()}
    path = "/api/v2023/documents/schemas/absPermit"
    return int(kit.ask("POST", path, realm="bch-dev", params={"Realm": "abs-dev"}, json=body).status_code)


DIFFERENCES: dict[str, tuple[Probe, Any]] = {
    "faults-one-at-a-time": (
        lambda kit: len(faults(kit, firstName=None, lastName=None, type=None)),
        1,
    ),
    "codes-coarse": (lambda kit: faults(kit, emails=7), ["Error.InvalidValue"]),
    "unknown-fields-kept": (lambda kit: posting(kit, colour="red"), 201),
    "terms-open": (lambda kit: posting(kit, country={"identifier": "xx"}), 201),
    "collections-open": (lambda kit: kit.drafts(collection="yours").status_code, 200),
    "realm-any-case": (lambda kit: kit.submit("POST", kit.uid(), realm="ABS-Dev").status_code, 201),
    "realm-query-first": (between_realms, 201),
    "draft-any-schema": (lambda kit: saving(kit, b"{}", schema="unheard"), 201),
    "draft-any-json": (lambda kit: saving(kit, b"[1]"), 201),
    "json-lenient": (lambda kit: saving(kit, b'\xef\xbb\xbf{"a": 1, "a": 2}'), 201),
    "errors-always": (lambda kit: kit.save(kit.uid()).json().get("errors"), []),
    "errors-only": (lambda kit: list(kit.post_contact({}).json()), ["errors"]),
}


@pytest.mark.parametrize("name", DIFFERENCES)
def test_a_variant_differs_as_it_says(kit_of: Callable[..., Any], plain: Any, name: str) -> None:
    probe, seen = DIFFERENCES[name]
    assert probe(kit_of(name)) == seen
    assert probe(plain) != seen


def test_contacts_still_need_a_schema_where_drafts_need_none(kit_of: Callable[..., Any]) -> None:
    kit = kit_of("draft-any-schema")
    path = "/api/v2013/documents"
    assert kit.ask("POST", path, params={"schema": "unheard"}, json=kit.contact()).status_code == 400


def test_what_is_no_json_is_refused_all_the_same(kit_of: Callable[..., Any]) -> None:
    kit = kit_of("json-lenient")
    assert [saving(kit, body) for body in (b"{'a': 1}", b'{"a": 1,}', b'{"a": 1} more')] == [400] * 3


def test_every_variant_is_probed() -> None:
    assert list(DIFFERENCES) == [variant.name for variant in READING_VARIANTS]
