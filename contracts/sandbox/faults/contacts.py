"""Faults of contacts and of the errors array: good records refused, faulty ones taken, errors told wrongly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from contracts.interface.catalogue import load_catalogue
from contracts.interface.description import CONTACT_VALUES_NOT_SHOWN
from contracts.sandbox.faults import effects as do
from contracts.sandbox.faults.effects import (
    ANY_OF,
    KIND,
    LOCALE,
    MANDATORY,
    PROPERTY,
    TERM,
    VALUE,
    Errors,
    Record,
)
from contracts.sandbox.faults.fault import Fault, row
from contracts.sandbox.faults.messages import (
    CONTACTS,
    MISSING,
    SUBMISSIONS,
    Answer,
    Below,
    Inject,
    Memory,
    Request,
    answer_json,
    kebab,
)
from contracts.sandbox.faults.samples import CONTACT_FIELDS_SAMPLES, MANDATORY_FIELDS
from contracts.sandbox.validation import REALMS

CREATE, UPDATE = CONTACTS
_LOCALISED: Final = tuple(name for name, sample in CONTACT_FIELDS_SAMPLES.items() if sample == {"en": "text"})
_WORDS: Final = {CREATE: "create", UPDATE: "update"}
_KNOWN: Final = {name for realm in REALMS for name in realm.types}
#: What a refusal of a good record breaks.
_REFUSED: Final = {
    operation: (f"contact-{word}-accepted", f"contact-{word}-full") for operation, word in _WORDS.items()
}


def clause_of(operation: str, fault: str) -> str:
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


def _has(*fields: str) -> Callable[[str, Any], bool]:
    return lambda name, value: name in fields and value is not None


def _several(*fields: str) -> Callable[[str, Any], bool]:
    return lambda name, value: name in fields and isinstance(value, dict | list) and len(value) > 1


def _beyond_latin(name: str, value: Any) -> bool:
    return name in ("firstName", "lastName") and isinstance(value, str) and max(value, default="") > "\u024f"


async def _refused_identifier_taken(request: Request, below: Below, memory: Memory) -> Answer | None:
    header = request.member.get("header")
    identifier = header.get("identifier") if isinstance(header, dict) else None
    if isinstance(identifier, str) and identifier in memory.kept:
        return answer_json(409, {"message": "a record of this identifier exists in the realm"})
    got = await below(request)
    if isinstance(identifier, str) and isinstance(got.json, dict) and got.json.get("errors"):
        memory.kept[identifier] = True
    return got


def begins(first: bytes) -> Callable[[Request], bool]:
    """Requests whose body begins with a character; an empty one only with none."""
    return lambda request: request.body.strip()[:1] == first


def _error(code: str, field: str, test: Callable[[Any], bool] = lambda _: True) -> Inject:
    """Overlook an error of a field whose value passes a test."""
    wrong = {"code": code, "property": field}
    return do.overlook(lambda record, error: error == wrong and field in record and test(record[field]))


def _coded(code: str, *, header: bool = False) -> Inject:
    """Overlook the errors of one code, in the header or elsewhere."""
    return do.overlook(
        lambda _, error: bool(error["code"] == code and (error["property"] == "header") is header)
    )


def _demands(field: str) -> Inject:
    return do.demand(MANDATORY, field, lambda record: field in record)


def _null(field: str) -> Inject:
    return do.overlook(lambda record, error: error["property"] == field and record.get(field, "") is None)


def _not_missed(field: str) -> Inject:
    """Miss no mandatory field where it is the only one that is missing."""
    return do.judge(lambda _, errors: [] if errors == [_missing(field)] else errors)


def _fits(item: Any, sample: Any) -> bool:
    """Whether an item of an array is of the kind of a sample, and so are its members."""
    members = sample.items() if isinstance(sample, dict) else ()
    return type(item) is type(sample) and all(isinstance(item.get(k, v), str) for k, v in members)


def _schema(test: Callable[[str], bool]) -> Inject:
    """A contact is taken as one where the schema in the query passes a test."""

    def changed(request: Request) -> Request:
        named = dict(request.query).get("schema", "")
        return request.with_query("schema", schema="contact") if test(named) else request

    return do.send(changed)


def _missing(field: str) -> dict[str, str]:
    return {"code": MANDATORY, "property": field}


def _told_as(field: str, code: str, name: str) -> Inject:
    """Tell the absence of a field, where nothing else is wrong, in another way."""
    return do.report(
        lambda errors: [{"code": code, "property": name}] if errors == [_missing(field)] else errors
    )


def _recoded(code: str, instead: str) -> Callable[[Errors], Errors]:
    return lambda errors: [{**e, "code": instead} if e["code"] == code else e for e in errors]


def _with(added: Any) -> Callable[[Errors], Any]:
    return lambda errors: [*errors, added]


def _missing_first(record: Record, errors: Errors) -> Errors:
    return [e for e in errors if e["code"] == MANDATORY and record.get(e["property"]) is None] or errors


# fmt: off
def _good_records_refused() -> Iterator[Fault]:
    for operation, field, clause in (
        (CREATE, "prefix", "contact-create-accepted"), (UPDATE, "phones", "contact-update-accepted"),
    ):
        yield row(f"contact-{_WORDS[operation]}-needs-{field}", clause, operation,
            _demands(field),
            f"{operation} refuses a contact without the optional field {field}.")
    yield row("contact-create-refused", "contact-create-accepted", CREATE,
        do.judge(lambda _, errors: errors or [_missing("type")]),
        "No contact can be created: each is refused for its type.", "in-chm-dev")
    yield row("contact-update-not-found", "contact-update-accepted", UPDATE, do.refuse(404),
        "No contact is found for an update.")
    yield row("contact-update-with-city-needs-state", "contact-optional-not-demanded", UPDATE,
        do.demand(MANDATORY, "state", unless=lambda record: "state" in record or "city" not in record),
        "An update that holds the optional field city is refused without the optional field state.")
    yield row("contact-update-of-websites-needs-phones", "contact-any-fields", UPDATE,
        do.demand(VALUE, "websites", unless=lambda record: "websites" not in record or "phones" in record),
        "An update that holds the optional field websites without phones is refused for its websites.")
    for operation, field in ((CREATE, "middleName"), (UPDATE, "header"), (UPDATE, "government")):
        yield row(f"contact-{_WORDS[operation]}-without-{field.lower()}", _REFUSED[operation][1], operation,
            _invalid(PROPERTY, _has(field)), f"{operation} refuses a contact that holds the optional field {field}.")
    for name, clause, code, test, says in (
        ("names-in-latin", "contact-names-in-scripts", VALUE, _beyond_latin,
            "First and last names are refused in scripts other than Latin."),
        ("one-language", "contact-several-languages", KIND, _several(*_LOCALISED),
            "A localised field is refused when it carries more than one language."),
    ):
        yield row(f"contact-{name}", clause, CONTACTS, _invalid(code, test), says)
    for operation in CONTACTS:
        for field, sample in CONTACT_FIELDS_SAMPLES.items():
            if isinstance(sample, list):
                yield row(f"contact-{_WORDS[operation]}-one-item-of-{kebab(field)}", "contact-several-items", operation,
                    _invalid(KIND, _several(field)), f"{operation} refuses a contact with several items in {field}.")
            # Nothing reads a contact record, so an organization that is refused may be one that is gone.
            if field not in (*CONTACT_VALUES_NOT_SHOWN, "contactOrganization"):
                breaks = _REFUSED[operation][0 if field in MANDATORY_FIELDS else 1:]
                yield row(f"contact-{_WORDS[operation]}-{kebab(field)}-refused", breaks, operation,
                    _invalid(VALUE, _has(field)), f"{operation} refuses a contact that holds the field {field}.")


def _kinds() -> Iterator[Fault]:
    """Constraints of each field that are not looked at."""
    for operation in CONTACTS:
        for name, sample in CONTACT_FIELDS_SAMPLES.items():
            yield from _kinds_of(operation, name, sample)


def _kinds_of(operation: str, name: str, sample: Any) -> Iterator[Fault]:
    prefix, clause = f"contact-{_WORDS[operation]}", clause_of(operation, f"body.{name}:wrong-kind")
    right, short = type(sample), kebab(name)
    yield row(f"{prefix}-{short}-of-any-kind", clause, operation,
        _error(KIND, name, lambda value: not isinstance(value, right)),
        f"{operation} takes a value of any other kind for {name}.")
    if isinstance(sample, list | dict):
        yield row(f"{prefix}-{short}-inside-of-any-kind", clause, operation,
            _error(KIND, name, lambda value: isinstance(value, right)),
            f"{operation} does not look at what stands inside {name}.")
    if isinstance(sample, list):
        yield row(f"{prefix}-{short}-first-item-alone-checked", clause, operation,
            _error(KIND, name, lambda value: isinstance(value, list) and _fits(value[0], sample[0])),
            f"{operation} looks at the first item of {name} alone.")
    if name in MANDATORY_FIELDS:
        yield row(f"{prefix}-without-{short}", clause_of(operation, f"body.{name}:missing"), operation,
            _not_missed(name), f"{operation} takes a contact without {name}.")
    if name in _LOCALISED:
        yield row(f"{prefix}-{short}-of-any-language-key", "contact-language-key-invalid", operation,
            _error(LOCALE, name), f"{operation} takes any text for a language of {name}.")


#: Members that a field has to carry, or its items.
_LACKING: Final = (
    ("country-without-identifier", "contact-country-without-identifier", "country"),
    ("reference-without-identifier", "contact-organization-without-identifier", "contactOrganization"),
    ("gender-without-identifier", "contact-optional-term-without-identifier", "gender"),
    ("organization-type-without-identifier", "contact-optional-term-without-identifier", "organizationType"),
    ("website-without-url", "contact-link-without-url", "websites"),
    ("document-without-url", "contact-link-without-url", "relevantDocuments"),
)


def _faulty_records_taken() -> Iterator[Fault]:
    for name, clause, field in _LACKING:
        yield row(f"contact-{name}", clause, CONTACTS, _error(MANDATORY, field, bool),
            f"A contact is taken whose {field} lacks the member that it has to carry.")
    for field in ("firstName", "country"):
        yield row(f"contact-null-{field.lower()}", "contact-mandatory-null", CONTACTS,
            _null(field), f"A contact is taken whose {field} is null.")
    for operation, word in _WORDS.items():
        for name, clause, effect, says in (
            ("any-language-key", "contact-language-key-invalid", _coded(LOCALE), "localised fields keyed by any text"),
            ("empty-record", "contact-empty-record", do.judge(lambda record, errors: errors if record else []),
                "an empty object for a contact"),
            ("unvalidated", "errors-array", do.judge(lambda _record, _errors: []),
                "a contact whatever is wrong with it"),
        ):
            yield row(f"contact-{word}-{name}", clause, operation, effect, f"{operation} takes {says}.")
        for kind, first in (("array", b"["), ("string", b'"'), ("null", b"n"), ("absent-body", b"")):
            yield row(f"contact-{word}-{kind}", "contact-body-kind", operation, do.forgive(begins(first), status=201),
                f"{operation} answers success to a contact whose body is {kind.replace('-', ' ')}.")
    for name, clause, effect, says in (
        ("any-country", "contact-country-unexpected", _coded(TERM), "whose country is no known term"),
        ("any-property", "contact-unknown-property", _coded(PROPERTY), "with fields that the table does not have"),
        ("any-language-in-header", "contact-header-language-invalid", _coded(LOCALE, header=True),
            "with any texts for the languages of its header"),
        ("schema-not-needed", "contact-schema-missing", _schema(lambda schema: not schema), "without a schema"),
        ("schema-of-any-name", "contact-schema-unknown", _schema(lambda schema: schema not in ("", *_KNOWN)),
            "under a schema that no realm has configured"),
        ("schema-of-other-records", "contact-schema-validates", _schema(lambda schema: schema in _KNOWN),
            "under whatever configured schema"),
    ):
        yield row(f"contact-{name}", clause, CONTACTS, effect, f"A contact is taken {says}.")
    yield row("contact-refused-identifier-taken", "contact-refused-frees-identifier", CREATE,
        _refused_identifier_taken,
        "The identifier in the header of a contact that was refused for its content stays taken.")


#: How the absence of one field is told: the field, the code and the property.
_TOLD: Final = (
    ("reported-as-invalid-value", "firstName", VALUE, "firstName"),
    ("reported-under-its-title", "lastName", MANDATORY, "Last Name"),
    ("reported-as-any-of", "organization", ANY_OF, "organization"),
    ("reported-under-another-field", "country", MANDATORY, "government"),
    ("reported-in-lower-case", "emails", "error.mandatory", "emails"),
    ("reported-without-prefix", "type", "Mandatory", "type"),
    ("reported-in-lower-case", "contactOrganization", MANDATORY, "contactorganization"),
)
_WRONG: Final = {"code": VALUE, "property": "document"}
#: Errors arrays of another form: name, clause, what becomes of the array, and in words.
_ARRAYS: Final[tuple[tuple[str, str, Callable[[Errors], Any], str], ...]] = (
    ("missing", "errors-array", lambda _: MISSING, "has no errors array"),
    ("empty", "errors-array", lambda _: [], "has an empty errors array"),
    ("as-object", "errors-array", lambda errors: {e["property"]: e["code"] for e in errors}, "has an object of them"),
    ("as-text", "errors-array", lambda errors: ", ".join(e["property"] for e in errors), "has a text for errors"),
    *(
        (name, clause, _with(added), f"has one more error, {added!r}")
        for name, clause, added in (
            ("element-without-code", "errors-element-shape", {"property": "document"}),
            ("element-without-property", "errors-element-shape", {"code": VALUE}),
            ("element-text", "errors-element-shape", "Error.InvalidValue: document"),
            ("code-number", "errors-element-shape", {**_WRONG, "code": 3}),
            ("property-null", "errors-element-shape", {**_WRONG, "property": None}),
            ("property-array", "errors-element-shape", {**_WRONG, "property": ["header"]}),
            ("code-unknown", "errors-code-known", {**_WRONG, "code": "Error.Document"}),
            ("code-in-lower-case", "errors-code-known", {**_WRONG, "code": "error.invalidvalue"}),
            ("code-without-prefix", "errors-code-known", {**_WRONG, "code": "InvalidValue"}),
            ("code-empty", "errors-code-known", {**_WRONG, "code": ""}),
        )
    ),
)
#: Codes and properties of contacts that are told wrongly.
_CODES: Final[tuple[tuple[str, str, Callable[[Errors], Any], str], ...]] = (
    *(
        (name, clause, _recoded(code, instead), f"has {instead} where {code} is right")
        for name, clause, code, instead in (
            ("kind-as-value", "errors-code-invalid-type", KIND, VALUE),
            ("property-as-value", "errors-code-invalid-property", PROPERTY, VALUE),
            ("locale-as-property", "errors-code-unspecified-locale", LOCALE, PROPERTY),
            ("term-as-value", "errors-code-unexpected-term", TERM, VALUE),
            ("kind-as-mandatory", "errors-code-mandatory", KIND, MANDATORY),
            ("locale-as-mandatory", "errors-code-mandatory", LOCALE, MANDATORY),
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
    for operation, word in _WORDS.items():
        for name, field, code, told in _TOLD:
            yield row(f"contact-{word}-{kebab(field)}-{name}", clause_of(operation, f"body.{field}:missing"), operation,
                _told_as(field, code, told), f"{operation} tells a missing {field} with {code} for {told}.")
    for operation in (*CONTACTS, *SUBMISSIONS):
        for name, clause, change, says in _ARRAYS:
            yield row(f"errors-{name}-of-{kebab(operation)}", clause, operation, do.report(change),
                f"The refusal of faulty content {says}, by {operation}.")
    for name, clause, change, says in _CODES:
        yield row(f"errors-{name}", clause, CONTACTS, do.report(change), f"The refusal of faulty content {says}.")
    yield row("errors-on-success", _TOLD_BY_ABSENCE, (*CONTACTS, *SUBMISSIONS),
        do.edit(lambda body: {**body, "errors": [{"code": VALUE, "property": "header"}]}),
        "The answer to an accepted record carries an errors array with one element.")
    yield row("errors-in-two-rounds", "errors-several-faults", CONTACTS, do.judge(_missing_first),
        "As long as a field is missing, only missing fields are reported.")
# fmt: on


def contact_faults() -> Iterator[Fault]:
    """Contacts and the errors array."""
    for make in (_good_records_refused, _kinds, _faulty_records_taken, _errors_told_wrongly):
        yield from make()
