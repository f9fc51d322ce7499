"""`call`: one request by hand, judged, and cleaned up after; `doctor`: whether a target can be judged.

Odd answers, settings, addresses and files end these and others in the documented code and a clear line.
"""

import json
import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from registry_contracts.interface.description import load_description
from tests.meta.manual.conftest import printed
from tests.meta.program import Ended, RunCommand, assert_safe
from tests.meta.sandbox_client import sandbox, settings_of

data = partial(printed, "call")


@pytest.mark.parametrize("operation", load_description().operations)
def test_operations_are_called_without_options(command: RunCommand, faithful: Path, operation: str) -> None:
    (call,) = data(command, operation, "--target", faithful)["calls"]
    assert call["response"]["status"] < 300
    assert (call["request_faults"], call["findings"], call["obstacles"]) == ([], [], [])
    assert "no-server-error" in call["held"]


def test_a_fault_is_put_in_and_its_clause_judged(command: RunCommand, faithful: Path, tmp_path: Path) -> None:
    words = ("saveDraft", "--invalid", "path.uid:too-short", "--target")
    (held,) = data(command, *words, faithful)["calls"]
    assert "uid-too-short" in held["held"]
    with sandbox("--fault", "uid-accepts-ten") as url:
        (call,) = data(command, *words, settings_of(url, tmp_path), code=1)["calls"]
    (finding,) = call["findings"]
    assert (finding["clause"], finding["level"]) == ("uid-too-short", "must")
    assert call["response"]["status"] == 201


def test_parts_are_set(command: RunCommand, faithful: Path) -> None:
    (call,) = data(
        command, "saveDraft", "--target", faithful, "--realm", "bch-dev",
        "--set", "path.uid={prefix}-by-hand", "--set", "body.organization.en=Seeds",
        "--set", 'body.phones:=["+1", "+2"]', "--set", "body.emails.1=b@example.test", "--set", "header.X-Note=yes"
    )["calls"]  # fmt: skip
    body = json.loads(call["request"]["body"]["text"])
    headers = dict(call["request"]["headers"])
    assert call["request"]["url"].partition("?")[0].endswith("-by-hand/versions/draft")
    assert (body["organization"]["en"], body["phones"]) == ("Seeds", ["+1", "+2"])
    assert body["emails"][1] == "b@example.test"
    assert (headers["Realm"], headers["X-Note"]) == ("bch-dev", "yes")


def test_drafts_are_deleted_unless_they_are_kept(command: RunCommand, faithful: Path, tmp_path: Path) -> None:
    assert "left:" not in command("call", "saveDraft", "--target", faithful).err
    kept = data(command, "saveDraft", "--target", faithful, "--keep-drafts")
    path = kept["calls"][0]["request"]["url"].partition("/documents/")[2].partition("/")[0]
    assert kept["left"] == [{"what": "draft", "identifier": path, "realm": "abs-dev"}]
    (there,) = data(command, "getDraft", "--set", f"path.uid={path}", "--target", faithful)["calls"]
    assert there["response"]["status"] == 200
    assert "left for good: contact rc-" in command("call", "createContact", "--target", faithful).err
    runs = (tmp_path / "reports").glob("*-by-hand*/run.json")
    assert {json.loads(path.read_text())["left"] for path in runs} == {0}, "nothing of it is for a sweep"


def test_a_dry_run_sends_nothing(
    command: RunCommand, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("REGISTRY_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("REGISTRY_EMAIL", "a@b.test")
    monkeypatch.setenv("REGISTRY_PASSWORD", "correct-horse")
    ended = command("call", "createToken", "--dry-run")
    assert (ended.code, "not sent: a dry run" in ended.out) == (0, True)
    assert "correct-horse" not in ended.out
    assert list(tmp_path.glob("reports/*")) == []


def test_secrets_are_never_shown(command: RunCommand, faithful: Path) -> None:
    signed_in = command("call", "createToken", "--target", faithful)
    assert "sandbox-author" not in signed_in.out + signed_in.err
    assert '"authenticationToken": "[redacted]"' in signed_in.out
    listed = command("call", "listDrafts", "--target", faithful)
    assert "Authorization: Bearer [redacted]" in listed.out
    assert "Authorization: Bearer $TOKEN" in listed.out


MAY_NOT = "may not write in abs-dev, bch-dev, chm-dev: saveDraft was answered 403"


def texts(content: dict[str, Any], subject: str) -> str:
    return "; ".join(each["text"] for each in content["diagnoses"] if each["subject"] == subject)


def test_a_faithful_target_is_ready_within_some_twenty_requests(command: RunCommand, faithful: Path) -> None:
    content = printed("doctor", command, "--target", faithful)
    assert content["requests"] <= 24
    assert {each["state"] for each in content["diagnoses"]} <= {"ok", "unknown"}
    assert "signs in" in texts(content, "author")
    counts, ((reason, without),) = content["must_clauses"], content["costs"]["gate"]["untested"].items()
    assert "attachments.size_limit_bytes" in reason
    assert counts["judged"] + len(without) == counts["all"] > 100
    assert content["left"] == []
    assert 1_000 < content["costs"]["gate"]["requests"] <= 6_100


@pytest.mark.parametrize(
    ("email", "password", "says"),
    [
        ("restricted@sandbox.test", "sandbox-restricted", MAY_NOT),
        ("author@sandbox.test", "not-the-password", "check the variables"),
    ],
)
def test_an_account_that_cannot_be_used_is_wrong_settings_and_contradicts_nothing(
    command: RunCommand, faithful: Path, monkeypatch: pytest.MonkeyPatch, email: str, password: str, says: str
) -> None:
    monkeypatch.setenv("SANDBOX_AUTHOR_EMAIL", email)
    monkeypatch.setenv("SANDBOX_AUTHOR_PASSWORD", password)
    content = printed("doctor", command, "--target", faithful, "--write", code=4)
    assert says in texts(content, "author")
    assert content["left"] == []
    assert password not in json.dumps(content)


SIGNED_IN = {"authenticationToken": "token-of-the-service", "expiration": "2999-01-01T00:00:00.0Z"}


def honest(ended: Ended, *codes: int) -> Ended:
    """The command ended with one of some codes, in a line where it complains, and shows nothing unsafe."""
    assert ended.code in codes, ended
    assert ended.err.count("\n") <= 1
    assert "Traceback" not in ended.output
    assert_safe(ended)
    return ended


def _terabyte(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


SPECIAL: dict[str, Callable[[Path], Any]] = {
    "pipe": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "link to itself": lambda path: path.symlink_to(path.name),
    "folder": Path.mkdir,
    "terabyte": _terabyte,
    "deep": lambda path: path.write_text("[" * 100_000 + "]" * 100_000),
}


@pytest.mark.parametrize("kind", SPECIAL)
def test_a_special_file_is_refused_before_any_request(command: RunCommand, tmp_path: Path, kind: str) -> None:
    for words in (
        "check x.har",
        "init x --from-har x.har",
        "drift --baseline x.yaml",
        "doctor --target x.toml",
        "gate --base-url http://127.0.0.1:9 --consumer x.toml",
        "run --base-url http://127.0.0.1:9 --deviations x.toml",
        "call createContact --base-url http://127.0.0.1:9 --dry-run --body @x.json",
    ):
        path = tmp_path / words.split()[-1].removeprefix("@")
        SPECIAL[kind](path)
        honest(command(*words.split()), 4)
        path.rmdir() if path.is_dir() else path.unlink()


@pytest.mark.parametrize("token", ["", "keep", "colleague", "../x", 7])
def test_a_crafted_run_folder_has_nobody_elses_records_swept(
    command: RunCommand, httpserver: HTTPServer, tmp_path: Path, token: Any
) -> None:
    url = httpserver.url_for("").rstrip("/")
    httpserver.expect_request(re.compile(".*/token")).respond_with_json(SIGNED_IN)
    httpserver.expect_request(re.compile(".*")).respond_with_json([])
    run = tmp_path / "reports" / "20200101-000000-x"
    run.mkdir(parents=True)
    moment = "2020-01-01T00:00:00+00:00"
    facts = {"base_url": url, "token": token, "started": moment, "finished": None}
    (run / "run.json").write_text(json.dumps(facts))
    entry = {"number": 1, "operation": "saveDraft", "what": "draft", "realm": "abs-dev", "role": "author"}
    entry |= {"identifier": "rc-colleague-record-1", "state": "created", "at": moment, "by": "main"}
    (run / "ledger.jsonl").write_text(json.dumps(entry) + "\n")
    honest(command("sweep", "--target", settings_of(url, tmp_path)), 0, 6)
    assert not [asked for asked, _ in httpserver.log if asked.method not in ("GET", "HEAD", "POST")]
