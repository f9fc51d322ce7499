"""The content of a draft comes back as it was saved, even text that services tend to corrupt."""

from typing import Any

from registry_contracts.cases import Expect, Observer, World, contract, drafts, drawn_contents, sample_records


@contract("draft-get-content", "draft-save-body", profile="nightly", requests=3)
@contract(operations=("getDraft", "saveDraft"))
def test_a_long_text_comes_back_whole(world: World, expect: Expect, observe: Observer) -> None:
    """A text of more than a megabyte comes back exactly, if the save was accepted."""
    uid, text = world.uid(), {"en": drawn_contents.long_text(1_200_000)}
    saved = world.save(uid, world.samples.draft(uid, relevantInformation=text))
    read = world.author.get_draft(uid)
    told = world.samples.members_of_draft(relevantInformation=text)
    taken = drafts.claim_kept_if_accepted(expect("draft-get-content"), saved, read, told)
    observe("draft-save-body", "saveDraft", {"text of 1200000": taken})


@contract("draft-get-content", "draft-save-body", requests=2, turns=True)
@contract(operations=("getDraft", "saveDraft"))
def test_a_document_of_another_schema_is_kept_whole(world: World, expect: Expect, observe: Observer) -> None:
    """A document of the realm's workflow schema comes back whole, if the save was accepted."""
    uid = world.uid()
    document = world.samples.document(uid)
    saved = world.save(uid, document, schema=world.samples.workflow_schema)
    read = world.author.get_draft(uid)
    taken = drafts.claim_kept_if_accepted(expect("draft-get-content"), saved, read, document)
    observe("draft-save-body", "saveDraft", {"another schema": taken})


@contract("draft-save-incomplete", profile="nightly", requests=9)
def test_what_is_no_whole_contact_record_is_observed(world: World, observe: Observer) -> None:
    """The document does not say whether a draft must be complete or valid by its schema."""
    uid = world.uid()
    whole = world.samples.draft(uid)
    documents: dict[str, dict[str, Any]] = {
        "empty": {},
        "mandatory missing": sample_records.without(whole, "lastName"),
        "wrong kind": whole | {"emails": "wangari.maathai@example.test"},
        "unknown term": whole | sample_records.UNKNOWN_COUNTRY,
    }
    seen = {name: drafts.fate(world, uid, document) for name, document in documents.items()}
    observe("draft-save-incomplete", "saveDraft", seen)
