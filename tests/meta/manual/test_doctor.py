"""`doctor`: says in one look whether a target can be judged, and sends reads only unless it is told otherwise."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contracts.sandbox.app import create_app
from contracts.sandbox.habits import Settings
from tests.meta.http_answers import JSON, SIGNED_IN, answer
from tests.meta.manual.conftest import served
from tests.meta.program import Launcher, RunCommand
from tests.meta.wire import Request, Serve


def in_capitals(request: Request, _: object) -> bytes:
    """Answer as a service that knows its realms in capitals only."""
    if request.method == "POST":
        return SIGNED_IN
    known = request.headers["realm"].isupper()
    return answer("200 OK", JSON, body=b"[]") if known else answer("404 No", JSON)


def aim(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    """Set the three variables of a target, with the sandbox's author."""
    values = {"BASE_URL": address, "EMAIL": "author@sandbox.test", "PASSWORD": "sandbox-author"}
    for name, value in values.items():
        monkeypatch.setenv(f"REGISTRY_{name}", value)


def looked(command: RunCommand, *words: object, code: int = 0) -> dict[str, Any]:
    """Run `doctor --json` and return what it printed."""
    ended = command("doctor", *words, "--json")
    assert ended.code == code, ended
    content: dict[str, Any] = json.loads(ended.out)
    assert content["exit_code"] == code
    return content


def texts(content: dict[str, Any], subject: str) -> str:
    return "; ".join(each["text"] for each in content["diagnoses"] if each["subject"] == subject)


def states(content: dict[str, Any]) -> set[str]:
    return {each["state"] for each in content["diagnoses"]}


def test_a_faithful_target_is_ready_within_forty_requests(command: RunCommand, faithful: Path) -> None:
    content = looked(command, "--target", faithful)
    assert content["requests"] <= 40
    assert states(content) <= {"ok", "unknown"}
    (unlock,) = content["unlocks"]
    assert unlock["setting"] == "attachments.size_limit_bytes"
    counts = content["must_clauses"]
    without = content["costs"]["gate"]["without_a_setting"]
    assert counts["judged"] + len(without) == counts["all"] > 100
    assert content["left"] == []
    assert 1_000 < content["costs"]["gate"]["requests"] <= 6_100


def test_writing_leaves_no_draft_and_permanent_records_are_announced(
    command: RunCommand, faithful: Path
) -> None:
    ended = command("doctor", "--target", faithful, "--write", "--permanent", "--json")
    content = json.loads(ended.out)
    assert ended.code == 0
    assert "for good: a contact and a submission in each of abs-dev" in ended.err
    assert "deleteDraft 204" in texts(content, "chm-dev")
    assert "createWorkflowRecord 201" in texts(content, "ort-dev")
    assert {each["what"] for each in content["left"]} == {"attachment", "contact", "submission"}


def test_an_author_without_rights_is_wrong_settings_and_contradicts_nothing(
    command: RunCommand, faithful: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SANDBOX_AUTHOR_EMAIL", "restricted@sandbox.test")
    monkeypatch.setenv("SANDBOX_AUTHOR_PASSWORD", "sandbox-restricted")
    content = looked(command, "--target", faithful, "--write", code=4)
    assert "may not write in chm-dev: saveDraft was answered 403" in texts(content, "author")
    assert "saveDraft in chm-dev" in {each["subject"] for each in content["diagnoses"]}
    assert "contradicts" not in json.dumps(content["diagnoses"])


def test_a_contradiction_that_reading_shows_is_named(
    command: RunCommand, library_launcher: Launcher, tmp_path: Path
) -> None:
    with served(library_launcher, tmp_path, "--fault", "list-top-one-more") as target:
        content = looked(command, "--target", target)
    assert "contradicts list-top" in texts(content, "listDrafts in abs-dev")


def test_init_writes_the_spelling_that_alone_is_known(
    command: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, serve: Serve
) -> None:
    monkeypatch.chdir(tmp_path)
    aim(monkeypatch, serve(in_capitals).url)
    ended = command("init", "dev")
    assert ended.code == 0, ended
    assert "chm-dev is known as 'CHM-DEV' alone: written as its sent_as" in ended.out
    assert "ort-dev cannot be read: give it sent_as, too" in ended.out
    text = (tmp_path / "targets" / "dev.toml").read_text("utf-8")
    assert text.count("\nsent_as = ") == 3


@pytest.mark.parametrize(
    ("password", "code", "state", "words"),
    [("wrong", 4, "settings", "check the variables"), ("sandbox-author", 0, "ok", "signs in")],
)
def test_the_author_signs_in_or_the_settings_are_wrong(
    command: RunCommand,
    faithful: Path,
    monkeypatch: pytest.MonkeyPatch,
    password: str,
    code: int,
    state: str,
    words: str,
) -> None:
    monkeypatch.setenv("SANDBOX_AUTHOR_PASSWORD", password)
    content = looked(command, "--target", faithful, code=code)
    assert words in texts(content, "author")
    assert state in states(content)
    assert password not in json.dumps(content)


@pytest.mark.parametrize(("wait", "code"), [("0", 6), ("20", 0)])
def test_a_target_that_is_just_starting_is_waited_for(
    command: RunCommand,
    serve_app: Callable[[Any], str],
    monkeypatch: pytest.MonkeyPatch,
    wait: str,
    code: int,
) -> None:
    aim(monkeypatch, serve_app(Starting(create_app(Settings()), 6)))
    content = looked(command, "--wait", wait, code=code)
    assert ("was waited for" in texts(content, "start")) is (code == 0)


class Starting:
    """A service whose gateway answers the first requests in its place (ASGI)."""

    def __init__(self, app: Any, refused: int) -> None:
        self._app = app
        self._left = refused

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or self._left == 0:
            await self._app(scope, receive, send)
            return
        self._left -= 1
        await send({"type": "http.response.start", "status": 503, "headers": []})
        await send({"type": "http.response.body", "body": b""})


def test_a_closed_port_is_the_environment(command: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    aim(monkeypatch, "http://127.0.0.1:9")
    content = looked(command, code=6)
    assert "the connection was refused" in texts(content, "address")
    assert content["requests"] <= 2
