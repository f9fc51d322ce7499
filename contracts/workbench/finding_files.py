"""Finds the sequence that somebody means: a finding's id, its file, a run folder, a zip of one, a HAR, a saved call."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, Final

from contracts.errors import UsageError
from contracts.evidence.findings import FOLDER_NAME
from contracts.evidence.reports import LATEST
from contracts.target.source import is_file, suggestion
from contracts.workbench.har_entries import Entries, read_archive
from contracts.workbench.telling import Telling, from_data

SAVED: Final = "saved"
_LARGEST: Final = 64 * 1024**2
#: How archives are packed; other ways bring failures of their own.
_PACKED: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
#: What a zip fails with that is locked or damaged. RuntimeError is what `zipfile` raises for a member with a password;
#: the last three come from members that were altered on the way.
_NOT_UNPACKED: Final = (OSError, zipfile.BadZipFile, RuntimeError, EOFError, ValueError, zlib.error)

#: Name of a finding or saved call → content and where it was read.
Known = dict[str, tuple[bytes, str]]


def find(asked: str, reports: Path, chosen: str | None, entries: Entries | None) -> Telling:
    """Find and read a sequence.

    Args:
        asked: Id of a finding in the reports, a file, a folder or a zip.
        reports: Folder of the runs.
        chosen: Which finding of a folder or zip with several; its id or the beginning of it.
        entries: Which requests of a HAR.

    Raises:
        UsageError: there is none, or it cannot be read; one line.
    """
    path = Path(asked)
    if is_file(path) and path.suffix.lower() == ".har":
        return read_archive(path, asked, entries)
    if is_file(path) and zipfile.is_zipfile(path):
        return _chosen(_in_zip(path), chosen, asked)
    if is_file(path):
        return _of_file(path, asked, entries)
    if path.is_dir():
        return _chosen(_in_folder(path), chosen, asked)
    if path.suffix or "/" in asked:
        raise UsageError(
            f"no file or folder '{asked}'; name a finding's id, its file, a run folder, a zip or a HAR"
        )
    return _by_id(asked, reports)


def _of_file(path: Path, shown: str, entries: Entries | None) -> Telling:
    content = _parsed(path.read_bytes(), shown)
    if isinstance(content, dict) and "log" in content:
        return read_archive(path, shown, entries)
    return from_data(content, shown)


def _by_id(asked: str, reports: Path) -> Telling:
    known: set[str] = set()
    for folder in _newest_first(reports):
        found = _in_folder(folder)
        matching = [name for name in found if name.startswith(asked)]
        if len(matching) == 1:
            content, where = found[matching[0]]
            return from_data(_parsed(content, where), where)
        known |= found.keys()
    if not known:
        raise UsageError(
            f"no finding '{asked}': the runs in '{reports}' have none; --reports names another folder"
        )
    raise UsageError(f"no finding '{asked}' in '{reports}'; {suggestion(asked, sorted(known)[:20])}")


def _newest_first(reports: Path) -> Iterator[Path]:
    """The latest run, what was saved, and then the others."""
    latest = reports / LATEST
    if latest.is_dir():
        yield latest
    others = [path for path in reports.glob("*/") if not path.is_symlink() and path.name != LATEST]
    yield from sorted(others, key=lambda path: path.name, reverse=True)


def _in_folder(folder: Path) -> Known:
    """Findings below a folder: a run folder, its `findings`, or one that holds an unpacked artifact."""
    for place in (folder / FOLDER_NAME, folder):
        paths = sorted(place.glob("*.json"))
        found = {path.stem: path for path in paths if place.name == FOLDER_NAME or _looks_like_one(path)}
        if found:
            return {name: (path.read_bytes(), str(path)) for name, path in found.items()}
    paths = sorted(folder.glob(f"*/{FOLDER_NAME}/*.json"))
    return {path.stem: (path.read_bytes(), str(path)) for path in paths}


def _looks_like_one(path: Path) -> bool:
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and "sequence" in content


def _in_zip(path: Path) -> Known:
    found: Known = {}
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                name = PurePosixPath(member.filename)
                if name.suffix == ".json" and name.parent.name == FOLDER_NAME and member.file_size < _LARGEST:
                    if member.compress_type not in _PACKED:
                        raise UsageError(f"{path}: cannot be unpacked: {name} is not deflated; pack it again")
                    found[name.stem] = archive.read(member), f"{path}:{member.filename}"
    except _NOT_UNPACKED as error:
        raise UsageError(f"{path}: cannot be unpacked: {error}") from None
    return found


def _chosen(found: Known, chosen: str | None, shown: str) -> Telling:
    if not found:
        raise UsageError(f"{shown}: holds no finding; a run that found something has a folder {FOLDER_NAME}")
    matching = [name for name in found if name.startswith(chosen or "")]
    if len(matching) != 1:
        listed = ", ".join(f"{name} ({_says(found[name][0])})" for name in (matching or list(found))[:6])
        more = "" if len(matching or found) <= 6 else f" and {len(matching or found) - 6} more"
        raise UsageError(f"{shown}: name one of its findings with --finding: {listed}{more}")
    content, where = found[matching[0]]
    return from_data(_parsed(content, where), where)


def _says(content: bytes) -> str:
    try:
        finding = json.loads(content)
        return f"{finding['clause']} in {finding['realm']}"
    except (ValueError, KeyError, TypeError):
        return "unreadable"


def _parsed(content: bytes, shown: str) -> Any:
    try:
        return json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise UsageError(f"{shown}: is neither JSON nor a zip") from None
    except json.JSONDecodeError as error:
        cut = error.pos >= len(content.decode("utf-8-sig").rstrip()) or "Unterminated" in error.msg
        if cut:
            raise UsageError(f"{shown}: was cut short, at line {error.lineno}; fetch it again") from None
        raise UsageError(f"{shown}:{error.lineno}: is not JSON: {error.msg}") from None
    except RecursionError:
        raise UsageError(f"{shown}: nests too deep") from None
