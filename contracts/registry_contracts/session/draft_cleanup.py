"""Deletes drafts: those of a run after each case and at its end, those that refused writes stored, and old ones.

A sweep deletes what earlier runs left, by their ledgers and by the accounts' lists of drafts.
"""

from __future__ import annotations

import platform
import re
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import unquote, urlsplit

from msgspec import Meta
from msgspec.structs import replace

from registry_contracts.errors import EnvironmentFault, UsageError
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import NOT_THERE, Exchange, Response, read_timestamp
from registry_contracts.file_formats import OpenFormat, is_file, own_folder, read_file
from registry_contracts.interface.description import load_description, operations_with
from registry_contracts.interface.operations import PERMANENT_KINDS, is_valid_uid
from registry_contracts.safe_text import many
from registry_contracts.session.actor import Actor
from registry_contracts.session.authentication import FOR_THE_ACCOUNT
from registry_contracts.session.ledger import (
    RUN_FILE,
    Entry,
    append_removed,
    header_as_sent,
    read_entries,
    realm_as_sent,
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
from registry_contracts.session.pipeline import Request
from registry_contracts.session.session import Session
from registry_contracts.session.shared_state import process_alive
from registry_contracts.settings.target import ANONYMOUS, AUTHOR, DOCUMENT_REALMS, Target

#: The case of the deletions; its requests may use the reserve of the budget.
CLEANING: Final = "[cleaning]"
#: How long an interrupted write may still take to have an effect.
_SETTLING_SECONDS: Final = 1.0
#: Realm, identifier, and another Realm header if the draft was saved with one, as `realm_as_sent` writes it.
Place = tuple[str, str, str]
_DRAFT: Final = re.compile(r"/documents/([^/]+)/versions/draft$")


def delete_or_explain(
    session: Session, draft: Entry, *, savers: Iterable[str] = (), certain: bool = True
) -> str | None:
    """Delete a draft as each role that saved it; return why it is still there, or None if it is gone.

    The document does not say who owns a draft that several accounts saved, or how the deletion of somebody else's draft
    is answered. So each saver must be answered that it is gone; if one is refused, other accounts try.

    Args:
        savers: The roles that saved it, if there are several.
        certain: No save is unanswered, so a draft that is found absent stays absent.
    """
    if why := _obstacle(session, draft):
        return why
    role, accounts = deleting_role(draft.role), session.target.accounts
    others = [each for each in map(deleting_role, savers) if each in accounts]
    actors = [Actor(session, each, draft.realm, CLEANING) for each in dict.fromkeys([role, *others])]
    try:
        if not draft.realm_sent:
            return _delete(session, draft, actors, certain=certain)
        whys = [_delete_elsewhere(actor, draft, certain=certain) for actor in actors]
        return next(filter(None, whys), None)
    except EnvironmentFault as fault:
        return str(fault)


def _obstacle(session: Session, draft: Entry) -> str | None:
    """Why a session may not delete a draft; None if it may."""
    role = deleting_role(draft.role)
    if role not in session.target.accounts:
        return f"the settings have no account {role}"
    return None if session.namespace.owns(draft.identifier) else "its identifier is not one of the suite's"


def _delete(session: Session, draft: Entry, actors: Iterable[Actor], *, certain: bool) -> str | None:
    answers = {actor: actor.delete_draft(draft.identifier).answer for actor in actors}
    gone = NOT_THERE if certain else ()
    left = [actor for actor, each in answers.items() if not (each.success or each.status in gone)]
    if not left:
        return None
    refused = answers[left[0]].status
    deleted = any(each.success for each in answers.values())
    if not deleted and refused in FOR_THE_ACCOUNT:
        deleted = _another_deletes(session, draft, [actor.role for actor in answers])
    # The refusal shows that the draft was there, so the same account can see whether it still is.
    gone_now = deleted and not left[0].draft_exists(draft.identifier).answer.success
    return None if gone_now else f"deleteDraft answered {refused}"


def _another_deletes(session: Session, draft: Entry, asked: Collection[str]) -> bool:
    """Whether another account than those `asked` could delete a draft."""
    for role in session.target.accounts:
        if role not in asked:
            with suppress(EnvironmentFault):
                if Actor(session, role, draft.realm, CLEANING).delete_draft(draft.identifier).answer.success:
                    return True
    return False


def _delete_elsewhere(actor: Actor, draft: Entry, *, certain: bool) -> str | None:
    """Delete a draft that was saved with another Realm header than its realm's; return why it may still be there.

    It is deleted with that header, and in a realm where it is found: deleting an absent draft may also succeed.
    """

    def ask(operation: str, header: Mapping[str, str | None]) -> Response:
        return actor.send(operation, path={"uid": draft.identifier}, headers=header).answer

    as_saved = header_as_sent(draft.realm_sent)
    deleted = ask("deleteDraft", as_saved).success
    for realm in (name for name in actor.session.target.realms if name in DOCUMENT_REALMS):
        there = {"Realm": realm}
        deleted = deleted or (ask("draftExists", there).success and ask("deleteDraft", there).success)
    found = ask("draftExists", as_saved)
    gone = certain and (found.status in NOT_THERE or (found.refusal and deleted))
    return None if gone else f"saved under Realm {draft.realm_sent}, and perhaps still there"


def deleting_role(role: str) -> str:
    """The role that deletes a draft which a role saved: the same; for the anonymous, the author."""
    return AUTHOR if role == ANONYMOUS else role


def note_if_there(session: Session, place: Place, role: str) -> bool:
    """Look for a draft whose write by a role was refused; if it exists, put it on the ledger and return True."""
    realm, uid, sent = place
    role = deleting_role(role)
    actor = Actor(session, role, realm, CLEANING)
    with suppress(EnvironmentFault):
        if actor.send("draftExists", path={"uid": uid}, headers=header_as_sent(sent)).answer.success:
            save = Request("saveDraft", "PUT", "", {}, identifiers=(uid,), realm=realm, role=role)
            if entry := session.ledger.intend(save, sent):
                session.ledger.settle(entry, "created")
            return True
    return False


def settle_drafts(session: Session, exchanges: Iterable[Exchange]) -> None:
    """Remove from the ledger the drafts that a case deleted and found absent; add those that a refused save stored.

    A draft that several accounts saved is left to the clean-up: one account that finds it absent says nothing about
    the others. After a refused save, the draft is looked up if its uid is valid and of this run, unless the case
    itself found it absent since, or saved it as well.
    """
    of_drafts: dict[Place, list[Exchange]] = {}
    for exchange in exchanges:
        if (place := _place(exchange)) and exchange.response is not None and not exchange.fault:
            of_drafts.setdefault(place, []).append(exchange)
    for (realm, uid, sent), about in of_drafts.items():
        gone, refused_to = _outcome_of(about)
        if gone and uid not in session.shared_drafts and len(session.ledger.savers((realm, uid, sent))) < 2:
            session.ledger.removed(realm, uid, sent)
        own = is_valid_uid(uid) and uid.startswith(session.namespace.prefix)
        if refused_to is not None and own and not session.breaker.open:
            note_if_there(session, (realm, uid, sent), refused_to)


def _outcome_of(exchanges: Iterable[Exchange]) -> tuple[bool, str | None]:
    """What the requests of a case did to one draft.

    Returns:
        Whether the account that deleted it did not find it afterwards (another account may only lack rights); and the
        role whose save was refused last, unless the draft was saved as well, or found absent after the refusal.
    """
    # Only reads at the draft's address: another operation's refusal may concern the account.
    reads = operations_with(path=load_description().operations["saveDraft"].path, safe=True)
    saved, gone, refused_to, deleted_by = False, False, None, None
    for exchange in exchanges:
        answer, saving = exchange.answer, exchange.operation == "saveDraft"
        headers = exchange.documented.request_headers
        sender = headers.get("Authorization"), headers.get("Realm")
        if exchange.operation == "deleteDraft" and answer.success:
            deleted_by = sender
        elif exchange.operation in reads and answer.refusal:
            gone |= deleted_by == sender
            refused_to = None if answer.status in NOT_THERE else refused_to
        elif saving or answer.success:
            deleted_by, gone = None, False
            saved |= saving and answer.success
            refused_to = exchange.role if saving and answer.refusal else refused_to
    return gone, None if saved else refused_to


def _place(exchange: Exchange) -> Place | None:
    """The draft that an exchange is about."""
    matched = _DRAFT.search(urlsplit(exchange.url).path)
    sent = realm_as_sent(exchange.documented.request_headers, exchange.realm)
    return (exchange.realm, unquote(matched[1]), sent) if matched else None


def note_of_refused_submissions(session: Session, writes: Iterable[Entry]) -> None:
    """Put the drafts of refused submissions on a session's ledger; `writes` are all of its run.

    For each role and realm, the last submission is looked up, and for the author one from the middle. If either has a
    draft, all are looked up. Identifiers that differ from an accepted one only in letter case are left out: a service
    may treat them as the same.
    """
    writes = sorted(writes, key=lambda entry: entry.at)
    kept = {(entry.realm, entry.identifier.casefold()) for entry in writes if entry.state != "refused"}
    refused: dict[tuple[str, str], dict[Place, None]] = {}
    for entry in writes:
        own = is_valid_uid(entry.identifier) and entry.identifier.startswith(session.namespace.prefix)
        of_drafts = entry.what == "submission" and entry.realm in DOCUMENT_REALMS
        if own and of_drafts and (entry.realm, entry.identifier.casefold()) not in kept:
            refused.setdefault((entry.realm, entry.role), {})[entry.place] = None
    for (_, role), noted in refused.items():
        places = list(noted)
        looked_for = dict.fromkeys((places[-1], places[len(places) // 2]) if role == AUTHOR else places[-1:])
        if session.breaker.open is None and any(note_if_there(session, place, role) for place in looked_for):
            for place in (place for place in noted if place not in looked_for):
                note_if_there(session, place, role)


def delete_drafts_of_records(session: Session, writes: Iterable[Entry]) -> None:
    """Delete the drafts of a run's contacts and submissions if the service allows it; the records stay.

    The contact that all runs share is left out: another run may be using it.
    """
    places: dict[Place, list[Entry]] = {}
    for entry in writes:
        permanent = entry.what in PERMANENT_KINDS and entry.state == "created"
        if permanent and entry.realm in DOCUMENT_REALMS:
            places.setdefault(entry.place, []).append(entry)
    for made in places.values():
        if any(_is_new(session, entry) for entry in made) and session.breaker.open is None:
            delete_or_explain(session, made[-1], savers=[entry.role for entry in made])


def _is_new(session: Session, made: Entry) -> bool:
    """Whether this run alone created a record: its identifier is the run's, or one that the service assigned."""
    own = made.identifier.startswith(session.namespace.prefix)
    if not own and load_description().operations[made.operation].assigns_identifier:
        if made.identifier.startswith(KEPT_PREFIX):
            return False
        session.namespace.claim_minted(made.identifier)
        own = session.namespace.owns(made.identifier)
    return own and is_valid_uid(made.identifier)


class DraftCleanup:
    """Deletes the drafts of a session's ledger, newest first, until its breaker opens."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._tried: set[Place] = set()
        self._unwritten: OSError | None = None

    def after_case(self) -> None:
        """Delete drafts that are not shared and were not tried before."""
        drafts = [draft for draft in self._chosen() if draft.place not in self._tried]
        self._tried.update(draft.place for draft in drafts)
        self._remove_all(drafts)

    def at_the_end(self, *, last: bool) -> None:
        """Delete drafts that are not shared, including those that a first try did not remove.

        The `last` process also deletes shared drafts, and waits for writes that may still take effect.

        Raises:
            OSError: a deletion could not be written to the ledger; all deletions were sent nevertheless.
        """
        if last:
            self._session.shared_drafts.clear()
        self._remove_all(self._chosen())
        if last and any(map(_uncertain, self._session.ledger.removable())) and not self._session.breaker.open:
            time.sleep(_SETTLING_SECONDS)
            self._remove_all(filter(_uncertain, self._chosen()), certain=True)
        if self._unwritten is not None:
            raise self._unwritten

    def _chosen(self) -> list[Entry]:
        """The drafts that are not shared, newest first."""
        shared = self._session.shared_drafts
        return [draft for draft in self._session.ledger.removable() if draft.identifier not in shared]

    def _remove_all(self, drafts: Iterable[Entry], *, certain: bool = False) -> None:
        """Delete drafts; those that are still there stay in the ledger, and are reported as leftovers."""
        session, ledger = self._session, self._session.ledger
        for draft in drafts:
            if session.breaker.open:
                return
            by, sure = ledger.savers(draft.place), certain or not _uncertain(draft)
            try:
                if delete_or_explain(session, draft, savers=by, certain=sure) is None:
                    ledger.removed(*draft.place)
            except OSError as error:
                # A full disk must not leave drafts with the service.
                self._unwritten = error


def _uncertain(draft: Entry) -> bool:
    """Whether a draft may appear after it was found absent, since its save had no answer."""
    return draft.state in ("intended", "unknown")


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
        mine, by = replace(draft, role=deleting_role(draft.role)), savers(draft.place, writes)
        why = _obstacle(session, mine) if dry_run else delete_or_explain(session, mine, savers=by)
        if why is None:
            swept.removed.append(mine)
        else:
            swept.left.append((mine, why))
    return swept


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
    and all its timestamps in the list are older than asked for. A younger one may belong to a run on another machine.

    Args:
        all_of_mine: Take every draft whose identifier starts like the suite's, whatever its age and check characters.
    """
    orphans = Orphans()
    for role in session.target.accounts:
        for realm in (name for name in session.target.realms if name in DOCUMENT_REALMS):
            try:
                for draft, record in _listed(Actor(session, role, realm, CLEANING)):
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
