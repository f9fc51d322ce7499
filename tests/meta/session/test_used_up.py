"""What runs used up at a target is not given out again."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry_contracts.sandbox.app import create_app
from registry_contracts.sandbox.habits import Settings
from registry_contracts.session.budgets import UsedUp
from tests.meta.program import Program
from tests.meta.samples import account_variables
from tests.meta.sandbox_client import SandboxClient, new_uid, settings_of


def test_what_was_used_up_is_known_to_later_runs_at_the_same_target_and_realm(tmp_path: Path) -> None:
    path = tmp_path / "used.jsonl"
    UsedUp(path, "http://one.test").note("abs-dev", "file-1")
    with path.open("a", encoding="utf-8") as file:
        file.write('\n["http://one.test", "abs-')  # as a full disk leaves it
    UsedUp(path, "http://one.test").note("abs-dev", "file-2")
    assert UsedUp(path, "http://one.test").of("abs-dev") == {"file-1", "file-2"}
    assert not UsedUp(path, "http://one.test").of("bch-dev")
    assert not UsedUp(path, "http://two.test").of("abs-dev")


@pytest.mark.parametrize(("used", "code"), [(3, 0), (4, 6)])
def test_the_next_temporary_file_is_tried_if_used_ones_were_not_remembered(
    program: Program, used: int, code: int, serve_app: Callable[[Any], str]
) -> None:
    url = serve_app(create_app(Settings()))
    names = [f"sandbox-temporary-abs-dev-{number:02d}" for number in range(1, 5)]
    with SandboxClient(url) as client:
        client.save(uid := new_uid())
        for name in names[:used]:
            assert client.post(f"/api/v2013/documents/{uid}/attachments/persist-temporary/{name}").ok
    settings = settings_of(url, program.folder)
    left_out = re.compile(r'\n +"sandbox-temporary-abs-dev-(0[5-9]|[12]\d)",')
    settings.write_text(left_out.sub("", settings.read_text("utf-8")), "utf-8")
    program.environment |= account_variables()
    words = ("--realm=abs-dev", "--clause=attachment-persist-needs-token")
    ended = program("run", f"--target={settings}", *words)
    assert ended.code == code, ended.output
    refused = "each id that was left in the setting realm.abs-dev.temporary_files was refused, 4 of them"
    assert (refused in ended.out) is bool(code), ended.output
    noted = UsedUp(program.folder / "reports" / "used.jsonl", url).of("abs-dev")
    assert noted == {*names[used:]}
