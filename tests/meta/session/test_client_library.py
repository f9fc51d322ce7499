"""A library's own client sends through an actor: nothing else opens a connection, and it gets what the actor got."""

from typing import Any

import pytest

from contracts.errors import UsageError
from contracts.session.actor import ActorClient
from tests.meta import messages

ADDRESS = "http://127.0.0.1/api/v2013/documents/rc-test-12345/versions/draft"


class Recorder:
    """An actor that writes down what it is to send, and always gets the same answer."""

    def __init__(self, answer: Any) -> None:
        self.sent: list[tuple[str, dict[str, Any]]] = []
        self._answer = answer

    def send(self, operation: str, **parts: Any) -> Any:
        self.sent.append((operation, parts))
        return messages.exchange(self._answer, operation=operation)


@pytest.fixture
def recorder() -> Recorder:
    headers = {"Content-Type": "application/json", "X-Two": "2"}
    return Recorder(messages.response(201, b'{"identifier": "rc-test-12345"}', headers))


def test_a_request_becomes_one_of_its_operation(recorder: Recorder) -> None:
    client = ActorClient(recorder)  # type: ignore[arg-type]
    client.request("PUT", ADDRESS, params={"schema": "contact"}, json={"a": 1}, headers={"Realm": "abs-dev"})
    operation, parts = recorder.sent[0]
    assert operation == "saveDraft"
    assert parts["path"] == {"uid": "rc-test-12345"}
    assert parts["query"] == [("schema", "contact")]
    assert parts["body"] == b'{"a": 1}'
    assert parts["headers"] == {
        "Accept": "application/json",
        "Content-Type": "application/json",
        "Realm": "abs-dev",
    }


def test_a_header_that_was_left_out_stays_out(recorder: Recorder) -> None:
    client = ActorClient(recorder)  # type: ignore[arg-type]
    client.request("GET", ADDRESS)
    assert recorder.sent[0][1]["headers"]["Realm"] is None
    client.request("GET", "http://127.0.0.1/api/v2013/documents/rc-test-12345/attachments")
    assert "Realm" not in recorder.sent[1][1]["headers"]


def test_the_library_sees_the_answer(recorder: Recorder) -> None:
    client = ActorClient(recorder)  # type: ignore[arg-type]
    answer = client.request("GET", ADDRESS)
    assert answer.status_code == 201
    assert answer.json() == {"identifier": "rc-test-12345"}
    assert answer.headers["x-two"] == "2"
    assert answer.raw.headers.getlist("Content-Type") == ["application/json"]
    assert [exchange.operation for exchange in client.exchanges] == ["getDraft"]


def test_what_the_description_does_not_know_is_not_sent(recorder: Recorder) -> None:
    client = ActorClient(recorder)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="no operation"):
        client.request("GET", "http://127.0.0.1/elsewhere")
    assert not recorder.sent
