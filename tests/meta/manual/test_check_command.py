"""`registry-contracts check`: findings first, one verdict line last, a report beside, and no secret anywhere."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from contracts.file_formats import convert
from contracts.manual.check import CheckFile
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


def test_a_clean_archive_passes(run_command: RunCommand, archive: Archive) -> None:
    ended = run_command("check", archive([entry("GET", f"{SITE}/api/v2013/document-drafts", 200, "[]")]))
    lines = ended.out.splitlines()
    assert (ended.code, lines[0]) == (0, "no findings")
    assert lines[-1] == (
        "verdict: pass (0): 1 request of 1 operation keeps the interface, on both sides "
        "(target: every address in the recording)"
    )
    assert any(line.startswith("never ") and "createToken" in line for line in lines)


def test_a_finding_comes_first_and_decides(run_command: RunCommand, archive: Archive) -> None:
    ended = run_command("check", archive([creation(without="firstName")]))
    assert ended.code == 1
    assert ended.out.splitlines()[0] == "the service breaks the interface:"
    assert "body.firstName:missing" in ended.out
    assert ended.out.splitlines()[-1].startswith("verdict: fail (1): the service breaks the interface")


def test_the_report_holds_to_its_schema_and_no_secret(
    run_command: RunCommand, archive: Archive, tmp_path: Path
) -> None:
    ended = run_command("check", archive([signing_in(), creation(without="firstName")]), "--json")
    content = json.loads(ended.out)
    convert(content, CheckFile, "check.json")
    assert content["breaks"] == {"client": 1, "service": 2}
    folder = next((tmp_path / "reports").iterdir())
    written = [path.read_text("utf-8") for path in folder.iterdir()]
    assert sorted(path.name for path in folder.iterdir()) == ["check.json", "index.html"]
    for secret in (TOKEN, SECRET, "key-of-ada"):
        assert not any(secret in text for text in (ended.out, ended.err, *written)), secret


def test_the_page_asks_nothing_of_the_network_and_escapes(
    run_command: RunCommand, archive: Archive, tmp_path: Path
) -> None:
    odd = creation(without="firstName")
    odd["response"]["content"]["text"] = '{"identifier": "<script>alert(1)</script>"}'
    run_command("check", archive([odd]))
    page = (next((tmp_path / "reports").iterdir()) / "index.html").read_text("utf-8")
    assert "<script>alert(1)" not in page
    assert "src=" not in page.replace("script-src", "").replace("img-src", "").replace("style-src", "")
    assert "default-src &#39;none&#39;" in page or "default-src 'none'" in page
    assert "never exercised" in page


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("missing.har",), "no HAR file 'missing.har'"),
        (("traffic.har", "--realm", "abs-devv"), "did you mean 'abs-dev'?"),
        (("traffic.har", "--base-url", "registry"), "--base-url is not an http or https address"),
        (("traffic.har", "--target", "nowhere"), "no target 'nowhere'"),
    ],
)
def test_a_wrong_word_is_one_clear_line(
    run_command: RunCommand, archive: Archive, words: tuple[str, ...], says: str
) -> None:
    archive([creation()])
    ended = run_command("check", *words)
    assert ended.code == 4
    assert says in ended.err
    assert ended.err.count("\n") == 1


def test_an_archive_without_the_interface_says_that_nothing_was_tested(
    run_command: RunCommand, archive: Archive
) -> None:
    ended = run_command("check", archive([entry("GET", "http://elsewhere.test/page", 200)]))
    assert ended.code == 5
    assert "elsewhere    1 exchange: elsewhere.test (1)" in ended.out
