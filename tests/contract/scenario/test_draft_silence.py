"""Where the document is silent on drafts: what is seen there is noted and cannot fail."""

from functools import partial

from contracts.cases import Actor, Arrangement, Namespace, Observer, Samples, contract, drafts, shape, status


@contract("draft-success-status", requests=7)
def test_statuses_of_successful_operations_are_observed(
    author: Actor, samples: Samples, fresh: Namespace, observe: Observer
) -> None:
    """The statuses of successful draft operations are not shown."""
    uid = fresh.uid()
    first, second = (drafts.save(author, samples, uid, samples.draft(uid)) for _ in range(2))
    observe("draft-success-status", "saveDraft", {"create": status(first), "update": status(second)})
    observe("draft-success-status", "getDraft", status(author.send("getDraft", path={"uid": uid})))
    observe("draft-success-status", "getDraftInfo", status(author.send("getDraftInfo", path={"uid": uid})))
    observe("draft-success-status", "draftExists", status(author.send("draftExists", path={"uid": uid})))
    observe("draft-success-status", "deleteDraft", status(author.send("deleteDraft", path={"uid": uid})))


@contract("draft-delete-absent", "draft-failure-status", requests=5)
def test_deleting_what_is_not_there_is_observed(
    author: Actor, arrange: Arrangement, fresh: Namespace, observe: Observer
) -> None:
    """Deleting a draft that never was, or one a second time: refused or not, neither is shown."""
    never = author.send("deleteDraft", path={"uid": fresh.uid()})
    uid = arrange.draft(author).uid
    author.send("deleteDraft", path={"uid": uid})
    again = author.send("deleteDraft", path={"uid": uid})
    observe("draft-delete-absent", "deleteDraft", {"never": status(never), "again": status(again)})
    observe("draft-failure-status", "deleteDraft", shape(never))


@contract("draft-save-schema-unknown", "draft-failure-status", requests=5)
def test_saving_under_another_schema_is_observed(
    author: Actor, arrange: Arrangement, samples: Samples, fresh: Namespace, observe: Observer
) -> None:
    """What a save under a schema that is unknown or another than before, leads to is not shown."""
    uid, draft = fresh.uid(), arrange.draft(author)
    send = partial(author.send, "saveDraft", path={"uid": uid}, json=samples.draft(uid))
    unknown = send(query={"schema": "no-such-schema"})
    other = {"schema": samples.workflow_schema}
    changed = author.send("saveDraft", path={"uid": draft.uid}, query=other, json=draft.document)
    seen = {"unknown": status(unknown), "another": status(changed)}
    observe("draft-save-schema-unknown", "saveDraft", seen)
    observe("draft-failure-status", "saveDraft", shape(unknown))
