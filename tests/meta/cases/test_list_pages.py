"""What a page of a list tells: which records are the same, and whether there is a list at all."""

import json
from typing import Any

import pytest

from contracts.cases import lists
from contracts.cases.list_pages import Names, Page, drafts_of, unlike
from contracts.checks.claims import Expect
from contracts.checks.outcomes import Attempt, Blocked, Contradiction, Untested
from contracts.interface.catalogue import load_catalogue
from tests.meta.messages import exchange, response

FIRST: dict[str, Any] = {"identifier": "rc-first-draft", "score": 1}
SECOND: dict[str, Any] = {"identifier": "rc-second-draft", "score": 1}


def test_what_changes_from_answer_to_answer_does_not_matter() -> None:
    names = Names([FIRST, SECOND])
    assert names.of([SECOND, FIRST | {"score": 9}]) == names.of([SECOND, FIRST])


def test_records_that_share_their_identifiers_are_told_apart_by_all_they_hold() -> None:
    parts = [FIRST | {"part": 1}, FIRST | {"part": 2}]
    assert len(set(Names(parts).of(parts))) == 2


def test_a_record_without_an_identifier_has_a_name_too() -> None:
    records: list[dict[str, Any]] = [FIRST, {"title": "a"}]
    assert "" not in Names(records).of(records)


def test_a_receipt_that_is_another_in_each_answer_does_not_matter() -> None:
    answers = [
        [record | {"read": {"receipt": f"receipt-{look}-{at}"}} for at, record in enumerate((FIRST, SECOND))]
        for look in "ab"
    ]
    names = Names(*answers)
    assert names.of(answers[0]) == names.of(answers[1])
    assert len(set(names.of(answers[0]))) == 2


def test_records_that_only_a_link_names_are_told_apart_though_each_answer_has_another_receipt() -> None:
    answers = [
        [
            {"href": f"/documents/rc-draft-{name}", "receipt": f"receipt-{look}-{name}"}
            for name in ("one", "two")
        ]
        for look in "ab"
    ]
    names = Names(*answers)
    assert names.of(answers[0]) == names.of(answers[1])


def test_pages_without_a_record_in_common_have_no_name_in_common() -> None:
    answers = [[FIRST | {"owner": "author-account"}], [SECOND | {"owner": "author-account"}]]
    more = [
        [*page, {"identifier": f"rc-more-of-{at}", "owner": "author-account"}]
        for at, page in enumerate(answers)
    ]
    names = Names(*more)
    assert not set(names.of(more[0])) & set(names.of(more[1]))


def test_a_cursor_that_counts_the_places_of_an_answer_does_not_matter() -> None:
    def placed(*records: dict[str, Any]) -> list[dict[str, Any]]:
        return [{"node": record, "cursor": f"cursor-00000{at}"} for at, record in enumerate(records)]

    names = Names(placed(FIRST, SECOND), placed(FIRST, SECOND))
    assert names.of(placed(SECOND)) == names.of(placed(FIRST, SECOND))[1:]


@pytest.mark.parametrize(
    ("beyond_the_end", "ends"),
    [((404, None), Untested), ((200, []), Contradiction)],
    ids=["as nothing is told", "as a refusal"],
)
def test_a_collection_that_is_not_found_is_judged_by_how_the_service_tells_that_a_list_holds_nothing(
    scripted: Any, run: Any, beyond_the_end: tuple[int, Any], ends: type[Exception]
) -> None:
    def rule(_operation: str, parts: dict[str, Any]) -> tuple[int, Any]:
        if parts["query"]["collection"] == "my":
            return 404, None
        return beyond_the_end if "$skip" in parts["query"] else (200, [FIRST])

    claim = Expect(Attempt(1), load_catalogue(), ["list-my-answers"])("list-my-answers")
    run.kept["drafts to list"] = (FIRST["identifier"],)
    with pytest.raises(ends):
        lists.claim_answered(claim, run, drafts_of(scripted(rule), "my"))


@pytest.mark.parametrize(
    ("plain", "ends"),
    [((404, None), Untested), ((200, []), Untested), ((200, [FIRST]), Contradiction)],
    ids=["not found without it", "empty without it", "given without it"],
)
def test_a_bounded_list_that_is_not_found_is_judged_where_the_list_holds_items(
    scripted: Any, plain: tuple[int, Any], ends: type[Exception]
) -> None:
    def rule(_operation: str, parts: dict[str, Any]) -> tuple[int, Any]:
        return (404, None) if "$top" in parts["query"] else plain

    claim = Expect(Attempt(1), load_catalogue(), ["list-top"])("list-top")
    with pytest.raises(ends):
        lists.claim_bounded(claim, drafts_of(scripted(rule)), 1)


def test_a_list_that_is_not_found_yet_is_one_that_does_not_hold_the_draft(scripted: Any) -> None:
    drafts = drafts_of(scripted(lambda _operation, _parts: (404, None)), "mydrafts")
    assert not drafts.search(FIRST["identifier"]).found


def test_a_list_that_is_refused_shows_no_absence(scripted: Any, run: Any) -> None:
    run.kept["drafts to list"] = (SECOND["identifier"],)
    drafts = drafts_of(scripted(lambda _operation, _parts: (404, None)), "mydrafts")
    attempt = Attempt(1)
    claim = Expect(attempt, load_catalogue(), ["list-deleted-gone"])("list-deleted-gone", "listDrafts")
    with pytest.raises(Blocked):
        lists.claim_not_listed(claim, run, drafts, FIRST["identifier"])
    assert not attempt.held


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
