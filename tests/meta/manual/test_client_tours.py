"""An ordinary client's tour: silence about sandboxes that keep the interface, a finding about those that do not."""

import pytest

from contracts.manual.traffic_findings import Standing, verdict_of
from contracts.sandbox.defects import load
from contracts.sandbox.variants import COMBINATIONS
from tests.meta.manual.client_tour import service_side, tour

#: Combinations that take another reading of a should, and the clause that they contradict by it.
OTHER_READINGS = {"own-readings": {"json-bodies"}, "plain-spoken": {"json-bodies"}}

#: Breaks its clause in a way that the tour comes across.
FOUND = (
    "list-top-one-more",
    "contact-create-without-first-name",
)


def test_the_faithful_sandbox_gives_no_finding() -> None:
    tally = tour()
    assert service_side(tally) == []
    assert tally.breakages == []
    assert verdict_of(tally).client > 0, "the tour's own mistakes are the client's"
    assert {"draft-get-content", "attachment-download-same", "workflow-created-exists"} <= tally.held.keys()


@pytest.mark.parametrize("name", sorted(COMBINATIONS))
def test_a_service_that_differs_where_the_document_is_silent_gives_none(name: str) -> None:
    tally = tour(variants=tuple(member for member in COMBINATIONS[name] if member != "slow"))
    advised = {group.first.clause for group in service_side(tally) if group.first.standing is Standing.ADVICE}
    assert advised == OTHER_READINGS.get(name, set())
    assert [group for group in service_side(tally) if group.first.clause not in advised] == []
    assert tally.breakages == []


@pytest.mark.parametrize("name", FOUND)
def test_a_broken_clause_is_found_on_the_tour(name: str) -> None:
    found = {group.first.clause: group.first.standing for group in service_side(tour(defect=name))}
    assert found[load(name).clause] is Standing.FAULT
