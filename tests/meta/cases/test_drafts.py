"""The stand-in for a valid record where the settings tell none."""

from functools import partial
from typing import Any

import pytest

from registry_contracts.cases.drafts import prove
from registry_contracts.cases.sample_records import STAND_IN_SCHEMA, Samples
from registry_contracts.checks.outcomes import Untested
from registry_contracts.settings.target import RealmSettings

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
