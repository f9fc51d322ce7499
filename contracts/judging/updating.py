"""Whether contacts can be updated at all, where no contact could be arranged for the cases that need one."""

from __future__ import annotations

from typing import Any

from contracts.generation.arrangement import Arrangement
from contracts.generation.contact_requests import CREATE, UPDATE, ContactRequests
from contracts.generation.samples import Samples
from contracts.judging import readers
from contracts.judging.claims import Claim, usable
from contracts.judging.outcomes import Blocked
from contracts.session.actor import Actor
from contracts.session.exchange import Exchange
from contracts.session.namespace import Namespace, is_valid_uid

#: Identifiers of one answer that are tried.
_MOST_NAMES = 3


def updates(
    claim: Claim, author: Actor, arrange: Arrangement, samples: Samples, fresh: Namespace
) -> ContactRequests:
    """Updates of the shared contact; where none can be arranged, a claim that what was just created can be updated.

    The claim is made only where the answer to the creation names an identifier, so that it is known under which uid
    the record has to be found.

    Raises:
        Contradiction: under no identifier that was sent or answered is the record updated, whatever is sent.
        Blocked: no contact is created, or the answer names none.
    """
    try:
        return ContactRequests(UPDATE, author, arrange, samples, fresh)
    except Blocked:
        _claim_update(claim, author, arrange, samples, fresh)
        raise


def _claim_update(
    claim: Claim, author: Actor, arrange: Arrangement, samples: Samples, fresh: Namespace
) -> None:
    sent, query = samples.contact(fresh.uid()), {"schema": samples.contact_schema}
    created = author.send(CREATE, query=query, json=sent)
    names = _named(created, sent) if usable(created).success else []
    tried: list[Exchange] = []

    def taken(name: str, record: dict[str, Any]) -> bool:
        fresh.claim(name)
        tried.append(author.send(UPDATE, path={"uid": name}, query=query, json=record))
        return usable(tried[-1]).success

    def any_taken() -> bool:
        return any(
            taken(name, record)
            for name in names
            for record in (samples.contact(name), samples.full_contact(name), samples.contact())
        )

    if names:
        # What was created may be there a moment later.
        late = any_taken() or arrange.eventually(lambda: taken(names[0], samples.contact(names[0])))
        claim.holds(
            late or any_taken(),
            created,
            tried[-1],
            expected="an update of the contact that was just created is accepted",
            seen=tried[-1].answer.quote(),
        )


def _named(created: Exchange, sent: dict[str, Any]) -> list[str]:
    """Identifiers that the answer to a creation names: the one that was sent, and those that are new in it."""
    known = {value for value in readers.values(sent) if isinstance(value, str)}
    new = [
        value for value in readers.values(created.answer.json) if is_valid_uid(value) and value not in known
    ]
    own: str = sent["header"]["identifier"]
    answered = [own] if readers.carries_identifier(created.answer, own) else []
    return list(dict.fromkeys([*answered, *new]))[:_MOST_NAMES]
