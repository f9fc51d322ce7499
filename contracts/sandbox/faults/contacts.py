"""Faults of contacts and of the errors array: good records refused, faulty ones taken, errors told wrongly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, Final

from contracts.interface.catalogue import load_catalogue
from contracts.interface.description import CONTACT_VALUES_NOT_SHOWN
from contracts.sandbox.faults import effects as do
from contracts.sandbox.faults.effects import ANY_OF, KIND, LOCALE, MANDATORY, PROPERTY, TERM, VALUE, Errors
from contracts.sandbox.faults.fault import Fault, row
from contracts.sandbox.faults.messages import (
    CONTACTS,
    MISSING,
    SUBMISSIONS,
    Answer,
    Inject,
    Request,
    kebab,
)
from contracts.sandbox.faults.samples import CONTACT_FIELDS_SAMPLES, MANDATORY_FIELDS
from contracts.sandbox.validation import REALMS

CREATE, UPDATE = CONTACTS
_LOCALISED: Final = tuple(name for name, sample in CONTACT_FIELDS_SAMPLES.items() if sample == {"en": "text"})
_WORDS: Final = {CREATE: "create", UPDATE: "update"}
#: Requests with a schema that some realm has configured.
_KNOWN: Final = f"schema~^({'|'.join({name for realm in REALMS for name in realm.types})})$"


def _clause_of(operation: str, fault: str) -> str:
    """The clause that the catalogue gives to a fault of a body, such as `body.emails:missing`.

    Raises:
        KeyError: there is none.
    """
    clause = load_catalogue().for_fault(operation, fault)
    if clause is None:
        raise KeyError(fault)
    return clause.id


def _invalid(code: str, test: Callable[[str, Any], bool]) -> Inject:
    """Find an error in each field that passes a test."""
    return do.judge(
        lambda record, errors: [
            *errors,
            *({"code": code, "property": name} for name, value in record.items() if test(name, value)),
        ]
    )


def _has(field: str) -> Callable[[str, Any], bool]:
    return lambda name, value: name == field and value is not None


def _several(*fields: str) -> Callable[[str, Any], bool]:
    return lambda name, value: name in fields and isinstance(value, dict | list) and len(value) > 1


def _beyond_latin(name: str, value: Any) -> bool:
    return name in ("firstName", "lastName") and isinstance(value, str) and max(value, default="") > "\u024f"


async def _refused_identifier_taken(request: Request) -> Answer | None:
    header, kept = request.member.get("header"), request.memory.kept
    identifier = header.get("identifier") if isinstance(header, dict) else None
    if not isinstance(identifier, str):
        return None
    got = do.REFUSED if identifier in kept else await request.ask()
    kept.update({identifier: True} if got.errors else {})
    return got


def _error(code: str, field: str, test: Callable[[Any], bool] = lambda _: True) -> Inject:
    """Overlook an error of a field whose value passes a test."""
    wrong = {"code": code, "property": field}
    return do.overlook(lambda record, error: error == wrong and field in record and test(record[field]))


def _coded(code: str, *, header: bool = False) -> Inject:
    """Overlook the errors of one code, in the header or elsewhere."""
    return do.overlook(lambda _, error: error["code"] == code and (error["property"] == "header") is header)


def _is(kind: type, yes: bool) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kind) is yes


def _first_fits(sample: Any) -> Callable[[Any], bool]:
    """Test arrays whose first item is of the kind of a sample's."""
    return lambda value: isinstance(value, list) and type(value[0]) is type(sample[0])


def _replaced(only: Errors, becomes: Errors) -> Callable[..., Errors]:
    """Find other errors where these are the only ones."""
    return lambda *found: becomes if found[-1] == only else found[-1]


def _missing(field: str) -> dict[str, str]:
    return {"code": MANDATORY, "property": field}


def _more(added: Any) -> Callable[[Errors], Any]:
    return lambda errors: [*errors, added]


def _recoded(code: str, instead: str) -> Callable[[Errors], Errors]:
    return lambda errors: [{**e, "code": instead} if e["code"] == code else e for e in errors]


# fmt: off
#: Good records that are refused: the name, the clause, the operations, the effect, and in words.
_REFUSED: Final[tuple[tuple[str, str, str | tuple[str, ...], Inject, str], ...]] = (
    ("create-needs-prefix", "create-accepted", CREATE, do.demand(MANDATORY, "prefix", lambda c: "prefix" in c),
        "createContact refuses a contact without the optional field prefix"),
    ("update-needs-phones", "update-accepted", UPDATE, do.demand(MANDATORY, "phones", lambda c: "phones" in c),
        "updateContact refuses a contact without the optional field phones"),
    ("update-with-city-needs-state", "optional-not-demanded", UPDATE,
        do.demand(MANDATORY, "state", lambda c: "state" in c or "city" not in c),
        "An update that holds the optional field city is refused without the optional field state"),
    ("update-of-websites-needs-phones", "any-fields", UPDATE,
        do.demand(VALUE, "websites", lambda c: "websites" not in c or "phones" in c),
        "An update that holds the optional field websites without phones is refused for its websites"),
    ("update-without-government", "update-full", UPDATE, _invalid(PROPERTY, _has("government")),
        "updateContact refuses a contact that holds the optional field government"),
    ("names-in-latin", "names-in-scripts", CONTACTS, _invalid(VALUE, _beyond_latin),
        "First and last names are refused in scripts other than Latin"),
    ("one-language", "several-languages", CONTACTS, _invalid(KIND, _several(*_LOCALISED)),
        "A localised field is refused when it carries more than one language"),
)


def _good_records_refused() -> Iterator[Fault]:
    for name, clause, operations, effect, says in _REFUSED:
        yield row(f"contact-{name}", f"contact-{clause}", operations, effect, f"{says}.")
    for operation, word in _WORDS.items():
        broken = (f"contact-{word}-accepted", f"contact-{word}-full")
        for field, sample in CONTACT_FIELDS_SAMPLES.items():
            if isinstance(sample, list):
                yield row(f"contact-{word}-one-item-of-{kebab(field)}", "contact-several-items", operation,
                    _invalid(KIND, _several(field)), f"{operation} refuses a contact with several items in {field}.")
            # Nothing reads a contact record, so an organization that is refused may be one that is gone.
            if field not in (*CONTACT_VALUES_NOT_SHOWN, "contactOrganization"):
                yield row(f"contact-{word}-{kebab(field)}-refused", broken[field not in MANDATORY_FIELDS :], operation,
                    _invalid(VALUE, _has(field)), f"{operation} refuses a contact that holds the field {field}.")


def _kinds() -> Iterator[Fault]:
    """Constraints of each field that are not looked at."""
    for (operation, word), (name, sample) in product(_WORDS.items(), CONTACT_FIELDS_SAMPLES.items()):
        kind, short, clause = type(sample), kebab(name), _clause_of(operation, f"body.{name}:wrong-kind")
        mandatory = _clause_of(operation, f"body.{name}:missing") if name in MANDATORY_FIELDS else ""
        for end, broken, effect, says in (
            (f"{short}-of-any-kind", clause, _error(KIND, name, _is(kind, False)),
                f"takes a value of any other kind for {name}"),
            (f"{short}-inside-of-any-kind", "" if kind is str else clause, _error(KIND, name, _is(kind, True)),
                f"does not look inside {name}"),
            (f"{short}-first-item-alone-checked", clause if kind is list else "",
                _error(KIND, name, _first_fits(sample)), f"looks at the first item of {name} alone"),
            (f"without-{short}", mandatory, do.judge(_replaced([_missing(name)], [])),
                f"takes a contact without {name}, when no other field is missing"),
            (f"{short}-of-any-language-key", "contact-language-key-invalid" if name in _LOCALISED else "",
                _error(LOCALE, name), f"takes any text for a language of {name}"),
        ):
            if broken:
                yield row(f"contact-{word}-{end}", broken, operation, effect, f"{operation} {says}.")


#: Members that a field has to carry, or its items.
_LACKING: Final = (
    ("country-without-identifier", "country-without-identifier", "country"),
    ("reference-without-identifier", "organization-without-identifier", "contactOrganization"),
    ("gender-without-identifier", "optional-term-without-identifier", "gender"),
    ("website-without-url", "link-without-url", "websites"),
)
_AS_CONTACT: Final = do.send(lambda r: r.with_query("schema", schema="contact"))


def _faulty_records_taken() -> Iterator[Fault]:
    for name, clause, field in _LACKING:
        yield row(f"contact-{name}", f"contact-{clause}", CONTACTS, _error(MANDATORY, field, bool),
            f"A contact is taken whose {field} lacks the member that it has to carry.")
    yield row("contact-null-firstname", "contact-mandatory-null", CONTACTS, do.overlook(lambda contact, error:
        error["property"] == "firstName" and contact.get("firstName", "") is None),
        "A contact is taken whose firstName is null.")
    for operation, word in _WORDS.items():
        for name, clause, effect, says in (
            ("empty-record", "contact-empty-record", do.judge(lambda c, errors: errors if c else []),
                "an empty object for a contact"),
            ("unvalidated", "errors-array", do.overlook(lambda *_: True), "a contact whatever is wrong with it"),
        ):
            yield row(f"contact-{word}-{name}", clause, operation, effect, f"{operation} takes {says}.")
        for kind, begins in (("array", r"\["), ("string", '"'), ("null", "n"), ("absent-body", r"\Z")):
            yield row(f"contact-{word}-{kind}", "contact-body-kind", operation, do.forgive(status=201),
                f"{operation} answers success to a contact whose body is {kind.replace('-', ' ')}.",
                where=rf"body~^\s*{begins}")
    for name, clause, effect, where, says in (
        ("any-country", "country-unexpected", _coded(TERM), None, "whose country is no known term"),
        ("any-property", "unknown-property", _coded(PROPERTY), None, "with fields that the table does not have"),
        ("any-language-in-header", "header-language-invalid", _coded(LOCALE, header=True), None,
            "with any texts for the languages of its header"),
        ("schema-not-needed", "schema-missing", _AS_CONTACT, "-schema~.", "without a schema"),
        ("schema-of-any-name", "schema-unknown", _AS_CONTACT, f"schema~. -{_KNOWN}",
            "under a schema that no realm has configured"),
        ("schema-of-other-records", "schema-validates", _AS_CONTACT, _KNOWN,
            "under whatever configured schema"),
    ):
        yield row(f"contact-{name}", f"contact-{clause}", CONTACTS, effect, f"A contact is taken {says}.", where=where)
    yield row("contact-refused-identifier-taken", "contact-refused-frees-identifier", CREATE, _refused_identifier_taken,
        "The identifier in the header of a contact that was refused for its content stays taken.")


#: How the absence of one field is told: the field, the code and the property.
_TOLD: Final = (
    ("reported-as-invalid-value", "firstName", VALUE, "firstName"),
    ("reported-under-its-title", "lastName", MANDATORY, "Last Name"),
    ("reported-as-any-of", "organization", ANY_OF, "organization"),
    ("reported-under-another-field", "country", MANDATORY, "government"),
    ("reported-in-lower-case", "contactOrganization", MANDATORY, "contactorganization"),
)
_WRONG: Final = {"code": VALUE, "property": "document"}
#: Errors arrays of another form: name, clause, what becomes of the array, and in words.
_ARRAYS: Final[tuple[tuple[str, str, Callable[[Errors], Any], str], ...]] = (
    ("missing", "errors-array", lambda _: MISSING, "has no errors array"),
    ("empty", "errors-array", lambda _: [], "has an empty errors array"),
    ("as-object", "errors-array", lambda errors: {e["property"]: e["code"] for e in errors}, "has an object of them"),
    *(
        (name, f"errors-{clause}", _more(added), f"has one more error, {added!r}")
        for name, clause, added in (
            ("element-without-code", "element-shape", {"property": "document"}),
            ("element-without-property", "element-shape", {"code": VALUE}),
            ("element-text", "element-shape", "Error.InvalidValue: document"),
            ("code-number", "element-shape", {**_WRONG, "code": 3}),
            ("code-unknown", "code-known", {**_WRONG, "code": "Error.Document"}),
            ("code-in-lower-case", "code-known", {**_WRONG, "code": "error.invalidvalue"}),
        )
    ),
)
#: Codes and properties of contacts that are told wrongly: the name, the clause, and what becomes of the array.
_CODES: Final[tuple[tuple[str, str, Callable[[Errors], Any], str], ...]] = (
    *(
        (name, f"errors-{clause}", _recoded(code, instead), f"has {instead} where {code} is right")
        for name, clause, code, instead in (
            ("kind-as-value", "code-invalid-type", KIND, VALUE),
            ("property-as-value", "code-invalid-property", PROPERTY, VALUE),
            ("locale-as-property", "code-unspecified-locale", LOCALE, PROPERTY),
            ("term-as-value", "code-unexpected-term", TERM, VALUE),
            ("kind-as-mandatory", "code-mandatory", KIND, MANDATORY),
        )
    ),
    ("property-is-document", "errors-property-names-field",
        lambda errors: [e if e["code"] == MANDATORY else {**e, "property": "document"} for e in errors],
        "names the property document for all but missing fields"),
    ("first-missing-only", "contact-all-missing-named",
        lambda errors: [e for at, e in enumerate(errors) if at == 0 or e["code"] != MANDATORY],
        "names the first of several missing fields alone"),
)
#: What the absence of errors tells.
_TOLD_BY_ABSENCE: Final = (
    *("errors-absent-on-success", "contact-create-accepted", "contact-update-accepted"),
    *("workflow-create-accepted", "workflow-create-with-identifier-accepted", "workflow-update-accepted"),
)


def _errors_told_wrongly() -> Iterator[Fault]:
    for (operation, word), (name, field, code, told) in product(_WORDS.items(), _TOLD):
        yield row(f"contact-{word}-{kebab(field)}-{name}", _clause_of(operation, f"body.{field}:missing"), operation,
            do.report(_replaced([_missing(field)], [{"code": code, "property": told}])),
            f"{operation} tells a missing {field} with {code} for {told}.")
    for operation, (name, clause, change, says) in product((*CONTACTS, *SUBMISSIONS), _ARRAYS):
        yield row(f"errors-{name}-of-{kebab(operation)}", clause, operation, do.report(change),
            f"The refusal of faulty content {says}, by {operation}.")
    for name, clause, change, says in _CODES:
        yield row(f"errors-{name}", clause, CONTACTS, do.report(change), f"The refusal of faulty content {says}.")
    yield row("errors-on-success", _TOLD_BY_ABSENCE, (*CONTACTS, *SUBMISSIONS),
        do.edit(lambda body: {**body, "errors": [{"code": VALUE, "property": "header"}]}),
        "The answer to an accepted record carries an errors array with one element.")
    yield row("errors-in-two-rounds", "errors-several-faults", CONTACTS,
        do.judge(lambda c, errors: [e for e in errors if e["code"] == MANDATORY and c.get(e["property"]) is None]
            or errors), "As long as a field is missing, only missing fields are reported.")
# fmt: on


def contact_faults() -> Iterator[Fault]:
    """Contacts and the errors array."""
    for make in (_good_records_refused, _kinds, _faulty_records_taken, _errors_told_wrongly):
        yield from make()
