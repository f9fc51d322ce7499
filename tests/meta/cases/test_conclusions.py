"""What a case concludes from answers: what it was not shown it does not pass over, and what else may be at fault."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest

from registry_contracts.cases import attachments
from registry_contracts.cases.comparison import claim_each
from registry_contracts.cases.contact_requests import claim_accepted
from registry_contracts.cases.drafts import claim_each_refused
from registry_contracts.cases.list_pages import Page
from registry_contracts.cases.sample_records import Samples
from registry_contracts.cases.sign_in import claim_signed_in
from registry_contracts.cases.world import World
from registry_contracts.checks.claims import Claim, Expect
from registry_contracts.checks.outcomes import Attempt, Blocked, Contradiction, Untested
from registry_contracts.settings.target import RealmSettings
from tests.meta.messages import answer, exchange

SETTINGS = RealmSettings(contact_schema="contact", contact_organization="gone-0123456", country_terms=("ke",))
SAMPLES = Samples(SETTINGS, "abs-dev")
INVALID = "Error.InvalidValue"


@pytest.fixture
def world(run: Any, scripted: Callable[..., Any]) -> Callable[..., World]:
    """Makes a world whose requests are answered by a rule."""

    def make(rule: Callable[[str, dict[str, Any]], tuple[int, Any]]) -> World:
        return World(run, scripted(rule), SAMPLES)

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

    refused, made = exchange(answer({}, 401), "createAttachment"), world(rule)
    made.once("answer of an empty list", lambda: 200)
    monkeypatch.setattr(attachments, "need_own_list", bool)
    claim = claims("token-invalid-refused", "createAttachment")
    with pytest.raises(ends) if ends else nullcontext():
        attachments.claim_nothing_attached(claim, made, uid, refused)
    assert attempt.held.total() == (0 if ends else 1)


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


def test_a_server_error_is_not_passed_over(must: Claim, attempt: Attempt) -> None:
    with pytest.raises(Blocked, match="503"):
        claim_each_refused(must, [exchange(answer({}, status)) for status in (503, 502, 404)])
    assert attempt.held.total() == 1


def test_what_refuses_nothing_absent_is_another_clauses_finding(must: Claim) -> None:
    taken, absent = exchange(answer({})), exchange(answer({}, 404))
    with pytest.raises(Blocked, match="does not refuse absent records"):
        claim_each_refused(must, [taken], control=lambda: taken)
    with pytest.raises(Contradiction):
        claim_each_refused(must, [taken], control=lambda: absent)


@pytest.mark.parametrize(
    ("codes", "ends", "told"),
    [
        ({"contactOrganization": INVALID}, Blocked, "contact_organization names, which may be gone"),
        ({"contactOrganization": INVALID, "city": "Error.Mandatory"}, Contradiction, "accepted"),
        ({"gender": INVALID}, Untested, "contact_document is missing: "),
    ],
)
def test_a_contact_that_is_refused_for_what_the_settings_tell_is_no_finding(
    claims: Expect, codes: dict[str, str], ends: type[Exception], told: str
) -> None:
    body = {"errors": [{"code": code, "property": name} for name, code in codes.items()]}
    sent = exchange(answer(body, 400), "createContact")
    with pytest.raises(ends, match=told):
        claim_accepted(claims("contact-create-accepted"), sent, SAMPLES)


def test_an_answer_without_a_token_is_told_without_what_may_be_one(claims: Expect, attempt: Attempt) -> None:
    issued, bare = claims("token-issued", "createToken"), claims("token-needs-no-token", "createToken")
    sent = exchange(answer({"authenticationToken": ["hidden-word"]}), "createToken")
    with pytest.raises(Contradiction):
        claim_signed_in(issued, bare, lambda: sent, lambda: sent)
    assert "{'authenticationToken': 'list'}" in attempt.evidence[0].seen
    assert "hidden-word" not in attempt.evidence[0].seen


def test_a_record_that_names_the_one_beside_it_is_not_that_one() -> None:
    first, second = "rc-abcd-list-a", "rc-abcd-list-b"
    listed = [{"uid": first, "behind": second}, {"uid": second, "before": first}]
    page, twice = (Page(exchange(answer(items), "listDrafts")) for items in (listed, [*listed, listed[0]]))
    assert page.count(first) == 1
    assert page.order_of([second, first]) == [first, second]
    assert twice.count(first) == 2
