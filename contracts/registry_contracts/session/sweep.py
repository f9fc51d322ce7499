"""The sweep: deletes drafts that earlier runs left, by their ledgers and by the accounts' lists of drafts."""

from __future__ import annotations

import platform
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Final

from msgspec import Meta
from msgspec.structs import replace

from registry_contracts.errors import EnvironmentFault, UsageError
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import read_timestamp
from registry_contracts.file_formats import OpenFormat, is_file, own_folder, read_file
from registry_contracts.safe_text import many
from registry_contracts.session.actor import Actor
from registry_contracts.session.draft_cleanup import delete_or_explain, deleting_role
from registry_contracts.session.ledger import (
    RUN_FILE,
    Entry,
    append_removed,
    read_entries,
    removable,
    residue,
    savers,
)
from registry_contracts.session.namespace import (
    KEPT_PREFIX,
    SUITE_PREFIX,
    TOKEN_LENGTH,
    is_signed,
    starts_like_ours,
)
from registry_contracts.session.session import Session
from registry_contracts.session.shared_state import process_alive
from registry_contracts.settings.target import AUTHOR, DOCUMENT_REALMS, Target

#: The case of a sweep's requests, which may use the reserve of the budget.
SWEEPING: Final = "[sweeping]"
#: A run of another machine counts as over after so many hours, since its processes cannot be seen.
_LONGEST_RUN_HOURS: Final = 24.0
_MOST_NAMED: Final = 5
_PAGE: Final = 100
#: Maximum number of pages to read of a list.
_MOST_PAGES: Final = 200
#: Shorter texts are numbers or years, not moments.
_SHORTEST_MOMENT: Final = len("2026-01-01T00:00")


class _Facts(OpenFormat, frozen=True):
    """The part of `run.json` that a sweep needs; the token's pattern ensures that it matches only a run's records."""

    base_url: str
    token: Annotated[str, Meta(pattern=f"^[a-z0-9]{{{TOKEN_LENGTH}}}$")]
    started: str
    finished: str | None = None
    left: int | None = None
    process: dict[str, Any] | None = None


@dataclass(frozen=True)
class EarlierRun:
    """A run that is over and may have left drafts: its folder, the token of its identifiers, and its writes."""

    folder: Path
    token: str
    entries: tuple[Entry, ...]
    drafts: list[Entry]


def earlier_runs(reports: Path, base_url: str) -> Iterator[EarlierRun]:
    """The runs on a target that are over and whose ledgers still hold drafts; `reports` contains the run folders."""
    for folder, facts in _runs_in(reports):
        if facts.base_url == base_url and (not facts.finished or facts.left) and _over(folder, facts):
            entries = tuple(read_entries(sorted(filter(is_file, folder.glob("ledger*.jsonl")))))
            if drafts := removable(entries):
                yield EarlierRun(folder, facts.token, entries, drafts)


def tokens_at_work(reports: Path) -> set[str]:
    """Tokens of the runs in a reports folder that are still running, on any target."""
    return {facts.token for folder, facts in _runs_in(reports) if process_alive(folder)}


def _runs_in(reports: Path) -> Iterator[tuple[Path, _Facts]]:
    """Run folders with their facts; a run that was killed before it wrote these had sent nothing."""
    for folder in sorted(path for path in reports.glob("*/") if not path.is_symlink()):
        try:
            facts = read_file(own_folder(folder) / RUN_FILE, _Facts)
        except UsageError:
            continue
        if not KEPT_PREFIX.startswith(f"{SUITE_PREFIX}{facts.token}"):
            yield folder, facts


def _over(folder: Path, facts: _Facts) -> bool:
    if facts.finished:
        return True
    if facts.process is None or facts.process.get("host") != platform.node():
        started = read_timestamp(facts.started)
        return started is not None and _since(started) > timedelta(hours=_LONGEST_RUN_HOURS)
    return not process_alive(folder)


def _since(moment: datetime) -> timedelta:
    return datetime.now(UTC) - moment


@dataclass
class Swept:
    """The result of a sweep, or of a dry run of one.

    `what` says whose drafts these were; `left` has those that remain, with reasons; `residue` is the number of records
    and attachments that the interface cannot remove.
    """

    what: str
    removed: list[Entry] = field(default_factory=list)
    left: list[tuple[Entry, str]] = field(default_factory=list)
    residue: int = 0
    dry: bool = False

    @property
    def sentence(self) -> str:
        """One line for the terminal."""
        parts = [f"{many(len(self.removed), 'draft')} {'to be removed' if self.dry else 'removed'}"]
        if self.left:
            named = [f"{draft.identifier} in {draft.realm}" for draft, _ in self.left[:_MOST_NAMED]]
            named += ["…"] * (len(self.left) > _MOST_NAMED)
            parts.append(f"{many(len(self.left), 'draft')} left: {', '.join(named)} ({self.left[0][1]})")
        if self.residue:
            parts.append(f"{self.residue} records and attachments that the interface cannot remove")
        return f"{self.what}: {'; '.join(parts)}"


def sweep_runs(session: Session, reports: Path, *, dry_run: bool = False) -> Iterator[Swept]:
    """Delete the drafts that earlier runs on the target left, by their ledgers; skip runs that are still running."""
    for run in earlier_runs(reports, session.target.base_url):
        session.namespace.adopt(run.token)
        swept = sweep_drafts(session, f"run {run.folder.name}", run.drafts, run.entries, dry_run=dry_run)
        swept.residue = sum(1 for _ in residue(run.entries))
        if not dry_run:
            gone = {draft.place for draft in swept.removed}
            lines = [each for each in run.entries if each.place in gone and each.what == "draft"]
            # The last line of the last ledger counts.
            append_removed(max(run.folder.glob("ledger*.jsonl")), lines)
        yield swept


def sweep_drafts(
    session: Session,
    what: str,
    drafts: Iterable[Entry],
    writes: Collection[Entry] = (),
    *,
    dry_run: bool = False,
) -> Swept:
    """Delete drafts that a session's namespace owns; `writes` tell who saved them. A dry run sends nothing."""
    swept = Swept(what, dry=dry_run)
    for draft in drafts:
        mine = replace(draft, role=deleting_role(draft.role))
        if (why := _sweep_one(session, mine, savers(draft.place, writes), dry_run=dry_run)) is None:
            swept.removed.append(mine)
        else:
            swept.left.append((mine, why))
    return swept


def _sweep_one(session: Session, draft: Entry, saved_by: Iterable[str], *, dry_run: bool) -> str | None:
    if draft.role not in session.target.accounts:
        return f"the settings have no account {draft.role}"
    if not session.namespace.owns(draft.identifier):
        return "its identifier is not one of the suite's"
    try:
        return None if dry_run else delete_or_explain(session, draft, SWEEPING, savers=saved_by)
    except EnvironmentFault as fault:
        return str(fault)


@contextmanager
def sweep_session(target: Target) -> Iterator[Session]:
    """A session for a sweep outside a run, which records nothing; raises `EnvironmentFault` if it gets no token."""
    with Session(target, "sweep") as session:
        author = session.tokens.token(AUTHOR)
        if not author.value:
            raise EnvironmentFault(f"{target.base_url} gave the author no token: {author.refusal}")
        yield session


@dataclass(frozen=True)
class Orphans:
    """Drafts in the accounts' lists: orphans, spared drafts with reasons, and lists that failed with reasons."""

    found: list[Entry] = field(default_factory=list)
    spared: list[tuple[Entry, str]] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)


def find_orphans(session: Session, *, at_work: set[str], older_than: timedelta, all_of_mine: bool) -> Orphans:
    """Search the lists of drafts of every account for orphans.

    A draft is an orphan if its identifier has the suite's check characters, its run is not `at_work` on this machine,
    and all its moments in the list are older than asked for: a run on another machine may be using it.

    Args:
        all_of_mine: Take every draft whose identifier starts like the suite's, whatever its age and check characters.
    """
    orphans = Orphans()
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


def _listed(actor: Actor) -> Iterator[tuple[Entry, dict[str, Any]]]:
    """Drafts whose identifier starts like the suite's, page by page, until a page is empty or repeated."""
    seen, before = set[str](), b""
    now = datetime.now(UTC).isoformat()
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
            texts = (value for value in readers.values(record) if isinstance(value, str))
            names = {text for text in texts if starts_like_ours(text) and " " not in text}
            for name in sorted(names - seen):
                yield Entry(1, "saveDraft", "draft", actor.realm, actor.role, name, "created", now), record
            seen |= names


def _why_spared(
    draft: Entry, record: dict[str, Any], at_work: set[str], older_than: timedelta, *, all_of_mine: bool
) -> str | None:
    if draft.identifier[len(SUITE_PREFIX) :][:TOKEN_LENGTH] in at_work:
        return "its run is still active"
    if all_of_mine:
        return None
    if not is_signed(draft.identifier):
        return "it may be the account's own; --all-of-mine takes it"
    age = _age(record)
    if age is None:
        return "the list does not say how old it is; --all-of-mine takes it"
    return None if age >= older_than else f"it is younger than {older_than.total_seconds() / 3600:g} hours"


def _age(record: dict[str, Any]) -> timedelta | None:
    """The time since the latest moment in a draft's record."""
    texts = (value for value in readers.values(record) if isinstance(value, str))
    moments = [read_timestamp(text) for text in texts if len(text) >= _SHORTEST_MOMENT]
    return min((_since(moment) for moment in moments if moment is not None), default=None)
