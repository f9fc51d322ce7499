"""What a first save, a later one and a deletion did, told from what is read afterwards."""

from typing import Any

import pytest

from contracts.cases.arrangement import Draft
from contracts.cases.drafts import claim_kept_if_accepted, nothing_of, stored
from contracts.checks.claims import Claims
from contracts.checks.outcomes import Attempt, Blocked, Contradiction

UID = "rc-abcd-12345"
BEFORE = {"header": {}, "firstName": "Wangari"}


class Reader:
    """Answers every request with the same answer, and counts them."""

    def __init__(self, made: Any) -> None:
        self._made, self.asked = made, 0

    def send(self, _operation: str, **_parts: Any) -> Any:
        self.asked += 1
        return self._made


def test_a_draft_that_no_reading_finds_was_not_stored(answer: Any, exchange: Any, claims: Claims) -> None:
    nowhere = exchange(answer({}, 404))
    with pytest.raises(Contradiction, match="draft-save-creates"):
        stored(claims("draft-save-creates"), Reader(nowhere), UID, exchange(answer({})), nowhere)  # type: ignore[arg-type]


def test_a_draft_that_was_read_is_not_looked_for_again(answer: Any, exchange: Any, claims: Claims) -> None:
    reader, seen = Reader(exchange(answer({}, 404))), exchange(answer(BEFORE))
    stored(claims("draft-save-creates"), reader, UID, exchange(answer({})), seen)  # type: ignore[arg-type]
    assert reader.asked == 0


@pytest.mark.parametrize("told", [({}, 400), ({"errors": [{"code": "Error.InvalidProperty"}]}, 200)])
def test_a_save_that_was_refused_or_told_of_faults_says_nothing(
    told: Any, answer: Any, exchange: Any, claims: Claims, attempt: Attempt
) -> None:
    refused = exchange(answer(*told), operation="saveDraft")
    reader = Reader(exchange(answer({}, 404)))
    assert claim_kept_if_accepted(claims("draft-get-content"), refused, refused, BEFORE) != "kept"
    stored(claims("draft-save-creates"), reader, UID, refused)  # type: ignore[arg-type]
    with pytest.raises(Contradiction if refused.answer.refusal else Blocked):
        claims("draft-save-creates").accepted(refused)
    assert not attempt.held


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(BEFORE, id="as-it-was"),
        pytest.param({"message": "gone", "last": BEFORE}, id="within"),
        pytest.param({"message": "gone", "last": '{"header": {}, "firstName": "Wangari"}'}, id="as-a-text"),
    ],
)
def test_a_refusal_that_holds_the_draft_gives_it_away(
    body: Any, answer: Any, exchange: Any, claims: Claims
) -> None:
    reader, draft = Reader(exchange(answer(body, 404))), Draft(UID, BEFORE, exchange(answer({})))
    with pytest.raises(Contradiction, match="draft-delete-content-gone"):
        nothing_of(claims("draft-delete-content-gone", "getDraft"), reader, draft)  # type: ignore[arg-type]


def test_a_plain_refusal_gives_nothing_away(
    answer: Any, exchange: Any, claims: Claims, attempt: Attempt
) -> None:
    reader, draft = (
        Reader(exchange(answer({"message": "{gone}"}, 404))),
        Draft(UID, BEFORE, exchange(answer({}))),
    )
    nothing_of(claims("draft-delete-content-gone", "getDraft"), reader, draft)  # type: ignore[arg-type]
    assert attempt.held[("draft-delete-content-gone", "getDraft")] == 1
