"""Ways in which recorders, exports and people spoil a true recording."""

import base64
import copy
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, Final

from contracts.exchanges.exchange import Exchange
from contracts.exchanges.har import add, har_writer

Entry = dict[str, Any]
Spoil = Callable[[Random, list[Entry]], list[Entry]]


def recorded(exchanges: list[Exchange], folder: Path) -> list[Entry]:
    """The entries of a true recording, as a browser writes them."""
    path = folder / "true.har"
    with har_writer(path, "1", "") as archive:
        for exchange in exchanges:
            add(archive, exchange, "")
    entries: list[Entry] = json.loads(path.read_text("utf-8"))["log"]["entries"]
    return entries


def _some(random: Random, entries: list[Entry]) -> list[Entry]:
    """One entry, a few, or all of them."""
    return random.sample(entries, random.choice([1, min(5, len(entries)), len(entries)]))


def _with_text(entries: list[Entry]) -> list[Entry]:
    return [entry for entry in entries if entry["response"].get("content", {}).get("text")]


def _answers(change: Callable[[Random, Entry], None]) -> Spoil:
    """Spoil the content of some answers."""

    def spoil(random: Random, entries: list[Entry]) -> list[Entry]:
        for entry in _some(random, _with_text(entries)):
            change(random, entry["response"]["content"])
        return entries

    return spoil


def _each(change: Callable[[Random, Entry], None]) -> Spoil:
    """Spoil some entries."""

    def spoil(random: Random, entries: list[Entry]) -> list[Entry]:
        for entry in _some(random, entries):
            change(random, entry)
        return entries

    return spoil


def _shuffled(random: Random, entries: list[Entry]) -> list[Entry]:
    return random.sample(entries, len(entries))


def _cut(random: Random, content: Entry) -> None:
    content["text"] = content["text"][: random.randrange(len(content["text"]))]


def _cut_and_counted(random: Random, content: Entry) -> None:
    _cut(random, content)
    content["size"] = len(content["text"].encode())


def _cut_request(random: Random, entry: Entry) -> None:
    data = entry["request"].get("postData")
    if data:
        data["text"] = data["text"][: random.randrange(len(data["text"]) + 1)]


def _one_less(random: Random, entries: list[Entry]) -> list[Entry]:
    entries.pop(random.randrange(len(entries)))
    return entries


def _first_part(random: Random, entries: list[Entry]) -> list[Entry]:
    return entries[: random.randrange(1, len(entries))]


def _last_part(random: Random, entries: list[Entry]) -> list[Entry]:
    return entries[random.randrange(len(entries)) :]


def _base64_unsaid(_: Random, content: Entry) -> None:
    if "encoding" not in content:
        content["text"] = base64.b64encode(content["text"].encode()).decode()


def _base64_unsaid_and_counted(random: Random, content: Entry) -> None:
    _base64_unsaid(random, content)
    content["size"] = len(content["text"])


def _base64_by_mistake(_: Random, content: Entry) -> None:
    content["encoding"] = "base64"


def _as_latin_1(_: Random, content: Entry) -> None:
    content["text"] = content["text"].encode().decode("latin-1")


def _without_other_letters(_: Random, content: Entry) -> None:
    content["text"] = content["text"].encode("ascii", "replace").decode()


def _another_size(random: Random, content: Entry) -> None:
    content["size"] = random.choice(
        [-1, 0, 1, content["size"] + 1, len(content["text"]) // 2, 10**9, "many", None]
    )


def _another_type(random: Random, content: Entry) -> None:
    content["mimeType"] = random.choice(["text/html", "image/png", "x-unknown", "", None, "application/json"])


def _without_length(random: Random, entry: Entry) -> None:
    side = entry[random.choice(["request", "response"])]
    side["headers"] = [each for each in side["headers"] if each["name"].lower() != "content-length"]


def _without_a_header(random: Random, entry: Entry) -> None:
    headers = entry["response"]["headers"]
    if headers:
        headers.pop(random.randrange(len(headers)))


def _from_cache(random: Random, entries: list[Entry]) -> list[Entry]:
    """An earlier answer once more, given by something else than the service."""
    reads = [entry for entry in entries if entry["request"]["method"] == "GET"]
    for entry in random.sample(reads, min(5, len(reads))):
        later = [place for place, other in enumerate(entries) if _at(other) > _at(entry)]
        again = copy.deepcopy(entry)
        place = random.choice(later) if later else len(entries) - 1
        again["startedDateTime"] = (_at(entries[place]) + timedelta(microseconds=1)).isoformat()
        _MARKS[random.choice(sorted(_MARKS))](again)
        entries.insert(place + 1, again)
    return entries


def _at(entry: Entry) -> datetime:
    return datetime.fromisoformat(entry["startedDateTime"])


def _header(name: str, value: str) -> Callable[[Entry], None]:
    return lambda entry: entry["response"]["headers"].append({"name": name, "value": value})


#: How recorders and caches say that something else than the service answered.
_MARKS: Final[Mapping[str, Callable[[Entry], None]]] = {
    "chromium": lambda entry: entry.update(_fromCache="memory"),
    "size": lambda entry: entry["response"].update(bodySize=0),
    "format": lambda entry: entry.update(
        cache={"afterRequest": {"lastAccess": "x", "eTag": "", "hitCount": 1}}
    ),
    "worker": lambda entry: entry.update(_fetchedViaServiceWorker=True),
    "stub": lambda entry: entry.update(_wasFulfilled=True),
    "age": _header("Age", "60"),
    "hit": _header("X-Cache", "HIT from edge"),
}


def _twice(random: Random, entries: list[Entry]) -> list[Entry]:
    for entry in _some(random, entries):
        entries.insert(entries.index(entry), copy.deepcopy(entry))
    return entries


def _joined(_: Random, entries: list[Entry]) -> list[Entry]:
    return [*entries, *copy.deepcopy(entries)]


#: Members that an entry may be without, by their path.
_MEMBERS: Final = (
    ("time",),
    ("startedDateTime",),
    ("timings",),
    ("cache",),
    ("request",),
    ("response",),
    ("request", "url"),
    ("request", "method"),
    ("request", "headers"),
    ("request", "postData"),
    ("request", "bodySize"),
    ("response", "status"),
    ("response", "headers"),
    ("response", "content"),
    ("response", "bodySize"),
    ("response", "content", "text"),
    ("response", "content", "size"),
    ("response", "content", "mimeType"),
    ("response", "content", "encoding"),
)


def _without_a_member(random: Random, entry: Entry) -> None:
    *steps, last = random.choice(_MEMBERS)
    for step in steps:
        entry = entry.get(step, {})
    entry.pop(last, None)


def _another_zone(random: Random, entry: Entry) -> None:
    moved = _at(entry).astimezone(UTC) + (zone := timedelta(minutes=random.randrange(-720, 720)))
    sign, minutes = ("-" if zone < timedelta() else "+"), abs(zone) // timedelta(minutes=1)
    entry["startedDateTime"] = f"{moved:%Y-%m-%dT%H:%M:%S.%f}{sign}{minutes // 60:02}:{minutes % 60:02}"


def _whole_seconds(_: Random, each: Entry) -> None:
    each["startedDateTime"] = _at(each).replace(microsecond=0).isoformat()


def _clock_set(random: Random, entries: list[Entry]) -> list[Entry]:
    """The recorder's clock was set in the middle."""
    step = timedelta(seconds=random.choice([-3600, -5, -0.05, 0.05, 5, 3600]))
    for entry in entries[random.randrange(len(entries)) :]:
        entry["startedDateTime"] = (_at(entry) + step).isoformat()
    return entries


def _odd_times(random: Random, entry: Entry) -> None:
    entry["startedDateTime"] = (_at(entry) + timedelta(seconds=random.uniform(-900, 900))).isoformat()


def _odd_durations(random: Random, entry: Entry) -> None:
    entry["time"] = random.choice([-1, 0, 10**7, None, "long"])


SPOILS: Final[Mapping[str, Spoil]] = {
    "shuffled": _shuffled,
    "reversed": lambda _, entries: entries[::-1],
    "cut": _answers(_cut),
    "cut and counted": _answers(_cut_and_counted),
    "cut request": _each(_cut_request),
    "one less": _one_less,
    "first part": _first_part,
    "last part": _last_part,
    "base64 unsaid": _answers(_base64_unsaid),
    "base64 unsaid and counted": _answers(_base64_unsaid_and_counted),
    "base64 by mistake": _answers(_base64_by_mistake),
    "as latin-1": _answers(_as_latin_1),
    "without other letters": _answers(_without_other_letters),
    "another size": _answers(_another_size),
    "another type": _answers(_another_type),
    "without length": _each(_without_length),
    "without a header": _each(_without_a_header),
    "from a cache": _from_cache,
    "twice": _twice,
    "joined": _joined,
    "without a member": _each(_without_a_member),
    "another zone": _each(_another_zone),
    "whole seconds": _each(_whole_seconds),
    "clock set": _clock_set,
    "odd times": _each(_odd_times),
    "odd durations": _each(_odd_durations),
}


#: What changes the text of an answer.
OF_TEXT: Final = frozenset(
    {"cut", "cut and counted", "base64 unsaid", "base64 unsaid and counted", "base64 by mistake"}
    | {"as latin-1", "without other letters", "another size", "another type"}
)
#: What leaves requests out, which `--alone` rules out.
INCOMPLETE: Final = frozenset({"one less", "first part", "last part"})


def spoilt(seed: int, entries: list[Entry]) -> tuple[list[str], list[Entry]]:
    """One way of spoiling by turns, and every third time another one on top."""
    random, names = Random(seed), list(SPOILS)  # noqa: S311 - the same ways each time
    chosen = [names[seed % len(names)]]
    if seed % 3 == 0:
        # Two changes of one text may agree by chance, as "W1" of "W10=" does with the two bytes of "[]".
        others = [name for name in names if name not in OF_TEXT] if chosen[0] in OF_TEXT else names
        chosen.append(random.choice(others))
    entries = copy.deepcopy(entries)
    # What is not there cannot be spoilt any more.
    for name in sorted(chosen, key="without a member".__eq__):
        entries = SPOILS[name](random, entries)
    return chosen, entries
