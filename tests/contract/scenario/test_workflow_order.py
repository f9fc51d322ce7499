"""The order of the first steps of a submission: realm, schema, content."""

from typing import Any

import pytest

from registry_contracts.cases import Expect, WorkflowRecords, World, contract, factors, requests, submissions


@pytest.mark.parametrize(
    ("clause", "parts"),
    [
        pytest.param(clause, parts, id=name, marks=contract(clause))
        for name, clause, parts in (
            ("realm", "workflow-order-realm-before-schema", {"realm": requests.UNKNOWN_REALM}),
            ("schema", "workflow-order-schema-before-document", {}),
        )
    ],
)
@contract(operations=factors.WORKFLOW, requests=1)
def test_realm_and_schema_count_before_the_content(
    world: World,
    records: WorkflowRecords,
    expect: Expect,
    operation: str,
    realm: str,
    clause: str,
    parts: dict[str, Any],
) -> None:
    """A schema belongs to a realm, and validates the document: so an unknown realm is reported first, then a schema."""
    identifier = records.subject(operation)
    faulty = world.samples.faulty_submission(identifier)
    sent = world.submit(operation, identifier, faulty, schema=submissions.UNKNOWN_SCHEMA, **parts)
    expect(clause, operation).has_message(sent, realm)
