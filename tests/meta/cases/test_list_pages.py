"""Records of one list are told apart by their identifiers only where these do it."""

from typing import Any

from contracts.cases.list_pages import Names

FIRST, SECOND = {"identifier": "rc-first-draft", "score": 1}, {"identifier": "rc-second-draft", "score": 1}


def test_what_changes_from_answer_to_answer_does_not_matter() -> None:
    names = Names([FIRST, SECOND])
    assert names.of([SECOND, FIRST | {"score": 9}]) == names.of([SECOND, FIRST])


def test_records_that_share_their_identifiers_are_told_apart_by_all_they_hold() -> None:
    parts = [FIRST | {"part": 1}, FIRST | {"part": 2}]
    assert len(set(Names(parts).of(parts))) == 2


def test_a_record_without_an_identifier_has_a_name_too() -> None:
    records: list[dict[str, Any]] = [FIRST, {"title": "a"}]
    assert "" not in Names(records).of(records)
