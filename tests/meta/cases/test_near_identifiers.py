"""Near misses break the rule, neighbours keep it, and each misuse of identifiers is blamed on its own clause."""

from itertools import pairwise

import pytest

from contracts.cases import identifiers
from contracts.interface.operations import is_valid_uid
from contracts.session.namespace import Namespace

FRESH = Namespace("test", seed="1")


@pytest.mark.parametrize("length", [11, 24, 40, 128])
def test_every_near_miss_breaks_the_rule(length: int) -> None:
    uid = FRESH.uid(length)
    for miss in identifiers.MISSES:
        assert not is_valid_uid(miss.of(uid)), miss


def test_a_length_keeps_what_it_can_of_the_identifier() -> None:
    shortest, longest = FRESH.uid(11), FRESH.uid(128)
    of_10 = identifiers.NearMiss("uid-too-short", length=10)
    of_129 = identifiers.NearMiss("uid-too-long", length=129)
    assert of_10.of(shortest) == shortest[:10]
    assert of_129.of(longest) == longest + "x"


def test_an_insertion_goes_behind_the_prefix_of_the_run() -> None:
    uid = FRESH.uid(24)
    for miss in identifiers.MISSES:
        assert miss.of(uid).startswith(FRESH.prefix)
    assert identifiers.NearMiss("uid-trailing-newline", "\n", 1.0).of(uid) == uid + "\n"


def test_neighbours_keep_the_rule_and_differ() -> None:
    uid = FRESH.uid()
    made = [uid, *(neighbour.make(uid) for neighbour in identifiers.NEIGHBOURS.values())]
    assert len(set(made)) == len(made)
    assert all(map(is_valid_uid, made))
    assert all(other.startswith(FRESH.prefix) for other in made)


def test_some_neighbours_differ_in_case_hyphens_and_underscores_only() -> None:
    uid = FRESH.uid()
    made = {name: neighbour.make(uid) for name, neighbour in identifiers.NEIGHBOURS.items()}
    assert made["capitals"].lower() == made["letters"]
    assert made["underscore"].replace("_", "-") == made["hyphen"]
    assert made["hyphens"].replace("--", "-") == made["hyphen"]
    assert made["hyphen behind"].rstrip("-") == made["underscore behind"].rstrip("_") == made["letters"]


def test_the_longest_ones_share_ever_longer_beginnings() -> None:
    uid = FRESH.uid()
    longest = [neighbour.make(uid) for name, neighbour in identifiers.NEIGHBOURS.items() if "same" in name]
    filled = identifiers.NEIGHBOURS["filled"].make(uid)
    shared = [next(at for at in range(128) if one[at] != filled[at]) for one in longest]
    assert shared == [32, 64, 100, 127]
    assert all(one < two for one, two in pairwise(shared))
