"""A session: what it refuses, writes down before it sends, sends again and gives up, and how it ends."""

import json
import time
from collections import Counter
from functools import partial
from typing import Any

import pytest

from registry_contracts.errors import EnvironmentFault, GivenUp, SuiteError
from registry_contracts.session.breaker import BREAKER_THRESHOLD, LONGEST_OUTAGE_SECONDS
from registry_contracts.session.session import Session
from registry_contracts.session.shared_state import process_alive
from registry_contracts.settings.target import Target
from tests.meta.wire import JSON, OK, Received, answer, in_turn

DRAFT = "/api/v2013/documents/rc-test00000001/versions/draft"


def test_the_guard_is_asked_before_anything_is_sent(open_session: Any, serve: Any) -> None:
    server = serve(in_turn(OK))
    asked: list[tuple[Any, ...]] = []

    def guard(*request: Any) -> None:
        asked.append(request)
        raise SuiteError("refused")

    made = open_session(guard=guard)
    with pytest.raises(SuiteError, match="refused"):
        made.send("GET", server.url + DRAFT, headers={"Realm": b"abs"})
    assert asked[0][:2] == ("GET", server.url + DRAFT)
    assert asked[0][2]["Realm"] == b"abs"
    assert (server.received, made.ledger_file.read_text()) == ([], "")


def test_a_write_is_in_the_ledger_before_it_is_sent(open_session: Any, serve: Any) -> None:
    seen: list[list[dict[str, Any]]] = []

    def look(*_: Any) -> bytes:
        seen.append([json.loads(line) for line in made.ledger_file.read_text().splitlines()])
        return OK

    server, made = serve(look), open_session()
    sent = {"operation": "saveDraft", "identifiers": ("rc-test00000001",), "writes": True}
    made.send("PUT", server.url + DRAFT, **sent)
    ((line,),) = seen
    assert (line["state"], line["identifier"], line["what"]) == ("intended", "rc-test00000001", "draft")
    assert json.loads(made.ledger_file.read_text().splitlines()[-1])["state"] == "created"


SENT = {"header": {"identifier": "rc-test00000001"}}


@pytest.mark.parametrize(
    ("body", "named_so"),
    [
        ({"identifier": "minted-00001", "contact": SENT}, "minted-00001"),
        ({"documentUid": "minted-00001", "contact": SENT}, "minted-00001"),
        ({"identifier": "short", **SENT}, "rc-test00000001"),
    ],
)
def test_an_identifier_repeated_from_the_request_does_not_name_the_record(
    open_session: Any, serve: Any, body: Any, named_so: str
) -> None:
    created = answer("201 Created", JSON, body=json.dumps(body).encode())
    server, made = serve(in_turn(created)), open_session()
    sent = {"operation": "createContact", "identifiers": ("rc-test00000001",), "writes": True}
    made.send("POST", server.url + "/api/v2013/documents", **sent)
    assert json.loads(made.ledger_file.read_text().splitlines()[-1])["identifier"] == named_so


BAD, CLOSED = "the connection was closed without an answer", ""


@pytest.mark.parametrize(
    ("operation", "answers", "sent", "fault", "doubtful"),
    [
        *(
            ("getDraft", [status, status, "200 OK"], "GET GET GET", None, False)
            for status in ("429 Slow", "504 Late")
        ),
        # A draft is looked up before it is saved or deleted again.
        ("saveDraft", ["502 Bad", "404 No", "200 OK"], "PUT GET PUT", None, False),
        ("saveDraft", ["502 Bad", "200 OK", "200 OK"], "PUT GET PUT", None, True),
        ("saveDraft", ["502 Bad", "401 Who"], "PUT GET", "status 502", True),
        ("saveDraft", ["502 Bad", "503 Busy", "503 Busy"], "PUT GET GET", "status 502", True),
        ("deleteDraft", ["502 Bad", "200 OK", "200 OK"], "DELETE GET DELETE", None, False),
        ("deleteDraft", ["502 Bad", "404 No"], "DELETE GET", "status 502", True),
        # A write that cannot be looked up is not sent twice, unless the service asks for it.
        ("updateContact", ["502 Bad", "200 OK"], "PUT PUT", None, True),
        ("updateWorkflowRecord", [CLOSED], "PUT", BAD, True),
        *((each, [CLOSED], "POST", BAD, True) for each in ("createAttachment", "persistTemporaryFile")),
        ("createContact", ["429 Slow", "200 OK"], "POST POST", None, False),
    ],
)
def test_a_request_is_sent_again_where_that_is_safe(
    open_session: Any,
    serve: Any,
    operation: str,
    answers: list[str],
    sent: str,
    fault: str | None,
    doubtful: bool,
) -> None:
    asked: list[tuple[str, str]] = []
    server = serve(in_turn(*(answer(each) if each else None for each in answers)))
    made = open_session(guard=lambda method, url, _: asked.append((method, url)))
    method, *_ = methods = sent.split()
    parts = {"headers": {"Realm": b"abs-dev"}, "writes": method != "GET", "operation": operation}
    exchange = made.send(method, f"{server.url}{DRAFT}?schema=contact", body=b'{"a": 1}', **parts)
    assert (exchange.fault, exchange.doubtful) == (fault, doubtful)
    assert [each.method for each in server.received] == methods
    assert {(each.method, server.url + each.target) for each in server.received} <= {*asked}
    for each in server.received:
        look = each.method != method
        assert (each.target, each.body) == (DRAFT, b"") if look else (f"{DRAFT}?schema=contact", b'{"a": 1}')
        assert each.headers["realm"] == "abs-dev"
    control = fault is not None  # goes to the target's own address
    again = {"requests": len(methods) + control, "retries": methods.count(method) - 1}
    assert made.session.counts == +Counter(again)


@pytest.mark.parametrize(
    ("asked", "waited"),
    [("2", [2.0]), ("Thu, 01 Jan 1970 00:00:00 GMT", [0.25]), ("\x01", [0.25]), ("3600", [])],
)
def test_retry_after_is_obeyed_and_a_service_that_asks_for_too_much_is_left_alone(
    open_session: Any, serve: Any, waits: list[float], asked: str, waited: list[float]
) -> None:
    server, made = serve(in_turn(answer("503 Busy", f"Retry-After: {asked}"), OK)), open_session()
    assert made.send("GET", server.url).fault == (None if waited else "status 503")
    assert (len(server.received), waits) == (1 + len(waited), waited)


def test_once_the_breaker_is_open_nothing_is_sent(open_session: Any, serve: Any, waits: list[float]) -> None:
    server, made = serve(lambda *_: answer("503 Busy")), open_session()
    while not made.broken:
        assert made.send("POST", server.url, operation="createContact").fault == "status 503"
        assert len(server.received) <= 20
    assert len(server.received) >= BREAKER_THRESHOLD
    assert sum(waits) >= LONGEST_OUTAGE_SECONDS - 5
    sent = len(server.received)
    with pytest.raises(EnvironmentFault, match="circuit breaker is open"):
        made.send("GET", server.url)
    assert (len(server.received), len(made.broken)) == (sent, 1)


def test_a_session_alone_leaves_nothing_behind_on_this_machine() -> None:
    with Session(Target("service", "http://127.0.0.1:9"), "hand") as session:
        assert session.private.stat().st_mode & 0o077 == 0
        assert process_alive(session.private)
    session.close()
    assert not session.private.exists()


def test_no_secret_stands_in_what_is_told_of_a_page(open_session: Any, serve: Any) -> None:
    page = b"<html><title>no a-secret-word</title></html>"
    server, made = serve(in_turn(answer("200 OK", "Content-Type: text/html", body=page), OK)), open_session()
    made.session.redactor.learn("a-secret-word")
    (told,) = made.send("GET", server.url, operation="getDraft").met
    assert "a-secret-word" not in told
    assert told.startswith("an HTML page 'no [")


def test_a_payload_that_is_reset_each_time_is_no_outage(open_session: Any, serve: Any) -> None:
    server = serve(lambda request, _: None if request.body == b"<" else OK)
    made = open_session(target=Target("service", server.url))
    made.send("GET", server.url, operation="listDrafts")
    sends = [made.send("POST", server.url, operation="createContact", body=b"<") for _ in range(9)]
    # A request that cannot be repeated may be lost once or twice by chance.
    assert [sent.blocked for sent in sends] == [False] * 2 + [True] * 7
    assert made.send("POST", server.url, operation="createContact", body=b"{}").answered
    assert made.broken == []


@pytest.mark.parametrize(("between", "blocked"), [(1, [False, False, True, True]), (9, [False] * 4)])
def test_a_control_does_not_hide_that_requests_are_blocked_and_many_answers_do(
    open_session: Any, serve: Any, between: int, blocked: list[bool]
) -> None:
    server = serve(lambda request, _: None if request.body == b"<" else OK)
    made = open_session(target=Target("service", server.url))
    made.send("GET", server.url, operation="listDrafts")
    sends = []
    for _ in blocked:
        sends.append(made.send("POST", server.url, operation="createContact", body=b"<"))
        for _ in range(between):
            made.send("POST", server.url, operation="createContact", body=b"{}")
    assert [sent.blocked for sent in sends] == blocked


def test_what_a_request_met_is_written_down_with_it(open_session: Any, serve: Any) -> None:
    written: list[tuple[str, Any]] = []
    server = serve(in_turn(answer("503 Busy"), OK))
    made = open_session(events=lambda *event: written.append(event))
    exchange = made.send("GET", server.url, operation="getDraft")
    (met,) = [event for kind, event in written if kind == "fault"]
    assert (met.fault, met.operation, met.exchange) == ("status 503", "getDraft", exchange.id)
    assert [event.id for kind, event in written if kind == "exchange"] == [exchange.id]


def silent(request: Received, _: object) -> bytes | None:
    """Answer HEAD, and nothing else within the time limit."""
    if request.method == "HEAD":
        return answer("200 OK", body=b"", length=2)
    time.sleep(2)
    return None


def test_an_operation_that_hangs_is_given_up_and_others_are_not(open_session: Any, serve: Any) -> None:
    server, made = serve(silent), open_session(timeout=0.2)
    ask = partial(made.send, "GET", server.url, operation="getDraftInfo")
    assert ask(case="one").fault == "no answer within the time limit"
    assert len(server.received) == 2
    for number in (3, 4):
        ask(case="another")
        assert len(server.received) == number
    with pytest.raises(GivenUp, match=r"getDraftInfo is given up: 4 time-outs in a row, after 0\.2 s each"):
        ask(case="a third")
    assert len(server.received) == 4
    made.session._pace._below.timeout = 20.0  # what does answer may take its time
    assert made.send("HEAD", server.url, operation="draftExists", case="a fourth").answer.status == 200
