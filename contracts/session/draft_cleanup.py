"""Removes drafts: those of a run after each case and at its end, and those that earlier runs left (a sweep).

A sweep goes by the ledgers of runs that are over, and by the lists of the accounts' drafts.
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Final

from msgspec import Meta

from contracts.errors import EnvironmentFault, UsageError
from contracts.exchanges import readers
from contracts.exchanges.exchange import Exchange, read_timestamp
from contracts.file_formats import Format, Moment, Name, OpenFormat, is_file, plain, read_file
from contracts.session.actor import Actor
from contracts.session.ledger import (
    RUN_FILE,
    Entry,
    Ledger,
    append_removed,
    header_as_sent,
    read_entries,
    removable,
    residue,
)
from contracts.session.namespace import KEPT_PREFIX, SUITE_PREFIX, TOKEN_LENGTH, is_signed, starts_like_ours
from contracts.session.session import Session
from contracts.session.shared_state import process_alive
from contracts.settings.target import ANONYMOUS, AUTHOR, DOCUMENT_REALMS, Target

#: The case on whose behalf drafts are deleted; it may use what the request budget keeps back.
CLEANING: Final = "[cleaning]"
#: How long a write that was cut off on its way may still take to have an effect.
_SETTLING_SECONDS: Final = 1.0
_GONE: Final = (404, 410)


class DraftCleanup:
    """Deletes the drafts that a ledger holds, newest first.

    Args:
        delete: Sends the request that deletes a draft, as the role that saved it.
        stopped: Whether nothing can be sent any more.
        kept: Identifiers of drafts that cases share until the end of the run; may grow meanwhile.
        remove_elsewhere: Deletes a draft that was saved under another Realm header than its realm's, and says whether
            it is gone.
        beside: Delete after a case while the next one is under way, one draft at a time.
    """

    def __init__(
        self,
        ledger: Ledger,
        delete: Callable[[Entry], Exchange],
        stopped: Callable[[], bool],
        kept: set[str],
        remove_elsewhere: Callable[[Entry], bool] = lambda _: False,
        *,
        beside: bool = False,
    ) -> None:
        self._ledger = ledger
        self._delete = delete
        self._stopped = stopped
        self._tried: set[tuple[str, str, str]] = set()
        self._kept = kept
        self._remove_elsewhere = remove_elsewhere
        self._unwritten: OSError | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="cleaning") if beside else None
        self._under_way: list[Future[None]] = []

    def after_case(self) -> None:
        """Delete what is not shared, and was not tried in vain before.

        What breaks a deletion beside a case is raised after a later case, or at the end.
        """
        entries = self._chosen(lambda entry: entry.place not in self._tried)
        # Not chosen again while they wait for their turn.
        self._tried.update(entry.place for entry in entries)
        if self._thread is None:
            self._remove_all(entries, certain=False)
            return
        self._settle([each for each in self._under_way if each.done()])
        self._under_way.append(self._thread.submit(self._remove_all, entries, certain=False))

    def _settle(self, deletions: list[Future[None]]) -> None:
        """Wait for deletions beside cases, and raise what they raised."""
        for each in deletions:
            self._under_way.remove(each)
            each.result()

    def at_the_end(self, *, last: bool, at_once: int = 1) -> None:
        """Delete what is not shared, also what a first try did not remove.

        Args:
            last: No process comes after this one: the shared ones go too, and a write that may still be on its
                way is waited for.
            at_once: Deletions under way side by side; with more than one their order is no longer fixed.

        Raises:
            OSError: something could not be written about a deletion, all others of which were sent nevertheless.
        """
        if self._thread is not None:
            self._thread.shutdown()
            self._settle(list(self._under_way))
        if last:
            self._kept.clear()
        self._remove_all(self._chosen(lambda _: True), certain=False, at_once=at_once)
        if last and any(map(_uncertain, self._ledger.removable())) and not self._stopped():
            time.sleep(_SETTLING_SECONDS)
            self._remove_all(self._chosen(_uncertain), certain=True)
        if self._unwritten is not None:
            raise self._unwritten

    def _chosen(self, wanted: Callable[[Entry], bool]) -> list[Entry]:
        """Drafts that are wanted of those that are not shared, newest first."""
        drafts = self._ledger.removable()
        return [entry for entry in drafts if entry.identifier not in self._kept and wanted(entry)]

    def _remove_all(self, entries: Iterable[Entry], *, certain: bool, at_once: int = 1) -> None:
        """Delete drafts; the pace holds for deletions side by side as well."""
        if at_once == 1:
            for entry in entries:
                self._remove(entry, certain)
            return
        with ThreadPoolExecutor(at_once) as pool:
            # Looked at one by one: what a thread raises is raised here.
            for _ in pool.map(lambda entry: self._remove(entry, certain), entries):
                pass

    def _remove(self, entry: Entry, certain: bool) -> None:
        if self._stopped():
            return
        sure = certain or not _uncertain(entry)
        try:
            if entry.realm_sent:
                gone = self._remove_elsewhere(entry) and sure
            else:
                answer = self._delete(entry).answer
                gone = answer.success or (answer.status in _GONE and sure)
        except EnvironmentFault:
            return  # stays in the ledger as not removed, and is reported as a leftover
        except OSError as error:
            # The journal takes no more; a disk that is full leaves no drafts with the service.
            self._unwritten = error
            return
        if gone:
            self._ledger.removed(*entry.place)


def draft_cleanup(session: Session, *, beside: bool = False) -> DraftCleanup:
    """A cleanup of the drafts in a session's ledger, sent through the session until its breaker opens."""
    elsewhere = _Elsewhere(session, CLEANING)
    return DraftCleanup(
        session.ledger,
        lambda entry: _delete(session, entry),
        lambda: session.breaker_reason is not None,
        session.kept,
        lambda entry: elsewhere.remove(entry, deleting_role(entry)),
        beside=beside,
    )


def _delete(session: Session, entry: Entry) -> Exchange:
    actor = Actor(session, deleting_role(entry), entry.realm, CLEANING)
    return actor.send("deleteDraft", path={"uid": entry.identifier})


class _Elsewhere:
    """Removes drafts that were saved under another Realm header than that of their realm."""

    def __init__(self, session: Session, case: str) -> None:
        self._session = session
        self._case = case
        self._deleted: set[str] = set()

    def remove(self, draft: Entry | Draft, role: str) -> bool:
        """Delete a draft under the Realm header that it was saved with, or else wherever it may have come to stand.

        Returns:
            Whether a look under that header finds none; or, where the look is refused, whether it was deleted.
        """
        actor, path = Actor(self._session, role, draft.realm, self._case), {"uid": draft.identifier}
        as_saved = header_as_sent(draft.realm_sent)
        realms = (name for name in self._session.target.realms if name in DOCUMENT_REALMS)
        ways: list[dict[str, str | None]] = [as_saved]
        ways += [{"Realm": name} for name in realms]
        if any(actor.send("deleteDraft", path=path, headers=way).answer.success for way in ways):
            self._deleted.add(draft.identifier)
        look = actor.send("draftExists", path=path, headers=as_saved).answer
        return look.status in _GONE or (look.refusal and draft.identifier in self._deleted)


def deleting_role(entry: Entry) -> str:
    """The role that may delete a draft: the one that saved it, but it takes an account."""
    return AUTHOR if entry.role == ANONYMOUS else entry.role


def residue_of_dead_workers(ledgers: Iterable[Path]) -> list[Entry]:
    """What workers that could not close their ledgers leave behind for good."""
    return list(residue(read_entries(ledgers)))


def _uncertain(entry: Entry) -> bool:
    """Whether a draft may come into being after it was found absent: its save was not answered."""
    return entry.state in ("intended", "unknown")


#: What a sweep found in a run's folder, written beside its ledger.
SWEPT_FILE: Final = "swept.json"
#: A run of another machine cannot be asked whether it is alive; one this old, in hours, is taken to be over.
LONGEST_RUN_HOURS: Final = 24.0
#: How long workers whose controller was killed take to notice it and end.
_ORPHANED_WORKERS_SECONDS: Final = 20.0
_LOOK_AGAIN_SECONDS: Final = 0.1


@dataclass(frozen=True)
class EarlierRun:
    """A run that is over.

    Attributes:
        token: The run's part of its identifiers' prefix.
        base_url: The target it wrote to.
        entries: The latest state of each of its writes.
    """

    folder: Path
    token: str
    base_url: str
    entries: tuple[Entry, ...]

    @property
    def drafts(self) -> list[Entry]:
        """Drafts that are there or may be there, newest first."""
        return removable(self.entries)

    @property
    def residue(self) -> list[Entry]:
        """What the interface gives no means to remove."""
        return list(residue(self.entries))

    @property
    def ledgers(self) -> list[Path]:
        """Its ledger files."""
        return sorted(self.folder.glob("ledger*.jsonl"))


def earlier_runs(reports: Path, base_url: str) -> Iterator[EarlierRun]:
    """The runs on a target that are over and whose ledgers may still hold drafts; `reports` holds run folders."""
    folders = sorted(path for path in reports.glob("*/") if not path.is_symlink())
    for folder in folders:
        facts = _facts(folder)
        if facts is not None and facts.base_url == base_url and _to_be_swept(folder, facts):
            entries = tuple(read_entries(sorted(filter(is_file, folder.glob("ledger*.jsonl")))))
            yield EarlierRun(folder, facts.token, base_url, entries)


def tokens_at_work(reports: Path) -> set[str]:
    """Tokens of the runs in a reports folder that are not over, whatever their target."""
    folders = [path for path in reports.glob("*/") if not path.is_symlink()]
    facts_of_folders = ((folder, _facts(folder)) for folder in folders)
    return {facts.token for folder, facts in facts_of_folders if facts is not None and process_alive(folder)}


class _Process(OpenFormat, frozen=True):
    """The controller of a run."""

    host: str = ""


class _Facts(OpenFormat, frozen=True):
    """What a sweep needs of `run.json`; a token of any other look would name other records than a run's own."""

    base_url: str
    token: Annotated[str, Meta(pattern=f"^[a-z0-9]{{{TOKEN_LENGTH}}}$")]
    started: str
    finished: str | None = None
    left: int | None = None
    process: _Process | None = None


def _facts(folder: Path) -> _Facts | None:
    """None for what is no run folder of ours, or is one that was killed before it wrote anything to a service."""
    try:
        facts = read_file(folder / RUN_FILE, _Facts)
    except (FileNotFoundError, UsageError):
        return None
    return None if KEPT_PREFIX.startswith(f"{SUITE_PREFIX}{facts.token}") else facts


def _to_be_swept(folder: Path, facts: _Facts) -> bool:
    if facts.finished and not facts.left:
        return False
    return _unswept(folder) and _over(folder, facts)


def _unswept(folder: Path) -> bool:
    try:
        return bool(read_file(folder / SWEPT_FILE, SweptFile).left)
    except (FileNotFoundError, UsageError):
        return True


def _over(folder: Path, facts: _Facts) -> bool:
    if facts.finished:
        return True
    if facts.process is None or facts.process.host != platform.node():
        return _age(facts.started) > timedelta(hours=LONGEST_RUN_HOURS)
    deadline = time.monotonic() + _ORPHANED_WORKERS_SECONDS
    while process_alive(folder):
        if process_alive(folder, "main") or time.monotonic() > deadline:
            return False
        time.sleep(_LOOK_AGAIN_SECONDS)
    return True


def _age(started: str) -> timedelta:
    try:
        moment = datetime.fromisoformat(started)
    except ValueError:
        return timedelta()
    return datetime.now(UTC) - (moment if moment.tzinfo else moment.replace(tzinfo=UTC))


#: The case on whose behalf a sweep sends; it may use what the request budget keeps back.
SWEEPING: Final = "[sweeping]"
_MOST_NAMED: Final = 5


class Draft(Format, frozen=True):
    """A draft to be removed: its realm, its identifier, and the account that removes it."""

    realm: Name
    identifier: str
    role: Name
    realm_sent: str = ""


class LeftDraft(Format, frozen=True):
    """A draft that is still there, and why."""

    realm: Name
    identifier: str
    role: Name
    why: Name
    realm_sent: str = ""


class SweptFile(Format, frozen=True):
    """`swept.json`: what a sweep did about one killed run; `residue` cannot be removed."""

    at: Moment
    removed: tuple[Draft, ...]
    left: tuple[LeftDraft, ...]
    residue: tuple[Entry, ...]


@dataclass
class Swept:
    """What a sweep did.

    Attributes:
        what: Whose drafts these were, for a sentence.
        removed: Drafts that are gone now.
        left: Drafts that are still there, each with the reason.
        residue: What the interface gives no means to remove.
        dry: Nothing was removed; `removed` is what would have been.
    """

    what: str
    removed: list[Draft] = field(default_factory=list)
    left: list[tuple[Draft, str]] = field(default_factory=list)
    residue: list[Entry] = field(default_factory=list)
    dry: bool = False

    @property
    def named(self) -> list[Draft]:
        """The drafts that its lines name."""
        return [*self.removed, *(draft for draft, _ in self.left)]

    @property
    def sentence(self) -> str:
        """One line for the terminal."""
        parts = [f"{_drafts(len(self.removed))} {'to be removed' if self.dry else 'removed'}"]
        if self.left:
            named = ", ".join(f"{draft.identifier} in {draft.realm}" for draft, _ in self.left[:_MOST_NAMED])
            more = len(self.left) - _MOST_NAMED
            parts.append(
                f"{_drafts(len(self.left))} left: {named}{f' and {more} more' if more > 0 else ''} "
                f"({self.left[0][1]})"
            )
        if self.residue:
            parts.append(f"{len(self.residue)} records and attachments that the interface cannot remove")
        return f"{self.what}: {'; '.join(parts)}"


class Sweeper:
    """Deletes drafts through a session, whose namespace takes in what is to be deleted; a dry run only says what."""

    def __init__(self, session: Session, *, dry_run: bool = False) -> None:
        self._session = session
        self._dry_run = dry_run
        self._elsewhere = _Elsewhere(session, SWEEPING)

    def runs(self, reports: Path) -> Iterator[Swept]:
        """Delete what earlier runs on the target left, by their ledgers; runs that are alive are left alone."""
        for run in earlier_runs(reports, self._session.target.base_url):
            self._session.namespace.adopt(run.token)
            swept = self.drafts(f"run {run.folder.name}", (_draft(entry) for entry in run.drafts))
            swept.residue = run.residue
            if not self._dry_run:
                _write_down(run, swept)
            yield swept

    def drafts(self, what: str, drafts: Iterable[Draft]) -> Swept:
        """Delete drafts that the namespace owns."""
        swept = Swept(what, dry=self._dry_run)
        for draft in drafts:
            why = self._why_not(draft)
            if why is None:
                swept.removed.append(draft)
            else:
                swept.left.append((draft, why))
        return swept

    def _why_not(self, draft: Draft) -> str | None:
        """Delete one draft; None when it is gone, else what stands in the way."""
        if draft.role not in self._session.target.accounts:
            return f"the settings have no account {draft.role}"
        if not self._session.namespace.owns(draft.identifier):
            return "its identifier is not one of the suite's"
        if self._dry_run:
            return None
        try:
            actor = Actor(self._session, draft.role, draft.realm, SWEEPING)
            if draft.realm_sent:
                gone = self._elsewhere.remove(draft, draft.role)
                return None if gone else f"saved under Realm {draft.realm_sent}, still there or out of sight"
            answer = actor.send("deleteDraft", path={"uid": draft.identifier}).answer
        except EnvironmentFault as fault:
            return str(fault)
        return None if answer.success or answer.status in _GONE else f"deleteDraft answered {answer.status}"


def _draft(entry: Entry) -> Draft:
    return Draft(entry.realm, entry.identifier, deleting_role(entry), entry.realm_sent)


def _write_down(run: EarlierRun, swept: Swept) -> None:
    """Note in the run's folder what became of its drafts, so that the next sweep need not ask again."""
    gone = {(draft.realm, draft.identifier, draft.realm_sent) for draft in swept.removed}
    entries = [entry for entry in run.entries if entry.place in gone]
    if run.ledgers:
        append_removed(run.ledgers[0], [entry for entry in entries if entry.what == "draft"])
    file = SweptFile(
        at=datetime.now(UTC).isoformat(),
        removed=tuple(swept.removed),
        left=tuple(LeftDraft(**plain(draft), why=why) for draft, why in swept.left),
        residue=tuple(swept.residue),
    )
    # In ASCII: an identifier may hold half a surrogate pair, which has no form in UTF-8.
    (run.folder / SWEPT_FILE).write_text(json.dumps(plain(file), indent=2) + "\n", encoding="utf-8")


def _drafts(count: int) -> str:
    return f"{count} draft" if count == 1 else f"{count} drafts"


@contextmanager
def sweep_session(target: Target) -> Iterator[Session]:
    """A session for a sweep that is no part of a run: it records nothing.

    Raises:
        EnvironmentFault: the author cannot sign in.
    """
    with Session(target, "sweep") as session:
        author = session.tokens.token(AUTHOR)
        if not author.value:
            raise EnvironmentFault(f"{target.base_url} gave the author no token: {author.refusal}")
        yield session


_PAGE: Final = 100
#: A service whose pages never end is not read to the end.
_MOST_PAGES: Final = 200
#: Shorter texts are numbers or years, not moments.
_SHORTEST_MOMENT: Final = len("2026-01-01T00:00")


@dataclass(frozen=True)
class Orphans:
    """What a listing of the accounts' drafts gave.

    Attributes:
        spared: Drafts that look like the suite's and are left alone, each with the reason.
        troubles: Lists that could not be read, each with the reason.
    """

    found: list[Draft]
    spared: list[tuple[Draft, str]]
    troubles: list[str]


def find_orphans(session: Session, *, at_work: set[str], older_than: timedelta, all_of_mine: bool) -> Orphans:
    """Look through the drafts of every account of a session's target.

    A draft is taken for an orphan when its identifier is signed by the suite, its run is not one that is at work on
    this machine, and everything the list says about its age is older than asked for.

    Args:
        at_work: Tokens of runs that are going on.
        older_than: Younger ones are left alone: a run on another machine may be at work on them.
        all_of_mine: Take every draft that starts like the suite's, whatever its age and signature.
    """
    orphans = Orphans([], [], [])
    for role in session.target.accounts:
        for realm in (name for name in session.target.realms if name in DOCUMENT_REALMS):
            try:
                for draft, record in _listed(Actor(session, role, realm, SWEEPING)):
                    why = _why_spared(draft, record, at_work, older_than, all_of_mine=all_of_mine)
                    if why is None:
                        orphans.found.append(draft)
                    else:
                        orphans.spared.append((draft, why))
            except (EnvironmentFault, readers.Ambiguous) as trouble:
                orphans.troubles.append(f"the drafts of the {role} in {realm}: {trouble}")
    return orphans


def _listed(actor: Actor) -> Iterator[tuple[Draft, dict[str, Any]]]:
    """Drafts whose identifier starts like the suite's, page by page, until one is empty or comes again."""
    seen, before = set[str](), b""
    for page in range(_MOST_PAGES):
        query = {"collection": "my", "$top": str(_PAGE), "$skip": str(page * _PAGE)}
        answer = actor.send("listDrafts", query=query).answer
        records = readers.records(answer) if answer.success else None
        if records is None:
            raise EnvironmentFault(f"listDrafts answered {answer.quote()}")
        if not records or answer.content == before:
            return
        before = answer.content
        for record in records:
            for identifier in sorted(_identifiers(record) - seen):
                yield Draft(actor.realm, identifier, actor.role), record
            seen |= _identifiers(record)


def _identifiers(record: dict[str, Any]) -> set[str]:
    texts = (value for value in readers.values(record) if isinstance(value, str))
    return {text for text in texts if starts_like_ours(text) and " " not in text}


def _why_spared(
    draft: Draft, record: dict[str, Any], at_work: set[str], older_than: timedelta, *, all_of_mine: bool
) -> str | None:
    if draft.identifier[len(SUITE_PREFIX) :][:TOKEN_LENGTH] in at_work:
        return "its run is going on"
    if all_of_mine:
        return None
    if not is_signed(draft.identifier):
        return "it may be the account's own; --all-of-mine takes it"
    age = _run_age(record)
    if age is None:
        return "the list does not say how old it is; --all-of-mine takes it"
    return None if age >= older_than else f"it is younger than {older_than.total_seconds() / 3600:g} hours"


def _run_age(record: dict[str, Any]) -> timedelta | None:
    """How long ago anything happened to a draft, by the latest moment in its record."""
    texts = (value for value in readers.values(record) if isinstance(value, str))
    moments = [
        moment
        for text in texts
        if len(text) >= _SHORTEST_MOMENT and (moment := read_timestamp(text)) is not None
    ]
    return datetime.now(UTC) - max(moments) if moments else None
