"""`doctor`: says in one look whether a target can be judged, and sends reads only unless it is told otherwise."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.meta.program import RunCommand


def looked(command: RunCommand, *words: object, code: int = 0) -> dict[str, Any]:
    """Run `doctor --json` and return what it printed."""
    ended = command("doctor", *words, "--json")
    assert ended.code == code, ended
    content: dict[str, Any] = json.loads(ended.out)
    assert content["exit_code"] == code
    return content


def texts(content: dict[str, Any], subject: str) -> str:
    return "; ".join(each["text"] for each in content["diagnoses"] if each["subject"] == subject)


def test_a_faithful_target_is_ready_within_some_twenty_requests(command: RunCommand, faithful: Path) -> None:
    content = looked(command, "--target", faithful)
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
        (
            "restricted@sandbox.test",
            "sandbox-restricted",
            "may not write in abs-dev, bch-dev, chm-dev: saveDraft was answered 403",
        ),
        ("author@sandbox.test", "not-the-password", "check the variables"),
    ],
)
def test_an_account_that_cannot_be_used_is_wrong_settings_and_contradicts_nothing(
    command: RunCommand, faithful: Path, monkeypatch: pytest.MonkeyPatch, email: str, password: str, says: str
) -> None:
    monkeypatch.setenv("SANDBOX_AUTHOR_EMAIL", email)
    monkeypatch.setenv("SANDBOX_AUTHOR_PASSWORD", password)
    content = looked(command, "--target", faithful, "--write", code=4)
    assert says in texts(content, "author")
    assert content["left"] == []
    assert password not in json.dumps(content)
