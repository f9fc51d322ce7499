"""Odd answers, settings, addresses and files end `call` and the others in the documented code and a clear line."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from tests.meta.program import Ended, RunCommand, assert_safe
from tests.meta.sandbox_client import settings_of

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
