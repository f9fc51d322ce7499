"""A run takes any token and any JSON for an answer: a finding or none, and never an error of the suite."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from tests.meta.plugin.rules import JSON
from tests.meta.program import Ended, Program
from tests.meta.samples import account_variables
from tests.meta.sandbox_client import settings_of

IMMENSE = '{"count": ' + "9" * 5000 + ', "size": 1e400, "deep": [1e308, ' + "9" * 4000 + "]}"
NASTY = [
    "\x1b[2J\x1b]0;owned\x07",
    "\u202egnp.exe\u2066",
    "x\r\n::error::forged",
    "\u2028\x85\x0b",
    "\x00\x7f\ufeff",
    "\ud800",
]
ELSEWHERE = "../../other/versions/draft?x=#"


@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize(
    "members",
    [
        {"authenticationToken": "a-token-of-two\r\nX: 1"},
        {"authenticationToken": "токен-токен-\ud800"},
        {"authenticationToken": "t" * 1_000_000},
        {"expiration": "99999-13-45T99:99:99.9Z"},
    ],
    ids=["of two lines", "no Latin-1", "a megabyte", "no calendar"],
)
def test_a_token_that_cannot_be_used_is_a_finding(
    run: Any, faulty: Callable[..., Any], members: dict[str, str]
) -> None:
    token = {"authenticationToken": "a-token-that-nobody-knows", "expiration": "2999-01-01T00:00:00.0Z"}
    body = json.dumps(token | members).encode()
    service = faulty(lambda _, path, __: (200, JSON, body) if path.endswith("/token") else None)
    ended = run("-k", "test_content or test_signing_in", "--realm=abs-dev", f"--target={service.target}")
    assert ended.code in (1, 6), ended.output
    assert "Traceback" not in ended.output
    assert "error" not in {case["outcome"] for case in ended.cases().values()}


def nasty(value: Any) -> Any:
    return value | {f"x{number}": text for number, text in enumerate(NASTY)} | dict.fromkeys(NASTY, "x")


def leading_elsewhere(value: Any) -> Any:
    return {
        name: ELSEWHERE if "id" in name.lower() and not isinstance(of, dict) else of
        for name, of in value.items()
    }


class Altered:
    """A service whose JSON answers are altered, object by object; signing in and files stay as they are."""

    def __init__(self, app: Any, change: Callable[[dict[str, Any]], Any]) -> None:
        self._app = app
        self._change = change
        self.asked: list[tuple[str, str]] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass a request on, and its answer back when it is whole."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        self.asked.append((scope["method"], scope["raw_path"].decode("latin-1")))
        started: list[Any] = []
        pieces: list[bytes] = []

        async def keep(event: Any) -> None:
            started.append(event) if event["type"].endswith("start") else pieces.append(
                event.get("body", b"")
            )

        await self._app(scope, receive, keep)
        body = b"".join(pieces)
        a_file = scope["method"] == "GET" and "/attachments/" in scope["path"]
        if not scope["path"].endswith("/token") and scope["method"] != "HEAD" and not a_file:
            body = self._altered(body)
        headers = [
            (name, value) for name, value in started[0]["headers"] if name.lower() != b"content-length"
        ]
        if scope["method"] == "HEAD" or body:
            headers.append((b"content-length", str(len(body)).encode()))
        await send(started[0] | {"headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _altered(self, body: bytes) -> bytes:
        try:
            return (
                json.dumps(json.loads(body, object_hook=self._change)).replace('"immense"', IMMENSE).encode()
            )
        except ValueError:
            return body


@pytest.fixture
def smoke(
    program: Program, serve_app: Callable[[Any], str], tmp_path: Path
) -> Callable[..., tuple[Ended, Altered]]:
    """Runs the smoke of some operations on a service whose answers are altered."""
    from contracts.sandbox.app import create_app  # noqa: PLC0415 - one test serves
    from contracts.sandbox.habits import Settings  # noqa: PLC0415

    def start(change: Callable[[Any], Any], *operations: str) -> tuple[Ended, Altered]:
        service = Altered(create_app(Settings()), change)
        program.environment |= account_variables()
        chosen = [f"--operation={name}" for name in operations]
        words = ("run", "--profile=smoke", "--realm=abs-dev", "--seed=1", *chosen)
        return program(*words, f"--target={settings_of(serve_app(service), tmp_path)}"), service

    return start


@pytest.mark.parametrize(
    ("change", "codes"),
    [(nasty, (0, 1)), (lambda value: value | {"x": "immense"}, (0,)), (leading_elsewhere, (0, 1, 6))],
    ids=["nasty texts", "immense numbers", "identifiers that lead elsewhere"],
)
def test_a_run_takes_any_json(
    smoke: Callable[..., tuple[Ended, Altered]], change: Callable[[Any], Any], codes: tuple[int, ...]
) -> None:
    ended, service = smoke(change, "getDraft", "createAttachment", "updateContact")
    assert ended.code in codes, ended
    assert not any(text in ended.output for text in ("\x1b]", "\u202e", "\n::error"))
    # What an answer calls an identifier leads to no other record.
    paths = [(method, path.split("/"), unquote(path)) for method, path in service.asked]
    assert not [path for _, steps, path in paths if ".." in steps]
    assert not [path for method, _, path in paths if method != "GET" and ELSEWHERE in path]
