"""A thumbnail that is made late is waited for; one that is there is asked for once."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from contracts.cases.arrangement import Attachment
from contracts.cases.attachments import preview
from contracts.cases.contents import RED

PICTURE = Attachment("rc-1", 7, "red.png", RED)


def eventually(look: Callable[[], bool]) -> None:
    """Look until it is there."""
    while not look():
        pass


@pytest.mark.parametrize("late", [0, 1, 3])
def test_a_thumbnail_is_asked_for_until_it_is_there(answer: Any, exchange: Any, late: int) -> None:
    statuses = [404] * late + [200]
    asked: list[str] = []

    def send(operation: str, **_: Any) -> Any:
        asked.append(operation)
        return exchange(answer(RED, statuses[len(asked) - 1], media="image/png"), operation)

    arrange: Any = SimpleNamespace(eventually=eventually)
    author: Any = SimpleNamespace(send=send)
    found = preview(arrange, author, PICTURE)
    assert found.answer.success
    assert asked == ["getAttachmentThumbnail"] * (late + 1)
