"""Schemas and identifiers in the path of a submission."""

from functools import partial

from registry_contracts.cases import (
    CREATE_NAMED,
    UID_LONGEST,
    UID_SHORTEST,
    Expect,
    WorkflowRecords,
    World,
    claim_each_refused,
    comparison,
    contract,
    identifiers,
    submissions,
)
from registry_contracts.plugin.worker import Worker

#: Forbidden characters: near misses, both misreadings of the pattern, other scripts, white space.
FORBIDDEN = (".", " ", "]", "\\", "é", "\n")


@contract("workflow-schema-of-another-realm", requests=2)
def test_the_schema_of_another_realm_is_not_configured(
    world: World, records: WorkflowRecords, expect: Expect, worker: Worker, operation: str, realm: str
) -> None:
    """The workflow schema of another realm is unknown here, and the message names this realm."""
    identifier = records.subject(operation)
    faulty = world.samples.faulty_submission(identifier)
    schema = identifiers.foreign_schema(worker.target, realm, turn=operation)
    sent = world.submit(operation, identifier, faulty, schema=schema)
    expect("workflow-schema-of-another-realm", operation).has_message(sent, realm)


@contract("workflow-identifier-too-short", "workflow-identifier-too-long", "workflow-identifier-characters")
@contract(operations=[CREATE_NAMED], requests=10)
def test_an_identifier_outside_the_rule_is_refused(world: World, expect: Expect, operation: str) -> None:
    """A create under an invalid identifier is refused; an update refuses unknown identifiers anyway."""
    shortest = len(world.fresh.prefix) + 1
    forbidden = {
        "workflow-identifier-too-short": [world.uid(UID_SHORTEST - 1), world.uid(shortest)],
        "workflow-identifier-too-long": [world.uid(UID_LONGEST + 1), world.uid(2 * UID_LONGEST)],
        "workflow-identifier-characters": [world.uid() + sign for sign in FORBIDDEN],
    }
    for clause, (*bad, last) in forbidden.items():
        sent = [submissions.submit_unnamed(world, identifier) for identifier in bad]
        sent.append(world.submit(operation, last))  # with the identifier in the header, too
        claim_each_refused(expect(clause, operation), sent)


@contract("workflow-identifier-edges", "workflow-batch-characters", "workflow-identifier-case-sensitive")
@contract("workflow-identifier-kept", operations=[CREATE_NAMED], requests=3, records=1)
def test_the_longest_identifier_is_accepted_and_its_letter_case_counts(
    world: World, records: WorkflowRecords, expect: Expect
) -> None:
    """128 characters are accepted, with a batchId of 200 bytes, and returned; in other letter case they are free."""
    identifier = identifiers.other_case(world.fresh, world.uid(UID_LONGEST))
    submission = world.samples.submission(
        identifier, batchId=submissions.BEYOND_ASCII * submissions.LONGEST_BATCH
    )
    submit = partial(world.submit, CREATE_NAMED, identifier)
    accepted = comparison.claim_accepted_for_each(
        submit(submission),
        (expect("workflow-batch-characters", CREATE_NAMED), submit),
        (expect("workflow-identifier-edges"), None),
    )
    expect("workflow-identifier-kept", CREATE_NAMED).carries(accepted, identifier)
    records.settles(identifier)
    other = identifiers.other_case(world.fresh, identifier)
    faulty = world.samples.faulty_submission(other) | {"batchId": world.uid()}
    again = world.submit(CREATE_NAMED, other, faulty)
    expect("workflow-identifier-case-sensitive", CREATE_NAMED).meets(
        "identifier-not-in-use", again, because_of=(accepted,)
    )
