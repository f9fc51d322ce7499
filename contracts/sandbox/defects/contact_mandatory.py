"""Defects of the mandatory fields of a contact: not required, or required without saying so rightly."""

from typing import Any

from contracts.sandbox.defects.altering import alter, edit_refusal, in_realm
from contracts.sandbox.defects.contact_faults import Meant, change_faults, creating, overlook, updating
from contracts.sandbox.defects.groups import CONTACTS, kebab
from contracts.sandbox.defects.registry import Change, defect
from contracts.sandbox.record_types import CONTACT
from contracts.sandbox.refusals import Fault, Reason, Refusal
from contracts.sandbox.service import Service
from contracts.sandbox.validation import INVALID_VALUE, MANDATORY, MANDATORY_ANY_OF, Expectation

_FIELDS = tuple(field.name for field in CONTACT.fields if field.mandatory)
_ENTRANCES: tuple[tuple[str, str, Meant], ...] = (
    ("create", "createContact", creating),
    ("update", "updateContact", updating),
)


def _is_missing(fault: Fault, field: str) -> bool:
    return fault.code == MANDATORY and fault.path == (field,)


def _not_required(field: str, meant: Meant) -> Change:
    return overlook(lambda fault: _is_missing(fault, field), meant)


def _reported(field: str, told: Fault, meant: Meant) -> Change:
    """Return the change that reports the absence of a field as another fault."""
    return lambda service: change_faults(
        service, lambda fault: told if _is_missing(fault, field) else fault, meant
    )


for _field in _FIELDS:
    for _word, _operation, _meant in _ENTRANCES:
        defect(
            f"contact-{_word}-without-{kebab(_field)}",
            clause=f"contact-mandatory-{kebab(_field)}",
            operations=[_operation],
            sentence=f"{_operation} accepts a contact without {_field}.",
        )(_not_required(_field, _meant))

_REPORTS = (
    ("firstName", "as-invalid-value", Fault(INVALID_VALUE, ("firstName",)), _ENTRANCES[0]),
    ("lastName", "under-its-title", Fault(MANDATORY, ("Last Name",)), _ENTRANCES[1]),
    ("organization", "as-any-of", Fault(MANDATORY_ANY_OF, ("organization",)), _ENTRANCES[0]),
    ("country", "under-another-field", Fault(MANDATORY, ("government",)), _ENTRANCES[1]),
    ("emails", "in-lower-case", Fault("error.mandatory", ("emails",)), _ENTRANCES[0]),
    ("type", "without-prefix", Fault("Mandatory", ("type",)), _ENTRANCES[1]),
    ("contactOrganization", "in-lower-case", Fault(MANDATORY, ("contactorganization",)), _ENTRANCES[0]),
)
for _field, _how, _told, (_word, _operation, _meant) in _REPORTS:
    defect(
        f"contact-{_word}-{kebab(_field)}-reported-{_how}",
        clause=f"contact-mandatory-{kebab(_field)}",
        operations=[_operation],
        sentence=f"{_operation} reports a missing {_field} with {_told.code} and the property {_told.path[0]}.",
    )(_reported(_field, _told, _meant))


def _silent_in(realm: str, field: str) -> Change:
    """Return the change that leaves the absence of a field out of the errors of one realm."""

    def without(refusal: Refusal) -> Refusal:
        other = [fault for fault in refusal.faults if not _is_missing(fault, field)]
        if len(other) == len(refusal.faults):
            return refusal
        faults = other or [Fault(INVALID_VALUE, (field,))]
        return Refusal(refusal.reason, refusal.message, faults=faults)

    return lambda service: edit_refusal(service, CONTACTS, without, in_realm(realm))


for _field, _realm in (("type", "bch-dev"), ("emails", "chm-dev")):
    defect(
        f"contact-{_field}-not-named-in-{_realm[:3]}",
        clause=f"contact-mandatory-{_field}",
        operations=CONTACTS,
        realms=[_realm],
        sentence=f"In {_realm} a missing {_field} is reported as an invalid value.",
    )(_silent_in(_realm, _field))


for _word, _operation, _meant in _ENTRANCES:
    defect(
        f"contact-{_word}-empty-record",
        clause="contact-empty-record",
        operations=[_operation],
        sentence=f"{_operation} accepts an empty object as a contact.",
    )(
        lambda service, operation=_operation: _empty_accepted(service, operation)  # type: ignore[misc]
    )


def _all_missing(refusal: Refusal) -> bool:
    missing = {fault.path[0] for fault in refusal.faults if fault.code == MANDATORY}
    return missing == set(_FIELDS) and len(refusal.faults) == len(_FIELDS)


def _empty_accepted(service: Service, operation: str) -> None:
    """Accept a contact that lacks every mandatory field."""
    meant = next(test for _, name, test in _ENTRANCES if name == operation)

    def faults(faithful: Any, document: dict[str, Any], expectation: Expectation) -> Any:
        return [] if not document and meant(expectation) else faithful(document, expectation)

    alter(service.validator, "faults", faults)


@defect("contact-empty-record-without-code", clause="contact-empty-record", operations=CONTACTS)
def _(service: Service) -> None:
    """An empty object is refused as a contact, with one element of the code Error.InvalidValue."""

    def one(refusal: Refusal) -> Refusal:
        told = [Fault(INVALID_VALUE, ("document",))]
        return (
            Refusal(Reason.INVALID_CONTENT, refusal.message, faults=told)
            if _all_missing(refusal)
            else refusal
        )

    edit_refusal(service, CONTACTS, one)


@defect("contact-first-missing-only", clause="contact-all-missing-named", operations=CONTACTS)
def _(service: Service) -> None:
    """Of several missing fields only the first is named."""

    def first(refusal: Refusal) -> Refusal:
        missing = [fault for fault in refusal.faults if fault.code == MANDATORY]
        kept = [fault for fault in refusal.faults if fault not in missing[1:]]
        return Refusal(refusal.reason, refusal.message, faults=kept, status=refusal.status)

    edit_refusal(service, CONTACTS, first)


@defect("contact-present-field-named-missing", clause="errors-code-mandatory", operations=CONTACTS)
def _(service: Service) -> None:
    """When lastName is missing, firstName is named as missing too, although it is there."""

    def also(refusal: Refusal) -> Refusal:
        if not any(_is_missing(fault, "lastName") for fault in refusal.faults):
            return refusal
        faults = dict.fromkeys((*refusal.faults, Fault(MANDATORY, ("firstName",))))
        return Refusal(refusal.reason, refusal.message, faults=list(faults), status=refusal.status)

    edit_refusal(service, CONTACTS, also)
