"""Deletes drafts: those of a run after each case and at its end, and those that refused writes stored."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from typing import Final
from urllib.parse import unquote, urlsplit

from registry_contracts.errors import EnvironmentFault
from registry_contracts.exchanges.exchange import Exchange, Response
from registry_contracts.interface.description import load_description, operations_with
from registry_contracts.interface.operations import PERMANENT_KINDS, is_valid_uid
from registry_contracts.session.actor import Actor
from registry_contracts.session.ledger import Entry, header_as_sent, realm_as_sent
from registry_contracts.session.namespace import KEPT_PREFIX
from registry_contracts.session.pipeline import Request
from registry_contracts.session.session import Session
from registry_contracts.settings.target import ANONYMOUS, AUTHOR, DOCUMENT_REALMS

#: The case of the deletions; its requests may use the reserve of the budget.
CLEANING: Final = "[cleaning]"
#: How long an interrupted write may still take to have an effect.
_SETTLING_SECONDS: Final = 1.0
#: Statuses that mean that the draft is absent; any other refusal may concern the account.
_GONE: Final = (404, 410)
#: Refusals that may concern the account.
_FOR_THE_ACCOUNT: Final = (401, 403)
#: Realm, identifier, and another Realm header if the draft was saved with one, as `realm_as_sent` writes it.
Place = tuple[str, str, str]
_DRAFT: Final = re.compile(r"/documents/([^/]+)/versions/draft$")


def delete_or_explain(
    session: Session, draft: Entry, case: str, *, savers: Iterable[str] = (), certain: bool = True
) -> str | None:
    """Delete a draft as each role that saved it; return why it is still there, or None if it is gone.

    The document does not say who owns a draft that several accounts saved, or how deleting another's draft is answered.
    So every saver must get the answer that it is gone; if one is refused, other accounts try.

    Args:
        savers: The roles that saved it, if there are several.
        certain: Once it is found absent, it cannot appear any more.
    """
    others = [role for role in map(deleting_role, savers) if role in session.target.accounts]
    roles = dict.fromkeys([deleting_role(draft.role), *others])
    actors = [Actor(session, role, draft.realm, case) for role in roles]
    if draft.realm_sent:
        whys = [_delete_elsewhere_or_explain(actor, draft, certain=certain) for actor in actors]
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
    # The refusal shows that the draft was there, so the same account can see whether it still is.
    return None if deleted and not _exists(actor, draft) else f"deleteDraft answered {answer.status}"


def _deleted(actor: Actor, draft: Entry) -> Response:
    return actor.send("deleteDraft", path={"uid": draft.identifier}).answer


def _exists(actor: Actor, draft: Entry) -> bool:
    return actor.send("draftExists", path={"uid": draft.identifier}).answer.success


def _delete_elsewhere_or_explain(actor: Actor, draft: Entry, *, certain: bool) -> str | None:
    """`delete_or_explain` for a draft that was saved with another Realm header than its realm's.

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
    gone = certain and (found.status in _GONE or (found.refusal and deleted))
    return None if gone else f"saved under Realm {draft.realm_sent}, and perhaps still there"


def _another_deletes(session: Session, draft: Entry, case: str, asked: Collection[str]) -> bool:
    """Whether another account than those `asked` could delete a draft."""
    for role in session.target.accounts:
        if role not in asked:
            with suppress(EnvironmentFault):
                if _deleted(Actor(session, role, draft.realm, case), draft).success:
                    return True
    return False


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
        Whether it was deleted and then not found by the account that deleted it (so it is no matter of rights); and
        the role whose save was refused last, unless the draft was found absent since or saved as well.
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
            refused_to = None if answer.status in _GONE else refused_to
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
            with suppress(EnvironmentFault):
                delete_or_explain(session, made[-1], CLEANING, savers=[entry.role for entry in made])


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
        for draft in drafts:
            # A draft that the environment kept from being deleted stays in the ledger, and is reported as a leftover.
            with suppress(EnvironmentFault):
                try:
                    if not self._session.breaker.open:
                        self._remove(draft, certain=certain or not _uncertain(draft))
                except OSError as error:
                    # A full disk must not leave drafts with the service.
                    self._unwritten = error

    def _remove(self, draft: Entry, *, certain: bool) -> None:
        session, ledger = self._session, self._session.ledger
        savers = ledger.savers(draft.place)
        if delete_or_explain(session, draft, CLEANING, savers=savers, certain=certain) is None:
            ledger.removed(*draft.place)


def _uncertain(draft: Entry) -> bool:
    """Whether a draft may appear after it was found absent, since its save had no answer."""
    return draft.state in ("intended", "unknown")
