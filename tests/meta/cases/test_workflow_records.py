"""Which record is a locked one, and which setting only says so."""

from typing import Any

import pytest

from registry_contracts.cases.sample_records import Samples
from registry_contracts.cases.submissions import UPDATE
from registry_contracts.cases.workflow_records import WorkflowRecords
from registry_contracts.cases.world import World
from registry_contracts.checks.outcomes import Untested
from registry_contracts.settings.target import RealmSettings

UNKNOWN = (
    400,
    {
        "message": "A document with the identifier does not exist, please provide correct 'identifier' to update."
    },
)
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
        (UNKNOWN, FAULTY, FAULTY, "names a record that is gone"),
        (NOT_MINE, LOCKED, TAKEN, "names a record that is not locked"),
        # Of the service, as far as can be told: the case judges it.
        (UNKNOWN, UNKNOWN, TAKEN, None),
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
