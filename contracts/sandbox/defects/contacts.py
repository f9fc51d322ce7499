"""Defects of contacts and of the errors array: good records refused, faulty ones accepted, errors of another shape."""

import asyncio
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from contracts.sandbox.defects.declaration import (
    OVERLAP_SECONDS,
    Change,
    Handler,
    Operations,
    When,
    alter,
    alteration,
    alteration_at,
    always,
    answered,
    answers,
    defect,
    defects,
    edit,
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
from contracts.sandbox.storage import PUBLISHED

Document = dict[str, Any]
Meant = Callable[[Expectation], bool]
Validate = Callable[[Document, Expectation], list[Fault]]


def of_contact(expectation: Expectation) -> bool:
    """Tell whether a contact is validated."""
    return expectation.kind.name == CONTACT.name


def _creating(expectation: Expectation) -> bool:
    """Tell whether a contact is validated that is to be created: its path names no identifier."""
    return of_contact(expectation) and expectation.identifier is None


def _updating(expectation: Expectation) -> bool:
    return of_contact(expectation) and expectation.identifier is not None


@alteration
def validate_otherwise(
    service: Service, instead: Callable[[Validate, Document, Expectation], list[Fault]]
) -> None:
    """Find the faults of a document in another way; ``instead`` is given the faithful one too."""
    alter(service.validator, "faults", instead)


def _unless(meant: Meant) -> Callable[[Validate, Document, Expectation], list[Fault]]:
    """Find the faults of all documents but those that are meant."""

    def faults(faithful: Validate, document: Document, expectation: Expectation) -> list[Fault]:
        return [] if meant(expectation) else faithful(document, expectation)

    return faults


def _invalid_where(code: str, test: Callable[[RecordType, str, Any], bool], meant: Meant) -> Change:
    """Return the change that adds a fault for each member of a document that passes a test."""

    def faults(faithful: Validate, document: Document, expectation: Expectation) -> list[Fault]:
        kind = expectation.kind
        names = [name for name, value in document.items() if meant(expectation) and test(kind, name, value)]
        return [*faithful(document, expectation), *(Fault(code, (name,)) for name in names)]

    return validate_otherwise(faults)


def _needs(field: str, meant: Meant, beside: str = "") -> Change:
    """Return the change that demands a field: always, or beside another one."""

    def faults(faithful: Validate, document: Document, expectation: Expectation) -> list[Fault]:
        missing = meant(expectation) and field not in document and (not beside or beside in document)
        return [*faithful(document, expectation), *([Fault(MANDATORY, (field,))] if missing else [])]

    return validate_otherwise(faults)


def _only_beside(field: str, other: str, meant: Meant) -> Change:
    """Return the change that takes no value of a field for a valid one unless the other field is there."""

    def faults(faithful: Validate, document: Document, expectation: Expectation) -> list[Fault]:
        alone = meant(expectation) and field in document and other not in document
        return [*faithful(document, expectation), *([Fault(INVALID_VALUE, (field,))] if alone else [])]

    return validate_otherwise(faults)


def _unknown_field(field: str, meant: Meant) -> Change:
    return _invalid_where(INVALID_PROPERTY, lambda _, name, value: name == field and value is not None, meant)


def _one_item(field: str, meant: Meant) -> Change:
    return _invalid_where(
        INVALID_TYPE,
        lambda _, name, value: name == field and isinstance(value, list) and len(value) > 1,
        meant,
    )


def _localised(kind: RecordType, name: str, value: object) -> bool:
    field = kind.field(name)
    return field is not None and field.kind is Kind.LSTRING and isinstance(value, dict) and len(value) > 1


def _at_most_twenty(faithful: Validate, document: Document, expectation: Expectation) -> list[Fault]:
    listed = [name for name in document if expectation.kind.field(name)]
    more = [Fault(INVALID_PROPERTY, (name,)) for name in listed[20:]] if _creating(expectation) else []
    return [*faithful(document, expectation), *more]


def change_faults(change: Callable[[Fault], Fault | None], meant: Meant = of_contact) -> Change:
    """Return the change of each fault that is found in a contact; ``None`` overlooks it."""

    def faults(faithful: Validate, document: Document, expectation: Expectation) -> list[Fault]:
        faults = faithful(document, expectation)
        if not meant(expectation):
            return faults
        return [fault for fault in map(change, faults) if fault is not None]

    return validate_otherwise(faults)


def _overlook(test: Callable[[Fault], bool], meant: Meant = of_contact) -> Change:
    """Return the change that overlooks the faults for which ``test`` holds."""
    return change_faults(lambda fault: None if test(fault) else fault, meant)


@alteration
def _overlook_null(service: Service, field: str) -> None:
    """Find no fault in a field that is given as null."""

    def field_faults(
        faithful: Callable[..., Iterable[Fault]],
        row: Field,
        value: Any,
        given: bool,
        expectation: Expectation,
    ) -> Iterable[Fault]:
        null = row.name == field and given and value is None and of_contact(expectation)
        return () if null else faithful(row, value, given, expectation)

    alter(service.validator, "field_faults", field_faults)


def _after_checks(gone: Callable[[str], bool]) -> Change:
    async def answer(service: Service, faithful: Handler, request: Request) -> Response:
        response = await faithful(request)
        if gone(service.identifiers.from_path(request)):
            raise not_found("there is no contact of this uid in the realm")
        return response

    return answered(answer)


@answers("contact-create-refused-in-chm")
async def _(_service: Service, faithful: Handler, request: Request) -> Response:
    response = await faithful(request)
    if in_realm("chm-dev")(request):
        faults = [Fault(MANDATORY, ("type",))]
        raise Refusal(Reason.INVALID_CONTENT, "The contact is not valid.", faults=faults)
    return response


@defect("contact-update-works-once")
def _(service: Service) -> None:
    updated: set[str] = set()

    def again(uid: str) -> bool:
        seen = uid in updated
        updated.add(uid)
        return seen

    _after_checks(again)(service, ("updateContact",))


def _kind_of(field: str, *, inside: bool = False) -> Callable[[Fault], bool]:
    """Return the test for a value of a wrong kind in a field; ``inside``: but not of the field itself."""
    return lambda fault: (
        fault.code == INVALID_TYPE and fault.path[0] == field and (len(fault.path) > 1 or not inside)
    )


def _lacks_member(field: str) -> Callable[[Fault], bool]:
    return lambda fault: fault.code == MANDATORY and len(fault.path) > 1 and fault.path[0] == field


def _is_missing(fault: Fault, field: str) -> bool:
    return fault.code == MANDATORY and fault.path == (field,)


def _not_required(field: str, meant: Meant) -> Change:
    return _overlook(lambda fault: _is_missing(fault, field), meant)


def _reported(field: str, instead: Fault, meant: Meant) -> Change:
    """Return the change that reports the absence of a field as another fault."""
    return change_faults(lambda fault: instead if _is_missing(fault, field) else fault, meant)


@answers("contact-update-answers-old-emails", "updateContact")
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    place = service.realms.of_documents(request).name, service.identifiers.from_path(request)
    with service.storage.transaction() as records:
        before = records.version(*place, PUBLISHED)
    response = await faithful(request)
    with service.storage.transaction() as records:
        stored = records.version(*place, PUBLISHED)
    if before is None or stored is None:
        return response
    emails = {"emails": json.loads(before.content).get("emails")}
    return JSONResponse(json.loads(stored.content) | emails, status_code=200)


@alteration_at
def _refused_as_the_last(service: Service, operations: Operations) -> None:
    """Let each refusal wait a moment, and then tell what the last one does."""
    last: list[Refusal] = []

    async def answer(_service: Service, faithful: Handler, request: Request) -> Response:
        try:
            return await faithful(request)
        except Refusal as refusal:
            last[:] = [refusal]
            await asyncio.sleep(OVERLAP_SECONDS)
            raise last[0] from None

    answered(answer)(service, operations)


def _other_faults(change: Callable[[Refusal], list[Fault]], *realms: str) -> Change:
    """Return the change of the faults of a refusal, in some realms or in all."""

    def otherwise(refusal: Refusal) -> Refusal:
        faults = change(refusal)
        if faults == [*refusal.faults]:
            return refusal
        return Refusal(refusal.reason, refusal.message, faults=faults, status=refusal.status)

    return edit_refusal(otherwise, in_realm(*realms)) if realms else edit_refusal(otherwise)


def _not_named(field: str, refusal: Refusal) -> list[Fault]:
    other = [fault for fault in refusal.faults if not _is_missing(fault, field)]
    return other or [Fault(INVALID_VALUE, (field,)) for _ in refusal.faults[:1]]


_MANDATORY_FIELDS = tuple(field.name for field in CONTACT.fields if field.mandatory)


def _without_code(refusal: Refusal) -> list[Fault]:
    missing = {fault.path[0] for fault in refusal.faults if fault.code == MANDATORY}
    empty = missing == set(_MANDATORY_FIELDS) and len(refusal.faults) == len(_MANDATORY_FIELDS)
    return [Fault(INVALID_VALUE, ("document",))] if empty else [*refusal.faults]


def _first_missing_only(refusal: Refusal) -> list[Fault]:
    missing = [fault for fault in refusal.faults if fault.code == MANDATORY]
    return [fault for fault in refusal.faults if fault not in missing[1:]]


def _first_name_missing_too(refusal: Refusal) -> list[Fault]:
    if not any(_is_missing(fault, "lastName") for fault in refusal.faults):
        return [*refusal.faults]
    return [*dict.fromkeys((*refusal.faults, Fault(MANDATORY, ("firstName",))))]


def _empty_accepted(meant: Meant) -> Change:
    return validate_otherwise(
        lambda faithful, document, expectation: (
            [] if not document and meant(expectation) else faithful(document, expectation)
        )
    )


def _taken(first: bytes) -> Change:
    """Return the change that takes a body for a contact by its first byte; nothing: an absent body."""

    async def answer(service: Service, faithful: Handler, request: Request) -> Response:
        raw = (await request.body()).strip()
        try:
            return await faithful(request)
        except Refusal:
            if raw[:1] != first:
                raise
            return JSONResponse({"identifier": service.identifiers.mint()}, 201)

    return answered(answer)


@alteration
def _schema(service: Service, test: Callable[[Service, str | None], bool]) -> None:
    """Take a request for a contact when its schema parameter passes ``test``."""

    def require_schema(faithful: Callable[..., RecordType], request: Request, realm: Realm) -> RecordType:
        name = query_value(request, "schema")
        return CONTACT if test(service, name) else faithful(request, realm)

    alter(service.contacts, "require_schema", require_schema)


def _of_no_realm(service: Service, name: str | None) -> bool:
    return bool(name) and not any(name in realm.types for realm in service.realms.realms.values())


_ENTRANCES: dict[str, Meant] = {"create": _creating, "update": _updating}
_INNER = (
    *(("update", "organization"), ("create", "relevant-information"), ("create", "country")),
    *(("update", "gender"), ("create", "contact-organization"), ("update", "emails"), ("update", "phones")),
    *(("create", "websites"), ("update", "relevant-documents"), ("update", "header")),
)
_FIELDS = {kebab(field.name): field for field in CONTACT.fields}
defects(
    {
        "contact-create-needs-prefix": _needs("prefix", _creating),
        "contact-update-needs-phones": _needs("phones", _updating),
        "contact-update-with-city-needs-state": _needs("state", _updating, beside="city"),
        "contact-update-of-websites-needs-phones": _only_beside("websites", "phones", _updating),
        "contact-update-not-found": _after_checks(lambda _: True),
        "contact-create-without-middlename": _unknown_field("middleName", _creating),
        "contact-create-without-addresstype": _unknown_field("addressType", _creating),
        "contact-update-without-header": _unknown_field("header", _updating),
        "contact-update-without-government": _unknown_field("government", _updating),
        "contact-at-most-twenty-fields": validate_otherwise(_at_most_twenty),
        "contact-names-in-latin": _invalid_where(
            INVALID_VALUE,
            lambda _, name, value: (
                name in ("firstName", "lastName")
                and isinstance(value, str)
                and max(value, default="") > "\u024f"
            ),
            of_contact,
        ),
        "contact-english-demanded": _invalid_where(
            UNSPECIFIED_LOCALE,
            lambda kind, name, value: (
                (field := kind.field(name)) is not None
                and field.kind is Kind.LSTRING
                and isinstance(value, dict)
                and bool(value)
                and "en" not in value
                and all(len(language) == len("en") for language in value)
            ),
            of_contact,
        ),
        "contact-one-language": _invalid_where(INVALID_TYPE, _localised, of_contact),
        "contact-one-language-of-relevant-information": _invalid_where(
            INVALID_TYPE,
            lambda kind, name, value: name == "relevantInformation" and _localised(kind, name, value),
            of_contact,
        ),
        "contact-one-item-of-emails": _one_item("emails", _creating),
        "contact-one-item-of-phones": _one_item("phones", _updating),
        "contact-one-item-of-websites": _one_item("websites", _creating),
        "contact-one-item-of-relevantdocuments": _one_item("relevantDocuments", _updating),
        **{
            f"contact-{entrance}-{name}-of-any-kind": _overlook(_kind_of(field.name), meant)
            for name, field in _FIELDS.items()
            for entrance, meant in _ENTRANCES.items()
            # A header that is no object would stop the creation, so that field is let through on update alone.
            if entrance == "update" or field.kind is not Kind.HEADER
        },
        **{
            f"contact-{entrance}-{name}-inside-of-any-kind": _overlook(
                _kind_of(_FIELDS[name].name, inside=True), _ENTRANCES[entrance]
            )
            for entrance, name in _INNER
        },
        "contact-create-header-languages-of-any-kind": _overlook(
            lambda fault: fault.code == INVALID_TYPE and fault.path[:2] == ("header", "languages"), _creating
        ),
        "contact-country-without-identifier": _overlook(_lacks_member("country")),
        "contact-reference-without-identifier": _overlook(_lacks_member("contactOrganization")),
        "contact-gender-without-identifier": _overlook(_lacks_member("gender")),
        "contact-organization-type-without-identifier": _overlook(_lacks_member("organizationType")),
        "contact-website-without-url": _overlook(_lacks_member("websites")),
        "contact-document-without-url": _overlook(_lacks_member("relevantDocuments")),
        **{
            f"contact-{entrance}-any-language-key": _overlook(
                lambda fault: fault.code == UNSPECIFIED_LOCALE and fault.path[0] != "header", meant
            )
            for entrance, meant in _ENTRANCES.items()
        },
        "contact-any-language-in-header": _overlook(
            lambda fault: fault.code == UNSPECIFIED_LOCALE and fault.path[0] == "header"
        ),
        "contact-any-language-key-of-address": _overlook(
            lambda fault: fault.code == UNSPECIFIED_LOCALE and fault.path[0] == "address"
        ),
        "contact-any-country": _overlook(lambda fault: fault.code == UNEXPECTED_TERM),
        "contact-any-property": _overlook(lambda fault: fault.code == INVALID_PROPERTY),
        **{
            f"contact-{entrance}-without-{kebab(name)}": _not_required(name, meant)
            for name in _MANDATORY_FIELDS
            for entrance, meant in _ENTRANCES.items()
        },
        "contact-create-first-name-reported-as-invalid-value": _reported(
            "firstName", Fault(INVALID_VALUE, ("firstName",)), _creating
        ),
        "contact-update-last-name-reported-under-its-title": _reported(
            "lastName", Fault(MANDATORY, ("Last Name",)), _updating
        ),
        "contact-create-organization-reported-as-any-of": _reported(
            "organization", Fault(MANDATORY_ANY_OF, ("organization",)), _creating
        ),
        "contact-update-country-reported-under-another-field": _reported(
            "country", Fault(MANDATORY, ("government",)), _updating
        ),
        "contact-create-emails-reported-in-lower-case": _reported(
            "emails", Fault("error.mandatory", ("emails",)), _creating
        ),
        "contact-update-type-reported-without-prefix": _reported(
            "type", Fault("Mandatory", ("type",)), _updating
        ),
        "contact-create-contact-organization-reported-in-lower-case": _reported(
            "contactOrganization", Fault(MANDATORY, ("contactorganization",)), _creating
        ),
        "contact-update-refused-as-overlapping-update": _refused_as_the_last(),
        "contact-type-not-named-in-bch": _other_faults(partial(_not_named, "type"), "bch-dev"),
        "contact-emails-not-named-in-chm": _other_faults(partial(_not_named, "emails"), "chm-dev"),
        **{
            f"contact-{entrance}-empty-record": _empty_accepted(meant)
            for entrance, meant in _ENTRANCES.items()
        },
        "contact-empty-record-without-code": _other_faults(_without_code),
        "contact-first-missing-only": _other_faults(_first_missing_only),
        "contact-present-field-named-missing": _other_faults(_first_name_missing_too),
        "contact-create-array": _taken(b"["),
        "contact-create-string": _taken(b'"'),
        "contact-update-null": _taken(b"n"),
        "contact-update-array": _taken(b"["),
        "contact-create-absent-body": _taken(b""),
        "contact-update-absent-body": _taken(b""),
        "contact-null-firstname": _overlook_null("firstName"),
        "contact-null-country": _overlook_null("country"),
        "contact-schema-not-needed": _schema(lambda _, name: not name),
        "contact-schema-of-any-name": _schema(_of_no_realm),
        "contact-schema-of-other-records": _schema(
            lambda service, name: bool(name) and not _of_no_realm(service, name)
        ),
    }
)


@defect("contact-refused-identifier-taken")
def _(service: Service) -> None:
    used: set[str] = set()

    async def answer(_service: Service, faithful: Handler, request: Request) -> Response:
        identifier = _in_header(await json_of(request))
        if identifier in used:
            raise Refusal(Reason.CONFLICT, "a record of this identifier exists in the realm")
        try:
            return await faithful(request)
        except Refusal as refusal:
            if refusal.faults and identifier is not None:
                used.add(identifier)
            raise

    answered(answer)(service, ("createContact",))


def _in_header(document: Any) -> str | None:
    header = document.get("header") if isinstance(document, dict) else None
    identifier = header.get("identifier") if isinstance(header, dict) else None
    return identifier if isinstance(identifier, str) else None


Body = dict[str, Any]


def _body(change: Callable[[Body], Body], when: When = always) -> Change:
    """Return the change of the body of a refusal for faulty content."""

    async def answer(service: Service, faithful: Handler, request: Request) -> Response:
        try:
            return await faithful(request)
        except Refusal as refusal:
            if not refusal.faults or not when(request):
                raise
            response = service.answers.refusal(refusal)
            return JSONResponse(change(json.loads(bytes(response.body))), response.status_code)

    return answered(answer)


def _errors(change: Callable[[list[Any]], Any]) -> Change:
    return _body(lambda body: {**body, "errors": change(body["errors"])})


def _without(body: Body) -> Body:
    return {name: value for name, value in body.items() if name != "errors"}


def _more(element: object) -> Change:
    return _errors(lambda errors: [*errors, element])


def _coded(code: str) -> Change:
    return _more({"code": code, "property": "header"})


def _recoded(code: str, instead: str) -> Change:
    return change_faults(lambda fault: replace(fault, code=instead) if fault.code == code else fault)


def _renamed(fault: Fault) -> Fault:
    return fault if fault.code == MANDATORY else replace(fault, path=("document",))


def _missing_first(faithful: Validate, document: Document, expectation: Expectation) -> list[Fault]:
    faults = faithful(document, expectation)
    missing = [fault for fault in faults if fault.code == MANDATORY and len(fault.path) == 1]
    return missing if missing and of_contact(expectation) else faults


defects(
    {
        "errors-missing-on-create": _body(_without),
        "errors-missing-on-update": _body(_without),
        "errors-missing-on-submission": _body(_without),
        "errors-missing-on-submission-update": _body(_without),
        "errors-missing-in-chm": _body(_without, in_realm("chm-dev")),
        "errors-empty": _errors(lambda _: []),
        "contacts-created-unvalidated": validate_otherwise(_unless(_creating)),
        "contacts-updated-unvalidated": validate_otherwise(_unless(_updating)),
        "errors-under-another-name": _body(
            lambda body: {**_without(body), "validationErrors": body["errors"]}
        ),
        "errors-as-object": _errors(lambda errors: {error["property"]: error["code"] for error in errors}),
        "errors-as-text": _errors(lambda errors: ", ".join(error["property"] for error in errors)),
        "errors-element-without-code": _more({"property": "document"}),
        "errors-element-without-property": _more({"code": INVALID_VALUE}),
        "errors-element-text": _more("Error.InvalidValue: document"),
        "errors-code-number": _more({"code": 3, "property": "x"}),
        "errors-property-null": _more({"code": INVALID_VALUE, "property": None}),
        "errors-property-array": _more({"code": INVALID_VALUE, "property": ["header"]}),
        "errors-unknown-code": _coded("Error.Document"),
        "errors-code-in-lower-case": _coded("error.invalidvalue"),
        "errors-code-without-prefix": _coded("InvalidValue"),
        "errors-code-empty": _coded(""),
        "errors-kind-as-value": _recoded(INVALID_TYPE, INVALID_VALUE),
        "errors-property-as-value": _recoded(INVALID_PROPERTY, INVALID_VALUE),
        "errors-locale-as-property": _recoded(UNSPECIFIED_LOCALE, INVALID_PROPERTY),
        "errors-kind-as-mandatory": _recoded(INVALID_TYPE, MANDATORY),
        "errors-locale-as-mandatory": _recoded(UNSPECIFIED_LOCALE, MANDATORY),
        "errors-term-as-value": _recoded(UNEXPECTED_TERM, INVALID_VALUE),
        "errors-property-is-document": change_faults(_renamed),
        "errors-on-success": edit(
            lambda body: {**body, "errors": [{"code": INVALID_VALUE, "property": "header"}]}
        ),
        "errors-in-two-rounds": validate_otherwise(_missing_first),
    }
)
