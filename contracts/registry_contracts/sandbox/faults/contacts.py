"""Faults of contacts and of the errors array: valid records refused, faulty ones accepted, wrong errors."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle
from typing import Any, Final

from registry_contracts.sandbox.faults import effects as do
from registry_contracts.sandbox.faults.effects import KIND, LOCALE, MANDATORY, PROPERTY, TERM, VALUE
from registry_contracts.sandbox.faults.fault import Fault, Rows, each
from registry_contracts.sandbox.faults.messages import Inject, Request
from registry_contracts.sandbox.faults.places import CONTACTS, KNOWN_SCHEMA, SUBMISSIONS, kebab
from registry_contracts.sandbox.validation import CONTACT, Field, Kind

CREATE, UPDATE = CONTACTS
#: Requests with a schema that some realm has configured.
_KNOWN: Final = f"schema~{KNOWN_SCHEMA}"


def _invalid(code: str, test: Callable[[str, Any], bool]) -> Inject:
    """Add an error for each field that passes a test."""
    return do.judge(
        lambda record, errors: [
            *errors,
            *({"code": code, "property": name} for name, value in record.items() if test(name, value)),
        ]
    )


def _several(*fields: str) -> Callable[[str, Any], bool]:
    return lambda name, value: name in fields and isinstance(value, dict | list) and len(value) > 1


def _header_identifier(request: Request) -> str | None:
    header = request.member.get("header")
    identifier = header.get("identifier") if isinstance(header, dict) else None
    return identifier if isinstance(identifier, str) else None


# fmt: off
_CONTACT = Rows("contact-", "contact-", CONTACTS)
_TAKEN = Rows("contact-", "contact-", CONTACTS, "A contact is accepted {}.")
_CREATED, _UPDATED = Rows("contact-", "contact-", CREATE), Rows("contact-", "contact-", UPDATE)
_REFUSAL = Rows("errors-", "errors-", CONTACTS, "The refusal of faulty content {}.")
_AS_CONTACT: Final = do.send(lambda r: r.with_options(schema="contact"))


#: The fields of a contact, each with one of the operations: they take turns.
_PLACES: Final = tuple(zip(CONTACT.fields, cycle(CONTACTS)))


def _of_any_kind(field: Field, operation: str) -> Fault:
    """Accept any other kind of value for a field."""
    right = list if field.many else str if field.kind is Kind.STRING else dict
    other = do.take(KIND, field.name, lambda value: not isinstance(value, right))
    return _CONTACT(f"{kebab(field.name)}-of-any-kind", f"kind-{kebab(field.name)}", other,
        f"{operation} accepts any other kind of value for {field.name}", at=operation)


ROWS: Final = (
    # Good records that are refused.
    *each(lambda field, operation, word: _CONTACT(f"{word}-{kebab(field)}-refused", f"{word}-full",
            _invalid(VALUE, lambda name, value: name == field and value is not None),
            f"{operation} refuses a contact that holds the field {field}", at=operation),
        ("designation", CREATE, "create"), ("postalCode", CREATE, "create"), ("websites", CREATE, "create"),
        ("middleName", UPDATE, "update"), ("organizationAcronym", UPDATE, "update"),
        ("relevantInformation", UPDATE, "update"),
    ),
    _CREATED("create-needs-prefix", "create-accepted", do.demand(MANDATORY, "prefix", lambda c: "prefix" in c),
        "createContact refuses a contact without the optional field prefix"),
    _UPDATED("update-needs-phones", "update-accepted", do.demand(MANDATORY, "phones", lambda c: "phones" in c),
        "updateContact refuses a contact without the optional field phones"),
    _UPDATED("update-with-city-needs-state", "optional-not-demanded",
        do.demand(MANDATORY, "state", lambda c: "state" in c or "city" not in c),
        "An update that holds the optional field city is refused without the optional field state"),
    _UPDATED("update-of-websites-needs-phones", "any-fields",
        do.demand(VALUE, "websites", lambda c: "websites" not in c or "phones" in c),
        "An update that holds the optional field websites without phones is refused for its websites"),
    _CONTACT("names-in-latin", "names-in-scripts", _invalid(VALUE, lambda name, value:
        name in ("firstName", "lastName") and isinstance(value, str) and max(value, default="") > "\u024f"),
        "First and last names are refused in scripts other than Latin"),
    _CONTACT("one-language", "several-languages",
        _invalid(KIND, _several(*(field.name for field in CONTACT.fields if field.kind is Kind.LSTRING))),
        "A localised field is refused when it carries more than one language"),
    # Faulty records that are taken.
    *each(_of_any_kind, *_PLACES),
    *each(lambda field, operation: _CONTACT(f"{field}-of-any-language-key", "language-key-invalid",
            do.take(LOCALE, field), f"{operation} accepts any text as a language of {field}", at=operation),
        ("designation", CREATE), ("city", CREATE), ("department", UPDATE)),
    _CREATED("create-empty-record", "empty-record", do.judge(lambda c, errors: errors if c else []),
        "createContact accepts an empty object as a contact"),
    _CREATED("create-array", "body-kind", do.forgive(status=201),
        "createContact answers success to a contact whose body is an array", r"body~^\s*\["),
    *each(lambda name, clause, field:
        _TAKEN(name, clause, do.take(MANDATORY, field, bool), f"whose {field} lacks its mandatory member"),
        ("country-without-identifier", "country-without-identifier", "country"),
        ("reference-without-identifier", "organization-without-identifier", "contactOrganization"),
        ("gender-without-identifier", "optional-term-without-identifier", "gender"),
        ("website-without-url", "link-without-url", "websites"),
    ),
    _TAKEN("null-firstname", "mandatory-null", do.take(MANDATORY, "firstName", lambda name: name is None),
        "whose firstName is null"),
    _TAKEN("any-country", "country-unexpected", do.take(TERM, "country"), "whose country is no known term"),
    _TAKEN("any-property", "unknown-property",
        do.overlook(lambda _, error: error["code"] == PROPERTY and CONTACT.field(error["property"]) is None),
        "with fields that the table does not have"),
    _TAKEN("any-language-in-header", "header-language-invalid", do.take(LOCALE, "header"),
        "with any texts for the languages of its header"),
    _TAKEN("schema-not-needed", "schema-missing", _AS_CONTACT, "without a schema", "-schema~."),
    _TAKEN("schema-of-any-name", "schema-unknown", _AS_CONTACT, "under a schema that no realm has configured",
        f"schema~. -{_KNOWN}"),
    _TAKEN("schema-of-other-records", "schema-validates", _AS_CONTACT, "under any configured schema", _KNOWN),
    _CREATED("refused-identifier-taken", "refused-frees-identifier",
        do.barred(_header_identifier, lambda got: bool(got.errors), do.REFUSED),
        "The identifier in the header of a contact that was refused for its content stays taken"),
    _CREATED("one-item-of-phones", "several-items", _invalid(KIND, _several("phones")),
        "createContact refuses a contact with several items in phones"),
    # Errors that are told wrongly.
    *each(lambda name, clause, code, instead:
        _REFUSAL(name, clause,
            do.report(lambda errors: [{**e, "code": instead} if e["code"] == code else e for e in errors]),
            f"has {instead} instead of {code}"),
        ("kind-as-value", "code-invalid-type", KIND, VALUE),
        ("property-as-value", "code-invalid-property", PROPERTY, VALUE),
        ("locale-as-property", "code-unspecified-locale", LOCALE, PROPERTY),
        ("term-as-value", "code-unexpected-term", TERM, VALUE),
        ("kind-as-mandatory", "code-mandatory", KIND, MANDATORY),
    ),
    Rows("errors-", "contact-", CONTACTS)("first-missing-only", "all-missing-named", do.report(lambda errors:
        [e for at, e in enumerate(errors) if at == 0 or e["code"] != MANDATORY]),
        "The refusal of faulty content names the first of several missing fields alone"),
    Rows("errors-", "")("on-success", ("errors-absent-on-success", "contact-create-accepted",
        "contact-update-accepted", "workflow-create-accepted", "workflow-create-with-identifier-accepted",
        "workflow-update-accepted"), do.edit(lambda body: {**body, "errors": [{"code": VALUE, "property": "header"}]}),
        "The answer to an accepted record carries an errors array with one element", at=(*CONTACTS, *SUBMISSIONS)),
    Rows("errors-", "errors-")("in-two-rounds", "several-faults", do.judge(lambda c, errors:
        [e for e in errors if e["code"] == MANDATORY and c.get(e["property"]) is None] or errors),
        "As long as a field is missing, only missing fields are reported", at=CONTACTS),
)
# fmt: on
