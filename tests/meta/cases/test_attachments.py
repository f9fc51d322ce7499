"""The id of an attachment is the number that serves."""

from typing import Any

import pytest

from contracts.cases.attachment_ids import attach
from contracts.checks.outcomes import Blocked, Untested

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
