"""Requests that send contacts by either operation, and claims about how they are accepted and refused.

One fault, one finding (design 4.5): an operation that validates nothing, or reports without an errors array, is a
finding on the clause about that, and not on the clause of each of the 26 fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from contracts.cases.arrangement import Arrangement
from contracts.cases.contact_records import without
from contracts.cases.samples import WRONG_KIND, Samples
from contracts.checks import errors_array
from contracts.checks.claims import Claim
from contracts.checks.outcomes import Attempt, Blocked, Untested, usable
from contracts.exchanges import readers
from contracts.exchanges.exchange import Exchange
from contracts.session.actor import DEFAULT, Actor
from contracts.session.namespace import Namespace, is_valid_uid


@dataclass(frozen=True)
class Reporting:
    """What an operation did with a few records that lack mandatory fields.

    Attributes:
        refuses: It refused at least one.
        arrays: At least one refusal held an errors array.
        names: At least one errors array named the missing field with `Error.Mandatory`.
    """

    refuses: bool
    arrays: bool
    names: bool

    def claim_refused(self, claim: Claim, exchange: Exchange) -> None:
        """Claim that a record was refused with an errors array.

        Raises:
            Blocked: the operation does so with no record; another clause holds that finding.
        """
        answer = usable(exchange)
        if not errors_array.turned_down(answer) and not self.refuses:
            raise _blocked(exchange, "takes records that lack mandatory fields")
        if answer.refusal and not readers.errors(answer) and not self.arrays:
            raise _blocked(exchange, "refuses faulty records without an errors array")
        claim.holds(
            bool(readers.errors(answer)),
            exchange,
            expected="refused, with at least one element in the errors array",
            seen=answer.quote(),
        )

    def claim_turned_down(self, claim: Claim, exchange: Exchange) -> None:
        """Claim that a record was refused, in whatever way.

        Raises:
            Blocked: the operation refuses no faulty record; another clause holds that finding.
        """
        if not errors_array.turned_down(usable(exchange)) and not self.refuses:
            raise _blocked(exchange, "takes records that lack mandatory fields")
        claim.turned_down(exchange)

    def claim_mandatory(self, claim: Claim, exchange: Exchange, field: str) -> None:
        """Claim that a record was refused and `Error.Mandatory` names the missing field.

        Raises:
            Blocked: the operation reports no field so; another clause holds that finding.
        """
        self.claim_refused(claim, exchange)
        answer = usable(exchange)
        named = errors_array.reports(answer, field, errors_array.MANDATORY)
        if not named and not self.names:
            raise _blocked(exchange, f"names no missing field with {errors_array.MANDATORY}")
        claim.holds(
            named,
            exchange,
            expected=f"{errors_array.MANDATORY} for {field} among the errors",
            seen=answer.quote(),
        )

    def claim_some_mandatory(self, claim: Claim, exchange: Exchange) -> None:
        """Claim that a record without any field was refused, with `Error.Mandatory` at least once.

        Raises:
            Blocked: the operation gives no errors array, or never that code; another clause holds that finding.
        """
        answer = usable(exchange)
        claim.turned_down(exchange)
        if not readers.errors(answer) and not self.arrays:
            raise _blocked(exchange, "refuses faulty records without an errors array")
        missed = errors_array.holds_code(answer, errors_array.MANDATORY)
        if not missed and not self.names:
            raise _blocked(exchange, f"names no missing field with {errors_array.MANDATORY}")
        claim.holds(
            missed, exchange, expected=f"{errors_array.MANDATORY} among the errors", seen=answer.quote()
        )


def read_reporting(probes: Mapping[str, Exchange]) -> Reporting:
    """Read how an operation reports from a few probes.

    Args:
        probes: The answer to a record that lacks nothing but the field it is keyed by.
    """
    answers = {field: usable(exchange) for field, exchange in probes.items()}
    return Reporting(
        refuses=any(errors_array.turned_down(answer) for answer in answers.values()),
        arrays=any(readers.errors(answer) for answer in answers.values()),
        names=any(
            errors_array.reports(answer, field, errors_array.MANDATORY) for field, answer in answers.items()
        ),
    )


def _blocked(exchange: Exchange, cause: str) -> Blocked:
    return Blocked(exchange.operation or exchange.method, cause)


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


class UnauthenticatedContacts:
    """The contact operations for a client without a token, also where the settings tell no valid contact."""

    def __init__(self, author: Actor, arrange: Arrangement, samples: Samples, fresh: Namespace) -> None:
        self._author = author
        self._arrange = arrange
        self._samples = samples
        self._fresh = fresh

    def send(self, operation: str, actor: Actor) -> Exchange:
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


def all_at_once(
    whole: Exchange,
    parts: Sequence[tuple[Claim, Callable[[], Exchange]]],
    rest: Claim,
    plain: Callable[[], Exchange],
) -> None:
    """Claim acceptance of one record for everything in it; only when it is refused are the parts sent one by one.

    That keeps the records few that nobody can remove.

    Args:
        whole: The record with everything.
        parts: For each clause, a request with its part alone.
        rest: What else the whole record was about; it is to blame when every part is accepted alone.
        plain: A record with none of it.

    Raises:
        Contradiction: a must was contradicted.
        Blocked: even the plain record is refused.
    """
    if usable(whole).success:
        for claim, _ in parts:
            claim.accepted(whole)
        rest.accepted(whole)
        return
    bare = plain()
    if not usable(bare).success:
        raise Blocked(bare.operation or bare.method, f"refuses a plain record too: {bare.answer.quote()}")
    for claim, send in parts:
        part = send()
        claim.accepted(part)
        if not part.answer.success:
            return
    rest.accepted(whole)
