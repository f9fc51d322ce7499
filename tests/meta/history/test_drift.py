"""Drift between runs: facts compared, differences between realms shown beside, classes of what changed."""

from typing import Any

import pytest

from contracts.file_formats import plain
from contracts.history.drift import (
    between_realms,
    compare,
    not_accepted_yet,
    realm_difference_lines,
    without_moved_faults,
)
from contracts.history.observed_facts import Change, Kind, Severity


def differing(made: Any, was: Any, now: Any) -> list[Kind]:
    """How two notes at one point differ in the first realm."""
    before, after = (
        made.facts(made.observation("list-envelope", "listDrafts", seen, "abs-dev")) for seen in (was, now)
    )
    return [change.kind for change in compare(before, after)]


ADDITIVE = [
    (403, 200),
    ("400 errors", "201"),
    ("refused", "kept"),
    ({"seconds": 3600}, {"seconds": 86400}),
    ({"items": "10"}, {"items": "25"}),
    (["Error.Mandatory"], ["Error.InvalidValue", "Error.Mandatory"]),
    (["400 errors"], ["400 errors", "422 errors"]),
]
BREAKING = [
    (200, 201),
    (200, 403),
    (404, 410),
    ("400 errors", "200 errors"),
    ("400 errors", "400"),
    ("kept", "refused with 400"),
    ("kept", "changed"),
    ("as saved", "latest first"),
    (True, False),
    ({"seconds": 3600}, {"seconds": 900}),
    ({"items": "6 or more"}, {"items": "5"}),
    (["Error.InvalidValue", "Error.Mandatory"], ["Error.Mandatory"]),
    (["400 errors"], ["422 errors"]),
]


@pytest.mark.parametrize(("was", "now"), ADDITIVE)
def test_where_there_is_only_more_than_was_accepted_it_is_additive(made: Any, was: Any, now: Any) -> None:
    (kind,) = differing(made, was, now)
    assert kind.severity is Severity.ADDITIVE


@pytest.mark.parametrize(("was", "now"), BREAKING)
def test_every_other_change_may_break_a_client(made: Any, was: Any, now: Any) -> None:
    (kind,) = differing(made, was, now)
    assert kind.severity is Severity.BREAKING


@pytest.mark.parametrize(
    ("was", "now"),
    [
        (200, 200),
        ({"items": "6 or more"}, {"items": "10"}),
        ({"items": "10"}, {"items": "6 or more"}),
        ({"order": "as saved"}, {"order": None}),
        ({"create": 201, "update": 200}, {"update": 200}),
        ({"update": 200}, {"create": 201, "update": 200}),
    ],
)
def test_what_contradicts_nothing_is_no_drift(made: Any, was: Any, now: Any) -> None:
    assert differing(made, was, now) == []


def schema(**members: Any) -> dict[str, Any]:
    """An object of members that are always there, but for those whose type ends with a question mark."""
    types = {
        name: kind.removesuffix("?") if isinstance(kind, str) else kind for name, kind in members.items()
    }
    optional = {name for name, kind in members.items() if isinstance(kind, str) and kind.endswith("?")}
    return {
        "type": "object",
        "properties": {n: {"type": kind} if isinstance(kind, str) else kind for n, kind in types.items()},
        "required": sorted(members.keys() - optional),
    }


DATE = {"type": "string", "format": "date-time"}
NULLABLE = {"anyOf": [{"type": "null"}, DATE]}
SHAPES = [
    pytest.param(schema(a="string", b="string"), schema(a="string"), Kind.GONE, id="gone"),
    pytest.param(schema(a="string"), schema(a="string", b="string"), Kind.ADDED, id="added"),
    pytest.param(schema(a="string"), schema(a="string", b="string?"), Kind.ADDED, id="added-optional"),
    pytest.param(schema(a="string"), schema(a="string?"), Kind.CHANGED, id="may-be-missing"),
    pytest.param(schema(a="string"), schema(a="integer"), Kind.CHANGED, id="kind"),
    pytest.param(schema(a="integer"), schema(a="number"), Kind.CHANGED, id="integer-to-number"),
    pytest.param(schema(a=DATE), schema(a=NULLABLE), Kind.CHANGED, id="null-too"),
    pytest.param(schema(a=DATE), schema(a="string"), Kind.CHANGED, id="form-lost"),
    pytest.param(schema(a="string"), schema(a=DATE), Kind.CHANGED, id="form-other"),
    pytest.param({"type": "array"}, schema(items="array"), Kind.CHANGED, id="envelope"),
]


@pytest.mark.parametrize(("was", "now", "kind"), SHAPES)
def test_a_changed_shape_is_classed(made: Any, was: Any, now: Any, kind: Kind) -> None:
    before, after = (
        made.facts(answers=[made.answer("draft-save-answer", "saveDraft", 200, each)]) for each in (was, now)
    )
    (change,) = compare(before, after)
    assert change.kind is kind
    assert change.realms == made.realms


@pytest.mark.parametrize(
    ("was", "now"),
    [
        (schema(a="string?"), schema(a="string")),
        (schema(a="string", b="string?"), schema(a="string")),
        (schema(a=NULLABLE), schema(a=DATE)),
        (schema(a="number"), schema(a="integer")),
        ({"type": "array", "items": schema(a="string")}, {"type": "array"}),
    ],
    ids=["always-there", "optional-not-seen", "never-null", "whole-numbers", "empty-list"],
)
def test_fewer_possibilities_than_accepted_are_no_drift(made: Any, was: Any, now: Any) -> None:
    before, after = (
        made.facts(answers=[made.answer("draft-save-answer", "saveDraft", 200, each)]) for each in (was, now)
    )
    assert compare(before, after) == ()


def test_what_stands_inside_goes_and_comes_with_what_it_stands_in(made: Any) -> None:
    flat, deep = schema(a="string"), schema(a="string", b=schema(c="string", d=schema(e="string")))
    before, after = (
        made.facts(answers=[made.answer("draft-save-answer", "saveDraft", 200, each)])
        for each in (flat, deep)
    )
    assert [change.point for change in compare(before, after)] == ["200 body.b"]
    assert [change.point for change in compare(after, before)] == ["200 body.b"]


def test_an_answer_with_another_status_is_new_but_for_its_status(made: Any) -> None:
    def facts(status: int) -> Any:
        return made.facts(answers=[made.answer("draft-save-answer", "saveDraft", status, schema(a="string"))])

    assert [change.point for change in compare(facts(201), facts(200))] == ["status"]
    assert {point for values in not_accepted_yet(facts(201), facts(200)).values() for point in values} == {
        "200 body",
        "200 body.a",
        "200 type",
    }


def test_what_nobody_accepted_or_observed_is_no_drift(made: Any) -> None:
    one, other = (
        made.facts(made.observation(clause, "listDrafts", 200)) for clause in ("list-envelope", "list-fields")
    )
    assert compare(one, other) == compare({}, one) == compare(one, {}) == ()
    assert not_accepted_yet(one, other) == other


def test_realms_that_differ_alike_are_told_together_and_breaking_comes_first(made: Any) -> None:
    before = made.facts(made.observation("list-envelope", "listDrafts", {"a": 403, "b": 200}))
    after = made.facts(
        made.observation("list-envelope", "listDrafts", {"a": 200, "b": 200}, "abs-dev", "bch-dev")
        + made.observation("list-envelope", "listDrafts", {"a": 403, "b": 500}, "chm-dev")
    )
    breaking, additive = compare(before, after)
    assert (breaking.severity, breaking.realms, breaking.point) == (Severity.BREAKING, ("chm-dev",), "b")
    assert additive == Change(
        Kind.ADDED, "list-envelope", "listDrafts", ("abs-dev", "bch-dev"), "a", "403", "200"
    )


def test_generated_faults_that_fall_to_another_realm_are_nothing_new(made: Any) -> None:
    def dealt(realm: str, status: int) -> Any:
        seen = {"fault": "body:missing", "status": status}
        return made.facts(made.observation("draft-save-body", "saveDraft", seen, realm))

    accepted = dealt("bch-dev", 400)
    assert not_accepted_yet(accepted, without_moved_faults(accepted, dealt("abs-dev", 400))) == {}
    assert not_accepted_yet(accepted, without_moved_faults(accepted, dealt("abs-dev", 201))) == dealt(
        "abs-dev", 201
    )
    assert [
        change.kind for change in compare(accepted, without_moved_faults(accepted, dealt("bch-dev", 201)))
    ] == [Kind.ADDED]


def test_realms_that_disagree_are_shown_with_their_values(made: Any) -> None:
    facts = made.facts(
        made.observation("list-envelope", "listDrafts", {"a": 200, "b": 1}, "abs-dev", "bch-dev")
        + made.observation("list-envelope", "listDrafts", {"a": 404, "b": 1}, "chm-dev")
    )
    assert list(realm_difference_lines(between_realms(facts))) == [
        "list-envelope · listDrafts",
        "  a",
        "    abs-dev, bch-dev: 200",
        "    chm-dev: 404",
    ]


def test_a_realm_that_did_not_observe_a_point_has_no_say(made: Any) -> None:
    facts = made.facts(
        made.observation("list-envelope", "listDrafts", {"a": 200}, "abs-dev")
        + made.observation("list-envelope", "listDrafts", {"b": 200}, "bch-dev")
    )
    assert between_realms(facts) == ()


def test_a_member_that_one_realm_lacks_is_absent_there(made: Any) -> None:
    less = {"type": "object", "properties": {"identifier": {"type": "string"}}, "required": ["identifier"]}
    facts = made.facts(
        answers=[
            made.answer("draft-save-answer", "saveDraft", 200, made.record, "abs-dev"),
            made.answer("draft-save-answer", "saveDraft", 200, less, "bch-dev"),
        ]
    )
    (difference,) = between_realms(facts)
    assert plain(difference) == {
        "clause": "draft-save-answer",
        "operation": "saveDraft",
        "point": "200 body.createdOn",
        "values": {"abs-dev": "string date-time", "bch-dev": "absent"},
    }
