"""Where the settings tell no valid record, a stand-in serves as a draft once the service has taken it."""

from functools import partial
from typing import Any

import pytest

from contracts.cases.drafts import prove
from contracts.cases.sample_records import STAND_IN_SCHEMA, Samples
from contracts.checks.outcomes import Untested
from contracts.settings.target import RealmSettings

UID = "rc-test-0123456789"
TOLD = RealmSettings(contact_schema="person", contact_organization="org-0123456789", country_terms=("ke",))


def samples(run: Any, actor: Any, settings: RealmSettings | None = None) -> Samples:
    return Samples(settings or RealmSettings(), "abs-dev", partial(prove, run, actor))


def test_a_stand_in_that_is_taken_serves_as_a_draft_and_is_tried_once(scripted: Any, run: Any) -> None:
    actor = scripted(lambda *_: (201, None))
    made = samples(run, actor)
    assert made.draft_schema == STAND_IN_SCHEMA
    assert made.draft(UID, firstName="Rachel")["firstName"] == "Rachel"
    assert samples(run, actor).draft(UID)["header"]["identifier"] == UID
    assert [operation for operation, _ in actor.sent] == ["saveDraft"]


@pytest.mark.parametrize("status", [400, 403, 404, 422, 500])
def test_a_stand_in_that_is_refused_leaves_everything_untested(scripted: Any, run: Any, status: int) -> None:
    made = samples(run, scripted(lambda *_: (status, {"message": "no such schema"})))
    with pytest.raises(Untested, match=r"setting realm\.abs-dev\.contact_schema is missing, and a stand-in"):
        _ = made.draft_schema
    with pytest.raises(Untested):
        made.draft(UID)


def test_a_stand_in_holds_nothing_that_only_settings_can_tell(scripted: Any, run: Any) -> None:
    record = samples(run, scripted(lambda *_: (200, None))).draft(UID)
    assert not record.keys() & {"country", "government", "contactOrganization", "type", "gender"}


def test_settings_make_a_stand_in_unnecessary(scripted: Any, run: Any) -> None:
    actor = scripted(lambda *_: (500, None))
    made = samples(run, actor, TOLD)
    assert made.draft_schema == "person"
    assert made.draft(UID)["country"] == {"identifier": "ke"}
    assert len(made.draft(UID)) == 26
    assert actor.sent == []


def test_a_short_draft_has_the_mandatory_fields_alone() -> None:
    made = Samples(TOLD, "abs-dev")
    assert len(made.short_draft(UID)) == 8
    assert made.short_draft(UID, phones=["1"]).keys() - made.short_draft(UID).keys() == {"phones"}
