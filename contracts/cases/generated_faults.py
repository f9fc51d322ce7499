"""Single faults that Schemathesis's coverage phase generates from the OpenAPI description; nothing here sends.

The only module that touches Schemathesis's internals (pinned version; `tests/meta/cases/test_generated_faults.py`
watches them). Only the faulty part of a generated case is kept: it is put into a request that is known to be valid,
so that nothing but the fault can be the reason of a refusal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, Final

import schemathesis
from schemathesis.core import NotSet
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation import GenerationMode, overrides
from schemathesis.generation.case import Case
from schemathesis.generation.drivers import CoverageGenerator
from schemathesis.generation.feedback import NO_FEEDBACK
from schemathesis.generation.meta import CoveragePhaseData, CoverageScenario

from contracts.interface.description import load_description
from contracts.interface.operations import UID_LONGEST, UID_SHORTEST, is_valid_uid

#: Marks a part that is left out.
ABSENT: Final = NotSet()

_KINDS: Final = {
    CoverageScenario.INCORRECT_TYPE: "wrong-kind",
    CoverageScenario.STRING_ABOVE_MAX_LENGTH: "too-long",
    CoverageScenario.STRING_BELOW_MIN_LENGTH: "too-short",
    CoverageScenario.INVALID_PATTERN: "pattern",
    CoverageScenario.INVALID_FORMAT: "pattern",
    CoverageScenario.OBJECT_INVALID_PROPERTY_NAME: "pattern",
    CoverageScenario.INVALID_ENUM_VALUE: "unknown-value",
    CoverageScenario.OBJECT_UNEXPECTED_PROPERTIES: "unknown-property",
    CoverageScenario.OBJECT_MISSING_REQUIRED_PROPERTY: "missing",
    CoverageScenario.MISSING_PARAMETER: "missing",
    CoverageScenario.MALFORMED_CONTENT_TYPE: "unknown-value",
    CoverageScenario.UNSUPPORTED_CONTENT_TYPE: "unknown-value",
}
_MISSING: Final = re.compile(r"Missing required property: (\S+)$")
_UNKNOWN: Final = "x-schemathesis-unknown-property"
#: On the wire every parameter is text, so a wrong type of these is just an unknown value.
_TEXT_PLACES: Final = (ParameterLocation.HEADER, ParameterLocation.QUERY, ParameterLocation.PATH)
_UIDS: Final = ("uid", "identifier")
#: Operation, place and kind of faults of which a scenario sends every one in every realm, gate included.
_MET_ALREADY: Final = frozenset(
    {
        ("createContact", "body", "wrong-kind"),
        ("createContact", "body", "missing"),
        ("createContact", "body", "pattern"),
        ("updateContact", "body", "missing"),
        ("updateContact", "body", "pattern"),
    }
)


@dataclass(frozen=True)
class Fault:
    """One fault in one part of a request.

    Attributes:
        place: `path`, `query`, `header` or `body`.
        name: Parameter name, or the member's steps joined by dots, `*` for any member or item; empty for a whole body.
        kind: What is wrong, in the catalogue's words.
        value: What stands in the part instead; `ABSENT` when it is left out.
    """

    place: str
    name: str
    kind: str
    value: Any = field(compare=False)

    @property
    def key(self) -> str:
        """The fault in the catalogue's notation, such as `body.firstName:missing`."""
        return f"{self.place}.{self.name}:{self.kind}" if self.name else f"{self.place}:{self.kind}"


@cache
def faults(operation: str, realm: str) -> tuple[Fault, ...]:
    """Every fault that the coverage phase makes of an operation in a realm; the same each time."""
    return tuple(fault for case in _negative_cases(operation, realm) if (fault := _fault(case)))


def make_all() -> None:
    """Make the faults of every operation in every realm now, so that forks of this process need not."""
    for name, operation in load_description().operations.items():
        for realm in operation.realms:
            faults(name, realm)


def one_of_each(
    operation: str, realm: str, realms: Sequence[str], judged: Callable[[Fault], bool] = lambda _: True
) -> tuple[Fault, ...]:
    """One value for each kind of fault, the kinds dealt out among the realms of a run.

    The scenarios judge every clause in every realm already; here each kind of fault is sent once in a run, each
    operation beginning with another realm. What a scenario sends in full in every realm is left out, and so is what
    is not `judged`.
    """
    grouped: dict[str, list[Fault]] = {}
    for fault in faults(operation, realm):
        if (operation, fault.place, fault.kind) not in _MET_ALREADY and judged(fault):
            grouped.setdefault(fault.key, []).append(fault)
    turn = sum(map(ord, operation))
    place = realms.index(realm) if realm in realms else 0
    groups = list(grouped.values())
    dealt = [group for number, group in enumerate(groups) if (number + turn) % len(realms) == place]
    dealt = dealt or groups[place % max(1, len(groups)) :][:1]
    return tuple(_plainest(group, turn) for group in dealt)


def _plainest(group: list[Fault], turn: int) -> Fault:
    """One of a kind, but no number, boolean or null where there is a plainer fault: services read those kindly."""
    plain = [fault for fault in group if not isinstance(fault.value, int | float | None)]
    return (plain or group)[turn % len(plain or group)]


@lru_cache(maxsize=8)
def _schema(realm: str) -> Any:
    # Undeclared methods are never tried: on a shared environment they might work.
    config = schemathesis.Config.from_dict({"phases": {"coverage": {"unexpected-methods": []}}})
    return schemathesis.openapi.from_dict(load_description().for_realm(realm), config=config)


def _negative_cases(operation: str, realm: str) -> Iterator[Case[Any]]:
    described = _schema(realm).find_operation_by_id(operation)
    config = described.schema.config
    return iter(
        CoverageGenerator(
            operation=described,
            generation_modes=[GenerationMode.NEGATIVE],
            auth_storage=None,
            feedback=NO_FEEDBACK,
            generation_config=config.generation_for(operation=described, phase="coverage"),
            override=overrides.with_config_headers(config, operation=described),
        )
    )


def _fault(case: Case[Any]) -> Fault | None:
    """The one fault of a generated case; None for what is no fault on the wire."""
    data = case.meta.phase.data if case.meta else None
    if (
        not isinstance(data, CoveragePhaseData)
        or data.scenario not in _KINDS
        or data.parameter_location is None
    ):
        return None
    if data.parameter_location is ParameterLocation.BODY:
        return _body_fault(case, data)
    return _parameter_fault(case, data) if data.parameter_location in _TEXT_PLACES else None


def _parameter_fault(case: Case[Any], data: CoveragePhaseData) -> Fault | None:
    place = str(data.parameter_location.value if data.parameter_location else "")
    holder = {"path": case.path_parameters, "query": case.query, "header": case.headers}[place]
    kind = _KINDS[data.scenario]
    if kind == "unknown-property":
        return Fault(place, "", kind, {_UNKNOWN: "42"}) if place == "query" else None
    name = data.parameter
    if not name:
        return None
    if kind == "missing":
        return Fault(place, name, kind, ABSENT)
    value = (holder or {}).get(name, ABSENT)
    if isinstance(value, NotSet):
        return None
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    return _text_fault(place, name, kind, text)


def _text_fault(place: str, name: str, kind: str, text: str) -> Fault | None:
    if name in _UIDS and place == "path":
        return _uid_fault(place, name, text)
    if kind == "wrong-kind" and name != "attachmentId":
        kind = "unknown-value"
    return Fault(place, name, kind, text)


def _uid_fault(place: str, name: str, text: str) -> Fault | None:
    if is_valid_uid(text):
        return None
    kind = "too-short" if len(text) < UID_SHORTEST else "too-long" if len(text) > UID_LONGEST else "pattern"
    return Fault(place, name, kind, text)


def _body_fault(case: Case[Any], data: CoveragePhaseData) -> Fault | None:
    steps = _steps(data.location or "")
    kind = _KINDS[data.scenario]
    if kind == "missing":
        match = _MISSING.search(data.description or "")
        return Fault("body", ".".join([*steps, match.group(1)]) if match else "", kind, ABSENT)
    if kind == "unknown-property":
        return Fault("body", ".".join(steps), kind, {_UNKNOWN: 42})
    if isinstance(case.body, NotSet):
        return None
    value = _member(case.body, steps)
    return Fault("body", ".".join(steps), kind, _filled(value) if kind == "wrong-kind" else value)


def _filled(value: Any) -> Any:
    """A value that is not empty in place of one that is: whether what is empty counts as missing is not shown."""
    if isinstance(value, list) and not any(value):
        return ["42"]
    filled: dict[Any, Any] = {dict: {"text": "42"}, str: "42"}
    return value if value else filled.get(type(value), value)


def _steps(pointer: str) -> list[str]:
    """Members and items that a schema pointer leads through: `/properties/a/items/type` is `a.*`."""
    words = pointer.strip("/").split("/")
    steps: list[str] = []
    while len(words) > 1:
        word = words.pop(0)
        if word == "properties":
            steps.append(words.pop(0))
        elif word == "items":
            steps.append("*")
        elif word == "additionalProperties":
            words.pop(0)
            steps.append("*")
    return steps


def _member(value: Any, steps: list[str]) -> Any:
    """The value at the end of the steps; the last member or item for a star, where the fault is put."""
    for step in steps:
        value = _last(value) if step == "*" else value[step]
    return value


def _last(holder: Any) -> Any:
    return list(holder.values())[-1] if isinstance(holder, dict) else holder[-1]
