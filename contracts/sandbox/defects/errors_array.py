"""Defects of the errors array: not there, of another shape, with other codes or other properties."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from contracts.sandbox.defects.contacts import (
    Document,
    Validate,
    change_faults,
    of_contact,
    validate_otherwise,
)
from contracts.sandbox.defects.declaration import (
    Change,
    Handler,
    When,
    always,
    answered,
    defects,
    edit,
    in_realm,
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
        "errors-term-as-value": _recoded(UNEXPECTED_TERM, INVALID_VALUE),
        "errors-property-is-document": change_faults(_renamed),
        "errors-on-success": edit(
            lambda body: {**body, "errors": [{"code": INVALID_VALUE, "property": "header"}]}
        ),
        "errors-in-two-rounds": validate_otherwise(_missing_first),
    }
)
