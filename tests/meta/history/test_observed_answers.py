"""Answers are read from the exchanges of cases that went well, under the silent clause that speaks of them."""

import json
from dataclasses import replace
from typing import Any

import pytest

from contracts.evidence.observations import answers_of
from contracts.evidence.record import Case, RunFacts, RunRecord, Verdict
from contracts.exchanges.exchange import Body, Exchange
from contracts.history import observed_facts
from contracts.interface.catalogue import Level, load_catalogue
from contracts.interface.description import load_description
from tests.meta import messages
from tests.meta.messages import response

CASE = "scenario/test_draft_life.py::test_a_draft[abs-dev]"
UID = "rc-abcd-list-0001"
BASE = "http://127.0.0.1:8080/base"
JSON = {"content-type": "application/json; charset=utf-8"}


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


def told(*exchanges: Exchange, outcome: Verdict = Verdict.PASS, clauses: Any = None) -> dict[str, Any]:
    """Answers by clause and operation."""
    catalogue = [clause.id for clause in load_catalogue()]
    facts: Any = dict.fromkeys(RunFacts.__dataclass_fields__)
    run = RunFacts(
        **{**facts, "base_url": BASE, "clauses": tuple(clauses or catalogue), "realms": ("abs-dev",)}
    )
    empty: Any = dict.fromkeys(Case.__dataclass_fields__)
    cases = tuple(Case(**{**empty, "id": each.case, "outcome": outcome}) for each in exchanges)
    record = RunRecord(run, cases, (), (), {each.id: each for each in exchanges}, (), (), (), (), ())
    return {f"{each['clause']} {each['operation']}": each["answers"] for each in answers_of(record)}


SAVED = exchange("saveDraft", 201, {"identifier": UID, "createdOn": "2026-11-21T12:00:00Z"})


def test_an_accepted_request_tells_status_type_and_shape() -> None:
    assert told(SAVED) == {
        "draft-save-answer saveDraft": {
            "201": {
                "types": ["application/json"],
                "bodies": [],
                "schema": {
                    "properties": {
                        "createdOn": {"format": "date-time", "type": "string"},
                        "identifier": {"type": "string"},
                    },
                    "required": ["createdOn", "identifier"],
                    "type": "object",
                },
            }
        }
    }


@pytest.mark.parametrize(
    ("refused", "place"),
    [
        (exchange("getDraft", 404, {"message": "none"}), "draft-failure-status getDraft"),
        (exchange("getDraft", 403, "no", signed_in=False), "token-missing-answer getDraft"),
        (exchange("getDraft", 401, None), "token-missing-answer getDraft"),
        (exchange("getDraft", 400, {}, uid="too-short"), "uid-refusal-answer getDraft"),
        (exchange("updateContact", 400, {"errors": []}), "errors-status updateContact"),
        (exchange("listDrafts", 400, {}), "list-failure-status listDrafts"),
        (
            exchange("updateWorkflowRecord", 403, {}, signed_in=False),
            "workflow-message-place updateWorkflowRecord",
        ),
    ],
)
def test_a_refusal_stands_under_the_clause_that_speaks_of_it(refused: Exchange, place: str) -> None:
    assert list(told(refused)) == [place]


def test_every_place_is_a_silent_clause_that_covers_the_operation() -> None:
    catalogue = load_catalogue()
    for operation in load_description().operations:
        places = {observed_facts.success_status_clause(operation), observed_facts.success_clause(operation)}
        places |= {
            observed_facts.refusal_clause(operation, tokenless=tokenless, uid_valid=valid)
            for tokenless in (True, False)
            for valid in (True, False)
        }
        for place in places:
            assert catalogue.clause(place).level is Level.SILENT
            assert operation in catalogue.clause(place).operations, (place, operation)


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


def test_cases_that_failed_and_clauses_not_selected_are_left_out() -> None:
    assert told(SAVED, outcome=Verdict.FAIL) == {}
    assert told(SAVED, clauses=["list-fields"]) == {}


@pytest.mark.parametrize(("sent", "shown"), [(b'{"header": {}}', True), (b"[1]", False), (b"null", False)])
def test_a_list_is_told_by_drafts_that_are_documents(sent: bytes, shown: bool) -> None:
    """Which of the others a list shows hangs on when it is asked."""
    saved = replace(exchange("saveDraft", 201, {}), request_body=Body(sent, len(sent)))
    listed = exchange("listDrafts", 200, [{"identifier": UID, "document": json.loads(sent)}])
    schema = told(saved, listed)["list-fields listDrafts"]["200"]["schema"]
    assert ("items" in schema) is shown


def test_what_was_sent_and_what_is_somebody_elses_leave_no_shape() -> None:
    read = exchange("getDraft", 200, {"header": {"identifier": UID}, "firstName": "Ana", "etag": "x"})
    foreign = exchange("getDraft", 200, {"header": {}, "theirs": 1}, uid="somebody-elses-1")
    found = told(SAVED, read, foreign)["draft-get-answer getDraft"]["200"]
    assert found["schema"]["properties"] == {"etag": {"type": "string"}}


def test_files_tell_their_status_alone_and_a_body_that_was_cut_nothing() -> None:
    upload = exchange("createAttachment", 201, {"id": 7})
    download = exchange("getAttachment", 200, "the content")
    cut = Body(b'{"id": 8, "more"', 20, whole=False)
    long = replace(exchange("createAttachment", 201, {}), response=replace(upload.answer, body=cut))
    found = told(upload, download, long)
    assert found["attachment-success-status getAttachment"] == {"200": {"types": [], "bodies": []}}
    assert found["attachment-create-answer createAttachment"]["201"]["schema"]["required"] == ["id"]
