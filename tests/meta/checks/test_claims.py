"""Every claim can hold and can fail; what cannot be judged is neither."""

from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from registry_contracts.checks.claims import Claim, Expect, Observer
from registry_contracts.checks.outcomes import Attempt, Blocked, Contradiction, confirm, done
from registry_contracts.errors import EnvironmentFault, RegistryContractsError, SuiteError
from registry_contracts.exchanges.readers import Ambiguous
from tests.meta.messages import answer, exchange

KEY = ("draft-get-content", "getDraft")
ID = "rc-abcd-12345"


#: A claim, an answer by which it holds, and one by which it fails; the table of checks has the twins of the others.
CLAIMS: list[tuple[str, Any, Any, Any]] = [
    ("accepted", (), (None, 204), (None, 404)),
    ("refused", (), (None, 404), (None, 204)),
    ("turned_down", (), ({"errors": [{}]}, 200), ({"errors": []}, 200)),
    ("content_refused", (), ({"errors": [{}]}, 200), ({"errors": []}, 400)),
    ("carries", (ID,), ({"id": ID}, 200), ({"id": "another"}, 200)),
    ("shows", ({"a": 1},), ({"data": {"a": 1, "b": 2}}, 200), ({"a": 1}, 404)),
    ("reports", ("E", "country"), ({"errors": [1, {"code": "E", "property": "country.x"}]}, 200), ({}, 400)),
]


@pytest.mark.parametrize(("name", "arguments", "right", "wrong"), CLAIMS)
def test_each_claim_holds_and_fails(
    attempt: Attempt, must: Claim, name: str, arguments: Any, right: Any, wrong: Any
) -> None:
    getattr(must, name)(exchange(answer(*right)), *arguments)
    assert (attempt.held[KEY], attempt.evidence) == (1, [])
    with pytest.raises(Contradiction, match="draft-get-content"):
        getattr(must, name)(exchange(answer(*wrong)), *arguments)
    assert (attempt.held[KEY], attempt.contradicted[KEY]) == (1, 1)


def test_a_should_is_noted_and_the_case_goes_on(attempt: Attempt, claims: Expect) -> None:
    should = claims("draft-get-absent", "getDraft")
    should.refused(exchange(answer({})))
    should.refused(exchange(answer(None, 404)))
    assert len(attempt.evidence) == 1
    assert attempt.evidence[0].seen.startswith("200")


@pytest.mark.parametrize("name", ["accepted", "refused", "turned_down"])
@pytest.mark.parametrize("path", ["versions/draft", "attachments/persist-temporary/file-1"])
def test_a_redirect_of_a_write_neither_accepts_nor_refuses(must: Claim, name: str, path: str) -> None:
    redirect = replace(answer(None, 302, location="/sign-in"), url=f"http://127.0.0.1/{path}")
    with pytest.raises(Ambiguous, match="neither accepts nor refuses"):
        getattr(must, name)(exchange(redirect))


@pytest.mark.parametrize("name", ["accepted", "refused", "turned_down", "content_refused"])
def test_a_server_error_blocks_and_no_answer_is_environment(attempt: Attempt, must: Claim, name: str) -> None:
    with pytest.raises(Blocked, match="server error"):
        getattr(must, name)(exchange(answer({}, 500)))
    with pytest.raises(EnvironmentFault, match="no answer"):
        getattr(must, name)(exchange(None))
    assert not attempt.evidence


def test_a_page_is_a_refusal_where_one_is_due_and_else_environment(attempt: Attempt, must: Claim) -> None:
    page = exchange(answer(b"<html>no</html>", 403, "text/html"))
    must.refused(page)
    with pytest.raises(EnvironmentFault, match="an HTML page with status 403"):
        must.accepted(page)
    with pytest.raises(EnvironmentFault, match="an HTML page with status 403"):
        must.holds(False, page, expected="", seen="")
    assert not attempt.evidence


@pytest.mark.parametrize(
    ("clause", "operation", "words"),
    [
        ("draft-get-contents", "getDraft", "draft-get-content"),
        ("draft-get-content", "listDrafts", "does not cover listDrafts"),
        ("draft-save-updates", None, "several operations"),
    ],
)
def test_a_claim_that_cannot_be_made_is_a_mistake_of_the_case(
    attempt: Attempt, catalogue: Any, clause: str, operation: str | None, words: str
) -> None:
    declared = ("draft-get-content", "draft-save-updates")
    with pytest.raises(RegistryContractsError, match=words):
        Expect(attempt, catalogue, declared)(clause, operation)


def test_only_declared_clauses_are_observed(attempt: Attempt, catalogue: Any) -> None:
    observe = Observer(attempt, catalogue, ("draft-get-answer",))
    observe("draft-get-answer", "getDraft", {"status": 200})
    assert attempt.observations[0].seen == {"status": 200}
    with pytest.raises(SuiteError, match="without declaring it"):
        observe("draft-info-answer", "getDraftInfo", 1)


#: Attempts at a case by what became of the claim in them: seen contradicted, held, or not come to.
@pytest.mark.parametrize(
    ("attempts", "confirmed", "rate"),
    [
        (["seen", "seen"], True, (2, 2)),
        (["seen", "held", "seen"], True, (2, 3)),
        (["seen", "held"], False, (1, 2)),
        # What did not come to the claim was no try at it: a fault that is always there is not intermittent.
        (["seen", "nothing", "seen"], True, (2, 2)),
        (["seen", "nothing"], False, (1, 1)),
    ],
)
def test_a_contradiction_counts_when_it_was_seen_again_among_the_tries_that_came_to_it(
    catalogue: Any, attempts: list[str], confirmed: bool, rate: tuple[int, int]
) -> None:
    made = [Attempt(number) for number, _ in enumerate(attempts, start=1)]
    for attempt, became in zip(made, attempts, strict=True):
        with suppress(Contradiction):
            if became != "nothing":
                Expect(attempt, catalogue, ["draft-get-content"])("draft-get-content").holds(
                    became == "held", expected="it", seen="another"
                )
    (found,) = confirm(made)
    assert (found.confirmed, found.rate) == (confirmed, rate)


@pytest.mark.parametrize("interfered", [True, False])
def test_a_bare_success_of_the_way_proves_nothing(catalogue: Any, interfered: bool) -> None:
    made = [Attempt(number) for number in (1, 2, 3)]
    for attempt, status in zip(made, (200, 400, 200), strict=True):
        sent = exchange(answer(None, status), "deleteDraft", id=f"main-{attempt.number}")
        attempt.exchanges.append(sent)
        with suppress(Contradiction):
            Expect(attempt, catalogue, ["draft-get-content"])("draft-get-content").turned_down(sent)
    assert [found.confirmed for found in confirm(made, interfered=interfered)] == [not interfered]
    assert [found.confirmed for found in confirm([made[0], made[2]], interfered=interfered)] == [True]


@pytest.mark.parametrize("undated", [True, False])
def test_what_a_filter_may_have_refused_breaks_no_promise_of_a_precondition(undated: bool) -> None:
    sent = exchange(answer({"message": "Forbidden"}, 403), "saveDraft", undated=undated)
    with pytest.raises(Blocked) as blocked:
        done(sent, "draft-save-creates")
    assert (blocked.value.evidence is None) == undated
