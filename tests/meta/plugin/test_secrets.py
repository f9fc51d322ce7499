"""Neither a password nor a token is found anywhere after a run, whatever the service does with them."""

import base64
import json
import pickle
import re
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from registry_contracts.session.authentication import NO_TOKEN
from tests.meta.program import eventually
from tests.meta.sandbox_client import JSON


def forms(secret: str) -> set[bytes]:
    """The readable forms of a secret: plain, percent-encoded, as escapes, in Base64."""
    raw = secret.encode()
    coded = {
        base64.b64encode(b"x" * before + raw)[(before * 8 + 5) // 6 : -4].rstrip(b"=") for before in range(3)
    }
    return {
        raw[:10],
        raw[:10].upper(),
        quote(secret, safe="").encode(),
        b"".join(b"%%%02X" % byte for byte in raw),
        "".join(f"\\u{ord(each):04x}" for each in secret).encode(),
        *coded,
    }


def assert_clean(ended: Any, secrets: set[str]) -> None:
    assert secrets
    everything = {path: path.read_bytes() for path in ended.reports.rglob("*") if path.is_file()}
    everything[Path("terminal")] = ended.output.encode()
    for secret in secrets:
        for path, content in everything.items():
            for text in (content, *unpacked(content)):
                found = [form for form in forms(secret) if form in text]
                assert found == [], (path, found)


def unpacked(content: bytes) -> Iterator[bytes]:
    """What stands in the Base64 bodies of a journal or a traffic log."""
    for coded in re.findall(rb'"(?:base64|text)": ?"([A-Za-z0-9+/]{16,}={0,2})"', content):
        with suppress(ValueError):
            yield base64.b64decode(coded)


def test_no_secret_of_an_echoing_service_is_in_the_evidence(run: Any, faulty: Any) -> None:
    def echo(method: str, *_: Any) -> Any:
        """Repeat the token of a read in the body and in headers."""
        if method != "GET":
            return None
        given = service.app.given[-1]
        token = given.removeprefix(b"Bearer ")
        forms = base64.b64encode(token), base64.b64encode(b"a" + token), quote(token, safe="").encode()
        coded = b" ".join((*forms, token.upper(), token[: len(token) // 2]))
        body = b"x" * 240 + given + b" was " + given + b" also " + coded + b"y" * 20_000
        return (
            404,
            [*JSON, (b"x-echo", given), (b"set-cookie", b"t=" + given)],
            json.dumps(body.decode()).encode(),
        )

    service = faulty(echo)
    words = "test_content or test_should or test_foreign_token or test_signing_in or test_crash"
    ended = run("-k", words, "--realm=abs-dev", f"--target={service.target}", "-rA", "--showlocals")
    assert ended.code == 1, ended.output
    found = {finding["clause"] for finding in ended.verdict["findings"]}
    assert {"no-secret-echoed", "draft-get-content"} <= found
    assert "no idea what to do with [redacted]" in ended.out
    assert "the token is [redacted]" in ended.out
    sent = {given.decode().removeprefix("Bearer ") for given in service.app.given} - {"", NO_TOKEN}
    assert_clean(ended, {"sandbox-author", *(token for token in sent if not token.startswith("of-my-own"))})


@pytest.mark.parametrize(
    ("plugin", "told"),
    [
        (
            "broken_journal",
            "worker gw0 broke: OSError: [Errno 28] No space left for [redacted] of [redacted]",
        ),
        ("breaking", "RuntimeError: no place for [redacted]"),
    ],
)
def test_a_crash_is_told_without_secrets(run: Any, faulty: Any, plugin: str, told: str) -> None:
    chosen = ("-k", "test_many", "--realm=abs-dev", "-n", "1", "-p", plugin, "--showlocals")
    ended = run.apart(*chosen, f"--target={faulty().target}")
    assert ended.code == 3, ended.output
    assert told in ended.verdict["reason"]
    assert "Traceback" not in ended.output
    assert "INTERNALERROR" not in ended.output
    assert len(ended.cases()) <= 11
    assert_clean(ended, {"sandbox-author", "sandbox-restricted"})


def test_while_a_run_goes_on_its_tokens_are_private(run: Any, faulty: Any) -> None:
    service = faulty()
    process = run.start("-k", "test_waiting", f"--target={service.target}")
    # The look before the run saves one draft, the case that waits another.
    eventually(lambda: [method for method, _ in service.app.done].count("PUT") > 1)
    shared = run.private_parent.glob("registry-contracts-*/shared/*")
    kept = {path: path.read_bytes() for path in shared if not path.name.endswith((".lock", ".new"))}
    read = {path: pickle.loads(content) for path, content in kept.items() if b"Token" in content}  # noqa: S301
    found = {path: token.value for path, token in read.items()}
    assert len(found) == 4
    (private,) = {path.parent for path in found}
    assert private.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in found} == {0o600}
    process.send_signal(signal.SIGTERM)
    run.enough()
    ended = run.end(process)
    assert ended.code == 2, ended.output
    assert_clean(ended, {*found.values(), "sandbox-author"})
