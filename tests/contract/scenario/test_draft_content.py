"""What is saved in a draft comes back as it was saved, also text that services tend to spoil."""

from contracts.cases import Actor, Claims, Namespace, Observer, Samples, contents, contract, drafts


@contract("draft-text-kept", "draft-save-creates")
def test_text_in_many_scripts_is_kept(
    author: Actor, samples: Samples, fresh: Namespace, claim: Claims
) -> None:
    """Text in any script, and characters beyond the basic plane, come back as they were saved."""
    uid = fresh.uid()
    document = contents.many_scripts(samples, uid)
    saved = drafts.save(author, samples, uid, document)
    claim("draft-text-kept", "saveDraft").accepted(saved)
    read = author.send("getDraft", path={"uid": uid})
    drafts.stored(claim("draft-save-creates"), author, uid, saved, read)
    telling = contents.changed(document, samples.draft(uid))
    claim("draft-text-kept", "getDraft").shows(read, telling)


@contract(
    "draft-get-content",
    "draft-save-creates",
    "draft-save-body",
    operations=["getDraft", "saveDraft"],
    profile="nightly",
)
def test_text_of_a_million_characters_is_kept_whole(
    author: Actor, samples: Samples, fresh: Namespace, claim: Claims, observe: Observer
) -> None:
    """A draft of more than a megabyte comes back whole, if it was taken at all."""
    uid = fresh.uid()
    document = contents.long_text(samples, uid, 1_200_000)
    saved = drafts.save(author, samples, uid, document)
    read = author.send("getDraft", path={"uid": uid})
    drafts.stored(claim("draft-save-creates"), author, uid, saved, read)
    telling = contents.changed(document, samples.draft(uid))
    taken = drafts.kept_when_taken(claim("draft-get-content"), saved, read, telling)
    observe("draft-save-body", "saveDraft", {"text of 1200000": taken})


@contract("draft-get-content", "draft-save-creates", "draft-save-body", operations=["getDraft", "saveDraft"])
def test_a_document_of_another_schema_is_kept_whole(
    author: Actor, samples: Samples, fresh: Namespace, claim: Claims, observe: Observer
) -> None:
    """A document of the realm's workflow schema that was taken comes back whole, whatever kinds of value it holds."""
    uid = fresh.uid()
    document, query = samples.document(uid), {"schema": samples.workflow_schema}
    saved = author.send("saveDraft", path={"uid": uid}, query=query, json=document)
    read = author.send("getDraft", path={"uid": uid})
    drafts.stored(claim("draft-save-creates"), author, uid, saved, read)
    taken = drafts.kept_when_taken(claim("draft-get-content"), saved, read, drafts.without_header(document))
    observe("draft-save-body", "saveDraft", {"another schema": taken})


@contract("draft-save-incomplete", requests=12)
def test_what_is_no_whole_contact_record_is_observed(
    author: Actor, samples: Samples, fresh: Namespace, observe: Observer
) -> None:
    """Whether a draft has to be complete or valid by its schema is not shown."""
    uid = fresh.uid()
    seen = drafts.fate(author, samples, uid, contents.incomplete(samples, uid))
    observe("draft-save-incomplete", "saveDraft", seen)


@contract("draft-save-body", profile="nightly", requests=18)
def test_what_no_contact_record_holds_is_observed(
    author: Actor, samples: Samples, fresh: Namespace, observe: Observer
) -> None:
    """What becomes of members and structures that no contact record has is not shown."""
    uid = fresh.uid()
    seen = drafts.fate(author, samples, uid, contents.odd_structures(samples, uid))
    observe("draft-save-body", "saveDraft", seen)
