"""An ordinary client's tour: silence about sandboxes that keep the interface, a finding about those that do not."""

from collections.abc import Iterator

import pytest

from contracts.manual.traffic_findings import Standing, verdict_of
from contracts.proving.drawn_services import draw_services, knobs
from contracts.proving.trials import AND
from contracts.sandbox.defects import load
from tests.meta.manual.client_tour import service_side, tour

#: Contradicted by variants that take another reading of a should.
OTHER_READINGS = {"json-bodies": "message-plain-text"}

#: Breaks its clause in a way that the tour comes across.
FOUND = (
    "list-top-one-more",
    "contact-create-without-first-name",
)


def services() -> Iterator[tuple[str, ...]]:
    """Drawn services that together turn every knob: some nearly all at once, some a few."""
    left = {name for names in knobs().values() for name in names}
    for drawn in draw_services(100, seed=7):
        service = tuple(drawn.split(AND))
        if left.intersection(service):
            yield service
        left.difference_update(service)
    assert not left, "one of them turns it"


SERVICES = tuple(services())


def test_the_faithful_sandbox_gives_no_finding() -> None:
    tally = tour()
    assert service_side(tally) == []
    assert tally.breakages == []
    assert verdict_of(tally).client > 0, "the tour's own mistakes are the client's"
    assert {"draft-get-content", "attachment-download-same", "workflow-created-exists"} <= tally.held.keys()


@pytest.mark.parametrize("service", SERVICES, ids=[f"service-{number}" for number in range(len(SERVICES))])
def test_a_service_that_differs_where_the_document_is_silent_gives_none(service: tuple[str, ...]) -> None:
    allowed = {clause for clause, variant in OTHER_READINGS.items() if variant in service}
    tally = tour(variants=service)
    assert [group for group in service_side(tally) if group.first.clause not in allowed] == []
    assert all(group.first.standing is Standing.ADVICE for group in service_side(tally))
    assert tally.breakages == []


@pytest.mark.parametrize("name", FOUND)
def test_a_broken_clause_is_found_on_the_tour(name: str) -> None:
    found = {group.first.clause: group.first.standing for group in service_side(tour(defect=name))}
    assert found[load(name).clause] is Standing.FAULT
