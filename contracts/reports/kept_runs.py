"""Kept runs: the verdicts that runs left in folders and archives, and the status they give target and clauses."""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Final
from urllib.parse import urlsplit

import msgspec

from contracts.errors import UsageError
from contracts.evidence.run_comparison import why_not_comparable, words_of
from contracts.evidence.run_folder import BEGUN, LATEST
from contracts.evidence.terms import FOLDER as DEVIATIONS
from contracts.evidence.terms import Deviation, read_deviations
from contracts.file_formats import convert, is_file, parse, read_bytes
from contracts.history import runs
from contracts.history.runs import Trend, trends
from contracts.interface.catalogue import load_catalogue
from contracts.interface.description import load_description
from contracts.reports import verdict_json
from contracts.reports.verdict_json import FILE_NAME, CellEntry, FindingEntry, VerdictFile
from contracts.reports.verdict_json import FILE_NAME as VERDICT
from contracts.settings.target import SANDBOX

#: Bytes that one verdict in an archive may unpack to; a gate of every clause in four realms takes 0.8 MB.
_LARGEST: Final = 64_000_000
#: Clocks of two machines may differ by so much; what begins later begins in the future.
CLOCKS_DIFFER: Final = timedelta(minutes=5)
_SELECTING: Final = frozenset({"--clause", "--operation"})
_THIS_MACHINE: Final = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(frozen=True, slots=True)
class KeptRun:
    """A run whose verdict was kept; `name` is that of its folder, `place` where the verdict lies."""

    name: str
    place: str
    verdict: VerdictFile

    @property
    def started(self) -> datetime:
        """When it began (UTC)."""
        return moment(self.verdict.started)

    @property
    def embedded(self) -> bool:
        """Whether it judged the embedded sandbox."""
        return self.verdict.target.name == SANDBOX and on_this_machine(self.verdict.target.base_url)

    @property
    def unfit(self) -> str | None:
        """Why it does not say how its target fares as a whole, in words; None when it does."""
        verdict = self.verdict
        if verdict.shard is not None:
            return f"is shard {verdict.shard.number} of {verdict.shard.of}, not the merged run"
        if verdict.problems:
            return f"its evidence is not whole: {verdict.problems[0]}"
        return why_not_comparable(verdict.command, verdict.exit_code)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A verdict that cannot be read, and why."""

    name: str
    place: str
    says: str


def moment(text: str) -> datetime:
    """Return a moment of a file in UTC."""
    return datetime.fromisoformat(text).astimezone(UTC)


def on_this_machine(base_url: str) -> bool:
    """Tell whether an address leads to this machine."""
    try:
        return urlsplit(base_url).hostname in _THIS_MACHINE
    except ValueError:
        return False


def kept_runs(sources: Iterable[Path]) -> Iterator[KeptRun | Unreadable]:
    """Yield the runs that lie in some places, each once, in no order.

    Args:
        sources: Folders, searched at any depth; zip archives, such as the artifacts of a pipeline; or `verdict.json`
            files.

    Raises:
        UsageError: a place is not there, or is an archive that cannot be read.
    """
    seen: set[tuple[object, ...]] = set()
    for name, place, content in _verdicts(sources):
        try:
            verdict = _read(content, place)
        except UsageError as error:
            yield Unreadable(name, place, str(error))
            continue
        key = (verdict.target, verdict.started, verdict.finished, verdict.realms, verdict.profile)
        if key not in seen:
            seen.add(key)
            yield KeptRun(_name(name, verdict), place, verdict)


def _name(folder: str, verdict: VerdictFile) -> str:
    """The name of a run's folder; what an artifact was unpacked into may be called anything."""
    return folder if BEGUN.match(folder) else f"{moment(verdict.started):%Y%m%d-%H%M%S}-{verdict.target.name}"


def _read(content: bytes, place: str) -> VerdictFile:
    try:
        return msgspec.json.decode(content, type=VerdictFile)
    except (msgspec.DecodeError, UnicodeDecodeError):
        # Slower, with one clear line about what is wrong.
        return convert(parse(content, place), VerdictFile, place)


def _verdicts(sources: Iterable[Path]) -> Iterator[tuple[str, str, bytes]]:
    for source in sources:
        if source.is_dir():
            for path in _kept_files(source):
                if path.name == FILE_NAME:
                    yield path.resolve().parent.name, str(path), _content(path)
                elif is_file(path) and zipfile.is_zipfile(path):
                    yield from _archived(path)
        elif is_file(source) and zipfile.is_zipfile(source):
            yield from _archived(source)
        elif is_file(source):
            yield source.resolve().parent.name, str(source), _content(source)
        else:
            raise UsageError(
                f"there is no '{source}': name a folder of runs, a verdict.json or a zip archive"
            )


def _kept_files(folder: Path) -> Iterator[Path]:
    """Yield the verdicts and archives below a folder; what `latest` leads to lies beside it."""
    for place, folders, files in os.walk(folder):
        folders.sort()
        if FILE_NAME in files:
            folders.clear()
            yield Path(place, FILE_NAME)
        yield from (Path(place, name) for name in sorted(files) if name.endswith(".zip"))


def _content(path: Path) -> bytes:
    try:
        return read_bytes(path)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None


def _archived(path: Path) -> Iterator[tuple[str, str, bytes]]:
    for member, content in archive_members(path, lambda info: PurePosixPath(info.filename).name == FILE_NAME):
        yield PurePosixPath(member).parent.name or path.stem, f"{path}:{member}", content


def archive_members(
    path: Path, meant: Callable[[zipfile.ZipInfo], bool] = lambda _: True
) -> Iterator[tuple[str, bytes]]:
    """Name and content of each member of a ZIP archive that is meant, and no larger than a verdict may be.

    Raises:
        UsageError: the archive cannot be read.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                if meant(info) and info.file_size <= _LARGEST:
                    yield info.filename, archive.read(info)
    # The library has no one exception for it: RuntimeError says that a member is locked by a password, or packed in a
    # way that it does not know; damaged bytes are an error of their packing.
    except (OSError, EOFError, zipfile.BadZipFile, zlib.error, RuntimeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from None


def selection_of(verdict: VerdictFile) -> str | None:
    """Return the option by which a run judged only some clauses or operations; None where it judged all."""
    return next((word for word in words_of(verdict.command) if word.partition("=")[0] in _SELECTING), None)


@dataclass(frozen=True)
class LastRun:
    """The latest run in a reports folder.

    Attributes:
        cells: Clause id → realm → verdict, assertions, findings, reason, as `verdict.json` holds them.
        findings: As `verdict.json` holds them.
    """

    name: str
    target: str
    started: str
    profile: str
    verdict: str
    cells: Mapping[str, Mapping[str, CellEntry]] = field(default_factory=dict)
    findings: tuple[FindingEntry, ...] = ()

    def verdict_of(self, clause: str, realm: str) -> str | None:
        """The verdict on a clause in a realm; None when the run did not judge it."""
        cell = self.cells.get(clause, {}).get(realm)
        return str(cell.verdict) if cell else None


def run_folder(reports: Path, run: str | None) -> Path:
    """Return the folder of a run.

    Args:
        run: Path of a run folder, or its name in `reports`; None for the latest run.

    Raises:
        UsageError: there is none; says where it was looked for.
    """
    folder = _latest(reports) if run is None else next(filter(Path.is_dir, (Path(run), reports / run)), None)
    if folder is None:
        raise UsageError(
            f"no run '{run}': neither a folder, nor one in '{reports}'"
            if run is not None
            else f"no run in '{reports}' yet; `registry-contracts run` makes one, --reports names another"
        )
    return folder.resolve()


def _latest(reports: Path) -> Path | None:
    latest = reports / LATEST
    if latest.is_file():
        # A file system without links holds the folder's name in a text file.
        latest = reports / latest.read_text("utf-8").strip()
    return latest if latest.is_dir() else None


def last_run(reports: Path, run: str | None = None) -> LastRun | None:
    """Read the latest run of a reports folder; None when there is none.

    Args:
        run: Another run's name, or the path of its folder.

    Raises:
        UsageError: its `verdict.json` cannot be read, or a run that was named is not there.
    """
    if run is None and _latest(reports) is None:
        return None
    folder = run_folder(reports, run)
    path = folder / VERDICT
    if not path.is_file():
        return None
    try:
        verdict = verdict_json.read(path)
    except UsageError as error:
        raise UsageError(f"{error}; `python -m contracts.reports {folder}` makes it again") from None
    return LastRun(
        name=folder.name,
        target=verdict.target.name,
        started=verdict.started,
        profile=verdict.profile,
        verdict=verdict.verdict,
        cells={clause.id: clause.realms for clause in verdict.clauses},
        findings=verdict.findings,
    )


def history_of(reports: Path, target: str | None) -> dict[tuple[str, str], Trend]:
    """The trends of a target, by clause and realm; of the target that was run last by default."""
    history = runs.read(reports / runs.FILE_NAME)
    name = target or next(iter(history.targets), None)
    return trends(history, name) if name is not None else {}


def deviations(search: Path) -> list[tuple[str, Deviation]]:
    """Accepted contradictions of every target below a folder, each with the target's name.

    Raises:
        UsageError: a file cannot be used; one line.
    """
    accepted = []
    for path in sorted((search / DEVIATIONS).glob("*.toml")):
        shown = str(path.relative_to(search))
        entries = read_deviations(path, shown, load_catalogue(), load_description())
        accepted += [(path.stem, entry) for entry in entries]
    return accepted
