"""The order of the workflow's steps, told from its effects: identifier and lock, rights, validation, save.

A request with two faults is refused for the one that is looked at first. Where a row is not even given for its own
fault alone, nothing can be said about an order; the row's own clause holds that finding.
"""

from contracts.cases import (
    CREATE_NAMED,
    UPDATE,
    Actor,
    Claims,
    Namespace,
    Row,
    Samples,
    WorkflowRecords,
    contract,
    submissions,
    submit,
    usable,
)


@contract("workflow-order-taken-before-validation")
def test_an_identifier_in_use_counts_before_the_content(
    author: Actor, records: WorkflowRecords, samples: Samples, claim: Claims
) -> None:
    """A faulty document under an identifier in use is refused for the identifier."""
    identifier = records.standing()
    records.plain(Row.TAKEN, CREATE_NAMED, lambda: submit(CREATE_NAMED, author, samples, identifier))
    sent = submit(CREATE_NAMED, author, samples, identifier, samples.faulty_submission(identifier))
    claim("workflow-order-taken-before-validation").says(sent)


@contract("workflow-order-unknown-before-validation")
def test_an_unknown_identifier_counts_before_the_content(
    author: Actor, records: WorkflowRecords, samples: Samples, fresh: Namespace, claim: Claims
) -> None:
    """A faulty document under an identifier that does not exist is refused for the identifier."""
    identifier = fresh.uid()
    records.plain(Row.UNKNOWN, UPDATE, lambda: submit(UPDATE, author, samples, identifier))
    sent = submit(UPDATE, author, samples, identifier, samples.faulty_submission(identifier))
    claim("workflow-order-unknown-before-validation").says(sent)


@contract("workflow-order-locked-before-validation")
def test_a_lock_counts_before_the_content(
    author: Actor, records: WorkflowRecords, samples: Samples, claim: Claims
) -> None:
    """A faulty document for a locked record is refused for the lock."""
    identifier = records.locked()
    records.plain(Row.LOCKED, UPDATE, lambda: submit(UPDATE, author, samples, identifier))
    sent = submit(UPDATE, author, samples, identifier, samples.faulty_submission(identifier))
    claim("workflow-order-locked-before-validation").says(sent)


@contract("workflow-order-unknown-before-rights")
def test_an_unknown_identifier_counts_before_the_rights(
    author: Actor,
    restricted: Actor,
    records: WorkflowRecords,
    samples: Samples,
    fresh: Namespace,
    claim: Claims,
) -> None:
    """An account without rights learns first that the identifier does not exist."""
    identifier = fresh.uid()
    records.plain(Row.UNKNOWN, UPDATE, lambda: submit(UPDATE, author, samples, identifier))
    claim("workflow-order-unknown-before-rights").says(submit(UPDATE, restricted, samples, identifier))


@contract("workflow-order-taken-before-rights")
def test_an_identifier_in_use_counts_before_the_rights(
    author: Actor, restricted: Actor, records: WorkflowRecords, samples: Samples, claim: Claims
) -> None:
    """An account without rights learns first that the identifier is in use."""
    identifier = records.standing()
    records.plain(Row.TAKEN, CREATE_NAMED, lambda: submit(CREATE_NAMED, author, samples, identifier))
    claim("workflow-order-taken-before-rights").says(submit(CREATE_NAMED, restricted, samples, identifier))


@contract("workflow-order-locked-before-rights")
def test_a_lock_counts_before_the_rights(
    author: Actor, restricted: Actor, records: WorkflowRecords, samples: Samples, claim: Claims
) -> None:
    """An account without rights learns first that the record is locked."""
    identifier = records.locked()
    records.plain(Row.LOCKED, UPDATE, lambda: submit(UPDATE, author, samples, identifier))
    claim("workflow-order-locked-before-rights").says(submit(UPDATE, restricted, samples, identifier))


@contract("workflow-order-rights-before-validation")
def test_the_rights_count_before_the_content(
    restricted: Actor, records: WorkflowRecords, samples: Samples, claim: Claims, operation: str
) -> None:
    """An account without rights is refused with 403 whatever it sends."""
    identifier = records.subject(operation)
    row = {UPDATE: Row.MAY_NOT_UPDATE}.get(operation, Row.MAY_NOT_CREATE)
    records.plain(row, operation, lambda: submit(operation, restricted, samples, records.subject(operation)))
    sent = submit(operation, restricted, samples, identifier, samples.faulty_submission(identifier))
    answer = usable(sent)
    claim("workflow-order-rights-before-validation", operation).holds(
        answer.status == 403, sent, expected="403, for the rights", seen=answer.quote()
    )


@contract("workflow-order-realm-before-schema")
def test_the_realm_counts_before_the_schema(
    author: Actor, records: WorkflowRecords, samples: Samples, claim: Claims, operation: str
) -> None:
    """A schema belongs to a realm, so an unknown realm is told first."""
    identifier = records.subject(operation)
    records.plain(
        Row.REALM_UNKNOWN,
        operation,
        lambda: submit(
            operation, author, samples, records.subject(operation), realm=submissions.UNKNOWN_REALM
        ),
    )
    sent = submit(
        operation,
        author,
        samples,
        identifier,
        schema=submissions.UNKNOWN_SCHEMA,
        realm=submissions.UNKNOWN_REALM,
    )
    claim("workflow-order-realm-before-schema", operation).says(sent)


@contract("workflow-order-schema-before-document")
def test_the_schema_counts_before_the_content(
    author: Actor, records: WorkflowRecords, samples: Samples, claim: Claims, operation: str, realm: str
) -> None:
    """Without its schema a document cannot be validated, so an unknown schema is told first."""
    identifier = records.subject(operation)
    records.plain(
        Row.SCHEMA_UNKNOWN,
        operation,
        lambda: submit(
            operation, author, samples, records.subject(operation), schema=submissions.UNKNOWN_SCHEMA
        ),
        realm,
    )
    faulty = samples.faulty_submission(identifier)
    sent = submit(operation, author, samples, identifier, faulty, schema=submissions.UNKNOWN_SCHEMA)
    claim("workflow-order-schema-before-document", operation).says(sent, realm)
