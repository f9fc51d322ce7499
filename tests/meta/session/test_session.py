"""A session: what it refuses, what it writes down before it sends, what it sends again, and how it ends."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import EnvironmentFault, SuiteError
from contracts.session.breaker import BREAKER_THRESHOLD, LONGEST_OUTAGE_SECONDS
from contracts.session.layers import UNSENT, Request
from contracts.session.session import Session
from contracts.session.shared_state import process_alive
from contracts.settings.guard import GuardViolation
from contracts.settings.target import Target
from tests.meta.http_answers import OK, answer, in_turn

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
    assert asked[0][2]["Realm"] == "abs"
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


@pytest.mark.parametrize("status", ["429 Slow", "502 Bad", "503 Busy", "504 Late"])
def test_a_read_is_tried_again(open_session: Any, serve: Any, waits: list[float], status: str) -> None:
    server, made = serve(in_turn(answer(status), answer(status), OK)), open_session()
    exchange = made.send("GET", server.url)
    assert (exchange.answer.status, exchange.retries, exchange.fault) == (200, 2, None)
    assert waits == [0.25, 0.5]
    assert made.session.counts == {"requests": 3, "retries": 2}
    assert made.session.faults == {f"status {status[:3]}": 2}


@pytest.mark.parametrize(("seen", "doubtful"), [("404 No", False), ("410 Gone", False), ("200 OK", True)])
def test_saving_a_draft_is_looked_up_before_it_is_tried_again(
    open_session: Any, serve: Any, seen: str, doubtful: bool
) -> None:
    server, made = serve(in_turn(answer("502 Bad"), answer(seen), OK)), open_session()
    sent = {"operation": "saveDraft", "body": b'{"a": 1}', "headers": {"Realm": b"abs-dev"}, "writes": True}
    exchange = made.send("PUT", f"{server.url}{DRAFT}?schema=contact", **sent)
    assert [(each.method, each.target, each.body) for each in server.received] == [
        ("PUT", f"{DRAFT}?schema=contact", b'{"a": 1}'),
        ("GET", DRAFT, b""),
        ("PUT", f"{DRAFT}?schema=contact", b'{"a": 1}'),
    ]
    assert server.received[1].headers["realm"] == "abs-dev"
    assert (exchange.answer.status, exchange.doubtful) == (200, doubtful)


@pytest.mark.parametrize("seen", ["401 Who", "500 Oh", "503 Busy"])
def test_a_draft_that_cannot_be_looked_up_is_not_saved_twice(
    open_session: Any, serve: Any, seen: str
) -> None:
    server, made = (
        serve(lambda request, _: answer(seen if request.method == "GET" else "502 Bad")),
        open_session(),
    )
    exchange = made.send("PUT", server.url + DRAFT, operation="saveDraft", body=b"{}", writes=True)
    assert (exchange.fault, exchange.doubtful) == ("status 502", True)
    assert [each.method for each in server.received].count("PUT") == 1


@pytest.mark.parametrize(("seen", "sent"), [("200 OK", 2), ("404 No", 1)])
def test_a_deletion_is_sent_again_only_while_the_draft_is_there(
    open_session: Any, serve: Any, seen: str, sent: int
) -> None:
    server, made = serve(in_turn(answer("502 Bad"), answer(seen), OK)), open_session()
    exchange = made.send("DELETE", server.url + DRAFT, operation="deleteDraft", writes=True)
    assert [each.method for each in server.received].count("DELETE") == sent
    assert (exchange.fault is None) is (sent == 2)


@pytest.mark.parametrize(
    "operation", ["updateContact", "createAttachment", "persistTemporaryFile", "updateWorkflowRecord"]
)
def test_what_cannot_be_looked_up_is_not_sent_twice(open_session: Any, serve: Any, operation: str) -> None:
    server, made = serve(lambda *_: None), open_session()
    exchange = made.send("PUT", server.url, operation=operation, body=b"{}", writes=True)
    assert (len(server.received), exchange.fault) == (1, "the connection was closed without an answer")


@pytest.mark.parametrize(
    ("asked", "waited"),
    [
        ("2", [2.0]),
        ("Thu, 01 Jan 1970 00:00:00 GMT", [0.25]),
        ("\x01", [0.25]),
    ],
)
def test_retry_after_is_obeyed(
    open_session: Any, serve: Any, waits: list[float], asked: str, waited: list[float]
) -> None:
    server, made = serve(in_turn(answer("503 Busy", f"Retry-After: {asked}"), OK)), open_session()
    assert made.send("GET", server.url).answer.status == 200
    assert waits == waited


@pytest.mark.parametrize("asked", ["3600", "9" * 40])
def test_a_service_that_asks_for_more_patience_than_there_is_is_left_alone(
    open_session: Any, serve: Any, waits: list[float], asked: str
) -> None:
    server, made = serve(lambda *_: answer("503 Busy", f"Retry-After: {asked}")), open_session()
    assert made.send("GET", server.url).fault == "status 503"
    assert (len(server.received), waits) == (1, [])


def test_the_breaker_opens_after_a_while_and_then_nothing_is_sent(
    open_session: Any, serve: Any, waits: list[float]
) -> None:
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
        assert process_alive(session.private, "hand")
    session.close()
    assert not session.private.exists()


def test_a_dry_run_prepares_and_guards_requests_and_sends_none(serve: Any, tmp_path: Path) -> None:
    server = serve(in_turn(OK))
    target = Target("service", server.url)
    sender: dict[str, Any] = {"case": "by hand", "realm": "abs-dev", "role": "author"}
    with Session(target, "hand", ledger_folder=tmp_path, dry_run=True) as session:
        own = session.namespace.uid()
        request = Request(
            "saveDraft", "PUT", server.url + DRAFT, {}, b"{}", identifiers=(own,), writes=True, **sender
        )
        assert session.send(request).fault == UNSENT
        assert session.tokens.token("author").value
        with pytest.raises(GuardViolation):
            session.send(replace(request, headers={"Realm": "abs"}))
        with pytest.raises(SuiteError, match="outside the run's namespace"):
            session.send(replace(request, identifiers=("somebody-elses-01",)))
        assert session.counts == {}
    assert (server.received, (tmp_path / "ledger-hand.jsonl").read_text()) == ([], "")
