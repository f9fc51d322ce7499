"""`python -m contracts.proving.manners`: the suite's manners on a service that others use, put to the test.

`canary` runs the suite beside other people's records and looks whether one of them has changed. `kills` ends runs
with SIGKILL at random moments and looks what is left once the next run or `sweep` has been there.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click
import requests

from contracts.errors import RegistryContractsError, SuiteError
from contracts.interface.location import python_command
from contracts.interface.operations import PERMANENT_KINDS
from contracts.session.ledger import Entry, read_entries, residue
from contracts.settings import embedded_sandbox
from contracts.settings.target import DOCUMENT_REALMS, Pace

_PATIENCE_SECONDS: Final = 20.0
_TABLES: Final = {
    "versions": ("realm", "identifier", "state"),
    "locks": ("realm", "identifier"),
    "attachments": ("id",),
}
#: Names of people's own records that lie as close to the suite's as they can.
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

Row = tuple[Any, ...]
Snapshot = dict[tuple[str, ...], str]


@dataclass(frozen=True)
class Change:
    """One row that is not what it was: `table` and key, and how it differs."""

    place: tuple[str, ...]
    how: str


class Neighbours:
    """Plants records of two accounts over the interface, and looks at the database from outside.

    Args:
        url: Base URL of a sandbox.
        data: Its data folder.
    """

    def __init__(self, url: str, data: Path) -> None:
        self._url = url
        self._data = data
        self._tokens: dict[str, str] = {}

    def plant(self) -> int:
        """Plant drafts with attachments, and contacts, in each realm; returns how many records."""
        self._tokens = {role: self._sign_in(role) for role in ("author", "other")}
        count = 0
        for realm in DOCUMENT_REALMS:
            for number, name in enumerate(LOOKALIKES):
                role = ("author", "other")[number % 2]
                count += self._plant(role, realm, name.ljust(_SHORTEST, "0"))
        return count

    def snapshot(self) -> Snapshot:
        """Every row of the database by table and key, as a digest of all its columns, files included."""
        database = f"file:{self._data / 'registry.sqlite'}?mode=ro"
        with closing(sqlite3.connect(database, uri=True)) as connection:
            connection.row_factory = sqlite3.Row
            return dict(self._rows(connection))

    def _rows(self, connection: sqlite3.Connection) -> Iterator[tuple[tuple[str, ...], str]]:
        for table, key in _TABLES.items():
            for row in connection.execute(f"SELECT * FROM {table}"):  # noqa: S608 - our own names
                digest = hashlib.sha256(repr(tuple(row)).encode("utf-8", "surrogatepass"))
                if table == "attachments":
                    digest.update(self._file(row["file_key"]))
                yield (table, *(str(row[name]) for name in key)), digest.hexdigest()

    def _file(self, key: str) -> bytes:
        path = next(self._data.rglob(key), None)
        return path.read_bytes() if path else b"(no file)"

    def _plant(self, role: str, realm: str, name: str) -> int:
        header = {"identifier": name, "schema": "contact", "languages": ["en"]}
        path = f"/api/v2013/documents/{name}"
        self._send(
            role, realm, "PUT", f"{path}/versions/draft?schema=contact", {"header": header, "firstName": role}
        )
        self._send(role, realm, "POST", f"{path}/attachments/mine.txt", raw=f"of the {role}".encode())
        contact = {
            "header": {**header, "identifier": f"{name}c"[-128:]},
            "firstName": role,
            "lastName": "Neighbour",
            "organization": {"en": "Next door"},
            "country": {"identifier": "ke"},
            "emails": [f"{role}@next.example"],
            "type": "person",
            "contactOrganization": {"identifier": f"organization-{realm}"},
        }
        self._send(role, realm, "POST", "/api/v2013/documents?schema=contact", contact)
        return 3

    def _send(
        self, role: str, realm: str, method: str, path: str, body: Any = None, raw: bytes | None = None
    ) -> None:
        answer = requests.request(
            method,
            self._url + path,
            json=body,
            data=raw,
            headers={"Authorization": f"Bearer {self._tokens[role]}", "Realm": realm},
            timeout=_PATIENCE_SECONDS,
        )
        answer.raise_for_status()

    def _sign_in(self, role: str) -> str:
        account = {"email": f"{role}@sandbox.test", "password": f"sandbox-{role}"}
        answer = requests.post(
            f"{self._url}/api/v2013/authentication/token", json=account, timeout=_PATIENCE_SECONDS
        )
        answer.raise_for_status()
        return str(answer.json()["authenticationToken"])


def changes(before: Snapshot, after: Snapshot, named: frozenset[str]) -> list[Change]:
    """What became of the rows that were there before a run, but for those of records that the settings name."""
    return [
        Change(place, "gone" if place not in after else "changed")
        for place, digest in before.items()
        if after.get(place) != digest and not named & set(place)
    ]


def named_records(settings: Path) -> frozenset[str]:
    """Identifiers that a settings file gives the suite to write to."""
    realms = tomllib.loads(settings.read_text(encoding="utf-8"))["realm"].values()
    keys = (
        "locked_identifier",
        "existing_identifier",
        "others_identifier",
        "published_identifier",
        "spare_identifiers",
    )
    values = [realm[key] for realm in realms for key in keys if key in realm]
    return frozenset(name for value in values for name in ([value] if isinstance(value, str) else value))


_READY: Final = "sandbox ready at "
_STOP_SECONDS: Final = 30.0
_ROLES: Final = ("author", "other", "restricted", "nau")


@dataclass(frozen=True)
class Served:
    """A sandbox that runs.

    Attributes:
        data: Its data folder.
        settings: A settings file that aims at it, which is not called `sandbox`: the usual manners apply.
        scratch: Where its runs keep reports and private folders.
    """

    url: str
    data: Path
    settings: Path
    scratch: Path

    @property
    def reports(self) -> Path:
        """Reports folder of its runs."""
        return self.scratch / "reports"

    @property
    def private_parent(self) -> Path:
        """Where its runs make their private folders."""
        return self.scratch / "tmp"

    def command(self, *words: str) -> list[str]:
        """The suite's program with some words, aimed at this sandbox."""
        aim = ["--target", str(self.settings), "--reports", str(self.reports)]
        return [*python_command(), words[0], *aim, *words[1:]]

    def environment(self) -> Mapping[str, str]:
        """The environment of its runs: the published accounts, and a folder of its own for private folders."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("REGISTRY_")}
        kept["TMPDIR"] = str(self.private_parent)
        for role in _ROLES:
            kept[f"SANDBOX_{role.upper()}_EMAIL"] = f"{role}@sandbox.test"
            kept[f"SANDBOX_{role.upper()}_PASSWORD"] = f"sandbox-{role}"
        return kept

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start the program in a session of its own, so that a signal can reach it alone or with all its workers."""
        return subprocess.Popen(  # noqa: S603 - our own interpreter and options, no shell
            self.command(*words),
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run the program to its end."""
        return subprocess.run(  # noqa: S603 - as above
            self.command(*words), env=self.environment(), capture_output=True, text=True, check=False
        )


@contextmanager
def served(folder: Path, arguments: Sequence[str] = (), pace: str = "") -> Iterator[Served]:
    """Serve a sandbox for as long as the `with` block lasts.

    Args:
        folder: Fresh, or one that was served before: then the data in it is gone on with.
        arguments: More options for it, such as `--defect NAME`.
        pace: More lines for the `[pace]` table of its settings.

    Raises:
        SuiteError: it did not start.
    """
    data = folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    (folder / "tmp").mkdir(exist_ok=True)
    options = ["--port", "0", "--data", str(data), "--size-limit", str(6 * 1024**2), *arguments]
    command = [*python_command(), "sandbox", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - as above
        line = process.stdout.readline() if process.stdout else ""
        try:
            if not line.startswith(_READY):
                raise SuiteError(f"the sandbox did not start: {line.strip() or 'it said nothing'}")
            url = line.removeprefix(_READY).strip()
            yield Served(url, data, _settings(folder, url, pace), folder)
        finally:
            _end(process)


def _end(process: subprocess.Popen[str]) -> None:
    """End a sandbox politely, or for good; its database survives either."""
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _settings(folder: Path, url: str, pace: str) -> Path:
    source = embedded_sandbox.SANDBOX_SETTINGS
    shutil.copytree(source.parent / "samples", folder / "samples", dirs_exist_ok=True)
    text = source.read_text(encoding="utf-8").replace("http://127.0.0.1:8080", url)
    size = f"[attachments]\nsize_limit_bytes = {6 * 1024**2}\n"
    path = folder / "neighbourhood.toml"
    path.write_text(f"{text.replace('[pace]', f'[pace]{chr(10)}{pace}', 1)}\n{size}", encoding="utf-8")
    return path


_BUDGET: Final = Pace().permanent_records
_DRAFT, _PUBLISHED = "draft", "published"


@dataclass(frozen=True)
class Remains:
    """What is new on the service.

    Attributes:
        drafts_at_kill: Drafts that were there when the run was killed.
        drafts: Drafts that belong to no record of the residue.
        unlisted: Permanent records that no ledger admits to.
        most_permanent: New permanent records in the realm that has most.
        folders: Private folders of dead runs.
    """

    drafts_at_kill: int
    drafts: tuple[str, ...]
    unlisted: tuple[str, ...]
    most_permanent: int
    folders: tuple[str, ...]

    @property
    def sound(self) -> bool:
        """Whether nothing is left but residue that is listed and within its budget."""
        return not (self.drafts or self.unlisted or self.folders) and self.most_permanent <= _BUDGET


def remains(service: Served, before: Snapshot, after: Snapshot, killed: Snapshot | None = None) -> Remains:
    """Compare two snapshots with what the ledgers of all runs say.

    Args:
        before, after: The database before the run, and after the clean-up.
        killed: The database when the run was killed.
    """
    new = after.keys() - before.keys()
    permanent = {place[1:3] for place in new if place[0] == "locks" or place[-1] == _PUBLISHED}
    listed = list(residue(read_entries(sorted(service.reports.glob("*/ledger*.jsonl")))))
    records = {(entry.realm, entry.identifier) for entry in listed if entry.what in PERMANENT_KINDS}
    drafts = {place[1:3] for place in new if place[0] == "versions" and place[-1] == _DRAFT}
    return Remains(
        drafts_at_kill=len([place for place in (killed or {}).keys() - before.keys() if place[-1] == _DRAFT]),
        drafts=tuple(sorted(" ".join(place) for place in drafts - permanent - records)),
        unlisted=tuple(_unlisted(permanent - records, listed)),
        most_permanent=max(Counter(place[0] for place in permanent).values(), default=0),
        folders=tuple(map(str, filter(Path.is_dir, service.private_parent.glob("registry-contracts-*")))),
    )


def _unlisted(records: set[tuple[str, ...]], listed: list[Entry]) -> list[str]:
    """Records that no ledger names; a creation whose answer was lost accounts for one record in its realm."""
    nameless = Counter(entry.realm for entry in listed if not entry.identifier)
    unlisted = []
    for record in sorted(records):
        if nameless[record[0]] > 0:
            nameless[record[0]] -= 1
        else:
            unlisted.append(" ".join(record))
    return unlisted


#: Exit codes of a run that the suite itself has not broken in.
_SOUND: Final = frozenset({0, 1, 5, 6})
_SWEEP: Final = ("sweep", "--older-than", "1000")


@dataclass(frozen=True)
class Canary:
    """One run beside other people's records."""

    words: tuple[str, ...]
    sandbox: tuple[str, ...]
    code: int
    seconds: float
    planted: int
    changed: tuple[str, ...]
    permanent: int

    @property
    def sound(self) -> bool:
        """Whether the records of other clients are unchanged, and the run came to an end."""
        return not self.changed and self.code in _SOUND


@dataclass(frozen=True)
class Kill:
    """One run that was killed, and what was left after the sweep."""

    after: float
    whole_group: bool
    by: str
    remains: Remains

    @property
    def sound(self) -> bool:
        """Whether nothing is left but residue that is listed and within its budget."""
        return self.remains.sound


def canary(folder: Path, words: tuple[str, ...], sandbox: tuple[str, ...] = ()) -> Canary:
    """Run the suite once beside other people's records.

    Args:
        folder: A fresh folder.
        words: Options of the run.
        sandbox: More options of the sandbox, such as a defect.
    """
    # Planted on a faithful service: a broken one may refuse what people have, or change it by itself.
    with served(folder) as service:
        planted = Neighbours(service.url, service.data).plant()
    with served(folder, sandbox) as service:
        neighbours = Neighbours(service.url, service.data)
        before = neighbours.snapshot()
        started = time.monotonic()
        done = service.run("run", *words, "-q", "--no-header")
        seconds = time.monotonic() - started
        after = neighbours.snapshot()
        changed = changes(before, after, named_records(service.settings))
        return Canary(
            words,
            sandbox,
            done.returncode,
            seconds,
            planted,
            tuple(f"{' '.join(change.place)}: {change.how}" for change in changed),
            remains(service, before, after).most_permanent,
        )


def kills(
    folder: Path, count: int, words: tuple[str, ...], draw: random.Random, longest: float
) -> Iterator[Kill]:
    """Kill runs at random moments, each followed by a run or a sweep that has to remove what is left.

    Args:
        folder: A fresh folder.
        count: How many.
        words: Options of the runs.
        draw: Source of the moments.
        longest: The last moment, in seconds after the start.
    """
    with served(folder) as service:
        neighbours = Neighbours(service.url, service.data)
        neighbours.plant()
        ways = itertools.cycle([("sweep", _SWEEP), ("next run", ("run", "--profile", "smoke", "-q"))])
        for number, (name, after_words) in zip(range(count), ways, strict=False):
            before = neighbours.snapshot()
            after, whole = draw.uniform(1.0, longest), number % 3 == 0
            _kill(service.start("run", *words, "-q"), after, whole_group=whole)
            killed = neighbours.snapshot()
            service.run(*after_words)
            yield Kill(after, whole, name, remains(service, before, neighbours.snapshot(), killed))


def _kill(process: subprocess.Popen[str], after: float, *, whole_group: bool) -> None:
    try:
        process.communicate(timeout=after)
    except subprocess.TimeoutExpired:
        (os.killpg if whole_group else os.kill)(process.pid, signal.SIGKILL)
        process.communicate()


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def program() -> None:
    """Put the suite's manners on a shared service to the test."""


@program.command("canary")
@click.option("--profile", "profiles", multiple=True, default=("smoke", "gate"), show_default=True)
@click.option("--seeds", default="1", show_default=True, metavar="N,N,…")
@click.option("--workers", default=4, show_default=True)
@click.option("--defect", "defects", multiple=True, help="Also with this defect; 'random:N' draws N of them.")
@click.option("--draw", default=1, show_default=True, help="Seed of the drawing.")
def canary_command(
    *, profiles: tuple[str, ...], seeds: str, workers: int, defects: tuple[str, ...], draw: int
) -> int:
    """Run beside other people's records, on each profile, seed and defect; exit code 1 when one of them changed."""
    bad = 0
    click.echo(
        f"{'profile':<8} {'seed':>5} {'defect':<40} {'exit':>4} {'seconds':>8} {'permanent':>9}  changed"
    )
    for defect, profile, seed in itertools.product(_defects(defects, draw), profiles, seeds.split(",")):
        words = ("--profile", profile, "--seed", seed, "-n", str(workers))
        with tempfile.TemporaryDirectory(prefix="manners-") as name:
            seen = canary(Path(name) / "canary", words, ("--defect", defect) if defect else ())
        bad += not seen.sound
        click.echo(
            f"{profile:<8} {seed:>5} {defect or '-':<40} {seen.code:>4} {seen.seconds:>8.1f} "
            f"{seen.permanent:>9}  {len(seen.changed)} of {seen.planted} planted"
        )
        for line in seen.changed:
            click.echo(f"    {line}")
    return 1 if bad else 0


def _defects(names_given: tuple[str, ...], draw: int) -> list[str]:
    names = [""]
    for defect in names_given:
        word, _, count = defect.partition(":")
        if word == "random":
            from contracts.sandbox.defects import ALL  # noqa: PLC0415 - an optional extra

            names += random.Random(draw).sample([defect.name for defect in ALL], int(count or 1))  # noqa: S311
        else:
            names.append(defect)
    return names


@program.command("kills")
@click.option("--count", default=20, show_default=True)
@click.option("--profile", default="gate", show_default=True)
@click.option("--workers", default=2, show_default=True)
@click.option(
    "--longest", default=25.0, show_default=True, help="The last moment, in seconds after the start."
)
@click.option("--draw", default=1, show_default=True, help="Seed of the moments.")
def kills_command(*, count: int, profile: str, workers: int, longest: float, draw: int) -> int:
    """Kill runs with SIGKILL; exit code 1 when something is left that is neither removed nor listed."""
    words = ("--profile", profile, *(("-n", str(workers)) if workers > 1 else ()))
    bad = 0
    click.echo(
        f"{'killed':>8} {'whom':<10} {'then':<9} {'drafts':>6} {'left':>5} {'permanent':>9} {'unlisted':>8}"
    )
    with tempfile.TemporaryDirectory(prefix="manners-") as name:
        for kill in kills(Path(name) / "kills", count, words, random.Random(draw), longest):  # noqa: S311
            bad += not kill.sound
            what = kill.remains
            click.echo(
                f"{kill.after:>6.1f} s {'all' if kill.whole_group else 'controller':<10} {kill.by:<9} "
                f"{what.drafts_at_kill:>6} {len(what.drafts):>5} {what.most_permanent:>9} {len(what.unlisted):>8}"
            )
            for line in (*what.drafts, *what.unlisted, *what.folders):
                click.echo(f"    {line}")
    return 1 if bad else 0


def main() -> None:
    """Run a command and exit with its code; known trouble is one line."""
    try:
        sys.exit(int(program.main(standalone_mode=False) or 0))
    except (click.ClickException, RegistryContractsError) as error:
        message = error.format_message() if isinstance(error, click.ClickException) else str(error)
        click.echo(f"manners: {message}", err=True)
        sys.exit(4)


if __name__ == "__main__":
    main()
