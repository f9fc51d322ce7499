"""Sending contacts by either operation, valid but for what a case changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contracts.generation.arrangement import Arrangement
from contracts.generation.contact_faults import without
from contracts.generation.samples import WRONG_KIND, Samples
from contracts.judging.attempts import Attempt
from contracts.judging.claims import usable
from contracts.judging.outcomes import Untested
from contracts.judging.reporting import Reporting, read_reporting
from contracts.session.actor import DEFAULT, Actor
from contracts.session.exchange import Exchange
from contracts.session.namespace import Namespace

CREATE, UPDATE = "createContact", "updateContact"
#: Fields whose absence tells how an operation reports; two, so that a fault in one of them does not blur the picture.
_PROBED = ("firstName", "emails")


class ContactRequests:
    """One contact operation as one actor, with everything but the record in place.

    Create is sent under a fresh identifier in the header, update to a contact that is shared by the cases of a
    realm, so that refused requests leave nothing behind and accepted updates no more than one record.

    Args:
        attempt: The attempt at the case; without it nothing that another case has sent will do.
    """

    def __init__(
        self,
        operation: str,
        actor: Actor,
        arrange: Arrangement,
        samples: Samples,
        fresh: Namespace,
        attempt: Attempt | None = None,
    ) -> None:
        self._attempt = attempt
        self.operation = operation
        self._actor = actor
        self._arrange = arrange
        self._samples = samples
        self._fresh = fresh
        self._uid = arrange.contact(actor) if operation == UPDATE else fresh.uid()

    @property
    def uid(self) -> str:
        """The identifier in the path of an update, and in the header of every record."""
        return self._uid

    def record(self, uid: str | None = None) -> dict[str, Any]:
        """A record with its header and the mandatory fields."""
        return self._samples.contact(uid or self._uid)

    def full_record(self, uid: str | None = None) -> dict[str, Any]:
        """A record with all 26 fields."""
        return self._samples.full_contact(uid or self._uid)

    def bare_record(self) -> dict[str, Any]:
        """A record with the mandatory fields and nothing else, no header either."""
        return self._samples.contact()

    def fresh_uid(self) -> str:
        """An identifier that nobody has used, for another record than the one of these requests."""
        return self._fresh.uid()

    def send(
        self,
        record: Any = DEFAULT,
        *,
        actor: Actor | None = None,
        query: Mapping[str, str] | None = None,
        body: bytes | None = None,
        **parts: Any,
    ) -> Exchange:
        """Send a record.

        Args:
            actor: Somebody else than the actor of these requests.
            query: In place of the schema.
            body: Bytes in place of a record.
            parts: Further parts of the request that differ: `token`, `headers`, `realm`.
        """
        path = {"uid": self._uid} if self.operation == UPDATE else {}
        asked = {"schema": self._samples.contact_schema} if query is None else query
        return (actor or self._actor).send(
            self.operation, path=path, query=asked, json=record, body=body, **parts
        )

    def faulty(self, name: str, record: Any) -> Exchange:
        """The answer to a faulty record that several cases look at: sent once in a run, and anew in every replay.

        Args:
            name: What is wrong with the record; one name for one fault.
        """
        attempt, key = self._attempt, f"{self.operation} {name}"
        if attempt is None or attempt.number > 1:
            return self.send(record)
        known: Exchange | None = self._arrange.offered(key)
        if known is not None:
            attempt.exchanges.append(known)
            return known
        sent = self.send(record)
        if sent.response is not None and sent.response.status < 500 and not sent.fault:
            self._arrange.offer(key, sent)
        return sent

    def lacking(self, field: str) -> Exchange:
        """The answer to a record that lacks one field."""
        return self.faulty(f"without {field}", without(self.record(), field))

    def reporting(self) -> Reporting:
        """How this operation reports faulty records in general; looked up once for each realm and worker."""
        return self._arrange.once(f"reporting of {self.operation}", self._probe)

    def _probe(self) -> Reporting:
        return read_reporting({field: self.lacking(field) for field in _PROBED})


class ContactDoor:
    """The contact operations before somebody without a token, also where the settings tell no valid contact."""

    def __init__(self, author: Actor, arrange: Arrangement, samples: Samples, fresh: Namespace) -> None:
        self._author = author
        self._arrange = arrange
        self._samples = samples
        self._fresh = fresh

    def knock(self, operation: str, actor: Actor) -> Exchange:
        """A request that has nothing wrong but who sends it; or one whose answer differs for who sends it.

        Args:
            actor: Somebody who must not be let in.

        Raises:
            Untested: the settings tell no valid contact, and nobody is told apart before the content is looked at.
        """
        try:
            contacts = ContactRequests(operation, self._author, self._arrange, self._samples, self._fresh)
            return contacts.send(contacts.record(), actor=actor)
        except Untested as missing:
            return self._by_difference(missing, operation, actor)

    def _by_difference(self, missing: Untested, operation: str, actor: Actor) -> Exchange:
        uid = self._fresh.uid()
        record = self._samples.stand_in(uid)
        faulty = {name: value if name == "header" else WRONG_KIND for name, value in record.items()}
        parts: dict[str, Any] = {"query": {"schema": record["header"]["schema"]}, "json": faulty}
        parts["path"] = {"uid": uid} if operation == UPDATE else {}
        control, asked = self._author.send(operation, **parts), actor.send(operation, **parts)
        if usable(control).success or usable(asked).status == control.answer.status:
            raise Untested(
                f"{missing}, and a faulty record is answered {control.answer.quote()} with a token too"
            )
        return asked
