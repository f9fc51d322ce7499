"""Removes drafts: those of a run after each case and at its end, and what refused writes have stored."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from registry_contracts.errors import EnvironmentFault
from registry_contracts.exchanges.exchange import Response
from registry_contracts.interface.description import load_description
from registry_contracts.interface.operations import PERMANENT_KINDS, is_valid_uid
from registry_contracts.session.actor import Actor
from registry_contracts.session.layers import Request
from registry_contracts.session.ledger import Entry, Ledger, header_as_sent, read_entries
from registry_contracts.session.namespace import KEPT_PREFIX
from registry_contracts.session.session import Session
from registry_contracts.settings.target import ANONYMOUS, AUTHOR, DOCUMENT_REALMS

#: The case on whose behalf drafts are deleted; it may use what the request budget keeps back.
CLEANING: Final = "[cleaning]"
#: How long a write that was cut off on its way may still take to have an effect.
_SETTLING_SECONDS: Final = 1.0
_GONE: Final = (404, 410)
#: Refusals that may be about who asks.
_FOR_THE_ACCOUNT: Final = (401, 403)
#: Realm, identifier, and the Realm header where it is not the realm's own, as `realm_as_sent` says it.
Place = tuple[str, str, str]


def why_there(
    session: Session, draft: Entry, case: str, *, savers: Iterable[str] = (), certain: bool = True
) -> str | None:
    """Delete a draft, as each role that saved it, and say why it is there still; None when it is gone.

    Whose a draft is that several accounts saved is not shown, and neither is what an account is told that deletes
    another's. So each of them is to be told that it is gone; where one is refused, others may delete it.

    Args:
        savers: The roles that saved it, where these are several.
        certain: It cannot come into being any more once it is found absent.
    """
    others = [role for role in map(deleting_role, savers) if role in session.target.accounts]
    roles = dict.fromkeys([deleting_role(draft.role), *others])
    actors = [Actor(session, role, draft.realm, case) for role in roles]
    if draft.realm_sent:
        whys = [_why_there_elsewhere(actor, draft, certain=certain) for actor in actors]
        return next(filter(None, whys), None)
    answers = [(actor, _deleted(actor, draft)) for actor in actors]
    absent = _GONE if certain else ()
    left = [
        (actor, answer) for actor, answer in answers if not answer.success and answer.status not in absent
    ]
    if not left:
        return None
    actor, answer = left[0]
    deleted = any(each.success for _, each in answers)
    if not deleted and answer.status in _FOR_THE_ACCOUNT:
        deleted = _another_deletes(session, draft, case, roles)
    # It was refused because the draft is there, and may be: whether it still is, the same account can see.
    return None if deleted and not _exists(actor, draft) else f"deleteDraft answered {answer.status}"


def _deleted(actor: Actor, draft: Entry) -> Response:
    return actor.send("deleteDraft", path={"uid": draft.identifier}).answer


def _exists(actor: Actor, draft: Entry) -> bool:
    return actor.send("draftExists", path={"uid": draft.identifier}).answer.success


def _why_there_elsewhere(actor: Actor, draft: Entry, *, certain: bool) -> str | None:
    """The same of a draft that was saved under another Realm header than its realm's.

    It is deleted under that one, or else in the realm where it is found: to delete what is not there may succeed, too.
    """

    def ask(operation: str, header: Mapping[str, str | None]) -> Response:
        return actor.send(operation, path={"uid": draft.identifier}, headers=header).answer

    as_saved = header_as_sent(draft.realm_sent)
    deleted = ask("deleteDraft", as_saved).success
    for realm in (name for name in actor.session.target.realms if name in DOCUMENT_REALMS):
        there = {"Realm": realm}
        deleted = deleted or (ask("draftExists", there).success and ask("deleteDraft", there).success)
    look = ask("draftExists", as_saved)
    gone = certain and (look.status in _GONE or (look.refusal and deleted))
    return None if gone else f"saved under Realm {draft.realm_sent}, still there or out of sight"


def _another_deletes(session: Session, draft: Entry, case: str, asked: Collection[str]) -> bool:
    """Whether an account deletes a draft that none of those asked may delete."""
    for role in session.target.accounts:
        if role not in asked:
            with suppress(EnvironmentFault):
                if _deleted(Actor(session, role, draft.realm, case), draft).success:
                    return True
    return False


def deleting_role(role: str) -> str:
    """The role that may delete a draft which a role saved: the same, but it takes an account."""
    return AUTHOR if role == ANONYMOUS else role


def note_if_there(session: Session, place: Place, role: str) -> bool:
    """Put a draft on a session's ledger where it is there although its write was refused to a role."""
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


def note_of_refused_submissions(session: Session, ledgers: Iterable[Path]) -> None:
    """Put on a session's ledger the drafts of refused submissions; `ledgers` are all of its run.

    Of those of a role in a realm the last is looked for, of the author's one from amidst them, too; where one is there,
    all of them. One that differs in letter case from what was taken is left alone: it may be the same to a service.
    """
    writes = sorted(read_entries(ledgers), key=lambda entry: entry.at)
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


def delete_drafts_of_records(session: Session, ledgers: Iterable[Path]) -> None:
    """Delete what is a draft of a run's contacts and submissions, as far as the service lets; the records stay.

    The contact that all runs use again stays as it is: another run may be at work with it.
    """
    made = [
        entry
        for entry in read_entries(ledgers)
        if entry.what in PERMANENT_KINDS and entry.state == "created" and entry.realm in DOCUMENT_REALMS
    ]
    places: dict[Place, list[Entry]] = {}
    for entry in made:
        places.setdefault(entry.place, []).append(entry)
    for writes in places.values():
        if any(_is_new(session, entry) for entry in writes) and session.breaker.open is None:
            with suppress(EnvironmentFault):
                why_there(session, writes[-1], CLEANING, savers=[entry.role for entry in writes])


def _is_new(session: Session, made: Entry) -> bool:
    """Whether a record is there by this run alone: under an identifier of the run, or one that the service gave it."""
    own = made.identifier.startswith(session.namespace.prefix)
    if not own and load_description().operations[made.operation].assigns_identifier:
        if made.identifier.startswith(KEPT_PREFIX):
            return False
        session.namespace.claim_minted(made.identifier)
        own = session.namespace.owns(made.identifier)
    return own and is_valid_uid(made.identifier)


def draft_cleanup(session: Session) -> DraftCleanup:
    """A cleanup of the drafts in a session's ledger, sent through the session until its breaker opens."""
    return DraftCleanup(
        session.ledger,
        lambda draft, certain: (
            why_there(session, draft, CLEANING, savers=session.ledger.savers(draft.place), certain=certain)
            is None
        ),
        lambda: session.breaker.open is not None,
        session.kept,
    )


@dataclass(eq=False, repr=False)
class DraftCleanup:
    """Deletes the drafts that a ledger holds, newest first, until it is `stopped`.

    `remove` deletes a draft, and says whether it is gone; of one that may yet come into being only where told that
    this is certain not to happen. `kept` are identifiers of drafts that cases share until the end of the run.
    """

    ledger: Ledger
    remove: Callable[[Entry, bool], bool]
    stopped: Callable[[], bool]
    kept: set[str]
    _tried: set[tuple[str, str, str]] = field(default_factory=set)
    _unwritten: OSError | None = None

    def after_case(self) -> None:
        """Delete what is not shared, and was not tried in vain before."""
        drafts = [draft for draft in self._chosen() if draft.place not in self._tried]
        self._tried.update(draft.place for draft in drafts)
        self._remove_all(drafts)

    def at_the_end(self, *, last: bool) -> None:
        """Delete what is not shared, also what a first try did not remove.

        Where no process comes after this one (`last`) the shared ones go too, and a write that may still be on its way
        is waited for.

        Raises:
            OSError: something could not be written about a deletion, all others of which were sent nevertheless.
        """
        if last:
            self.kept.clear()
        self._remove_all(self._chosen())
        if last and any(map(_uncertain, self.ledger.removable())) and not self.stopped():
            time.sleep(_SETTLING_SECONDS)
            self._remove_all(filter(_uncertain, self._chosen()), certain=True)
        if self._unwritten is not None:
            raise self._unwritten

    def _chosen(self) -> list[Entry]:
        """The drafts that are not shared, newest first."""
        return [draft for draft in self.ledger.removable() if draft.identifier not in self.kept]

    def _remove_all(self, drafts: Iterable[Entry], *, certain: bool = False) -> None:
        for draft in drafts:
            # What the environment stands in the way of stays in the ledger, and is reported as a leftover.
            with suppress(EnvironmentFault):
                try:
                    if not self.stopped() and self.remove(draft, certain or not _uncertain(draft)):
                        self.ledger.removed(*draft.place)
                except OSError as error:
                    # The journal takes no more; a disk that is full leaves no drafts with the service.
                    self._unwritten = error


def _uncertain(draft: Entry) -> bool:
    """Whether a draft may come into being after it was found absent: its save was not answered."""
    return draft.state in ("intended", "unknown")
