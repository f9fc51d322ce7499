"""The suite's manners on a shared service: runs beside other people's records, and runs that are killed.

A canary runs the suite beside planted records and checks that none of them changed. A kill ends a run with SIGKILL and
checks what is left after the next run or `sweep`.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import sqlite3
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Final

import requests

from registry_contracts.interface.location import PROGRAM
from registry_contracts.interface.operations import PERMANENT_KINDS
from registry_contracts.proving.processes import ForkedSandbox
from registry_contracts.proving.trials import Kind, Result, Trial
from registry_contracts.sandbox.responses import json_text
from registry_contracts.sandbox.storage import (
    DATABASE,
    DRAFT,
    PUBLISHED,
    Attachment,
    Clock,
    FileStore,
    Storage,
)
from registry_contracts.session.ledger import Entry, read_entries, residue
from registry_contracts.settings import embedded_sandbox
from registry_contracts.settings.target import ACCOUNT_ROLES, DOCUMENT_REALMS, Pace

_PATIENCE_SECONDS: Final = 20.0
_TABLES: Final = {
    "versions": ("realm", "identifier", "state"),
    "locks": ("realm", "identifier"),
    "attachments": ("id",),
}
#: Names of other people's records that resemble the suite's own as closely as possible.
LOOKALIKES: Final = (
    "rc-report-2026-final",
    "rc-report2026finalver",
    "rc-aaaa-not-of-the-suite",
    "rc-abcdmadebyaperson0001",
    "rc-keepsakes-of-mine",
    "rc-keep_author-contact",
    "RC-keep-author-contact-abs-dev",
    "rc_keep-author-contact-abs-dev",
    "rcabcd000000000000000000",
    "sandbox-existing-abs-dev-7",
    "sandbox-existing-abs-dev0",
    "xrc-abcd0000000000000000",
    "1234567890",
    "-------------------------------",
)
_SHORTEST: Final = 11

Snapshot = dict[tuple[str, ...], str]


def plant(data: Path) -> None:
    """Plant drafts with attachments, and contacts, of two accounts in each realm of a data folder."""
    clock = Clock(3, "Z")
    files, storage = FileStore(data), Storage(data, clock)
    with storage.transaction() as records:
        for realm, (number, name) in product(DOCUMENT_REALMS, enumerate(LOOKALIKES)):
            owner, draft = ("author", "other")[number % 2], name.ljust(_SHORTEST, "0")
            for identifier, state in ((draft, DRAFT), (f"{draft}c", PUBLISHED)):
                header = {"identifier": identifier, "schema": "contact", "languages": ["en"]}
                content = json_text({"header": header, "firstName": owner, "lastName": "Neighbour"})
                records.store(realm, identifier, state, schema="contact", owner=owner, content=content)
            file = files.keep(f"of the {owner}".encode())
            mine = Attachment(0, draft, "mine.txt", "text/plain", file.size, owner, clock.now(), file.key)
            records.add_attachment(mine)
    storage.close()
    files.close()


def snapshot(data: Path) -> Snapshot:
    """A digest of every row of a sandbox's database, files included, by table and key."""
    with closing(sqlite3.connect(f"file:{data / DATABASE}?mode=ro", uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        return dict(_rows(connection, data))


def _rows(connection: sqlite3.Connection, data: Path) -> Iterator[tuple[tuple[str, ...], str]]:
    for table, key in _TABLES.items():
        for row in connection.execute(f"SELECT * FROM {table}"):  # noqa: S608 - our own names
            digest = hashlib.sha256(repr(tuple(row)).encode("utf-8", "surrogatepass"))
            if table == "attachments":
                path = next(data.rglob(row["file_key"]), None)
                digest.update(path.read_bytes() if path else b"(no file)")
            yield (table, *(str(row[name]) for name in key)), digest.hexdigest()


def changes(before: Snapshot, after: Snapshot) -> list[str]:
    """The earlier rows that a run changed or removed."""
    return [
        f"{' '.join(place)}: {'changed' if place in after else 'gone'}"
        for place, digest in before.items()
        if after.get(place) != digest
    ]


@dataclass(frozen=True)
class Served:
    """A running sandbox.

    Attributes:
        data: Its data folder.
        planted: Other people's records in it.
        settings: Settings for it under another name than `sandbox`, so that the usual manners apply.
        scratch: Folder for the `reports` of its runs, and in `tmp` their private folders.
    """

    data: Path
    planted: Snapshot
    settings: Path
    scratch: Path

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """Start the suite's program, aimed at this sandbox, with the published accounts."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("REGISTRY_")}
        environment["TMPDIR"] = str(self.scratch / "tmp")
        for role in ACCOUNT_ROLES:
            environment[f"SANDBOX_{role.upper()}_EMAIL"] = f"{role}@sandbox.test"
            environment[f"SANDBOX_{role.upper()}_PASSWORD"] = f"sandbox-{role}"
        aim = ["--target", str(self.settings), "--reports", str(self.scratch / "reports")]
        command = [*PROGRAM, words[0], *aim, *words[1:]]
        pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return subprocess.Popen(command, env=environment, **pipes)  # noqa: S603 - our own interpreter and words

    def run(self, *words: str) -> int:
        """Run the program to its end, and return its exit code."""
        process = self.start(*words)
        (self.scratch / "output.txt").write_bytes(process.communicate()[0])
        return process.returncode


@contextmanager
def served(folder: Path, arguments: Sequence[str] = ()) -> Iterator[Served]:
    """Serve a sandbox with other people's records during the `with` block.

    Args:
        folder: A fresh one.
        arguments: More options for it, such as `--fault NAME`.
    """
    data = folder / "data"
    (folder / "tmp").mkdir(parents=True)
    plant(data)
    planted = snapshot(data)
    sandbox = ForkedSandbox(["--data", str(data), *arguments])
    try:
        # It answers as soon as its own records are planted.
        requests.get(f"{sandbox.base_url}/docs", timeout=_PATIENCE_SECONDS)
        yield Served(data, planted, _settings(folder, sandbox), folder)
    finally:
        sandbox.stop()


def _settings(folder: Path, sandbox: ForkedSandbox) -> Path:
    source = embedded_sandbox.SANDBOX_SETTINGS
    shutil.copytree(source.parent / "samples", folder / "samples", dirs_exist_ok=True)
    text = source.read_text(encoding="utf-8").replace("http://127.0.0.1:8080", sandbox.base_url)
    path = folder / "neighbourhood.toml"
    path.write_text(f"{text}\n[attachments]\nsize_limit_bytes = {sandbox.size_limit}\n", encoding="utf-8")
    return path


def remains(service: Served, before: Snapshot, after: Snapshot) -> tuple[list[str], int]:
    """Compare two snapshots with the ledgers of all runs.

    Args:
        before, after: The database before the run, and after the clean-up.

    Returns:
        What is wrongly left: drafts that belong to no record of the residue, permanent records that no ledger lists
        or that exceed the budget, private folders of dead runs; and the number of new permanent records in the realm
        with most of them.
    """
    new = after.keys() - before.keys()
    permanent = {place[1:3] for place in new if place[0] == "locks" or place[-1] == "published"}
    listed = list(residue(read_entries(sorted(service.scratch.glob("reports/*/ledger*.jsonl")))))
    records = {(entry.realm, entry.identifier) for entry in listed if entry.what in PERMANENT_KINDS}
    drafts = {place[1:3] for place in new if place[0] == "versions" and place[-1] == "draft"}
    most = max(Counter(place[0] for place in permanent).values(), default=0)
    left = [f"draft {' '.join(place)}" for place in sorted(drafts - permanent - records)]
    left += [f"unlisted record {name}" for name in _unlisted(permanent - records, listed)]
    left += [f"{most} permanent records in one realm"] * (most > Pace().permanent_records)
    left += [
        f"folder {path.name}" for path in service.scratch.glob("tmp/registry-contracts-*") if path.is_dir()
    ]
    return left, most


def _unlisted(records: set[tuple[str, ...]], listed: list[Entry]) -> list[str]:
    """Records that no ledger names; each lost answer to a creation accounts for one record in its realm."""
    nameless = Counter(entry.realm for entry in listed if not entry.identifier)
    unlisted = []
    for record in sorted(records):
        if nameless[record[0]] > 0:
            nameless[record[0]] -= 1
        else:
            unlisted.append(" ".join(record))
    return unlisted


def run_beside(trial: Trial, folder: Path) -> Result:
    """Run a canary or a kill in this process, which must be a fork made for it.

    Args:
        folder: A fresh folder.
    """
    started = time.monotonic()
    result = (canary if trial.kind is Kind.CANARY else kill)(trial, folder)
    result.seconds = round(time.monotonic() - started, 2)
    return result


#: Exit codes of runs in which the suite itself did not break.
_SOUND: Final = frozenset({0, 1, 5, 6})


def canary(trial: Trial, folder: Path) -> Result:
    """Run the suite once beside other people's records."""
    with served(folder, ("--fault", trial.fault) if trial.fault else ()) as service:
        before = snapshot(service.data)
        code = service.run("run", *_run_words(trial), *trial.name.split())
        after = snapshot(service.data)
        trouble = "" if code in _SOUND else f"the run ended with exit code {code}"
        permanent = remains(service, before, after)[1]
        wrong = changes(service.planted, after)
        return Result(trial, max(code, 0), permanent=permanent, wrong=tuple(wrong), trouble=trouble)


def kill(trial: Trial, folder: Path) -> Result:
    """Kill a run, and let a sweep or the next run, depending on the seed, remove what is left."""
    with served(folder) as service:
        before = snapshot(service.data)
        _kill(service.start("run", *_run_words(trial), "-n", "2"), float(trial.name), trial.seed)
        sweep = ("sweep", "--older-than", "1000")
        code = service.run(*(sweep if trial.seed % 2 else ("run", "--profile", "smoke", "-q")))
        left, permanent = remains(service, before, snapshot(service.data))
        return Result(trial, max(code, 0), permanent=permanent, wrong=tuple(left))


def _run_words(trial: Trial) -> list[str]:
    realms = [f"--realm={realm}" for realm in trial.realms]
    return [f"--profile={trial.profile}", f"--seed={trial.seed}", *realms, "-q"]


def _kill(process: subprocess.Popen[bytes], after: float, seed: int) -> None:
    """Kill a run after some seconds: for every third seed with all its processes, else only its controller."""
    with suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=after)
    started = _descendants(process.pid) if seed % 3 == 0 else []
    for number in (process.pid, *started):
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
    # Its output ends when its workers have ended, too.
    process.communicate()


def _descendants(process: int) -> list[int]:
    """The descendants of a process."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True)  # noqa: S607
    pairs = [tuple(map(int, line.split())) for line in listed.stdout.splitlines()]
    found = [process]
    for parent in found:
        found += [child for child, of in pairs if of == parent]
    return found[1:]
