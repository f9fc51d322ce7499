"""The write-ahead file of everything a run created or may have created."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import unquote, urlsplit

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Exchange, Response
from registry_contracts.file_formats import Format, Moment, Name, one_of, plain, read_bytes
from registry_contracts.interface.description import load_description
from registry_contracts.interface.operations import PERMANENT_KINDS, is_valid_uid
from registry_contracts.session.budgets import ResidueBudget
from registry_contracts.session.pipeline import Request, Stage

#: `intended` and `unknown` both mean: maybe created. `intended` has no answer yet (the run was killed or interrupted),
#: `unknown` has an answer or fault that does not tell.
State = Literal["intended", "created", "refused", "unknown", "removed"]

#: Facts of a run, in its folder beside the ledgers.
RUN_FILE = "run.json"
#: The writes of all workers, once the run is over.
LEDGER_FILE = "ledger.jsonl"
#: The only kind of record that the interface can remove.
REMOVABLE = "draft"
#: States of a write that left no draft.
_GONE = frozenset({"refused", "removed"})
#: Members with which answers name their record, the surest first.
_NAMES = ("identifier", "recordidentifier", "documentuid", "uid", "id", "_id")
#: Those that name the record itself if they stand beside its content; an `id` may be that of a database row.
_OWN_NAMES = _NAMES[:4]


#: `realm_sent` of a write without Realm header, and with an empty one.
WITHOUT_REALM = "(none)"
EMPTY_REALM = "(empty)"


def realm_as_sent(headers: Mapping[str, Any], realm: str) -> str:
    """The Realm header of a request if it differs from its realm; otherwise empty."""
    given = next((value for name, value in headers.items() if name.lower() == "realm"), None)
    if given is None:
        return WITHOUT_REALM
    text = given.decode("utf-8", "replace") if isinstance(given, bytes) else str(given)
    return "" if text == realm else text or EMPTY_REALM


def header_as_sent(realm_sent: str) -> dict[str, str | None]:
    """Changes to a request's headers that repeat what `realm_as_sent` returned."""
    if not realm_sent:
        return {}
    return {"Realm": {WITHOUT_REALM: None, EMPTY_REALM: ""}.get(realm_sent, realm_sent)}


class Entry(Format, frozen=True):
    """One write, a line of the ledger: `what` it leaves, where, as whom, and its outcome; `by` names the worker.

    `realm_sent` is the Realm header of a draft's save if it differed from the realm. Lines of one worker with the same
    number are about the same write; the last one counts.
    """

    number: Annotated[int, Meta(ge=1)]
    operation: Name
    what: Annotated[str, one_of("draft", "contact", "attachment", "submission")]
    realm: Name
    role: Name
    identifier: str
    state: State
    at: Moment
    by: str = ""
    realm_sent: str = ""

    @property
    def place(self) -> tuple[str, str, str]:
        """The record's key: with another Realm header it may be another record."""
        return self.realm, self.identifier, self.realm_sent


class Ledger:
    """Append-only: each line is handed to the operating system before the write is sent."""

    def __init__(self, path: Path, budget: ResidueBudget | None = None) -> None:
        self._file = path.open("a", encoding="utf-8")
        self._by = path.stem.removeprefix("ledger-")
        self._budget = budget
        self._lock = threading.Lock()
        self._numbers = count(1)
        self._entries: dict[int, Entry] = {}
        self._permanent: dict[int, Request] = {}
        #: The entries of drafts that exist or may exist.
        self._drafts: dict[int, Entry] = {}

    def intend(self, write: Request, realm_sent: str = "") -> Entry | None:
        """Note a write before it is sent; None if the operation stores nothing.

        Raises:
            ResidueSpent: it could create a permanent record beyond the budget; nothing was noted.
        """
        described = load_description().operations.get(write.operation or "")
        what = described.stores if described else None
        if what is None:
            return None
        entry = Entry(
            number=next(self._numbers),
            operation=str(write.operation),
            what=what,
            realm=write.realm,
            role=write.role,
            identifier=next(iter(write.identifiers), ""),
            state="intended",
            at=_now(),
            by=self._by,
            realm_sent=realm_sent if what == REMOVABLE else "",
        )
        if self._budget and what in PERMANENT_KINDS:
            # It may wait for the outcomes of other writes, which need the lock.
            self._budget.reserve(write, _record(entry))
            self._permanent[entry.number] = write
        with self._lock:
            self._write(entry)
            # Only what is on disk is sent.
            self._file.flush()
        return entry

    def settle(
        self, entry: Entry, state: State, identifier: str | None = None, *, renamed: bool = False
    ) -> None:
        """Note the outcome of a write, and the identifier that the service gave; `renamed` as for the budget."""
        settled = replace(entry, state=state, at=_now(), identifier=identifier or entry.identifier)
        with self._lock:
            self._write(settled)
            if self._budget and (write := self._permanent.pop(entry.number, None)):
                self._budget.settle(write, _record(entry), kept=state != "refused", renamed=renamed)

    def removed(self, realm: str, identifier: str, realm_sent: str = "") -> None:
        """Note that a draft was deleted; `realm_sent` as when it was saved."""
        with self._lock:
            for entry in list(self._drafts.values()):
                if entry.place == (realm, identifier, realm_sent):
                    self._write(replace(entry, state="removed", at=_now()))

    def removable(self) -> list[Entry]:
        """Drafts that exist or may exist, newest first, one entry each."""
        with self._lock:
            return removable(self._drafts.values())

    def savers(self, place: tuple[str, str, str]) -> list[str]:
        """The roles that saved a draft that exists or may exist, the latest first."""
        with self._lock:
            return savers(place, self._drafts.values())

    def residue(self, others: Iterable[Entry] = ()) -> Iterator[Entry]:
        """What stays behind of this session's writes and `others`, because the interface cannot remove it."""
        with self._lock:
            return residue([*others, *self._entries.values()])

    def take_over(self, entries: Iterable[Entry]) -> None:
        """Take over the drafts that other sessions of the run left: the shared ones, and all of a session that died."""
        for left in entries:
            if left.what == REMOVABLE and left.state not in _GONE:
                with self._lock:
                    self._write(replace(left, number=next(self._numbers), by=self._by))

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _write(self, entry: Entry) -> None:
        self._entries[entry.number] = entry
        if entry.what == REMOVABLE and entry.state not in _GONE:
            self._drafts[entry.number] = entry
        else:
            self._drafts.pop(entry.number, None)
        # A full disk must not prevent the clean-up: a write without its last line counts as maybe created.
        with suppress(OSError):
            # ASCII, since an identifier may hold half a surrogate pair, which UTF-8 cannot encode.
            self._file.write(json.dumps(plain(entry)) + "\n")
            self._file.flush()


@dataclass(eq=False, repr=False)
class WriteAhead:
    """The stage that notes each write in the ledger before it is sent, and its outcome afterwards."""

    below: Stage
    ledger: Ledger

    def send(self, request: Request) -> Exchange:
        """Send a request; a write only once its line is on disk."""
        entry = None
        if request.writes:
            headers = request.headers if request.written is None else request.written[1]
            entry = self.ledger.intend(request, realm_as_sent(headers, request.realm))
        exchange = self.below.send(request)
        if entry is not None:
            self._settle(entry, exchange)
        return exchange

    def _settle(self, entry: Entry, exchange: Exchange) -> None:
        answer = exchange.response
        state = outcome(answer, exchange.fault, entry.what)
        if state == "refused" and exchange.unsettled:
            state = "unknown"  # an earlier try may have been accepted, and this one refused as a repetition
        assigns = load_description().operations[entry.operation].assigns_identifier
        renamed = assigns and state == "created" and not _has_identifier(answer, entry.identifier)
        given = named(answer) if state == "created" and (renamed or not entry.identifier) else None
        self.ledger.settle(entry, state, given, renamed=renamed)


def _has_identifier(answer: Response | None, identifier: str) -> bool:
    """Whether an answer says that its record has this identifier.

    The answer's own identifier decides, under the name that the interface document shows or one like it; without it,
    any mention counts.
    """
    if answer is None:
        return False
    members = answer.json.items() if isinstance(answer.json, dict) else ()
    named_here = {name.lower(): member for name, member in members if is_valid_uid(member)}
    own = next((named_here[name] for name in _OWN_NAMES if name in named_here), None)
    if own is not None:
        return bool(own == identifier)
    return identifier in answer.text or identifier in answer.headers.get("location", "")


def removable(entries: Iterable[Entry]) -> list[Entry]:
    """Drafts that exist or may exist by the latest state of writes, newest first, one entry each."""
    newest: dict[tuple[str, str, str], Entry] = {}
    for entry in sorted(entries, key=lambda entry: (entry.at, entry.number), reverse=True):
        # A refused save says nothing about earlier saves; a removed draft is gone for all of them.
        if entry.what == REMOVABLE and entry.state != "refused":
            newest.setdefault(entry.place, entry)
    return [entry for entry in newest.values() if entry.state != "removed"]


def savers(place: tuple[str, str, str], entries: Iterable[Entry]) -> list[str]:
    """The roles that saved the draft at a place and were not refused, the latest first."""
    saves = [each for each in entries if each.what == REMOVABLE and each.place == place]
    saves.sort(key=lambda entry: (entry.at, entry.number), reverse=True)
    return list(dict.fromkeys(entry.role for entry in saves if entry.state not in _GONE))


def residue(entries: Iterable[Entry]) -> Iterator[Entry]:
    """What stays behind by the latest state of writes; each write without identifier counts as its own record."""
    seen: set[tuple[str, str, str]] = set()
    for entry in entries:
        key = (entry.what, entry.realm, _record(entry))
        kept = entry.state in ("created", "unknown", "intended")
        if entry.what != REMOVABLE and kept and key not in seen:
            seen.add(key)
            yield entry


def outcome(answer: Response | None, fault: str | None, what: str = "contact") -> State:
    """The state of a write by its answer.

    Args:
        what: Kind of the record. For contacts and submissions, reported errors mean a refusal with any status below
            500. For drafts the document does not say whether the answer lists errors.
    """
    if answer is not None and answer.status == 429:
        return "refused"
    if answer is None or fault:
        return "unknown"
    if answer.refusal or (what in PERMANENT_KINDS and readers.tells_errors(answer)):
        return "refused"
    return "created" if answer.success else "unknown"


def named(answer: Response | None) -> str | None:
    """The identifier of an answer's record, under a usual name or else in its Location.

    The surest name counts first: the answer to a submission may describe its workflow before its document.
    """
    if answer is None:
        return None
    body = answer.json
    records = [body, *(body.values() if isinstance(body, dict) else ())]
    lowered = [
        {name.lower(): member for name, member in record.items()}
        for record in records
        if isinstance(record, dict)
    ]
    names = [record[name] for name in _NAMES for record in lowered if is_valid_uid(record.get(name))]
    place = unquote(urlsplit(answer.headers.get("location", "")).path).split("/")
    return next(iter([*names, *filter(is_valid_uid, reversed(place))]), None)


def read_entries(paths: Iterable[Path]) -> list[Entry]:
    """The latest state of every write in some ledgers; skips damaged and foreign lines."""
    entries: dict[tuple[str, int], Entry] = {}
    for line in (line for path in paths for line in read_bytes(path).decode("utf-8", "replace").split("\n")):
        with suppress(ValueError, RecursionError, msgspec.ValidationError):
            entry = msgspec.convert(json.loads(line), Entry)
            entries[entry.by, entry.number] = entry
    return list(entries.values())


def append_removed(path: Path, entries: Iterable[Entry]) -> None:
    """Note in the ledger of another run, or of a worker that died, that drafts are gone."""
    with path.open("a", encoding="utf-8") as file:
        for entry in entries:
            # The line break ends a line that a kill cut short.
            file.write("\n" + json.dumps(plain(replace(entry, state="removed", at=_now()))) + "\n")


def _record(entry: Entry) -> str:
    """A key for the record of a write; a write without identifier has its own."""
    return entry.identifier or f"({entry.by} {entry.number})"


def _now() -> str:
    return datetime.now(UTC).isoformat()
