"""What twice the input costs: every parser of ours on an input and on one eight times as large, and `check` by size.

Linear work costs two times as much for each doubling, quadratic four times. What a machine adds to linear work (memory
that is out of the processor's caches, fresh pages) stands in the row of a control, the standard library's parser.
"""

import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import yaml

from registry_contracts.errors import UsageError
from registry_contracts.evidence.journal import Journal, read_journal
from registry_contracts.exchanges.exchange import Body
from registry_contracts.exchanges.json_bodies import read_json
from registry_contracts.exchanges.redaction import Redactor
from registry_contracts.history import baseline as baselines
from registry_contracts.session.pipeline import FaultEvent
from registry_contracts.settings.settings_reader import load_target
from registry_contracts.traffic.check import check_archive
from registry_contracts.traffic.report import TrafficReport

#: Of so many tries the least time counts: others had the processor meanwhile.
_TRIES: Final = 3
#: How often the input is doubled between the two that are measured; over one doubling noise is as large as a tenth.
_DOUBLINGS: Final = 3
_SITE: Final = "https://registry.test/api/v2013"
_MB: Final = 1 << 20


@dataclass(frozen=True)
class Growth:
    """What an input took, and one doubled three times, in seconds of the processor."""

    what: str
    seconds: float
    larger: float

    @property
    def ratio(self) -> float:
        """How many times as long each doubling took."""
        least = 1e-6  # too little to be measured
        return float((max(self.larger, least) / max(self.seconds, least)) ** (1 / _DOUBLINGS))


def growth(scale: float = 1.0) -> Iterator[Growth]:
    """Measure every parser in processor time.

    Args:
        scale: Of the inputs' sizes.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for what, (size, made) in _parsers(folder).items():
            once, larger = (made(int(size * scale * times)) for times in (1, 2**_DOUBLINGS))
            yield Growth(what, _least(once), _least(larger))


def _least(work: Callable[[], Any]) -> float:
    """Seconds of the processor; without the collector, whose rounds through all of the memory come by chance."""
    taken = []
    for _ in range(_TRIES):
        gc.collect()
        gc.disable()
        began = time.process_time()
        with suppress(UsageError):  # refused is read as well
            work()
        taken.append(time.process_time() - began)
        gc.enable()
    return min(taken)


Made = Callable[[int], Callable[[], Any]]


def _parsers(folder: Path) -> dict[str, tuple[int, Made]]:
    """Name of each parser, a size that takes it a tenth of a second or so, and how an input of a size is made."""

    def written(name: str, text: str) -> Path:
        path = folder / name
        path.write_text(text, "utf-8")
        return path

    def archive(size: int) -> Callable[[], Any]:
        path = written(
            f"{size}.har", json.dumps({"log": {"entries": [_entry(number) for number in range(size)]}})
        )
        return lambda: check_archive(path, path.name, TrafficReport())

    def journal(size: int) -> Callable[[], Any]:
        path = folder / f"journal-{size}.jsonl"
        with Journal(path, "main") as events:
            for number in range(size):
                events.write("fault", FaultEvent("reset", "abs-dev", case=f"case-{number}"))
        return lambda: read_journal(path)

    def settings(size: int) -> Callable[[], Any]:
        values = "1,\n" * size
        path = written(f"{size}.toml", f'base_url = "https://a.test"\nrealms = [\n{values}]\n')
        return lambda: load_target(str(path), {}, folder)

    return {
        "a control, json.loads of the same members": (
            50_000,
            lambda size: partial(json.loads, _doubled(size)),
        ),
        "a body: objects": (
            30_000,
            lambda size: _body(json.dumps([{"a": number} for number in range(size)])),
        ),
        "a body: members that stand twice": (50_000, lambda size: _body(_doubled(size))),
        "a body: one long text": (2 * _MB, lambda size: _body(json.dumps("\\" * (size // 2)))),
        "a body: brackets": (2 * _MB, lambda size: _body("[" * size)),
        "a text in a body": (2 * _MB, _text),
        "secrets that are learned and looked for": (500, _secrets),
        "an archive that is checked": (300, archive),
        "a journal": (5_000, journal),
        "settings: a long list": (10_000, settings),
        "a baseline": (700, _baseline),
    }


def _doubled(size: int) -> str:
    """An object of so many members, each of which stands twice."""
    return "{" + ",".join(f'"m{number // 2}":1' for number in range(size)) + "}"


def _text(size: int) -> Callable[[], Any]:
    content = b"{" * size
    return lambda: Body.of(content).decoded


def _body(text: str) -> Callable[[], Any]:
    return lambda: read_json(text.encode())


def _secrets(size: int) -> Callable[[], Any]:
    many = [f"secret-{number:08}-of-a-session" for number in range(size)]

    def learn() -> None:
        redactor = Redactor(many)
        for secret in many:
            redactor.text(f"a line of a log with {secret} in it")

    return learn


def _baseline(size: int) -> Callable[[], Any]:
    cells = {f"clause-{number}": {"getDraft": {"status": 200}} for number in range(size)}
    content = {"format": "1", "target": "a", "realms": ["abs-dev"], "facts": cells}
    text = yaml.safe_dump(content)
    return lambda: baselines.parse(text, "a baseline")


def _entry(number: int) -> dict[str, Any]:
    uid = f"rc-growth-record-{number:08}"
    document = json.dumps(
        {"header": {"identifier": uid, "schema": "contact", "languages": ["en"]}, "note": "x" * 900}
    )
    headers = {"Authorization": "Bearer a-token-of-the-recording-0001", "Realm": "abs-dev"}
    return {
        "startedDateTime": f"2026-01-01T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}Z",
        "time": 20,
        "request": {
            "method": "GET",
            "url": f"{_SITE}/documents/{uid}/versions/draft",
            "headers": [{"name": name, "value": value} for name, value in headers.items()],
        },
        "response": {
            "status": 200,
            "statusText": "OK",
            "headers": [{"name": "Content-Type", "value": "application/json"}],
            "content": {"size": len(document), "mimeType": "application/json", "text": document},
        },
    }


@dataclass(frozen=True)
class Checked:
    """What `check` took on an archive."""

    entries: int
    size_mb: float
    seconds: float
    peak_mb: float


def checked_archive(entries: int) -> Checked:
    """Check an archive of so many reads in a process of its own."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "a.har"
        with path.open("w", encoding="utf-8") as file:
            file.write('{"log":{"entries":[')
            for number in range(entries):
                file.write(("," if number else "") + json.dumps(_entry(number)))
            file.write("]}}")
        words = [sys.executable, "-c", "from registry_contracts.cli import main; main()", "check", str(path)]
        process = subprocess.Popen([*words, "--reports", name], stdout=subprocess.DEVNULL)
        _, _, used = os.wait4(process.pid, 0)
        return Checked(
            entries, path.stat().st_size / _MB, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
        )
