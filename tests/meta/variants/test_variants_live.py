"""Every variant, and every combination of them, serves the life of records as the document tells it."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from contracts.sandbox.variants import ALL, COMBINATIONS

LOCKED = "The record is locked for workflow, cannot proceed."
ANONYMOUS = "Authorization required, user is anonymous."


@pytest.mark.parametrize("name", [*ALL, *COMBINATIONS])
def test_a_variant_serves_the_documented_life(kit_of: Callable[..., Any], name: str) -> None:
    kit = kit_of(name)
    assert kit.sign_in().json().keys() >= {"authenticationToken", "expiration"}
    drafts_live(kit)
    attachments_live(kit)
    contacts_live(kit)
    submissions_live(kit)


def drafts_live(kit: Any) -> None:
    uid = kit.uid()
    assert kit.save(uid, role=None).status_code in range(400, 500)
    assert kit.ask("HEAD", kit.draft(uid)).status_code in range(400, 500)
    assert kit.save(uid).status_code in range(200, 300)
    record = kit.contact(uid)
    given = kit.ask("GET", kit.draft(uid))
    assert given.ok
    assert any(holds(value, record) for value in kit.values(given.json()))
    assert kit.ask("GET", kit.draft(uid, "/info")).json()
    assert kit.ask("HEAD", kit.draft(uid)).status_code in range(200, 300)
    assert kit.eventually(lambda: uid in kit.drafts(collection="mydrafts", filter="schema eq 'contact'").text)
    assert kit.ask("DELETE", kit.draft(uid)).ok
    assert kit.ask("HEAD", kit.draft(uid)).status_code in range(400, 500)
    assert kit.eventually(lambda: uid not in kit.drafts(collection="my").text)


def holds(seen: Any, wanted: Any) -> bool:
    if isinstance(wanted, dict):
        return isinstance(seen, dict) and all(
            name in seen and holds(seen[name], wanted[name]) for name in wanted
        )
    return bool(seen == wanted)


def attachments_live(kit: Any) -> None:
    uid = kit.saved()
    assert kit.attach(uid).ok
    assert kit.eventually(lambda: "note.txt" in kit.attachments(uid).text)
    shown = [str(value) for value in kit.values(kit.attachments(uid).json())]
    numbers = {digits for value in shown for digits in re.findall(r"(?:^|attachments/)(\d+)(?:$|/)", value)}
    paths = [f"/api/v2013/documents/{uid}/attachments/{number}/note.txt" for number in numbers]
    assert b"a note" in [kit.ask("GET", path, realm=None).content for path in paths]
    assert any(kit.ask("HEAD", path, realm=None).ok for path in paths)


def contacts_live(kit: Any) -> None:
    uid = kit.uid()
    created = kit.post_contact(kit.contact(uid))
    assert created.ok
    told = [*kit.values(created.json() if created.content else None), uid]
    assert any(kit.put_contact(str(name), kit.contact()).ok for name in told if str(name).isascii())
    faulty = kit.contact(kit.uid())
    del faulty["lastName"]
    errors = [value for value in kit.values(kit.post_contact(faulty).json()) if isinstance(value, dict)]
    assert any(error.get("code") == "Error.Mandatory" and error["property"] == "lastName" for error in errors)


def submissions_live(kit: Any) -> None:
    uid = kit.uid()
    created = kit.submit("POST", uid)
    assert created.ok
    assert uid in created.text
    assert kit.submit("POST", uid).status_code == 400
    locked = kit.submit("PUT", "sandbox-locked-abs-dev")
    assert (locked.status_code, LOCKED in " ".join(locked.text.replace("\\n", " ").split())) == (400, True)
    refused = kit.submit("POST", kit.uid(), role=None)
    assert (refused.status_code, ANONYMOUS in " ".join(refused.text.replace("\\n", " ").split())) == (
        403,
        True,
    )
