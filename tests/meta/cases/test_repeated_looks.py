"""What the nightly profile looks at time after time is judged each time."""

from types import SimpleNamespace
from typing import Any

import pytest

from contracts.cases.arrangement import Attachment
from contracts.cases.drafts import attached_each_time
from contracts.cases.list_pages import Page
from contracts.checks.claims import Claim
from contracts.checks.outcomes import Contradiction

NOTE = Attachment("rc-1", 7, "note.txt", b"a note")
THERE, OTHERS = {"filename": "note.txt", "id": 7}, {"filename": "other.txt", "id": 8}


@pytest.fixture
def lister(answer: Any, exchange: Any) -> Any:
    """Makes a lister that gives these lists in turn."""

    def make(*lists: list[dict[str, Any]]) -> Any:
        turns = iter(lists)
        return SimpleNamespace(page=lambda: Page(exchange(answer(next(turns)), "listAttachments")))

    return make


def test_an_attachment_that_is_listed_each_time_holds(must: Claim, lister: Any) -> None:
    attached_each_time(must, lister([THERE], [OTHERS, THERE]), NOTE, times=2)


def test_an_attachment_that_is_missing_once_is_a_contradiction(must: Claim, lister: Any) -> None:
    with pytest.raises(Contradiction):
        attached_each_time(must, lister([THERE], [OTHERS]), NOTE, times=2)
