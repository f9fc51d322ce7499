"""Defects of contact requests as a whole: bodies that are no contact, null, and the schema in the query."""

from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from contracts.sandbox.defects.altering import Handler, alter, around, json_of
from contracts.sandbox.defects.contact_faults import of_contact, overlook_value
from contracts.sandbox.defects.groups import CONTACTS
from contracts.sandbox.defects.registry import defect
from contracts.sandbox.query import query_value
from contracts.sandbox.realms import Realm
from contracts.sandbox.record_types import CONTACT, RecordType
from contracts.sandbox.refusals import Reason, Refusal
from contracts.sandbox.service import Service

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
