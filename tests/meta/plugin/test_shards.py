"""Cases are dealt out evenly, the same way everywhere; shards of a run together give what the whole run gives."""

import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from contracts.cases.marks import Profile
from contracts.cli.merge import command
from contracts.errors import UsageError
from contracts.evidence.record import digest_of_cases
from contracts.interface.clause_table import known_cases
from contracts.plugin import collection
from contracts.plugin.collection import CaseOrder, Turn, read_order, turns, write_order
from contracts.plugin.forecast import measured
from contracts.plugin.shards import ShardNumber, WeighedCase, deal, read_shard_number
from tests.meta.plugin.rules import hidden
from tests.meta.plugin.test_forecast import TOLERATED

pytestmark = pytest.mark.usefixtures("nothing_left")
WORDS = ("-k", "test_content or test_save or test_should or test_only_sends or test_contacts")


def essence(verdict: dict[str, Any]) -> Any:
    """A verdict without what depends on the machine, and without requests that shards make each for itself."""
    findings = [
        {key: finding[key] for key in ("id", "clause", "realm", "operation", "expected", "standing", "rate")}
        for finding in verdict["findings"]
    ]
    cells = {
        (clause["id"], realm): (cell["verdict"], cell["cases"], cell["findings"])
        for clause in verdict["clauses"]
        for realm, cell in clause["realms"].items()
    }
    return verdict["verdict"], verdict["exit_code"], verdict["cases"], findings, cells


@pytest.mark.parametrize("broken", [False, True], ids=["pass", "fail"])
def test_merged_shards_give_the_verdict_of_the_whole_run(
    run: Any, faulty: Callable[..., Any], tmp_path: Path, broken: bool
) -> None:
    service = faulty(hidden if broken else lambda *_: None)
    target = f"--target={service.target}"
    whole = run(*WORDS, target, reports=tmp_path / "whole")
    parts = [
        run(*WORDS, target, f"--shard={number}/2", *workers, reports=tmp_path / "shards" / str(number))
        for number, workers in ((1, ()), (2, ("-n", "2") if broken else ()))
    ]
    assert all("this is shard" in part.verdict["reason"] for part in parts)
    ended = CliRunner().invoke(
        command, [str(tmp_path / "shards"), f"--reports={tmp_path / 'merged'}"], standalone_mode=False
    )
    assert ended.return_value == whole.code == (1 if broken else 0), ended.output
    merged = json.loads((tmp_path / "merged" / "latest" / "verdict.json").read_text("utf-8"))
    assert essence(merged) == essence(whole.verdict)
    made = [part.verdict["environment"]["permanent_records"].keys() for part in parts]
    assert not made[0] & made[1]
    assert not (tmp_path / "shards" / "1" / "history.jsonl").exists()


def test_shards_keep_the_pace_of_one_run_together(run: Any, faulty: Callable[..., Any]) -> None:
    service = faulty(pace="request_budget = 90")
    ended = run("-k", "test_save", f"--target={service.target}", "--shard=1/3")
    limits = ended.verdict["environment"]["limits"]
    assert (limits["request_budget"], limits["concurrency"]) == (30, 2)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--shard=3/2",), "the first number is one from 1 to 2"),
        (("--shard=1/2", "--profile=nightly"), "needs --seed"),
        (("--shard=1/2", "--drift=fail"), "give it to `registry-contracts merge`"),
        (("--shard=1/9",), "make fewer shards"),
    ],
)
def test_a_shard_that_cannot_be_is_refused_before_anything_is_sent(
    run: Any, faulty: Callable[..., Any], words: tuple[str, ...], message: str
) -> None:
    service = faulty()
    ended = run("-k", "test_save", f"--target={service.target}", *words)
    assert (ended.code, service.app.requests) == (4, [])
    assert message in ended.err


REALMS = ("abs-dev", "bch-dev", "chm-dev", "ort-dev")


def plan_of(seed: int) -> list[WeighedCase]:
    """A plan like the real one: hundreds of light cases, some heavy, and a group in each realm."""
    draw = random.Random(seed)  # noqa: S311 - nothing secret
    return [
        WeighedCase(
            case=f"test_{number}[{realm}]",
            realm=realm,
            requests=draw.choice([1, 2, 3, 3, 3, 5, 12, 40]),
            group=f"lasting records of {realm}" if draw.random() < 0.3 else "",
        )
        for realm in REALMS
        for number in range(120)
    ]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("shards", [1, 2, 3, 5, 8])
def test_every_case_is_in_one_shard_and_no_group_is_parted(seed: int, shards: int) -> None:
    plan = plan_of(seed)
    parts = deal(plan, shards)
    assert len(parts) == shards
    assert Counter(case for part in parts for case in part) == Counter(each.case for each in plan)
    for group in {each.group for each in plan if each.group}:
        members = {each.case for each in plan if each.group == group}
        assert sum(bool(members & part) for part in parts) == 1


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("shards", [2, 3, 5, 8])
def test_no_shard_has_much_more_than_its_share(seed: int, shards: int) -> None:
    plan = plan_of(seed)
    cost = {each.case: each.requests for each in plan}
    groups = Counter[str]()
    for each in plan:
        groups[each.group] += each.requests if each.group else 0
    share = sum(cost.values()) / shards
    heaviest = max(sum(cost[case] for case in part) for part in deal(plan, shards))
    # Two groups may have to share a shard where there are fewer shards than groups.
    assert heaviest <= max(share * 1.35, *groups.values()) + 40


def test_the_order_in_which_cases_come_does_not_matter() -> None:
    plan = plan_of(1)
    shuffled = random.Random(2).sample(plan, len(plan))  # noqa: S311 - nothing secret
    assert deal(plan, 5) == deal(shuffled, 5)
    assert digest_of_cases(each.case for each in plan) == digest_of_cases(each.case for each in shuffled)


def test_more_shards_than_cases_leave_some_empty() -> None:
    parts = deal([WeighedCase("a", "abs-dev", 1), WeighedCase("b", "abs-dev", 1)], 5)
    assert sorted(map(len, parts), reverse=True)[:2] == [1, 1]
    assert sum(map(len, parts)) == 2


def test_a_part_is_a_number_and_how_many_there_are() -> None:
    assert read_shard_number(" 2 / 5 ") == ShardNumber(2, 5)


@pytest.mark.parametrize("text", ["", "2", "0/5", "6/5", "1/0", "1/65", "two/five", "-1/5", "2/5/7"])
def test_anything_else_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_shard_number(text)
    assert "\n" not in str(refused.value)


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
