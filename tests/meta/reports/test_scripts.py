"""The script of a finding: its requests in their order, after writes it relies on, and whether it shows again."""

import json
import os
import re
import subprocess
from dataclasses import replace
from functools import partial
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from registry_contracts.evidence.causes import Cause
from registry_contracts.evidence.findings import Finding, Reproduce, merge_findings
from registry_contracts.evidence.record import RunFacts
from registry_contracts.evidence.terms import Terms
from registry_contracts.exchanges.exchange import Body, Exchange, Headers
from registry_contracts.exchanges.redaction import REDACTED, Redactor, redacted
from registry_contracts.exchanges.transcript import curl
from registry_contracts.reports.earlier_writes import earlier_writes
from registry_contracts.reports.scripts import script
from tests.meta.evidence import sample_records
from tests.meta.evidence.sample_records import run_facts, run_record
from tests.meta.messages import answer, exchange, response

SERVICE = "http://127.0.0.1:9"
BASE = f"{SERVICE}/api/v2013/documents/rc-0000document"
TOKEN = "t" * 20
PASSWORDS = {"author": "Author-Secret-1", "other": 'Other\'s "Secret" \\2'}
#: In place of curl: notes method, address, token and body, and answers as the service does now; 7 is no connection.
CURL = r"""#!/bin/bash
method=GET token= given=
while [ $# -gt 0 ]; do
  case $1 in
    -X) method=$2; shift;;
    -o) file=$2; shift;;
    -w) shift;;
    http*) url=$1;;
    'Authorization: '*) token=${1#*: };;
    --data-raw) given=$2; shift;;
    --data-binary) given=$(base64 < "${2#@}"); shift;;
  esac
  shift
done
case $url in
  */token) [ -z "$SIGNED_IN" ] && { printf '401 '; exit; }
    echo '{"authenticationToken": "now"}' > "$file"; printf '200 application/json'; exit;;
esac
[ -n "$DOWN" ] && exit 7
echo "$method ${url##*2013/} $token $given" >> "$NOTED"
case $url in
  */attachments/a.bin) echo '{"size":3,"id":7}' > "$file";;
  */attachments) printf '%s' "${LIST-[]}" > "$file";;
  *) printf '%s' "$CONTENT" > "$file";;
esac
printf '%s' "${STATUS-200} application/json"
"""
NOW = {"SIGNED_IN": "yes", "CONTENT": "{}"}


def sent(
    key: str, operation: str, method: str, url: str, role: str, body: bytes, answer: bytes, status: int = 200
) -> Exchange:
    headers = {"Authorization": f"Bearer {REDACTED if role == 'other' else TOKEN}"}
    told = response(status, answer, {"content-type": "application/json"})
    return exchange(told, operation, headers, body, id=key, method=method, url=url, role=role)


SAVED = replace(
    sent("1", "saveDraft", "PUT", f"{BASE}/versions/draft", "other", b"@/etc/passwd", b"{}"),
    authorization="Bearer $TOKEN",
)
ATTACHED = sent(
    "2", "createAttachment", "POST", f"{BASE}/attachments/a.bin", "author", b"\xff\0%d", b'{"size":3,"id":41}'
)
READ = sent("3", "getAttachment", "GET", f"{BASE}/attachments/41/a.bin?x='y", "author", b"", b"{}")
LISTED = sent("4", "listAttachments", "GET", f"{BASE}/attachments", "author", b"", b"[]")


def script_of(
    *shown: Exchange, before: tuple[Exchange, ...] = (), run: RunFacts | None = None, **told: Any
) -> str:
    """The script of what a case found that sent some requests, the last of which shows it."""
    keys, last = tuple(each.id for each in shown), shown[-1]
    by = sample_records.case("attaches", "fail", operations=(last.operation,))
    again = Reproduce("run", tuple(map(curl, shown)))
    seen = sample_records.finding(by, role=last.role, exchanges=keys, reproduce=again, **told)
    (lead,) = merge_findings([seen], {}, Terms(), sample_records.TODAY)
    same = {name: getattr(lead, name) for name in ("id", "clause", "operation", "standing")}
    cause = Cause[Finding](findings=(lead,), should="", was="", culprit=last.id, curl=curl(last), **same)
    return script(run or run_facts(base_url=SERVICE), cause, before, shown)


def carried_out(made: str, folder: Path, **variables: str) -> CompletedProcess[str]:
    """Carry out a script with another program in the place of curl, at a service that runs already."""
    (folder / "curl").write_text(CURL, "utf-8")
    (folder / "curl").chmod(0o755)
    (folder / "made.sh").write_text(made, "utf-8")
    variables |= {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "TMPDIR": str(folder)}
    environment = variables | {"NOTED": str(folder / "noted")}
    words = ["bash", str(folder / "made.sh"), SERVICE]
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_a_script_sends_everything_in_its_order_with_what_answers_made_up(tmp_path: Path) -> None:
    shown = [redacted(each, Redactor([TOKEN])) for each in (ATTACHED, READ, LISTED)]
    ended = carried_out(script_of(*shown, before=(SAVED,)), tmp_path, **NOW)
    assert (ended.returncode, ended.stderr) == (0, ""), ended
    assert (tmp_path / "noted").read_text("utf-8").splitlines() == [
        "PUT documents/rc-0000document/versions/draft Bearer now @/etc/passwd",
        "POST documents/rc-0000document/attachments/a.bin Bearer now /wAlZA==",
        "GET documents/rc-0000document/attachments/7/a.bin?x='y Bearer now ",
        "GET documents/rc-0000document/attachments Bearer now ",
        "DELETE documents/rc-0000document/versions/draft Bearer now ",
    ]


MOMENT = b'{"at":"2026-11-29T08:20:48.288Z","a":1}'
HELD = sent("5", "listAttachments", "GET", f"{BASE}/attachments", "author", b"", b'[{"a":"rc-0000document"}]')
GOT = sent("6", "getDraft", "GET", f"{BASE}/versions/draft", "author", b"", MOMENT)
REFUSED = sent("7", "getDraft", "GET", f"{BASE}/versions/draft", "author", b"", b"no", 404)
CUT = sent("8", "getDraft", "GET", f"{BASE}/versions/draft", "author", b"", b"x" * 20_000)


@pytest.mark.parametrize(
    ("shown", "told", "now", "code"),
    [
        (GOT, {}, {"CONTENT": MOMENT.decode().replace("2026", "2027")}, 0),
        (GOT, {}, {"CONTENT": MOMENT.decode().replace("1}", "2}")}, 1),
        (REFUSED, {"check": "accepted"}, {"STATUS": "403"}, 0),
        (REFUSED, {"check": "accepted"}, {}, 1),
        (GOT, {"check": "turned-down"}, {"CONTENT": '{"errors":[]}'}, 1),
        (HELD, {"seen": "rc-0000document: 200 ["}, {"LIST": '[{"a":"rc-0000document"},{}]'}, 0),
        (HELD, {"seen": "rc-0000document: 200 ["}, {"LIST": "[]"}, 1),
        (GOT, {"check": "no-secret"}, {"CONTENT": '{"t":"now"}'}, 0),
        (GOT, {}, {"SIGNED_IN": ""}, 2),
        (GOT, {}, {"DOWN": "yes"}, 3),
        (replace(GOT, response=None), {}, {"DOWN": "yes"}, 0),
        (CUT, {}, {}, 4),
    ],
)
def test_a_script_says_whether_the_finding_shows_again(
    tmp_path: Path, shown: Exchange, told: dict[str, Any], now: dict[str, str], code: int
) -> None:
    shown = redacted(shown, Redactor([TOKEN]))
    ended = carried_out(script_of(shown, **told), tmp_path, **NOW | now)
    assert ended.returncode == code, ended
    assert not list(tmp_path.glob("tmp.*"))
    assert '"now"' not in ended.stdout
    assert ("expected: " in ended.stdout) is (code not in (2, 3))
    assert len(ended.stderr.splitlines()) == (code > 0)


def test_records_of_the_run_are_named_anew_each_time(tmp_path: Path) -> None:
    saved = replace(SAVED, url=f"{SERVICE}/api/v2013/documents/rc-0000document-RC-0000")
    named: Any = {"token": "0000"}
    made = script_of(saved, run=replace(run_facts(base_url=SERVICE), **named))
    for _ in range(2):
        carried_out(made, tmp_path, **NOW)
    lines = (tmp_path / "noted").read_text("utf-8").splitlines()
    names = [re.search(r"rc-([a-z0-9]{4})document-RC-([A-Z0-9]{4})", line) for line in lines]
    assert len({each[1] for each in names if each}) == 2
    assert all(each and each[1].upper() == each[2] for each in names)


def test_what_a_foreign_record_holds_is_no_code(tmp_path: Path) -> None:
    evil = "x'$(touch evil)`touch evil`\"\n touch evil\n\\"
    headers = Headers({"@/etc/passwd": "a", "X-Odd": evil})
    shown = replace(GOT, operation=evil, role=evil, url=f"{BASE}/{evil}", request_headers=headers)
    shown = replace(shown, method=evil, request_body=Body.of(evil.encode()), response=None)
    binary = replace(shown, request_body=Body.of(b"\0" + evil.encode()))
    for made in (script_of(shown, seen=evil, expected=evil), curl(shown), curl(binary)):
        carried_out(made, tmp_path, **NOW)
        assert "passwd" not in made
        assert not (tmp_path / "evil").exists()


def test_nothing_in_a_script_needs_a_newer_bash_than_that_of_macos() -> None:
    made = script_of(ATTACHED, READ)
    newer = r"\^\^|,,\}|declare -A|mapfile|readarray|\|&|&>>|\$RANDOM|printf -v|\$\{\w+@|base64|;;&"
    assert not re.search(newer, made)


def test_a_script_derives_a_wrong_password(tmp_path: Path) -> None:
    password = PASSWORDS["other"].swapcase()
    body = json.dumps({"email": "other@example.test", "password": password}).encode()
    url = f"{SERVICE}/api/v2013/authentication/token"
    asked = replace(sent("1", "createToken", "POST", url, "other", body, b"{}"), request_headers=Headers())
    redactor = Redactor((), PASSWORDS)
    kept = redacted(asked, redactor)
    assert REDACTED in kept.request_body.text
    assert kept.request_body.text == redacted(kept, redactor).request_body.text
    made = script_of(replace(kept, url=f"{url}s"), run=run_facts(target="dev", base_url=SERVICE))
    assert not any(secret.lower() in made.lower() for secret in PASSWORDS.values())
    given = {"REGISTRY_PASSWORD": PASSWORDS["author"], "REGISTRY_OTHER_PASSWORD": PASSWORDS["other"]}
    carried_out(made, tmp_path, **given)
    line = (tmp_path / "noted").read_text("utf-8")
    assert json.loads(line[line.index("{") :])["password"] == password


def write(number: int, method: str, path: str, operation: str, told: Any = None, **more: Any) -> Exchange:
    usual = {"id": f"x-{number}", "case": "a", "authorization": "Bearer $TOKEN", "url": f"{BASE}{path}"}
    return exchange(answer(told, more.pop("status", 200)), operation, method=method, **usual | more)


def test_a_finding_takes_along_the_writes_it_relies_on() -> None:
    save = partial(write, method="PUT", path="/versions/draft", operation="saveDraft")
    everything = [
        save(1, url=f"{SERVICE}/api/v2013/documents/rc-another/versions/draft"),
        save(2, case="another case"),
        save(3, status=400),
        save(4, authorization="Bearer garbage"),
        write(5, "POST", "/attachments/a.txt", "createAttachment", {"id": 6}),
        write(6, "POST", "/attachments/b.txt", "createAttachment", {"id": 7}),
        save(7, realm="bch-dev"),
        write(10, "POST", "/copies", "anOperationOfAnotherVersion"),
        shown := write(8, "GET", "/attachments/7/b.txt", "getAttachment"),
        save(9),
    ]
    record = run_record(exchanges={each.id: each for each in everything})
    finding = partial(sample_records.finding, sample_records.case("a", "fail"))
    relied_on = earlier_writes(record, finding(exchanges=(shown.id,)))
    assert [each.id for each in relied_on] == ["x-2", "x-6", "x-10"]
    assert earlier_writes(record, finding(exchanges=())) == ()
