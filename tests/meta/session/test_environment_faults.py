"""Network faults: what is told of them, and operations that are given up."""

import time
from typing import Any

import pytest

from registry_contracts.errors import GivenUp
from registry_contracts.session.layers import Request
from registry_contracts.settings.target import Target
from tests.meta.wire import OK, Received, answer, in_turn


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
    # What cannot be repeated may be lost once or twice by chance.
    assert [sent.blocked for sent in sends] == [False] * 2 + [True] * 7
    assert made.send("POST", server.url, operation="createContact", body=b"{}").answered
    assert made.broken == []


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


def ask(made: Any, url: str, case: str, operation: str = "getDraftInfo", method: str = "GET") -> Any:
    return made.session.send(Request(operation, method, url, {}, case=case, realm="abs-dev", role="author"))


def test_an_operation_that_hangs_is_given_up_and_others_are_not(open_session: Any, serve: Any) -> None:
    server, made = serve(silent), open_session(timeout=0.2)
    assert ask(made, server.url, "one").fault == "no answer within the time limit"
    assert len(server.received) == 2
    for number in (3, 4):
        ask(made, server.url, "another")
        assert len(server.received) == number
    with pytest.raises(GivenUp, match=r"getDraftInfo is given up: 4 time-outs in a row, after 0\.2 s each"):
        ask(made, server.url, "a third")
    assert len(server.received) == 4
    made.session._pace._below.timeout = 20.0  # what does answer may take its time
    assert ask(made, server.url, "a fourth", "draftExists", "HEAD").answer.status == 200
