"""What is saved in a draft comes back as it was saved, also text that services tend to spoil."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import pytest

from contracts.cases import Expect, Observer, Samples, World, contents, contract, drafts


class Content(NamedTuple):
    """A document, the clause on what comes back that it shows, and the first profile that sends it."""

    clause: str
    document: Callable[[Samples, str], dict[str, Any]]
    profile: str = "gate"


CONTENTS = {
    "text in many scripts": Content("draft-text-kept", contents.many_scripts),
    "text of 1200000": Content("draft-get-content", partial(contents.long_text, length=1_200_000), "nightly"),
}


@contract(
    "draft-save-creates",
    "draft-save-body",
    operations=["getDraft", "saveDraft"],
    profile="nightly",
    requests=3,
)
@pytest.mark.parametrize(
    ("what", "content"),
    [
        pytest.param(what, content, id=what, marks=contract(content.clause, profile=content.profile))
        for what, content in CONTENTS.items()
    ],
)
def test_what_was_taken_comes_back(
    world: World, expect: Expect, observe: Observer, what: str, content: Content
) -> None:
    """Text in any script comes back to the character, and long text whole, if a save accepted it."""
    uid = world.uid()
    document = content.document(world.samples, uid)
    saved = world.save(uid, document)
    read = world.author.get_draft(uid)
    drafts.claim_stored(expect("draft-save-creates"), world, uid, saved, read)
    telling = contents.changed(document, world.samples.draft(uid))
    taken = drafts.claim_kept_if_accepted(expect(content.clause, "getDraft"), saved, read, telling)
    observe("draft-save-body", "saveDraft", {what: taken})


@contract(
    "draft-get-content",
    "draft-save-creates",
    "draft-save-body",
    operations=["getDraft", "saveDraft"],
    requests=3,
)
def test_a_document_of_another_schema_is_kept_whole(world: World, expect: Expect, observe: Observer) -> None:
    """A document of the realm's workflow schema that was taken comes back whole, whatever kinds of value it holds."""
    uid = world.uid()
    document = world.samples.document(uid)
    saved = world.save(uid, document, schema=world.samples.workflow_schema)
    read = world.author.get_draft(uid)
    drafts.claim_stored(expect("draft-save-creates"), world, uid, saved, read)
    taken = drafts.claim_kept_if_accepted(expect("draft-get-content"), saved, read, document)
    observe("draft-save-body", "saveDraft", {"another schema": taken})


@contract("draft-save-incomplete", profile="nightly", requests=9)
def test_what_is_no_whole_contact_record_is_observed(world: World, observe: Observer) -> None:
    """Whether a draft has to be complete or valid by its schema is not shown."""
    uid = world.uid()
    documents = contents.incomplete(world.samples, uid)
    seen = {name: drafts.fate(world, uid, document) for name, document in documents.items()}
    observe("draft-save-incomplete", "saveDraft", seen)


@contract("draft-save-body", profile="nightly", requests=17)
def test_what_no_contact_record_holds_is_observed(world: World, observe: Observer) -> None:
    """What becomes of members and structures that no contact record has is not shown."""
    uid = world.uid()
    documents = contents.odd_structures(world.samples, uid)
    seen = {name: drafts.fate(world, uid, document) for name, document in documents.items()}
    observe("draft-save-body", "saveDraft", seen)
