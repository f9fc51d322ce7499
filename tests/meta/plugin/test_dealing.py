"""Cases are dealt out evenly, the same way everywhere, each to one shard, and groups whole."""

import random
from collections import Counter

import pytest

from contracts.errors import UsageError
from contracts.evidence.record import digest_of_cases
from contracts.plugin.shards import ShardNumber, WeighedCase, deal, read_shard_number

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
