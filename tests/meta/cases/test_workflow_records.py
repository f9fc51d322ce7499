"""Rows of the workflow table without any setting; what names no locked record; a contact is made once."""

from contextlib import nullcontext
from typing import Any

import pytest

from contracts.cases.row_requests import RowRequests
from contracts.cases.sample_records import Samples
from contracts.cases.submissions import CREATE, UPDATE
from contracts.cases.workflow_records import WorkflowRecords
from contracts.cases.world import World
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


@pytest.fixture
def table(scripted: Any, run: Any) -> Any:
    """Makes the requests of a realm without settings: `table(rule)`."""

    def make(rule: Any) -> RowRequests:
        run.offer("abs-dev submission", "rc-test-submitted")
        world = World(run, scripted(rule), Samples(RealmSettings(), "abs-dev"))
        return RowRequests(WorkflowRecords(world), world)

    return make


def by_realm(missing: Any, otherwise: Any = SCHEMA) -> Any:
    return lambda _, parts: missing if parts.get("realm", "abs-dev") is None else otherwise


@pytest.mark.parametrize(
    ("operation", "rule", "status"),
    [
        (CREATE, by_realm(REALM), 400),
        (CREATE, by_realm((404, {"message": "nothing here"})), 404),
        (UPDATE, by_realm(REALM, UNKNOWN), 400),
        (CREATE, by_realm(SCHEMA), None),
        (CREATE, by_realm((400, {"message": "Schema not configured for the given realm undefined."})), None),
        (CREATE, by_realm(REALM, (404, {"message": "no such schema"})), None),
        (CREATE, by_realm(REALM, (400, {"errors": [{"code": "Error.InvalidValue", "property": "x"}]})), None),
    ],
)
def test_a_row_is_told_by_its_difference_from_that_of_a_made_up_schema(
    table: Any, operation: str, rule: Any, status: int | None
) -> None:
    if status is not None:
        assert table(rule).send(operation, realm=None).answer.status == status
        return
    with pytest.raises(Untested, match=r"workflow_schema is missing, and a made-up"):
        table(rule).send(operation, realm=None)


@pytest.mark.parametrize(
    ("operation", "told", "judged"),
    [
        (CREATE, SCHEMA, True),
        (CREATE, (418, {"message": "no"}), True),
        (UPDATE, UNKNOWN, False),
        (UPDATE, (403, {"message": "no"}), False),
        (UPDATE, (404, {"message": "no"}), False),
    ],
)
def test_the_row_of_the_schema_is_judged_where_it_stands_alone(
    table: Any, operation: str, told: Any, judged: bool
) -> None:
    with nullcontext() if judged else pytest.raises(Untested):
        assert table(lambda *_: told).unknown_schema(operation).answer.status == told[0]


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
    run.offer("abs-dev submission", SUBMITTED)
    records = WorkflowRecords(World(run, author, Samples(settings, "abs-dev")))
    if says is None:
        assert records.locked() == NAMED
    else:
        with pytest.raises(Untested, match=f"realm.abs-dev.locked_identifier {says}"):
            records.locked()
