"""Faulty requests, which must be refused, and what else an answer may be the fault of."""

import pytest

from registry_contracts.cases.contact_requests import claim_accepted
from registry_contracts.cases.drafts import claim_each_refused
from registry_contracts.cases.generated_cases import Fault, with_fault
from registry_contracts.cases.requests import Request
from registry_contracts.cases.sample_records import Samples
from registry_contracts.cases.sign_in import claim_token
from registry_contracts.checks.claims import Claim, Expect
from registry_contracts.checks.outcomes import Attempt, Blocked, Contradiction, Untested
from registry_contracts.session.namespace import Namespace
from registry_contracts.settings.target import RealmSettings
from tests.meta.messages import answer, exchange


def test_a_server_error_is_not_passed_over(must: Claim, attempt: Attempt) -> None:
    with pytest.raises(Blocked, match="503"):
        claim_each_refused(must, [exchange(answer({}, status)) for status in (503, 502, 404)])
    assert attempt.held.total() == 1


def test_what_refuses_nothing_absent_is_another_clauses_finding(must: Claim) -> None:
    taken, absent = exchange(answer({})), exchange(answer({}, 404))
    with pytest.raises(Blocked, match="refuse what is absent"):
        claim_each_refused(must, [taken], control=lambda: taken)
    with pytest.raises(Contradiction):
        claim_each_refused(must, [taken], control=lambda: absent)


@pytest.mark.parametrize(
    ("errors", "ends", "told"),
    [
        (
            [("Error.InvalidValue", "contactOrganization")],
            Blocked,
            "contact_organization names, which may be gone",
        ),
        (
            [("Error.InvalidValue", "contactOrganization"), ("Error.Mandatory", "city")],
            Contradiction,
            "accepted",
        ),
        ([("Error.InvalidValue", "gender")], Untested, "contact_document is missing: "),
    ],
)
def test_a_contact_that_is_refused_for_what_the_settings_tell_is_no_finding(
    claims: Expect, errors: list[tuple[str, str]], ends: type[Exception], told: str
) -> None:
    body = {"errors": [{"code": code, "property": name} for code, name in errors]}
    settings = RealmSettings(contact_schema="x", contact_organization="gone-0123456", country_terms=("ke",))
    sent, samples = exchange(answer(body, 400), "createContact"), Samples(settings, "abs-dev")
    with pytest.raises(ends, match=told):
        claim_accepted(claims("contact-create-accepted"), sent, samples)


def test_an_answer_without_a_token_is_told_without_what_may_be_one(claims: Expect, attempt: Attempt) -> None:
    issued, body = claims("token-issued", "createToken"), {"authenticationToken": ["hidden-word"]}
    with pytest.raises(Contradiction):
        claim_token(issued, lambda: exchange(answer(body), "createToken"))
    assert "{'authenticationToken': 'list'}" in attempt.evidence[0].seen
    assert "hidden-word" not in attempt.evidence[0].seen


def test_a_faulty_identifier_stays_inside_the_namespace() -> None:
    fresh = Namespace("test", seed="1")
    request = Request("saveDraft", {"uid": fresh.uid()})
    for uid, kind in (("a!" * 20, "pattern"), ("short", "too-short"), ("x" * 129, "too-long")):
        changed = with_fault(request, Fault("path", ("uid",), f"path.uid:{kind}", uid), fresh)
        assert changed.path["uid"].startswith(fresh.prefix)
        assert kind == "pattern" or len(changed.path["uid"]) == max(len(uid), len(fresh.prefix) + 1)
