"""Submissions that are accepted, and what comes of them: an identifier, a record that exists, a draft.

Nothing here can be removed through the interface, so each accepted submission serves several claims.
"""

from contracts.generation.samples import Samples
from contracts.generation.submissions import (
    BEYOND_ASCII,
    CREATE,
    CREATE_NAMED,
    LONGEST_BATCH,
    LONGEST_INFO,
    UPDATE,
    submit,
)
from contracts.generation.workflow_records import WorkflowRecords
from contracts.judging import rows
from contracts.judging.claims import Claims, Observer
from contracts.judging.identity import claim_identifier, without_errors
from contracts.judging.shapes import shape
from contracts.plugin.marks import contract
from contracts.session.actor import Actor
from contracts.session.namespace import Namespace


@contract(
    "workflow-create-accepted",
    "workflow-identifier-returned",
    "errors-absent-on-success",
    "workflow-identifier-origin",
    "workflow-answer",
    operations=[CREATE],
    profile="smoke",
)
def test_a_record_is_created_without_an_identifier_in_the_path(
    author: Actor,
    records: WorkflowRecords,
    samples: Samples,
    fresh: Namespace,
    claim: Claims,
    observe: Observer,
) -> None:
    """A valid document is accepted, and the answer carries the identifier of the new record."""
    identifier = fresh.uid()
    submission = samples.submission(identifier)
    sent = submit(CREATE, author, samples, identifier, submission)
    claim("workflow-create-accepted").accepted(sent)
    without_errors(claim("errors-absent-on-success", CREATE), sent)
    given = claim_identifier(claim("workflow-identifier-returned"), sent, submission, records.comes_to_know)
    observe("workflow-identifier-origin", CREATE, "the header's" if given == identifier else "another")
    observe("workflow-answer", CREATE, shape(sent))


@contract(
    "workflow-create-with-identifier-accepted",
    "workflow-identifier-kept",
    "workflow-created-exists",
    "workflow-created-known",
    "errors-absent-on-success",
    "workflow-success-status",
    operations=[CREATE_NAMED],
    profile="smoke",
)
def test_a_record_is_created_under_a_free_identifier(
    author: Actor,
    records: WorkflowRecords,
    samples: Samples,
    fresh: Namespace,
    claim: Claims,
    observe: Observer,
) -> None:
    """A valid document is accepted under a free identifier, which is in use from then on."""
    identifier = fresh.uid()
    sent = submit(CREATE_NAMED, author, samples, identifier)
    claim("workflow-create-with-identifier-accepted").accepted(sent)
    claim("workflow-identifier-kept", CREATE_NAMED).carries(sent, identifier)
    without_errors(claim("errors-absent-on-success", CREATE_NAMED), sent)
    observe("workflow-success-status", CREATE_NAMED, sent.answer.status)
    records.settles(identifier)
    again = submit(CREATE_NAMED, author, samples, identifier)
    rows.claim_in_use(claim("workflow-created-exists"), sent, again)
    update = records.try_faulty(identifier)
    rows.claim_known(claim("workflow-created-known"), sent, update)


@contract(
    "workflow-distinct-identifiers",
    "workflow-batch-longest",
    "workflow-batch-shared",
    operations=[CREATE],
)
def test_two_records_of_one_batch_are_two_records(
    author: Actor, samples: Samples, fresh: Namespace, records: WorkflowRecords, claim: Claims
) -> None:
    """Two records are created with the same batchId of 100 characters, under different identifiers."""
    batch = fresh.uid(LONGEST_BATCH)
    one, two = (samples.submission(fresh.uid(), batchId=batch) for _ in range(2))
    first = submit(CREATE, author, samples, "", one)
    rows.accepted_for(
        claim("workflow-batch-longest", CREATE), first, lambda: submit(CREATE, author, samples, fresh.uid())
    )
    second = submit(CREATE, author, samples, "", two)
    rows.accepted_for(
        claim("workflow-batch-shared", CREATE), second, lambda: submit(CREATE, author, samples, fresh.uid())
    )
    given = [records.given(first, one), records.given(second, two)]
    claim("workflow-distinct-identifiers").holds(
        given[0] != given[1], first, second, expected="two different identifiers", seen=f"{given[0]} twice"
    )


@contract(
    "workflow-identifier-edges",
    "workflow-batch-longest",
    operations=[CREATE_NAMED],
)
def test_the_shortest_identifier_and_the_longest_batch_are_accepted(
    author: Actor, samples: Samples, fresh: Namespace, claim: Claims
) -> None:
    """An identifier of 11 characters is accepted, and a batchId of 100."""
    identifier = fresh.uid(11)
    submission = samples.submission(identifier, batchId=fresh.uid(LONGEST_BATCH))
    rows.both_accepted(
        claim("workflow-batch-longest", CREATE_NAMED),
        claim("workflow-identifier-edges"),
        lambda: submit(CREATE_NAMED, author, samples, identifier, submission),
        lambda: submit(CREATE_NAMED, author, samples, identifier),
    )


@contract(
    "workflow-update-accepted",
    "workflow-batch-longest",
    "workflow-identifier-kept",
    "errors-absent-on-success",
    operations=[UPDATE],
    last=True,
)
def test_a_record_is_updated(
    author: Actor, records: WorkflowRecords, samples: Samples, claim: Claims
) -> None:
    """A valid document is accepted as an update of a record that exists and is not locked."""
    identifier = records.spendable()
    submission = samples.submission(identifier, batchId="b" * LONGEST_BATCH)
    sent = rows.both_accepted(
        claim("workflow-batch-longest", UPDATE),
        claim("workflow-update-accepted"),
        lambda: submit(UPDATE, author, samples, identifier, submission),
        lambda: submit(UPDATE, author, samples, identifier),
    )
    claim("workflow-identifier-kept", UPDATE).carries(sent, identifier)
    without_errors(claim("errors-absent-on-success", UPDATE), sent)


@contract("workflow-info-longest", "workflow-success-status", operations=[CREATE_NAMED])
def test_the_longest_information_is_accepted_from_a_holder_of_the_nau_role(
    nau: Actor, samples: Samples, fresh: Namespace, claim: Claims, observe: Observer
) -> None:
    """An additionalInfo of exactly 1000 characters is accepted, though they are 2000 bytes."""
    identifier = fresh.uid()
    submission = samples.submission(identifier, additionalInfo=BEYOND_ASCII * LONGEST_INFO)
    sent = submit(CREATE_NAMED, nau, samples, identifier, submission)
    rows.accepted_for(
        claim("workflow-info-longest", CREATE_NAMED),
        sent,
        lambda: submit(CREATE_NAMED, nau, samples, fresh.uid()),
    )
    observe("workflow-success-status", CREATE_NAMED, sent.answer.status)


@contract("workflow-info-longest", operations=[CREATE], profile="nightly")
def test_the_longest_information_is_accepted_without_an_identifier_too(
    nau: Actor, samples: Samples, fresh: Namespace, claim: Claims
) -> None:
    """An additionalInfo of 1000 characters is accepted by create without an identifier in the path."""
    submission = samples.submission(fresh.uid(), additionalInfo="i" * LONGEST_INFO)
    rows.accepted_for(
        claim("workflow-info-longest", CREATE),
        submit(CREATE, nau, samples, "", submission),
        lambda: submit(CREATE, nau, samples, fresh.uid()),
    )
