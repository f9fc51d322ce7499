"""Secrets in every form they take are blanked out of every kind of text, lines to paste included."""

import base64
import json
import os
import subprocess
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from registry_contracts.exchanges.exchange import QUOTED_CHARACTERS, Exchange, Headers
from registry_contracts.exchanges.redaction import (
    KEPT_BODY,
    REDACTED,
    Redactor,
    authorization_template,
    learn_tokens,
    redacted,
)
from registry_contracts.exchanges.transcript import curl
from registry_contracts.file_formats import plain
from registry_contracts.session.pipeline import Record, Request
from tests.meta import messages

SECRET = 'pä s/&"+\\<7'
TOKEN = "abcdef.ghijkl-mnopqr_stuvwx"
SIGN_IN = "https://registry.test/api/v2013/authentication/token"


@pytest.mark.parametrize(
    "form",
    [
        str,
        json.dumps,
        lambda secret: json.dumps(secret, ensure_ascii=False),
        lambda secret: json.dumps(json.dumps({"a": secret})),
        lambda secret: json.dumps(secret).replace("/", "\\/"),
        quote,
        lambda secret: quote(secret, safe=""),
        lambda secret: quote(secret, safe="").lower(),
        quote_plus,
        repr,
    ],
    ids=["plain", "json", "json-utf8", "json-in-json", "slashes", "path", "query", "lower", "form", "python"],
)
def test_a_secret_is_blanked_in_every_form(form: Callable[[str], str]) -> None:
    text = Redactor([SECRET]).text(f"before {form(SECRET)} after")
    assert "[redacted]" in text
    assert len(text) <= len(f"before {form('[redacted]')} after"), text


@pytest.mark.parametrize("before", ["", "a", "ab"])
@pytest.mark.parametrize("code", [base64.b64encode, base64.urlsafe_b64encode])
def test_a_secret_in_base64_is_blanked_at_any_offset(code: Callable[[bytes], bytes], before: str) -> None:
    text = code(f"{before}{TOKEN}~?>{TOKEN}!".encode()).decode()
    assert len(Redactor([TOKEN]).text(text).replace("[redacted]", "")) < 16


def test_a_quotation_that_cuts_a_secret_leaves_no_half_of_it() -> None:
    body = ("x" * (QUOTED_CHARACTERS - 10) + TOKEN * 3).encode()
    quoted = messages.response(200, body).quote()
    assert "abcdef.g" in quoted
    assert "abcd" not in Redactor([TOKEN]).text(quoted)


def exchange(body: bytes | None, answer: bytes, **more: Any) -> Exchange:
    headers = {"Authorization": f"Bearer {TOKEN}", "X-Copy": TOKEN}
    given = {"operation": "saveDraft", "method": "PUT", "url": f"http://127.0.0.1/?t={TOKEN}", **more}
    answer_headers = {"set-cookie": f"id={TOKEN}", "x-echo": TOKEN}
    response = messages.response(200, answer, answer_headers, f"OK {TOKEN}")
    return messages.exchange(response, request_headers=headers, request_body=body, **given)


def written(made: Exchange) -> str:
    """What is written of an exchange that a session records."""
    events: list[Any] = []
    below: Any = SimpleNamespace(send=lambda _: made)
    record = Record(below, "main", Redactor([TOKEN]), lambda _, event: events.append(event))
    record.send(Request(None, "GET", "", {}))
    return json.dumps(plain(events[-1]))


@pytest.mark.parametrize(
    "body",
    [TOKEN.encode(), b"x" * (KEPT_BODY - 5) + TOKEN.encode(), b"x" * 2 * KEPT_BODY + TOKEN.encode()],
    ids=["whole", "astride-the-cut", "behind-the-cut"],
)
def test_no_part_of_an_exchange_holds_a_secret(body: bytes) -> None:
    text = written(exchange(body, body))
    assert TOKEN[:6] not in text
    assert ('"truncated": true' in text) is (len(body) > KEPT_BODY)


def test_a_short_token_is_blanked_where_it_is_given() -> None:
    redactor, answer = (
        Redactor(),
        json.dumps({"authenticationToken": "O_oUYFLMwT0", "kind": "Bearer"}).encode(),
    )
    learn_tokens(messages.exchange(messages.answer(answer), "createToken"), redactor)
    assert redactor.text(answer.decode()) == '{"authenticationToken": "[redacted]", "kind": "Bearer"}'


def test_a_secret_among_bytes_is_blanked() -> None:
    text = written(exchange(b"\xff" + TOKEN.encode(), b"\xfe" + TOKEN.encode()))
    body = json.loads(text)["response"]["body"]
    assert base64.b64decode(body["base64"]) == b"\xfe[redacted]"


def test_a_new_token_is_a_secret_from_its_first_appearance() -> None:
    answer = json.dumps({"data": {"token": "brand-new-token"}, "expiration": "2030-01-01T00:00:00.000Z"})
    text = written(exchange(None, answer.encode(), operation="createToken"))
    assert ("brand-new-token" in text, "2030-01-01" in text) == (False, True)


def test_a_secret_longer_than_any_header_is_blanked_in_parts() -> None:
    redactor = Redactor([LONG])
    assert set(redactor.text(f"a {LONG} b").split("[redacted]")) == {"a ", "", " b"}
    assert LONG[:5000] not in redactor.text(f"a {LONG[:5000]} b")
    assert (redactor.knows(LONG), redactor.begins(LONG[:20])) == (True, True)


#: The second goes over the wire in bytes outside ASCII.
LONG, ACUTE = "".join(f"{number:x}" for number in range(10_000)), "\u00e9" + "a" * 5000


@pytest.mark.parametrize(
    ("token", "sent", "told"),
    [
        *((LONG[:10_000], LONG[:length], f"$TOKEN[:{length}]") for length in (4_097, 4_999, 9_999)),
        (ACUTE, ACUTE.encode().decode("latin-1"), "$TOKEN"),
    ],
    ids=["first cut", "second cut", "third cut", "outside ASCII"],
)
def test_a_long_token_is_known_and_one_that_is_cut_short(token: str, sent: str, told: str) -> None:
    headers = Headers({"authorization": f"Bearer {sent}"})
    assert authorization_template(headers, Redactor([token])) == f"Bearer {told}"


@pytest.mark.parametrize("word", ["draft", "contact", "abs-dev", "true", "2013", "raf", "Document"])
def test_an_ordinary_word_is_blanked_where_it_is_a_secret_and_nowhere_else(word: str) -> None:
    redactor = Redactor([], {"author": word, "other": TOKEN})
    url = f"https://registry.test/api/v2013/documents/rc-abcdefghi/versions/draft?schema=contact&x={word}"
    body = f'{{"{word}": "{word}", "password": "{word}x", "email": "{TOKEN}"}}'.encode()
    told = messages.response(200, body, {"x-echo": word})
    header = {"Authorization": f"Bearer {word}"}
    saved = redacted(messages.exchange(told, request_headers=header, request_body=body, url=url), redactor)
    held = f'{{"{word}": "{word}", "password": "[redacted]x", "email": "[redacted]"}}'
    assert saved.response is not None
    assert (saved.url, saved.request_body.text, saved.response.body.text) == (url, held, held)
    assert saved.response.headers["x-echo"] == word
    assert (saved.request_headers["Authorization"], saved.authorization) == (
        "Bearer [redacted]",
        "Bearer $TOKEN",
    )
    assert redactor.text(f"answered 200, {word}…") == f"answered 200, {word}…"


@pytest.mark.parametrize(
    "body",
    ['{{"email": "a@b.test", "password": ["{0}"]}}', "password={0}", '{{"password": "{0}', "<p>{0}</p>"],
)
def test_a_sign_in_holds_no_password_that_is_an_ordinary_word(body: str) -> None:
    asked = messages.exchange(
        None, "createToken", {}, body.format("draft").encode(), url=SIGN_IN, method="POST"
    )
    kept = redacted(asked, Redactor([], {"author": "draft"}))
    assert "draft" not in kept.request_body.text
    assert REDACTED in kept.request_body.text


@pytest.mark.parametrize(
    "value",
    [
        *(f"Bearer {TOKEN}", f"bearer {TOKEN}", TOKEN, f"Bearer {TOKEN[:12]}", f"Bearer {TOKEN}Tail"),
        *(f"Bearer {TOKEN.swapcase()}", "Bearer rc-never-issued-0123456789", "Bearer", "Basic eDp5"),
        'odd "$(x)` \\ ' + TOKEN,
    ],
)
def test_the_shell_makes_of_a_line_what_was_sent_though_it_holds_no_token(value: str) -> None:
    sent = messages.exchange(None, request_headers={"Authorization": value})
    made = curl(redacted(sent, Redactor([TOKEN])))
    assert TOKEN[:12].lower() not in made.lower()
    done = subprocess.run(
        ["/bin/bash", "-c", made.replace("curl", "printf '%s\\n'", 1)],
        env={"TOKEN": TOKEN, "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"Authorization: {value}" in done.stdout.splitlines()
