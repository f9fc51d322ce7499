"""`registry-contracts check`: findings first, one verdict line last, a report beside, and no secret anywhere."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from registry_contracts.evidence.terms import read_consumer
from registry_contracts.exchanges.har import read_har
from registry_contracts.file_formats import convert
from registry_contracts.manual.check import CheckFile
from registry_contracts.manual.settings_writer import learn
from tests.meta.manual.sample_traffic import CONTACT, SITE, TOKEN, entry
from tests.meta.program import RunCommand

Archive = Callable[[Iterable[dict[str, Any]]], Path]
SECRET = "a-secret-of-ada"
CREATE = f"{SITE}/api/v2013/documents?schema=contact"


def signing_in() -> dict[str, Any]:
    sent = json.dumps({"email": "ada@registry.test", "password": SECRET})
    answer = json.dumps({"authenticationToken": TOKEN, "expiration": "2026-11-21T13:00:00.000Z"})
    url = f"{SITE}/api/v2013/authentication/token?api_key=key-of-ada-0123456789"
    return entry("POST", url, 200, answer, sent=sent)


def creation(*, without: str | None = None, status: int = 201) -> dict[str, Any]:
    body = {name: value for name, value in CONTACT.items() if name != without}
    answer = json.dumps({"identifier": "an-identifier", "told": f"{TOKEN} {SECRET}"})
    return entry("POST", CREATE, status, answer, sent=json.dumps(body), at=1)


LISTED = entry("GET", f"{SITE}/api/v2013/document-drafts", 200, "[]")
KEPT = "verdict: pass (0): 1 request of 1 operation keeps the interface, on both sides"


@pytest.mark.parametrize(
    ("recorded", "code", "first", "also", "last"),
    [
        (LISTED, 0, "no findings", "never ", KEPT),
        (
            creation(without="firstName"),
            1,
            "the service breaks the interface:",
            "body.firstName:missing",
            "verdict: fail (1): the service breaks the interface",
        ),
        (
            entry("GET", "http://elsewhere.test/page", 200),
            5,
            "no findings",
            "elsewhere    1 exchange: elsewhere.test (1)",
            "verdict: nothing tested (5)",
        ),
    ],
    ids=["clean", "broken", "elsewhere"],
)
def test_findings_come_first_and_the_verdict_last(
    run_command: RunCommand, archive: Archive, recorded: Any, code: int, first: str, also: str, last: str
) -> None:
    ended = run_command("check", archive([recorded]))
    lines = ended.out.splitlines()
    assert (ended.code, lines[0]) == (code, first)
    assert also in ended.out
    assert lines[-1].startswith(last)


def test_the_report_holds_to_its_schema_and_no_secret(
    run_command: RunCommand, archive: Archive, tmp_path: Path
) -> None:
    ended = run_command("check", archive([signing_in(), creation(without="firstName")]), "--json")
    content = json.loads(ended.out)
    convert(content, CheckFile, "check.json")
    assert content["breaks"] == {"client": 1, "service": 2}
    folder = next((tmp_path / "reports").iterdir())
    written = [path.read_text("utf-8") for path in folder.iterdir()]
    assert sorted(path.name for path in folder.iterdir()) == ["check.json"]
    for secret in (TOKEN, SECRET, "key-of-ada"):
        assert not any(secret in text for text in (ended.out, ended.err, *written)), secret


BASE = f"{SITE}/some/prefix/api/v2013"
#: The same five requests, as clients write them: a closing slash, letters percent-encoded, a prefix like the root.
FIVE = [
    entry("GET", f"{BASE}/document-drafts", 200, "[]"),
    entry("GET", f"{BASE}/document-drafts/?$top=1#list", 404),
    entry("GET", f"{SITE}/api/%76%32013/document-drafts", 200, "[]"),
    entry("GET", f"{SITE}/api/v1-gateway/api/v2013/document-drafts", 200, "[]"),
    entry("HEAD", f"{BASE}/documents/abcdefghijk/versions/draft", 404),
]


def test_every_reader_of_recordings_counts_the_same_requests(
    run_command: RunCommand, archive: Archive
) -> None:
    recorded = archive(FIVE)
    ended = run_command("check", recorded, "--consumer-out", "sdk.toml", "--json")
    content = json.loads(ended.out)
    assert content["exchanges"]["of_the_interface"] == 5
    assert {name: times for name, times in content["operations"].items() if times} == {
        "listDrafts": 4,
        "draftExists": 1,
    }
    assert "sdk.toml: 2 operations, used by 5 requests" in ended.err
    read = read_consumer(Path("sdk.toml"), "sdk.toml")
    assert read.operations == ("draftExists", "listDrafts")
    learned = learn(read_har(recorded, "x"))
    assert learned.requests == 5


def test_a_consumer_file_replaces_none_and_is_not_made_of_nothing(
    run_command: RunCommand, archive: Archive
) -> None:
    nothing = archive([entry("GET", f"{BASE}/thesaurus/terms?token=secret", 200, "[]")])
    ended = run_command("check", nothing, "--consumer-out", "sdk.toml")
    assert (ended.code, ended.err) == (5, "sdk.toml: not written, as nothing is used\n")
    assert not Path("sdk.toml").exists()
    Path("sdk.toml").write_text("", "utf-8")
    refused = run_command("check", archive(FIVE), "--consumer-out", "sdk.toml")
    assert (refused.code, "'sdk.toml' is there already" in refused.err) == (4, True)
    for words in (("missing.har",), (nothing, "--target", "nowhere")):
        wrong = run_command("check", *words)
        assert (wrong.code, wrong.err.count("\n")) == (4, 1)
