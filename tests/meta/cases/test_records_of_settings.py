"""Records of the settings: the stand-in where they tell none, which is a locked one, and which they only say is."""

from functools import partial
from typing import Any

import pytest

from registry_contracts.cases.drafts import prove
from registry_contracts.cases.sample_records import STAND_IN_SCHEMA, Samples
from registry_contracts.cases.submissions import UPDATE
from registry_contracts.cases.workflow_records import WorkflowRecords
from registry_contracts.cases.world import World
from registry_contracts.checks.outcomes import Untested
from registry_contracts.settings.target import RealmSettings
from tests.meta import samples as texts

UID = "rc-abcd-12345"


def samples(run: Any, actor: Any) -> Samples:
    return Samples(RealmSettings(), "abs-dev", partial(prove, run, actor))


def test_a_stand_in_that_is_taken_serves_as_a_draft_and_is_tried_once(scripted: Any, run: Any) -> None:
    actor = scripted(lambda *_: (201, None))
    made = samples(run, actor)
    assert made.draft_schema == STAND_IN_SCHEMA
    assert made.draft(UID, firstName="Rachel")["firstName"] == "Rachel"
    record = samples(run, actor).draft(UID)
    assert record["header"]["identifier"] == UID
    # Nothing that only settings can tell.
    assert not record.keys() & {"country", "government", "contactOrganization", "type", "gender"}
    assert [operation for operation, _ in actor.sent] == ["saveDraft"]


@pytest.mark.parametrize("status", [400, 500])
def test_a_stand_in_that_is_refused_leaves_everything_untested(scripted: Any, run: Any, status: int) -> None:
    made = samples(run, scripted(lambda *_: (status, {"message": "no such schema"})))
    with pytest.raises(Untested, match=r"setting realm\.abs-dev\.contact_schema is missing, and a stand-in"):
        _ = made.draft_schema
    with pytest.raises(Untested):
        made.draft(UID)


UNKNOWN, LOCKED = (400, {"message": texts.UNKNOWN}), (400, {"message": texts.LOCKED})
FAULTY = (400, {"errors": [{"code": "Error.InvalidType", "property": "title"}]})
NOT_MINE = (403, {"message": "Insufficient rights to update the draft record."})
TAKEN = (400, {"message": texts.TAKEN})
NAMED, SUBMITTED = "a-record-named-locked", "rc-test-submitted"


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
    updates = {NAMED: named, SUBMITTED: submitted}

    def rule(operation: str, parts: dict[str, Any]) -> Any:
        return updates[parts["path"]["identifier"]] if operation == UPDATE else created

    run.offer("abs-dev submission", SUBMITTED)
    records = WorkflowRecords(World(run, scripted(rule), Samples(settings, "abs-dev")))
    if says is None:
        assert records.locked() == NAMED
    else:
        with pytest.raises(Untested, match=f"realm.abs-dev.locked_identifier {says}"):
            records.locked()
