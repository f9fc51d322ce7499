"""What cases noted becomes flat facts; which changes break a client, and which the baseline takes in."""

from pathlib import Path
from typing import Any

import pytest

from registry_contracts.evidence.observations import facts_of
from registry_contracts.evidence.record import Observation
from registry_contracts.history.baseline import Baseline, accept_facts, read, write
from registry_contracts.history.drift import ADDED, CHANGED, GONE, compare
from registry_contracts.history.observed_facts import Facts, Place, Severity, shape_of

REALMS = ("abs-dev", "bch-dev", "chm-dev")


def facts(clause: str = "list-envelope", realms: tuple[str, ...] = REALMS, **values: Any) -> Facts:
    return {Place(clause, "listDrafts", realm): dict(values) for realm in realms}


def shape(members: dict[str, str]) -> Facts:
    """An answer of an object; members stand in it as facts do."""
    values = {"200 body": "object"} | {f"200 body.{name}": kind for name, kind in members.items()}
    return {Place("draft-save-answer", "saveDraft", realm): dict(values) for realm in REALMS}


G, C, A = GONE, CHANGED, ADDED


@pytest.mark.parametrize(
    ("was", "now", "kind"),
    [
        (facts(seen="403"), facts(seen="200"), A),
        (facts(items="10"), facts(items="25"), A),
        (facts(seen=("Error.Mandatory",)), facts(seen=("Error.InvalidValue", "Error.Mandatory")), A),
        (facts(seen="200"), facts(seen="403"), C),
        (facts(items="6 or more"), facts(items="5"), C),
        (facts(seen=("Error.InvalidValue", "Error.Mandatory")), facts(seen=("Error.Mandatory",)), C),
        (facts(items="10"), facts(items="6 or more"), None),
        (facts(seen="200 | 201"), facts(seen="200"), None),
        (shape({"a": "string", "b": "string"}), shape({"a": "string"}), G),
        (shape({"a": "string"}), shape({"a": "string", "b": "string, optional"}), A),
        (shape({"a": "string"}), shape({"a": "integer"}), C),
        (shape({"a": "string", "b": "string, optional"}), shape({"a": "string"}), None),
        (shape({"a": "number"}), shape({"a": "integer"}), None),
        (shape({"a": "array", "a[]": "string"}), shape({"a": "array"}), None),
    ],
)
def test_a_change_is_additive_where_there_is_only_more(was: Facts, now: Facts, kind: str | None) -> None:
    severity = Severity.ADDITIVE if kind == A else Severity.BREAKING
    changes = [(each.change, each.severity, each.realms) for each in compare(was, now)]
    assert changes == ([(kind, severity, REALMS)] if kind else [])


AWKWARD = ("true", "~", "0404", "1e3", "a: b", "# no", "- x", "", "401 | 404", "é", "'", "[x]", "12:30")


def test_any_text_reads_back_as_it_was_written(tmp_path: Path) -> None:
    content = facts(realms=("abs-dev",), **{text or "empty": text for text in AWKWARD}, all=AWKWARD[:1])
    written = Baseline("no: such # target", content)
    write(tmp_path / "b.yaml", written)
    assert read(tmp_path / "b.yaml") == written


BODY: dict[str, Any] = {"200 body": "object", "200 body.a": "string"}
WIDER = BODY | {"200 body.a": "string, optional"}
INNER = BODY | {"200 body.gone": "object", "200 body.gone.x": "null"}


@pytest.mark.parametrize(
    ("known", "seen", "merged"),
    [
        (facts(seen="array") | facts("list-fields", seen="1"), facts(seen="object"), None),
        (facts(**INNER), facts(**BODY), facts(**BODY)),
        (facts(**WIDER), facts(**BODY), facts(**WIDER)),
    ],
    ids=["unseen stays", "a member goes", "wider stays"],
)
def test_accepting_takes_over_what_contradicts(known: Facts, seen: Facts, merged: Facts | None) -> None:
    accepted = accept_facts(known, seen, compare(known, seen))
    assert accepted == (known | seen if merged is None else merged)
    assert compare(accepted, seen) == ()


OBJECT = {"body": "object"}
DATED = OBJECT | {"body.createdOn": "string date-time"}


def noted(*seen: Any) -> dict[str, Any]:
    """The facts of notes at one place."""
    notes = [Observation("draft-save-answer", "abs-dev", "saveDraft", "case", each) for each in seen]
    return next(iter(facts_of(notes).values()), {})


def answer(body: Any, status: int = 201) -> dict[str, Any]:
    return {"status": status, "type": "application/json", "body": body}


TYPE = {"201 type": "application/json", "status": "201"}


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        ([{"create": 201, "update": 200}], {"create": "201", "update": "200"}),
        ([{"fault": "body:missing", "status": 400}], {"fault body:missing": "400"}),
        ([["b", "a", "b"]], {"seen": ("a", "b")}),
        (
            [answer(DATED), answer(OBJECT | {"body.createdOn": "null"}), answer(OBJECT)],
            TYPE | {"201 body": "object", "201 body.createdOn": "null | string date-time, optional"},
        ),
    ]
)  # fmt: skip
def test_what_cases_noted_is_named(seen: list[Any], expected: dict[str, Any]) -> None:
    assert noted(*seen) == expected


def test_a_body_is_told_member_by_member_and_without_its_values() -> None:
    body: dict[str, Any] = {"createdOn": "2026-11-21T12:00:00Z", "n": [1, 2.5], "a.b": None}
    body |= {"tags": [{"a": 1}, {"b": "https://a.test"}], "rc-abcd-list-0001": 1}
    assert shape_of(body) == {
        "body": "object",
        "body.*": "integer",
        "body.a·b": "null",
        "body.createdOn": "string date-time",
        "body.n": "array",
        "body.n[]": "number",
        "body.tags": "array",
        "body.tags[]": "object",
        "body.tags[].a": "integer, optional",
        "body.tags[].b": "string uri, optional",
    }
    deep: Any = "deepest"
    for _ in range(100):
        deep = [deep]
    assert len(shape_of(deep)) < 30
