"""A recorded sequence to be sent again: from a finding, a run folder, a zip of one, a HAR or a saved call."""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Final, Literal
from urllib.parse import parse_qsl, urlsplit

import msgspec
from msgspec import Meta

from contracts.errors import UsageError, suggestion
from contracts.evidence.run_folder import LATEST
from contracts.exchanges.exchange import Body, Exchange, ExchangeEntry
from contracts.exchanges.har import read_har
from contracts.exchanges.redaction import TOKEN
from contracts.exchanges.request_facts import below_root, match_request, realm_of
from contracts.file_formats import (
    Count,
    Format,
    Moment,
    Name,
    OpenFormat,
    is_file,
    json_value,
    mismatch,
    read_bytes,
)
from contracts.interface.description import load_description, where_in_words
from contracts.interface.operations import ANY_REALM
from contracts.reports.finding_files import FOLDER_NAME
from contracts.reports.verdict_json import TargetEntry
from contracts.settings.target import ANONYMOUS, AUTHOR


@dataclass(frozen=True)
class ReplayedFinding:
    """The finding that a sequence shows.

    Attributes:
        rate: How often it came back when it was found: times and tries.
        check: The check of the table that saw it; empty where a case compared by itself, or an older version wrote it.
        arguments: What the check compared with.
    """

    id: str
    clause: str
    operation: str
    expected: str
    seen: str
    rate: tuple[int, int]
    command: str = ""
    check: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RecordedSequence:
    """A recorded sequence.

    Attributes:
        source: Where it was read, for sentences.
        target: Name of the target it was recorded on; empty when unknown.
        realm: Where it was recorded; `any` for several or none.
        arranged: Exchanges that only prepare the others.
        shown: The exchanges that matter; their answers are compared.
        settings: Settings of the realm that stand in the requests.
        left_out: Requests that are no operation of the interface.
    """

    source: str
    target: str
    base_url: str
    realm: str
    shown: tuple[Exchange, ...]
    arranged: tuple[Exchange, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    found: ReplayedFinding | None = None
    left_out: int = 0

    @property
    def steps(self) -> tuple[Exchange, ...]:
        """Everything that is sent, in order."""
        decisive = {exchange.id for exchange in self.shown}
        before = [exchange for exchange in self.arranged if exchange.id not in decisive]
        return (*before, *self.shown)

    @property
    def what(self) -> str:
        """The sequence in a few words."""
        if self.found is None:
            return f"{len(self.shown)} requests of {self.source}"
        return f"{self.found.clause} ({self.found.operation}) {where_in_words(self.found.operation, [self.realm])}"


class SavedFile(Format, frozen=True, kw_only=True):
    """What `call --save` keeps; see `FindingFile` for its members."""

    format: Literal[1] = 1
    saved: Moment
    target: TargetEntry
    realm: Name
    settings: Mapping[str, Any]
    arranged: tuple[ExchangeEntry, ...]
    sequence: Annotated[tuple[ExchangeEntry, ...], Meta(min_length=1)]


class RecordedTarget(OpenFormat, frozen=True):
    """The target of a recorded sequence."""

    name: str
    base_url: str


class RecordedFile(OpenFormat, frozen=True):
    """What `replay` needs of a finding file or a saved call of any version."""

    target: RecordedTarget
    realm: str
    sequence: tuple[ExchangeEntry, ...]
    arranged: tuple[ExchangeEntry, ...] = ()
    settings: Mapping[str, Any] | None = None


class RecordedCommand(OpenFormat, frozen=True):
    """How a finding is sent again."""

    command: str = ""


class RecordedFinding(OpenFormat, frozen=True):
    """What `replay` says of a finding."""

    id: str
    clause: str
    operation: str | None
    expected: str
    seen: str
    rate: tuple[Count, Count]
    reproduce: RecordedCommand = RecordedCommand()
    check: str = ""
    arguments: Mapping[str, Any] = {}


def from_data(content: Any, source: str) -> RecordedSequence:
    """Make a sequence of the content of `findings/<id>.json`, or of what `call --save` wrote.

    Raises:
        UsageError: it is none of these; one line.
    """
    try:
        recorded = msgspec.convert(content, RecordedFile)
        finding = msgspec.convert(content, RecordedFinding) if "clause" in content else None
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise UsageError(f"{source}: is no finding: {mismatch(error)}") from None
    if not recorded.sequence:
        raise UsageError(f"{source}: holds no exchange, so there is nothing to send again")
    return RecordedSequence(
        source=source,
        target=recorded.target.name,
        base_url=recorded.target.base_url,
        realm=recorded.realm,
        shown=tuple(map(Exchange.from_record, content["sequence"])),
        arranged=tuple(map(Exchange.from_record, content.get("arranged", ()))),
        settings=recorded.settings or {},
        found=_replayed_finding(finding) if finding else None,
    )


def _replayed_finding(finding: RecordedFinding) -> ReplayedFinding:
    return ReplayedFinding(
        id=finding.id,
        clause=finding.clause,
        operation=str(finding.operation),
        expected=finding.expected,
        seen=finding.seen,
        rate=finding.rate,
        command=finding.reproduce.command,
        check=finding.check,
        arguments=finding.arguments,
    )


#: A longer body was never kept, and is not made up again.
MOST_FILLED: Final = 64 * 1024**2


def path_of(url: str) -> str:
    """The raw path from the interface's root on."""
    return below_root(url) or urlsplit(url).path


def text_of(body: Body) -> str | None:
    """The text of a body; bytes that are no text one character each; None for no body."""
    if not body.content:
        return None
    return body.content.decode("latin-1") if body.decoded is None else body.decoded


def content_of(body: Body, text: str) -> bytes:
    """The bytes to send for a body whose text may have been changed; what was cut off is filled up to its size."""
    content = text.encode("latin-1") if body.decoded is None else text.encode("utf-8", "surrogatepass")
    if not body.whole and len(content) < body.size <= MOST_FILLED:
        content = _completed(content, body.size)
    return content


def _completed(content: bytes, size: int) -> bytes:
    """A body that was cut, filled up to its size; JSON that was cut within a text is JSON again."""
    closing = _closing(content)
    if closing is None:
        return content + b"x" * (size - len(content))
    return content + b"x" * max(0, size - len(content) - len(closing)) + closing


def _closing(content: bytes) -> bytes | None:
    """What closes JSON that ends within a text; None for anything else."""
    if content[:1] not in (b"{", b"["):
        return None
    closers: list[bytes] = []
    at, end, inside = 0, len(content), False
    while at < end:
        sign = content[at : at + 1]
        if inside and sign == b"\\":
            at += 1
        elif sign == b'"':
            inside = not inside
        elif not inside and sign in (b"{", b"["):
            closers.append(b"}" if sign == b"{" else b"]")
        elif not inside and sign in (b"}", b"]") and closers:
            closers.pop()
        at += 1
    # A text cut behind a backslash, or in the middle of a character, would not be the same text.
    return b'"' + b"".join(reversed(closers)) if inside and at == end else None


Entries = tuple[int, int]
"""First and last request of a HAR, counted from 1."""

#: More requests are a whole run, which is not to be sent again by hand.
MOST: Final = 200
_HOUSEKEEPING: Final = "["


def read_entries(text: str) -> Entries:
    """Read `--entries`: `3`, `3-7`.

    Raises:
        UsageError: it is neither.
    """
    match = re.fullmatch(r"(\d+)(?:-(\d+))?", text.strip())
    first = int(match[1]) if match else 0
    last = int(match[2] or first) if match else 0
    if not 0 < first <= last:
        raise UsageError(f"--entries must be a number or a range such as 3-7, counted from 1, not '{text}'")
    return first, last


def read_archive(path: Path, shown: str, entries: Entries | None) -> RecordedSequence:
    """Read the requests of a HAR that are operations of the interface.

    Raises:
        UsageError: it cannot be read, holds none, or holds too many to be meant; one line.
    """
    archive = read_har(path, shown)
    number = len(archive)
    first, last = entries or (1, number)
    if first > number:
        raise UsageError(f"{shown}: holds {number} requests, so there is no request {first}")
    last = min(last, number)
    read = (_as_sent(entry) for entry in archive if first <= entry.number <= last)
    recorded = [
        exchange for exchange in read if exchange is not None and not exchange.case.startswith(_HOUSEKEEPING)
    ]
    if not recorded:
        raise UsageError(f"{shown}: no request in it is an operation of the interface")
    if len(recorded) > MOST:
        raise UsageError(
            f"{shown}: holds {len(recorded)} requests of the interface; choose up to {MOST} with --entries FIRST-LAST"
        )
    realms = {exchange.realm for exchange in recorded} - {ANY_REALM}
    return RecordedSequence(
        source=shown,
        target="",
        base_url=_base_url(recorded[0].url),
        realm=realms.pop() if len(realms) == 1 else ANY_REALM,
        shown=tuple(recorded),
        left_out=last - first + 1 - len(recorded),
    )


def _as_sent(exchange: Exchange) -> Exchange | None:
    """An exchange of an archive with operation, realm and role, as far as they show; None for no operation."""
    matched = match_request(exchange.method, exchange.url, load_description())
    if matched is None:
        return None
    operation, headers = matched.operation, exchange.request_headers
    signed_in = bool(headers.get("Authorization", "").strip())
    query = tuple(parse_qsl(urlsplit(exchange.url).query, keep_blank_values=True))
    return replace(
        exchange,
        realm=exchange.realm or realm_of(headers, query, operation) or ANY_REALM,
        role=exchange.role or (AUTHOR if signed_in or operation.id == "createToken" else ANONYMOUS),
        operation=operation.id,
        authorization=f"Bearer {TOKEN}" if signed_in else None,
    )


def _base_url(url: str) -> str:
    path = below_root(url)
    return url.partition("?")[0].removesuffix(path) if path else url


SAVED: Final = "saved"
_LARGEST: Final = 64 * 1024**2
#: How archives are packed; other ways bring failures of their own.
_PACKED: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
#: What a zip fails with that is locked or damaged. RuntimeError is what `zipfile` raises for a member with a password;
#: the last three come from members that were altered on the way.
_NOT_UNPACKED: Final = (OSError, zipfile.BadZipFile, RuntimeError, EOFError, ValueError, zlib.error)

#: Name of a finding or saved call → content and where it was read.
Known = dict[str, tuple[bytes, str]]


def find(name: str, reports: Path, chosen: str | None, entries: Entries | None) -> RecordedSequence:
    """Find and read a sequence.

    Args:
        name: Id of a finding in the reports, a file, a folder or a zip.
        reports: Folder of the runs.
        chosen: Which finding of a folder or zip with several; its id or the beginning of it.
        entries: Which requests of a HAR.

    Raises:
        UsageError: there is none, or it cannot be read; one line.
    """
    path = Path(name)
    if is_file(path) and zipfile.is_zipfile(path):
        return _chosen(_in_zip(path), chosen, name)
    if path.is_dir():
        return _chosen(_in_folder(path), chosen, name)
    if chosen is not None:
        raise UsageError(f"--finding '{chosen}' is for a folder or a zip of findings, not for '{name}'")
    if is_file(path) and path.suffix.lower() == ".har":
        return read_archive(path, name, entries)
    if is_file(path):
        return _of_file(path, name, entries)
    if path.suffix or "/" in name:
        raise UsageError(
            f"no file or folder '{name}'; name a finding's id, its file, a run folder, a zip or a HAR"
        )
    return _by_id(name, reports)


def _of_file(path: Path, shown: str, entries: Entries | None) -> RecordedSequence:
    content = _parsed(_read(path), shown)
    if isinstance(content, dict) and "log" in content:
        return read_archive(path, shown, entries)
    return from_data(content, shown)


def _by_id(given: str, reports: Path) -> RecordedSequence:
    names: set[str] = set()
    for folder in _newest_first(reports):
        in_folder = _in_folder(folder)
        matching = [name for name in in_folder if name.startswith(given)]
        if len(matching) == 1:
            content, where = in_folder[matching[0]]
            return from_data(_parsed(content, where), where)
        names |= in_folder.keys()
    if not names:
        raise UsageError(
            f"no finding '{given}': the runs in '{reports}' have none; --reports names another folder"
        )
    raise UsageError(f"no finding '{given}' in '{reports}'; {suggestion(given, sorted(names)[:20])}")


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
        paths = sorted(filter(is_file, place.glob("*.json")))
        findings = {path.stem: path for path in paths if place.name == FOLDER_NAME or _looks_like_one(path)}
        if findings:
            return {name: (_read(path), str(path)) for name, path in findings.items()}
    paths = sorted(filter(is_file, folder.glob(f"*/{FOLDER_NAME}/*.json")))
    return {path.stem: (_read(path), str(path)) for path in paths}


def _read(path: Path) -> bytes:
    try:
        return read_bytes(path)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None


def _looks_like_one(path: Path) -> bool:
    try:
        content = json_value(read_bytes(path, _LARGEST))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(content, dict) and "sequence" in content


def _in_zip(path: Path) -> Known:
    recorded: Known = {}
    size = 0
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                name = PurePosixPath(member.filename)
                if name.suffix == ".json" and name.parent.name == FOLDER_NAME:
                    size += member.file_size
                    if size > _LARGEST:
                        raise UsageError(f"{path}: its findings unpack to more than {_LARGEST:,} bytes")
                    if member.compress_type not in _PACKED:
                        raise UsageError(f"{path}: cannot be unpacked: {name} is not deflated; pack it again")
                    recorded[name.stem] = archive.read(member), f"{path}:{member.filename}"
    except _NOT_UNPACKED as error:
        raise UsageError(f"{path}: cannot be unpacked: {error}") from None
    return recorded


def _chosen(findings: Known, chosen: str | None, shown: str) -> RecordedSequence:
    if not findings:
        raise UsageError(f"{shown}: holds no finding; a run that found something has a folder {FOLDER_NAME}")
    matching = [name for name in findings if name.startswith(chosen or "")]
    if len(matching) != 1:
        listed = ", ".join(
            f"{name} ({_says(findings[name][0])})" for name in (matching or list(findings))[:6]
        )
        more = "" if len(matching or findings) <= 6 else f" and {len(matching or findings) - 6} more"
        raise UsageError(f"{shown}: name one of its findings with --finding: {listed}{more}")
    content, where = findings[matching[0]]
    return from_data(_parsed(content, where), where)


def _says(content: bytes) -> str:
    try:
        finding = json_value(content)
        return f"{finding['clause']} in {finding['realm']}"
    except (ValueError, RecursionError, KeyError, TypeError):
        return "unreadable"


def _parsed(content: bytes, shown: str) -> Any:
    try:
        return json_value(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise UsageError(f"{shown}: is neither JSON nor a zip") from None
    except json.JSONDecodeError as error:
        cut = error.pos >= len(content.decode("utf-8-sig").rstrip()) or "Unterminated" in error.msg
        if cut:
            raise UsageError(f"{shown}: was cut short, at line {error.lineno}; fetch it again") from None
        raise UsageError(f"{shown}:{error.lineno}: is not JSON: {error.msg}") from None
    except RecursionError:
        raise UsageError(f"{shown}: nests too deep") from None
