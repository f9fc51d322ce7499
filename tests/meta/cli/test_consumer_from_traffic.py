"""A consumer file made from recorded traffic names the operations used, and what is none."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from contracts.cli.consumer import as_toml, command, usage_of
from contracts.errors import UsageError
from contracts.evidence.terms import read_consumer
from contracts.exchanges.har import read_har
from contracts.interface.catalogue import load_catalogue
from contracts.interface.description import load_description

BASE = "https://registry.example.test/some/prefix"
UID = "abcdefghijk"


def entry(method: str, url: str, **headers: str) -> dict[str, Any]:
    listed = [{"name": name, "value": value} for name, value in headers.items()]
    return {"request": {"method": method, "url": url, "headers": listed}}


def har(path: Path, *entries: Any) -> Path:
    path.write_text(json.dumps({"log": {"version": "1.2", "entries": list(entries)}}), encoding="utf-8")
    return path


def used(path: Path) -> Any:
    return usage_of(read_har(path, path.name), load_description())


@pytest.mark.parametrize(
    ("method", "url", "operation"),
    [
        ("POST", f"{BASE}/api/v2013/authentication/token", "createToken"),
        ("put", f"{BASE}/api/v2013/documents/{UID}/versions/draft?schema=contact", "saveDraft"),
        ("HEAD", f"http://127.0.0.1:8080/api/v2013/documents/{UID}/versions/draft", "draftExists"),
        ("GET", f"/api/v2013/documents/{UID}/versions/draft/info", "getDraftInfo"),
        ("GET", f"{BASE}/api/v2013/document-drafts/?$top=1#list", "listDrafts"),
        ("POST", f"{BASE}/api/v2013/documents/{UID}/attachments/a%2Fb%20%C3%A9.pdf", "createAttachment"),
        (
            "POST",
            f"{BASE}/api/v2013/documents/{UID}/attachments/persist-temporary/t1",
            "persistTemporaryFile",
        ),
        ("POST", f"{BASE}/api/v2023/documents/schemas/contact", "createWorkflowRecord"),
        ("POST", f"{BASE}/api/v2023/documents/schemas/contact/{UID}", "createWorkflowRecordWithIdentifier"),
        ("GET", f"{BASE}/api/%76%32013/document-drafts", "listDrafts"),
    ],
)
def test_a_request_is_matched_by_method_and_path(
    tmp_path: Path, method: str, url: str, operation: str
) -> None:
    assert used(har(tmp_path / "a.har", entry(method, url))).operations == {operation: 1}


def test_what_is_no_operation_is_named_and_counted(tmp_path: Path) -> None:
    found = used(
        har(
            tmp_path / "a.har",
            entry("GET", f"{BASE}/api/v2013/document-drafts", Realm="abs-dev"),
            entry("GET", f"{BASE}/api/v2013/document-drafts?Realm=abs"),
            entry("GET", f"{BASE}/api/v2013/thesaurus/terms?token=secret"),
            entry("GET", f"{BASE}/api/v2013/thesaurus/terms"),
            entry("PATCH", f"{BASE}/api/v2013/documents/{UID}"),
            entry("OPTIONS", f"{BASE}/api/v2013/document-drafts"),
            entry("GET", "https://cdn.example.test/app.js"),
            entry("GET", "data:text/plain,x"),
            entry("GET", "http://[broken/api/v2013"),
            {"request": None},
            None,
        )
    )
    assert found.operations == {"listDrafts": 2}
    assert found.unknown == {"GET /api/v2013/thesaurus/terms": 2, f"PATCH /api/v2013/documents/{UID}": 1}
    assert found.elsewhere == {"cdn.example.test": 1}
    assert (found.preflights, found.unreadable) == (1, 4)
    assert found.realms == {"abs-dev": 1, "abs": 1}


def test_the_file_made_is_a_consumer_file(tmp_path: Path) -> None:
    hostile = 'GET", ]\n[waivers]'
    recorded = har(
        tmp_path / "a.har",
        entry("GET", f"{BASE}/api/v2013/document-drafts", Realm="abs-dev"),
        entry(hostile, f"{BASE}/api/v2013/\u2028nothing"),
    )
    made = tmp_path / "sdk.toml"
    made.write_text(as_toml(used(recorded), 'a\n"b".har'), encoding="utf-8")
    read = read_consumer(made, "sdk.toml", load_catalogue(), load_description())
    assert (read.operations, read.waivers, read.realms) == (("listDrafts",), (), ())


WHOLE = json.dumps({"log": {"entries": [entry("GET", f"{BASE}/api/v2013/document-drafts")]}}, indent=1)


@pytest.mark.parametrize("cut", [len(WHOLE) // 4, len(WHOLE) // 2, len(WHOLE) - 1, WHOLE.index("GET") + 1])
def test_a_file_that_was_cut_short_says_so(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "a.har"
    path.write_text(WHOLE[:cut], encoding="utf-8")
    with pytest.raises(UsageError, match=r"^a.har: was cut short: it ends in the middle, at line \d+;"):
        read_har(path, "a.har")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"<html>", "a HAR is JSON"),
        (b"\x1f\x8b\x08\xff", "not UTF-8"),
        (b"[]", "it has no list log.entries"),
        (b'{"log": {"entries": {}}}', "it has no list log.entries"),
        (b'{"log": {"entries": []}}', "holds no request"),
        (b'{"log": oops}', "a.har:1: is no HAR: not JSON at column 9"),
        pytest.param(b'{"a":' * 100_000, "nests too deep", id="nested"),
    ],
)
def test_what_is_no_har_is_told_in_one_line(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "a.har"
    path.write_bytes(content)
    with pytest.raises(UsageError) as caught:
        read_har(path, "a.har")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def invoke(*words: str) -> Result:
    return CliRunner().invoke(command, ["from-har", *words])


def test_the_command_writes_the_file_once_and_names_the_rest(tmp_path: Path) -> None:
    recorded = har(
        tmp_path / "a.har",
        entry("GET", f"{BASE}/api/v2013/document-drafts"),
        entry("GET", f"{BASE}/api/v2013/nothing"),
    )
    made = tmp_path / "sdk.toml"
    ended = invoke(str(recorded), "-o", str(made))
    assert ended.exit_code == 0, ended.output
    assert "1 operation, used by 1 request" in ended.output
    assert "GET /api/v2013/nothing (1)" in ended.output
    assert '"listDrafts",' in made.read_text("utf-8")
    again = invoke(str(recorded), "-o", str(made))
    assert isinstance(again.exception, UsageError)
    assert "--force" in str(again.exception)
    assert invoke(str(recorded), "-o", str(made), "--force").exit_code == 0


def test_traffic_without_an_operation_is_refused(tmp_path: Path) -> None:
    ended = invoke(str(har(tmp_path / "a.har", entry("GET", f"{BASE}/api/v2013/nothing"))))
    assert isinstance(ended.exception, UsageError)
    assert "GET /api/v2013/nothing" in str(ended.exception)


def test_without_an_output_file_the_file_goes_to_the_standard_output(tmp_path: Path) -> None:
    ended = invoke(str(har(tmp_path / "a.har", entry("GET", f"{BASE}/api/v2013/document-drafts"))))
    assert ended.stdout.startswith("# What a.har uses of the interface.\noperations = [\n")
    assert "used by" not in ended.stdout
