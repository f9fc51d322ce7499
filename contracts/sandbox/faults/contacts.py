"""Faults of contacts and of the errors array: good records refused, faulty ones taken, errors told wrongly."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any, Final

from contracts.interface.catalogue import load_catalogue
from contracts.interface.description import CONTACT_VALUES_NOT_SHOWN
from contracts.sandbox.faults import effects as do
from contracts.sandbox.faults.effects import ANY_OF, KIND, LOCALE, MANDATORY, PROPERTY, TERM, VALUE, Errors
from contracts.sandbox.faults.fault import Fault, Rows
from contracts.sandbox.faults.messages import MISSING, Inject, Request
from contracts.sandbox.faults.places import CONTACTS, SUBMISSIONS, kebab
from contracts.sandbox.validation import REALMS

CREATE, UPDATE = CONTACTS
_LOCALISED: Final = tuple(name for name, sample in do.SAMPLES.items() if sample == {"en": "text"})
_WORDS: Final = {CREATE: "create", UPDATE: "update"}
#: Requests with a schema that some realm has configured.
_KNOWN: Final = f"schema~^({'|'.join({name for realm in REALMS for name in realm.types})})$"


def _clause_of(operation: str, field: str, fault: str) -> str:
    """The clause that the catalogue gives to a fault of a field; empty for none, which no row may break."""
    clause = load_catalogue().for_fault(operation, f"body.{field}:{fault}")
    return clause.id if clause else ""


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


def _header_identifier(request: Request) -> str | None:
    header = request.member.get("header")
    identifier = header.get("identifier") if isinstance(header, dict) else None
    return identifier if isinstance(identifier, str) else None


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
_CONTACT = Rows("contact-", "contact-", CONTACTS)
_TAKEN = Rows("contact-", "contact-", CONTACTS, "A contact is taken {}.")
_CREATED, _UPDATED = Rows("contact-", "contact-", CREATE), Rows("contact-", "contact-", UPDATE)
_ANY = Rows("contact-", "")
_REFUSAL = Rows("errors-", "errors-", CONTACTS, "The refusal of faulty content {}.")
_AS_CONTACT: Final = do.send(lambda r: r.with_query("schema", schema="contact"))
_WRONG: Final = {"code": VALUE, "property": "document"}
#: Good records that are refused.
_REFUSED: Final = (
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
    _UPDATED("update-without-government", "update-full", _invalid(PROPERTY, _has("government")),
        "updateContact refuses a contact that holds the optional field government"),
    _CONTACT("names-in-latin", "names-in-scripts", _invalid(VALUE, _beyond_latin),
        "First and last names are refused in scripts other than Latin"),
    _CONTACT("one-language", "several-languages", _invalid(KIND, _several(*_LOCALISED)),
        "A localised field is refused when it carries more than one language"),
    *(
        _CONTACT(f"{word}-one-item-of-{kebab(field)}", "several-items", _invalid(KIND, _several(field)),
            f"{operation} refuses a contact with several items in {field}", at=operation)
        for operation, word in _WORDS.items()
        for field, sample in do.SAMPLES.items() if isinstance(sample, list)
    ),
    *(
        _CONTACT(f"{word}-{kebab(field)}-refused",
            (f"{word}-accepted", f"{word}-full")[field not in do.NEEDED :], _invalid(VALUE, _has(field)),
            f"{operation} refuses a contact that holds the field {field}", at=operation)
        for operation, word in _WORDS.items()
        for field in do.SAMPLES
        # Nothing reads a contact record, so an organization that is refused may be one that is gone.
        if field not in (*CONTACT_VALUES_NOT_SHOWN, "contactOrganization")
    ),
)
#: Constraints of each field that are not looked at.
_UNCHECKED: Final = tuple(
    _ANY(f"{word}-{name}", clause, effect, f"{operation} {says}", at=operation)
    for (operation, word), (field, sample) in product(_WORDS.items(), do.SAMPLES.items())
    for short, kind in ((kebab(field), _clause_of(operation, field, "wrong-kind")),)
    for name, clause, applies, effect, says in (
        (f"{short}-of-any-kind", kind, True, _error(KIND, field, _is(type(sample), False)),
            f"takes a value of any other kind for {field}"),
        (f"{short}-inside-of-any-kind", kind, not isinstance(sample, str),
            _error(KIND, field, _is(type(sample), True)), f"does not look inside {field}"),
        (f"{short}-first-item-alone-checked", kind, isinstance(sample, list),
            _error(KIND, field, _first_fits(sample)), f"looks at the first item of {field} alone"),
        (f"without-{short}", f"contact-mandatory-{short}", field in do.NEEDED,
            do.judge(_replaced([_missing(field)], [])),
            f"takes a contact without {field}, when no other field is missing"),
        (f"{short}-of-any-language-key", "contact-language-key-invalid", field in _LOCALISED, _error(LOCALE, field),
            f"takes any text for a language of {field}"),
    )
    if applies
)
#: Faulty records that are taken.
_ACCEPTED: Final = (
    *(
        _TAKEN(name, clause, _error(MANDATORY, field, bool), f"whose {field} lacks the member that it has to carry")
        for name, clause, field in (
            ("country-without-identifier", "country-without-identifier", "country"),
            ("reference-without-identifier", "organization-without-identifier", "contactOrganization"),
            ("gender-without-identifier", "optional-term-without-identifier", "gender"),
            ("website-without-url", "link-without-url", "websites"),
        )
    ),
    _TAKEN("null-firstname", "mandatory-null", do.overlook(lambda contact, error:
        error["property"] == "firstName" and contact.get("firstName", "") is None), "whose firstName is null"),
    *(
        _ANY(f"{word}-{name}", clause, effect, f"{operation} {says}", where, at=operation)
        for operation, word in _WORDS.items()
        for name, clause, effect, says, where in (
            ("empty-record", "contact-empty-record", do.judge(lambda c, errors: errors if c else []),
                "takes an empty object for a contact", None),
            ("unvalidated", "errors-array", do.overlook(lambda *_: True),
                "takes a contact whatever is wrong with it", None),
            *(
                (kind, "contact-body-kind", do.forgive(status=201),
                    f"answers success to a contact whose body is {kind.replace('-', ' ')}", rf"body~^\s*{begins}")
                for kind, begins in (("array", r"\["), ("string", '"'), ("null", "n"), ("absent-body", r"\Z"))
            ),
        )
    ),
    _TAKEN("any-country", "country-unexpected", _coded(TERM), "whose country is no known term"),
    _TAKEN("any-property", "unknown-property", _coded(PROPERTY), "with fields that the table does not have"),
    _TAKEN("any-language-in-header", "header-language-invalid", _coded(LOCALE, header=True),
        "with any texts for the languages of its header"),
    _TAKEN("schema-not-needed", "schema-missing", _AS_CONTACT, "without a schema", "-schema~."),
    _TAKEN("schema-of-any-name", "schema-unknown", _AS_CONTACT, "under a schema that no realm has configured",
        f"schema~. -{_KNOWN}"),
    _TAKEN("schema-of-other-records", "schema-validates", _AS_CONTACT, "under whatever configured schema", _KNOWN),
    _CREATED("refused-identifier-taken", "refused-frees-identifier",
        do.barred(_header_identifier, lambda got: bool(got.errors), do.REFUSED),
        "The identifier in the header of a contact that was refused for its content stays taken"),
)
#: Errors that are told wrongly: of one missing field, in an array of another form, with other codes.
_TOLD: Final = (
    *(
        _ANY(f"{word}-{kebab(field)}-{name}", _clause_of(operation, field, "missing"),
            do.report(_replaced([_missing(field)], [{"code": code, "property": told}])),
            f"{operation} tells a missing {field} with {code} for {told}", at=operation)
        for operation, word in _WORDS.items()
        for name, field, code, told in (
            ("reported-as-invalid-value", "firstName", VALUE, "firstName"),
            ("reported-under-its-title", "lastName", MANDATORY, "Last Name"),
            ("reported-as-any-of", "organization", ANY_OF, "organization"),
            ("reported-under-another-field", "country", MANDATORY, "government"),
            ("reported-in-lower-case", "contactOrganization", MANDATORY, "contactorganization"),
        )
    ),
    *(
        _REFUSAL(f"{name}-of-{kebab(operation)}", clause, do.report(change), f"{says}, by {operation}", at=operation)
        for operation in (*CONTACTS, *SUBMISSIONS)
        for name, clause, change, says in (
            ("missing", "array", do.always(MISSING), "has no errors array"),
            ("empty", "array", do.always([]), "has an empty errors array"),
            ("as-object", "array", lambda errors: {e["property"]: e["code"] for e in errors}, "has an object of them"),
            *(
                (name, clause, _more(added), f"has one more error, {added!r}")
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
    ),
    *(
        _REFUSAL(name, clause, do.report(_recoded(code, instead)), f"has {instead} where {code} is right")
        for name, clause, code, instead in (
            ("kind-as-value", "code-invalid-type", KIND, VALUE),
            ("property-as-value", "code-invalid-property", PROPERTY, VALUE),
            ("locale-as-property", "code-unspecified-locale", LOCALE, PROPERTY),
            ("term-as-value", "code-unexpected-term", TERM, VALUE),
            ("kind-as-mandatory", "code-mandatory", KIND, MANDATORY),
        )
    ),
    _REFUSAL("property-is-document", "property-names-field", do.report(lambda errors:
        [e if e["code"] == MANDATORY else {**e, "property": "document"} for e in errors]),
        "names the property document for all but missing fields"),
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
#: Good records refused, faulty ones taken, errors told wrongly.
OF_CONTACTS: Final[tuple[Fault, ...]] = (*_REFUSED, *_UNCHECKED, *_ACCEPTED, *_TOLD)
