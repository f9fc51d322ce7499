"""Any answer is only an answer: a finding or the environment's fault, and text that is shown safely."""

import gzip
import json
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

from tests.meta.hostile.probe import (
    LONG,
    NASTY,
    SHORT_RUN,
    Ended,
    command,
    expect,
    honest,
    probe,
    run_folders,
)
from tests.meta.hostile.service import (
    TOKEN,
    Alter,
    Asked,
    Given,
    Service,
    accounts,
    altered,
    answered,
    drip,
    scripted,
)

GROUP = "answers"
_OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n[]"


def _run(folder: Path, service: Service, *words: str) -> Ended:
    return command(folder, *words, "--target", str(service.settings(folder)), environment=accounts())


def _verdict(folder: Path) -> dict[str, Any]:
    (run,) = run_folders(folder / "reports")
    found: dict[str, Any] = json.loads((run / "verdict.json").read_text("utf-8"))
    return found


def _in_json(given: Given, change: Callable[[Any], Any]) -> Given:
    """An answer whose JSON was changed; others stay."""
    try:
        value = json.loads(given.body)
    except ValueError:
        return given
    text = json.dumps(change(value)).replace(f'"{LONG}"', "9" * 5000)
    return Given(given.status, given.headers, text.replace('"1e400"', "1e400").encode())


def _nasty(value: Any) -> Any:
    """A JSON value with nasty texts as further members of every object, and as names of members."""
    if isinstance(value, dict):
        more = {f"x{number}": text for number, text in enumerate(NASTY)} | dict.fromkeys(NASTY, "x")
        return {name: _nasty(member) for name, member in value.items()} | more
    return [_nasty(item) for item in value] if isinstance(value, list) else value


def _immense(value: Any) -> Any:
    """A JSON value whose objects hold immense numbers, too."""
    if isinstance(value, dict):
        more = {"count": LONG, "size": "1e400", "deep": [1e308, -(10**30), 10**4000, {"x": LONG}]}
        return {name: _immense(member) for name, member in value.items()} | more
    return [_immense(item) for item in value] if isinstance(value, list) else value


def _leading_elsewhere(value: Any) -> Any:
    """A JSON value whose identifiers would lead out of their folder, or to another record, where they were believed."""
    if isinstance(value, dict):
        changed = {name: _leading_elsewhere(member) for name, member in value.items()}
        ways = dict.fromkeys(("id", "identifier", "attachmentId", "uid"), "../../other/versions/draft?x=#")
        return changed | {name: way for name, way in ways.items() if name in changed}
    return [_leading_elsewhere(item) for item in value] if isinstance(value, list) else value


def _refusing(asked: Asked, given: Given) -> Given:
    """Every refusal and success in nasty words, so that findings quote them."""
    if asked.sign_in or asked.method == "HEAD":
        return given
    return answered("\n".join(NASTY).encode("utf-8", "replace"), kind="text/plain", status=500)


def _at_sign_in(change: Callable[[Any], Any]) -> Alter:
    """Change what signing in gives; every other answer stays."""

    def alter(asked: Asked, given: Given) -> Given:
        return _in_json(given, change) if asked.sign_in and given.status == 200 else given

    return alter


def _elsewhere(change: Callable[[Any], Any]) -> Alter:
    """Change the JSON of every answer but that to signing in, and the files of attachments."""

    def alter(asked: Asked, given: Given) -> Given:
        file = asked.method == "GET" and "/attachments/" in asked.path
        return given if asked.sign_in or file else _in_json(given, change)

    return alter


_BROKEN_CHUNK = (
    _OK.replace(b"Content-Length: 2", b"Transfer-Encoding: chunked").removesuffix(b"[]")
    + b"1\r\n[\r\nZZ\r\n]\r\n"
)
ALTERATIONS: dict[str, tuple[Alter, tuple[int, ...]]] = {
    "a token with CR and LF": (
        _at_sign_in(lambda value: value | {"authenticationToken": value["authenticationToken"] + "\r\nX: 1"}),
        (1,),
    ),
    "a token that Latin-1 cannot hold": (
        _at_sign_in(lambda value: value | {"authenticationToken": "токен-токен-\ud800"}),
        (1,),
    ),
    "a token of a megabyte": (
        _at_sign_in(lambda value: value | {"authenticationToken": "t" * 1_000_000}),
        (1,),
    ),
    "an expiration beyond all calendars": (
        _at_sign_in(lambda value: value | {"expiration": "99999-13-45T99:99:99.9Z"}),
        (1,),
    ),
    "a Date beyond all calendars": (
        lambda _, given: given.with_headers(("Date", "Fri, 31 Dec 9999 23:59:59 -2359")),
        (0,),
    ),
    "a Date before all calendars": (
        lambda _, given: given.with_headers(("Date", "Mon, 01 Jan 0001 00:00:00 +2359")),
        (0,),
    ),
    "nasty texts in every JSON": (_elsewhere(_nasty), (0, 1)),
    "nasty texts as every answer": (_refusing, (1, 6)),
    "a chunk in the middle of each answer that is none": (
        lambda asked, given: given if asked.sign_in else _BROKEN_CHUNK,
        (6,),
    ),
    "numbers beyond all measure in every JSON": (_elsewhere(_immense), (0,)),
    "identifiers that lead elsewhere": (_elsewhere(_leading_elsewhere), (0, 1, 6)),
    "a header of control characters": (
        lambda _, given: given.with_headers(("X-Odd", "\x01\x02\x1b[2J")),
        (0, 1, 6),
    ),
}


def _altered_run(folder: Path, alter: Alter, codes: tuple[int, ...]) -> str:
    with altered(alter) as service:
        ended = honest(_run(folder, service, *SHORT_RUN), *codes, lines=3)
    verdict = _verdict(folder)
    expect(verdict["verdict"] != "error", f"error: {verdict['reason']}")
    errors = sum(
        cell["verdict"] == "error" for clause in verdict["clauses"] for cell in clause["realms"].values()
    )
    expect(not errors, f"{errors} clauses are said to have broken the suite")
    return f"exit {ended.code}, {len(verdict['findings'])} findings"


_CONSUMER = """operations = ["getDraft"]
realms = ["abs-dev"]
clauses = ["draft-get-content"]
"""


def _altered_gate(folder: Path, alter: Alter) -> str:
    (folder / "sdk.toml").write_text(_CONSUMER)
    with altered(alter) as service:
        ended = honest(_run(folder, service, "gate", "--consumer", "sdk.toml"), 0, 1, 6, lines=3)
    return f"exit {ended.code}"


for name, (alter, codes) in ALTERATIONS.items():
    probe(GROUP, f"run: {name}")(partial(_altered_run, alter=alter, codes=codes))
    probe(GROUP, f"gate --consumer: {name}")(partial(_altered_gate, alter=alter))


def _retry_after(value: str) -> Callable[[Asked, Given], Given]:
    seen: dict[str, int] = {}

    def alter(asked: Asked, given: Given) -> Given:
        seen[asked.method] = seen.get(asked.method, 0) + 1
        if asked.sign_in or seen[asked.method] != 2:
            return given
        return answered(b"{}", status=429).with_headers(("Retry-After", value))

    return alter


def _waits(folder: Path, value: str) -> None:
    with altered(_retry_after(value)) as service:
        honest(_run(folder, service, *SHORT_RUN), 0, 6, lines=3)
        deleted = [each for each in service.asked if each.method == "DELETE"]
    expect(deleted, "nothing was cleaned up")


for value in ("9" * 400, "1e308", "-1", "nan", "Fri, 31 Dec 9999 23:59:59 -2359", "\x00"):
    probe(GROUP, f"run: Retry-After {value[:40]!r}")(partial(_waits, value=value))


def _flood(status: int) -> Callable[[Asked], Iterator[bytes]]:
    def script(_: Asked) -> Iterator[bytes]:
        for _number in range(200_000):
            yield f"HTTP/1.1 {status} Wait\r\nX-Odd: 1\r\n\r\n".encode() * 50

    return script


def _json(body: bytes) -> bytes:
    return _OK.removesuffix(b"[]").replace(b"Length: 2", b"Length: %d" % len(body)) + body


@cache
def _packed(how: bytes, body: bytes) -> bytes:
    return _json(body).replace(b"OK\r\n", b"OK\r\nContent-Encoding: " + how + b"\r\n")


def _away(to: str) -> bytes:
    return f"HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()


def _half() -> Iterator[bytes]:
    yield _OK.replace(b"Length: 2", b"Length: 20")
    time.sleep(20)


SCRIPTS: dict[str, Callable[[Asked], bytes | Iterator[bytes]]] = {
    "101 Switching Protocols": lambda _: (
        b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"
    ),
    "a flood of 100 Continue": _flood(100),
    "a flood of 103 Early Hints": _flood(103),
    "one byte a second": drip,
    "no HTTP": lambda _: b"\x00\x01\x02" * 100,
    "a status that is none": lambda _: b"HTTP/1.1 abc OK\r\n\r\n",
    "a header line without end": lambda _: b"HTTP/1.1 200 OK\r\nX: " + b"x" * 2_000_000,
    "100,000 headers": lambda _: b"HTTP/1.1 200 OK\r\n" + b"X: 1\r\n" * 100_000 + b"\r\n",
    "control characters in headers": lambda _: _OK.replace(b"OK\r\n", b"OK\r\nX-Odd: \x00\x01\x1b[2J\r\n"),
    "a chunk in the middle that is none": lambda _: _BROKEN_CHUNK,
    "a length larger than the body": lambda _: _OK.replace(b"Length: 2", b"Length: 2000"),
    "a length below zero": lambda _: _OK.replace(b"Length: 2", b"Length: -2"),
    "two lengths": lambda _: _OK.replace(b"Length: 2", b"Length: 2\r\nContent-Length: 900"),
    "a length that is none": lambda _: _OK.replace(b"Length: 2", b"Length: two"),
    "a packed bomb": lambda _: _packed(b"gzip", gzip.compress(b" " * (1 << 28), 1)),
    "packed bytes that are none": lambda _: _packed(b"gzip", b"no gzip at all"),
    "packed in a way that is none": lambda _: _packed(b"\xff, rot13, gzip", b"[]"),
    "a charset that is none": lambda _: _OK.replace(b"json\r", b"json; charset=\xff::error::forged\r"),
    "UTF-7": lambda _: _OK.replace(b"json\r", b"json; charset=utf-7\r"),
    "90 cookies": lambda _: _OK.replace(b"OK\r\n", b"OK\r\n" + b"Set-Cookie: a=b\r\n" * 90),
    "a redirect in a circle": lambda asked: _away(asked.path),
    "a redirect to a file": lambda _: _away("file:///etc/passwd"),
    "a redirect to no address": lambda _: _away("http://[::1"),
    "a redirect to production": lambda _: _away("/api/v2013/document-drafts?Realm=abs"),
    "a redirect with credentials": lambda _: _away("http://someone:secret@127.0.0.1:9/"),
    "a redirect that forges": lambda _: _away("/\x1b[2J%0d%0a::error::forged"),
    "status 999": lambda _: _OK.replace(b"200 OK", b"999 Odd"),
    "status 0": lambda _: _OK.replace(b"200 OK", b"000 Odd"),
    "half a body, and then silence": lambda _: _half(),
    "a body after 204": lambda _: _OK.replace(b"200 OK", b"204 None"),
    "HTTP/0.9": lambda _: b"[]",
    "a megabyte of a number": lambda _: _json(b"[" + b"9" * 1_000_000 + b"]"),
    "a member that stands twice": lambda _: _json(b'{"a":1,"a":' + b"[" * 290 + b"]" * 290 + b"}"),
    "a reason that forges": lambda _: _OK.replace(b"200 OK", b"200 \x1b[2J::error::forged"),
}


def _scripted_command(folder: Path, script: Any, words: tuple[str, ...]) -> str:
    def after_sign_in(asked: Asked) -> Any:
        """What `call` is about comes after it has signed in; `doctor` finds it at once."""
        return TOKEN.raw(asked.method) if asked.sign_in and words[0] == "call" else script(asked)

    began = time.monotonic()
    with scripted(after_sign_in) as service:
        settings = service.settings(folder)
        settings.write_text(settings.read_text().replace("timeout_seconds = 30", "timeout_seconds = 4"))
        ended = honest(
            command(folder, *words, "--target", str(settings), environment=accounts()), 0, 1, 4, 6, lines=3
        )
    expect("someone:secret" not in ended.all, "shows credentials of a redirect")
    expect(time.monotonic() - began < 150, "takes longer than its time limits")
    return f"exit {ended.code}"


for name, script in SCRIPTS.items():
    for started in (("call", "listDrafts"), ("doctor",)):
        probe(GROUP, f"{started[0]}: {name}")(partial(_scripted_command, script=script, words=started))


@probe(GROUP, "call: a redirect to another host gets no credentials, and no write follows one")
def _redirected(folder: Path) -> str:
    with scripted(lambda asked: Given(200, [], b"[]").raw(asked.method)) as elsewhere:

        def script(asked: Asked) -> bytes:
            return TOKEN.raw(asked.method) if asked.sign_in else _away(f"{elsewhere.url}/there")

        with scripted(script) as service:
            words = ("--target", str(service.settings(folder)))
            for operation in ("listDrafts", "saveDraft"):
                honest(command(folder, "call", operation, *words, environment=accounts()), 0, 1, 6, lines=3)
    sent = {name.lower() for asked in elsewhere.asked for name, _ in asked.headers}
    expect([asked.method for asked in elsewhere.asked] == ["GET"], f"asks {elsewhere.asked}")
    expect(not sent & {"authorization", "realm", "cookie"}, f"sends {sorted(sent)}")
    return f"{len(elsewhere.asked)} read"
