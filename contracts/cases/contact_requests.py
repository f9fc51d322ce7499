"""Requests that send contacts by either operation, and claims about how they are accepted and refused.

One fault, one finding (design 4.5): an operation that validates nothing, or reports without an errors array, is a
finding on the clause about that, and not on the clause of each of the 26 fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Final

from contracts.cases.drafts import identifier_in_use, refused_as_in_use
from contracts.cases.sample_records import (
    CONTACT_FIELDS,
    MANDATORY_FIELDS,
    Record,
    Samples,
    mandatory_of,
    without,
)
from contracts.cases.world import World
from contracts.checks import errors_array
from contracts.checks.claims import Claim
from contracts.checks.outcomes import Attempt, Blocked, Untested, taken, usable
from contracts.exchanges import readers
from contracts.exchanges.exchange import Exchange
from contracts.session.actor import DEFAULT, Actor
from contracts.session.namespace import Namespace


@dataclass(frozen=True)
class Reporting:
    """What an operation did with a few records that lack mandatory fields.

    Attributes:
        refuses: It refused at least one.
        arrays: At least one refusal held an errors array.
        names: At least one errors array named the missing field with `Error.Mandatory`.
        takes: The record that lacks nothing is taken, so that a refusal is about what is wrong with one.
    """

    refuses: bool
    arrays: bool
    names: bool
    takes: bool

    def relies_on(self, exchange: Exchange, field: str, *, named: bool = False, told: bool = True) -> None:
        """See that how the operation reports in general lets the answer to one faulty record be judged.

        Args:
            field: What is wrong.
            named: The field has to be told as missing.
            told: An errors array is due.

        Raises:
            Blocked: the operation takes all such records, gives no errors array or names no missing field at all;
                another clause holds that finding. Or it refuses the record that lacks nothing as well, and does not
                name the field.
        """
        answer = usable(exchange)
        refused, errors = errors_array.turned_down(answer), readers.errors(answer)
        if refused and not self.takes and not errors_array.reports(answer, field):
            raise _blocked(exchange, f"refuses records that lack nothing too, and names no {field}")
        if not refused and not self.refuses:
            raise _blocked(exchange, "takes records that lack mandatory fields")
        if told and answer.refusal and not errors and not self.arrays:
            raise _blocked(exchange, "refuses faulty records without an errors array")
        if not named or errors_array.reports(answer, field, errors_array.MANDATORY):
            return
        if _refused_for(exchange, exchange.notes.get(_MADE_UP_FIELDS, ())):
            raise _blocked(exchange, "refuses values that are not shown, and may tell one fault at a time")
        if not self.names:
            raise _blocked(exchange, f"names no missing field with {errors_array.MANDATORY}")

    def claim_refused(self, claim: Claim, exchange: Exchange, field: str) -> None:
        """Claim that a record was refused with an errors array for what is wrong with a field."""
        self.relies_on(exchange, field)
        claim.content_refused(exchange)

    def refused_before(self, claim: Claim, exchange: Exchange) -> Exchange:
        """An exchange whose refusal is a precondition; the claim itself where the operation takes all such records.

        Raises:
            Blocked: the service took this one, and refuses others.
        """
        if not self.refuses and not errors_array.turned_down(usable(exchange)):
            claim.content_refused(exchange)
        return errors_array.refused_before(exchange)

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


def read_reporting(probes: Mapping[str, Exchange], *, takes: bool) -> Reporting:
    """Read how an operation reports from a few probes.

    Args:
        probes: The answer to a record that lacks nothing but the field it is keyed by.
        takes: The record that lacks nothing is taken.
    """
    answers = {field: usable(exchange) for field, exchange in probes.items()}
    return Reporting(
        refuses=any(errors_array.turned_down(answer) for answer in answers.values()),
        arrays=any(readers.errors(answer) for answer in answers.values()),
        names=any(
            errors_array.reports(answer, field, errors_array.MANDATORY) for field, answer in answers.items()
        ),
        takes=takes,
    )


def _blocked(exchange: Exchange, cause: str) -> Blocked:
    return Blocked(exchange.operation or exchange.method, cause)


CREATE, UPDATE = "createContact", "updateContact"
#: Note of an exchange: fields that its record holds whose allowed values neither the document nor the settings show.
_MADE_UP_FIELDS: Final = "made-up fields"
#: Fields whose absence tells how an operation reports; two, so that a fault in one of them does not blur the picture.
_PROBED = ("firstName", "emails")


def note_made_up(sent: Exchange, record: Any, samples: Samples) -> Exchange:
    """Note which fields of a record hold values that neither the document nor the settings show."""
    there = record if isinstance(record, dict) else {}
    sent.notes[_MADE_UP_FIELDS] = [field for field in samples.made_up_fields if field in there]
    return sent


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
        world: World,
        samples: Samples,
        fresh: Namespace,
        attempt: Attempt | None = None,
    ) -> None:
        self._attempt = attempt
        self.operation = operation
        self._actor = actor
        self._world = world
        self._samples = samples
        self._fresh = fresh
        self._uid = world.contact(by=actor) if operation == UPDATE else fresh.uid()

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
        """An unused identifier, for another record than the one of these requests."""
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
            actor: Another client than that of these requests.
            query: In place of the schema.
            body: Bytes in place of a record.
            parts: Further parts of the request that differ: `token`, `headers`, `realm`.
        """
        path = {"uid": self._uid} if self.operation == UPDATE else {}
        asked = {"schema": self._samples.contact_schema} if query is None else query
        sent = (actor or self._actor).send(
            self.operation, path=path, query=asked, json=record, body=body, **parts
        )
        return note_made_up(sent, record, self._samples)

    def faulty(self, name: str, record: Any) -> Exchange:
        """The answer to a faulty record that several cases look at: sent once in a run, and anew in every replay.

        Args:
            name: What is wrong with the record; one name for one fault.
        """
        attempt, key = self._attempt, f"{self.operation} {name}"
        if attempt is None or attempt.number > 1:
            return self.send(self._under_fresh_uid(record))
        earlier: Exchange | None = self._world.offered(key)
        if earlier is not None:
            attempt.exchanges.append(earlier)
            return earlier
        sent = self.send(self._under_fresh_uid(record))
        if sent.response is not None and sent.response.status < 500 and not sent.fault:
            self._world.offer(key, sent)
        return sent

    def _under_fresh_uid(self, record: Any) -> Any:
        """The record with an identifier of its own: whether that of a refused creation is free again is not shown."""
        header = record.get("header") if isinstance(record, dict) else None
        if self.operation != "createContact" or not isinstance(header, dict):
            return record
        return self.moved(record) if header.get("identifier") == self._uid else record

    def moved(self, record: Record) -> Record:
        """A record with an identifier of its own in its header."""
        return record | {"header": record["header"] | {"identifier": self.fresh_uid()}}

    def lacking(self, field: str) -> Exchange:
        """The answer to a record that lacks one field."""
        return self.faulty(f"without {field}", without(self.record(), field))

    def reporting(self) -> Reporting:
        """How this operation reports faulty records in general; looked up once for each realm and worker."""
        return self._world.once(f"reporting of {self.operation}", self._probe)

    def _probe(self) -> Reporting:
        probes = {field: self.lacking(field) for field in _PROBED}
        return read_reporting(probes, takes=self._takes_records())

    def _takes_records(self) -> bool:
        """Whether a record that lacks nothing is taken: the shared contact could be updated with it."""
        try:
            return bool(self._world.contact(by=self._actor))
        except Blocked:
            return False


#: Identifiers of one answer that are tried.
_MOST_NAMES = 3


def updates(claim: Claim, author: Actor, world: World, samples: Samples, fresh: Namespace) -> ContactRequests:
    """Updates of the shared contact; where none can be arranged, a claim that what was just created can be updated.

    The claim is made only where the answer to the creation names the identifier that was sent, or where the workflow
    says that it is in use since then, so that it is known under which uid the record has to be found.

    Raises:
        Contradiction: under no identifier that was sent or answered is the record updated, whatever is sent.
        Blocked, Untested: no contact is created, or nothing tells under which identifier.
    """
    try:
        return ContactRequests(UPDATE, author, world, samples, fresh)
    except (Blocked, Untested):
        _claim_update(claim, author, world, samples, fresh)
        raise


def _claim_update(claim: Claim, author: Actor, world: World, samples: Samples, fresh: Namespace) -> None:
    sent, query = samples.contact(fresh.uid()), {"schema": samples.contact_schema}
    own: str = sent["header"]["identifier"]
    created = author.send(CREATE, query=query, json=sent)
    # Under another identifier that an answer holds, nothing says that the record can be found.
    if not taken(created) or not (
        readers.carries_identifier(created.answer, own)
        or refused_as_in_use(identifier_in_use(author, samples, own))
    ):
        return
    tried: list[Exchange] = []

    def any_taken() -> bool:
        for record in (samples.contact(own), samples.full_contact(own), samples.contact()):
            tried.append(author.send(UPDATE, path={"uid": own}, query=query, json=record))
            if taken(tried[-1]):
                return True
        return False

    # What was created may be there a moment later.
    effective = any_taken() or world.eventually(any_taken)
    if not effective and refused_for_made_up(tried[-1], samples):
        raise samples.needs_contact_document(tried[-1])
    claim.holds(
        effective,
        created,
        tried[-1],
        expected="an update of the contact that was just created is accepted",
        seen=tried[-1].answer.quote(),
    )


#: Codes that say of a field something else than that its value is none of the allowed ones.
_NOT_ABOUT_VALUES: Final = frozenset(
    {errors_array.MANDATORY, errors_array.INVALID_PROPERTY, errors_array.INVALID_TYPE}
)

#: Codes that say of a reference that it leads nowhere.
_ABOUT_VALUES: Final = frozenset({errors_array.INVALID_VALUE, errors_array.UNEXPECTED_TERM})


def refused_for_made_up(exchange: Exchange, samples: Samples) -> bool:
    """Whether a contact, be it as a draft, was refused for nothing but values that neither document nor settings tell.

    A code that says more than that of such a field, such as that it is missing or has no such name, is no such refusal.
    """
    return exchange.operation in (CREATE, UPDATE, "saveDraft") and _refused_for(
        exchange, samples.made_up_fields
    )


def _refused_for(exchange: Exchange, fields: Sequence[str], codes: Set[str] | None = None) -> bool:
    """Whether each error is of one of some fields, with one of some codes or else any that may be about a value."""
    elements = list(errors_array.elements(usable(exchange)))
    return bool(elements) and all(
        (code not in _NOT_ABOUT_VALUES if codes is None else code in codes)
        and any(errors_array.names_field(path, field) for field in fields)
        for code, path in elements
    )


def claim_accepted(claim: Claim, exchange: Exchange, samples: Samples) -> None:
    """Claim that a contact was accepted.

    Raises:
        Contradiction: it was refused, and not only for values that are not shown.
        Untested: it was refused for such values; the text names the setting.
        Blocked: it was refused for the record that the settings name to be referred to, which may be gone.
    """
    if not taken(exchange) and refused_for_made_up(exchange, samples):
        raise samples.needs_contact_document(exchange)
    if not taken(exchange) and _refused_for(exchange, samples.references, _ABOUT_VALUES):
        raise samples.needs_reference(exchange)
    claim.accepted(exchange)


def claim_shown_as_updated(claim: Claim, updated: Exchange, before: Record, after: Record) -> None:
    """Claim that a record which the answer to an update shows, as far as it does, is not half the one before.

    Args:
        before: The record that was there.
        after: The one that was sent.
    """
    there = after.keys() & before.keys() - {"header"}
    changed = [name for name in after if name in there and before[name] != after[name]]
    for shown in _objects(usable(updated).json):
        new = [name for name in changed if shown.get(name) == after[name]]
        old = [name for name in changed if shown.get(name) == before[name]]
        claim.holds(
            not (new and old),
            updated,
            expected=f"{', '.join(changed)} as they were sent",
            seen=f"{', '.join(old)} as before",
        )


def _objects(value: Any) -> Iterator[Record]:
    """The objects in a JSON value, itself included."""
    if isinstance(value, dict):
        yield value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for member in inner:
        yield from _objects(member)


def all_at_once(
    send: Callable[[Record], Exchange],
    whole: Record,
    parts: Sequence[tuple[Claim, Record]],
    rest: Claim,
    plain: Record,
    samples: Samples,
    *,
    elsewhere: tuple[Claim, Record] | None = None,
) -> Exchange:
    """Claim acceptance of one record for everything in it; only when it is refused are the parts sent one by one.

    That keeps the records few that cannot be removed.

    Args:
        send: Sends a record.
        whole: The record with everything.
        parts: For each clause, a record with its part alone.
        rest: What else the whole record was about; it is to blame when every part is accepted alone.
        plain: A record with none of it.
        elsewhere: The whole record again with nothing to blame on the rest, and the claim about its parts together.

    Returns:
        The exchange of the whole record.

    Raises:
        Contradiction: a must was contradicted.
        Blocked: even the plain record is refused, or a record is refused for values that are not shown.
    """
    sent, together = send(whole), [*parts, *([elsewhere] if elsewhere else [])]
    if taken(sent):
        for claim in (*(claim for claim, _ in together), rest):
            claim.accepted(sent)
        return sent
    if elsewhere and taken(moved := send(elsewhere[1])):
        for claim, _ in together:
            claim.accepted(moved)
        claim_accepted(rest, sent, samples)
        return sent
    bare = send(plain)
    if not taken(bare):
        raise Blocked(bare.operation or bare.method, f"refuses a plain record too: {bare.answer.quote()}")
    for claim, record in parts:
        alone = send(record)
        claim_accepted(claim, alone, samples)
        if not taken(alone):
            return sent
    claim_accepted(elsewhere[0] if elsewhere else rest, sent, samples)
    return sent


def claim_none_demanded(claim: Claim, contacts: ContactRequests, records: Iterable[Record]) -> list[Exchange]:
    """Claim of records that lack optional fields that none is called missing; returns their exchanges."""
    exchanges = []
    for record in records:
        sent = contacts.send(record)
        answer = usable(sent)
        left_out = [name for name in CONTACT_FIELDS if name not in record and name not in MANDATORY_FIELDS]
        missed = [name for name in left_out if errors_array.reports(answer, name, errors_array.MANDATORY)]
        claim.holds(
            not missed,
            sent,
            expected=f"no {errors_array.MANDATORY} for an optional field",
            seen=f"{', '.join(missed)} called missing: {answer.quote()}",
        )
        exchanges.append(sent)
    return exchanges


def claim_any_fields(
    claim: Claim, contacts: ContactRequests, samples: Samples, exchanges: Iterable[Exchange]
) -> None:
    """Claim that records with some of the optional fields are accepted.

    Raises:
        Blocked: a record with its mandatory fields alone, or one with everything, is refused as well; their own
            clauses hold that finding.
    """
    for sent in exchanges:
        full = contacts.full_record()
        if not taken(sent) and not all(taken(contacts.send(each)) for each in (full, mandatory_of(full))):
            raise _blocked(sent, "refuses contacts of other fields, too")
        claim_accepted(claim, sent, samples)


def claim_errors_arrays(claim: Claim, exchanges: Iterable[Exchange]) -> None:
    """Claim that every refusal holds an errors array that is not empty."""
    for exchange in exchanges:
        claim.content_refused(exchange)


def each_array_of_elements(claim: Claim, exchanges: Iterable[Exchange]) -> None:
    """Claim that every element of every errors array is an object whose code and property are strings."""
    for exchange in exchanges:
        claim.meets("error-elements", exchange)


def claim_known_codes(claim: Claim, exchanges: Iterable[Exchange]) -> None:
    """Claim that every code of every errors array is one of the seven."""
    for exchange in exchanges:
        claim.meets("error-codes", exchange)


def claim_fields_named(claim: Claim, exchanges: Iterable[tuple[str, Exchange]]) -> None:
    """Claim that each refusal names the field it is about.

    Raises:
        Blocked: no answer has well-formed elements; what they lack is a matter of other clauses.
    """
    for field, exchange in _with_elements(exchanges):
        claim.holds(
            errors_array.reports(exchange.answer, field),
            exchange,
            expected=f"an element that names {field}",
            seen=_seen(exchange),
        )


def each_with_code(claim: Claim, exchanges: Iterable[tuple[str, Exchange]], code: str) -> None:
    """Claim that each refusal holds a code, whatever property it names.

    Raises:
        Blocked: no answer has well-formed elements; what they lack is a matter of other clauses.
    """
    for _, exchange in _with_elements(exchanges):
        claim.holds(
            errors_array.holds_code(exchange.answer, code),
            exchange,
            expected=f"an element with {code}",
            seen=_seen(exchange),
        )


def mandatory_named_rightly(claim: Claim, exchanges: Iterable[tuple[str, Exchange]]) -> None:
    """Claim that `Error.Mandatory` is what a missing field gives, and that it names no field that is there.

    Args:
        exchanges: Answers to records whose only fault is the missing field they come with.

    Raises:
        Blocked: no answer has well-formed elements with known codes.
    """
    reported = list(_with_elements(exchanges))
    if any(
        {code for code, _ in errors_array.elements(exchange.answer)} - errors_array.CODES
        for _, exchange in reported
    ):
        raise Blocked(reported[0][1].operation or "", "gives codes that are not among the seven")
    right = [
        pair for pair in reported if errors_array.reports(pair[1].answer, pair[0], errors_array.MANDATORY)
    ]
    claim.holds(
        bool(right),
        *(exchange for _, exchange in reported[:1]),
        expected=f"{errors_array.MANDATORY} for the missing field, for one field at least",
        seen=_seen(reported[0][1]),
    )
    for field, exchange in right:
        others = {
            path
            for code, path in errors_array.elements(exchange.answer)
            if code == errors_array.MANDATORY and not errors_array.names_field(path, field)
        }
        # A value that the suite made up may be none to the service.
        filled = set(MANDATORY_FIELDS) - set(exchange.notes.get(_MADE_UP_FIELDS, ()))
        claim.holds(
            not any(errors_array.names_field(path, there) for path in others for there in filled),
            exchange,
            expected=f"{errors_array.MANDATORY} for {field} alone",
            seen=_seen(exchange),
        )


def optional_never_missing(claim: Claim, exchanges: Iterable[tuple[str, Exchange]]) -> None:
    """Claim that `Error.Mandatory` names no optional field that is there, whatever else is wrong with it.

    A field with members of its own is not judged: it is one of them that may be required.

    Args:
        exchanges: Answers to records whose only fault is in the field they come with.
    """
    simple = {"string", "lstring", "array of string"}
    for field, exchange in exchanges:
        elements = [(code, path) for code, path in errors_array.elements(usable(exchange))]
        if elements and field not in MANDATORY_FIELDS and CONTACT_FIELDS[field] in simple:
            claim.holds(
                not any(
                    code == errors_array.MANDATORY and errors_array.is_field(path, field)
                    for code, path in elements
                ),
                exchange,
                expected=f"another code than {errors_array.MANDATORY} for {field}, which is optional and there",
                seen=_seen(exchange),
            )


def _with_elements(exchanges: Iterable[tuple[str, Exchange]]) -> Iterator[tuple[str, Exchange]]:
    """Those whose errors can be looked at; of faults told one at a time, a made-up value may have come first."""
    reporting, operation = 0, ""
    for field, exchange in exchanges:
        operation = exchange.operation or operation
        named = errors_array.reports(usable(exchange), field)
        if not named and _refused_for(exchange, exchange.notes.get(_MADE_UP_FIELDS, ())):
            continue
        if list(errors_array.elements(usable(exchange))):
            reporting += 1
            yield field, exchange
    if not reporting:
        raise Blocked(operation, "no answer has errors of code and property to look at")


def _seen(exchange: Exchange) -> str:
    return ", ".join(
        f"{code} for {path!r}" for code, path in list(errors_array.elements(exchange.answer))[:5]
    )
