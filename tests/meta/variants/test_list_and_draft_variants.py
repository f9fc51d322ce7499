"""Variants of lists and of drafts: each differs from the plain sandbox in what its sentence says."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from contracts.sandbox.variants import drafts, lists, names
from contracts.sandbox.variants import drafts as sight
from contracts.sandbox.variants import lists as late
from tests.meta.variants.conftest import SCHEMA

Probe = Callable[[Any], Any]
JSON = {"Content-Type": "application/json"}


def page(kit: Any) -> Any:
    kit.saved()
    return kit.drafts(top=1).json()


def members(kit: Any) -> list[str]:
    """The members of the envelope of a list; none of a bare array."""
    answer = page(kit)
    return list(answer) if isinstance(answer, dict) else []


def page_of_eight(kit: Any) -> int:
    for _ in range(8):
        kit.saved()
    return len(kit.drafts(top=8).json())


def info(kit: Any) -> list[str]:
    return sorted(kit.ask("GET", kit.draft(kit.saved(), "/info")).json())


def by_no_field(kit: Any) -> Any:
    kit.saved()
    filtered, ordered = kit.drafts(filter="colour eq 'red'", top=1), kit.drafts(orderby="colour desc", top=1)
    return len(filtered.json()), len(ordered.json())


def others_listed(kit: Any) -> bool:
    uid = kit.saved(role="other")
    return uid in kit.drafts().text


def locked_listed(kit: Any) -> list[bool]:
    return ["sandbox-locked-abs-dev" in kit.drafts(collection=which).text for which in ("my", "mydrafts")]


def seen_at_once(kit: Any) -> list[bool]:
    uid = kit.saved()
    kit.attach(uid)
    return [uid in kit.drafts(collection="my").text, "note.txt" in kit.attachments(uid).text]


def given(kit: Any, body: Any = None) -> Any:
    return kit.ask("GET", kit.draft(kit.saved(body)))


def saving(kit: Any, body: Any) -> int:
    return int(kit.save(kit.uid(), body).status_code)


def elsewhere(kit: Any) -> int:
    return int(kit.ask("HEAD", kit.draft(kit.saved()), realm="bch-dev").status_code)


def others_read(kit: Any) -> int:
    return int(kit.ask("GET", kit.draft(kit.saved(role="other"))).status_code)


def told_faults(kit: Any) -> Any:
    answer = kit.save(kit.uid(), {"firstName": "Ada"}).json()
    return len(answer.get("errors", []))


HALF = b'{"odd": "a\\ud800b", "\\udc00": 1, "whole": "\\ud83d\\ude00"}'


def half_saved(kit: Any) -> Any:
    """The text of a draft with half of a surrogate pair, and whether save, info and list tell of it; or a refusal."""
    uid = kit.uid()
    answer = kit.ask("PUT", kit.draft(uid), params=SCHEMA, data=HALF, headers=JSON)
    if answer.status_code >= 400:
        return answer.status_code
    shown = [answer, kit.ask("GET", kit.draft(uid, "/info")), kit.drafts(filter=f"identifier eq '{uid}'")]
    told = [b'"odd":"a\\ud800b"' in each.content and each.content.isascii() for each in shown]
    return kit.ask("GET", kit.draft(uid)).content, told


DIFFERENCES: dict[str, tuple[Probe, Any]] = {
    "list-docs": (members, ["responseHeader", "response", "facet_counts"]),
    "list-linked": (members, ["links", "page", "warnings", "results"]),
    "pages-of-five": (page_of_eight, 5),
    "list-with-documents": (lambda kit: "document" in page(kit)[0], True),
    "metadata-terse": (info, ["identifier", "schema"]),
    "odata-open": (by_no_field, (0, 1)),
    "odata-ignored": (by_no_field, (1, 1)),
    "list-own-only": (others_listed, False),
    "my-and-mydrafts-differ": (locked_listed, [True, False]),
    "restricted-shut-out": (lambda kit: kit.drafts(role="restricted").status_code, 403),
    "lists-late": (seen_at_once, [False, False]),
    "draft-wrapped": (lambda kit: "workingDocument" in given(kit).json(), True),
    "draft-extended": (lambda kit: given(kit, {"a": 1}).json().get("header", {}).get("version"), 1),
    "draft-rewritten": (lambda kit: given(kit, {"b": "é", "a": 1}).text, '{\n  "a": 1,\n  "b": "\\u00e9"\n}'),
    "draft-nulls-dropped": (lambda kit: given(kit, {"a": None, "b": [None]}).json(), {"b": [None]}),
    "draft-known-fields-only": (lambda kit: saving(kit, {"colour": "red"}), 400),
    "draft-valid-only": (lambda kit: saving(kit, {"firstName": "Ada"}), 400),
    "draft-faults-told": (told_faults, 6),
    "draft-content-answered": (lambda kit: kit.save(kit.uid(), {"a": 1}).json(), {"a": 1}),
    "drafts-shared": (elsewhere, 200),
    "others-drafts-hidden": (others_read, 404),
    "others-drafts-refused": (others_read, 403),
    "locked-draft-hidden": (lambda kit: kit.ask("GET", kit.draft("sandbox-locked-abs-dev")).status_code, 404),
    "half-pairs-kept": (half_saved, (HALF, [True, True, True])),
}


@pytest.mark.parametrize("name", DIFFERENCES)
def test_a_variant_differs_as_it_says(kit_of: Callable[..., Any], plain: Any, name: str) -> None:
    probe, seen = DIFFERENCES[name]
    assert probe(kit_of(name)) == seen
    assert probe(plain) != seen


def test_a_late_list_shows_what_was_made_and_drops_what_was_deleted(kit_of: Callable[..., Any]) -> None:
    kit = kit_of("lists-late")
    uid = kit.saved()
    assert kit.eventually(lambda: uid in kit.drafts().text)
    kit.ask("DELETE", kit.draft(uid))
    assert uid in kit.drafts().text
    assert kit.eventually(lambda: uid not in kit.drafts().text)


@pytest.mark.parametrize(
    "beside", ["list-with-documents", "draft-wrapped", "extra-members", "draft-nulls-dropped"]
)
def test_what_holds_half_a_pair_is_json_in_utf_8_whatever_else_is_different(
    kit_of: Callable[..., Any], beside: str
) -> None:
    kit = kit_of("half-pairs-kept", beside)
    uid = kit.uid()
    saved = kit.ask("PUT", kit.draft(uid), params=SCHEMA, data=HALF, headers=JSON)
    read = [kit.ask("GET", kit.draft(uid)), kit.ask("GET", kit.draft(uid, "/info")), kit.drafts()]
    for answer in (saved, *read):
        assert answer.status_code < 300
        assert "a\ud800b" in kit.values(json.loads(answer.content.decode("utf-8", "strict")))
    contact = kit.ask("POST", "/api/v2013/documents", params=SCHEMA, data=HALF, headers=JSON)
    assert contact.status_code == 400


def test_every_variant_is_probed() -> None:
    modules = (lists, late, drafts, sight, names)
    assert list(DIFFERENCES) == [variant.name for module in modules for variant in module.VARIANTS]
