"""What a case was not shown it does not pass over: a list that tells nothing, a failure nobody knows, one obstacle."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
import schemathesis.core.failures
import schemathesis.openapi.checks

from registry_contracts.cases import attachments
from registry_contracts.cases.comparison import claim_each
from registry_contracts.cases.described_inputs import FAILURES, failures_of
from registry_contracts.cases.requests import Request
from registry_contracts.cases.sample_records import Samples
from registry_contracts.cases.sign_in import claim_refused_without_token
from registry_contracts.cases.world import World
from registry_contracts.checks.claims import Claim, Expect
from registry_contracts.checks.outcomes import Attempt, Blocked, Contradiction
from registry_contracts.errors import SuiteError
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


def test_one_obstacle_hides_no_other_judgement(claims: Expect, attempt: Attempt) -> None:
    def stumble(_: Claim) -> None:
        raise Blocked("getDraft", "500")

    judgements = {
        "draft-get-content": stumble,
        "draft-save-updates": lambda claim: claim.holds(True, expected=""),
    }
    with pytest.raises(Blocked):
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
