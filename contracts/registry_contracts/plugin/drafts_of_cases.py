"""Corrects the ledger after a case: drafts stored by a refused save, and drafts deleted and then found absent."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import unquote, urlsplit

from registry_contracts.checks.outcomes import Attempt
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.interface.description import load_description, operations_with
from registry_contracts.interface.operations import is_valid_uid
from registry_contracts.plugin.worker import Worker
from registry_contracts.session.draft_cleanup import Place, note_if_there
from registry_contracts.session.ledger import realm_as_sent

_DRAFT: Final = re.compile(r"/documents/([^/]+)/versions/draft$")
#: Statuses that mean that the draft is absent; any other refusal may concern the account.
_ABSENT: Final = (404, 410)


def settle_drafts(worker: Worker, attempts: Iterable[Attempt]) -> None:
    """Remove from the ledger the drafts that a case deleted and found absent; add those that a refused save stored.

    A draft that several accounts saved is left to the clean-up: one account that finds it absent says nothing about
    the others. After a refused save, the draft is looked up if its uid is valid and of this run, unless the case
    itself found it absent since, or saved it as well.
    """
    of_drafts: dict[Place, list[Exchange]] = {}
    for exchange in (exchange for attempt in attempts for exchange in attempt.exchanges):
        if (place := _place(exchange)) and exchange.response is not None and not exchange.fault:
            of_drafts.setdefault(place, []).append(exchange)
    for (realm, uid, sent), exchanges in of_drafts.items():
        gone, refused_to = _outcome_of(exchanges)
        if gone and uid not in worker.shared_drafts and len(worker.ledger.savers((realm, uid, sent))) < 2:
            worker.ledger.removed(realm, uid, sent)
        own = is_valid_uid(uid) and uid.startswith(worker.namespace.prefix)
        if refused_to is not None and own and not worker.breaker.open:
            note_if_there(worker, (realm, uid, sent), refused_to)


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
            refused_to = None if answer.status in _ABSENT else refused_to
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
