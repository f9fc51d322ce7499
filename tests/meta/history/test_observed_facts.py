"""What cases noted and how requests were answered become flat facts, under the silent clause that speaks of them."""

import json
from dataclasses import replace
from typing import Any

import pytest

from contracts.evidence.observations import answers_of, put_together
from contracts.evidence.record import Observation, Verdict
from contracts.exchanges.exchange import Body, Exchange
from contracts.history.observed_facts import Facts, Place
from contracts.interface.catalogue import Level, load_catalogue
from contracts.interface.description import load_description
from tests.meta import messages
from tests.meta.evidence.sample_records import case, run_facts, run_record
from tests.meta.messages import response

CASE = "scenario/test_draft_life.py::test_a_draft[abs-dev]"
UID = "rc-abcd-list-0001"
BASE = "http://127.0.0.1:8080/base"
JSON = {"content-type": "application/json; charset=utf-8"}
PLACE = Place("draft-save-answer", "saveDraft", "abs-dev")
WORDS = {"status": 201, "type": "application/json", "body": "object of createdOn"}
ANSWERED: Facts = {PLACE: {"201 body": "object", "201 body.createdOn": "string date-time"}}


def noted(seen: Any, answers: Facts | None = None) -> dict[str, Any]:
    """The facts of one note beside answers."""
    observation = Observation(PLACE.clause, PLACE.realm, PLACE.operation, CASE, seen)
    return dict(put_together([observation], answers or {}).get(PLACE, {}))


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (201, {"seen": "201"}),
        (True, {"seen": "true"}),
        (3600.0, {"seen": "3600"}),
        ({"create": 201, "update": 200}, {"create": "201", "update": "200"}),
        ({"empty": {"top": 400}}, {"empty.top": "400"}),
        ({"fault": "body:missing", "status": 400}, {"fault body:missing": "400"}),
        (["b", "a", "b"], {"seen": ("a", "b")}),
        ("this | that", {"seen": "this / that"}),
        ({"order": None, "items": "10"}, {"items": "10"}),
        (None, {}),
        (WORDS, {"status": "201", "201 type": "application/json", "201 body": "object of createdOn"}),
    ],
)
def test_what_a_case_noted_is_named(seen: Any, expected: dict[str, Any]) -> None:
    assert noted(seen) == expected


def test_a_body_in_words_gives_way_to_the_shape_of_exchanges() -> None:
    assert noted(WORDS, ANSWERED) == ANSWERED[PLACE]
    assert noted({**WORDS, "status": 404}, ANSWERED) == ANSWERED[PLACE] | {"status": "404"}


def exchange(operation: str, status: int, answer: Any, *, uid: str = UID, signed_in: bool = True) -> Exchange:
    described = load_description().operations[operation]
    names = {name: uid if name in ("uid", "identifier") else "7" for name in described.path_parameters}
    content = b"" if answer is None else (answer if isinstance(answer, str) else json.dumps(answer)).encode()
    return messages.exchange(
        response(status, content, JSON if answer else {}),
        operation,
        {"Authorization": "Bearer [redacted]"} if signed_in else {},
        json.dumps({"header": {"identifier": uid}, "firstName": "Ana"}).encode(),
        id=f"main-{operation}-{status}-{uid}-{answer}",
        case=CASE,
        method=described.method,
        url=described.url(BASE, **names),
    )


def told(*exchanges: Exchange, outcome: Verdict = Verdict.PASS) -> dict[str, dict[str, Any]]:
    """Facts by clause and operation, but for the statuses of successes."""
    clauses = tuple(clause.id for clause in load_catalogue())
    run = run_facts(base_url=BASE, clauses=clauses)
    cases = [case("x", outcome, id=each.case) for each in exchanges]
    found = answers_of(run_record(run, cases, exchanges={each.id: each for each in exchanges}))
    return {f"{p.clause} {p.operation}": v for p, v in found.items() if v.keys() != {"status"}}


SAVED = exchange("saveDraft", 201, {"identifier": UID, "createdOn": "2026-11-21T12:00:00Z", "n": 1})
AGAIN = exchange("saveDraft", 201, {"identifier": UID, "createdOn": None, "tags": [{"a": 2.5}], "n": 1.5})


def test_accepted_requests_tell_type_and_shape_member_by_member() -> None:
    assert told(SAVED, AGAIN)["draft-save-answer saveDraft"] == {
        "201 type": "application/json",
        "201 body": "object",
        "201 body.createdOn": "null | string date-time",
        "201 body.identifier": "string",
        "201 body.n": "number",
        "201 body.tags": "array, optional",
        "201 body.tags[]": "object",
        "201 body.tags[].a": "number",
    }


@pytest.mark.parametrize(
    ("refused", "place"),
    [
        (exchange("getDraft", 404, {"message": "none"}), "draft-failure-status getDraft"),
        (exchange("getDraft", 403, "no", signed_in=False), "token-missing-answer getDraft"),
        (exchange("getDraft", 401, None), "token-missing-answer getDraft"),
        (exchange("getDraft", 400, {}, uid="too-short"), "uid-refusal-answer getDraft"),
        (exchange("updateContact", 400, {"errors": []}), "errors-status updateContact"),
        (
            exchange("updateWorkflowRecord", 403, {}, signed_in=False),
            "workflow-message-place updateWorkflowRecord",
        ),
    ],
)
def test_a_refusal_stands_under_a_silent_clause_that_speaks_of_it(refused: Exchange, place: str) -> None:
    assert list(told(refused)) == [place]
    clause = load_catalogue().clause(place.partition(" ")[0])
    assert (clause.level, refused.operation in clause.operations) == (Level.SILENT, True)


@pytest.mark.parametrize(
    "other",
    [
        replace(SAVED, case="property/test_generated_faults.py::test_x"),
        replace(SAVED, case="[cleaning]"),
        replace(SAVED, fault="503 from the gateway"),
        replace(SAVED, response=None),
        replace(SAVED, realm="ort-dev"),
        replace(SAVED, response=replace(SAVED.answer, status=500)),
        replace(SAVED, url=f"{BASE}/api/v2023/documents/{UID}/versions/draft"),
    ],
    ids=["generated", "housekeeping", "fault", "no-answer", "foreign-realm", "server-error", "other-address"],
)
def test_what_says_nothing_steady_of_an_operation_is_left_out(other: Exchange) -> None:
    assert told(other) == {}
    assert told(SAVED, outcome=Verdict.FAIL) == {}


def test_what_was_sent_and_what_is_somebody_elses_leave_no_shape() -> None:
    read = exchange("getDraft", 200, {"header": {"identifier": UID}, "firstName": "Ana", "etag": "x"})
    foreign = exchange("getDraft", 200, {"header": {}, "theirs": 1}, uid="somebody-elses-1")
    mine, others = {"id": UID, "size": 1}, {"id": "somebody-elses-1", "legacy": True}
    listed = exchange("listDrafts", 200, [mine, others])
    cut = Body(b'{"id": 8, "more"', 20, whole=False)
    long = replace(exchange("createAttachment", 201, {}), response=replace(SAVED.answer, body=cut))
    found = told(SAVED, read, foreign, listed, long, exchange("getAttachment", 200, "the content"))
    assert found["draft-get-answer getDraft"].keys() == {"200 body", "200 body.etag", "200 type"}
    assert "200 body[].legacy" not in found["list-fields listDrafts"]
    assert not [place for place in found if "Attachment" in place]
