"""The workflow where the interface document is silent: observed, never claimed.

A submission that might be accepted has a faulty document, so these observations leave nothing behind.
"""

from typing import Any

from registry_contracts.cases import (
    CREATE_NAMED,
    UPDATE,
    Actor,
    Observer,
    WorkflowRecords,
    World,
    contract,
    errors_array,
    row_or_outcome,
)

#: Members beside the document, by clause and by what is undocumented.
MEMBERS: dict[str, dict[str, dict[str, Any]]] = {
    "workflow-info-from-others": {"text": {"additionalInfo": "Please publish soon."}},
    "workflow-info-empty": {"empty": {"additionalInfo": ""}, "null": {"additionalInfo": None}},
    "workflow-batch-empty": {"empty": {"batchId": ""}, "null": {"batchId": None}},
    "workflow-unknown-member": {"unknown": {"contractTestUnknownMember": "value"}},
}


@contract(*MEMBERS, operations=[CREATE_NAMED], requests=6)
def test_members_beside_the_document(world: World, observe: Observer) -> None:
    """The document does not say whether a faulty submission's errors name an unlisted member or it is refused first."""
    for clause, table in MEMBERS.items():
        seen = {}
        for name, members in table.items():
            uid = world.uid()
            sent = world.submit(CREATE_NAMED, uid, world.samples.faulty_submission(uid) | members)
            seen[name] = errors_array.describe_outcome(sent, members)
        observe(clause, CREATE_NAMED, seen)


@contract("workflow-header-disagrees", operations=[CREATE_NAMED, UPDATE], requests=1)
def test_a_header_that_disagrees_with_the_path(
    world: World, records: WorkflowRecords, observe: Observer, operation: str
) -> None:
    """The document does not say whether the errors name a header with another identifier than the path's."""
    identifier = records.subject(operation)
    sent = world.submit(operation, identifier, world.samples.faulty_submission(world.uid()))
    observe("workflow-header-disagrees", operation, errors_array.reports(sent.answer, "header"))


@contract("workflow-draft-only-record", operations=["saveDraft"], requests=4)
def test_a_document_with_nothing_but_a_draft(
    world: World, records: WorkflowRecords, observe: Observer
) -> None:
    """The document does not say whether a draft alone counts as an existing record, for create and for update."""
    identifier = records.draft()
    faulty = world.samples.faulty_submission(identifier)
    for operation in (CREATE_NAMED, UPDATE):
        sent = world.submit(operation, identifier, faulty)
        observe("workflow-draft-only-record", operation, row_or_outcome(sent))


@contract("workflow-taken-against-locked", operations=[CREATE_NAMED], requests=1.8)
def test_creating_under_the_identifier_of_a_locked_record(
    world: World, records: WorkflowRecords, observe: Observer
) -> None:
    """The document does not say whether a create under a locked identifier is refused as in use or as locked."""
    identifier = records.locked()
    sent = world.submit(CREATE_NAMED, identifier, world.samples.faulty_submission(identifier))
    observe("workflow-taken-against-locked", CREATE_NAMED, row_or_outcome(sent))


@contract("workflow-identity-against-realm", requests=1)
def test_a_submission_with_neither_realm_nor_token(
    anonymous: Actor, records: WorkflowRecords, world: World, observe: Observer, operation: str
) -> None:
    """The document does not say whether a missing realm or a missing token is reported first."""
    sent = world.submit(operation, records.subject(operation), realm=None, by=anonymous)
    observe("workflow-identity-against-realm", operation, row_or_outcome(sent))


@contract("workflow-update-by-another", operations=[UPDATE], requests=1.5)
def test_an_update_by_a_second_author(
    other: Actor, records: WorkflowRecords, world: World, observe: Observer
) -> None:
    """The document does not say why another author's faulty update is refused: for its content or missing rights."""
    identifier = records.standing()
    sent = world.submit(UPDATE, identifier, world.samples.faulty_submission(identifier), by=other)
    observe("workflow-update-by-another", UPDATE, row_or_outcome(sent))
