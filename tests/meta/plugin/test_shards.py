"""Shards of a run, each with a process of its own, together give what the whole run gives."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from contracts.cli.merge import command
from tests.meta.plugin.rules import hidden

pytestmark = pytest.mark.usefixtures("nothing_left")
WORDS = ("-k", "test_content or test_save or test_should or test_only_sends or test_contacts")


def essence(verdict: dict[str, Any]) -> Any:
    """A verdict without what depends on the machine, and without requests that shards make each for itself."""
    findings = [
        {key: finding[key] for key in ("id", "clause", "realm", "operation", "expected", "standing", "rate")}
        for finding in verdict["findings"]
    ]
    cells = {
        (clause["id"], realm): (cell["verdict"], cell["cases"], cell["findings"])
        for clause in verdict["clauses"]
        for realm, cell in clause["realms"].items()
    }
    return verdict["verdict"], verdict["exit_code"], verdict["cases"], findings, cells


@pytest.mark.parametrize("broken", [False, True], ids=["pass", "fail"])
def test_merged_shards_give_the_verdict_of_the_whole_run(
    run: Any, faulty: Callable[..., Any], tmp_path: Path, broken: bool
) -> None:
    service = faulty(hidden if broken else lambda *_: None)
    target = f"--target={service.target}"
    whole = run(*WORDS, target, reports=tmp_path / "whole")
    parts = [
        run(*WORDS, target, f"--shard={number}/2", *workers, reports=tmp_path / "shards" / str(number))
        for number, workers in ((1, ()), (2, ("-n", "2") if broken else ()))
    ]
    assert all("this is shard" in part.verdict["reason"] for part in parts)
    ended = CliRunner().invoke(
        command, [str(tmp_path / "shards"), f"--reports={tmp_path / 'merged'}"], standalone_mode=False
    )
    assert ended.return_value == whole.code == (1 if broken else 0), ended.output
    merged = json.loads((tmp_path / "merged" / "latest" / "verdict.json").read_text("utf-8"))
    assert essence(merged) == essence(whole.verdict)
    made = [part.verdict["environment"]["permanent_records"].keys() for part in parts]
    assert not made[0] & made[1]
    assert not (tmp_path / "shards" / "1" / "history.jsonl").exists()


def test_shards_keep_the_pace_of_one_run_together(run: Any, faulty: Callable[..., Any]) -> None:
    service = faulty(pace="request_budget = 90")
    ended = run("-k", "test_save", f"--target={service.target}", "--shard=1/3")
    limits = ended.verdict["environment"]["limits"]
    assert (limits["request_budget"], limits["concurrency"]) == (30, 2)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--shard=3/2",), "the first number is one from 1 to 2"),
        (("--shard=1/2", "--profile=nightly"), "needs --seed"),
        (("--shard=1/2", "--drift=fail"), "give it to `registry-contracts merge`"),
        (("--shard=1/9",), "make fewer shards"),
    ],
)
def test_a_shard_that_cannot_be_is_refused_before_anything_is_sent(
    run: Any, faulty: Callable[..., Any], words: tuple[str, ...], said: str
) -> None:
    service = faulty()
    ended = run("-k", "test_save", f"--target={service.target}", *words)
    assert (ended.code, service.app.requests) == (4, [])
    assert said in ended.err
