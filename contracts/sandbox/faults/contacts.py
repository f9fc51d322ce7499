"""Faults of contacts and of the errors array: good records refused, faulty ones taken, errors told wrongly."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from contracts.interface.catalogue import load_catalogue
from contracts.interface.description import CONTACT_VALUES_NOT_SHOWN
from contracts.sandbox.faults.effects import (
    Errors,
    answer,
    demand,
    edit,
    forgive,
    judge,
    overlook,
    refuse,
    report,
    send,
)
from contracts.sandbox.faults.fault import (
    ACCEPTANCE,
    CONTACTS,
    MISSING,
    SINGLE,
    SUBMISSIONS,
    Answer,
    Below,
    Family,
    Fault,
    Inject,
    Memory,
    Request,
    answer_json,
    kebab,
    row,
)
from contracts.sandbox.faults.samples import CONTACT_FIELDS_SAMPLES, MANDATORY_FIELDS
from contracts.sandbox.validation import REALMS

CREATE, UPDATE = CONTACTS
_VALIDATION: Final = Family("validation")
Record = dict[str, Any]
MANDATORY, ANY_OF, VALUE, PROPERTY, LOCALE, TERM, KIND = (
    f"Error.{name}"
    for name in (
        *("Mandatory", "MandatoryAnyOf", "InvalidValue", "InvalidProperty"),
        *("UnspecifiedLocale", "UnexpectedTerm", "InvalidType"),
    )
)
_SAMPLES: Final = CONTACT_FIELDS_SAMPLES
_LOCALISED: Final = tuple(name for name, sample in _SAMPLES.items() if sample == {"en": "text"})
_NAMES: Final = ("firstName", "lastName")


def clause_of(operation: str, fault: str) -> str:
    """The clause that speaks of a generated fault."""
    clause = load_catalogue().for_fault(operation, fault)
    assert clause is not None, fault  # noqa: S101 - the catalogue and the description go together
    return clause.id


#: What an operation on contacts is called in other names of its faults.
WORDS: Final[Mapping[str, str]] = MappingProxyType({"createContact": "create", "updateContact": "update"})


#: What a refusal of a field breaks beside the clause of a record that holds all of them.
_FULL: Final[Mapping[str, str]] = MappingProxyType(
    {"createContact": "contact-create-full", "updateContact": "contact-update-full"}
)


#: Values of another kind, by the kind that they are.
_KINDS: Final[Mapping[str, Callable[[Any], bool]]] = MappingProxyType(
    {
        "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
        "boolean": lambda value: isinstance(value, bool),
        "text": lambda value: isinstance(value, str),
        "array": lambda value: isinstance(value, list),
        "object": lambda value: isinstance(value, dict),
    }
)


def _invalid(code: str, test: Callable[[str, Any], bool]) -> Inject:
    """Find an error in each field that passes a test."""
    return judge(
        lambda record, errors: [
            *errors,
            *({"code": code, "property": name} for name, value in record.items() if test(name, value)),
        ]
    )


def _has(*fields: str) -> Callable[[str, Any], bool]:
    return lambda name, value: name in fields and value is not None


def _several(*fields: str) -> Callable[[str, Any], bool]:
    return lambda name, value: name in fields and isinstance(value, dict | list) and len(value) > 1


def _languages_but_english(name: str, value: Any) -> bool:
    several = name in _LOCALISED and isinstance(value, dict) and bool(value)
    return several and "en" not in value and all(len(key) == len("en") for key in value)


def _beyond_latin(name: str, value: Any) -> bool:
    return name in _NAMES and isinstance(value, str) and max(value, default="") > "\u024f"


def _beyond_twenty(record: Record, errors: Errors) -> Errors:
    more = [name for name in record if name in _SAMPLES][20:]
    return [*errors, *({"code": PROPERTY, "property": name} for name in more)]


async def _works_once(request: Request, below: Below, memory: Memory) -> Answer | None:
    """A contact can be updated once; a second update does not find it."""
    got = await below(request)
    times = memory.kept[request.uid] = memory.kept.get(request.uid, 0) + got.success
    return answer_json(404, {"message": "no such contact"}) if got.success and times > 1 else got


async def _old_emails(request: Request, below: Below, memory: Memory) -> Answer | None:
    """The answer to an update shows the record with the e-mails that it had before."""
    got, record = await below(request), request.json
    uid = request.uid or (got.json or {}).get("identifier", "")
    before = memory.kept.get(uid)
    if not got.success or not isinstance(record, dict):
        return got
    memory.kept[uid] = record
    if request.operation.id != UPDATE or before is None:
        return got
    return answer_json(200, {**record, "emails": before["emails"]})


async def _refused_as_the_last(request: Request, below: Below, memory: Memory) -> Answer | None:
    """Of updates that are refused at the same time each is told the errors of the last."""
    got = await below(request)
    if got.success:
        return got
    memory.kept["last"] = got
    await asyncio.sleep(0.1)
    last: Answer = memory.kept["last"]
    return last


async def _refused_identifier_taken(request: Request, below: Below, memory: Memory) -> Answer | None:
    """The identifier in the header of a contact that was refused for its content stays taken."""
    record = request.json
    header = record.get("header") if isinstance(record, dict) else None
    identifier = header.get("identifier") if isinstance(header, dict) else None
    if isinstance(identifier, str) and identifier in memory.kept:
        return answer_json(409, {"message": "a record of this identifier exists in the realm"})
    got = await below(request)
    if isinstance(identifier, str) and isinstance(got.json, dict) and got.json.get("errors"):
        memory.kept[identifier] = True
    return got


def _coded(code: str) -> Callable[[Record, Record], bool]:
    return lambda _, error: bool(error["code"] == code)


def _begins(first: bytes) -> Callable[[Request], bool]:
    return lambda request: request.body.strip()[:1] == first


def _languages_alone(record: Record, error: Record) -> bool:
    header = record.get("header")
    texts = isinstance(header, dict) and all(
        isinstance(header.get(n, ""), str) for n in ("identifier", "schema")
    )
    return texts and error == {"code": KIND, "property": "header"}


def _lacks_member(field: str) -> Inject:
    return overlook(
        lambda record, error: error == {"code": MANDATORY, "property": field} and bool(record.get(field))
    )


def _null(field: str) -> Inject:
    return overlook(lambda record, error: error["property"] == field and record.get(field, "") is None)


def _schema(test: Callable[[str], bool]) -> Inject:
    """A contact is taken as one where the schema in the query passes a test."""

    def changed(request: Request) -> Request:
        rest = request.with_query("schema")
        named = dict(request.query).get("schema", "")
        return rest.with_query_added(schema="contact") if test(named) else request

    return send(changed)


_KNOWN: Final = {name for realm in REALMS for name in realm.types}


def _missing(field: str) -> dict[str, str]:
    return {"code": MANDATORY, "property": field}


def _told_as(field: str, code: str, name: str) -> Inject:
    """Tell the absence of a field, where nothing else is wrong, in another way."""
    return report(
        lambda errors: [{"code": code, "property": name}] if errors == [_missing(field)] else errors
    )


def _first_missing_only(errors: Errors) -> Errors:
    missing = [error for error in errors if error["code"] == MANDATORY]
    return [error for error in errors if error not in missing[1:]]


def _first_name_too(errors: Errors) -> Errors:
    wrong = _missing("lastName") in errors and _missing("firstName") not in errors
    return [*errors, _missing("firstName")] if wrong else errors


#: What the absence of errors tells.
_TOLD_BY_ABSENCE: Final = (
    *("errors-absent-on-success", "contact-create-accepted", "contact-update-accepted"),
    *("workflow-create-accepted", "workflow-create-with-identifier-accepted", "workflow-update-accepted"),
)


def _with(added: Any) -> Callable[[Errors], Any]:
    return lambda errors: [*errors, added]


def _recoded(code: str, instead: str) -> Callable[[Errors], Errors]:
    return lambda errors: [{**e, "code": instead} if e["code"] == code else e for e in errors]


def _missing_first(record: Record, errors: Errors) -> Errors:
    missing = [e for e in errors if e["code"] == MANDATORY and record.get(e["property"]) is None]
    return missing or errors


def _without_code(record: Record, errors: Errors) -> Errors:
    return errors if record else [{"code": VALUE, "property": "document"}]


def _renamed(_: Request, got: Answer) -> Answer:
    body = got.json
    if not isinstance(body, dict) or "errors" not in body:
        return got
    return got.with_json({"validationErrors" if k == "errors" else k: v for k, v in body.items()})


def _fits(item: Any, sample: Any) -> bool:
    """Whether an item of an array is of the kind of a sample, and so are its members."""
    members = sample.items() if isinstance(sample, dict) else ()
    return type(item) is type(sample) and all(isinstance(item.get(k, v), str) for k, v in members)


def _of_kind(field: str, test: Callable[[Any], bool]) -> Inject:
    """Overlook that a field is of a wrong kind, where its value passes a test."""
    wrong = {"code": KIND, "property": field}
    return overlook(lambda record, error: error == wrong and field in record and test(record[field]))


def _not_missed(field: str) -> Inject:
    """Miss no mandatory field where it is the only one that is missing."""
    return judge(lambda _, errors: [] if errors == [_missing(field)] else errors)


def _kind_faults(operation: str, name: str, sample: Any) -> Iterator[Fault]:
    clauses, short = (clause_of(operation, f"body.{name}:wrong-kind"),), kebab(name)
    right = next(kind for kind, holds in _KINDS.items() if holds(sample))
    also = f"contact-{WORDS[operation]}-{short}"
    for kind, holds in _KINDS.items():
        if kind == right or (kind == "number" and right == "text"):
            continue  # whether a number is read as text is not shown
        # A service may read a number or a boolean as text where text is due.
        stated = not (right == "text" and kind in ("number", "boolean"))
        effect = _of_kind(name, holds)
        yield from _VALIDATION.faults(operation, f"{short}-as-{kind}-taken", clauses, effect, stated=stated)
    effect, other = _of_kind(name, lambda value: not _KINDS[right](value)), f"{also}-of-any-kind"
    yield from _VALIDATION.faults(
        operation, f"{short}-of-any-kind-taken", clauses, effect, SINGLE, also=other
    )
    if isinstance(sample, list | dict):
        effect, other = _of_kind(name, _KINDS[right]), f"{also}-inside-of-any-kind"
        yield from _VALIDATION.faults(operation, f"{short}-inside-not-checked", clauses, effect, also=other)
    if isinstance(sample, list):
        effect = _of_kind(name, lambda value: isinstance(value, list) and _fits(value[0], sample[0]))
        yield from _VALIDATION.faults(operation, f"{short}-first-item-alone-checked", clauses, effect)


def field_faults() -> Iterator[Fault]:
    """Each constraint of each field of a contact, left out, or kept where it must not be."""
    for operation in CONTACTS:
        for name, sample in _SAMPLES.items():
            yield from _kind_faults(operation, name, sample)
            short = kebab(name)
            refused: tuple[str, ...] = (_FULL[operation],)
            if name in MANDATORY_FIELDS:
                refused = ACCEPTANCE[operation]
                missed, also = (
                    (clause_of(operation, f"body.{name}:missing"),),
                    f"{WORDS[operation]}-without-{short}",
                )
                taken = _VALIDATION.faults(
                    operation,
                    f"{short}-not-mandatory",
                    missed,
                    _not_missed(name),
                    SINGLE,
                    also=f"contact-{also}",
                )
                yield from taken
            # Nothing reads a contact record, so an organization that is refused may be one that is gone.
            if name not in (*CONTACT_VALUES_NOT_SHOWN, "contactOrganization"):
                effect = _invalid(VALUE, _has(name))
                yield from _VALIDATION.faults(operation, f"{short}-refused", refused, effect, SINGLE)
            if isinstance(sample, list):
                several, effect = ("contact-several-items", *refused), _invalid(VALUE, _several(name))
                yield from _VALIDATION.faults(operation, f"{short}-second-item-refused", several, effect)


def _keys_unchecked(field: str) -> Inject:
    return overlook(lambda _, error: error == {"code": LOCALE, "property": field})


def language_faults() -> Iterator[Fault]:
    """Localised fields whose language keys are not looked at, or that take one language alone."""
    for operation in CONTACTS:
        for name in _LOCALISED:
            for operator, clause, effect in (
                ("language-keys-unchecked", "contact-language-key-invalid", _keys_unchecked(name)),
                ("second-language-refused", "contact-several-languages", _invalid(VALUE, _several(name))),
            ):
                yield from _VALIDATION.faults(operation, f"{kebab(name)}-{operator}", (clause,), effect)


# fmt: off
def _good_records_refused() -> Iterator[Fault]:
    yield row("contact-create-needs-prefix", "contact-create-accepted", CREATE,
        demand(MANDATORY, "prefix", unless=lambda record: "prefix" in record),
        "A new contact is refused without the optional field prefix.")
    yield row("contact-create-refused", "contact-create-accepted", CREATE,
        judge(lambda _, errors: errors or [{"code": MANDATORY, "property": "type"}]),
        "No contact can be created: each is refused for its type.", "in-chm-dev")
    yield row("contact-update-needs-phones", "contact-update-accepted", UPDATE,
        demand(MANDATORY, "phones", unless=lambda record: "phones" in record),
        "An update of a contact is refused without the optional field phones.")
    yield row("contact-update-not-found", "contact-update-accepted", UPDATE, refuse(status=404),
        "No contact is found for an update.")
    yield row("contact-update-works-once", "contact-update-accepted", UPDATE, _works_once)
    yield row("contact-update-with-city-needs-state", "contact-optional-not-demanded", UPDATE,
        demand(MANDATORY, "state", unless=lambda record: "state" in record or "city" not in record),
        "An update that holds the optional field city is refused without the optional field state.")
    yield row("contact-update-of-websites-needs-phones", "contact-any-fields", UPDATE,
        demand(VALUE, "websites", unless=lambda record: "websites" not in record or "phones" in record),
        "An update that holds the optional field websites without phones is refused for its websites.")
    for operation, field in (
        *((CREATE, "middleName"), (CREATE, "addressType")),
        *((UPDATE, "header"), (UPDATE, "government")),
    ):
        yield row(f"contact-{WORDS[operation]}-without-{field.lower()}",
            "contact-create-full" if operation == CREATE else "contact-update-full", operation,
            _invalid(PROPERTY, _has(field)),
            f"A contact that holds the optional field {field} is refused by {operation}.")
    yield row("contact-at-most-twenty-fields", "contact-create-full", CREATE, judge(_beyond_twenty),
        "A new contact may hold no more than twenty of the documented fields.")
    yield row("contact-update-answers-old-emails", "contact-update-full", CONTACTS, _old_emails)
    for name, clause, code, test, says in (
        ("names-in-latin", "contact-names-in-scripts", VALUE, _beyond_latin,
            "First and last names are refused in scripts other than Latin."),
        ("english-demanded", "contact-several-languages", LOCALE, _languages_but_english,
            "A localised field is refused without its text in English."),
        ("one-language", "contact-several-languages", KIND, _several(*_LOCALISED),
            "A localised field is refused when it carries more than one language."),
    ):
        yield row(f"contact-{name}", clause, CONTACTS, _invalid(code, test), says)
    for operation, field in (
        *((CREATE, "emails"), (CREATE, "websites")),
        *((UPDATE, "phones"), (UPDATE, "relevantDocuments")),
    ):
        yield row(f"contact-one-item-of-{field.lower()}", "contact-several-items", operation,
            _invalid(KIND, _several(field)), f"{operation} refuses a contact with more than one item in {field}.")


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
    yield row("contact-create-header-languages-of-any-kind", clause_of(CREATE, "body.header:wrong-kind"), CREATE,
        overlook(_languages_alone), "createContact takes values of any kind for the languages of the header.")
    for name, clause, field in _LACKING:
        says = f"A contact is taken whose {field} lacks the member that it has to carry."
        yield row(f"contact-{name}", clause, CONTACTS, _lacks_member(field), says)
    for field in ("firstName", "country"):
        says = f"A contact is taken whose {field} is null."
        yield row(f"contact-null-{field.lower()}", "contact-mandatory-null", CONTACTS, _null(field), says)
    for operation, word in WORDS.items():
        yield row(f"contact-{word}-any-language-key", "contact-language-key-invalid", operation,
            overlook(lambda _, error: error["code"] == LOCALE and error["property"] != "header"),
            f"{operation} takes localised fields keyed by any text.")
        yield row(f"contact-{word}-empty-record", "contact-empty-record", operation,
            judge(lambda record, errors: errors if record else []),
            f"{operation} takes an empty object for a contact.")
        yield row(f"contacts-{word}d-unvalidated", "errors-array", operation, judge(lambda _record, _errors: []),
            f"{operation} takes a contact whatever is wrong with it.")
    for name, clause, code, says in (
        ("any-country", "contact-country-unexpected", TERM, "A country that is no known term is taken."),
        ("any-property", "contact-unknown-property", PROPERTY,
            "A contact may hold fields that the table does not have."),
    ):
        yield row(f"contact-{name}", clause, CONTACTS, overlook(_coded(code)), says)
    yield row("contact-any-language-in-header", "contact-header-language-invalid", CONTACTS,
        overlook(lambda _, error: error == {"code": LOCALE, "property": "header"}),
        "The languages of a header may be any texts.")
    for operation, kind, first in (
        *((CREATE, "array", b"["), (CREATE, "string", b'"'), (CREATE, "absent-body", b"")),
        *((UPDATE, "array", b"["), (UPDATE, "null", b"n"), (UPDATE, "absent-body", b"")),
    ):
        yield row(f"contact-{WORDS[operation]}-{kind}", "contact-body-kind", operation,
            forgive(_begins(first), status=201),
            f"{operation} answers success to a contact whose body is {kind.replace('-', ' ')}.")
    for name, clause, test, says in (
        ("not-needed", "contact-schema-missing", lambda schema: not schema, "needs no schema in its query"),
        ("of-any-name", "contact-schema-unknown", lambda schema: schema != "" and schema not in _KNOWN,
            "may name any schema that no realm has configured"),
        ("of-other-records", "contact-schema-validates", lambda schema: schema in _KNOWN,
            "is taken for one whatever configured schema its query names"),
    ):
        yield row(f"contact-schema-{name}", clause, CONTACTS, _schema(test), f"A contact {says}.")
    yield row("contact-refused-identifier-taken", "contact-refused-frees-identifier", CREATE,
        _refused_identifier_taken)


#: How the absence of one field is told: where, the field, the code and the property.
_TOLD: Final = (
    ("first-name-reported-as-invalid-value", CREATE, "firstName", VALUE, "firstName"),
    ("last-name-reported-under-its-title", UPDATE, "lastName", MANDATORY, "Last Name"),
    ("organization-reported-as-any-of", CREATE, "organization", ANY_OF, "organization"),
    ("country-reported-under-another-field", UPDATE, "country", MANDATORY, "government"),
    ("emails-reported-in-lower-case", CREATE, "emails", "error.mandatory", "emails"),
    ("type-reported-without-prefix", UPDATE, "type", "Mandatory", "type"),
    ("contact-organization-reported-in-lower-case",
        *(CREATE, "contactOrganization", MANDATORY, "contactorganization")),
)
#: Other errors arrays: clause, operations, what they are like, and how they come about.
_ARRAYS: Final[tuple[tuple[str, str, str | tuple[str, ...], str, Callable[[Errors], Any]], ...]] = (
    *(
        (name, "errors-array", operation, "has no errors array", lambda _: MISSING)
        for name, operation in (
            ("errors-missing-on-create", CREATE),
            ("errors-missing-on-update", UPDATE),
            ("errors-missing-on-submission", SUBMISSIONS[0]),
            ("errors-missing-on-submission-update", SUBMISSIONS[2]),
        )
    ),
    ("errors-empty", "errors-array", CREATE, "has an empty errors array", lambda _: []),
    (*("errors-as-object", "errors-array", SUBMISSIONS[1], "has an object for errors"),
        lambda errors: {error["property"]: error["code"] for error in errors}),
    (*("errors-as-text", "errors-array", UPDATE, "has a text for errors"),
        lambda errors: ", ".join(error["property"] for error in errors)),
    *(
        (name, clause, operation, f"has one more error, {added!r}", _with(added))
        for name, clause, operation, added in (
            ("errors-element-without-code", "errors-element-shape", CREATE, {"property": "document"}),
            ("errors-element-without-property", "errors-element-shape", SUBMISSIONS[2], {"code": VALUE}),
            ("errors-element-text", "errors-element-shape", SUBMISSIONS[1], "Error.InvalidValue: document"),
            ("errors-code-number", "errors-element-shape", UPDATE, {"code": 3, "property": "x"}),
            (
                *("errors-property-null", "errors-element-shape", SUBMISSIONS[0]),
                {"code": VALUE, "property": None},
            ),
            (
                "errors-property-array",
                "errors-element-shape",
                CREATE,
                {"code": VALUE, "property": ["header"]},
            ),
            *(
                (name, "errors-code-known", operation, {"code": code, "property": "header"})
                for name, operation, code in (
                    ("errors-unknown-code", CREATE, "Error.Document"),
                    ("errors-code-in-lower-case", UPDATE, "error.invalidvalue"),
                    ("errors-code-without-prefix", SUBMISSIONS[0], "InvalidValue"),
                    ("errors-code-empty", SUBMISSIONS[2], ""),
                )
            ),
        )
    ),
    *(
        (name, clause, CONTACTS, f"has {instead} where {code} is right", _recoded(code, instead))
        for name, clause, code, instead in (
            ("errors-kind-as-value", "errors-code-invalid-type", KIND, VALUE),
            ("errors-property-as-value", "errors-code-invalid-property", PROPERTY, VALUE),
            ("errors-locale-as-property", "errors-code-unspecified-locale", LOCALE, PROPERTY),
            ("errors-term-as-value", "errors-code-unexpected-term", TERM, VALUE),
            ("errors-kind-as-mandatory", "errors-code-mandatory", KIND, MANDATORY),
            ("errors-locale-as-mandatory", "errors-code-mandatory", LOCALE, MANDATORY),
        )
    ),
    (*("errors-property-is-document", "errors-property-names-field", CONTACTS),
        "names the property document for all but missing fields",
        lambda errors: [e if e["code"] == MANDATORY else {**e, "property": "document"} for e in errors]),
    (*("contact-present-field-named-missing", "errors-code-mandatory", CONTACTS),
        "names firstName as missing when lastName is", _first_name_too),
    (*("contact-first-missing-only", "contact-all-missing-named", CONTACTS),
        "names the first of several missing fields alone", _first_missing_only),
)


def _errors_told_wrongly() -> Iterator[Fault]:
    for name, operation, field, code, told in _TOLD:
        says = f"{operation} reports a missing {field} with {code} and the property {told}."
        whole = f"contact-{WORDS[operation]}-{name}"
        yield row(whole, clause_of(UPDATE, f"body.{field}:missing"), operation, _told_as(field, code, told), says)
    for field, realm in (("type", "bch"), ("emails", "chm")):
        yield row(f"contact-{field}-not-named", clause_of(UPDATE, f"body.{field}:missing"), CONTACTS,
            _told_as(field, VALUE, field), f"A missing {field} is reported as an invalid value.", f"in-{realm}-dev")
    yield row("contact-update-refused-as-overlapping-update", clause_of(UPDATE, "body.firstName:missing"), UPDATE,
        _refused_as_the_last)
    for name, clause, operations, says, change in _ARRAYS:
        yield row(name, clause, operations, report(change), f"The refusal of faulty content {says}.")
    yield row("errors-missing", "errors-array", CONTACTS, report(lambda _: MISSING),
        "The refusal of a faulty contact has no errors array.", "in-chm-dev")
    yield row("errors-under-another-name", "errors-array", UPDATE, answer(_renamed),
        "The refusal of faulty content calls its array validationErrors.")
    yield row("errors-on-success", _TOLD_BY_ABSENCE, (*CONTACTS, *SUBMISSIONS),
        edit(lambda body: {**body, "errors": [{"code": VALUE, "property": "header"}]}),
        "The answer to an accepted record carries an errors array with one element.")
    yield row("errors-in-two-rounds", "errors-several-faults", CONTACTS, judge(_missing_first),
        "As long as a field is missing, only missing fields are reported.")
    yield row("contact-empty-record-without-code", "contact-empty-record", CONTACTS, judge(_without_code),
        "An empty object is refused as a contact, with one element of the code Error.InvalidValue.")


def contact_rows() -> Iterator[Fault]:
    """Every row of contacts and of the errors array."""
    yield from _good_records_refused()
    yield from _faulty_records_taken()
    yield from _errors_told_wrongly()
