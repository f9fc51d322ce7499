"""A workflow record is looked at anew only after something that may have changed it."""

from typing import Any

import pytest

from contracts.cases.arrangement import disturbed, mark_of
from contracts.checks.outcomes import Attempt, contradicted

URL = "http://127.0.0.1/api/v2023/documents/schemas/absPermit/rc-test%2D0123456789?Realm=abs-dev"
MARK = mark_of("abs-dev", "rc-test-0123456789")
FAULTS = {"errors": [{"code": "Error.Mandatory", "property": "title"}]}


@pytest.mark.parametrize(
    ("status", "body", "marked"),
    [(400, {}, False), (403, None, False), (200, FAULTS, False), (200, {}, True), (500, {}, True)],
)
def test_what_was_not_turned_down_disturbs(
    attempt: Attempt, answer: Any, exchange: Any, status: int, body: Any, marked: bool
) -> None:
    attempt.exchanges.append(exchange(answer(body, status), "updateWorkflowRecord", url=URL))
    assert list(disturbed(attempt)) == ([MARK] if marked else [])


def test_without_an_answer_nothing_is_sure(attempt: Attempt, exchange: Any) -> None:
    attempt.exchanges.append(exchange(None, "createWorkflowRecordWithIdentifier", url=URL))
    assert list(disturbed(attempt)) == [MARK]


def test_a_contradiction_makes_everything_doubtful(attempt: Attempt, answer: Any, exchange: Any) -> None:
    attempt.exchanges.append(exchange(answer({}, 400), "updateWorkflowRecord", url=URL))
    attempt.note(contradicted("workflow-locked-record", "updateWorkflowRecord", "a", "b"))
    assert list(disturbed(attempt)) == [MARK]


def test_drafts_are_no_workflow_records(attempt: Attempt, answer: Any, exchange: Any) -> None:
    attempt.exchanges.append(exchange(answer({}, 200), "saveDraft", url=URL))
    assert list(disturbed(attempt)) == []
