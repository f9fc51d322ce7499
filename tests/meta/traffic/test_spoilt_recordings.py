"""Recordings of any recorder accuse nobody of what they do not show, whoever spoilt them."""

import copy
import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from registry_contracts.evidence.findings import Standing
from registry_contracts.traffic.archive import read_har
from registry_contracts.traffic.check import check_archive
from registry_contracts.traffic.overlaps import mark_overlaps
from registry_contracts.traffic.report import TrafficReport, fault_of, side_of
from tests.meta.traffic.sample_traffic import SITE, entry

Entry = dict[str, Any]
Archive = Callable[[Iterable[Entry]], Path]
#: Spoils an entry, or the content of an answer.
Change = Callable[[Random, Entry], object]
#: Spoils a recording, and returns it.
Spoil = Callable[[Random, list[Entry]], list[Entry]]
#: How often each way is tried, on other entries each time.
TIMES = 5


def checked(path: Path, *, alone: bool = True) -> TrafficReport:
    return check_archive(path, path.name, TrafficReport(alone=alone))


def accusations(report: TrafficReport) -> set[tuple[Any, ...]]:
    """What is said to be broken, by either side; what is unconfirmed accuses nobody."""
    return {
        (side_of(finding), finding.clause, fault_of(finding))
        for finding in report.findings
        if finding.standing in (Standing.FAIL, Standing.ADVISORY)
    }


def of_content(change: Change) -> Change:
    """Spoils what an answer holds."""

    def of_answer(random: Random, entry: Entry) -> None:
        content = entry["response"].get("content", {})
        if content.get("text"):
            change(random, content)

    return of_answer


def cut(random: Random, content: Entry) -> None:
    content["text"] = content["text"][: random.randrange(len(content["text"]) + 1)]


def base64_unsaid(_: Random, content: Entry) -> None:
    if not content.pop("encoding", None):
        content["text"] = b64encode(content["text"].encode()).decode()


#: Members that an entry may be without, by their path.
MEMBERS = [
    *("time", "startedDateTime", "request", "response", "request.url", "request.headers", "request.postData"),
    *("response.status", "response.headers", "response.content", "response.content.mimeType"),
]


def without_a_member(random: Random, entry: Entry) -> None:
    *steps, last = random.choice(MEMBERS).split(".")
    for step in steps:
        entry = entry.get(step, {})
    entry.pop(last, None)


def at(entry: Entry) -> datetime:
    return datetime.fromisoformat(entry["startedDateTime"])


def another_time(random: Random, entry: Entry) -> None:
    entry["startedDateTime"] = (at(entry) + timedelta(seconds=random.uniform(-900, 900))).isoformat()


def from_a_cache(random: Random, entries: list[Entry]) -> list[Entry]:
    """An earlier answer once more, given by something else than the service, which recorders say in their ways."""
    marks: list[Callable[[Entry], object]] = [
        lambda entry: entry.update(_fromCache="memory"),
        lambda entry: entry["response"].update(bodySize=0),
        lambda entry: entry["response"]["headers"].append({"name": "Age", "value": "60"}),
    ]
    reads = [entry for entry in entries if entry["request"]["method"] == "GET"]
    for read, mark in zip(random.sample(reads, len(marks)), marks, strict=True):
        again = copy.deepcopy(read)
        again["startedDateTime"] = (max(map(at, entries)) + timedelta(microseconds=1)).isoformat()
        mark(again)
        entries.append(again)
    return entries


#: What one entry is spoilt by, a few, or all of them.
OF_ENTRIES: Mapping[str, Change] = {
    "cut": of_content(cut),
    "base64 unsaid": of_content(base64_unsaid),
    "as latin-1": of_content(lambda _, it: it.update(text=it["text"].encode().decode("latin-1"))),
    "another size": of_content(
        lambda random, it: it.update(size=random.choice([-1, it["size"] + 1, "many"]))
    ),
    "without a member": without_a_member,
    "another time": another_time,
}
#: Leaves requests out, which `--alone` rules out.
INCOMPLETE = "first part"
OF_RECORDINGS: Mapping[str, Spoil] = {
    "shuffled": lambda random, entries: random.sample(entries, len(entries)),
    "twice": lambda _, entries: [each for entry in entries for each in (entry, copy.deepcopy(entry))],
    "from a cache": from_a_cache,
    INCOMPLETE: lambda random, entries: entries[: random.randrange(1, len(entries))],
}


def spoilt(name: str, seed: int, true: list[Entry]) -> list[Entry]:
    random, entries = Random(seed), copy.deepcopy(true)  # noqa: S311 - the same each time
    if name in OF_RECORDINGS:
        return OF_RECORDINGS[name](random, entries)
    for each in random.sample(entries, random.choice([1, 3, len(entries)])):
        OF_ENTRIES[name](random, each)
    return entries


#: Recorded on the faithful sandbox by the tools themselves; host and token were replaced.
RECORDED = {path.stem: path for path in sorted((Path(__file__).parent / "archives").glob("*.har"))}


def recorded(name: str) -> list[Entry]:
    entries: list[Entry] = json.loads(RECORDED[name].read_text("utf-8"))["log"]["entries"]
    return entries


@pytest.mark.parametrize("tool", RECORDED)
def test_what_a_tool_recorded_on_the_sandbox_shows_nothing_of_the_service(tool: str) -> None:
    report = checked(RECORDED[tool], alone=False)
    assert [finding for finding in report.findings if side_of(finding) == "service"] == []
    assert (report.broken, report.counted["unreadable"], report.notes) == ([], 0, ())
    assert report.held.total() > 30


@pytest.mark.parametrize("tool", ["mitmproxy", "playwright"])
@pytest.mark.parametrize("name", [*OF_ENTRIES, *OF_RECORDINGS])
def test_a_spoilt_recording_accuses_nobody(archive: Archive, name: str, tool: str) -> None:
    entries = recorded(tool)
    for seed in range(TIMES):
        report = checked(archive(spoilt(name, seed, entries)), alone=name != INCOMPLETE)
        assert (accusations(report), report.broken) == (set(), [])


@pytest.mark.parametrize("name", ["shuffled", "from a cache"])
def test_what_a_faulty_service_shows_remains(archive: Archive, name: str) -> None:
    entries = recorded("mitmproxy")
    for each in entries:
        if each["request"]["method"] == "GET" and each["request"]["url"].endswith("/versions/draft"):
            content = each["response"]["content"]
            content["text"] = content["text"].replace("Ada", "Eve")
    shown = accusations(checked(archive(spoilt(name, 1, entries))))
    assert ("service", "draft-get-content", "") in shown


DRAFT = f"{SITE}/api/v2013/documents/a-draft-of-mine/versions/draft"


def test_what_was_under_way_beside_a_write_overlaps_with_it(archive: Archive) -> None:
    """The read begins before the save ends, another one after it."""
    save, beside = entry("PUT", DRAFT, 201, at=0), entry("HEAD", DRAFT, 404, at=0.005)
    after = entry("HEAD", DRAFT, 404, at=0.5)
    elsewhere = entry("HEAD", DRAFT.replace("mine", "theirs"), 404, at=0.005)
    untimed = entry("HEAD", DRAFT.replace("mine", "others"), 404, at=1)
    del untimed["startedDateTime"]
    exchanges = read_har(archive([save, beside, after, elsewhere, untimed]), "x").exchanges
    mark_overlaps(exchanges)
    assert [each.overlapped for each in exchanges] == [False, True, False, False, True]


def test_an_archive_that_lost_its_credentials_says_nothing_about_tokens(archive: Archive) -> None:
    """A browser's sanitized export holds no Authorization, although everything succeeded."""
    realm = [{"name": "realm", "value": "abs-dev"}]
    saved = entry("PUT", DRAFT, 201, sent="{}", at=1, headers=realm)
    lost = [entry("GET", f"{SITE}/api/v2013/document-drafts", 200, "[]", headers=realm), saved]
    report = checked(archive(lost), alone=False)
    assert (report.verdict[0].word, report.findings) == ("pass", [])
    assert "lost its credentials" in " ".join(report.notes)
