"""Drafts that a case leaves otherwise than it looks: stored by a save that was refused, or deleted and found absent."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote, urlsplit

from contracts.checks.outcomes import Attempt
from contracts.errors import EnvironmentFault
from contracts.exchanges.exchange import Exchange
from contracts.interface.description import load_description, operations_with
from contracts.interface.operations import is_valid_uid
from contracts.plugin.worker import Worker
from contracts.session.draft_cleanup import CLEANING
from contracts.session.layers import Request
from contracts.session.ledger import header_as_sent, realm_as_sent
from contracts.settings.target import ANONYMOUS, AUTHOR

_DRAFT: Final = re.compile(r"/documents/([^/]+)/versions/draft$")
#: Statuses of a look-up that say that no draft is there; another refusal may be about who asks.
_ABSENT: Final = (404, 410)
#: Realm, identifier, and the Realm header where it is not the realm's own, as `realm_as_sent` says it.
_Place = tuple[str, str, str]


@dataclass
class _Trail:
    """What the requests of a case did to one draft.

    Attributes:
        refused_to: The role whose save was refused last, unless the draft was found absent since.
        deleted_by: Token and realm of the deletion that was accepted last, unless the draft was there since.
        gone: It was then refused to them, so that it is not a matter of rights.
    """

    saved: bool = False
    refused_to: str | None = None
    deleted_by: tuple[str | None, str | None] | None = None
    gone: bool = False


def settle_drafts(worker: Worker, attempts: Iterable[Attempt]) -> None:
    """Take off the ledger what a case deleted and found absent, and put on it what a refused save has stored.

    Looked up is a valid uid of the run, where the case itself neither found the draft absent after the refusal, nor
    saved it as well.
    """
    for (realm, uid, sent), trail in _trails(attempts).items():
        if trail.gone and uid not in worker.kept:
            worker.ledger.removed(realm, uid, sent)
        if trail.refused_to is None or trail.saved or worker.breaker.open:
            continue
        if is_valid_uid(uid) and uid.startswith(worker.namespace.prefix):
            _look_for(worker, (realm, uid, sent), trail.refused_to)


def _look_for(worker: Worker, place: _Place, role: str) -> None:
    realm, uid, sent = place
    role = AUTHOR if role == ANONYMOUS else role
    actor = worker.actor(role, realm, CLEANING, Attempt(1))
    with suppress(EnvironmentFault):
        if actor.send("draftExists", path={"uid": uid}, headers=header_as_sent(sent)).answer.success:
            save = Request("saveDraft", "PUT", "", {}, identifiers=(uid,), realm=realm, role=role)
            entry = worker.ledger.intend(save, sent)
            if entry is not None:
                worker.ledger.settle(entry, "created")


def _trails(attempts: Iterable[Attempt]) -> dict[_Place, _Trail]:
    # What reads at the address of a draft; another operation's refusal may be about who asks.
    looking = operations_with(path=load_description().operations["saveDraft"].path, safe=True)
    trails: dict[_Place, _Trail] = {}
    for exchange in (exchange for attempt in attempts for exchange in attempt.exchanges):
        place, answer = _place(exchange), exchange.response
        if place is None or answer is None or exchange.fault:
            continue
        trail, saving = trails.setdefault(place, _Trail()), exchange.operation == "saveDraft"
        if exchange.operation == "deleteDraft" and answer.success:
            trail.deleted_by = _sender(exchange)
        elif exchange.operation in looking and answer.refusal:
            trail.gone |= trail.deleted_by == _sender(exchange)
            trail.refused_to = None if answer.status in _ABSENT else trail.refused_to
        elif saving or answer.success:
            trail.deleted_by, trail.gone = None, False
            trail.saved |= saving and answer.success
            trail.refused_to = exchange.role if saving and answer.refusal else trail.refused_to
    return trails


def _sender(exchange: Exchange) -> tuple[str | None, str | None]:
    headers = exchange.documented.request_headers
    return headers.get("Authorization"), headers.get("Realm")


def _place(exchange: Exchange) -> _Place | None:
    """The draft that an exchange is about."""
    matched = _DRAFT.search(urlsplit(exchange.url).path)
    sent = realm_as_sent(exchange.documented.request_headers, exchange.realm)
    return (exchange.realm, unquote(matched[1]), sent) if matched else None
