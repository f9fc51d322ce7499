"""An actor writes no record of somebody else, and its tokens live and die."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from registry_contracts.errors import EnvironmentFault, SuiteError
from registry_contracts.session.actor import Actor
from registry_contracts.session.authentication import ENDED_EARLY, Token
from registry_contracts.session.breaker import Breaker
from registry_contracts.settings.target import Account, Secret, Target
from tests.meta.wire import JSON, Received, answer

UID = "rc-test00000001"


class Registry:
    """A service of which only the tokens matter."""

    def __init__(self) -> None:
        self.refuses: Callable[[str], int] = lambda _: 200
        #: Status by uid in the address; of any other address the one of no uid.
        self.of_uid: dict[str, int] = {}
        self.issued = 0
        self.sign_in_status = 200

    def __call__(self, request: Received, _: object) -> bytes:
        if not request.target.endswith("/token"):
            found = next((status for uid, status in self.of_uid.items() if uid in request.target), None)
            status = found or self.refuses(request.headers.get("authorization", ""))
            return answer(f"{status} Thus", JSON)
        self.issued += 1
        end = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
        token = {"authenticationToken": f"token-{self.issued:09}", "expiration": end}
        return answer(f"{self.sign_in_status} Thus", JSON, body=json.dumps(token).encode())


@pytest.fixture
def stage(open_session: Any, serve: Any) -> SimpleNamespace:
    """An author at a registry; `received` are the requests that it got."""
    registry = Registry()
    server = serve(registry)
    author = Account("author", "author@x.test", Secret("secret-of-author"))
    session = open_session(target=Target("service", server.url, accounts={"author": author})).session
    exchanges: list[Any] = []
    actor = Actor(session, "author", "abs-dev", "c", exchanges=exchanges)
    return SimpleNamespace(
        registry=registry, received=server.received, session=session, author=actor, exchanges=exchanges
    )


ELSE = {"header": {"identifier": "somebody-elses-01"}}


@pytest.mark.parametrize(
    "parts",
    [
        {"path": {"uid": "somebody-elses-01"}, "json": {}},
        {"path": {"uid": UID}, "json": ELSE},
        {"path": {"uid": UID}, "json": {"document": ELSE}},
        {"path": {"uid": UID}, "json": [ELSE]},
        {"path": {"uid": UID}, "body": json.dumps(ELSE).encode()},
        {"path": {"uid": UID}, "query": [("uid", "somebody-elses-01")]},
    ],
    ids=["path", "header", "document", "list", "bytes", "query"],
)
def test_a_record_of_somebody_else_is_never_written(stage: SimpleNamespace, parts: dict[str, Any]) -> None:
    with pytest.raises(SuiteError, match="outside the run's namespace"):
        stage.author.send("saveDraft", **parts)
    assert [each.target.rpartition("/")[2] for each in stage.received] == ["token"]


def test_a_fresh_token_that_is_refused_stays_refused(stage: SimpleNamespace) -> None:
    stage.registry.refuses = lambda _: 401
    for _ in range(3):
        assert stage.author.send("getDraft", path={"uid": UID}).answer.status == 401
    # It is tried once more with a fresh token; no early end is noted, since no token is accepted at all.
    assert (stage.registry.issued, len(stage.exchanges)) == (2, 4)
    assert not stage.author.another_token_that_ended_early()


def test_a_token_is_looked_at_when_over(stage: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    stage.author.token()
    stage.author.send("createToken", json={})
    # 404, as for an unknown token; but a list accepts this token: so the draft is absent.
    statuses = iter([404, 404, 200])
    stage.registry.refuses = lambda _: next(statuses)
    assert stage.author.get_draft(UID).answer.status == 404
    # Later the token has ended: the list refuses it too, and a fresh one is accepted.
    statuses = iter([404, 404, 200])
    monkeypatch.setattr(Token, "over", property(lambda token: token.value == "token-000000001"))
    assert stage.author.get_draft(UID).answer.status == 200


def test_a_sign_in_that_the_environment_spoilt_is_tried_again_later(stage: SimpleNamespace) -> None:
    stage.registry.sign_in_status = 503
    with pytest.raises(EnvironmentFault, match="status 503"):
        stage.author.token()
    stage.registry.sign_in_status = 200
    assert stage.author.token() == "token-000000005"


@pytest.mark.parametrize("disturbed", [True, False])
def test_a_token_that_was_forgotten_is_renewed_and_noted(stage: SimpleNamespace, disturbed: bool) -> None:
    stage.author.token()
    # As if the service had restarted and forgotten its tokens.
    stage.registry.refuses = lambda sent: 401 if sent.endswith("1") else 200
    if disturbed:
        Breaker(print, stage.session.shared).mark_fault()
    assert stage.author.send("getDraft", path={"uid": UID}).answer.status == 200
    assert bool(stage.author.another_token_that_ended_early()) is not disturbed
    assert stage.session.faults == ({} if disturbed else {ENDED_EARLY: 1})


@pytest.mark.parametrize(
    ("operation", "there", "nothing", "absent"),
    [
        ("draftExists", 204, 204, True),
        ("draftExists", 204, 404, False),
        ("draftExists", 200, 204, False),
        ("getDraft", 204, 204, True),
        ("listDrafts", 204, 204, False),
    ],
)
def test_204_means_nothing_is_there_if_a_never_used_uid_gets_it_too(
    stage: SimpleNamespace, operation: str, there: int, nothing: int, absent: bool
) -> None:
    stage.registry.of_uid = {UID: there, "": nothing}
    path = {"uid": UID} if operation != "listDrafts" else None
    for _ in range(2):
        assert stage.author.send(operation, path=path).answer.refusal is absent
    assert [each.operation for each in stage.exchanges].count(operation) == 2  # the comparison is no evidence
