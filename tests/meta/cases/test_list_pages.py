"""What a page of a list tells: which records are the same, and what is missing or too much."""

import json
from typing import Any

import pytest

from contracts.cases.list_pages import Names, Page, unlike
from tests.meta.messages import exchange, response

FIRST: dict[str, Any] = {"identifier": "rc-first-draft", "score": 1}
SECOND: dict[str, Any] = {"identifier": "rc-second-draft", "score": 1}


def _placed(*records: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"node": record, "cursor": f"cursor-00000{at}"} for at, record in enumerate(records)]


def _received(look: str, *records: dict[str, Any]) -> list[dict[str, Any]]:
    return [record | {"read": {"receipt": f"receipt-{look}-{at}"}} for at, record in enumerate(records)]


LINKS = [{"href": f"/documents/rc-draft-{name}"} for name in ("one", "two")]


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ([FIRST, SECOND], [FIRST | {"score": 9}, SECOND | {"score": 4}]),
        (_received("a", FIRST, SECOND), _received("b", FIRST, SECOND)),
        (_received("a", *LINKS), _received("b", *LINKS)),
        (_placed(FIRST, SECOND), _placed(FIRST, SECOND)),
        ([FIRST | {"part": 1}, FIRST | {"part": 2}], [FIRST | {"part": 1}, FIRST | {"part": 2}]),
        ([FIRST, {"title": "a"}], [FIRST, {"title": "a"}]),
    ],
    ids=["a score", "a receipt", "a receipt beside a link", "a cursor", "parts of one", "no identifier"],
)
def test_records_have_names_of_their_own_that_last_from_answer_to_answer(first: Any, again: Any) -> None:
    names = Names(first, again)
    assert names.of(first) == names.of(again)
    assert len(set(names.of(first)) - {""}) == 2


def test_pages_without_a_record_in_common_have_no_name_in_common() -> None:
    owned = {"owner": "author-account"}
    pages = [
        [each | owned, {"identifier": f"rc-more-of-{at}"} | owned] for at, each in enumerate((FIRST, SECOND))
    ]
    names = Names(*pages)
    assert not set(names.of(pages[0])) & set(names.of(pages[1]))


@pytest.mark.parametrize(
    ("due", "others", "says"),
    [
        (["rc-first-draft", "rc-second-draft"], False, "2 items: 200"),
        (
            ["rc-first-draft", "rc-third-draft"],
            False,
            "2 items, missing: rc-third-draft, too much: rc-second-draft",
        ),
        (["rc-first-draft", "rc-third-draft"], True, "2 items, missing: rc-third-draft: 200"),
        (
            ["rc-second-draft", "rc-first-draft"],
            False,
            "2 items, in another order: 200",
        ),
        (["rc-first-draft", *(f"rc-{n}-draft-{n}" for n in range(5))], True, "rc-2-draft-2 and 2 more: 200"),
    ],
)
def test_what_a_list_lacks_or_holds_beside_what_is_due_is_told_by_name(
    due: list[str], others: bool, says: str
) -> None:
    page = Page(exchange(response(200, json.dumps([FIRST, SECOND]).encode()), operation="listDrafts"))
    assert says in page.seen_beside(due, others=others)


def test_what_a_list_holds_twice_is_told_once() -> None:
    assert unlike(["a", "b"], ["a", "a"]) == ", missing: b, more than once: a"
    assert unlike(["a"], ["a"]) == ""
