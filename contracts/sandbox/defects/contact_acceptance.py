"""Defects that turn away good contacts."""

from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.defects.altering import Handler, around, in_realm
from contracts.sandbox.defects.contact_faults import creating, extra_faults, updating
from contracts.sandbox.defects.groups import CONTACTS
from contracts.sandbox.defects.registry import defect
from contracts.sandbox.record_types import RecordType
from contracts.sandbox.refusals import Fault, Reason, Refusal, not_found
from contracts.sandbox.service import Service
from contracts.sandbox.validation import INVALID_PROPERTY, INVALID_TYPE, MANDATORY, Expectation

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
