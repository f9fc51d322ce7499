"""`registry-contracts check`: findings first, one verdict line last, a report beside, and no secret anywhere."""

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from registry_contracts.evidence.terms import read_consumer
from registry_contracts.exchanges.exchange import Exchange, exchange_entry
from registry_contracts.exchanges.redaction import redacted
from registry_contracts.file_formats import convert, plain
from registry_contracts.traffic.judge import Judge
from registry_contracts.traffic.redaction import NOT_UNDERSTOOD, TrafficRedactor
from registry_contracts.traffic.report import CheckFile
from tests.meta import messages
from tests.meta.program import RunCommand
from tests.meta.traffic.sample_traffic import CONTACT, SITE, TOKEN, entry

Archive = Callable[[Iterable[dict[str, Any]]], Path]
SECRET = "a-secret-of-ada"
LISTED = entry("GET", f"{SITE}/api/v2013/document-drafts", 200, "[]")
TOLD = json.dumps({"identifier": "an-identifier", "told": f"{TOKEN} {SECRET}"})
WITHOUT = json.dumps({name: value for name, value in CONTACT.items() if name != "firstName"})
NAMELESS = entry("POST", f"{SITE}/api/v2013/documents?schema=contact", 201, TOLD, sent=WITHOUT, at=1)
OTHER = entry("GET", "http://elsewhere.test/page", 200)
KEPT = r"verdict: pass \(0\): 1 request of 1 operation keeps the interface, on both sides"


@pytest.mark.parametrize(
    ("recorded", "code", "says"),
    [
        (LISTED, 0, r"no findings\n.*never .*\n" + KEPT),
        (NAMELESS, 1, r"the service breaks the interface:\n.*body\.firstName:missing.*\nverdict: fail \(1\)"),
        (
            OTHER,
            5,
            r"no findings\n.*elsewhere    1 exchange: elsewhere.test \(1\).*\nverdict: nothing tested",
        ),
    ],
)
def test_findings_come_first_and_the_verdict_last(
    run_command: RunCommand, archive: Archive, recorded: Any, code: int, says: str
) -> None:
    ended = run_command("check", archive([recorded]))
    assert ended.code == code
    assert re.fullmatch(rf"{says}[^\n]*\n", ended.out, re.DOTALL), ended.out


def test_the_report_holds_no_secret(run_command: RunCommand, archive: Archive, tmp_path: Path) -> None:
    sent = json.dumps({"email": "ada@registry.test", "password": SECRET})
    answer = json.dumps({"authenticationToken": TOKEN, "expiration": "2026-11-21T13:00:00.000Z"})
    url = f"{SITE}/api/v2013/authentication/token?api_key=key-of-ada-0123456789"
    signing_in = entry("POST", url, 200, answer, sent=sent)
    ended = run_command("check", archive([signing_in, NAMELESS]), "--json")
    content = json.loads(ended.out)
    convert(content, CheckFile, "check.json")
    assert content["breaks"] == {"client": 1, "service": 2}
    folder = next((tmp_path / "reports").iterdir())
    written = [path.read_text("utf-8") for path in folder.iterdir()]
    assert sorted(path.name for path in folder.iterdir()) == ["check.json"]
    for secret in (TOKEN, SECRET, "key-of-ada"):
        assert not any(secret in text for text in (ended.out, ended.err, *written)), secret


def test_a_check_that_breaks_costs_one_exchange_and_is_told(
    run_command: RunCommand, archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Judge._judged

    def breaks(judge: Judge, exchange: Exchange, *more: Any) -> Any:
        if exchange.number == 2:
            raise LookupError(f"nobody knows {TOKEN}")
        return whole(judge, exchange, *more)

    monkeypatch.setattr(Judge, "_judged", breaks)
    ended = run_command("check", archive([LISTED] * 3), "--json")
    content = json.loads(ended.out)
    assert (ended.code, content["operations"]["listDrafts"]) == (3, 2)
    assert content["notes"] == ["the suite broke on exchange 2: LookupError: nobody knows [redacted]"]


USED = [
    entry("GET", f"{SITE}/some/prefix/api/v2013/document-drafts/?$top=1#list", 404),
    entry("GET", f"{SITE}/api/%76%32013/document-drafts", 200, "[]"),
    entry("HEAD", f"{SITE}/api/v2013/documents/abcdefghijk/versions/draft", 404),
    entry("GET", f"{SITE}/api/v2013/unheard-of", 404),
    entry("PATCH", f"{SITE}/api/v2013/documents/abcdefghijk", 404),
    *(entry("GET", url) for url in ("data:text/plain,x", "http://[broken/api/v2013/document-drafts")),
]


def test_a_consumer_file_is_written_and_replaces_none(run_command: RunCommand, archive: Archive) -> None:
    nothing = run_command("check", archive([entry("GET", f"{SITE}/style.css")]), "--consumer-out", "sdk.toml")
    assert (nothing.code, nothing.err) == (5, "sdk.toml: not written: no operation was used\n")
    ended = run_command("check", archive(USED), "--consumer-out", "sdk.toml", "--json")
    used = {name: times for name, times in json.loads(ended.out)["operations"].items() if times}
    assert used == {"listDrafts": 2, "draftExists": 1}
    assert "sdk.toml: 2 operations, used by 3 requests" in ended.err
    assert read_consumer(Path("sdk.toml"), "sdk.toml").operations == ("draftExists", "listDrafts")
    refused = run_command("check", archive(USED), "--consumer-out", "sdk.toml")
    assert (refused.code, "'sdk.toml' already exists" in refused.err) == (4, True)


SIGN_IN = "https://registry.test/api/v2013/authentication/token"
PASSWORD = "hunter2-correct-horse"


@pytest.mark.parametrize(
    "body",
    [
        f"{{'email': 'a@b.test', 'password': '{PASSWORD}'}}",
        f'{{"email": "a@b.test", "password": "{PASSWORD}',
        json.dumps(json.dumps({"email": "a@b.test", "password": PASSWORD})),
        json.dumps(["a@b.test", PASSWORD]),
        json.dumps({"email": "a@b.test", "password": [PASSWORD]}),
        json.dumps({"email": "a@b.test", "pass": PASSWORD}),
        f"<password>{PASSWORD}</password>",
    ],
    ids=["single quotes", "unterminated", "packed twice", "array", "nested", "other name", "xml"],
)
def test_of_a_sign_in_that_is_not_understood_no_word_is_kept(body: str) -> None:
    redactor = TrafficRedactor()
    refused = messages.exchange(
        messages.response(200, f"what is {body}?".encode()),
        request_body=body.encode(),
        url=SIGN_IN,
        method="POST",
    )
    redactor.learn_from(refused)
    kept = json.dumps(plain(exchange_entry(redacted(refused, redactor))))
    assert PASSWORD not in kept
    assert NOT_UNDERSTOOD in kept


@pytest.mark.parametrize("secret", [r"horse\u0041-battery", r"\\u0041\\u0042", "horse"])
@pytest.mark.parametrize("name", ["password", r"p\u0061ssword"])
def test_the_secret_of_a_member_is_read_as_json_reads_it(secret: str, name: str) -> None:
    redactor = TrafficRedactor()
    body = f'{{"{name}": {json.dumps(secret)}}}'.encode()
    redactor.learn_from(messages.exchange(request_body=body))
    assert redactor.knows(secret)


def test_no_length_tells_that_of_a_password() -> None:
    body = json.dumps({"email": "a@b.test", "password": PASSWORD}).encode()
    length = {"Content-Length": str(len(body)), "Accept": "application/json"}
    parts: dict[str, Any] = {"request_headers": length, "url": SIGN_IN, "method": "POST"}
    sent = messages.exchange(messages.response(200, b"{}"), request_body=body, **parts)
    redactor = TrafficRedactor()
    redactor.learn_from(sent)
    assert dict(redacted(sent, redactor).request_headers) == {"Accept": "application/json"}
