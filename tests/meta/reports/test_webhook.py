"""A webhook is told how a run ended: patiently, never at the cost of the verdict, and its address stays unseen."""

import json
import logging
import re
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import jsonschema_rs
import pytest
from msgspec.structs import replace

from contracts.errors import UsageError
from contracts.evidence.terms import Terms
from contracts.evidence.verdicts import judge
from contracts.file_formats import plain
from contracts.history.drift import DriftReport
from contracts.history.observed_facts import Change, Kind
from contracts.reports import verdict_json
from contracts.reports.webhook import Delivery, WebhookAddress, notification_of, read_address, without_address
from tests.meta.evidence.sample_records import CATALOGUE, Story, consumer, deviation
from tests.meta.program import Program
from tests.meta.schemas import misfits, validator
from tests.meta.webhooks import SECRET, Hook, assert_unseen

#: Long enough for any machine; no test waits for it.
AMPLE = 60.0
Answering = Callable[..., Hook]


@pytest.fixture
def schema() -> jsonschema_rs.Draft202012Validator:
    """The published schema of what is posted."""
    return validator("notification")


def test_what_is_posted_fits_its_schema_and_says_what_counts(
    schema: jsonschema_rs.Draft202012Validator,
) -> None:
    sample = Story()
    sample.holds("draft-save-creates")
    sample.contradicts("draft-get-content")
    sample.contradicts("draft-get-content", "bch-dev")
    sample.contradicts("uid-too-short", operation="saveDraft")
    terms = Terms(consumer("getDraft"), (deviation(realms=("abs-dev",)),), "deviations/dev.toml")
    record = sample.record(terms)
    gone = Change(Kind.MEMBER_GONE, "list-fields", "listDrafts", ("abs-dev",), "200 items", "text", None)
    drift = DriftReport(changes=(gone,))
    verdict = verdict_json.build(record, judge(record, CATALOGUE, drift))
    content = plain(notification_of(verdict, "https://ci.example.test/7"))
    assert [error.message for error in schema.iter_errors(content)] == []
    assert not schema.is_valid({**content, "more": 1})
    assert content["findings"]["total"] == 3
    assert content["findings"]["failing"] == 1
    assert content["findings"]["first"][0]["realms"] == ["bch-dev"]
    assert content["drift"]["breaking"] == 1
    assert content["deviations"][0]["course"] == "happens"
    assert content["text"].startswith(
        f"Registry contracts, dev at {verdict.target.base_url}, gate: fail: 1 finding in bch-dev"
    )
    assert content["text"].endswith("https://ci.example.test/7")


def test_long_texts_and_many_findings_are_cut(schema: jsonschema_rs.Draft202012Validator) -> None:
    sample = Story()
    sample.contradicts("draft-get-content")
    record = sample.record()
    verdict = verdict_json.build(record, judge(record, CATALOGUE))
    finding = replace(verdict.findings[0], expected="x" * 5000, seen="line\n" * 5000)
    cause = replace(verdict.causes[0], should="x" * 5000, was="line\n" * 5000)
    content = plain(notification_of(replace(verdict, findings=(finding,), causes=(cause,) * 200), None))
    assert [error.message for error in schema.iter_errors(content)] == []
    assert (content["findings"]["total"], len(content["findings"]["first"])) == (200, 10)
    assert len(json.dumps(content)) < 20_000


def send(url: str, patience: float = AMPLE, pauses: tuple[float, ...] = (0.0, 0.0, 0.0)) -> str:
    delivery = Delivery(WebhookAddress(url), {"verdict": "pass"}, patience, pauses)
    delivery.start()
    return delivery.outcome()


def test_a_webhook_that_is_busy_is_asked_again(webhook_answering: Answering) -> None:
    hook = webhook_answering(503, 429, 200)
    assert send(hook.url) == "notified: the webhook answered 200 (after 3 tries)"
    assert hook.posted == [{"verdict": "pass"}] * 3


@pytest.mark.parametrize("status", [302, 401, 404, 410])
def test_a_refusal_is_taken_as_one(webhook_answering: Answering, status: int) -> None:
    hook = webhook_answering(status)
    assert send(hook.url) == f"not notified: the webhook answered {status}"
    assert len(hook.posted) == 1


def test_it_is_given_up_after_the_last_try(webhook_answering: Answering) -> None:
    hook = webhook_answering(500)
    assert send(hook.url) == "not notified: the webhook answered 500 (after 4 tries)"
    assert len(hook.posted) == 4


def test_no_try_begins_that_could_not_be_in_time(webhook_answering: Answering) -> None:
    hook = webhook_answering(500)
    assert send(hook.url, pauses=(AMPLE * 2,)) == "not notified: the webhook answered 500"
    assert len(hook.posted) == 1


@contextmanager
def silent() -> Iterator[str]:
    """An address where connections are taken and nothing is ever answered."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/{SECRET}"


def test_a_webhook_that_is_silent_is_waited_for_no_longer_than_said() -> None:
    with silent() as url:
        started = time.monotonic()
        line = send(url, patience=0.3)
        assert line.startswith("not notified: the webhook did not ")
        assert time.monotonic() - started < AMPLE


def test_a_webhook_that_is_not_there_is_no_error() -> None:
    with silent() as url:
        pass
    assert send(url) == "not notified: there is no connection to the webhook (after 4 tries)"


def test_the_address_shows_nowhere(webhook_answering: Answering, caplog: pytest.LogCaptureFixture) -> None:
    hook = webhook_answering(503, 200)
    with caplog.at_level(logging.DEBUG):
        line = send(hook.url)
    assert SECRET not in line + caplog.text + repr(WebhookAddress(hook.url))


@pytest.mark.parametrize(
    "text", ["", "hooks.example.test/x", "ftp://x/y", "https:///x", "https://a b", "http://x:y/z"]
)
def test_an_address_that_cannot_be_used_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(UsageError, match="--notify is not a web address") as caught:
        read_address(text, "--notify")
    assert not text or text not in str(caught.value)


def test_a_command_is_written_down_without_the_address() -> None:
    words = ["gate", f"--notify=https://x/{SECRET}", "--notify", f"https://x/{SECRET}", "--realm", "abs-dev"]
    kept = without_address(words)
    assert kept == ["gate", "--notify=…", "--notify", "…", "--realm", "abs-dev"]


def test_a_webhook_that_refuses_leaves_the_verdict_as_it_is_and_progress_can_be_asked_for(
    program: Program, webhook_answering: Answering
) -> None:
    hook = webhook_answering(404)
    defect = "--sandbox-arguments=--defect attachment-text-only"
    words = ("--realm=abs-dev", "--clause=attachment-create-accepted", defect)
    ended = program("run", *words, "--progress=always", f"--notify={hook.url}")
    assert ended.code == 1, ended.out + ended.err
    assert ended.err.splitlines()[-1] == "not notified: the webhook answered 404"
    assert [content["findings"]["failing"] for content in hook.posted] == [1]
    before, _, after = ended.out.partition("= contract =")
    assert re.search(
        r"^fail: .*attachment-create-accepted \(createAttachment\): expected", before, re.MULTILINE
    )
    assert "fail: " in after
    assert "\x1b" not in ended.out
    # Told once, in words, and not again by pytest.
    assert after.count("A file sent in binary form is accepted as an attachment of a document.") == 1
    assert "attachment-create-accepted: fail in abs-dev" in after
    assert "FAILED" not in ended.out
    assert "FAILURES" not in ended.out
    assert_unseen(program.folder, ended.out, ended.err)
    run_folder = (program.folder / "reports" / "latest").resolve()
    assert len(list(run_folder.glob("findings/*.json"))) == 1
    assert misfits(run_folder) == []
