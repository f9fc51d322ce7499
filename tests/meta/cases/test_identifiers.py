"""Identifiers at the edges of the rule break it or keep it as meant; each misuse is blamed on its own clause."""

from collections.abc import Mapping

import pytest

from contracts.cases import identifiers, neighbours
from contracts.cases.hostile_input import Deal
from contracts.interface.operations import is_valid_uid
from contracts.session.namespace import Namespace
from contracts.settings.target import RealmSettings

PLAIN = Namespace("ab12")
TABLES = (identifiers.FORBIDDEN, identifiers.MISREAD, identifiers.NON_ASCII, identifiers.ALL_FORBIDDEN)


@pytest.mark.parametrize("table", TABLES)
def test_one_character_of_a_table_is_enough_to_break_the_rule(table: Mapping[str, str]) -> None:
    uid = PLAIN.uid(40)
    for bad in identifiers.spoilt(uid, table):
        assert not is_valid_uid(bad)
        assert uid in identifiers.foldings([bad])
        assert PLAIN.owns(bad)


def test_a_control_does_not_take_the_spare_identifier_of_a_case() -> None:
    settings = RealmSettings(spare_identifiers=("-" * 12, "1" * 12, "2" * 13))
    assert identifiers.without_hyphen(settings) == ["2" * 13]
    assert identifiers.without_hyphen(RealmSettings()) == []


def test_the_realms_of_a_run_share_a_table_without_gap() -> None:
    dealt = [Deal(place, 3)(identifiers.FORBIDDEN) for place in range(3)]
    assert dealt[0] | dealt[1] | dealt[2] == identifiers.FORBIDDEN


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
    made = [uid, *(neighbour.make(uid) for neighbour in neighbours.NEIGHBOURS.values())]
    assert len(set(made)) == len(made)
    assert all(map(is_valid_uid, made))
    assert all(other.startswith(FRESH.prefix) for other in made)
