"""The order in which cases run: measured once, kept in a file, and taken up by the realms of a run."""

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
    {
        Turn(ONE, "abs-dev"): 200.0,
        Turn(TWO, "bch-dev"): 50.0,
        Turn(ONE, "bch-dev"): 200.0,
        Turn(TWO, "abs-dev"): 40.0,
    },
)
MOST_REQUESTS_OF_SMOKE = 300


@pytest.fixture
def ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the order of two cases be the one that is kept."""
    monkeypatch.setattr(collection, "read_order", lambda: ORDER)


def test_the_order_is_that_of_the_cases() -> None:
    named = {case.partition("[")[0] for case in read_order().realms}
    known = {case.partition("[")[0] for cases in known_cases().values() for case in cases}
    of_the_night = measured(Profile.FULL).keys() - measured().keys()
    differ = (named ^ known) - {case.partition("[")[0] for case in of_the_night}
    advice = "python -m contracts.proving --part drawn --order contracts/plugin/case_order.json"
    assert len(differ) <= TOLERATED * len(known), f"{advice}: {sorted(differ)}"


@pytest.mark.usefixtures("ours")
def test_where_realms_are_left_out_the_others_take_up_the_first_turns() -> None:
    offered = [(case.replace("*", realm), realm) for case in (ONE, TWO) for realm in ("abs-dev", "bch-dev")]
    assert turns(offered) == [Turn(case, realm) for case in (ONE, TWO) for realm in ("abs-dev", "bch-dev")]
    assert turns([(TWO.replace("*", "abs-dev"), "abs-dev")]) == [Turn(TWO, "bch-dev")]
    assert turns([(THREE.replace("*", "abs-dev"), "abs-dev")]) == [Turn(THREE, "abs-dev")]


def test_a_case_that_it_does_not_know_stands_in_the_middle() -> None:
    assert [ORDER.place(turn) for turn in (*ORDER.turns, Turn(THREE, "abs-dev"))] == [0, 1, 2, 3, 2]


def test_smoke_is_its_beginning_as_far_as_there_is_room() -> None:
    assert ORDER.smoke == {Turn(ONE, "abs-dev"), Turn(TWO, "bch-dev")}
    order = read_order()
    assert (
        sum(order.requests[turn] for turn in order.smoke)
        <= collection.SMOKE_REQUESTS
        < MOST_REQUESTS_OF_SMOKE
    )


def test_what_is_written_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection, "ORDER_FILE", tmp_path / "order.json")
    write_order(collection.ORDER_FILE, ORDER)
    assert read_order.__wrapped__() == ORDER
    with pytest.raises(UsageError, match="cannot write"):
        write_order(tmp_path, ORDER)
