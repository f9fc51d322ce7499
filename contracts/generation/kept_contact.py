"""The contact that updates are sent to: one for each realm, made once and reused by every later run."""

from __future__ import annotations

from typing import Any

from contracts.generation.samples import Samples
from contracts.judging import readers
from contracts.judging.claims import usable
from contracts.judging.outcomes import Blocked
from contracts.session.actor import Actor
from contracts.session.exchange import Exchange
from contracts.session.namespace import SUITE_PREFIX, Namespace, is_valid_uid


def kept_contact(actor: Actor, samples: Samples, namespace: Namespace, realm: str) -> str:
    """The identifier of a contact record of the actor's that can be updated; created where there is none yet.

    Raises:
        Blocked: it cannot be created, or not be updated under any name it was given.
        Untested: a setting is missing.
    """
    identifier = f"{SUITE_PREFIX}keep-{actor.role}-contact-{realm}"
    record = samples.contact(identifier)
    if _updates(actor, samples, identifier, record):
        return identifier
    created = actor.send("createContact", query={"schema": samples.contact_schema}, json=record)
    for candidate in _names(created, identifier):
        namespace.claim(candidate)
        if any(_updates(actor, samples, candidate, each) for each in _records(samples, candidate)):
            return candidate
    if not created.answer.success:
        raise Blocked("createContact", f"answered {created.answer.quote()}")
    raise Blocked(
        "updateContact", "a contact that was just created cannot be updated under any name it was given"
    )


def _names(created: Exchange, identifier: str) -> list[str]:
    """The identifier that was asked for, and those that the answer may have given instead."""
    minted = [value for value in readers.values(usable(created).json) if is_valid_uid(value)]
    return list(dict.fromkeys([identifier, *minted]))


def _records(samples: Samples, identifier: str) -> list[dict[str, Any]]:
    """Valid records; where one sort is refused wrongly, which is a finding of its own, another may be taken."""
    return [samples.contact(identifier), samples.full_contact(identifier), samples.contact()]


def _updates(actor: Actor, samples: Samples, identifier: str, record: dict[str, Any]) -> bool:
    query = {"schema": samples.contact_schema}
    exchange = actor.send("updateContact", path={"uid": identifier}, query=query, json=record)
    return usable(exchange).success
