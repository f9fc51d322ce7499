"""Faults of contacts and of the errors array: valid records refused, faulty ones accepted, wrong errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from registry_contracts.interface.description import CONTACT_VALUES_NOT_SHOWN
from registry_contracts.sandbox.faults import effects as do
from registry_contracts.sandbox.faults.effects import (
    KIND,
    LOCALE,
    MANDATORY,
    PROPERTY,
    TERM,
    VALUE,
    Errors,
)
from registry_contracts.sandbox.faults.fault import Rows, Table, each
from registry_contracts.sandbox.faults.messages import Inject, Request
from registry_contracts.sandbox.faults.places import CONTACTS, KNOWN_SCHEMA, SUBMISSIONS, kebab

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


def _missing(field: str) -> Callable[..., Errors]:
    """Overlook a missing field if it is the only error."""
    return lambda *found: [] if found[-1] == [{"code": MANDATORY, "property": field}] else found[-1]


# fmt: off
_CONTACT = Rows("contact-", "contact-", CONTACTS)
_TAKEN = Rows("contact-", "contact-", CONTACTS, "A contact is accepted {}.")
_CREATED, _UPDATED = Rows("contact-", "contact-", CREATE), Rows("contact-", "contact-", UPDATE)
_TEXT: Final = {"en": "text"}
_REFUSAL = Rows("errors-", "errors-", CONTACTS, "The refusal of faulty content {}.")
_AS_CONTACT: Final = do.send(lambda r: r.with_options(schema="contact"))


def _of(operation: str, word: str) -> Table:
    """Faults of creating contacts, or of updating them."""
    of = Rows(f"contact-{word}-", "", operation, f"{operation} {{}}.")
    return (
        *(row for field, sample in do.SAMPLES.items() for row in _of_field(of, word, field, sample)),
        of("empty-record", "contact-empty-record", do.judge(lambda c, errors: errors if c else []),
            "accepts an empty object as a contact"),
        of("array", "contact-body-kind", do.forgive(status=201), "answers success to a contact whose body is an array",
            r"body~^\s*\["),
    )


def _of_field(of: Rows, word: str, field: str, sample: Any) -> Table:
    """Faults of one field: it is refused, or a rule about it is not checked."""
    short, kind, needed = kebab(field), f"contact-kind-{kebab(field)}", field in do.NEEDED
    rows = (
        # No operation reads a contact, so a refused organization may be one that does not exist any more.
        (field not in (*CONTACT_VALUES_NOT_SHOWN, "contactOrganization"), f"{short}-refused",
            (f"contact-{word}-accepted", f"contact-{word}-full")[not needed :],
            _invalid(VALUE, lambda name, value: name == field and value is not None),
            f"refuses a contact that holds the field {field}"),
        (True, f"{short}-of-any-kind", kind, do.take(KIND, field, lambda value: not isinstance(value, type(sample))),
            f"accepts any other kind of value for {field}"),
        (needed, f"without-{short}", f"contact-mandatory-{short}", do.judge(_missing(field)),
            f"accepts a contact without {field}, if no other field is missing"),
        (sample == _TEXT, f"{short}-of-any-language-key", "contact-language-key-invalid", do.take(LOCALE, field),
            f"accepts any text as a language of {field}"),
    )
    return tuple(of(name, clauses, effect, says) for applies, name, clauses, effect, says in rows if applies)


ROWS: Final = (
    *_of(CREATE, "create"),
    *_of(UPDATE, "update"),
    # Good records that are refused.
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
        _invalid(KIND, _several(*(field for field, sample in do.SAMPLES.items() if sample == _TEXT))),
        "A localised field is refused when it carries more than one language"),
    # Faulty records that are taken.
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
        do.overlook(lambda _, error: error["code"] == PROPERTY and error["property"] not in do.SAMPLES),
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
    _REFUSAL("property-is-document", "property-names-field", do.report(lambda errors:
        [e if e["code"] == MANDATORY else {**e, "property": "document"} for e in errors]),
        "names the property document for all errors but missing fields"),
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
