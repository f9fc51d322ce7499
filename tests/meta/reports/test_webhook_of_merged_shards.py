"""A webhook is told of the one verdict that shards make together; the address shows nowhere there either."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from contracts.cli.merge import command
from contracts.errors import UsageError
from tests.meta.evidence.sample_shards import CASES, PLAN, write_shard
from tests.meta.schemas import validator
from tests.meta.webhooks import SECRET, Hook, assert_unseen

Answering = Callable[..., Hook]


@pytest.fixture
def merge(tmp_path: Path) -> Callable[..., Result]:
    """Merges two shards, of a target at some address, with more options."""

    def merge(*words: str, address: str = "http://127.0.0.1:1") -> Result:
        plan = PLAN | {"address": address}
        broken = CASES[3]
        made = [
            write_shard(tmp_path / f"shard-{number}", number, cases, plan=plan, broken=broken)
            for number, cases in ((1, CASES[:2]), (2, CASES[2:]))
        ]
        given = [*map(str, made), f"--reports={tmp_path / 'merged'}", "--drift=off", *words]
        return CliRunner().invoke(command, given, standalone_mode=False)

    return merge


def test_the_verdict_on_the_whole_is_told(
    merge: Callable[..., Result], webhook_answering: Answering, tmp_path: Path
) -> None:
    hook = webhook_answering(200)
    ended = merge(f"--notify={hook.url}", "--report-url=https://ci.example.test/7")
    assert ended.return_value == 1, ended.output
    assert ended.stderr.splitlines() == ["notified: the webhook answered 200"]
    assert ended.output.splitlines()[-2].startswith("verdict: fail: ")
    (content,) = hook.posted
    assert [error.message for error in validator("notification").iter_errors(content)] == []
    assert (content["verdict"], content["cases"], content["findings"]["total"]) == ("fail", 4, 1)
    assert content["text"].endswith(" https://ci.example.test/7")
    assert_unseen(tmp_path, ended.output)


def test_the_variables_will_do_and_a_refusal_changes_nothing(
    merge: Callable[..., Result], webhook_answering: Answering, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = webhook_answering(404)
    monkeypatch.setenv("REGISTRY_NOTIFY_URL", hook.url)
    monkeypatch.setenv("REGISTRY_REPORT_URL", "https://ci.example.test/8")
    ended = merge(address="embedded")
    assert (ended.return_value, ended.stderr) == (1, "not notified: the webhook answered 404\n")
    assert [content["report"] for content in hook.posted] == ["https://ci.example.test/8"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--notify=ftp://x/y",), "--notify is not a web address"),
        (("--report-url=here",), "--report-url is not a web address"),
        ((f"--notify=http://registry.test/{SECRET}",), "leads to the target itself"),
    ],
)
def test_what_cannot_be_used_is_told_before_anything_is_written(
    merge: Callable[..., Result], tmp_path: Path, words: tuple[str, ...], why: str
) -> None:
    ended = merge(*words, address="http://registry.test/api")
    assert isinstance(ended.exception, UsageError)
    assert why in str(ended.exception)
    assert SECRET not in str(ended.exception)
    assert not (tmp_path / "merged").exists()
