"""What a case was not shown it does not pass over: a list that tells nothing, a failure nobody knows, one obstacle."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
import schemathesis.core.failures
import schemathesis.openapi.checks

from registry_contracts.cases import attachments
from registry_contracts.cases.attachments import claim_unsafe_refused
from registry_contracts.cases.comparison import claim_each
from registry_contracts.cases.contact_requests import CREATE, ContactRequests
from registry_contracts.cases.described_inputs import FAILURES, failures_of
from registry_contracts.cases.drafts import claim_no_info
from registry_contracts.cases.requests import Request
from registry_contracts.cases.sample_records import Samples
from registry_contracts.cases.shared_documents import document_for_uploads
from registry_contracts.cases.sign_in import claim_refused_without_token
from registry_contracts.cases.world import Draft, World
from registry_contracts.checks.claims import Claim, Expect
from registry_contracts.checks.outcomes import Attempt, Blocked, Contradiction, Untested
from registry_contracts.errors import EnvironmentFault, SuiteError
from registry_contracts.exchanges.readers import Ambiguous
from registry_contracts.settings.target import RealmSettings
from tests.meta.messages import answer, exchange


@pytest.fixture
def world(run: Any, scripted: Callable[..., Any]) -> Callable[..., World]:
    """Makes a world whose requests are answered by a rule."""

    def make(rule: Callable[[str, dict[str, Any]], tuple[int, Any]]) -> World:
        settings = RealmSettings(
            contact_schema="contact", contact_organization="org-0123456", country_terms=("ke",)
        )
        return World(run, scripted(rule), Samples(settings, "abs-dev"))

    return make


@pytest.mark.parametrize(
    ("listed", "ends"),
    [
        ((200, []), None),
        ((200, [{"name": "a.txt"}]), Contradiction),  # a record without a number is one all the same
        ((403, {}), Blocked),
        ((200, "no list"), Blocked),
    ],
)
def test_nothing_is_attached_only_where_a_list_shows_so(
    world: Callable[..., World],
    claims: Expect,
    attempt: Attempt,
    monkeypatch: pytest.MonkeyPatch,
    listed: tuple[int, Any],
    ends: type[Exception] | None,
) -> None:
    uid = "rc-abcd-document-1"

    def rule(operation: str, parts: dict[str, Any]) -> tuple[int, Any]:
        return listed if operation == "listAttachments" and parts["path"]["uid"] == uid else (200, {})

    request = Request("createAttachment", {"uid": uid, "filename": "a.txt"}, body=b"a")
    refused, made = exchange(answer({}, 401), "createAttachment"), world(rule)
    made.once("answer of an empty list", lambda: 200)
    monkeypatch.setattr(attachments, "need_own_list", bool)
    claim = claims("token-invalid-refused", "createAttachment")
    with pytest.raises(ends) if ends else nullcontext():
        claim_refused_without_token(claim, made, request, [refused])
    assert attempt.held.total() == (1 if ends else 2)


NOTHING = {"exists": False, "askedOn": "2026-01-31T08:15:00.250Z"}
INFO = {"schema": "contact", "createdOn": "2026-01-30T10:00:00.000Z"}


@pytest.mark.parametrize(
    ("elsewhere", "ends"),
    [
        ((404, {}), None),
        ((200, NOTHING), None),
        ((200, None), None),
        ((200, INFO), Contradiction),
        ((200, {**INFO, "realm": "bch-dev", **NOTHING}), Contradiction),
    ],
)
def test_info_of_a_draft_is_told_from_info_of_nothing(
    world: Callable[..., World], claims: Expect, elsewhere: tuple[int, Any], ends: type[Exception] | None
) -> None:
    uid = "rc-abcd-document-1"

    def rule(_: str, parts: dict[str, Any]) -> tuple[int, Any]:
        if parts["path"]["uid"] != uid:
            return 200, NOTHING | {"askedOn": "2026-01-31T08:16:00.000Z"}
        return elsewhere if "realm" in parts else (200, INFO)

    draft = Draft(uid, {}, exchange(answer({}), "saveDraft"))
    with pytest.raises(ends) if ends else nullcontext():
        claim_no_info(claims("realm-drafts-apart", "getDraftInfo"), world(rule), draft, "bch-dev")


@pytest.mark.parametrize("obstacle", [Blocked(CREATE, "refused"), Untested("no answer tells a name")])
def test_how_faults_are_told_is_known_where_no_contact_can_be_updated(
    world: Callable[..., World], monkeypatch: pytest.MonkeyPatch, obstacle: Exception
) -> None:
    def stumble(_: World) -> str:
        raise obstacle

    monkeypatch.setattr(World, "contact", stumble)
    errors = [{"code": "Error.Mandatory", "property": name} for name in ("firstName", "emails")]
    told = ContactRequests(CREATE, world(lambda *_: (400, {"errors": errors}))).reporting()
    assert (told.refuses, told.arrays, told.names, told.takes) == (True, True, True, False)


def test_a_document_that_drawn_files_share_stays_until_the_end(
    run: Any, world: Callable[..., World], monkeypatch: pytest.MonkeyPatch
) -> None:
    run.kept = set[str]()
    monkeypatch.setattr(World, "document", lambda _, uid: uid)
    made = world(lambda *_: (200, {}))
    assert document_for_uploads(made, "drawn files") in run.kept
    assert document_for_uploads(made, "drawn files") == document_for_uploads(made, "drawn files")


@pytest.mark.parametrize("published_after", [0, 2])
def test_a_record_that_is_published_later_takes_files_then(
    run: Any, world: Callable[..., World], monkeypatch: pytest.MonkeyPatch, published_after: int
) -> None:
    run.settle_seconds = 10.0
    monkeypatch.setattr("registry_contracts.cases.effects.time.sleep", lambda _: None)
    monkeypatch.setattr(World, "kept_draft", lambda self: Draft("a-draft-0001", {}, self.author))
    monkeypatch.setattr(World, "submission", lambda _: "submitted-1")
    looks = 0

    def rule(operation: str, parts: dict[str, Any]) -> tuple[int, Any]:
        nonlocal looks
        if operation == "draftExists":
            return 404, {}
        looks += parts["path"]["uid"] == "submitted-1"
        return (201, {}) if looks > published_after else (409, {})

    made = world(rule)
    assert made.refusal_of_files() == 409
    assert made._what_takes_files().once_published


@pytest.mark.parametrize(
    "obstacle", [Blocked("getDraft", "500"), EnvironmentFault("reset"), Ambiguous("two")]
)
def test_one_judgement_that_cannot_be_made_hides_no_other(
    claims: Expect, attempt: Attempt, obstacle: Exception
) -> None:
    def stumble(_: Claim) -> None:
        raise obstacle

    judgements = {
        "draft-get-content": stumble,
        "draft-save-updates": lambda claim: claim.holds(True, expected=""),
    }
    with pytest.raises(type(obstacle)):
        claim_each(claims, "getDraft", judgements)
    assert attempt.held.keys() == {("draft-save-updates", "getDraft")}


def test_a_failure_of_schemathesis_that_nobody_knows_is_a_mistake_of_the_suite() -> None:
    class Renamed(AssertionError):
        pass

    class Case:
        def validate_response(self, found: Exception) -> None:
            raise BaseExceptionGroup("failures", [found])

    with pytest.raises(SuiteError, match="Renamed: odd"):
        failures_of(Case(), Renamed("odd"))
    where = (schemathesis.openapi.checks, schemathesis.core.failures)
    assert [name for name in FAILURES if not any(hasattr(each, name) for each in where)] == []


@pytest.mark.parametrize(("status", "advice"), [(404, 0), (500, 0), (201, 1)])
def test_a_file_is_offered_under_a_spoilt_identifier_of_its_own(
    world: Callable[..., World], claims: Expect, attempt: Attempt, status: int, advice: int
) -> None:
    asked = list[str]()

    def rule(_: str, parts: dict[str, Any]) -> tuple[int, Any]:
        asked.append(parts["path"]["tempFileId"])
        return status, {}

    path = {"uid": "rc-abcd-document-1", "tempFileId": "file-1"}
    claim_unsafe_refused(claims("attachment-temporary-characters"), world(rule), path)
    assert ["file-1" in name and name != "file-1" for name in asked] == [True]
    assert len(attempt.evidence) == advice
