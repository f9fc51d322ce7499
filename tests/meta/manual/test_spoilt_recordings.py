"""A recording that recorders, exports or people spoilt accuses nobody of what it does not show."""

import base64
import copy
import json
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from contracts.exchanges.exchange import Exchange
from contracts.exchanges.har import add, har_writer
from contracts.manual.check import CheckOptions, check_archive
from contracts.manual.traffic_findings import Side, Standing, Tally
from tests.meta.client_tour import exchanges

Entry = dict[str, Any]
#: How often each way is tried, on other entries each time.
TIMES = 3


def recorded(passed: list[Exchange], folder: Path) -> list[Entry]:
    """The entries of a true recording, as a browser writes them."""
    path = folder / "true.har"
    with har_writer(path, "1", "") as archive:
        for exchange in passed:
            add(archive, exchange, "")
    entries: list[Entry] = json.loads(path.read_text("utf-8"))["log"]["entries"]
    return entries


def checked(entries: list[Entry], folder: Path, *, alone: bool = True) -> Tally:
    path = folder / "spoilt.har"
    path.write_text(json.dumps({"log": {"entries": entries}}), "utf-8")
    return check_archive(path, path.name, CheckOptions(alone=alone))[0]


def accusations(tally: Tally) -> set[tuple[Any, ...]]:
    """What is said to be broken, by either side; a remark accuses nobody."""
    return {
        (group.first.side, group.first.what, group.first.fault)
        for group in tally.groups
        if group.first.standing is not Standing.REMARK
    }


# Ways to spoil one entry, or the content of its answer


def cut(random: Random, content: Entry) -> None:
    content["text"] = content["text"][: random.randrange(len(content["text"]))]


def cut_and_counted(random: Random, content: Entry) -> None:
    cut(random, content)
    content["size"] = len(content["text"].encode())


def base64_unsaid(_: Random, content: Entry) -> None:
    if "encoding" not in content:
        content["text"] = base64.b64encode(content["text"].encode()).decode()


def as_latin_1(_: Random, content: Entry) -> None:
    content["text"] = content["text"].encode().decode("latin-1")


def another_size(random: Random, content: Entry) -> None:
    content["size"] = random.choice([-1, 0, 1, content["size"] + 1, 10**9, "many", None])


def another_type(random: Random, content: Entry) -> None:
    content["mimeType"] = random.choice(["text/html", "image/png", "", None, "application/json"])


def cut_request(random: Random, entry: Entry) -> None:
    if data := entry["request"].get("postData"):
        data["text"] = data["text"][: random.randrange(len(data["text"]) + 1)]


def without_a_header(random: Random, entry: Entry) -> None:
    headers = entry[random.choice(["request", "response"])]["headers"]
    chosen = [
        each for each in headers if each["name"].lower() not in ("authorization", "realm", "content-type")
    ]
    if chosen:
        headers.remove(random.choice(chosen))


#: Members that an entry may be without, by their path.
MEMBERS = [
    *("time", "startedDateTime", "timings", "cache", "request", "response"),
    *(f"request.{name}" for name in ("url", "method", "headers", "postData")),
    *(f"response.{name}" for name in ("status", "headers", "content", "bodySize")),
    *(f"response.content.{name}" for name in ("text", "size", "mimeType", "encoding")),
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


def another_duration(random: Random, entry: Entry) -> None:
    entry["time"] = random.choice([-1, 0, 10**7, None, "long"])


OF_CONTENT = (cut, cut_and_counted, base64_unsaid, as_latin_1, another_size, another_type)
OF_ENTRY = (cut_request, without_a_header, without_a_member, another_time, another_duration)


# Ways to spoil a recording


def from_a_cache(random: Random, entries: list[Entry]) -> list[Entry]:
    """An earlier answer once more, given by something else than the service, which recorders say in their ways."""
    marks: list[Callable[[Entry], object]] = [
        lambda entry: entry.update(_fromCache="memory"),
        lambda entry: entry["response"].update(bodySize=0),
        lambda entry: entry.update(_fetchedViaServiceWorker=True),
        lambda entry: entry["response"]["headers"].append({"name": "Age", "value": "60"}),
        lambda entry: entry["response"]["headers"].append({"name": "X-Cache", "value": "HIT from edge"}),
    ]
    reads = [entry for entry in entries if entry["request"]["method"] == "GET"]
    for entry, mark in zip(random.sample(reads, len(marks)), marks, strict=True):
        again = copy.deepcopy(entry)
        again["startedDateTime"] = (max(map(at, entries)) + timedelta(microseconds=1)).isoformat()
        mark(again)
        entries.append(again)
    return entries


def clock_set(random: Random, entries: list[Entry]) -> list[Entry]:
    """The recorder's clock was set in the middle."""
    step = timedelta(seconds=random.choice([-3600, -5, -0.05, 0.05, 5, 3600]))
    for entry in entries[random.randrange(len(entries)) :]:
        entry["startedDateTime"] = (at(entry) + step).isoformat()
    return entries


def another_zone(random: Random, entries: list[Entry]) -> list[Entry]:
    for entry in entries:
        minutes = random.randrange(720)
        moved = at(entry) + timedelta(minutes=minutes) - (at(entry).utcoffset() or timedelta())
        entry["startedDateTime"] = f"{moved:%Y-%m-%dT%H:%M:%S.%f}+{minutes // 60:02}:{minutes % 60:02}"
    return entries


SPOILS: Mapping[str, Callable[[Random, list[Entry]], list[Entry]]] = {
    "shuffled": lambda random, entries: random.sample(entries, len(entries)),
    "reversed": lambda _, entries: entries[::-1],
    "twice": lambda _, entries: [each for entry in entries for each in (entry, copy.deepcopy(entry))],
    "joined": lambda _, entries: [*entries, *copy.deepcopy(entries)],
    "from a cache": from_a_cache,
    "clock set": clock_set,
    "another zone": another_zone,
}
#: What leaves requests out, which `--alone` rules out.
INCOMPLETE: Mapping[str, Callable[[Random, list[Entry]], list[Entry]]] = {
    "one less": lambda random, entries: [each for each in entries if each is not random.choice(entries)],
    "first part": lambda random, entries: entries[: random.randrange(1, len(entries))],
    "last part": lambda random, entries: entries[random.randrange(len(entries)) :],
}


def spoilt(name: str, random: Random, true: list[Entry]) -> list[Entry]:
    """A recording that was spoilt in one way: as a whole, or in one entry, a few, or all of them."""
    entries = copy.deepcopy(true)
    if name in (of_all := {**SPOILS, **INCOMPLETE}):
        return of_all[name](random, entries)
    (change,) = (each for each in (*OF_CONTENT, *OF_ENTRY) if each.__name__ == name)
    parts = entries
    if change in OF_CONTENT:
        contents = (entry["response"].get("content", {}) for entry in entries)
        parts = [content for content in contents if content.get("text")]
    for part in random.sample(parts, random.choice([1, 5, len(parts)])):
        change(random, part)
    return entries


def test_a_spoilt_recording_of_a_faithful_service_accuses_nobody(tmp_path: Path) -> None:
    true = recorded(exchanges(short=True), tmp_path)
    whole = checked(true, tmp_path)
    assert {side for side, *_ in accusations(whole)} <= {Side.REQUEST}, "the tour's own mistakes"
    assert len(whole.held) > 20
    more = {}
    for name in (*SPOILS, *INCOMPLETE, *(change.__name__ for change in (*OF_CONTENT, *OF_ENTRY))):
        for seed in range(TIMES):
            entries = spoilt(name, Random(seed), true)  # noqa: S311 - the same each time
            tally = checked(entries, tmp_path, alone=name not in INCOMPLETE)
            more[name, seed] = accusations(tally) - accusations(whole), tally.breakages
    assert {key: shown for key, shown in more.items() if any(shown)} == {}


#: Breaks what a sequence shows, what the bytes of a file show, and what one exchange shows by itself.
FAULTS = {
    "draft-content-empty": "draft-get-content",
    "attachment-last-byte-lost": "attachment-download-same",
    "contact-create-without-first-name": "contact-mandatory-first-name",
}
#: What these leave of a recording shows as much as before.
HARMLESS = ("shuffled", "reversed", "base64_unsaid", "from a cache", "another zone")


@pytest.mark.parametrize(("fault", "clause"), FAULTS.items())
def test_what_a_faulty_service_shows_remains(tmp_path: Path, fault: str, clause: str) -> None:
    true = recorded(exchanges(faults=(fault,), short=True), tmp_path)
    for seed, name in enumerate(HARMLESS):
        entries = spoilt(name, Random(seed), true)  # noqa: S311 - the same each time
        for each in (true, entries):
            assert (Side.ANSWER, clause, None) in accusations(checked(each, tmp_path)), name
