"""What the sessions of a run share: a private folder with locks and state, and limits on requests and records.

A killed run's private folder holds tokens, so it goes with the first run or sweep that finds it. Limited are requests
in all, requests per second and at once, and permanent records.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import shutil
import stat
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from filelock import FileLock, Timeout

from contracts.errors import EnvironmentFault
from contracts.session.namespace import KEPT_PREFIX

#: A process that looks holds the lock for a moment; one that starts waits for it, at most this long.
_LONGEST_WAIT_SECONDS = 10.0
_RENAMES_WHAT_IS_OPEN = os.name == "posix"


class ProcessLock:
    """Says that a process is at work in a folder, by a lock that the operating system frees when the process ends.

    Args:
        folder: Folder of the run, or its private one.
        name: Of the process within the run.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._path = folder / f"alive-{name}.lock"
        begun = folder / f"begun-{name}.lock" if _RENAMES_WHAT_IS_OPEN else self._path
        # Singletons would tie two runs in one process together.
        self._lock = FileLock(begun, mode=0o600)
        self._lock.acquire(timeout=_LONGEST_WAIT_SECONDS)
        # Under its name only once it is held: a process that looked in between would take this one for dead.
        begun.rename(self._path)

    def release(self) -> None:
        """Say that the process is done; a second call does nothing."""
        if self._lock.is_locked:
            self._lock.release()
            self._path.unlink(missing_ok=True)


def process_alive(folder: Path, name: str = "*") -> bool:
    """Whether a process of this machine is at work in a folder: any, or the one of a name."""
    return any(_held(path) for path in sorted(folder.glob(f"alive-{name}.lock")))


def _held(path: Path) -> bool:
    lock = FileLock(path, mode=0o600)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        return True
    lock.release()
    return False


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, in one piece: whatever happens, others see all of it or nothing new.

    Args:
        path: No two processes may write it at the same time.
    """
    fresh = path.with_suffix(".new")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
    fresh.replace(path)


PRIVATE_PREFIX: Final = "registry-contracts-"
_OWNER_ONLY: Final = 0o077


#: Files there are in memory: what workers share is written for many a request, and credentials never reach a disk.
_IN_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - a folder of its own is made there
_MEMORY_NEEDED: Final = 64 * 1024 * 1024


def private_parent() -> Path:
    """Where private folders are made: in memory, unless a variable such as TMPDIR or a lack of room says otherwise."""
    if not any(os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP")):
        with suppress(OSError, AttributeError):  # there is none; or this system has no such question
            room = os.statvfs(_IN_MEMORY)
            if room.f_bavail * room.f_frsize >= _MEMORY_NEEDED and os.access(_IN_MEMORY, os.W_OK | os.X_OK):
                return _IN_MEMORY
    return Path(tempfile.gettempdir())


def abandoned_private_folders(*parents: Path) -> Iterator[Path]:
    """Private folders of this account in which no process is at work any more.

    Args:
        parents: Where they are; by default wherever they may have been made.
    """
    folders = dict.fromkeys(parents or (private_parent(), Path(tempfile.gettempdir())))
    for path in sorted(path for folder in folders for path in folder.glob(f"{PRIVATE_PREFIX}*")):
        # A folder without a lock is one that a run has made this very moment, or nothing of ours.
        with suppress(FileNotFoundError):
            if _is_ours(path) and any(path.glob("alive-*.lock")) and not process_alive(path):
                yield path


def remove_abandoned_private_folders(*parents: Path) -> int:
    """Remove the private folders of dead runs, and return how many there were; `parents` as above."""
    count = 0
    for path in list(abandoned_private_folders(*parents)):
        shutil.rmtree(path, ignore_errors=True)
        count += not path.exists()
    return count


def _is_ours(path: Path) -> bool:
    facts = path.lstat()
    mine = not hasattr(os, "getuid") or facts.st_uid == os.getuid()
    return stat.S_ISDIR(facts.st_mode) and mine and not facts.st_mode & _OWNER_ONLY


T = TypeVar("T")


class SharedState:
    """One session's view of what the sessions of a run share.

    Args:
        private: The private folder (0700) of the session or its group.
    """

    def __init__(self, private: Path) -> None:
        self._folder = private / "shared"
        self._folder.mkdir(mode=0o700, exist_ok=True)
        self._known: dict[str, Any] = {}

    def once(self, name: str, make: Callable[[], T]) -> T:
        """What `make` gives, made by the first worker that asks for it; the others wait for it.

        What raises is not kept: the next one who asks tries again. Something that `make` itself asks for is locked
        under its own name, so no two of them may need each other.

        Args:
            name: The same in every worker.
            make: Gives something that can be pickled.
        """
        if name not in self._known:
            path = self._path(name)
            with FileLock(f"{path}.lock"):
                if not path.exists():
                    self._known[name] = made = make()
                    write_whole(path, pickle.dumps(made))
                    return made
                self._known[name] = _read(path)
        return cast(T, self._known[name])

    def offer(self, name: str, value: object) -> None:
        """Put something where other cases find it, unless something lies there.

        Args:
            value: Can be pickled.
        """
        path = self._path(name)
        with FileLock(f"{path}.lock"):
            if not path.exists():
                write_whole(path, pickle.dumps(value))

    def offered(self, name: str) -> Any:
        """What lies under a name; None for nothing."""
        path = self._path(name)
        with FileLock(f"{path}.lock"):
            return _read(path) if path.exists() else None

    def take(self, counter: str) -> int:
        """The next number of a counter, from 0."""
        path = self._path(f"counter {counter}")
        with FileLock(f"{path}.lock"):
            number = int(path.read_text()) if path.exists() else 0
            write_whole(path, str(number + 1).encode())
        return number

    def mark(self, name: str) -> None:
        """Leave a mark that every worker sees from now on."""
        self._path(f"mark {name}").touch()

    def marked(self, name: str) -> bool:
        """Whether some worker has left this mark."""
        return self._path(f"mark {name}").exists()

    def _path(self, name: str) -> Path:
        return self._folder / hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _read(path: Path) -> Any:
    # Nothing but what this run's own workers wrote, into a folder that no other account may write to.
    return pickle.loads(path.read_bytes())  # noqa: S301


#: Share of the budget that only signing in, cleaning and sweeping may use, and its least number of requests.
_KEPT_BACK = 20
_LEAST_KEPT_BACK = 20
#: A worker takes places in blocks, so that few requests have to look at the shared file.
_LARGEST_BLOCK = 25
_FILE = "requests"
_DIGITS = 20


class BudgetSpent(EnvironmentFault):
    """The run has sent as many requests as its settings allow; this one was not sent."""


class RequestBudget:
    """The requests of a run, counted in its private folder.

    Args:
        folder: Private folder that all workers of the run see.
        most: Requests that the run may send, repetitions included; None for no limit.
    """

    def __init__(self, folder: Path, most: int | None) -> None:
        self._most = most
        self._path = folder / _FILE
        self._lock = FileLock(folder / "requests.lock")
        self._block = max(1, min(_LARGEST_BLOCK, (most or 0) // 400))
        self._left = 0
        self._threads = threading.Lock()

    @property
    def for_cases(self) -> int | None:
        """What of the budget the cases may use."""
        if self._most is None:
            return None
        return self._most - max(min(_LEAST_KEPT_BACK, self._most // 4), self._most // _KEPT_BACK)

    def take(self, *, essential: bool = False) -> None:
        """Count one request before it is sent.

        Args:
            essential: It signs in, cleans or sweeps, and may use what is kept back.

        Raises:
            BudgetSpent: it would be one too many.
        """
        if self._most is None or self.for_cases is None:
            return
        if essential:
            if not self._reserve(1, self._most):
                raise self._spent(self._most)
            return
        with self._threads:
            self._left = self._left or self._reserve(self._block, self.for_cases)
            if not self._left:
                raise self._spent(self.for_cases)
            self._left -= 1

    def _reserve(self, wanted: int, limit: int) -> int:
        """Take up to `wanted` places below a limit."""
        with self._lock, os.fdopen(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600), "r+b", 0) as file:
            used = int(file.read(_DIGITS) or 0)
            taken = max(0, min(wanted, limit - used))
            if taken:
                # In place and always as long: a reader finds the old number or the new one.
                os.pwrite(file.fileno(), f"{used + taken:0{_DIGITS}}".encode(), 0)
        return taken

    def _spent(self, limit: int) -> BudgetSpent:
        kept = f", {limit:,} of them for cases" if limit != self._most else ""
        return BudgetSpent(
            f"the request budget of this run is spent: {self._most:,}{kept} (setting pace.request_budget)"
        )


#: More requests than so many are never under way together: a run has a few workers with a few threads each.
MOST_SLOTS = 256
#: A slower pace is this one: clocks do not take every number.
LONGEST_INTERVAL_SECONDS = 86_400.0
#: How long a session waits before it looks again for a free slot.
_POLL_SECONDS = 0.005
#: The longest rest that one response can impose on all sessions; a service that asks for more gets no retry.
LONGEST_REST_SECONDS = 30.0


class Pace:
    """A request rate and a number of requests under way, shared through files in the run's private folder.

    Moments are those of the monotonic clock, which the processes of one machine share and which never goes back.

    Args:
        folder: Private folder that all workers of the run see.
        requests_per_second: Highest rate; None for no limit.
        concurrency: Most requests under way at once; None for no limit.
        budget: Requests that the run may send in all; None for no limit.
        on_spent: Called with the reason when the budget of the cases is spent.
    """

    def __init__(
        self,
        folder: Path,
        requests_per_second: float | None,
        concurrency: int | None,
        budget: RequestBudget | None = None,
        on_spent: Callable[[str], None] | None = None,
    ) -> None:
        self._interval = (
            min(1.0 / requests_per_second, LONGEST_INTERVAL_SECONDS) if requests_per_second else 0.0
        )
        self._budget = budget
        self._on_spent = on_spent
        self._clock = folder / "pace"
        self._rest = folder / "rest"
        self._clock_lock = FileLock(folder / "pace.lock")
        self._slots = [FileLock(folder / f"slot-{n}.lock") for n in range(min(concurrency or 0, MOST_SLOTS))]

    def count(self, *, essential: bool = False) -> None:
        """Count a request against the budget before it is sent.

        Args:
            essential: It signs in, cleans, sweeps or repeats, and may use what is kept back.

        Raises:
            BudgetSpent: it would be one too many.
        """
        if self._budget is None:
            return
        try:
            self._budget.take(essential=essential)
        except BudgetSpent as spent:
            if self._on_spent and not essential:
                self._on_spent(str(spent))
            raise

    def affords(self) -> bool:
        """Count a repetition, if the budget has room for it."""
        try:
            self.count(essential=True)
        except BudgetSpent:
            return False
        return True

    def hop(self) -> bool:
        """Count a request that follows a redirect and wait for its moment; False when the budget has no room for it."""
        if not self.affords():
            return False
        self._wait_for_moment()
        return True

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for this request's turn and hold a slot while it is under way."""
        # The slot first: requests that waited for one after their moment had come would go out in a bunch.
        slot = self._acquire_slot()
        try:
            self._wait_for_moment()
            yield
        finally:
            if slot is not None:
                slot.release()

    def rest(self, seconds: float) -> None:
        """Let no worker send anything for some seconds, because the service asked for it (Retry-After)."""
        if seconds <= 0:
            return
        until = time.monotonic() + min(seconds, LONGEST_REST_SECONDS)
        with self._clock_lock:
            if until > _moment(self._rest):
                # In one piece: it is read without the lock.
                write_whole(self._rest, repr(until).encode())

    def _wait_for_moment(self) -> None:
        """Wait until a moment of this request's own, outside every rest, has come."""
        while True:
            _pause(min(_moment(self._rest) - time.monotonic(), LONGEST_REST_SECONDS))
            _pause(self._next_moment() - time.monotonic())
            if _moment(self._rest) <= time.monotonic():
                return

    def _next_moment(self) -> float:
        if not self._interval:
            return 0.0
        with self._clock_lock:
            start = max(time.monotonic(), _moment(self._clock))
            self._clock.write_text(repr(start + self._interval), encoding="utf-8")
        return start

    def _acquire_slot(self) -> FileLock | None:
        while self._slots:
            for slot in self._slots:
                try:
                    slot.acquire(blocking=False)
                except Timeout:
                    continue
                return slot
            time.sleep(_POLL_SECONDS)
        return None


def _pause(seconds: float) -> None:
    if seconds > 0:
        time.sleep(seconds)


def _moment(path: Path) -> float:
    """A moment from a file; long past when there is none, or when a kill cut it short."""
    try:
        return float(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return 0.0


#: How long a write waits for others under way, which may yet turn out to create nothing.
_PATIENCE_SECONDS = 5.0
_RECORD_POLL_SECONDS = 0.02


class ResidueSpent(EnvironmentFault):
    """A write could create one permanent record more than the settings allow; it was not sent."""


#: Records of one kind of unplanned write that are taken as evidence: a case may see a fault in three requests, and once
#: more when it is confirmed.
_EVIDENCE = 6
#: Places of the planned records that unplanned ones may take before no more of an operation's are sent.
_BORROWED = 3


@dataclass(frozen=True)
class PermanentWrite:
    """A write that may create a permanent record.

    Attributes:
        record: Tells its record from others.
        operation: `operationId`.
        case: On whose behalf it is sent.
        kind: What of the request may have to be refused, as `credentials`; requests of one kind show one fault.
        advisory: Nothing that its case may find is about a must.
    """

    realm: str
    record: str
    operation: str = ""
    case: str = ""
    kind: str = ""
    advisory: bool = False


class ResidueBudget:
    """The permanent records of a run in each realm, counted in its private folder.

    A record is counted once, however often it is written, unless the service makes another one each time. A write
    that the service refuses gives its place back; one whose outcome is unknown keeps it.

    What a run creates when nothing is wrong is planned before it. All other writes ought to be refused: those that
    are accepted all the same are evidence of a fault, and one fault must not take the places of the planned records
    (design 4.5). Of each kind a few records are taken, which show and confirm it; no further one is sent. Where all
    that can be found is advice, they take none of the planned places: a must that could not be judged for want of one
    would cost the run its verdict.

    Args:
        folder: Private folder that all workers of the run see.
        most: Permanent records that the run may create in one realm.
        exists: Whether an identifier is one of a record that exists already, or that has been counted.
    """

    def __init__(self, folder: Path, most: int, exists: Callable[[str], bool]) -> None:
        self._folder = folder
        self._most = most
        self._exists = exists
        self._planned_cases: frozenset[str] = frozenset()
        self._planned: Counter[str] = Counter()
        self._foreseen: set[str] = set()
        self._has_plan = False

    def plan(self, cases: Mapping[str, tuple[str, int]]) -> None:
        """Keep places for the records that cases create when they pass; without a plan every write is a planned one.

        Args:
            cases: Realm and number of records, by the id of the case.
        """
        self._has_plan = True
        self._planned_cases = frozenset(cases)
        self._planned = Counter()
        for realm, records in cases.values():
            self._planned[realm] += records

    def foresee(self, record: str) -> None:
        """Take the write of a record for a planned one, whatever case it is arranged for."""
        self._foreseen.add(record)

    def reserve(self, write: PermanentWrite) -> None:
        """Take a place for a record before it is written.

        Raises:
            ResidueSpent: there is none left, or none for a write like this.
        """
        if self._needs_no_place(write):
            return
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not self._take(write):
            full = len(self._read(write.realm)[0]) >= self._most
            if full or time.monotonic() > deadline:
                raise ResidueSpent(
                    f"the run has created the {self._most} permanent records it may create in {write.realm} "
                    "(setting pace.permanent_records)"
                )
            time.sleep(_RECORD_POLL_SECONDS)

    def settle(self, write: PermanentWrite, *, kept: bool, renamed: bool = False) -> None:
        """Say what became of a write whose place was reserved.

        Args:
            kept: It was not refused.
            renamed: The service may have given its record another name: where there is one of the name that was
                sent, it is one more.
        """
        if not renamed and self._needs_no_place(write):
            return
        with self._locked(write.realm):
            there, under_way = self._read(write.realm)
            label = "" if self._is_planned(write) else _label(write)
            exists = write.record in there or self._exists(write.record)
            if kept and (renamed or not exists):
                there[_again(write.record, len(there)) if exists else write.record] = label
            self._write(write.realm, there, under_way - Counter([write.record]))

    def _needs_no_place(self, write: PermanentWrite) -> bool:
        return self._exists(write.record) and not _made_again(write.record, self._read(write.realm)[0])

    def created(self, realm: str) -> int:
        """How many permanent records the run has created in a realm, or may have created."""
        return len(self._read(realm)[0])

    def unplanned(self, realm: str) -> int:
        """How many records of a realm the plan of the run leaves over."""
        return max(0, self._most - self._planned[realm])

    def _is_planned(self, write: PermanentWrite) -> bool:
        planned = write.case in self._planned_cases and not write.advisory
        planned = planned or write.record in self._foreseen
        return planned or not self._has_plan or write.record.startswith(KEPT_PREFIX)

    def _take(self, write: PermanentWrite) -> bool:
        with self._locked(write.realm):
            there, under_way = self._read(write.realm)
            again = _made_again(write.record, there)
            if again or write.record not in there:
                if not self._is_planned(write):
                    (self._refuse_advisory if write.advisory else self._refuse_more)(write, there)
                if len(there.keys() | under_way.keys() | {write.record}) + again > self._most:
                    return False
            self._write(write.realm, there, under_way + Counter([write.record]))
            return True

    def _refuse_advisory(self, write: PermanentWrite, there: Mapping[str, str]) -> None:
        """Refuse a write that may take the place of a planned record for the sake of advice.

        Where every place is planned, as in a nightly run, one such record is let through: what ought to be refused is
        sent all the same, and a plan is what a run creates at most.
        """
        unplanned = sum(bool(label) for label in there.values())
        if self._has_plan and unplanned >= max(1, self._most - self._planned[write.realm]):
            raise ResidueSpent(
                f"{write.operation} has created {unplanned} permanent records in {write.realm} by requests that no "
                "plan foresaw; the other places are kept for cases on what must be (setting pace.permanent_records)"
            )

    def _refuse_more(self, write: PermanentWrite, there: Mapping[str, str]) -> None:
        """Refuse a write that would show a fault again, or that the planned records leave no room for."""
        unplanned = [label for label in there.values() if label]
        reserve = max(_EVIDENCE, self._most - self._planned[write.realm])
        same = unplanned.count(_label(write))
        if same >= (_EVIDENCE if len(unplanned) < reserve else 1):
            raise ResidueSpent(
                f"{write.operation} has created {same} permanent records in {write.realm} by requests of this kind, "
                "which is evidence enough; the other places are kept for cases that need them"
            )
        of_operation = [label for label in unplanned if label.startswith(f"{write.operation} ")]
        if len(unplanned) >= reserve + _BORROWED and of_operation:
            raise ResidueSpent(
                f"{write.operation} has created {len(of_operation)} permanent records in {write.realm} by requests "
                "that no plan foresaw; the other places are kept for cases that need them "
                "(setting pace.permanent_records)"
            )

    def _locked(self, realm: str) -> FileLock:
        return FileLock(self._folder / f"residue-{realm}.lock")

    def _read(self, realm: str) -> tuple[dict[str, str], Counter[str]]:
        """Records that are there, each with the label of an unplanned write; and those under way, with their number."""
        path = self._folder / f"residue-{realm}.json"
        if not path.exists():
            return {}, Counter()
        there, under_way = json.loads(path.read_text(encoding="utf-8"))
        return there, Counter(under_way)

    def _write(self, realm: str, there: Mapping[str, str], under_way: Counter[str]) -> None:
        content = json.dumps([there, under_way]).encode()
        write_whole(self._folder / f"residue-{realm}.json", content)


def _again(record: str, number: int) -> str:
    """The name of a further record that was made when a name that had been used was sent again."""
    return f"{record} again {number}"


def _made_again(record: str, there: Iterable[str]) -> bool:
    return any(known.startswith(_again(record, 0)[:-1]) for known in there)


def _label(write: PermanentWrite) -> str:
    return f"{write.operation} {write.kind or write.case}"
