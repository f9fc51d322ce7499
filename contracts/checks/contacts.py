"""Checks of the chapter on validation errors: the errors array, its elements and their codes."""

from __future__ import annotations

from typing import Any, Final

from contracts.checks import errors_array
from contracts.checks.definition import Arguments, Check, Subject, on_accepted, quoted_unless
from contracts.exchanges import readers
from contracts.exchanges.exchange import Response


def _refusal_of_content(subject: Subject, _: str) -> Arguments | None:
    """A refusal of a request whose content alone is at fault, where it holds an errors array."""
    facts = subject.facts
    array = readers.errors(subject.response) if subject.turned_down else None
    if facts is None or not array:
        return None
    faulty = bool(facts.faults) and all(fault.in_content for fault in facts.faults)
    return {} if faulty or (facts.operation.family == "workflow" and _tells_of_content(array)) else None


def _tells_of_content(array: list[Any]) -> bool:
    """Whether an element has one of the seven codes: a submission's content is shaped by a schema that is not shown."""
    codes = (element.get("code") for element in array if isinstance(element, dict))
    return any(isinstance(code, str) and code in errors_array.CODES for code in codes)


def _odd_element(response: Response) -> str | None:
    odd = [error for error in readers.errors(response) or () if not errors_array.well_formed(error)]
    return f"{odd[:1]}" if odd else None


def _strange_codes(response: Response) -> str | None:
    strange = sorted({code for code, _ in errors_array.elements(response)} - errors_array.CODES)
    return ", ".join(strange) if strange else None


def _not_named(response: Response, *, code: str, field: str) -> str | None:
    return None if errors_array.reports(response, field, code) else response.quote()


ERRORS_ARRAY: Final = Check(
    "errors-array",
    "an errors array with at least one element",
    quoted_unless(lambda response: bool(readers.errors(response))),
    clauses=("errors-array",),
    line="content_refused(sent)",
)
ERROR_NAMED: Final = Check(
    "error-named",
    "{code} for {field} among the errors",
    _not_named,
    line='reports(sent, "{code}", "{field}")',
)
ELEMENT_SHAPE: Final = Check(
    "error-elements",
    "objects with a string code and a string property",
    _odd_element,
    clauses=("errors-element-shape",),
    applies=_refusal_of_content,
    of_form=True,
)
ELEMENT_CODES: Final = Check(
    "error-codes",
    "one of the seven documented codes",
    _strange_codes,
    clauses=("errors-code-known",),
    applies=_refusal_of_content,
    after="errors-element-shape",
    of_form=True,
)
NO_ERRORS: Final = Check(
    "no-errors",
    "no errors array",
    quoted_unless(lambda response: not readers.errors(response)),
    clauses=("errors-absent-on-success",),
    applies=on_accepted,
)
CHECKS: Final = (ERRORS_ARRAY, ERROR_NAMED, ELEMENT_SHAPE, ELEMENT_CODES, NO_ERRORS)
