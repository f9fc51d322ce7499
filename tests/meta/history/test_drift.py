"""Drift: which changes of a fact break a client, which do not, and what is no change at all."""

from typing import Any

import pytest

from contracts.history.drift import between_realms, compare, realm_difference_lines
from contracts.history.observed_facts import Facts, Kind, Place, Severity, Value

REALMS = ("abs-dev", "bch-dev", "chm-dev")


def facts(clause: str = "list-envelope", realms: tuple[str, ...] = REALMS, **values: Any) -> Facts:
    return {Place(clause, "listDrafts", realm): dict(values) for realm in realms}


def shape(**members: str) -> Facts:
    """An answer of an object; members stand in it as facts do."""
    members = {f"200 body.{name}": kind for name, kind in members.items()}
    return {
        Place("draft-save-answer", "saveDraft", realm): {"200 body": "object", **members} for realm in REALMS
    }


G, C, A = Kind.GONE, Kind.CHANGED, Kind.ADDED


@pytest.mark.parametrize(
    ("name", "was", "now", "kind"),
    [
        ("seen", "403", "200", A),
        ("seen", "400 errors", "201", A),
        ("seen", "refused", "kept", A),
        ("seconds", "3600", "86400", A),
        ("items", "10", "25", A),
        ("seen", ("Error.Mandatory",), ("Error.InvalidValue", "Error.Mandatory"), A),
        ("seen", "200", "201", C),
        ("seen", "200", "403", C),
        ("seen", "404", "410", C),
        ("seen", "400 errors", "200 errors", C),
        ("seen", "kept", "refused with 400", C),
        ("seen", "as saved", "latest first", C),
        ("seen", "true", "false", C),
        ("seconds", "3600", "900", C),
        ("items", "6 or more", "5", C),
        ("seen", ("Error.InvalidValue", "Error.Mandatory"), ("Error.Mandatory",), C),
        ("seen", "200", "200", None),
        ("items", "6 or more", "10", None),
        ("items", "10", "6 or more", None),
        ("seen", "200 | 201", "200", None),
    ],
)
def test_a_change_is_additive_where_there_is_only_more(name: str, was: Value, now: Value, kind: Any) -> None:
    places = [Place("list-envelope", "listDrafts", realm) for realm in REALMS]
    changes = compare({place: {name: was} for place in places}, {place: {name: now} for place in places})
    assert [(each.change, each.severity, each.realms) for each in changes] == (
        [(kind, Severity.ADDITIVE if kind is A else Severity.BREAKING, REALMS)] if kind else []
    )


DATE = "string date-time"


@pytest.mark.parametrize(
    ("was", "now", "kind"),
    [
        ({"a": "string", "b": "string"}, {"a": "string"}, G),
        ({"a": "string"}, {"a": "string", "b": "string, optional"}, A),
        ({"a": "string"}, {"a": "string, optional"}, C),
        ({"a": "string"}, {"a": "integer"}, C),
        ({"a": "integer"}, {"a": "number"}, C),
        ({"a": DATE}, {"a": f"null | {DATE}"}, C),
        ({"a": DATE}, {"a": "string"}, C),
        ({"a": "string, optional"}, {"a": "string"}, None),
        ({"a": "string", "b": "string, optional"}, {"a": "string"}, None),
        ({"a": f"null | {DATE}"}, {"a": DATE}, None),
        ({"a": "number"}, {"a": "integer"}, None),
        ({"a": "array", "a[]": "string"}, {"a": "array"}, None),
    ],
)
def test_a_changed_shape_is_classed(was: dict[str, str], now: dict[str, str], kind: Any) -> None:
    assert [each.change for each in compare(shape(**was), shape(**now))] == ([kind] if kind else [])


def test_realms_that_differ_alike_are_told_together_and_breaking_comes_first() -> None:
    before = facts(a="403", b="200")
    after = facts(realms=REALMS[:2], a="200", b="200") | facts(realms=REALMS[2:], a="403", b="500")
    told = [(each.severity, each.realms, each.point, each.was, each.now) for each in compare(before, after)]
    assert told == [
        (Severity.BREAKING, ("chm-dev",), "b", "200", "500"),
        (Severity.ADDITIVE, ("abs-dev", "bch-dev"), "a", "403", "200"),
    ]


def test_realms_that_disagree_are_shown_with_their_values_and_what_one_lacks() -> None:
    differing = facts(realms=REALMS[:2], a="200", b="1") | facts(realms=REALMS[2:], a="404", b="1")
    assert list(realm_difference_lines(between_realms(differing))) == [
        "list-envelope · listDrafts",
        "  a",
        "    abs-dev, bch-dev: 200",
        "    chm-dev: 404",
    ]
    unseen = facts(realms=REALMS[:1], a="200") | facts(realms=REALMS[1:], b="200")
    assert between_realms(unseen) == ()
    lacking = shape(a="string")
    del lacking[Place("draft-save-answer", "saveDraft", "chm-dev")]["200 body.a"]
    (difference,) = between_realms(lacking)
    assert difference.values == {"abs-dev": "string", "bch-dev": "string", "chm-dev": "absent"}
