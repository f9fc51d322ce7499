"""Accepted submissions and their effects: an identifier, a record that exists, a draft.

The interface can remove none of these records, so each accepted submission serves several claims.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from registry_contracts.cases import (
    CREATE,
    CREATE_NAMED,
    UPDATE,
    Actor,
    Exchange,
    Expect,
    Observer,
    Row,
    WorkflowRecords,
    World,
    comparison,
    contract,
    drafts,
    ended_in,
    errors_array,
    overlapping,
    shape,
    smoke,
    submissions,
)


@smoke()
@contract("workflow-create-accepted", "workflow-identifier-returned", "errors-absent-on-success")
@contract("workflow-batch-characters", "workflow-batch-longest", "workflow-batch-shared")
@contract("workflow-distinct-identifiers", "workflow-identifier-origin", "workflow-answer")
@contract(operations=[CREATE], requests=5, records=3)
def test_two_records_of_one_batch_are_created_without_an_identifier_in_the_path(
    world: World, records: WorkflowRecords, expect: Expect, observe: Observer
) -> None:
    """Valid documents are accepted, one alone and two in a batch, and the answers carry new identifiers."""
    alone = world.samples.submission(world.uid())
    sent = world.submit(CREATE, "", alone)
    submissions.claim_without_errors(expect("errors-absent-on-success", CREATE), sent)
    expect("workflow-create-accepted").accepted(sent)
    returned = expect("workflow-identifier-returned")
    given = submissions.claim_identifier(returned, sent, alone, records.comes_to_know)
    observe("workflow-identifier-origin", CREATE, submissions.origin(sent, alone))
    observe("workflow-answer", CREATE, shape(sent))
    batch, first = submissions.claim_longest_batch(expect, world)
    two = world.samples.submission(world.uid(), batchId=batch)
    second = world.submit(CREATE, "", two)
    comparison.claim_accepted_for_each(second, (expect("workflow-batch-shared", CREATE), lambda: sent))
    returned.meets("any-identifier", first)
    submissions.claim_told(returned, second, two)
    names = [given, records.given(first, first.request_body.json), records.given(second, two)]
    expected, seen = "three different identifiers", ", ".join(map(str, names))
    distinct = len({*names}) == len(names)
    expect("workflow-distinct-identifiers").holds(distinct, sent, first, second, expected=expected, seen=seen)
    records.offer("batch", batch, second)


@smoke()
@contract("workflow-create-with-identifier-accepted", "workflow-identifier-kept", "workflow-created-exists")
@contract("workflow-created-known", "errors-absent-on-success", "workflow-success-status")
@contract("workflow-submitted-state", "workflow-answer", operations=[CREATE_NAMED], requests=3)
def test_a_record_is_created_under_a_free_identifier(
    world: World, records: WorkflowRecords, expect: Expect, observe: Observer
) -> None:
    """A valid document is accepted under a free identifier, which is in use from then on."""
    sent = records.created()
    identifier = sent.notes["identifier"]
    submissions.claim_without_errors(expect("errors-absent-on-success", CREATE_NAMED), sent)
    expect("workflow-create-with-identifier-accepted").accepted(sent)
    expect("workflow-identifier-kept", CREATE_NAMED).carries(sent, identifier)
    observe("workflow-success-status", CREATE_NAMED, sent.answer.status)
    observe("workflow-answer", CREATE_NAMED, shape(sent))
    records.settles(identifier)
    again = world.submit(CREATE_NAMED, identifier)
    expect("workflow-created-exists").meets("identifier-in-use", again, because_of=(sent,))
    update = records.try_faulty(identifier)
    expect("workflow-created-known").meets("record-found", update, because_of=(sent,))
    observe("workflow-submitted-state", CREATE_NAMED, "locked" if ended_in(update, Row.LOCKED) else "open")
    records.offer("submitted", identifier, sent)


@contract("workflow-identifier-edges", "workflow-batch-longest", "workflow-batch-shared")
@contract("workflow-refused-frees-identifier", "workflow-identifier-once")
@contract(operations=[CREATE_NAMED], requests=3, last=True, records=1)
def test_the_shortest_identifier_is_accepted_where_a_faulty_document_was_refused(
    world: World, records: WorkflowRecords, expect: Expect
) -> None:
    """An identifier of 11 characters, left free by a refusal for content, is accepted in the third of a batch.

    It is sent twice at the same time: the other one finds the identifier in use.
    """
    identifier, batch, own = world.uid(11), records.batch(), world.uid(submissions.LONGEST_BATCH)

    def send(submission: dict[str, Any]) -> Exchange:
        named = submission["document"]["header"]["identifier"]
        return world.submit(CREATE_NAMED, named, submission)

    def batched(uid: str, **batch: str) -> Callable[[], Exchange]:
        return lambda: send(world.samples.submission(uid, **batch))

    errors_array.refused_before(send(world.samples.faulty_submission(identifier)))
    once, submission = expect("workflow-identifier-once"), world.samples.submission(identifier, batchId=batch)
    sent = overlapping.claim_one_of_two(once, send, submission)
    comparison.claim_accepted_for_each(
        sent,
        (expect("workflow-refused-frees-identifier"), batched(world.uid(11), batchId=batch)),
        (expect("workflow-batch-shared", CREATE_NAMED), batched(world.uid(11), batchId=own)),
        (expect("workflow-identifier-edges"), batched(world.uid(), batchId=own)),
        (expect("workflow-batch-longest", CREATE_NAMED), batched(world.uid())),
    )
    records.offer("submitted too", identifier, sent)


@contract("workflow-update-accepted", "workflow-update-replaces-draft", "workflow-batch-longest")
@contract("workflow-identifier-kept", "errors-absent-on-success", "workflow-answer")
@contract(operations=[UPDATE], requests=6, last=True)
def test_a_record_is_updated(
    world: World, records: WorkflowRecords, expect: Expect, observe: Observer
) -> None:
    """A valid document is accepted as an update of a record that exists and is not locked.

    One update has a batchId, the other has none.
    """
    identifier = records.spendable()
    before = drafts.save_reworded(world, identifier)
    submission = world.samples.submission(identifier, batchId="b" * submissions.LONGEST_BATCH)
    submit = partial(world.submit, UPDATE, identifier)
    sent = comparison.claim_accepted_for_each(
        submit(submission),
        (expect("workflow-batch-longest", UPDATE), submit),
        (expect("workflow-update-accepted"), None),
    )
    expect("workflow-identifier-kept", UPDATE).carries(sent, identifier)
    submissions.claim_without_errors(expect("errors-absent-on-success", UPDATE), sent)
    observe("workflow-answer", UPDATE, shape(sent))
    records.claim_draft_replaced(expect, identifier, before, sent)
    for bare in records.spare():
        before = drafts.save_reworded(world, bare)
        sent = world.submit(UPDATE, bare)
        expect("workflow-update-accepted").accepted(sent)
        records.claim_draft_replaced(expect, bare, before, sent)


@contract("workflow-info-longest", "workflow-info-available", "workflow-identifier-returned")
@contract("workflow-identifier-kept", "workflow-success-status")
@contract(operations=[CREATE, CREATE_NAMED], requests=1, records=1)
def test_the_longest_information_is_accepted_from_a_holder_of_the_nau_role(
    nau: Actor, world: World, expect: Expect, observe: Observer, operation: str
) -> None:
    """An additionalInfo of exactly 1000 characters is accepted, even if it has 2000 bytes."""
    sent = submissions.claim_longest_info(expect, operation, world, nau)
    for returned in expect.on("workflow-identifier-returned", operation):
        submissions.claim_told(returned, sent, sent.request_body.json)
    for kept in expect.on("workflow-identifier-kept", operation):
        kept.carries(sent, sent.notes["identifier"])
    observe("workflow-success-status", operation, sent.answer.status)
