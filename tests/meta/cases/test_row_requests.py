"""Of several conditions that a submission meets, the contradicted clause is about the one it was refused for."""

from typing import Any

import pytest

from contracts.cases import row_requests
from contracts.cases.row_requests import ALL_PLACES, ALL_STEPS, Combination
from contracts.cases.sample_records import Samples
from contracts.checks.claims import Claims
from contracts.checks.outcomes import Attempt, Contradiction
from contracts.interface.catalogue import load_catalogue
from contracts.settings.target import RealmSettings

TAKEN = (400, "A document with the identifier exists, please use a different 'identifier'.")
RIGHTS = (403, "Insufficient rights to create a draft record.")
CONTENT = (400, [{"code": "Error.InvalidType", "property": "title"}])
REALM = (400, "Realm is not configured, please provide valid realm.")
SCHEMA = (400, "Schema not configured for the given realm unknown.")
CLAUSES = (*row_requests.STEP_CLAUSES, *row_requests.PLACE_CLAUSES)


class Records:
    """Records of a realm in which every row is given where it stands alone."""

    def __init__(self) -> None:
        self.standing = self.unused = self.locked = lambda: "rc-a-record-of-mine"

    def subject(self, _operation: str) -> str:
        return "rc-a-record-of-mine"

    def relies_on(self, *_: Any, **__: Any) -> None:
        """Nothing stands in the way."""

    def parts_of(self, _way: str, _realm: str) -> list[dict[str, Any]]:
        return [{}]

    def batch(self) -> str:
        return "a-batch"


@pytest.fixture
def judged(scripted: Any) -> Any:
    """Judges a combination whose submission is answered so; gives the attempt, and who sent what."""

    def judge(met: Combination, status: int, told: Any) -> tuple[Attempt, Any, Any]:
        attempt = Attempt(1)
        body = {"errors": told} if isinstance(told, list) else {"message": told}
        author, restricted = (scripted(lambda *_: (status, body), role) for role in ("author", "restricted"))
        document = {"header": {"identifier": "x"}, "title": {"en": "x"}, "pages": 3}
        settings = RealmSettings(workflow_schema="permit", workflow_document=document)
        claim = Claims(attempt, load_catalogue(), CLAUSES)
        records: Any = Records()
        samples = Samples(settings, "abs-dev")
        drawn = row_requests.DrawnConditions(author, restricted, records, samples, claim)
        try:
            drawn.first_counts(met)
        except Contradiction:
            assert attempt.evidence
        return attempt, author, restricted

    return judge


@pytest.mark.parametrize(
    ("met", "answer", "clause"),
    [
        (ALL_STEPS[0], RIGHTS, "workflow-order-taken-before-rights"),
        (ALL_STEPS[0], CONTENT, "workflow-order-taken-before-validation"),
        (ALL_STEPS[0], (201, "done"), "workflow-order-taken-before-validation"),
        (
            Combination(ALL_STEPS[0].operation, ALL_STEPS[0].conditions[1:]),
            CONTENT,
            "workflow-order-rights-before-validation",
        ),
        (ALL_PLACES[0], SCHEMA, "workflow-order-realm-before-schema"),
        (
            Combination(ALL_PLACES[0].operation, ALL_PLACES[0].conditions[1:]),
            CONTENT,
            "workflow-order-schema-before-document",
        ),
    ],
)
def test_the_clause_about_the_condition_that_was_told_instead_is_contradicted(
    judged: Any, met: Combination, answer: tuple[int, Any], clause: str
) -> None:
    attempt, _, _ = judged(met, *answer)
    assert [evidence.clause for evidence in attempt.evidence] == [clause]


@pytest.mark.parametrize(("met", "answer"), [(ALL_STEPS[0], TAKEN), (ALL_PLACES[0], REALM)])
def test_the_first_condition_holds(judged: Any, met: Combination, answer: tuple[int, str]) -> None:
    attempt, _, _ = judged(met, *answer)
    assert (attempt.evidence, attempt.held.total()) == ([], 1)


def test_who_sends_and_what_is_at_fault_are_those_of_the_conditions(judged: Any) -> None:
    _, author, restricted = judged(ALL_STEPS[0], *TAKEN)
    ((_, parts),) = restricted.sent
    assert author.sent == []
    assert parts["json"]["document"]["title"] == [[17]]
    _, author, restricted = judged(ALL_PLACES[0], *REALM)
    ((_, parts),) = author.sent
    assert restricted.sent == []
    assert (parts["realm"], parts["path"]["schema"]) == ("rc-no-such-realm", "contractTestUnknownSchema")
