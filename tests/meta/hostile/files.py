"""A file from a stranger does nothing but be read: whole and valid, or refused in one line, before anything is sent."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from tests.meta.hostile.probe import (
    PATIENCE,
    TINY_RUN,
    WHOLE_RUN,
    Skipped,
    Wrong,
    command,
    expect,
    honest,
    memory_limit,
    probe,
    run_folders,
)
from tests.meta.hostile.service import Asked, Given, accounts, altered, scripted
from tests.meta.program import CHECKOUT, clean_environment

GROUP = "files"
#: A target where nothing listens; nothing may get as far as that with a file that cannot be used.
_NOWHERE = {
    "REGISTRY_BASE_URL": "http://127.0.0.1:9",
    "REGISTRY_EMAIL": "a@b.test",
    "REGISTRY_PASSWORD": "not-a-password",
}
_BROKEN = ("--sandbox-arguments=--defect draft-content-empty",)
_MADE: dict[str, Path] = {}
_MAKING = threading.Lock()


def _sample(kind: str) -> Path:
    """A folder with the reports of a run of some seconds, made once: with a finding, of a shard, or with a history."""
    with _MAKING:
        if kind not in _MADE:
            folder = CHECKOUT / "build" / "hostile" / kind
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            more = {
                "finding": (*TINY_RUN, *_BROKEN),
                "shard": (*TINY_RUN, "--shard", "1/1"),
                "shard with findings": (*TINY_RUN, "--shard", "1/1", *_BROKEN),
                "whole": WHOLE_RUN,
            }
            honest(command(folder, *more[kind]), int("finding" in kind), lines=3)
            _MADE[kind] = folder
        return _MADE[kind]


def _copied(folder: Path, kind: str) -> Path:
    """A folder to work in, in an empty one, with a run's reports of its own."""
    place = folder / "around" / "work"
    shutil.copytree(_sample(kind), place, symlinks=True, ignore=shutil.ignore_patterns("std*", "tmp"))
    return place


def _every_value(
    folder: Path, file: Callable[[Path], Path], words: Callable[[Path], list[str]], **order: Any
) -> str:
    place = _copied(folder, order.pop("kind", "finding"))
    path = file(place)
    line = order.pop("event", None)
    if line is not None:
        lines = path.read_text("utf-8").split("\n")
        order["line"] = next(at for at, text in enumerate(lines) if f'"kind":"{line}"' in text)
    order = {"file": str(path), "words": words(place), "most": 150, "codes": [4], "troubles": 1} | order
    done = subprocess.run(
        [sys.executable, "-m", "tests.meta.hostile.altered_files", json.dumps(order)],
        cwd=place,
        env=clean_environment(PYTHONPATH=str(CHECKOUT), **_NOWHERE),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    if done.returncode:
        raise Wrong(f"the batch broke: {done.stderr.strip().splitlines()[-1:]}")
    result = json.loads(done.stdout.splitlines()[-1])
    if result["wrong"]:
        number = sum(times for _, times in result["wrong"])
        raise Wrong(
            f"{number} of {result['tried']}: " + " | ".join(f"{said} ({n})" for said, n in result["wrong"])
        )
    return f"{result['tried']} values: exits {result['codes']}"


def _run(place: Path) -> Path:
    return run_folders(place / "reports")[0]


def _finding(place: Path) -> Path:
    return sorted((_run(place) / "findings").glob("*.json"))[0]


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
    facts |= {"base_url": _NOWHERE["REGISTRY_BASE_URL"], "finished": None, "process": None}
    facts["started"] = "2020-01-01T00:00:00+00:00"
    (run / "run.json").write_text(json.dumps(facts))
    entry = {"number": 1, "operation": "saveDraft", "what": "draft", "realm": "abs-dev", "role": "author"}
    entry |= {"identifier": f"rc-{facts['token']}0001-draft", "state": "created", "by": "main"}
    (run / "ledger.jsonl").write_text(json.dumps(entry | {"at": facts["started"]}) + "\n")
    return run


def _swept(place: Path) -> Path:
    path = _abandoned(place) / "swept.json"
    draft = {"realm": "abs-dev", "identifier": "rc-abcd0001-draft", "role": "author", "why": "403"}
    swept = {"at": "2026-01-01T00:00:00Z", "removed": [], "left": [draft], "residue": []}
    path.write_text(json.dumps(swept))
    return path


def _saved_call(place: Path) -> Path:
    honest(command(place, "call", "listDrafts", "--save", "kept"), 0, 1, 6)
    return next((place / "reports").glob("saved/**/kept.json"))


def _night(place: Path) -> Path:
    """A run as the archive of a site keeps it."""
    honest(command(place, "site", "reports", "-o", "site"), 0, lines=3)
    with zipfile.ZipFile(place / "site" / "runs.zip") as archive:
        path = place / "night.json"
        path.write_bytes(archive.read(archive.namelist()[0]))
    shutil.rmtree(place / "site")
    (place / "runs").mkdir()
    return path.rename(place / "runs" / "night.json")


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
existing_identifier = "rc-existing-record"
[attachments]
size_limit_bytes = 1000000
"""
_DOCUMENT = (
    """{"firstName": "A", "country": {"identifier": "ca"}, "emails": ["a@b.test"], "x": [{"y": null}]}"""
)


def _sample_document(place: Path) -> Path:
    _written("x.toml", _SETTINGS)(place)
    return _written("document.json", _DOCUMENT)(place)


EVERYTHING: dict[str, dict[str, Any]] = {
    "replay: a finding": {
        "file": _finding,
        "words": lambda place: ["replay", str(_finding(place)), "--times", "1"],
        "codes": [4, 6],
    },
    "replay: a HAR": {
        "file": _har,
        "words": lambda _: ["replay", "traffic.har", "--times", "1"],
        "codes": [4, 6],
    },
    "check: a HAR": {"file": _har, "words": lambda _: ["check", "traffic.har"], "codes": [0, 1, 4, 5, 6]},
    "consumer from-har: a HAR": {
        "file": _har,
        "words": lambda _: ["consumer", "from-har", "traffic.har"],
        "codes": [0, 4],
    },
    "init: a HAR": {
        "file": _har,
        "words": lambda _: ["init", "x", "--from-har", "traffic.har", "--no-look", "--dry-run"],
        "codes": [0, 4],
    },
    "list findings: verdict.json": {
        "file": lambda place: _run(place) / "verdict.json",
        "words": lambda place: ["list", "findings", "--run", str(_run(place))],
        "codes": [0, 4],
    },
    "explain: verdict.json": {
        "file": lambda place: _run(place) / "verdict.json",
        "words": lambda _: ["explain", "draft-get-content"],
        "codes": [0, 4],
    },
    "drift show: observations.json": {
        "file": lambda place: _run(place) / "observations.json",
        "words": lambda _: ["drift", "show"],
        "codes": [0, 1, 4],
    },
    "drift accept: observations.json": {
        "file": lambda place: _run(place) / "observations.json",
        "words": lambda _: ["drift", "accept"],
        "codes": [0, 4],
    },
    "drift show: a baseline": {
        "kind": "whole",
        "file": _baseline,
        "words": lambda _: ["drift", "show"],
        "codes": [0, 1, 4],
    },
    "history: history.jsonl": {
        "kind": "whole",
        "file": lambda place: place / "reports" / "history.jsonl",
        "words": lambda _: ["history"],
        "line": 0,
        "codes": [0, 4],
    },
    "merge: run.json": {
        "kind": "shard",
        "troubles": 2,
        "file": lambda place: _run(place) / "run.json",
        "words": lambda _: ["merge", "reports", "--reports", "merged"],
        "codes": [0, 4, 6],
        "most": 60,
    },
    "merge: the ledger": {
        "kind": "shard",
        "file": lambda place: _run(place) / "ledger.jsonl",
        "words": lambda _: ["merge", "reports", "--reports", "merged"],
        "line": 0,
        "codes": [0],
        "most": 20,
    },
    "sweep: run.json": {
        "file": lambda place: _run(place) / "run.json",
        "words": lambda _: ["sweep", "--dry-run"],
        "codes": [6],
        "most": 60,
    },
    **{
        f"merge: {event} in a journal": {
            "kind": "shard",
            "file": lambda place: _run(place) / "journal-main.jsonl",
            "words": lambda _: ["merge", "reports", "--reports", "merged"],
            "event": event,
            "codes": [0, 3, 4, 5, 6],
            "most": 40,
        }
        for event in ("start", "begin", "case", "observation", "exchange", "end")
    },
    **{
        f"merge: {event} in a journal": {
            "kind": "shard with findings",
            "file": lambda place: _run(place) / "journal-main.jsonl",
            "words": lambda _: ["merge", "reports", "--reports", "merged"],
            "event": event,
            "codes": [0, 1, 3, 4, 5, 6],
            "most": 40,
        }
        for event in ("finding", "untested", "narrowed")
    },
    "can-release: verdict.json": {
        "kind": "whole",
        "file": lambda place: _run(place) / "verdict.json",
        "words": lambda _: ["can-release", "--target", "sandbox"],
        "codes": [0, 1, 4, 6],
    },
    "can-release --consumer: a consumer file": {
        "kind": "whole",
        "file": _written("x.toml", _CONSUMER),
        "words": lambda _: ["can-release", "--target", "sandbox", "--consumer", "x.toml"],
        "codes": [0, 1, 4, 6],
    },
    "can-release --deviations: accepted deviations": {
        "kind": "whole",
        "file": _written("x.toml", _DEVIATIONS),
        "words": lambda _: ["can-release", "--target", "sandbox", "--deviations", "x.toml"],
        "codes": [0, 1, 4, 6],
    },
    "doctor: settings of a target": {
        "file": lambda place: _sample_document(place).with_name("x.toml"),
        "words": lambda _: ["doctor", "--target", "x.toml"],
        "codes": [4, 6],
    },
    "doctor: a sample document": {
        "file": _sample_document,
        "words": lambda _: ["doctor", "--target", "x.toml"],
        "codes": [4, 6],
    },
    "site: verdict.json of a kept run": {
        "kind": "whole",
        "file": lambda place: _run(place) / "verdict.json",
        "words": lambda _: ["site", "reports", "-o", "site"],
        "codes": [0, 4],
        "most": 30,
    },
    "site: a night in the archive of a site": {
        "kind": "whole",
        "file": _night,
        "packed": ["runs.zip", "00000-a.json"],
        "words": lambda _: ["site", "runs/runs.zip", "-o", "site"],
        "codes": [0, 4],
        "most": 60,
    },
    "history merge: history.jsonl": {
        "kind": "whole",
        "file": lambda place: place / "reports" / "history.jsonl",
        "words": lambda _: ["history", "merge", "reports/history.jsonl", "-o", "together.jsonl"],
        "line": 0,
        "codes": [0, 4],
    },
    "replay: a saved call": {
        "file": _saved_call,
        "words": lambda place: ["replay", str(_saved_call(place)), "--times", "1"],
        "codes": [4, 6],
    },
    "replay: a finding in a zip": {
        "file": _finding,
        "packed": ["x.zip", "findings/x.json"],
        "words": lambda place: ["replay", str(_finding(place).with_name("x.zip")), "--times", "1"],
        "codes": [4, 6],
        "most": 60,
    },
    "sweep: the ledger of a run that was killed": {
        "file": lambda place: _abandoned(place) / "ledger.jsonl",
        "words": lambda _: ["sweep", "--dry-run"],
        "line": 0,
        "codes": [6],
    },
    "sweep: swept.json": {"file": _swept, "words": lambda _: ["sweep", "--dry-run"], "codes": [6]},
    "sandbox --like: observations.json": {
        "file": lambda place: _run(place) / "observations.json",
        "words": lambda place: ["sandbox", "--like", str(_run(place) / "observations.json")],
        "beginning": ["contracts.sandbox.serve", "main"],
        "codes": [0, 4],
    },
    "prove --floor: a kill rate": {
        "file": _written("floor.json", '{"failed": 1, "drawn": 60, "seed": 1, "command": "prove"}'),
        "words": lambda _: ["prove", "--part", "drawn", "--floor", "floor.json"],
        "beginning": ["contracts.proving.proof", "preload"],
        "codes": [0, 4],
    },
    **{
        f"contracts.reports: {what}": {
            "kind": "whole",
            "file": file,
            "words": lambda place: ["contracts.reports", str(_run(place)), "--format", "verdict"],
            "codes": [0, 1, 4, 6],
            "most": 40,
        }
        for what, file in {
            "past.json": _past,
            "drift.json": lambda place: _judged_drift(place) / "drift.json",
            "baseline.yaml of the run": lambda place: _judged_drift(place) / "baseline.yaml",
            "run.json": lambda place: _run(place) / "run.json",
        }.items()
    },
}
for name, order in EVERYTHING.items():
    probe(GROUP, name)(partial(_every_value, **order))


#: What stands where a file is expected, by how it is made.
SPECIAL: dict[str, Callable[[Path], None]] = {
    "a pipe": os.mkfifo,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a folder": Path.mkdir,
}


def _special_file(folder: Path, name: str, kind: str) -> None:
    place = _copied(folder, "shard")
    path = _run(place) / name
    path.unlink()
    SPECIAL[kind](path)
    # A ledger that is not there is one of a run that wrote nothing.
    codes = (0, 4) if kind == "a link to itself" and name == "ledger.jsonl" else (4,)
    honest(command(place, "merge", "reports", "--reports", "merged"), *codes, lines=3)


for name in ("run.json", "journal-main.jsonl", "ledger.jsonl"):
    for kind in SPECIAL:
        probe(GROUP, f"merge: {name} is {kind}")(partial(_special_file, name=name, kind=kind))

#: Commands that read a file which people name, the file last.
NAMED = (
    ("check", "x.har"),
    ("replay", "x.json"),
    ("replay", "x.har"),
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
            honest(command(place, *words, environment=_NOWHERE), 4)
        except Wrong as wrong:
            raise Wrong(f"{kind}: {wrong}") from None


def _terabyte(folder: Path, words: tuple[str, ...]) -> None:
    with (folder / words[-1].removeprefix("@")).open("wb") as file:
        file.truncate(1 << 40)
    ended = honest(command(folder, *words, environment=_NOWHERE, limit=memory_limit(2 << 30)), 4)
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
    place = _copied(folder, "finding")
    (entry,) = json.loads(_har(place).read_text("utf-8"))["log"]["entries"][:1]
    entry["response"]["content"] |= {"text": _LARGE_TEXT, "size": len(_LARGE_TEXT)}
    with (place / "large.har").open("w") as file:
        file.write('{"log":{"entries":[')
        for number in range(_MANY):
            file.write(("," if number else "") + json.dumps(entry))
        file.write("]}}")
    began = time.monotonic()
    peaks: list[float] = []

    def watch(process: subprocess.Popen[bytes]) -> None:
        while process.poll() is None:
            with suppress(OSError):
                status = Path(f"/proc/{process.pid}/status").read_text().splitlines()
                peaks.extend(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM:"))
            time.sleep(0.2)

    ended = honest(command(place, "check", "large.har", meanwhile=watch), 0, 1, 4, 5, 6)
    return f"exit {ended.code}, {time.monotonic() - began:.0f} s, {max(peaks, default=0):.0f} MB"


@probe(GROUP, "merge: the target's name leads out of the reports folder")
def _leads_out(folder: Path) -> None:
    place = _copied(folder, "shard")
    path, ours = _run(place) / "run.json", {"merged", "stdout", "stderr", "tmp"}
    before = set(place.iterdir())
    for value in ("../../out", "/out", "a/b", "..\\out", "x\n"):
        path.write_text(json.dumps(json.loads(path.read_text()) | {"target": value}))
        honest(command(place, "merge", "reports", "--reports", "merged"), 0, 4, lines=2)
        made = {path.name for path in set(place.iterdir()) - before}
        expect(made <= ours, f"wrote {sorted(made - ours)}")
    expect(not list((folder / "around").glob("out*")), "wrote beside its folder")


_DANGEROUS = {
    "X-HTTP-Method-Override": "DELETE",
    "X-Original-Url": "/api/v2013/other",
    "X-Forwarded-Host": "evil.test",
    "Host": "evil.test",
    "Cookie": "a=b",
    "Transfer-Encoding": "chunked",
}


@probe(GROUP, "replay: dangerous headers of a finding are not sent")
def _dangerous_headers(folder: Path) -> str:
    place = _copied(folder, "finding")
    path = _finding(place)
    content = json.loads(path.read_text("utf-8"))
    for exchange in (*content["sequence"], *content["arranged"]):
        exchange["request"]["headers"] += [[name, value] for name, value in _DANGEROUS.items()]
    path.write_text(json.dumps(content), "utf-8")
    with altered(lambda _, given: given) as service:
        settings = service.settings(place)
        ended = honest(
            command(
                place, "replay", str(path), "--times", "1", "--target", str(settings), environment=accounts()
            ),
            0,
            1,
            6,
        )
    sent = {
        name.lower()
        for asked in service.asked
        for name, value in asked.headers
        if value in _DANGEROUS.values()
    }
    expect(not sent - {"host"}, f"sends {sorted(sent)}")
    return f"exit {ended.code}, {len(service.asked)} requests"


@probe(GROUP, "sweep: a crafted run folder names the prefix of others")
def _crafted_sweep(folder: Path) -> str:
    def script(asked: Asked) -> bytes:
        token = b'{"authenticationToken": "token-of-the-author-0001", "expiration": "2999-01-01T00:00:00.0Z"}'
        body = token if asked.sign_in else b"[]"
        return Given(200, [("Content-Type", "application/json")], body).raw(asked.method)

    with scripted(script) as service:
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
    ("x.json", DEEP, ("replay", "x.json")),
    ("x.har", "9" * 100_000, ("check", "x.har")),
    ("x.har", "", ("check", "x.har")),
    ("x.json", '{"clause":1' * 50_000, ("replay", "x.json")),
    ("x.toml", "a = " + DEEP, ("doctor", "--target", "x.toml")),
    ("x.toml", "x" * 3_000_000, ("doctor", "--target", "x.toml")),
):
    probe(GROUP, f"{started[0]}: {file} of {text[:12]!r}, {len(text):,} characters")(
        partial(_bomb, name=file, text=text, words=started, codes=(4,))
    )


@probe(GROUP, "drift show: YAML aliases of aliases")
def _aliases(folder: Path) -> None:
    place = _copied(folder, "finding")
    (place / "bomb.yaml").write_text(ALIASES)
    honest(command(place, "drift", "show", "--baseline", "bomb.yaml"), 4)
