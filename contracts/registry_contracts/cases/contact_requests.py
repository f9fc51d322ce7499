"""Contacts sent by create and update: how they are accepted, and how an operation reports what is wrong.

One fault, one finding: if an operation validates nothing or sends no errors array, the finding is on that clause
and not on the clauses of all 26 fields.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from registry_contracts.cases.comparison import claim_accepted_for_each
from registry_contracts.cases.sample_records import (
    CONTACT_FIELDS,
    MANDATORY_FIELDS,
    Record,
    Samples,
    in_languages,
    mandatory_of,
    named_in_scripts,
    several_items,
    without,
)
from registry_contracts.cases.world import World
from registry_contracts.checks import errors_array
from registry_contracts.checks.claims import Claim, Expect
from registry_contracts.checks.outcomes import Blocked, Untested, taken, usable
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.session.actor import DEFAULT, Actor

_ARRAY, _SHAPE, _KNOWN = "errors-array", "errors-element-shape", "errors-code-known"
_MANDATORY, _NAMED = "errors-code-mandatory", "errors-property-names-field"
#: The codes for a field of the wrong type, an undocumented field and an unknown language.
_CODES: Final = {
    "wrong-kind": ("errors-code-invalid-type", errors_array.INVALID_TYPE),
    "unknown-property": ("errors-code-invalid-property", errors_array.INVALID_PROPERTY),
    "pattern": ("errors-code-unspecified-locale", errors_array.UNSPECIFIED_LOCALE),
}
TOLD_CLAUSES: Final = (_ARRAY, _SHAPE, _KNOWN, _MANDATORY, _NAMED, *(clause for clause, _ in _CODES.values()))
#: Types of fields that have no required members.
_SIMPLE: Final = frozenset({"string", "lstring", "array of string"})
#: Codes that report something other than a value that is not allowed.
_NOT_ABOUT_VALUES: Final = frozenset(
    {
        *(errors_array.MANDATORY, errors_array.MANDATORY_ANY_OF),
        *(errors_array.INVALID_PROPERTY, errors_array.INVALID_TYPE),
    }
)


@dataclass(frozen=True)
class Reporting:
    """What an operation did with a few records that lack mandatory fields.

    Attributes:
        refuses: It refused at least one.
        arrays: At least one refusal held an errors array.
        names: At least one errors array named the missing field with `Error.Mandatory`.
        takes: It accepts the complete record, so a refusal is about the fault.
        made_up: Fields whose allowed values neither the document nor the settings show.
    """

    refuses: bool
    arrays: bool
    names: bool
    takes: bool
    made_up: tuple[str, ...] = ()

    def claim_told(self, expect: Expect, clause: str, exchange: Exchange, field: str, key: str) -> None:
        """Claim that a record with one fault was refused, and that its errors report the fault.

        Raises:
            Contradiction: a MUST was contradicted: the clause on errors arrays or on `Error.Mandatory` if the
                operation never meets it, else the clause of the fault.
            Blocked: the answer does not say why the record was refused.
        """
        kind, operation = key.rpartition(":")[2], exchange.operation or ""
        blamed = clause if self._is_usual(exchange, field) else _ARRAY
        expect(blamed, operation).content_refused(exchange)
        if not readers.errors(usable(exchange)):
            return
        expect(_ARRAY, operation).content_refused(exchange)
        expect(_SHAPE, operation).meets("error-elements", exchange)
        expect(_KNOWN, operation).meets("error-codes", exchange)
        if self._another_first(exchange, field):
            if kind == "missing":
                raise _blocked(exchange, "refuses made-up values, and may report one fault at a time")
            return
        whole = key in (f"body.{field}:{kind}", f"body:{kind}")
        if clause.startswith("contact-mandatory-") and kind == "missing":
            own = clause if self.names else _MANDATORY
            expect(own, operation).reports(exchange, errors_array.MANDATORY, field)
            self._claim_no_other_missing(expect(_MANDATORY, operation), exchange, field)
        elif kind in _CODES and (whole or kind == "pattern"):
            code_clause, code = _CODES[kind]
            claim_code(expect(code_clause, operation), exchange, code)
            if whole:
                claim_named(expect(_NAMED, operation), exchange, [field])
            self._claim_not_missing(expect(_MANDATORY, operation), exchange, field)
        elif kind == "wrong-kind":  # the error may name the member inside the field
            claim_named(expect(_NAMED, operation), exchange, key.partition(":")[0].split(".")[1:])

    def claim_refused(self, claim: Claim, exchange: Exchange, field: str) -> None:
        """Claim that a record was refused, with an errors array, for a fault in a field.

        Raises:
            Blocked: the operation never does so; that is a finding of the clause on errors arrays.
        """
        if not self._is_usual(exchange, field):
            raise _blocked(exchange, "accepts faulty records, or never sends an errors array")
        claim.content_refused(exchange)

    def claim_some_mandatory(self, claim: Claim, exchange: Exchange) -> None:
        """Claim that a record without any field was refused, with `Error.Mandatory` at least once."""
        claim.turned_down(exchange)
        tells = self.arrays or bool(readers.errors(exchange.answer))
        if not (tells and (self.names or errors_array.holds_code(exchange.answer, errors_array.MANDATORY))):
            raise _blocked(exchange, f"never reports a missing field with {errors_array.MANDATORY}")
        claim_code(claim, exchange, errors_array.MANDATORY)

    def _is_usual(self, exchange: Exchange, field: str) -> bool:
        """Whether the operation refuses other faulty records as it should, with an errors array.

        Raises:
            Blocked: it refuses the complete record too, and does not name the field.
        """
        answer = usable(exchange)
        if not errors_array.turned_down(answer):
            return self.refuses
        if not self.takes and not errors_array.reports(answer, field):
            raise _blocked(exchange, f"refuses complete records too, and does not name {field}")
        return self.arrays or bool(readers.errors(answer))

    def _claim_no_other_missing(self, claim: Claim, exchange: Exchange, field: str) -> None:
        """Claim that no mandatory field that was sent is reported missing, except fields with made-up values."""
        filled = {*MANDATORY_FIELDS} - {field, *self.made_up}
        missed = [name for name in sorted(filled) if _reports_missing(exchange, name, field)]
        claim.holds(
            not missed, exchange, expected=f"{errors_array.MANDATORY} for {field} alone", seen=_seen(exchange)
        )

    def _another_first(self, exchange: Exchange, field: str) -> bool:
        """Whether the errors say nothing of a field: none is readable, or they report made-up values first."""
        answer = usable(exchange)
        if not list(errors_array.elements(answer)):
            return True
        return refused_for(exchange, self.made_up) and not errors_array.reports(answer, field)

    def _claim_not_missing(self, claim: Claim, exchange: Exchange, field: str) -> None:
        """Claim that an optional field that was sent is not reported missing, whatever else is wrong with it."""
        if field in MANDATORY_FIELDS or CONTACT_FIELDS.get(field) not in _SIMPLE:
            return
        elements, missing = errors_array.elements(usable(exchange)), errors_array.MANDATORY
        missed = any(code == missing and errors_array.is_field(path, field) for code, path in elements)
        expected = f"another code than {missing} for {field}, which is optional and was sent"
        claim.holds(not missed, exchange, expected=expected, seen=_seen(exchange))


def _reports_missing(exchange: Exchange, sent: str, left_out: str) -> bool:
    """Whether a field that was sent is reported missing, by an error that is not about the one left out."""
    return any(
        code == errors_array.MANDATORY
        and errors_array.names_field(path, sent)
        and not errors_array.names_field(path, left_out)
        for code, path in errors_array.elements(exchange.answer)
    )


def claim_code(claim: Claim, exchange: Exchange, code: str) -> None:
    """Claim that a refusal holds a code, whatever property it names."""
    holds = errors_array.holds_code(usable(exchange), code)
    claim.holds(holds, exchange, expected=f"an element with {code}", seen=_seen(exchange))


def claim_named(claim: Claim, exchange: Exchange, fields: Sequence[str]) -> None:
    """Claim that a refusal names one of `fields`: the faulty field, or a member on the path to the fault."""
    names = any(errors_array.reports(usable(exchange), field) for field in fields)
    expected = f"an element that names {' or '.join(fields)}"
    claim.holds(names, exchange, expected=expected, seen=_seen(exchange))


def refused_for(exchange: Exchange, fields: Sequence[str], codes: Set[str] | None = None) -> bool:
    """Whether each error is about one of `fields`, with one of `codes` (default: any that may be about a value)."""
    elements = list(errors_array.elements(usable(exchange)))
    return bool(elements) and all(
        (code not in _NOT_ABOUT_VALUES if codes is None else code in codes)
        and any(errors_array.names_field(path, field) for field in fields)
        for code, path in elements
    )


def _seen(exchange: Exchange) -> str:
    elements = list(errors_array.elements(exchange.answer))[:5]
    return ", ".join(f"{code} for {path!r}" for code, path in elements) or exchange.answer.quote()


def _blocked(exchange: Exchange, cause: str) -> Blocked:
    return Blocked(exchange.operation or exchange.method, cause)


CREATE, UPDATE = "createContact", "updateContact"
#: Fields to leave out to see how an operation reports; two, in case the service treats one of them wrongly.
_PROBED = ("firstName", "emails")


class ContactRequests:
    """One contact operation of one actor, complete except for the record.

    Create uses a fresh identifier in the header. Update goes to one contact that the cases of a realm share, so
    refused requests leave nothing behind and accepted updates leave one record.

    Attributes:
        uid: The identifier in the path of an update; for create a fresh one.
    """

    def __init__(self, operation: str, world: World) -> None:
        self.operation = operation
        self._world = world
        self.uid = world.contact() if operation == UPDATE else world.uid()

    def record(self, uid: str | None = None) -> Record:
        """A record with its header and the mandatory fields; a creation has a new identifier each time.

        The document does not say whether the identifier of a refused creation is free again.
        """
        return self._world.samples.contact(
            uid or (self.uid if self.operation == UPDATE else self._world.uid())
        )

    def send(
        self,
        record: Any = DEFAULT,
        *,
        actor: Actor | None = None,
        query: Mapping[str, str] | None = None,
    ) -> Exchange:
        """Send a record.

        Args:
            actor: Sends it instead of the author.
            query: Replaces the schema parameter.
        """
        path = {"uid": self.uid} if self.operation == UPDATE else {}
        asked = {"schema": self._world.samples.contact_schema} if query is None else query
        return (actor or self._world.author).send(self.operation, path=path, query=asked, json=record)

    def reporting(self) -> Reporting:
        """How this operation reports faulty records in general; probed once for each realm and worker."""
        return self._world.once(f"reporting of {self.operation}", self._probe)

    def _probe(self) -> Reporting:
        answers = {field: usable(self.send(without(self.record(), field))) for field in _PROBED}
        takes = False
        with suppress(Blocked, Untested):
            takes = bool(self._world.contact())  # an update with a complete record was accepted
        return Reporting(
            refuses=any(map(errors_array.turned_down, answers.values())),
            arrays=any(map(readers.errors, answers.values())),
            names=any(
                errors_array.reports(answer, field, errors_array.MANDATORY)
                for field, answer in answers.items()
            ),
            takes=takes,
            made_up=self._world.samples.made_up_fields,
        )


def claim_updatable(claim: Claim, world: World) -> ContactRequests:
    """Updates of the shared contact; if it cannot be arranged, claim that a contact just created can be updated.

    The claim needs a known uid: the answer to the creation must name the identifier that was sent.
    """
    try:
        return ContactRequests(UPDATE, world)
    except Blocked:
        created: Exchange | None = world.offered("exchange of the contact")
        own = readers.own_identifier(created.request_body.json) if created else None
        if created is None or own is None or not readers.carries_identifier(created.answer, own):
            raise
        # The record may appear a moment later.
        updated = world.until(lambda: world.update_contact(own), taken)
        if not taken(updated):  # the shared contact may be of an earlier run, and closed since
            created, updated = _created_and_updated(world)
        need_known_values(updated, world.samples)
        expected = "an update of the contact that was just created is accepted"
        claim.holds(taken(updated), created, updated, expected=expected)
        raise


def _created_and_updated(world: World) -> tuple[Exchange, Exchange]:
    """The creation of a fresh contact under an identifier that the answer confirms, and its update."""
    uid = world.uid()
    query = {"schema": world.samples.contact_schema}
    created = world.author.send("createContact", query=query, json=world.samples.contact(uid))
    if not taken(created) or not readers.carries_identifier(created.answer, uid):
        raise Blocked("createContact", f"answered {created.answer.quote()}")
    return created, world.until(lambda: world.update_contact(uid), taken)


#: Codes for a reference to a record that does not exist.
_ABOUT_VALUES: Final = frozenset({errors_array.INVALID_VALUE, errors_array.UNEXPECTED_TERM})


def need_known_values(exchange: Exchange, samples: Samples) -> None:
    """Require that a contact (or its draft) was not refused for values that only the settings can provide.

    A refusal does not count if a code says something else about the field, for example that it is missing.

    Raises:
        Untested: it was; the message names the setting.
        Blocked: it was refused for its reference to a record of the settings, which may be gone.
    """
    if taken(exchange):
        return
    of_contact = exchange.operation in (CREATE, UPDATE, "saveDraft")
    if of_contact and refused_for(exchange, samples.made_up_fields):
        raise samples.needs_contact_document(exchange)
    if refused_for(exchange, samples.references, _ABOUT_VALUES):
        raise samples.needs_reference(exchange)


def claim_accepted(claim: Claim, exchange: Exchange, samples: Samples) -> None:
    """Claim that a contact was accepted; raises like `need_known_values`."""
    need_known_values(exchange, samples)
    claim.accepted(exchange)


def claim_shown_as_updated(claim: Claim, updated: Exchange, before: Record, after: Record) -> None:
    """Claim that a record in the answer to an update does not mix new and old values."""
    there = after.keys() & before.keys() - {"header"}
    changed = [name for name in after if name in there and before[name] != after[name]]
    for shown in readers.values(usable(updated).json):
        if not isinstance(shown, dict):
            continue
        new = [name for name in changed if shown.get(name) == after[name]]
        old = [name for name in changed if shown.get(name) == before[name]]
        seen = f"{', '.join(old)} as before"
        claim.holds(not (new and old), updated, expected=f"{', '.join(changed)} as sent", seen=seen)


#: Features to add to a full record, by clause.
_BESIDE_ALL_FIELDS: Final[Mapping[str, Callable[[Record], Record]]] = {
    "contact-several-languages": in_languages,
    "contact-several-items": several_items,
    "contact-names-in-scripts": named_in_scripts,
}


def claim_everything_created(
    expect: Expect, contacts: ContactRequests, samples: Samples, fresh: Callable[[], str]
) -> Exchange:
    """Claim that a record with all features is created under the identifier of these requests; return its exchange."""

    def record(uid: str, left_out: Collection[str] = ()) -> Record:
        made = samples.full_contact(uid)
        for clause, change in _BESIDE_ALL_FIELDS.items():
            made = made if clause in left_out else change(made)
        return made

    def elsewhere(*left_out: str) -> Exchange:
        return contacts.send(record(fresh(), left_out))

    sent = contacts.send(record(contacts.uid))
    need_known_values(sent, samples)
    claim_accepted_for_each(
        sent,
        (expect("contact-refused-frees-identifier"), elsewhere),
        *((expect(clause, CREATE), partial(elsewhere, clause)) for clause in _BESIDE_ALL_FIELDS),
        (expect("contact-any-fields", CREATE), partial(elsewhere, *_BESIDE_ALL_FIELDS)),
        (expect("contact-create-full"), partial(contacts.send, samples.contact())),
    )
    return sent


def claim_any_fields(
    expect: Expect, contacts: ContactRequests, samples: Samples, records: Iterable[Record]
) -> None:
    """Claim that records with some optional fields are accepted, and that none of the others is called missing."""
    demanded, any_fields = (
        expect(clause, contacts.operation)
        for clause in ("contact-optional-not-demanded", "contact-any-fields")
    )
    full = samples.full_contact(contacts.uid)
    tried = [(record, contacts.send(record)) for record in records]
    for record, sent in tried:
        answer = usable(sent)
        left_out = [name for name in CONTACT_FIELDS if name not in record and name not in MANDATORY_FIELDS]
        # A set of which one field is needed is not shown, so Error.MandatoryAnyOf is no contradiction.
        missing = [path for code, path in errors_array.elements(answer) if code == errors_array.MANDATORY]
        missed = [name for name in left_out if any(errors_array.names_field(path, name) for path in missing)]
        expected = f"no {errors_array.MANDATORY} for an optional field"
        seen = f"{', '.join(missed)} called missing: {answer.quote()}"
        demanded.holds(not missed, sent, expected=expected, seen=seen)
    for _, sent in tried:
        if not taken(sent) and not all(taken(contacts.send(each)) for each in (full, mandatory_of(full))):
            raise Blocked(contacts.operation, "also refuses contacts with other fields")
        claim_accepted(any_fields, sent, samples)
