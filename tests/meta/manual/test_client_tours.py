"""An ordinary client's tour: silence about sandboxes that keep the interface, a finding about those that do not."""

import pytest

from contracts.manual.traffic_findings import Standing, verdict_of
from contracts.proving.drawn import knobs, together
from contracts.sandbox.defects import load
from tests.meta.manual.client_tour import service_side, tour

#: Contradicted by variants that take another reading of a should.
OTHER_READINGS = {"json-bodies": "message-plain-text"}

#: Breaks its clause in a way that the tour comes across.
FOUND = (
    "list-top-one-more",
    "contact-create-without-first-name",
)


def services() -> list[list[str]]:
    """Services that together turn every knob, each variant in the first one that it goes with."""
    made: list[list[str]] = []
    for variants in knobs().values():
        for name in variants:
            fitting = (each for each in made if all(together(name, other) for other in each))
            service = next((each for each in fitting if not set(each) & set(variants)), None)
            if service is None:
                made.append([name])
            else:
                service.append(name)
    return made


SERVICES = services()


def test_the_faithful_sandbox_gives_no_finding() -> None:
    tally = tour()
    assert service_side(tally) == []
    assert tally.breakages == []
    assert verdict_of(tally).client > 0, "the tour's own mistakes are the client's"
    assert {"draft-get-content", "attachment-download-same", "workflow-created-exists"} <= tally.held.keys()


@pytest.mark.parametrize("service", SERVICES, ids=[f"service-{number}" for number in range(len(SERVICES))])
def test_a_service_that_differs_where_the_document_is_silent_gives_none(service: list[str]) -> None:
    allowed = {clause for clause, variant in OTHER_READINGS.items() if variant in service}
    tally = tour(variants=tuple(service))
    assert [group for group in service_side(tally) if group.first.clause not in allowed] == []
    assert all(group.first.standing is Standing.ADVICE for group in service_side(tally))
    assert tally.breakages == []


@pytest.mark.parametrize("name", FOUND)
def test_a_broken_clause_is_found_on_the_tour(name: str) -> None:
    found = {group.first.clause: group.first.standing for group in service_side(tour(defect=name))}
    assert found[load(name).clause] is Standing.FAULT
