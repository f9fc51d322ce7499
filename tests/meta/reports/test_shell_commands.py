"""What a finding gives to paste: its requests in their order, with what answers make up."""

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.evidence.causes import Cause
from contracts.evidence.findings import Finding, Reproduce, merge_findings
from contracts.evidence.terms import Terms
from contracts.exchanges.exchange import Body, Exchange, Headers
from contracts.exchanges.redaction import REDACTED, Redactor, redacted
from contracts.exchanges.transcript import curl
from contracts.reports.shell_commands import next_commands, script
from tests.meta.evidence import sample_records
from tests.meta.evidence.sample_records import run_facts
from tests.meta.messages import exchange, response

BASE = "http://127.0.0.1:9/api/v2013/documents/rc-0000document"
TOKEN = "t" * 20
PASSWORDS = {"author": "Author-Secret-1", "other": 'Other\'s "Secret" \\2'}
#: In place of curl: notes the method, the address, the token and what it is given, and answers as the service does now.
CURL = """#!/bin/bash
[[ "$*" == *@-* ]] && given=$(base64) || given=
[[ "$*" =~ (Bearer [^ ]*) ]] && token=${BASH_REMATCH[1]}
for word; do [[ $word == http* ]] && url=$word; done
echo "${url##*2013/} $token $given" >> "$NOTED"
case $url in
*/token) echo '{"authenticationToken": "now"}';;
*/attachments/a.bin) echo '{"size": 3, "id": 7}';;
esac
"""


def sent(key: str, operation: str, method: str, url: str, role: str, body: bytes, answer: bytes) -> Exchange:
    headers = {"Authorization": f"Bearer {REDACTED if role == 'other' else TOKEN}"}
    shown = exchange(
        response(200, answer), operation, headers, body, id=key, method=method, url=url, role=role
    )
    return replace(shown, request_body=Body.of(body))


SAVED = replace(
    sent("1", "saveDraft", "PUT", f"{BASE}/versions/draft", "other", b"{}", b"{}"),
    authorization="Bearer $TOKEN",
)
ATTACHED = sent(
    "2",
    "createAttachment",
    "POST",
    f"{BASE}/attachments/a.bin",
    "author",
    b"\xff\xfe\xfd",
    b'{"size":3,"id":41}',
)
READ = sent("3", "getAttachment", "GET", f"{BASE}/attachments/41/a.bin?x='y", "author", b"", b"")
LISTED = sent("4", "listAttachments", "GET", f"{BASE}/attachments", "author", b"", b"[]")


def cause(*shown: Exchange, culprit: int) -> Cause[Finding]:
    """What a case found that sent some requests, one of which shows it."""
    curls = tuple(map(curl, shown))
    keys = tuple(each.id for each in shown)
    by = sample_records.case("attaches", "fail", operations=(shown[-1].operation,))
    again = Reproduce("run", curls)
    seen = sample_records.finding(by, role=shown[-1].role, exchanges=keys, reproduce=again)
    (lead,) = merge_findings([seen], {}, Terms(), sample_records.TODAY)
    told = {name: getattr(lead, name) for name in ("id", "clause", "operation", "standing")}
    return Cause(findings=(lead,), should="", was="", culprit=keys[culprit], curl=curls[culprit], **told)


def carried_out(made: str, curl_program: str, folder: Path, **variables: str) -> str:
    """Carry out a script with another program in the place of curl, and return what it said."""
    (folder / "curl").write_text(curl_program, "utf-8")
    (folder / "curl").chmod(0o755)
    environment = {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", **variables}
    words = ["bash", "-c", made]
    return subprocess.run(
        words, cwd=folder, env=environment, check=True, capture_output=True, text=True
    ).stdout


def test_a_script_sends_everything_in_its_order_with_what_answers_made_up(tmp_path: Path) -> None:
    shown = tuple(redacted(each, Redactor([TOKEN])) for each in (ATTACHED, READ, LISTED))
    found = cause(*shown, culprit=1)
    commands = next_commands(run_facts(base_url="http://127.0.0.1:9"), found, (SAVED,), shown)
    assert [command.name for command in commands[3:]] == [
        "serve", "token", "token", "before", "first", "curl", "after", "remove",
    ]  # fmt: skip
    noted = tmp_path / "noted"
    carried_out(script(commands), CURL, tmp_path, NOTED=str(noted))
    assert noted.read_text("utf-8").splitlines() == [
        "authentication/token  ",
        "authentication/token  ",
        "documents/rc-0000document/versions/draft Bearer now ",
        "documents/rc-0000document/attachments/a.bin Bearer now //79",
        "documents/rc-0000document/attachments/7/a.bin?x='y Bearer now ",
        "documents/rc-0000document/attachments Bearer now ",
        "documents/rc-0000document/versions/draft Bearer now ",
    ]


@pytest.mark.parametrize(
    ("password", "sent_password"),
    [
        (PASSWORDS["other"].swapcase(), PASSWORDS["other"].swapcase()),
        (PASSWORDS["other"] + "x", PASSWORDS["other"] + "x"),
        (PASSWORDS["author"], PASSWORDS["author"]),
        ([PASSWORDS["other"].swapcase()], PASSWORDS["other"].swapcase()),
    ],
)
def test_a_script_derives_the_password_that_was_sent(
    tmp_path: Path, password: object, sent_password: str
) -> None:
    body = json.dumps({"email": "other@example.test", "password": password}).encode()
    url = "http://127.0.0.1:9/api/v2013/authentication/token"
    asked = replace(sent("1", "createToken", "POST", url, "other", body, b"{}"), request_headers=Headers())
    redactor = Redactor((), PASSWORDS)
    kept = redacted(asked, redactor)
    assert REDACTED in kept.request_body.text
    assert kept.request_body.text == redacted(kept, redactor).request_body.text
    found = cause(kept, culprit=0)
    made = script(next_commands(run_facts(target="dev"), found, (), (kept,)))
    assert not any(secret.lower() in made.lower() for secret in PASSWORDS.values())
    given = {"PASSWORD": PASSWORDS["author"], "REGISTRY_OTHER_PASSWORD": PASSWORDS["other"]}
    said = carried_out(made, '#!/bin/bash\nprintf "%s\\n" "${@: -1}"\n', tmp_path, **given)
    told = json.loads(said.splitlines()[0])["password"]
    assert sent_password in (told if isinstance(told, list) else [told])
