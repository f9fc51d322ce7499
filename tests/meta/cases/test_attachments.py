"""Attachments: the id that serves, the thumbnail that comes late, the list that is looked at time after time."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from contracts.cases.attachment_ids import Attachment, attach
from contracts.cases.attachments import preview
from contracts.cases.contents import RED
from contracts.cases.drafts import attached_each_time
from contracts.cases.list_pages import Lister, attachments_of
from contracts.checks.claims import Claim
from contracts.checks.outcomes import Blocked, Contradiction, Untested
from tests.meta.messages import FakeActor, answer, exchange

UID, NAME = "rc-test-0123456789", "note.txt"
LISTED = {"filename": NAME, "id": 31}


@pytest.mark.parametrize(
    ("created", "listed", "served", "ends"),
    [
        ({"id": 7}, [], "7", 7),
        (None, [LISTED], "31", 31),
        ({"id": 7}, [LISTED], "", Blocked),
        (None, [LISTED], "", Untested),
        ({"size": 7}, [LISTED], "", Untested),
        (None, [], "", Blocked),
    ],
    ids=["answered", "listed", "answered in vain", "not answered", "no id answered", "not listed"],
)
def test_an_id_is_the_number_that_serves(
    scripted: Any, created: Any, listed: list[Any], served: str, ends: int | type[Exception]
) -> None:
    def rule(operation: str, parts: dict[str, Any]) -> tuple[int, Any]:
        answers = {"createAttachment": (201, created), "listAttachments": (200, listed)}
        found = 200 if parts["path"].get("attachmentId") == served else 404
        return answers.get(operation, (found, None))

    if isinstance(ends, int):
        assert attach(scripted(rule), UID, NAME, b"a note").id == ends
    else:
        with pytest.raises(ends):
            attach(scripted(rule), UID, NAME, b"a note")


def test_where_a_list_told_no_id_before_a_later_one_that_is_late_leaves_nothing_unjudged(
    scripted: Any,
) -> None:
    lists = [[LISTED]]

    def rule(operation: str, _parts: dict[str, Any]) -> tuple[int, Any]:
        answers = {"createAttachment": (201, None), "listAttachments": (200, lists[-1])}
        return answers.get(operation, (404, None))

    actor = scripted(rule)
    with pytest.raises(Untested):
        attach(actor, UID, NAME, b"a note")
    lists.append([])
    with pytest.raises(Untested):
        attach(actor, UID, NAME, b"a second one")


PICTURE = Attachment("rc-1", 7, "red.png", RED)


def eventually(look: Callable[[], bool]) -> None:
    """Look until it is there."""
    while not look():
        pass


@pytest.mark.parametrize("late", [0, 1, 3])
def test_a_thumbnail_is_asked_for_until_it_is_there(late: int) -> None:
    statuses = [404] * late + [200]
    asked: list[str] = []

    def send(operation: str, **_: Any) -> Any:
        asked.append(operation)
        return exchange(answer(RED, statuses[len(asked) - 1], media="image/png"), operation)

    world: Any = SimpleNamespace(eventually=eventually)
    author: Any = FakeActor(send)
    found = preview(world, author, PICTURE)
    assert found.answer.success
    assert asked == ["getAttachmentThumbnail"] * (late + 1)


NOTE = Attachment("rc-1", 7, "note.txt", b"a note")
THERE, OTHERS = {"filename": "note.txt", "id": 7}, {"filename": "other.txt", "id": 8}


@pytest.fixture
def lister(scripted: Any) -> Any:
    """Makes a lister that gives these lists in turn."""

    def make(*lists: list[dict[str, Any]]) -> Lister:
        turns = iter(lists)
        rule = lambda _, parts: (200, [] if "skip" in parts["query"] else next(turns))  # noqa: E731
        return attachments_of(scripted(rule), "rc-1")

    return make


def test_an_attachment_that_is_listed_each_time_holds(must: Claim, lister: Any) -> None:
    attached_each_time(must, lister([THERE], [OTHERS, THERE]), NOTE, times=2)


def test_an_attachment_on_a_later_page_is_listed(must: Claim, scripted: Any) -> None:
    rule = lambda _, parts: (200, [THERE] if parts["query"].get("skip") == "1" else [OTHERS])  # noqa: E731
    attached_each_time(must, attachments_of(scripted(rule), "rc-1"), NOTE, times=1)


def test_an_attachment_that_is_missing_once_is_a_contradiction(must: Claim, lister: Any) -> None:
    with pytest.raises(Contradiction):
        attached_each_time(must, lister([THERE], [OTHERS]), NOTE, times=2)
