"""Secrets stand in nothing that is written or shown: whatever they wear, and whatever stands beside them."""

import base64
import gzip
import http.client
import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from urllib.parse import quote

from tests.meta.hostile.clients import proxied
from tests.meta.hostile.probe import TINY_RUN, command, expect, honest, probe
from tests.meta.hostile.service import Asked, Given, accounts, altered, answered

GROUP = "secrets"
_PASSWORD = "pass-word-7h3-S3cret!"


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


#: What a service may make of a token that it quotes.
DISGUISES: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "turned to capitals": str.upper,
    "Base64": _base64,
    "Base64 in lines": lambda token: re.sub("(.{20})", r"\1\r\n", _base64(f"Bearer {token}")),
    "Base64 twice": lambda token: _base64(_base64(token)),
    "Base32": lambda token: base64.b32encode(token.encode()).decode(),
    "hexadecimal": lambda token: token.encode().hex(),
    "percent signs in two layers": lambda token: quote("".join(f"%{ord(sign):02X}" for sign in token)),
    "escapes": lambda token: "".join(f"\\u{ord(sign):04x}" for sign in token),
    "entities": lambda token: "".join(f"&#{ord(sign)};" for sign in token),
}


def _written(folder: Path) -> Iterator[tuple[str, str]]:
    """Every file of the reports, with its text."""
    for path in folder.glob("reports/**/*"):
        if path.is_file() and not path.is_symlink():
            content = path.read_bytes()
            yield path.name, (gzip.decompress(content) if path.suffix == ".gz" else content).decode("latin-1")


def _stands_nowhere(folder: Path, shown: str, forms: set[str]) -> None:
    for name, text in (("the output", shown), *_written(folder)):
        for form in forms:
            expect(form not in text, f"{name} holds {form[:12]}…")


def _disguised(folder: Path, disguise: Callable[[str], str]) -> str:
    tokens: set[str] = set()

    def quoting(asked: Asked, given: Given) -> Given:
        token = dict(asked.headers).get("Authorization", "").removeprefix("Bearer ")
        if not token or asked.sign_in:
            return given
        try:
            value = json.loads(given.body)
        except ValueError:
            return given
        tokens.add(token)
        if not isinstance(value, dict):
            return given
        return Given(given.status, given.headers, json.dumps(value | {"said": disguise(token)}).encode())

    with altered(quoting) as service:
        words = (*TINY_RUN, "--unpacked", "--target", str(service.settings(folder)))
        ended = honest(command(folder, *words, environment=accounts()), 0, 1, lines=3)
    # Cases send tokens that are none, too: what counts is the beginning of those that the service takes.
    real = {token for token in tokens if len(token) > 24 and "rc-" not in token}
    expect(real, "no token was sent")
    forms = {form for token in real for form in (token, disguise(token), json.dumps(disguise(token))[1:-1])}
    _stands_nowhere(folder, ended.all, {form for form in forms if form})
    return f"exit {ended.code}, {len(real)} tokens"


for name, disguise in DISGUISES.items():
    probe(GROUP, f"run: the service quotes tokens: {name}")(partial(_disguised, disguise=disguise))


#: Bodies of a sign-in that are no plain object of texts.
SIGN_INS: dict[str, bytes] = {
    "single quotes": f"{{'email': 'a@b.test', 'password': '{_PASSWORD}'}}".encode(),
    "without an end": f'{{"email": "a@b.test", "password": "{_PASSWORD}'.encode(),
    "packed twice": json.dumps(json.dumps({"email": "a@b.test", "password": _PASSWORD})).encode(),
    "an array": json.dumps(["a@b.test", _PASSWORD]).encode(),
    "an object in an object": json.dumps({"login": {"user": "a@b.test", "key": [_PASSWORD]}}).encode(),
    "a form": f"email=a%40b.test&password={quote(_PASSWORD)}".encode(),
    "plain text": f"a@b.test {_PASSWORD}".encode(),
}


def _sign_in(folder: Path, body: bytes) -> str:
    def script(asked: Asked) -> bytes:
        return answered(b"what is " + asked.body, kind="text/plain", status=400).raw(asked.method)

    def speak(port: int) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        connection.request("POST", "/api/v2013/authentication/token", body)
        return connection.getresponse().status

    ended, _ = proxied(folder, script, speak, 0, 1, 5, 6)
    _stands_nowhere(folder, ended.all, {_PASSWORD, quote(_PASSWORD), _PASSWORD.upper()})
    return f"exit {ended.code}"


for name, body in SIGN_INS.items():
    probe(GROUP, f"proxy: a sign-in in {name}")(partial(_sign_in, body=body))
