"""Gates from an empty folder against the sandbox: one line, one exit code, and the same requests every time."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.meta.program import Program

FAULT = "--sandbox-arguments=--fault attachment-text-only"
ON_SANDBOX = ("--target", "sandbox")
UPLOADS = """\
realms = ["abs-dev"]
clauses = ["attachment-create-accepted"]
[methods]
"client.attachments.upload" = ["createAttachment"]
"""
TEXTS = """\
operations = ["saveDraft", "getDraft"]
realms = ["abs-dev"]
clauses = ["draft-text-kept"]
"""
GENERATED = TEXTS.replace('"abs-dev"', '"abs-dev", "bch-dev"')
DEVIATION = """\
[[deviation]]
clause = "attachment-create-accepted"
realms = ["abs-dev"]
reason = "Texts only, for now."
owner = "files team"
issue = "https://tracker.example.test/17"
expires = 2999-12-31
"""


@pytest.fixture
def uploads(program: Program) -> Program:
    (program.folder / "sdk.toml").write_text(UPLOADS, encoding="utf-8")
    return program


def test_a_kept_run_answers_as_its_gate_did_and_deviations_count(
    uploads: Program,
) -> None:
    gate = ("gate", *ON_SANDBOX, "--consumer", "sdk.toml")
    made = uploads(*gate, FAULT)
    before = list(files(uploads.folder))
    kept = uploads(*gate, "--from", "reports")
    assert (kept.code, kept.last) == (made.code, made.last)
    assert made.last == (
        "gate: fail: 1 finding in abs-dev: attachment-create-accepted (createAttachment); "
        "affects client.attachments.upload (exit code 1, target: the embedded sandbox)"
    )
    assert list(files(uploads.folder)) == before
    (uploads.folder / "deviations").mkdir()
    (uploads.folder / "deviations" / "sandbox.toml").write_text(DEVIATION, encoding="utf-8")
    accepted = uploads(*gate, "--from", "reports")
    assert (accepted.code, "1 accepted deviation" in accepted.last) == (0, True), accepted.out
    over = uploads(*gate)
    assert over.code == 1, over.out
    assert over.last == (
        "gate: fail: deviations/sandbox.toml:1: the deviation on attachment-create-accepted no longer happens "
        "in abs-dev: take the entry out (exit code 1, target: the embedded sandbox)"
    )


def files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


def test_two_gates_send_the_same_requests(program: Program) -> None:
    (program.folder / "sdk.toml").write_text(GENERATED, encoding="utf-8")
    for reports in ("one", "two"):
        ended = program("gate", *ON_SANDBOX, "--consumer", "sdk.toml", "--reports", reports)
        assert ended.code == 0, ended.out
    one, two = (requests(program.folder / reports) for reports in ("one", "two"))
    assert one == two
    assert any('"PUT"' in each for each in one), "texts are drawn, and saved"


def requests(reports: Path) -> list[str]:
    """The requests of the only run, without what two runs must differ in.

    That is the run's token, the sandbox's port, and identifiers of digits, in which no token can stand.
    """
    folder = (reports / "latest").resolve()
    token = folder.name.rpartition("-")[2]
    sent = []
    for line in (folder / "journal-main.jsonl").read_text("utf-8").splitlines():
        event = json.loads(line)
        if event["kind"] == "exchange":
            asked = event["request"]
            body = asked["body"] or {}
            content = body.get("text") or body.get("base64")
            place = re.sub(r"^http://127\.0\.0\.1:\d+", "", unquote(asked["url"]))
            text = json.dumps([event["case"], asked["method"], place, content])
            sent.append(re.sub(r"\d{30}", "DIGITS", text.replace(f"rc-{token}", "rc-TOKEN")))
    return sent
