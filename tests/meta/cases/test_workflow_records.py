"""Rows of the workflow table without any setting: told by a difference, or not told at all; never guessed."""

from types import SimpleNamespace
from typing import Any

import pytest

from contracts.cases.sample_records import Samples
from contracts.cases.submissions import CREATE, UPDATE
from contracts.cases.workflow_records import RowRequests, WorkflowRecords
from contracts.checks.outcomes import Untested
from contracts.settings.target import RealmSettings

SCHEMA = (400, {"message": "Schema not configured for the given realm abs-dev."})
UNKNOWN = (
    400,
    {
        "message": "A document with the identifier does not exist, please provide correct 'identifier' to update."
    },
)
REALM = (
    400,
    {"message": "realm param is missing, please provide valid realm in querystring or httpHeaders"},
)
ANONYMOUS = (403, {"message": "Authorization required, user is anonymous."})


@pytest.fixture
def table(scripted: Any, run: Any) -> Any:
    """Makes the requests of a realm without settings: `table(rule)`."""

    def make(rule: Any) -> RowRequests:
        author, samples = scripted(rule), Samples(RealmSettings(), "abs-dev")
        arrange: Any = SimpleNamespace(
            once=run.once, disturbed=lambda _: False, draft=None, submission=lambda _: "rc-test-submitted"
        )
        records = WorkflowRecords(author, arrange, samples, run.namespace)
        return RowRequests(author, records, arrange, samples, run.namespace)

    return make


def by_realm(missing: Any, otherwise: Any = SCHEMA) -> Any:
    return lambda _, parts: missing if parts.get("realm", "abs-dev") is None else otherwise


def test_another_row_than_that_of_the_made_up_schema_is_told(table: Any) -> None:
    sent = table(by_realm(REALM)).send(CREATE, realm=None)
    assert sent.answer.status == 400
    assert "realm param" in sent.answer.text


def test_an_answer_that_is_neither_row_is_for_the_claim_to_judge(table: Any) -> None:
    sent = table(by_realm((404, {"message": "nothing here"}))).send(CREATE, realm=None)
    assert sent.answer.status == 404


@pytest.mark.parametrize(
    "rule",
    [
        by_realm(SCHEMA),
        by_realm((400, {"message": "Schema not configured for the given realm undefined."})),
        by_realm(REALM, (404, {"message": "no such schema"})),
        by_realm(REALM, (400, {"errors": [{"code": "Error.InvalidValue", "property": "title"}]})),
    ],
    ids=["the schema first", "without a realm", "no row at all", "content"],
)
def test_what_cannot_be_told_apart_is_untested(table: Any, rule: Any) -> None:
    with pytest.raises(Untested, match=r"workflow_schema is missing, and a made-up"):
        table(rule).send(CREATE, realm=None)


def test_an_update_may_end_in_the_row_of_the_identifier_first(table: Any) -> None:
    sent = table(by_realm(REALM, UNKNOWN)).send(UPDATE, realm=None)
    assert "realm param" in sent.answer.text


def test_somebody_anonymous_is_told_from_the_author(table: Any, scripted: Any) -> None:
    rule: Any = lambda _, parts: ANONYMOUS if parts["role"] == "anonymous" else SCHEMA  # noqa: E731
    anonymous = scripted(rule, "anonymous")
    assert table(rule).send(CREATE, anonymous).answer.status == 403


def test_the_row_of_the_schema_is_judged_where_it_stands_alone(table: Any) -> None:
    assert table(lambda *_: SCHEMA).unknown_schema(CREATE).answer.status == 400
    assert table(lambda *_: (418, {"message": "no"})).unknown_schema(CREATE).answer.status == 418


@pytest.mark.parametrize("told", [UNKNOWN, (403, {"message": "no"}), (404, {"message": "no"})])
def test_an_update_under_a_made_up_schema_tells_only_of_the_schema(table: Any, told: Any) -> None:
    with pytest.raises(Untested):
        table(lambda *_: told).unknown_schema(UPDATE)


def test_an_unknown_identifier_is_judged_where_it_comes_first(table: Any) -> None:
    assert table(lambda *_: UNKNOWN).unknown_identifier().answer.status == 400
    with pytest.raises(Untested):
        table(lambda *_: SCHEMA).unknown_identifier()


LOCKED = (400, {"message": "The record is locked for workflow, cannot proceed."})
FAULTY = (400, {"errors": [{"code": "Error.InvalidType", "property": "title"}]})
NOT_MINE = (403, {"message": "Insufficient rights to update the draft record."})
TAKEN = (400, {"message": "A document with the identifier exists, please use a different 'identifier'."})
NAMED, SUBMITTED = "a-record-named-locked", "rc-test-submitted"


def answering(updates: dict[str, Any], created: Any) -> Any:
    """A service that answers updates by their identifier, and tries to create in one way."""
    return lambda operation, parts: updates[parts["path"]["identifier"]] if operation == UPDATE else created


@pytest.mark.parametrize(
    ("named", "submitted", "created", "says"),
    [
        (LOCKED, FAULTY, TAKEN, None),
        (UNKNOWN, LOCKED, FAULTY, "names a record that is gone"),
        (UNKNOWN, FAULTY, FAULTY, "names a record that is gone"),
        (NOT_MINE, LOCKED, TAKEN, "names a record that is not locked"),
        (FAULTY, LOCKED, TAKEN, "names a record that is not locked"),
        # Of the service, as far as can be told: the case judges it.
        (UNKNOWN, UNKNOWN, TAKEN, None),
        (FAULTY, FAULTY, TAKEN, None),
        (NOT_MINE, NOT_MINE, TAKEN, None),
    ],
)
def test_a_setting_that_names_no_locked_record_is_no_finding(
    scripted: Any, run: Any, named: Any, submitted: Any, created: Any, says: str | None
) -> None:
    settings = RealmSettings(
        workflow_schema="permit", workflow_document={"title": {"en": "A permit"}}, locked_identifier=NAMED
    )
    author = scripted(answering({NAMED: named, SUBMITTED: submitted}, created))
    arrange: Any = SimpleNamespace(
        once=run.once, eventually=lambda look: look(), submission=lambda _: SUBMITTED
    )
    records = WorkflowRecords(author, arrange, Samples(settings, "abs-dev"), run.namespace)
    if says is None:
        assert records.locked() == NAMED
    else:
        with pytest.raises(Untested, match=f"realm.abs-dev.locked_identifier {says}"):
            records.locked()
