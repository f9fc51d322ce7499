"""Defects of the errors array: not there, of another shape, with other codes or other properties."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from contracts.sandbox.defects.contacts import change_faults, of_contact
from contracts.sandbox.defects.declaration import (
    CONTACTS,
    CREATE,
    CREATE_WITH,
    UPDATE,
    WORKFLOW,
    Change,
    Handler,
    When,
    always,
    around,
    defect,
    edit,
    in_realm,
    replaces,
)
from contracts.sandbox.http_requests import Fault, Refusal
from contracts.sandbox.record_types import (
    INVALID_PROPERTY,
    INVALID_TYPE,
    INVALID_VALUE,
    MANDATORY,
    UNEXPECTED_TERM,
    UNSPECIFIED_LOCALE,
    Expectation,
)
from contracts.sandbox.service import Service

_ALL = (*CONTACTS, *WORKFLOW)
Body = dict[str, Any]


def _told(operations: tuple[str, ...], change: Callable[[Body], Body], when: When = always) -> Change:
    """Return the change of the body of a refusal for faulty content."""

    def alteration(service: Service) -> None:
        async def answer(faithful: Handler, request: Request) -> Response:
            try:
                return await faithful(request)
            except Refusal as refusal:
                if not refusal.faults or not when(request):
                    raise
                response = service.answers.refusal(refusal)
                return JSONResponse(change(json.loads(bytes(response.body))), response.status_code)

        around(service, operations, answer)

    return alteration


def _errors(change: Callable[[list[Any]], Any]) -> Callable[[Body], Body]:
    return lambda body: {**body, "errors": change(body["errors"])}


def _without(body: Body) -> Body:
    return {name: value for name, value in body.items() if name != "errors"}


_ARRAYS: dict[str, tuple[str, tuple[str, ...], Callable[[Body], Body]]] = {
    "errors-missing-on-create": ("has no errors array", ("createContact",), _without),
    "errors-missing-on-update": ("has no errors array", ("updateContact",), _without),
    "errors-missing-on-submission": ("has no errors array", (CREATE,), _without),
    "errors-missing-on-submission-update": ("has no errors array", (UPDATE,), _without),
    "errors-empty": ("has an errors array with nothing in it", ("createContact",), _errors(lambda _: [])),
    "errors-under-another-name": (
        "calls its array validationErrors",
        ("updateContact",),
        lambda body: {**_without(body), "validationErrors": body["errors"]},
    ),
    "errors-as-object": (
        "has an object keyed by property for errors",
        (CREATE_WITH,),
        _errors(lambda found: {each["property"]: each["code"] for each in found}),
    ),
    "errors-as-text": (
        "has a text for errors",
        ("updateContact",),
        _errors(lambda found: ", ".join(each["property"] for each in found)),
    ),
}
for _name, (_what, _operations, _change) in _ARRAYS.items():
    defect(
        _name,
        clause="errors-array",
        operations=_operations,
        sentence=f"The refusal of faulty content {_what}, on {_operations[0]}.",
    )(_told(_operations, _change))

defect(
    "errors-missing-in-chm",
    clause="errors-array",
    operations=CONTACTS,
    realms=["chm-dev"],
    sentence="In chm-dev the refusal of a faulty contact has no errors array.",
)(_told(CONTACTS, _without, in_realm("chm-dev")))


def _more(element: object) -> Callable[[Body], Body]:
    return _errors(lambda found: [*found, element])


_SHAPES: dict[str, tuple[str, tuple[str, ...], Callable[[Body], Body]]] = {
    "errors-element-without-code": ("one without code", ("createContact",), _more({"property": "document"})),
    "errors-element-without-property": ("one without property", (UPDATE,), _more({"code": INVALID_VALUE})),
    "errors-code-number": (
        "one whose code is a number",
        ("updateContact",),
        _more({"code": 3, "property": "x"}),
    ),
    "errors-property-null": (
        "one whose property is null",
        (CREATE,),
        _more({"code": INVALID_VALUE, "property": None}),
    ),
    "errors-property-array": (
        "one whose property is an array",
        ("createContact",),
        _more({"code": INVALID_VALUE, "property": ["header"]}),
    ),
    "errors-element-text": ("one that is a text", (CREATE_WITH,), _more("Error.InvalidValue: document")),
}
for _name, (_what, _operations, _change) in _SHAPES.items():
    defect(
        _name,
        clause="errors-element-shape",
        operations=_operations,
        sentence=f"Among the errors of {_operations[0]} is {_what}.",
    )(_told(_operations, _change))

for _name, _code, _operations in (
    ("errors-unknown-code", "Error.Document", ("createContact",)),
    ("errors-code-in-lower-case", "error.invalidvalue", ("updateContact",)),
    ("errors-code-without-prefix", "InvalidValue", (CREATE,)),
    ("errors-code-empty", "", (UPDATE,)),
):
    defect(
        _name,
        clause="errors-code-known",
        operations=_operations,
        sentence=f"Among the errors of {_operations[0]} is one with the code '{_code}'.",
    )(_told(_operations, _more({"code": _code, "property": "header"})))


def _recoded(code: str, told: str) -> Change:
    return lambda service: change_faults(
        service, lambda fault: replace(fault, code=told) if fault.code == code else fault
    )


for _name, _clause, _code, _instead in (
    ("errors-kind-as-value", "errors-code-invalid-type", INVALID_TYPE, INVALID_VALUE),
    ("errors-property-as-value", "errors-code-invalid-property", INVALID_PROPERTY, INVALID_VALUE),
    ("errors-locale-as-property", "errors-code-unspecified-locale", UNSPECIFIED_LOCALE, INVALID_PROPERTY),
    ("errors-term-as-value", "errors-code-unexpected-term", UNEXPECTED_TERM, INVALID_VALUE),
):
    defect(
        _name,
        clause=_clause,
        operations=CONTACTS,
        sentence=f"What deserves {_code} is reported with {_instead}.",
    )(_recoded(_code, _instead))


@defect("errors-property-is-document", clause="errors-property-names-field", operations=CONTACTS)
def _(service: Service) -> None:
    """Every fault but a missing field is reported for the property document."""

    def renamed(fault: Fault) -> Fault:
        return fault if fault.code == MANDATORY else replace(fault, path=("document",))

    change_faults(service, renamed)


@defect("errors-on-success", clause="errors-absent-on-success", operations=_ALL)
def _(service: Service) -> None:
    """The answer to an accepted record carries an errors array with one element."""
    warning = {"code": INVALID_VALUE, "property": "header"}
    edit(service, _ALL, lambda body: {**body, "errors": [warning]})


@replaces("validator.faults", "errors-in-two-rounds", clause="errors-several-faults", operations=CONTACTS)
def _(
    _service: Service,
    faithful: Callable[..., list[Fault]],
    document: dict[str, Any],
    expectation: Expectation,
) -> list[Fault]:
    """As long as a field is missing, only missing fields are reported; other faults come with the next try."""
    found: list[Fault] = faithful(document, expectation)
    missing = [fault for fault in found if fault.code == MANDATORY and len(fault.path) == 1]
    return missing if missing and of_contact(expectation) else found
