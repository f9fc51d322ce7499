"""Differences between realms for the same point are shown beside it."""

from typing import Any

from contracts.file_formats import plain
from contracts.history.drift import between_realms, realm_difference_lines


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
