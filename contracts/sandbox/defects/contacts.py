"""Defects of contacts: good ones refused, faulty ones accepted, mandatory fields, kinds, bodies and schemas."""

from collections.abc import Callable, Iterable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from contracts.sandbox.defects.declaration import (
    CONTACTS,
    Change,
    Handler,
    alter,
    around,
    defect,
    edit_refusal,
    in_realm,
    json_of,
    kebab,
)
from contracts.sandbox.http_requests import Fault, Reason, Refusal, not_found, query_value
from contracts.sandbox.record_types import (
    CONTACT,
    INVALID_PROPERTY,
    INVALID_TYPE,
    INVALID_VALUE,
    MANDATORY,
    MANDATORY_ANY_OF,
    UNEXPECTED_TERM,
    UNSPECIFIED_LOCALE,
    Expectation,
    Field,
    Kind,
    Realm,
    RecordType,
)
from contracts.sandbox.service import Service

Meant = Callable[[Expectation], bool]


def of_contact(expectation: Expectation) -> bool:
    """Tell whether a contact is validated."""
    return expectation.kind.name == CONTACT.name


def creating(expectation: Expectation) -> bool:
    """Tell whether a contact is validated that is to be created: its path names no identifier."""
    return of_contact(expectation) and expectation.identifier is None


def updating(expectation: Expectation) -> bool:
    """Tell whether a contact is validated that is to be updated."""
    return of_contact(expectation) and expectation.identifier is not None


def extra_faults(service: Service, more: Callable[[dict[str, Any], Expectation], Iterable[Fault]]) -> None:
    """Add faults to those that are found in a document."""

    def faults(
        faithful: Callable[..., list[Fault]], document: dict[str, Any], expectation: Expectation
    ) -> list[Fault]:
        return [*faithful(document, expectation), *more(document, expectation)]

    alter(service.validator, "faults", faults)


def change_faults(
    service: Service, change: Callable[[Fault], Fault | None], meant: Meant = of_contact
) -> None:
    """Change each fault that is found in a contact; ``None`` overlooks it."""

    def faults(
        faithful: Callable[..., list[Fault]], document: dict[str, Any], expectation: Expectation
    ) -> list[Fault]:
        found: list[Fault] = faithful(document, expectation)
        if not meant(expectation):
            return found
        changed = (change(fault) for fault in found)
        return [fault for fault in changed if fault is not None]

    alter(service.validator, "faults", faults)


def overlook(test: Callable[[Fault], bool], meant: Meant = of_contact) -> Callable[[Service], None]:
    """Return the change that overlooks the faults for which ``test`` holds."""
    return lambda service: change_faults(service, lambda fault: None if test(fault) else fault, meant)


def overlook_value(field: str, test: Callable[[Any], bool], meant: Meant) -> Callable[[Service], None]:
    """Return the change that finds no fault in a field whose given value passes ``test``."""

    def change(service: Service) -> None:
        def field_faults(
            faithful: Callable[..., Iterable[Fault]],
            row: Field,
            value: Any,
            given: bool,
            expectation: Expectation,
        ) -> Iterable[Fault]:
            if row.name == field and given and meant(expectation) and test(value):
                return ()
            return faithful(row, value, given, expectation)

        alter(service.validator, "field_faults", field_faults)

    return change


_CREATE = ["createContact"]
_UPDATE = ["updateContact"]


def _needs(field: str, meant: Callable[[Expectation], bool]) -> Callable[[Service], None]:
    def faults(document: dict[str, Any], expectation: Expectation) -> list[Fault]:
        missing = meant(expectation) and field not in document
        return [Fault(MANDATORY, (field,))] if missing else []

    return lambda service: extra_faults(service, faults)


defect(
    "contact-create-needs-prefix",
    clause="contact-create-accepted",
    operations=_CREATE,
    sentence="A new contact is refused without the optional field prefix.",
)(_needs("prefix", creating))
defect(
    "contact-update-needs-phones",
    clause="contact-update-accepted",
    operations=_UPDATE,
    sentence="An update of a contact is refused without the optional field phones.",
)(_needs("phones", updating))


@defect(
    "contact-create-refused-in-chm", clause="contact-create-accepted", operations=_CREATE, realms=["chm-dev"]
)
def _(service: Service) -> None:
    """No contact can be created in chm-dev: each is refused for its type."""

    def invalid(_: str) -> Refusal:
        return Refusal(
            Reason.INVALID_CONTENT, "The contact is not valid.", faults=[Fault(MANDATORY, ("type",))]
        )

    async def answer(faithful: Handler, request: Request) -> Response:
        response = await faithful(request)
        if in_realm("chm-dev")(request):
            raise invalid("")
        return response

    around(service, _CREATE, answer)


@defect("contact-update-not-found", clause="contact-update-accepted", operations=_UPDATE)
def _(service: Service) -> None:
    """No contact is found for an update."""
    _after_checks(service, lambda _: True)


@defect("contact-update-works-once", clause="contact-update-accepted", operations=_UPDATE)
def _(service: Service) -> None:
    """A contact can be updated once; a second update does not find it."""
    updated: set[str] = set()

    def again(uid: str) -> bool:
        seen = uid in updated
        updated.add(uid)
        return seen

    _after_checks(service, again)


def _after_checks(service: Service, gone: Callable[[str], bool]) -> None:
    async def answer(faithful: Handler, request: Request) -> Response:
        response = await faithful(request)
        if gone(service.identifiers.from_path(request)):
            raise not_found("there is no contact of this uid in the realm")
        return response

    around(service, _UPDATE, answer)


def _unknown_field(field: str, meant: Callable[[Expectation], bool]) -> Callable[[Service], None]:
    def faults(document: dict[str, Any], expectation: Expectation) -> list[Fault]:
        given = meant(expectation) and document.get(field) is not None
        return [Fault(INVALID_PROPERTY, (field,))] if given else []

    return lambda service: extra_faults(service, faults)


for _field in ("middleName", "addressType"):
    defect(
        f"contact-create-without-{_field.lower()}",
        clause="contact-create-full",
        operations=_CREATE,
        sentence=f"A new contact that holds the optional field {_field} is refused.",
    )(_unknown_field(_field, creating))
for _field in ("header", "government"):
    defect(
        f"contact-update-without-{_field}",
        clause="contact-update-full",
        operations=_UPDATE,
        sentence=f"An update of a contact that holds the optional field {_field} is refused.",
    )(_unknown_field(_field, updating))


@defect("contact-at-most-twenty-fields", clause="contact-create-full", operations=_CREATE)
def _(service: Service) -> None:
    """A new contact may hold no more than twenty of the documented fields."""

    def faults(document: dict[str, Any], expectation: Expectation) -> list[Fault]:
        listed = [name for name in document if expectation.kind.field(name)]
        return [Fault(INVALID_PROPERTY, (name,)) for name in listed[20:]] if creating(expectation) else []

    extra_faults(service, faults)


def _one_language(field: str | None) -> Callable[[Service], None]:
    def faults(document: dict[str, Any], expectation: Expectation) -> list[Fault]:
        if expectation.kind.name != "contact":
            return []
        return [
            Fault(INVALID_TYPE, (name,))
            for name, value in document.items()
            if field in {None, name} and _localised(expectation.kind, name, value) and len(value) > 1
        ]

    return lambda service: extra_faults(service, faults)


def _localised(kind: RecordType, name: str, value: object) -> bool:
    field = kind.field(name)
    return field is not None and field.kind.value == "lstring" and isinstance(value, dict)


defect(
    "contact-one-language",
    clause="contact-several-languages",
    operations=CONTACTS,
    sentence="A localised field of a contact is refused when it carries more than one language.",
)(_one_language(None))
defect(
    "contact-one-language-of-relevant-information",
    clause="contact-several-languages",
    operations=CONTACTS,
    sentence="The field relevantInformation alone is refused when it carries more than one language.",
)(_one_language("relevantInformation"))


def _one_item(field: str, meant: Callable[[Expectation], bool]) -> Callable[[Service], None]:
    def faults(document: dict[str, Any], expectation: Expectation) -> list[Fault]:
        value = document.get(field)
        many = meant(expectation) and isinstance(value, list) and len(value) > 1
        return [Fault(INVALID_TYPE, (field,))] if many else []

    return lambda service: extra_faults(service, faults)


for _field, _operations, _meant in (
    ("emails", _CREATE, creating),
    ("phones", _UPDATE, updating),
    ("websites", _CREATE, creating),
    ("relevantDocuments", _UPDATE, updating),
):
    defect(
        f"contact-one-item-of-{_field.lower()}",
        clause="contact-several-items",
        operations=_operations,
        sentence=f"{_operations[0]} refuses a contact with more than one item in {_field}.",
    )(_one_item(_field, _meant))


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
    for _word, _operation, _kind_meant in _ENTRANCES[1:] if _row.kind is Kind.HEADER else _ENTRANCES:
        defect(
            f"contact-{_word}-{kebab(_row.name)}-of-any-kind",
            clause=f"contact-kind-{kebab(_row.name)}",
            operations=[_operation],
            sentence=f"{_operation} accepts values of any kind for {_row.name}.",
        )(_any_kind(_row.name, _kind_meant))

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
    _word, _operation, _kind_meant = _ENTRANCES[_entrance]
    defect(
        f"contact-{_word}-{kebab(_field)}-inside-of-any-kind",
        clause=f"contact-kind-{kebab(_field)}",
        operations=[_operation],
        sentence=f"{_operation} does not look at the kind of the {_inside} of {_field}.",
    )(_any_inner_kind(_field, _kind_meant))


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

for _word, _operation, _kind_meant in _ENTRANCES:
    defect(
        f"contact-{_word}-any-language-key",
        clause="contact-language-key-invalid",
        operations=[_operation],
        sentence=f"{_operation} accepts localised fields keyed by any text.",
    )(overlook(lambda fault: fault.code == UNSPECIFIED_LOCALE and fault.path[0] != "header", _kind_meant))

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


_FIELDS = tuple(field.name for field in CONTACT.fields if field.mandatory)


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
    for _word, _operation, _mandatory_meant in _ENTRANCES:
        defect(
            f"contact-{_word}-without-{kebab(_field)}",
            clause=f"contact-mandatory-{kebab(_field)}",
            operations=[_operation],
            sentence=f"{_operation} accepts a contact without {_field}.",
        )(_not_required(_field, _mandatory_meant))

_REPORTS = (
    ("firstName", "as-invalid-value", Fault(INVALID_VALUE, ("firstName",)), _ENTRANCES[0]),
    ("lastName", "under-its-title", Fault(MANDATORY, ("Last Name",)), _ENTRANCES[1]),
    ("organization", "as-any-of", Fault(MANDATORY_ANY_OF, ("organization",)), _ENTRANCES[0]),
    ("country", "under-another-field", Fault(MANDATORY, ("government",)), _ENTRANCES[1]),
    ("emails", "in-lower-case", Fault("error.mandatory", ("emails",)), _ENTRANCES[0]),
    ("type", "without-prefix", Fault("Mandatory", ("type",)), _ENTRANCES[1]),
    ("contactOrganization", "in-lower-case", Fault(MANDATORY, ("contactorganization",)), _ENTRANCES[0]),
)
for _field, _how, _told, (_word, _operation, _mandatory_meant) in _REPORTS:
    defect(
        f"contact-{_word}-{kebab(_field)}-reported-{_how}",
        clause=f"contact-mandatory-{kebab(_field)}",
        operations=[_operation],
        sentence=f"{_operation} reports a missing {_field} with {_told.code} and the property {_told.path[0]}.",
    )(_reported(_field, _told, _mandatory_meant))


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


for _word, _operation, _mandatory_meant in _ENTRANCES:
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


_BODIES: dict[str, tuple[str, bytes]] = {
    "contact-create-array": ("createContact", b"["),
    "contact-create-string": ("createContact", b'"'),
    "contact-update-null": ("updateContact", b"n"),
    "contact-update-array": ("updateContact", b"["),
    "contact-create-absent-body": ("createContact", b""),
    "contact-update-absent-body": ("updateContact", b""),
}


def _taken(operation: str, first: bytes) -> Callable[[Service], None]:
    """Return the change that takes a body for a contact by its first byte; nothing: an absent body."""

    def change(service: Service) -> None:
        async def answer(faithful: Handler, request: Request) -> Response:
            raw = (await request.body()).strip()
            try:
                return await faithful(request)
            except Refusal:
                if raw[:1] != first:
                    raise
                return JSONResponse({"identifier": service.identifiers.mint()}, 201)

        around(service, [operation], answer)

    return change


for _name, (_operation, _first) in _BODIES.items():
    _what = {b"[": "an array", b'"': "a string", b"n": "null", b"": "no body"}[_first]
    defect(
        _name,
        clause="contact-body-kind",
        operations=[_operation],
        sentence=f"{_operation} answers success when {_what} is sent for a contact.",
    )(_taken(_operation, _first))


for _field in ("firstName", "country"):
    defect(
        f"contact-null-{_field.lower()}",
        clause="contact-mandatory-null",
        operations=CONTACTS,
        sentence=f"A contact is accepted whose {_field} is null.",
    )(overlook_value(_field, lambda value: value is None, of_contact))


def _schema(service: Service, test: Callable[[str | None], bool]) -> None:
    """Take a request for a contact when its schema parameter passes ``test``."""

    def require_schema(faithful: Callable[..., RecordType], request: Request, realm: Realm) -> RecordType:
        name = query_value(request, "schema")
        return CONTACT if test(name) else faithful(request, realm)

    alter(service.contacts, "require_schema", require_schema)


@defect("contact-schema-not-needed", clause="contact-schema-missing", operations=CONTACTS)
def _(service: Service) -> None:
    """A contact request needs no schema in its query."""
    _schema(service, lambda name: not name)


@defect("contact-schema-of-any-name", clause="contact-schema-unknown", operations=CONTACTS)
def _(service: Service) -> None:
    """A contact request may name any schema that no realm has configured."""
    known: set[Any] = {name for realm in service.realms.realms.values() for name in realm.types}
    _schema(service, lambda name: bool(name) and name not in known)


@defect(
    "contact-refused-identifier-taken",
    clause="contact-refused-frees-identifier",
    operations=["createContact"],
)
def _(service: Service) -> None:
    """The identifier in the header of a contact that was refused for its content stays taken."""
    used: set[str] = set()

    async def answer(faithful: Handler, request: Request) -> Response:
        identifier = _in_header(await json_of(request))
        if identifier in used:
            raise Refusal(Reason.CONFLICT, "a record of this identifier exists in the realm")
        try:
            return await faithful(request)
        except Refusal as refusal:
            if refusal.faults and identifier is not None:
                used.add(identifier)
            raise

    around(service, ["createContact"], answer)


def _in_header(document: Any) -> str | None:
    header = document.get("header") if isinstance(document, dict) else None
    identifier = header.get("identifier") if isinstance(header, dict) else None
    return identifier if isinstance(identifier, str) else None
