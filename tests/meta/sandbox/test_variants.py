"""Variants: every habit of the sandbox has one that turns it. That they obey the document is shown by the proof."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pytest

from registry_contracts.sandbox.habits import Habits
from registry_contracts.sandbox.variants import ALL
from tests.meta.samples import draft_path
from tests.meta.sandbox_client import new_uid

_LISTED = "/api/v2013/document-drafts"


def test_each_habit_is_turned_by_a_variant() -> None:
    turned = {name for variant in ALL.values() for name in variant.habits}
    assert {field.name for field in fields(Habits)} == turned


@pytest.mark.parametrize(
    ("name", "owner"),
    [("drafts-shared", "author"), ("drafts-passed-on", "other"), ("drafts-of-both", "author other")],
)
def test_who_owns_a_draft_that_two_saved(client_of: Callable[..., Any], name: str, owner: str) -> None:
    client, uid = client_of(name), new_uid()
    assert client.save(uid).ok
    client.sign_in("other")
    assert client.save(uid).ok
    assert client.get(draft_path(uid, "/info")).json()["owner"] == owner
    own = client.get(_LISTED, params={"collection": "my", "$filter": f"identifier eq '{uid}'"}).json()
    assert bool(own) is client.delete(draft_path(uid)).ok is ("other" in owner)
