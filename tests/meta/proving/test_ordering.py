"""The order of cases as a proof works it out: most new faults for each request first."""

from dataclasses import replace
from pathlib import Path

import pytest

from contracts.errors import UsageError
from contracts.plugin.collection import Turn, read_order
from contracts.proving import ordering
from contracts.proving.case_costs import Cost, KnownCosts, RunningCosts, known_costs, write_costs
from contracts.proving.ordering import FoundFaults, order_of_cases, read_found, write_found
from contracts.proving.trials import CaseFacts

#: Faults of the population; the first shows everywhere, the second in one realm.
ALWAYS, ELSEWHERE = "state/saveDraft/arrays-appended/always", "state/saveDraft/arrays-appended/in-bch-dev"
OTHERS = ("state/saveDraft/arrays-appended/every-third", "state/saveDraft/arrays-appended/every-fifth")
CHEAP, DEAR, SAME, LATE = "cheap[*]", "dear[*]", "same as cheap[*]", "late[*]"


def facts(*realms: str, last: bool = False) -> CaseFacts:
    """A case that is about nothing that a fault of the population breaks."""
    return CaseFacts((), (), realms or ("abs-dev",), "gate", "any.py", last=last)


def costs(**requests: float) -> KnownCosts:
    """Costs of cases that arrange nothing."""
    return KnownCosts({f"{name.replace('_', ' ')}[*]": Cost(number) for name, number in requests.items()}, {})


@pytest.fixture
def drawn_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Faults that were not drawn themselves count nothing."""
    monkeypatch.setattr(ordering, "_LIKELY_ALIKE", 0.0)


@pytest.mark.usefixtures("drawn_alone")
def test_what_finds_more_for_a_request_comes_first_and_what_waits_last() -> None:
    cases = {CHEAP: facts(), DEAR: facts(), SAME: facts(), LATE: facts(last=True)}
    found = {ALWAYS: [CHEAP, DEAR, SAME, LATE], OTHERS[0]: [CHEAP, DEAR, LATE], OTHERS[1]: [DEAR, LATE]}
    known = costs(cheap=2.0, dear=9.0, same_as_cheap=2.0, late=1.0)
    worked_out = order_of_cases("here", found, cases, known)
    # What the cheap one found, the same for another need not find again.
    assert [turn.case for turn in worked_out.turns] == [CHEAP, DEAR, SAME, LATE]
    assert (worked_out.command, worked_out.faults) == ("here", 3)
    assert list(worked_out.requests.values()) == [2.0, 9.0, 2.0, 1.0]


@pytest.mark.usefixtures("drawn_alone")
def test_other_realms_are_worth_what_shows_in_one_realm_only() -> None:
    cases = {CHEAP: facts("abs-dev", "bch-dev"), DEAR: facts()}
    known = costs(cheap=2.0, dear=3.0)
    everywhere = order_of_cases("", {ALWAYS: [CHEAP], OTHERS[0]: [DEAR]}, cases, known).turns
    in_one = order_of_cases("", {ELSEWHERE: [CHEAP], OTHERS[0]: [DEAR]}, cases, known).turns
    assert everywhere[:2] == (Turn(CHEAP, "abs-dev"), Turn(DEAR, "abs-dev"))
    # What shows in one realm, its like show in each.
    assert in_one == (Turn(CHEAP, "abs-dev"), Turn(CHEAP, "bch-dev"), Turn(DEAR, "abs-dev"))


def test_what_found_a_fault_may_find_its_like_under_other_conditions() -> None:
    cases = {CHEAP: facts(), DEAR: facts(), SAME: facts()}
    turns = order_of_cases(
        "", {ALWAYS: [CHEAP, SAME]}, cases, costs(cheap=1.0, dear=1.0, same_as_cheap=9.0)
    ).turns
    assert [turn.case for turn in turns] == [CHEAP, SAME, DEAR]


def test_a_fault_counts_as_often_as_a_draw_takes_it() -> None:
    # Of the operator of the second there are so many faults that a draw takes the first far more often.
    cases = {CHEAP: facts("any"), DEAR: facts("any")}
    found = {
        "tokens/createToken/wrong-password-taken/always": [CHEAP],
        "tokens/saveDraft/any-token-taken/always": [DEAR],
    }
    turns = order_of_cases("", found, cases, costs(cheap=9.0, dear=1.0)).turns
    assert [turn.case for turn in turns] == [CHEAP, DEAR]


def test_records_that_stay_for_good_cost_something() -> None:
    cases = {CHEAP: replace(facts(), records=3), DEAR: facts()}
    turns = order_of_cases("", {ALWAYS: [CHEAP, DEAR]}, cases, costs(cheap=1.0, dear=2.0)).turns
    assert [turn.case for turn in turns] == [DEAR, CHEAP]


def test_a_fault_that_has_left_the_population_is_passed_over() -> None:
    known, cases = costs(cheap=2.0), {CHEAP: facts()}
    assert order_of_cases("", {"state/gone/always": [CHEAP]}, cases, known).turns == (Turn(CHEAP, "abs-dev"),)


def test_what_is_arranged_for_one_case_costs_the_next_one_nothing() -> None:
    known = KnownCosts(
        {CHEAP: Cost(1.0, ("* folder",)), DEAR: Cost(2.0, ("* folder", "token"))},
        {"* folder": Cost(10.0, ("token",)), "token": Cost(1.0)},
    )
    first, other, next_one = Turn(CHEAP, "abs-dev"), Turn(CHEAP, "bch-dev"), Turn(DEAR, "abs-dev")
    running = RunningCosts(known, [first, other, next_one])
    assert [running.of(turn) for turn in (first, other, next_one)] == [12.0, 12.0, 13.0]
    running.take(first)
    assert [running.of(turn) for turn in (other, next_one)] == [11.0, 2.0]


def test_costs_that_are_written_are_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = known_costs()
    assert all(need in known.arranged for cost in known.cases.values() for need in cost.needs)
    path = tmp_path / "costs.json"
    write_costs(path, known)
    monkeypatch.setattr("contracts.proving.case_costs.MEASURED", path)
    assert known_costs.__wrapped__() == known


def test_of_two_findings_of_a_fault_the_one_of_more_cases_counts(tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    kept = read_found(path).with_draw("first", {ALWAYS: [CHEAP, DEAR], ELSEWHERE: [CHEAP]})
    kept = kept.with_draw("second", {ALWAYS: [CHEAP], ELSEWHERE: [DEAR, SAME]}).with_draw("nothing", {})
    assert kept == FoundFaults(("first", "second"), {ALWAYS: (CHEAP, DEAR), ELSEWHERE: (DEAR, SAME)})
    write_found(path, kept)
    assert read_found(path) == kept
    with pytest.raises(UsageError, match="cannot write"):
        write_found(tmp_path, kept)


def test_a_stale_order_is_told() -> None:
    known = read_order().realms
    assert ordering.staleness(known) == ""
    told = ordering.staleness([*list(known)[1:], "new.py::test_new[*]"])
    assert "1 cases are not in it, such as new.py::test_new[*]; 1 are gone" in told
    assert "contracts.proving --part drawn --order" in told
