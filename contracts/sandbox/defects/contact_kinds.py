"""Defects of the kinds of a contact's fields: values of another kind are accepted."""

from contracts.sandbox.defects.contact_faults import Meant, creating, overlook, updating
from contracts.sandbox.defects.groups import CONTACTS, kebab
from contracts.sandbox.defects.registry import Change, defect
from contracts.sandbox.record_types import CONTACT, Kind
from contracts.sandbox.refusals import Fault
from contracts.sandbox.validation import (
    INVALID_PROPERTY,
    INVALID_TYPE,
    MANDATORY,
    UNEXPECTED_TERM,
    UNSPECIFIED_LOCALE,
)

_ENTRANCES: tuple[tuple[str, str, Meant], ...] = (
    ("create", "createContact", creating),
    ("update", "updateContact", updating),
)


def _any_kind(field: str, meant: Meant) -> Change:
    """Return the change that overlooks every wrong kind in a field, inner ones too."""
    return overlook(lambda fault: fault.code == INVALID_TYPE and fault.path[0] == field, meant)


def _any_inner_kind(field: str, meant: Meant) -> Change:
    """Return the change that overlooks wrong kinds inside a field, but not of the field itself."""
    return overlook(
        lambda fault: fault.code == INVALID_TYPE and fault.path[0] == field and len(fault.path) > 1, meant
    )


for _row in CONTACT.fields:
    # A header that is no object would stop the creation, so that field is let through on update alone.
    for _word, _operation, _meant in _ENTRANCES[1:] if _row.kind is Kind.HEADER else _ENTRANCES:
        defect(
            f"contact-{_word}-{kebab(_row.name)}-of-any-kind",
            clause=f"contact-kind-{kebab(_row.name)}",
            operations=[_operation],
            sentence=f"{_operation} accepts values of any kind for {_row.name}.",
        )(_any_kind(_row.name, _meant))

_INNER = (
    ("organization", 1, "texts"),
    ("relevantInformation", 0, "texts"),
    ("country", 0, "identifier"),
    ("gender", 1, "identifier"),
    ("contactOrganization", 0, "identifier"),
    ("emails", 1, "items"),
    ("phones", 1, "items"),
    ("websites", 0, "items and their url"),
    ("relevantDocuments", 1, "items and their url"),
    ("header", 1, "members"),
)
for _field, _entrance, _inside in _INNER:
    _word, _operation, _meant = _ENTRANCES[_entrance]
    defect(
        f"contact-{_word}-{kebab(_field)}-inside-of-any-kind",
        clause=f"contact-kind-{kebab(_field)}",
        operations=[_operation],
        sentence=f"{_operation} does not look at the kind of the {_inside} of {_field}.",
    )(_any_inner_kind(_field, _meant))


def _lacks(fault: Fault, *fields: str) -> bool:
    return fault.code == MANDATORY and len(fault.path) > 1 and fault.path[0] in fields


for _name, _clause, _fields in (
    ("contact-country-without-identifier", "contact-country-without-identifier", ("country",)),
    (
        "contact-reference-without-identifier",
        "contact-organization-without-identifier",
        ("contactOrganization",),
    ),
    ("contact-gender-without-identifier", "contact-optional-term-without-identifier", ("gender",)),
    (
        "contact-organization-type-without-identifier",
        "contact-optional-term-without-identifier",
        ("organizationType",),
    ),
    ("contact-website-without-url", "contact-link-without-url", ("websites",)),
    ("contact-document-without-url", "contact-link-without-url", ("relevantDocuments",)),
):
    defect(
        _name,
        clause=_clause,
        operations=CONTACTS,
        sentence=f"A contact is accepted whose {_fields[0]} lacks the member it has to carry.",
    )(overlook(lambda fault, fields=_fields: _lacks(fault, *fields)))  # type: ignore[misc]

for _word, _operation, _meant in _ENTRANCES:
    defect(
        f"contact-{_word}-any-language-key",
        clause="contact-language-key-invalid",
        operations=[_operation],
        sentence=f"{_operation} accepts localised fields keyed by any text.",
    )(overlook(lambda fault: fault.code == UNSPECIFIED_LOCALE and fault.path[0] != "header", _meant))

defect(
    "contact-any-language-key-of-address",
    clause="contact-language-key-invalid",
    operations=CONTACTS,
    sentence="The field address alone may be keyed by any text.",
)(overlook(lambda fault: fault.code == UNSPECIFIED_LOCALE and fault.path[0] == "address"))

defect(
    "contact-any-country",
    clause="contact-country-unexpected",
    operations=CONTACTS,
    sentence="A country that is no known term is accepted.",
)(overlook(lambda fault: fault.code == UNEXPECTED_TERM))

defect(
    "contact-any-property",
    clause="contact-unknown-property",
    operations=CONTACTS,
    sentence="A contact may hold fields that the table does not have.",
)(overlook(lambda fault: fault.code == INVALID_PROPERTY))
