"""The order of cases: it knows the cases that there are, and what smoke takes in follows from it."""

from pathlib import Path

import pytest

from contracts.cases.marks import Profile
from contracts.errors import UsageError
from contracts.interface.clause_table import known_cases
from contracts.plugin import collection
from contracts.plugin.collection import CaseOrder, Turn, read_order, turns, write_order
from contracts.plugin.forecast import measured
from tests.meta.plugin.test_forecast import TOLERATED

ONE, TWO, THREE = (f"test_a.py::test_{name}[*]" for name in ("one", "two", "three"))
ORDER = CaseOrder(
    "measured by hand",
    7,
    (Turn(ONE, True), Turn(TWO, True), Turn(ONE, False), Turn(TWO, False)),
    {ONE: 200.0, TWO: 50.0},
)
MOST_REQUESTS_OF_SMOKE = 300


@pytest.fixture
def ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the order of two cases be the one that is kept."""
    monkeypatch.setattr(collection, "read_order", lambda: ORDER)


def test_the_order_is_that_of_the_cases() -> None:
    named = {case.partition("[")[0] for case in read_order().requests}
    known = {case.partition("[")[0] for cases in known_cases().values() for case in cases}
    of_the_night = measured(Profile.FULL).keys() - measured().keys()
    differ = (named ^ known) - {case.partition("[")[0] for case in of_the_night}
    advice = "registry-contracts prove --part drawn --order contracts/plugin/case_order.json"
    assert len(differ) <= TOLERATED * len(known), f"{advice}: {sorted(differ)}"


def test_each_case_stands_in_it_with_its_first_realm_and_then_with_the_others() -> None:
    order = read_order()
    places = {turn: number for number, turn in enumerate(order.turns)}
    assert len(places) == len(order.turns) == 2 * len(order.requests)
    assert all(places[Turn(case, True)] < places[Turn(case, False)] for case in order.requests)


@pytest.mark.usefixtures("ours")
def test_realms_take_turns_in_being_the_first() -> None:
    offered = [(case.replace("*", realm), realm) for case in (ONE, TWO) for realm in ("abs-dev", "bch-dev")]
    assert [turn.first for turn in turns(offered)] == [True, False, False, True]
    assert [turn.first for turn in turns([(TWO.replace("*", "abs-dev"), "abs-dev")])] == [True]


def test_a_case_that_it_does_not_know_stands_in_the_middle() -> None:
    assert [ORDER.place(turn) for turn in (*ORDER.turns, Turn(THREE, True))] == [0, 1, 2, 3, 2]


def test_smoke_is_its_beginning_as_far_as_there_is_room() -> None:
    assert ORDER.smoke == {Turn(ONE, True), Turn(TWO, True)}
    order = read_order()
    assert sum(map(order.cost, order.smoke)) <= collection.SMOKE_REQUESTS <= MOST_REQUESTS_OF_SMOKE


def test_what_is_written_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection, "ORDER_FILE", tmp_path / "order.json")
    write_order(collection.ORDER_FILE, ORDER)
    assert read_order.__wrapped__() == ORDER
    with pytest.raises(UsageError, match="cannot write"):
        write_order(tmp_path, ORDER)
