"""Submissions that meet several conditions of the workflow table at once; for nights, as a gate tries each pair."""

from contracts.cases import (
    CREATE,
    CREATE_NAMED,
    UPDATE,
    Actor,
    Claims,
    Properties,
    Samples,
    WorkflowRecords,
    contract,
    row_requests,
)

SUBMISSIONS = (CREATE, CREATE_NAMED, UPDATE)


@contract(*row_requests.STEP_CLAUSES, operations=SUBMISSIONS, profile="nightly", requests=32)
def test_of_several_conditions_the_first_step_counts(
    author: Actor,
    restricted: Actor,
    records: WorkflowRecords,
    samples: Samples,
    claim: Claims,
    properties: Properties,
) -> None:
    """Identifier and lock count before the rights and the content, the rights before the content, whatever it is."""
    drawn = row_requests.DrawnConditions(author, restricted, records, samples, claim)
    properties.hold(
        row_requests.of_steps(), drawn.first_counts, requests=4, each=1, first=row_requests.ALL_STEPS
    )


@contract(*row_requests.PLACE_CLAUSES, operations=SUBMISSIONS, profile="nightly", requests=16)
def test_realm_and_schema_count_before_what_depends_on_them(
    author: Actor, records: WorkflowRecords, samples: Samples, claim: Claims, properties: Properties
) -> None:
    """An unknown realm counts before the schema in it, and an unknown schema before what it would validate."""
    drawn = row_requests.DrawnConditions(author, author, records, samples, claim)
    properties.hold(
        row_requests.of_places(),
        drawn.first_counts,
        requests=2,
        each=1,
        first=row_requests.ALL_PLACES,
    )
