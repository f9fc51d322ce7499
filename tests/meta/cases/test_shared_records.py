"""A workflow record is looked at anew only after something that may have changed it."""

from typing import Any

import pytest

from contracts.cases.arrangement import Arrangement, disturbed, mark_of
from contracts.cases.sample_records import Samples
from contracts.checks.outcomes import Attempt, Blocked, Untested, contradicted
from contracts.settings.target import RealmSettings

URL = "http://127.0.0.1/api/v2023/documents/schemas/absPermit/rc-test%2D0123456789?Realm=abs-dev"
MARK = mark_of("abs-dev", "rc-test-0123456789")
SETTINGS = RealmSettings(
    contact_schema="contact", country_terms=("ca",), contact_organization="organization-abs-dev"
)
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


def test_a_contact_whose_name_is_not_told_is_created_once(scripted: Any, run: Any) -> None:
    author = scripted(lambda operation, _: (201, None) if operation == "createContact" else (404, {}))
    arrange = Arrangement(run, "abs-dev", Samples(SETTINGS, "abs-dev"))
    for _ in range(3):
        with pytest.raises(Untested, match="no answer tells"):
            arrange.contact(author)
    assert [operation for operation, _ in author.sent].count("createContact") == 1


def test_a_contact_that_was_refused_is_tried_again(scripted: Any, run: Any) -> None:
    statuses = iter([404, 403, 404, 404, 404, 200])
    author = scripted(lambda _, __: (next(statuses), {}))
    arrange = Arrangement(run, "abs-dev", Samples(SETTINGS, "abs-dev"))
    with pytest.raises(Blocked, match="createContact"):
        arrange.contact(author)
    assert arrange.contact(author) == "rc-keep-author-contact-abs-dev"
