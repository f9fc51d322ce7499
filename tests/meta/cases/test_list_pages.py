"""What a page of a list tells: which records are the same, and by which field they are known."""

import re
from typing import Any

import pytest

from contracts.cases.known_lists import Field, learn
from contracts.cases.list_pages import Lister, Names
from tests.meta.messages import FakeActor, answer, exchange

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


def test_the_field_of_known_values_is_learnt_from_whichever_page_holds_one() -> None:
    held = ["another", "a stranger's", "third", "second", "first"]

    def answered(_: str, *, query: dict[str, str], **__: Any) -> Any:
        wanted = re.findall(r"'(\w+)'", query.get("$filter", ""))
        found = [{"uid": value} for value in held if not wanted or value in wanted]
        at = int(query.get("$skip", 0))
        return exchange(answer(found[at : at + 2] if "$filter" not in query else found), "listDrafts")

    author: Any = FakeActor(answered, role="author")
    lister = Lister(author, "listDrafts", "$", fixed={"collection": "mydrafts"})
    assert learn(lister, ["first", "second", "third"]) == Field("uid", "uid", filters=True)
