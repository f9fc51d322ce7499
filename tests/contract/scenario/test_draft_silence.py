"""Drafts where the document is silent: observed, never judged."""

from registry_contracts.cases import Observer, World, contract, shape, status


@contract("draft-success-status", requests=7)
def test_statuses_of_successful_operations_are_observed(world: World, observe: Observer) -> None:
    """The document does not show the statuses of successful draft operations."""
    uid = world.uid()
    first, second = (world.save(uid, world.samples.draft(uid)) for _ in range(2))
    observe("draft-success-status", "saveDraft", {"create": status(first), "update": status(second)})
    observe("draft-success-status", "getDraft", status(world.author.get_draft(uid)))
    observe("draft-success-status", "getDraftInfo", status(world.author.get_draft_info(uid)))
    observe("draft-success-status", "draftExists", status(world.author.draft_exists(uid)))
    observe("draft-success-status", "deleteDraft", status(world.author.delete_draft(uid)))


@contract("draft-delete-absent", "draft-failure-status", requests=5)
def test_deleting_what_is_not_there_is_observed(world: World, observe: Observer) -> None:
    """The document does not say whether deleting an unknown draft, or one a second time, is refused."""
    never = world.author.delete_draft(world.uid())
    uid = world.draft().uid
    world.author.delete_draft(uid)
    again = world.author.delete_draft(uid)
    observe("draft-delete-absent", "deleteDraft", {"never": status(never), "again": status(again)})
    observe("draft-failure-status", "deleteDraft", shape(never))


@contract("draft-save-schema-unknown", "draft-failure-status", requests=5)
def test_saving_under_another_schema_is_observed(world: World, observe: Observer) -> None:
    """The document does not say how a save under an unknown or another schema is answered."""
    uid, draft = world.uid(), world.draft()
    unknown = world.save(uid, world.samples.draft(uid), schema="no-such-schema")
    changed = world.save(draft.uid, draft.document, schema=world.samples.workflow_schema)
    seen = {"unknown": status(unknown), "another": status(changed)}
    observe("draft-save-schema-unknown", "saveDraft", seen)
    observe("draft-failure-status", "saveDraft", shape(unknown))
