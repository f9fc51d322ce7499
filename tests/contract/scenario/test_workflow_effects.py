"""The effects of accepted and of refused submissions."""

from registry_contracts.cases import (
    CREATE_NAMED,
    UPDATE,
    Actor,
    Expect,
    WorkflowRecords,
    World,
    contract,
    drafts,
    errors_array,
    submissions,
)

#: A clause on drafts has no meaning in the realm without drafts; this operation exists only in the others.
DRAFT_REALMS = ["saveDraft"]


@contract("workflow-order-validation-before-save", operations=DRAFT_REALMS, requests=2)
def test_a_submission_refused_for_its_content_leaves_no_draft(
    world: World, records: WorkflowRecords, expect: Expect
) -> None:
    """Validation comes before saving, so a faulty document never becomes a draft."""
    refused = errors_array.refused_before(records.faulty(CREATE_NAMED))
    clause = expect("workflow-order-validation-before-save")
    drafts.claim_no_draft(clause, world, [refused.notes["identifier"]], refused)


@contract("workflow-order-validation-before-initiate", operations=[CREATE_NAMED], requests=2)
def test_a_submission_refused_for_its_content_starts_no_workflow(
    world: World, records: WorkflowRecords, expect: Expect
) -> None:
    """Validation comes before the workflow is initiated, so the identifier of a faulty document is not locked."""
    refused = errors_array.refused_before(records.faulty(CREATE_NAMED))
    found = world.try_creating(refused.notes["identifier"])
    expect("workflow-order-validation-before-initiate").meets(
        "identifier-not-locked", found, because_of=(refused,)
    )


@contract("workflow-refused-update-keeps-draft", operations=DRAFT_REALMS, requests=9)
def test_an_update_refused_for_its_content_leaves_the_draft_as_it_was(
    world: World, records: WorkflowRecords, expect: Expect
) -> None:
    """The draft is the same before and after a faulty document was sent."""
    identifier = records.open_draft()
    before = [world.author.get_draft(identifier) for _ in range(2)]
    faulty = world.samples.faulty_submission(identifier)
    refused = errors_array.refused_before(world.submit(UPDATE, identifier, faulty))
    after = world.author.get_draft(identifier)
    submissions.claim_same_draft(expect("workflow-refused-update-keeps-draft"), before, refused, after)


@contract("workflow-rights-refusal-stores-nothing", operations=[CREATE_NAMED], requests=3.5)
def test_an_identifier_stays_free_after_a_refusal_for_want_of_rights(
    restricted: Actor, records: WorkflowRecords, world: World, expect: Expect
) -> None:
    """An account that may not create leaves nothing behind."""
    identifier = world.uid()
    refused = errors_array.refused_before(world.submit(CREATE_NAMED, identifier, by=restricted))
    clause = expect("workflow-rights-refusal-stores-nothing")
    records.claim_nothing_came_of(clause, identifier, refused)
    records.claim_identifier_free(clause, identifier, refused)


@contract("workflow-draft-saved", operations=DRAFT_REALMS, requests=34, last=True)
def test_an_accepted_submission_is_found_as_a_draft(
    world: World, records: WorkflowRecords, expect: Expect
) -> None:
    """The draft operations show submitted documents, unless they hide the drafts of locked records."""
    for identifier in (records.submitted(), records.submitted("submitted too")):
        submissions.claim_draft_saved(expect("workflow-draft-saved"), world, identifier)


@contract(*submissions.NEEDS_TOKEN.values(), requests=2, turns=True)
def test_a_submission_without_a_token_is_refused(
    anonymous: Actor, records: WorkflowRecords, expect: Expect, operation: str
) -> None:
    """Each submission needs a valid token; without one nothing is created, and no workflow is started."""
    refused, clause = (
        records.send(operation, anonymous),
        expect(submissions.NEEDS_TOKEN[operation], operation),
    )
    clause.refused(refused)
    records.claim_nothing_came_of(clause, refused.notes["identifier"], refused)
