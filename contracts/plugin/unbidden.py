"""What a case tells of its drafts: those it saw deleted need no cleaning, those that were refused may be there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Final
from urllib.parse import unquote, urlsplit

from contracts.errors import EnvironmentFault
from contracts.judging.attempts import Attempt
from contracts.plugin import cleaning
from contracts.plugin.worker import Worker
from contracts.session.exchange import Exchange
from contracts.session.namespace import is_valid_uid
from contracts.target.model import ANONYMOUS, AUTHOR

_DRAFT: Final = re.compile(r"/documents/([^/]+)/versions/draft$")
#: Operations, and statuses of theirs, that say that no draft is there; another refusal may be about who asks.
_LOOKS: Final = ("draftExists", "getDraft")
_ABSENT: Final = (404, 410)

Place = tuple[str, str]


def look_for_unbidden(worker: Worker, attempts: Sequence[Attempt]) -> None:
    """Ask once for each draft whose save was refused whether it is there; one that is goes into the ledger.

    Asked for are uids of the run that keep the rule, and only where the case itself did not find the draft absent
    after the refusal, or save it as well.
    """
    refused = _refused([exchange for attempt in attempts for exchange in attempt.exchanges])
    for (realm, uid), role in refused.items():
        if worker.door.broken or not (is_valid_uid(uid) and uid.startswith(worker.namespace.prefix)):
            continue
        looking = AUTHOR if role == ANONYMOUS else role
        actor = worker.actor(looking, realm, cleaning.CASE, Attempt(1))
        with suppress(EnvironmentFault):
            if actor.send("draftExists", path={"uid": uid}).answer.success:
                entry = worker.ledger.intend("saveDraft", realm, looking, uid)
                if entry is not None:
                    worker.ledger.settle(entry, "created")


def note_gone(worker: Worker, attempts: Sequence[Attempt]) -> None:
    """Take drafts off the ledger that a case deleted and then found absent; nobody need delete them again."""
    deleted: dict[Place, Exchange] = {}
    absent: set[Place] = set()
    for exchange in (exchange for attempt in attempts for exchange in attempt.exchanges):
        place, answer = _place(exchange), exchange.response
        if place is None or answer is None or exchange.fault:
            continue
        if exchange.operation == "deleteDraft" and answer.success:
            deleted[place] = exchange
        elif exchange.operation in _LOOKS and answer.refusal and place in deleted:
            # Refused to whoever could delete it, so that it is not about who asks.
            absent |= {place} if _sender(exchange) == _sender(deleted[place]) else set()
        elif exchange.operation == "saveDraft" or answer.success:
            deleted.pop(place, None)
            absent.discard(place)
    for realm, uid in absent:
        if uid not in worker.cleaning.kept:
            worker.ledger.removed(realm, uid)


def _sender(exchange: Exchange) -> tuple[str | None, str | None]:
    headers = exchange.request_headers
    return headers.get("Authorization"), headers.get("Realm")


def _place(exchange: Exchange) -> Place | None:
    """The draft that an exchange is about."""
    found = _DRAFT.search(urlsplit(exchange.url).path)
    return (exchange.realm, unquote(found[1])) if found else None


def _refused(exchanges: Sequence[Exchange]) -> dict[Place, str]:
    """Where a refused save was not followed by a look that found nothing, with the role that tried; in order."""
    open_cases: dict[Place, str] = {}
    saved: set[Place] = set()
    for exchange in exchanges:
        place, answer = _place(exchange), exchange.response
        if place is None or answer is None or exchange.fault:
            continue
        if exchange.operation == "saveDraft" and answer.success:
            saved.add(place)
        elif exchange.operation == "saveDraft" and answer.refusal:
            open_cases[place] = exchange.role
        elif exchange.operation in _LOOKS and answer.status in _ABSENT:
            open_cases.pop(place, None)
    return {place: role for place, role in open_cases.items() if place not in saved}
