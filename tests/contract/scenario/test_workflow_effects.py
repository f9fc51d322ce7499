"""The effects of accepted and of refused submissions."""

from registry_contracts.cases import (
    CREATE_NAMED,
    UPDATE,
    Actor,
    Expect,
    Rows,
    WorkflowRecords,
    World,
    contract,
    errors_array,
    submissions,
    table,
)

#: A clause on drafts has no meaning in the realm without drafts; this operation exists only in the others.
DRAFT_REALMS = ["saveDraft"]


@contract("workflow-order-validation-before-initiate", "workflow-order-validation-before-save")
@contract("workflow-document-validated", *submissions.ERROR_CLAUSES, operations=[CREATE_NAMED], requests=3)
def test_a_submission_refused_for_its_content_leaves_nothing(rows: Rows) -> None:
    """Validation comes first: a faulty document never becomes a draft, and its identifier is not locked."""
    rows.claim(table.Row(CREATE_NAMED, "faulty"))


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
    records.claim_nothing_came_of(expect("workflow-rights-refusal-stores-nothing"), identifier, refused)


@contract("workflow-draft-saved", operations=DRAFT_REALMS, requests=34, last=True)
def test_an_accepted_submission_is_found_as_a_draft(
    world: World, records: WorkflowRecords, expect: Expect
) -> None:
    """The draft operations show submitted documents, unless they hide the drafts of locked records."""
    for identifier in (records.submitted(), records.submitted("submitted too")):
        submissions.claim_draft_saved(expect("workflow-draft-saved"), world, identifier)
