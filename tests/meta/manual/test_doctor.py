"""`doctor`: says in one look whether a target can be judged, and sends reads only unless it is told otherwise."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.meta.http_answers import JSON, SIGNED_IN, answer
from tests.meta.program import RunCommand
from tests.meta.wire import Request, Serve


def plain(request: Request, _: object) -> bytes:
    """Answer as a service that has nothing."""
    return SIGNED_IN if request.method == "POST" else answer("200 OK", JSON, body=b"[]")


def in_capitals(request: Request, _: object) -> bytes:
    """Answer as a service that knows its realms in capitals only."""
    known = request.method == "POST" or request.headers["realm"].isupper()
    return plain(request, _) if known else answer("404 No", JSON)


def aim(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    """Set the three variables of a target, with the sandbox's author."""
    values = {"BASE_URL": address, "EMAIL": "author@sandbox.test", "PASSWORD": "sandbox-author"}
    for name, value in values.items():
        monkeypatch.setenv(f"REGISTRY_{name}", value)


def looked(command: RunCommand, *words: object, code: int = 0) -> dict[str, Any]:
    """Run `doctor --json` and return what it printed."""
    ended = command("doctor", *words, "--json")
    assert ended.code == code, ended
    content: dict[str, Any] = json.loads(ended.out)
    assert content["exit_code"] == code
    return content


def texts(content: dict[str, Any], subject: str) -> str:
    return "; ".join(each["text"] for each in content["diagnoses"] if each["subject"] == subject)


def test_a_faithful_target_is_ready_within_forty_requests(command: RunCommand, faithful: Path) -> None:
    content = looked(command, "--target", faithful)
    assert content["requests"] <= 40
    assert {each["state"] for each in content["diagnoses"]} <= {"ok", "unknown"}
    assert "signs in" in texts(content, "author")
    (unlock,) = content["unlocks"]
    assert unlock["setting"] == "attachments.size_limit_bytes"
    counts = content["must_clauses"]
    without = content["costs"]["gate"]["without_a_setting"]
    assert counts["judged"] + len(without) == counts["all"] > 100
    assert content["left"] == []
    assert 1_000 < content["costs"]["gate"]["requests"] <= 6_100


def test_writing_leaves_no_draft_and_permanent_records_are_announced(
    command: RunCommand, faithful: Path
) -> None:
    ended = command("doctor", "--target", faithful, "--write", "--permanent", "--json")
    content = json.loads(ended.out)
    assert ended.code == 0
    assert "for good: a contact and a submission in each of abs-dev" in ended.err
    assert "deleteDraft 204" in texts(content, "chm-dev")
    assert "createWorkflowRecord 201" in texts(content, "ort-dev")
    assert {each["what"] for each in content["left"]} == {"attachment", "contact", "submission"}


def test_an_author_without_rights_is_wrong_settings_and_contradicts_nothing(
    command: RunCommand, faithful: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SANDBOX_AUTHOR_EMAIL", "restricted@sandbox.test")
    monkeypatch.setenv("SANDBOX_AUTHOR_PASSWORD", "sandbox-restricted")
    content = looked(command, "--target", faithful, "--write", code=4)
    assert "may not write in chm-dev: saveDraft was answered 403" in texts(content, "author")
    assert "saveDraft in chm-dev" in {each["subject"] for each in content["diagnoses"]}
    assert "contradicts" not in json.dumps(content["diagnoses"])


def test_a_wrong_password_is_wrong_settings(
    command: RunCommand, faithful: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SANDBOX_AUTHOR_PASSWORD", "not-the-password")
    content = looked(command, "--target", faithful, code=4)
    assert "check the variables" in texts(content, "author")
    assert "not-the-password" not in json.dumps(content)


def test_a_contradiction_that_reading_shows_is_named(command: RunCommand, broken: Path) -> None:
    content = looked(command, "--target", broken)
    assert "contradicts list-top" in texts(content, "listDrafts in abs-dev")


def test_init_writes_the_spelling_that_alone_is_known(
    command: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, serve: Serve
) -> None:
    aim(monkeypatch, serve(in_capitals).url)
    ended = command("init", "dev")
    assert ended.code == 0, ended
    assert "chm-dev is known as 'CHM-DEV' alone: written as its sent_as" in ended.out
    assert "ort-dev cannot be read: give it sent_as, too" in ended.out
    text = (tmp_path / "targets" / "dev.toml").read_text("utf-8")
    assert text.count("\nsent_as = ") == 3
