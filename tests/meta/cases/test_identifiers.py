"""Identifiers at the edges of the rule: what is meant to break it breaks it, and nothing else does."""

from collections.abc import Mapping

import pytest

from contracts.cases import identifiers
from contracts.cases.hostile_input import share
from contracts.interface.operations import is_valid_uid
from contracts.session.namespace import Namespace
from contracts.settings.target import RealmSettings

FRESH = Namespace("ab12")
TABLES = (identifiers.FORBIDDEN, identifiers.MISREAD, identifiers.NON_ASCII, identifiers.ALL_FORBIDDEN)


@pytest.mark.parametrize("table", TABLES)
def test_one_character_of_a_table_is_enough_to_break_the_rule(table: Mapping[str, str]) -> None:
    uid = identifiers.base(FRESH)
    for bad in identifiers.spoilt(uid, table):
        assert not is_valid_uid(bad)
        assert uid in identifiers.foldings([bad])
        assert FRESH.owns(bad)


def test_both_halves_around_a_bad_character_are_valid_uids() -> None:
    bad = identifiers.spoilt(identifiers.base(FRESH), {"space": " "})[0]
    assert all(is_valid_uid(half) for half in bad.split(" "))


def test_lengths_lie_just_outside_the_range() -> None:
    assert len(identifiers.too_short(FRESH)[0]) == 10
    assert len(identifiers.too_long(FRESH)[0]) == 129
    assert identifiers.foldings(identifiers.too_long(FRESH)[:1])
    assert is_valid_uid(identifiers.longest(FRESH))


def test_every_ascii_character_is_either_allowed_or_forbidden() -> None:
    assert len(identifiers.ALL_FORBIDDEN) == 128 - 26 - 26 - 10 - 2


def test_a_control_does_not_take_the_spare_identifier_of_a_case() -> None:
    settings = RealmSettings(spare_identifiers=("-" * 12, "1" * 12, "2" * 13))
    assert identifiers.without_hyphen(settings) == ["2" * 13]
    assert identifiers.without_hyphen(RealmSettings()) == []


def test_the_document_realms_share_a_table_without_gap() -> None:
    dealt = [share(identifiers.FORBIDDEN, realm) for realm in ("abs-dev", "bch-dev", "chm-dev")]
    assert dealt[0] | dealt[1] | dealt[2] == identifiers.FORBIDDEN
