"""Requests with one fault each, as Schemathesis's coverage phase makes them from the OpenAPI description.

A generated case is valid except for one part. That part is put into a request that the service accepts, with the
run's own identifiers, so that only the fault can cause a refusal. `faults` in the catalogue names the clause that
rules a fault out, and its level.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from inspect import Parameter, signature
from typing import Any, Final
from urllib.parse import unquote

import pytest
import schemathesis

from registry_contracts.cases.requests import ABSENT, Request
from registry_contracts.cases.sample_records import LOCALISED_FIELDS
from registry_contracts.exchanges.request_facts import faults_of_body
from registry_contracts.interface.operations import UID_LONGEST, UID_SHORTEST, is_valid_uid
from registry_contracts.session.namespace import Namespace

#: A generated request.
Case = schemathesis.Case[Any]
#: Schemathesis's descriptions of faults → the catalogue's.
_KINDS: Final[Mapping[str, str]] = {
    "Missing": "missing",
    "String larger than maxLength": "too-long",
    "String smaller than minLength": "too-short",
    "Value not matching": "pattern",
    "Invalid enum value": "unknown-value",
    # On the wire every parameter is text, so another type is just another value.
    "Incorrect type": "unknown-value",
    "Object with unexpected properties": "unknown-property",
    "Unsupported Content-Type": "unknown-value",
    "Malformed Content-Type": "malformed",
}
#: The one parameter whose type shows in its text.
_NUMBER: Final = "attachmentId"
_UIDS: Final = ("uid", "identifier")
#: The language in the headers of our records.
_DECLARED: Final = "en"
#: Replaces empty values: the document does not say whether they count as missing.
_WORD: Final = "Maathai"


def with_generated_cases(test: Callable[..., None]) -> Callable[..., None]:
    """Give a test all generated `cases` of its operation.

    They are made when the test runs, not when it is collected; the fixture `description` names the operation.
    """
    generated: list[Case] = []

    def collect(case: Case) -> None:
        generated.append(case)

    generate = schemathesis.pytest.from_fixture("description").parametrize()(collect)

    @wraps(test)
    def run(request: pytest.FixtureRequest, **fixtures: Any) -> None:
        generated.clear()
        generate(request=request)
        test(cases=tuple(generated), **fixtures)

    own = signature(test)
    request = Parameter("request", Parameter.KEYWORD_ONLY)
    others = [each for name, each in own.parameters.items() if name != "cases"]
    run.__signature__ = own.replace(parameters=[*others, request])  # type: ignore[attr-defined]
    return run


@dataclass(frozen=True)
class Fault:
    """One fault in one part of a request.

    Attributes:
        place: `path`, `query`, `header` or `body`.
        steps: The name of the parameter, or the path to the member to replace in a valid body.
        key: In the catalogue's notation, for example `body.firstName:missing`.
        value: The faulty value; `ABSENT` if the part is left out.
    """

    place: str
    steps: tuple[str, ...]
    key: str
    value: Any = field(compare=False)

    @property
    def name(self) -> str:
        """The last of the steps; empty for a whole body."""
        return self.steps[-1] if self.steps else ""

    @property
    def kind(self) -> str:
        """What is wrong, in the catalogue's words."""
        return self.key.rpartition(":")[2]


def fault_of(operation: str, case: Case) -> Fault | None:
    """The fault of a generated case; None if it is no fault on the wire."""
    data: Any = case.meta.phase.data if case.meta else None
    place = str(data.parameter_location.value) if data.parameter_location else ""
    kind = next((word for says, word in _KINDS.items() if data.description.startswith(says)), "")
    if place == "body" and data.parameter:
        return _in_body(operation, case.body)
    name = data.parameter or ""
    if kind == "missing":
        return _fault(place, name, kind, ABSENT)
    holder: Mapping[str, Any] = (
        getattr(case, {"path": "path_parameters", "header": "headers"}.get(place, place)) or {}
    )
    if kind == "unknown-property":
        # Unknown headers are no fault.
        unknown = {name: text for name, text in holder.items() if name.startswith("x-schemathesis")}
        return _fault(place, "", kind, unknown) if place == "query" else None
    value = holder[name]
    text = unquote(",".join(map(str, value)) if isinstance(value, list) else str(value))
    if place == "path" and name in _UIDS:
        if is_valid_uid(text):
            return None
        kind = (
            "too-short" if len(text) < UID_SHORTEST else "too-long" if len(text) > UID_LONGEST else "pattern"
        )
    return _fault(place, name, "wrong-kind" if name == _NUMBER else kind, text)


def _fault(place: str, name: str, kind: str, value: Any) -> Fault:
    return Fault(
        place, (name,) if name else (), f"{place}.{name}:{kind}" if name else f"{place}:{kind}", value
    )


def _in_body(operation: str, body: Any) -> Fault:
    """The fault of a body that is wrong in one member or altogether."""
    if not isinstance(body, dict):
        return Fault("body", (), "body:wrong-kind", _filled(body))
    (found,) = faults_of_body(operation, body)
    place, _, kind = found.key.partition(":")
    steps = tuple(place.split(".")[1:])
    if not steps:
        unknown = {name: value for name, value in body.items() if name.startswith("x-schemathesis")}
        return Fault("body", (), found.key, unknown)
    # Replace a whole member; in a header only the faulty one, since the rest of a header has to stay valid.
    put = steps[: 2 if steps[0] == "header" and len(steps) > 1 else 1]
    value = body
    for step in put:
        value = value.get(step, ABSENT)
    if put[0] in LOCALISED_FIELDS and isinstance(value, dict):
        value = {_DECLARED if name == "aa" else name: text for name, text in value.items()}
    wrong = walk(body, steps) if not found.firm else ""
    if wrong not in ("", [], {}):
        # Many services accept these; the document does not say. Empty values are filled below.
        kind = "null" if wrong is None else "number"
    return Fault("body", put, f"{place}:{kind}", _filled(value))


def walk(value: Any, steps: Iterable[str]) -> Any:
    """The value at the end of some steps; an item's step is its number.

    Raises:
        KeyError, IndexError, TypeError, ValueError: there is no value.
    """
    for step in steps:
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


def _filled(value: Any) -> Any:
    """The value with all empty places filled."""
    if value == "":
        return _WORD
    if value == {}:
        return {"text": _WORD}
    if value in ([], [None, None]):
        return [_WORD]
    if isinstance(value, list):
        return [_filled(item) for item in value]
    return {name: _filled(member) for name, member in value.items()} if isinstance(value, dict) else value


def with_fault(request: Request, fault: Fault, fresh: Namespace) -> Request:
    """The request with one part replaced by the faulty one."""
    if fault.place == "body":
        return replace(request, body=_body(request, fault))
    if fault.place == "header":
        value = None if fault.value is ABSENT else str(fault.value)
        return replace(request, headers={**request.headers, fault.name: value})
    if fault.place == "query":
        added = fault.value if fault.kind == "unknown-property" else {fault.name: fault.value}
        query = {**request.query, **added}
        return replace(request, query={name: text for name, text in query.items() if text is not ABSENT})
    value = _inside(str(fault.value), fresh) if fault.name in _UIDS else str(fault.value)
    return replace(request, path={**request.path, fault.name: value})


def _inside(value: str, fresh: Namespace) -> str:
    """A faulty identifier moved into the run's namespace; it keeps its fault."""
    moved = fresh.prefix + value
    right_length = UID_SHORTEST <= len(value) <= UID_LONGEST
    return moved if right_length else moved[: max(len(value), len(fresh.prefix) + 1)]


def _body(request: Request, fault: Fault) -> Any:
    if fault.kind == "unknown-property":
        return request.body | fault.value
    if not fault.steps:
        return fault.value
    body = copy.deepcopy(request.body)
    holder = walk(body, fault.steps[:-1])
    if fault.value is ABSENT:
        holder.pop(fault.name, None)
    else:
        holder[fault.name] = copy.deepcopy(fault.value)
    return body
