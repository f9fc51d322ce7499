"""A file from a stranger does nothing but be read: whole and valid, or refused in one line, before anything is sent."""

import json
import os
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tests.meta.hostile.probe import (
    OUTPUT,
    SEED,
    SHORT_RUN,
    TINY_RUN,
    Running,
    Skipped,
    Wrong,
    command,
    expect,
    honest,
    memory_limit,
    probe,
    run_folders,
)
from tests.meta.hostile.service import accounts, empty_lists, scripted
from tests.meta.program import CHECKOUT

GROUP = "files"
#: A target where nothing listens; nothing may get as far as that with a file that cannot be used.
NOWHERE = {
    "REGISTRY_BASE_URL": "http://127.0.0.1:9",
    "REGISTRY_EMAIL": "a@b.test",
    "REGISTRY_PASSWORD": "not-a-password",
}
_BROKEN = ("--sandbox-arguments=--defect draft-content-empty",)
_MADE: dict[str, Path] = {}
_MAKING = threading.Lock()


#: Runs of some seconds whose reports are altered.
SAMPLES = {
    "finding": (*TINY_RUN, *_BROKEN),
    "tiny": TINY_RUN,
    "whole": SHORT_RUN,
}


def _sample(kind: str) -> Path:
    """A folder with the reports of a run, made once."""
    with _MAKING:
        if kind not in _MADE:
            folder = CHECKOUT / "build" / "hostile" / kind
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            honest(command(folder, *SAMPLES[kind]), int("finding" in kind), lines=3)
            _MADE[kind] = folder
        return _MADE[kind]


def copied(folder: Path, kind: str) -> Path:
    """A folder to work in, in an empty one, with a run's reports of its own."""
    place = folder / "around" / "work"
    shutil.copytree(_sample(kind), place, symlinks=True, ignore=shutil.ignore_patterns(f"{OUTPUT}*", "tmp"))
    return place


def _every_value(folder: Path, altered_file: "Altered") -> str:
    place = copied(folder, altered_file.sample)
    path = altered_file.file(place)
    order: dict[str, Any] = {"file": str(path), "codes": altered_file.codes, "most": 150, "troubles": 1}
    order |= {"seed": SEED, **altered_file.order}
    order["words"] = [
        word.format(run=_run(place), file=path, folder=path.parent) for word in altered_file.words.split()
    ]
    order["line"] = line_of(path, altered_file)
    words = ("tests.meta.hostile.altered_files", json.dumps(order))
    done = command(place, *words, environment=NOWHERE, kind="module")
    if done.code:
        raise Wrong(f"the batch broke: {done.err.strip().splitlines()[-1:]}")
    result = json.loads(done.out.splitlines()[-1])
    if result["wrong"]:
        number = sum(times for _, times in result["wrong"])
        raise Wrong(
            f"{number} of {result['tried']}: "
            + " | ".join(f"{complaint} ({n})" for complaint, n in result["wrong"])
        )
    number = (
        f"{result['altered']} of {result['fields']} fields, {result['tried']} of {result['every']} values"
    )
    return f"{number}: exits {result['codes']}"


def _run(place: Path) -> Path:
    return run_folders(place / "reports")[0]


def _har(place: Path) -> Path:
    """The archive of a run, its first entries only."""
    path = _run(place) / "traffic.har"
    content = json.loads(path.read_text("utf-8"))
    content["log"]["entries"] = content["log"]["entries"][3:8]
    path = place / "traffic.har"
    path.write_text(json.dumps(content), "utf-8")
    return path


def _baseline(place: Path) -> Path:
    honest(command(place, "drift", "accept"), 0)
    return next((place / "baselines").glob("*.yaml"))


def _judged_drift(place: Path) -> Path:
    """The run folder, with a baseline and how drift from it is to be judged."""
    run = _run(place)
    shutil.copy(_baseline(place), run / "baseline.yaml")
    settings = {"mode": "fail", "baseline": "baselines/sandbox.yaml", "known": True}
    (run / "drift.json").write_text(json.dumps(settings))
    return run


def _past(place: Path) -> Path:
    """What came before a run, as the next one would keep it."""
    moment = "2026-01-01T00:00:00+00:00"
    run = {"run": "a", "started": moment, "profile": "gate", "verdict": "pass", "requests": 9, "seconds": 1.5}
    past = {
        "runs": [run | {"counts": {"pass": 3}}],
        "cells": {"draft-get-content": {"abs-dev": [moment, None, 0, 1]}},
    }
    path = _run(place) / "past.json"
    path.write_text(json.dumps(past | {"format": 1}))
    return path


def _abandoned(place: Path) -> Path:
    """The folder of a run on the target where nothing listens, as one that was killed leaves it."""
    run = _run(place)
    facts = json.loads((run / "run.json").read_text())
    facts |= {"base_url": NOWHERE["REGISTRY_BASE_URL"], "finished": None, "process": None}
    facts["started"] = "2020-01-01T00:00:00+00:00"
    (run / "run.json").write_text(json.dumps(facts))
    entry = {"number": 1, "operation": "saveDraft", "what": "draft", "realm": "abs-dev", "role": "author"}
    entry |= {"identifier": f"rc-{facts['token']}0001-draft", "state": "created", "by": "main"}
    (run / "ledger.jsonl").write_text(json.dumps(entry | {"at": facts["started"]}) + "\n")
    return run


def _left_ledger(place: Path) -> Path:
    return _abandoned(place) / "ledger.jsonl"


def _swept(place: Path) -> Path:
    path = _abandoned(place) / "swept.json"
    draft = {"realm": "abs-dev", "identifier": "rc-abcd0001-draft", "role": "author", "why": "403"}
    swept = {"at": "2026-01-01T00:00:00Z", "removed": [], "left": [draft], "residue": []}
    path.write_text(json.dumps(swept))
    return path


def _written(name: str, content: str) -> Callable[[Path], Path]:
    def write(place: Path) -> Path:
        (place / name).write_text(content)
        return place / name

    return write


_DEVIATIONS = """[[deviation]]
clause = "draft-get-content"
realms = ["abs-dev"]
reason = "known"
owner = "someone"
issue = "https://tracker.test/1"
expires = 2999-01-01
"""
_CONSUMER = """operations = ["getDraft"]
realms = ["abs-dev"]
clauses = ["draft-get-content"]
"""
_SETTINGS = """base_url = "http://127.0.0.1:9"
kind = "development"
realms = ["abs-dev"]
[pace]
requests_per_second = 20
concurrency = 8
timeout_seconds = 30
[accounts.author]
email_env = "REGISTRY_EMAIL"
password_env = "REGISTRY_PASSWORD"
[realm.abs-dev]
contact_schema = "contact"
contact_document = "document.json"
country_terms = ["ca"]
draft_schema = "permit"
draft_document = "document.json"
existing_identifier = "rc-existing-record"
attachment_identifiers = ["rc-record-for-files"]
[attachments]
size_limit_bytes = 1000000
[names]
realm_header = "X-Realm"
"""
_DOCUMENT = (
    """{"firstName": "A", "country": {"identifier": "ca"}, "emails": ["a@b.test"], "x": [{"y": null}]}"""
)


def _sample_document(place: Path) -> Path:
    _written("x.toml", _SETTINGS)(place)
    return _written("document.json", _DOCUMENT)(place)


def _settings(place: Path) -> Path:
    return _sample_document(place).with_name("x.toml")


@dataclass(frozen=True)
class Altered:
    """A file of which each value is replaced, one after another, and the command that reads it.

    Attributes:
        file: Gives or makes the file, in a folder with the reports of a run.
        words: Of the command; `{run}` and `{file}` stand for their paths.
        codes: What the command may end with.
        sample: Whose reports they are (see `SAMPLES`).
        line: The number of the line that is altered, or the kind of the event in it; None for a file that is whole.
        order: More for `altered_files`.
    """

    file: Callable[[Path], Path]
    words: str
    codes: tuple[int, ...]
    sample: str = "finding"
    line: int | str | None = None
    order: Mapping[str, Any] = field(default_factory=dict)


def line_of(path: Path, altered_file: Altered) -> int | None:
    """The number of the line that is altered."""
    if not isinstance(altered_file.line, str):
        return altered_file.line
    lines = path.read_text("utf-8").split("\n")
    return next(at for at, text in enumerate(lines) if f'"kind":"{altered_file.line}"' in text)


def _in_run(name: str) -> Callable[[Path], Path]:
    return lambda place: _run(place) / name


def _history(place: Path) -> Path:
    return place / "reports" / "history.jsonl"


_KEPT = "gate --from reports"
EVERYTHING = {
    "check: a HAR": Altered(_har, "check {file}", (0, 1, 4, 5, 6)),
    "init: a HAR": Altered(_har, "init x --from-har {file} --no-look --dry-run", (0, 4)),
    "list findings: verdict.json": Altered(_in_run("verdict.json"), "list findings --run {run}", (0, 4)),
    "explain: verdict.json": Altered(_in_run("verdict.json"), "explain draft-get-content", (0, 4)),
    "gate --from: run.json": Altered(_in_run("run.json"), "gate --from reports", (0, 1, 3, 4, 6), "whole"),
    "drift show: observations.json": Altered(_in_run("observations.json"), "drift show", (0, 1, 4)),
    "drift accept: observations.json": Altered(_in_run("observations.json"), "drift accept", (0, 4)),
    "drift show: a baseline": Altered(_baseline, "drift show", (0, 1, 4), "whole"),
    "list red: history.jsonl": Altered(_history, "list red", (0, 4), "whole", 0),
    **{
        f"gate --from: {event} in a journal": Altered(
            _in_run("journal-main.jsonl"), _KEPT, (0, 1, 3, 4, 5, 6), sample, event, {"most": 40}
        )
        for sample, events in (
            ("tiny", "start begin case observation exchange end"),
            ("finding", "finding untested narrowed"),
        )
        for event in events.split()
    },
    "gate --from --consumer: a consumer file": Altered(
        _written("x.toml", _CONSUMER),
        "gate --from reports --consumer {file}",
        (0, 1, 4, 6),
        "whole",
    ),
    "gate --from --deviations: accepted deviations": Altered(
        _written("x.toml", _DEVIATIONS),
        "gate --from reports --deviations {file}",
        (0, 1, 4, 6),
        "whole",
    ),
    "doctor: settings of a target": Altered(_settings, "doctor --target {file}", (4, 6)),
    "doctor: a sample document": Altered(_sample_document, "doctor --target x.toml", (4, 6)),
    "sweep: run.json": Altered(_in_run("run.json"), "sweep --dry-run", (6,), order={"most": 60}),
    "sweep: the ledger of a run that was killed": Altered(_left_ledger, "sweep --dry-run", (6,), line=0),
    "sweep: swept.json": Altered(_swept, "sweep --dry-run", (6,)),
    **{
        f"contracts.reports: {what}": Altered(
            file, "contracts.reports {run} --format verdict", (0, 1, 4, 6), "whole", order={"most": 40}
        )
        for what, file in {
            "past.json": _past,
            "drift.json": lambda place: _judged_drift(place) / "drift.json",
            "baseline.yaml of the run": lambda place: _judged_drift(place) / "baseline.yaml",
            "run.json": _in_run("run.json"),
        }.items()
    },
}
for name, of in EVERYTHING.items():
    probe(GROUP, name)(partial(_every_value, altered_file=of))


#: What stands where a file is expected, by how it is made.
SPECIAL: dict[str, Callable[[Path], None]] = {
    "a pipe": os.mkfifo,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a folder": Path.mkdir,
}


def _special_file(folder: Path, name: str, kind: str) -> None:
    place = copied(folder, "tiny")
    path = _run(place) / name
    path.unlink()
    SPECIAL[kind](path)
    honest(command(place, *_KEPT.split()), 4, lines=3)


for name in ("run.json", "journal-main.jsonl"):
    for kind in SPECIAL:
        probe(GROUP, f"gate --from: {name} is {kind}")(partial(_special_file, name=name, kind=kind))

#: Commands that read a file which people name, the file last.
NAMED = (
    ("check", "x.har"),
    ("consumer", "from-har", "x.har"),
    ("init", "x", "--no-look", "--dry-run", "--from-har", "x.har"),
    ("drift", "show", "--baseline", "x.yaml"),
    ("doctor", "--target", "x.toml"),
    ("gate", "--consumer", "x.toml"),
    ("run", "--deviations", "x.toml"),
    ("call", "createContact", "--dry-run", "--body", "@x.json"),
)


def _named_file(folder: Path, words: tuple[str, ...]) -> None:
    for number, (kind, make) in enumerate(SPECIAL.items()):
        place = folder / str(number)
        place.mkdir()
        make(place / words[-1].removeprefix("@"))
        try:
            honest(command(place, *words, environment=NOWHERE), 4)
        except Wrong as wrong:
            raise Wrong(f"{kind}: {wrong}") from None


def _terabyte(folder: Path, words: tuple[str, ...]) -> None:
    with (folder / words[-1].removeprefix("@")).open("wb") as file:
        file.truncate(1 << 40)
    ended = honest(command(folder, *words, environment=NOWHERE, limit=memory_limit(2 << 30)), 4)
    # `drift` has no run to show here, and reads no baseline.
    expect(
        words[0] == "drift" or "bytes" in ended.err or "File too large" in ended.err, f"says {ended.err!r}"
    )


for words in NAMED:
    probe(GROUP, f"{' '.join(words)}: the file is a terabyte of nothing")(partial(_terabyte, words=words))
    probe(GROUP, f"{' '.join(words)}: the file is {', '.join(SPECIAL)}")(partial(_named_file, words=words))


#: Entries of an archive, and what stands in each.
_MANY, _LARGE_TEXT = 1_000, "x" * 1_000_000


@probe(GROUP, "check: a HAR of a gigabyte")
def _gigabyte(folder: Path) -> str:
    if shutil.disk_usage(folder).free < 4 << 30:
        raise Skipped("no room for it here")
    place = copied(folder, "finding")
    (entry,) = json.loads(_har(place).read_text("utf-8"))["log"]["entries"][:1]
    entry["response"]["content"] |= {"text": _LARGE_TEXT, "size": len(_LARGE_TEXT)}
    with (place / "large.har").open("w") as file:
        file.write('{"log":{"entries":[')
        for number in range(_MANY):
            file.write(("," if number else "") + json.dumps(entry))
        file.write("]}}")
    began = time.monotonic()
    peaks: list[float] = []

    def watch(process: Running) -> None:
        while process.poll() is None:
            with suppress(OSError):
                status = Path(f"/proc/{process.pid}/status").read_text().splitlines()
                peaks.extend(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM:"))
            time.sleep(0.2)

    ended = honest(command(place, "check", "large.har", meanwhile=watch), 0, 1, 4, 5, 6)
    return f"exit {ended.code}, {time.monotonic() - began:.0f} s, {max(peaks, default=0):.0f} MB"


@probe(GROUP, "sweep: a crafted run folder names the prefix of others")
def _crafted_sweep(folder: Path) -> str:
    with scripted(empty_lists) as service:
        settings = service.settings(folder)
        for number, token in enumerate(("", "a", "keep", "colleague", "../x", None, 7)):
            run = folder / "reports" / f"20200101-00000{number}-x"
            run.mkdir(parents=True)
            facts = {
                "base_url": service.url,
                "token": token,
                "started": "2020-01-01T00:00:00+00:00",
                "finished": None,
            }
            (run / "run.json").write_text(json.dumps(facts))
            entry = {
                "number": 1,
                "operation": "saveDraft",
                "what": "draft",
                "realm": "abs-dev",
                "role": "author",
            }
            entry |= {
                "identifier": "rc-colleague-record-1",
                "state": "created",
                "at": facts["started"],
                "by": "main",
            }
            (run / "ledger.jsonl").write_text(json.dumps(entry) + "\n")
        ended = honest(command(folder, "sweep", "--target", str(settings), environment=accounts()), 0, 6)
        expect(not service.wrote(), f"deleted {[each.path for each in service.wrote()][:2]}")
    return f"exit {ended.code}"


def _bomb(folder: Path, name: str, text: str, words: tuple[str, ...], codes: tuple[int, ...]) -> None:
    (folder / name).write_text(text)
    honest(command(folder, *words), *codes)


ALIASES = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join(['*' + before] * 10)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
DEEP = "[" * 100_000 + "]" * 100_000
for file, text, started in (
    ("x.har", DEEP, ("check", "x.har")),
    ("x.har", '{"log":{"entries":' + DEEP + "}}", ("check", "x.har")),
    ("x.har", "9" * 100_000, ("check", "x.har")),
    ("x.har", "", ("check", "x.har")),
    ("x.toml", "a = " + DEEP, ("doctor", "--target", "x.toml")),
    ("x.toml", "x" * 3_000_000, ("doctor", "--target", "x.toml")),
):
    probe(GROUP, f"{started[0]}: {file} of {text[:12]!r}, {len(text):,} characters")(
        partial(_bomb, name=file, text=text, words=started, codes=(4,))
    )


@probe(GROUP, "drift show: YAML aliases of aliases")
def _aliases(folder: Path) -> None:
    place = copied(folder, "finding")
    (place / "bomb.yaml").write_text(ALIASES)
    honest(command(place, "drift", "show", "--baseline", "bomb.yaml"), 4)
