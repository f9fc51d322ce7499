"""The order of cases as a proof works it out: most new faults for each request first."""

import pytest

from contracts.plugin.collection import Turn, read_order
from contracts.proving import drawn_proof
from contracts.proving.trials import CaseFacts

ALWAYS, ELSEWHERE = "state/saveDraft/arrays-appended/always", "state/saveDraft/arrays-appended/in-bch-dev"
CHEAP, DEAR, SAME, LATE = "cheap[*]", "dear[*]", "same as cheap[*]", "late[*]"


def facts(*, late: bool = False) -> CaseFacts:
    """A case that is about nothing that a fault of the population breaks."""
    return CaseFacts((), (), ("abs-dev",), "gate", "any.py", late=late)


@pytest.fixture
def cases(monkeypatch: pytest.MonkeyPatch) -> dict[str, CaseFacts]:
    monkeypatch.setattr(drawn_proof, "_expected", lambda *_: [])
    return {CHEAP: facts(), DEAR: facts(), SAME: facts(), LATE: facts(late=True)}


def test_what_finds_more_for_a_request_comes_first_and_what_waits_last(cases: dict[str, CaseFacts]) -> None:
    found = [(ALWAYS, [CHEAP, DEAR, SAME, LATE]), (ALWAYS, [CHEAP, DEAR, LATE]), (ALWAYS, [DEAR, LATE])]
    costs = {CHEAP: 2.0, DEAR: 9.0, SAME: 2.0, LATE: 1.0}
    worked_out = drawn_proof.order_of_cases("here", found, cases, costs)
    first = [turn.case for turn in worked_out.turns if turn.first]
    # What the cheap one found, the same for another need not find again.
    assert first == [CHEAP, DEAR, SAME, LATE]
    assert (worked_out.command, worked_out.faults, worked_out.requests) == ("here", 3, costs)


def test_other_realms_are_worth_what_shows_in_one_realm_only(cases: dict[str, CaseFacts]) -> None:
    costs = dict.fromkeys(cases, 2.0)
    everywhere = drawn_proof.order_of_cases(
        "", [(ALWAYS, [CHEAP])] * 3 + [(ALWAYS, [DEAR])], cases, costs
    ).turns
    in_one = drawn_proof.order_of_cases(
        "", [(ELSEWHERE, [CHEAP])] * 9 + [(ALWAYS, [DEAR])], cases, costs
    ).turns
    assert everywhere[:2] == (Turn(CHEAP, True), Turn(DEAR, True))
    assert in_one[:2] == (Turn(CHEAP, True), Turn(CHEAP, False))


def test_a_stale_order_is_told() -> None:
    known = read_order().requests
    assert drawn_proof.staleness(known) == ""
    told = drawn_proof.staleness([*list(known)[1:], "new.py::test_new[*]"])
    assert "1 cases are not in it, such as new.py::test_new[*]; 1 are gone" in told
    assert "prove --part drawn --order" in told
