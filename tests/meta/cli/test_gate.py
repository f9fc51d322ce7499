"""Gates from an empty folder against the sandbox: one line, one exit code, and the same requests every time."""

import json
import re
from pathlib import Path
from urllib.parse import unquote

from tests.meta.program import Program
from tests.meta.samples import CONSUMER

FAULT = "--sandbox-arguments=--fault createAttachment:refused-400@all_bytes"
ON_SANDBOX = ("--target", "sandbox")
GENERATED = """\
operations = ["saveDraft", "getDraft"]
realms = ["abs-dev", "bch-dev"]
clauses = ["draft-text-kept"]
"""
DEVIATION = """\
[[deviation]]
clause = "attachment-create-accepted"
realms = ["abs-dev"]
reason = "Texts only, for now."
owner = "files team"
issue = "https://tracker.example.test/17"
expires = 2999-12-31
"""


def test_a_kept_run_answers_as_its_gate_did_and_deviations_count(program: Program) -> None:
    (program.folder / "sdk.toml").write_text(CONSUMER, encoding="utf-8")
    gate = ("gate", *ON_SANDBOX, "--consumer", "sdk.toml")
    made = program(*gate, FAULT)
    before = {*program.folder.rglob("*")}
    kept = program(*gate, "--from", "reports")
    assert (kept.code, kept.last) == (made.code, made.last)
    assert made.last == (
        "gate: fail: 1 finding in abs-dev: attachment-create-accepted (createAttachment); "
        "affects client.attachments.upload (exit code 1, target: the embedded sandbox)"
    )
    assert {*program.folder.rglob("*")} == before
    (program.folder / "deviations").mkdir()
    (program.folder / "deviations" / "sandbox.toml").write_text(DEVIATION, encoding="utf-8")
    accepted = program(*gate, "--from", "reports")
    assert (accepted.code, "1 accepted deviation" in accepted.last) == (0, True), accepted.out
    over = program(*gate)
    assert over.code == 1, over.out
    assert over.last == (
        "gate: fail: deviations/sandbox.toml:1: the deviation on attachment-create-accepted no longer happens "
        "in abs-dev: remove the entry (exit code 1, target: the embedded sandbox)"
    )


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
