"""Words that a command cannot use are answered in one line that says why, with exit code 4, and nothing is sent."""

import shlex
from pathlib import Path

import pytest

from tests.meta.program import RunCommand
from tests.meta.samples import account_variables

#: By what the line says: commands that are answered so; `zz` is a name that is none.
REFUSED = {
    "there is no command 'rnu'; did you mean 'run'?": ["rnu"],
    "there is no list of 'fauls'; did you mean 'faults'?": ["list fauls"],
    "zz": [
        *("explain zz", "explain uid-too-short --reports zz", "list zz", "list clauses --reports zz"),
        *("list clauses --family zz", "list clauses --operation zz", "list red --target zz"),
        *("list flaky --series zz", "call zz", "call listDrafts --realm zz", "call listDrafts --body @zz"),
        *("check zz", "check x.har --target zz", "drift zz", "drift --reports zz", "drift --clause zz"),
        *("init dev --base-url https://h.example --from-har zz", "sandbox --port 0 --variant zz"),
        *("gate --target zz", "run --workers zz", "run --seed zz"),
    ],
    "did you mean 'saveDraft'?": ["call saveDrft", "gate --target sandbox --consumer sdk.toml"],
    "did you mean 'uid-too-short'": ["explain uid-to-short", "run --clause uid-to-short"],
    "list clauses --operation saveDraft": ["explain saveDraft"],
    "'--port': 99999 is not in the range": ["sandbox --port 99999"],
    "both name a target": ["run --base-url=https://h.example --target=dev"],
    "is a production realm": [
        "call saveDraft --realm abs --dry-run",
        "init dev --base-url https://h.test --realm abs",
    ],
    "selects a production realm": ["call listDrafts --set header.Realm=bch --dry-run"],
    "which is outside this run's namespace": ["call saveDraft --set path.uid=somebodys-record --dry-run"],
    "--body: is not JSON: Expecting property name": ["call saveDraft --body '{a' --dry-run"],
    "the body has no such place": ["call saveDraft --set body.emails.7=x --dry-run"],
    "did you mean 'firstName'?": ["call saveDraft --without fristName --dry-run"],
    "saveDraft has no such fault": ["call saveDraft --invalid odd --dry-run"],
    "holds the interface's own /api/v": ["init dev --base-url https://h.example/api/v2013"],
    "cannot name a target": ["init ../dev --base-url https://h.example"],
    "a gate needs a target": ["gate"],
    "no consumer file 'nowhere.toml'": ["gate --target sandbox --consumer nowhere.toml"],
    "no deviations file 'nowhere.toml'": ["gate --target sandbox --deviations nowhere.toml"],
    "-k is not for a gate": ["gate --target sandbox -k draft"],
    "no kept run in 'nowhere'": ["gate --from nowhere"],
    "--max-age takes a number with m, h or d": ["gate --from kept --max-age 36"],
    "--workers has no effect with --from": ["gate --from kept --workers 2"],
    "kept/20260510-080000-dev/run.json": ["gate --from kept"],
    "--base-url is empty; give it a value, or leave the option out": ["run --base-url ''", "run --base-url="],
    "--consumer is empty": ["gate --consumer ''", "gate --consumer="],
    "--reports is empty": ["list runs --reports ''", "list runs --reports=", "doctor --reports="],
}


@pytest.mark.parametrize(
    ("why", "words"), [(why, words) for why, commands in REFUSED.items() for words in commands]
)
def test_what_it_cannot_use_is_one_line(
    run_command: RunCommand, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, why: str, words: str
) -> None:
    for name, value in account_variables().items():
        monkeypatch.setenv(name, value)
    (tmp_path / "x.har").write_text('{"log": {"entries": []}}', "utf-8")
    (tmp_path / "sdk.toml").write_text('operations = ["saveDrafts"]', "utf-8")
    kept = tmp_path / "kept" / "20260510-080000-dev"
    kept.mkdir(parents=True)
    (kept / "run.json").write_text('{"target": "dev"', "utf-8")
    code, out, err = run_command(*shlex.split(words))
    assert (code, out, err.count("\n")) == (4, "", 1), err
    assert why in err
    assert not list(tmp_path.glob("*reports*")), "nothing was sent"
