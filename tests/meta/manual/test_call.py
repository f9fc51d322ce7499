"""`call`: one request by hand, valid where nothing was asked for, judged, and cleaned up after."""

import json
from pathlib import Path
from typing import Any

import pytest

from registry_contracts.interface.description import load_description
from tests.meta.program import RunCommand
from tests.meta.sandbox_client import sandbox, settings_of

OPERATIONS = tuple(load_description().operations)


def data(command: RunCommand, *words: object, code: int = 0) -> dict[str, Any]:
    """Run a call with --json and return what it printed."""
    ended = command("call", *words, "--json")
    assert ended.code == code, ended
    content: dict[str, Any] = json.loads(ended.out)
    return content


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_operation_is_called_without_options(
    command: RunCommand, faithful: Path, operation: str
) -> None:
    content = data(command, operation, "--target", faithful)
    (call,) = content["calls"]
    assert call["response"]["status"] < 300
    assert (call["request_faults"], call["findings"], call["obstacles"]) == ([], [], [])
    assert "no-server-error" in call["held"]
    assert content["exit_code"] == 0


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
    left = [
        json.loads(path.read_text())["left"] for path in (tmp_path / "reports").glob("*-by-hand*/run.json")
    ]
    assert {*left} == {0}, "nothing of it is for a sweep"


def test_a_dry_run_sends_nothing(
    command: RunCommand, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in (
        ("BASE_URL", "http://127.0.0.1:9"),
        ("EMAIL", "a@b.test"),
        ("PASSWORD", "correct-horse"),
    ):
        monkeypatch.setenv(f"REGISTRY_{name}", value)
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
