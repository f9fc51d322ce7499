"""Neither a password nor a token is found anywhere after a run, whatever the service does with them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("nothing_left")


class Echo:
    """Repeats every secret it is sent, in bodies, headers and reasons, and remembers the tokens it gave out."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self.tokens: set[str] = set()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = dict(scope["headers"]).get(b"authorization", b"")
        if given.startswith(b"Bearer "):
            self.tokens.add(given.decode().removeprefix("Bearer "))
        if scope["method"] == "GET":
            body = b"x" * 240 + given + b" was " + given + b"y" * 20_000
            headers = [
                (b"content-type", b"application/json"),
                (b"x-echo", given),
                (b"set-cookie", b"t=" + given),
            ]
            await send({"type": "http.response.start", "status": 404, "headers": headers})
            await send({"type": "http.response.body", "body": json.dumps(body.decode()).encode()})
            return
        await self._app(scope, receive, send)


def files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def assert_clean(ended: Any, secrets: set[str]) -> None:
    assert secrets
    for secret in {secret[:10] for secret in secrets}:
        assert secret not in ended.said
        for path, content in files(ended.reports).items():
            assert secret.encode() not in content, path


def test_an_echoing_service_gets_no_secret_into_the_evidence(
    run: Any, serve_app: Callable[[Any], str], aimed_at: Callable[[str], Path]
) -> None:
    from contracts.sandbox.app import create_app  # noqa: PLC0415 - the other tests serve nothing
    from contracts.sandbox.settings import Settings  # noqa: PLC0415

    echo = Echo(create_app(Settings()))
    target = aimed_at(serve_app(echo))
    words = "test_content or test_should or test_foreign_token or test_signing_in"
    ended = run("-k", words, "--realm=abs-dev", f"--target={target}", "-rA", "--showlocals")
    assert ended.code == 1, ended.said
    found = {finding["clause"] for finding in ended.verdict["findings"]}
    assert {"no-secret-echoed", "draft-get-content"} <= found
    own = {token for token in echo.tokens if not token.startswith("of-my-own")}
    assert_clean(ended, own | {f"sandbox-{role}" for role in ("author",)})


def test_a_crash_shows_no_token(run: Any) -> None:
    ended = run("-k", "test_crash or test_signing_in", "--realm=abs-dev", "-rA", "--showlocals")
    assert ended.code == 3, ended.said
    assert "no idea what to do with [redacted]" in ended.out
    assert "the token is [redacted]" in ended.out
    assert "sandbox-author" not in "".join(line for line in ended.out.splitlines() if "body = " not in line)


def test_what_was_observed_of_a_new_token_is_blanked(run: Any) -> None:
    ended = run("-k", "test_signing_in")
    assert ended.code == 0, ended.said
    (seen,) = [each for each in ended.verdict["observations"] if each["clause"] == "token-lifetime"]
    assert seen["seen"]["authenticationToken"] == "[redacted]"
    assert_clean(ended, {"sandbox-author"})
