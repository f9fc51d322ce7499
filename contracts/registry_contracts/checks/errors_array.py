"""Content refusals: what an errors array says, at any place and in any notation of paths.

The interface document shows elements with `code` and `property` but no notation for nested properties, so
`firstName`, `document.firstName`, `/FirstName` and `emails[0]` all name their field.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from registry_contracts.checks.outcomes import OBSTACLES, Blocked, usable
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Exchange, Response

MANDATORY: Final = "Error.Mandatory"
MANDATORY_ANY_OF: Final = "Error.MandatoryAnyOf"
INVALID_VALUE: Final = "Error.InvalidValue"
INVALID_PROPERTY: Final = "Error.InvalidProperty"
UNSPECIFIED_LOCALE: Final = "Error.UnspecifiedLocale"
UNEXPECTED_TERM: Final = "Error.UnexpectedTerm"
INVALID_TYPE: Final = "Error.InvalidType"
#: The seven codes of the interface document.
CODES: Final = frozenset(
    {
        MANDATORY,
        MANDATORY_ANY_OF,
        INVALID_VALUE,
        INVALID_PROPERTY,
        UNSPECIFIED_LOCALE,
        UNEXPECTED_TERM,
        INVALID_TYPE,
    }
)
_STEPS: Final = re.compile(r"[^./\[\]\"'$#:\s]+")


def turned_down(answer: Response) -> bool:
    """Whether a record was refused: 4xx, or an errors array with any status below 500."""
    return answer.refusal or (answer.status < 500 and bool(readers.errors(answer)))


def accepted(answer: Response) -> bool:
    """Whether a request was accepted: success, and no non-empty errors array."""
    return answer.success and not turned_down(answer)


def was_taken(exchange: Exchange) -> bool:
    """Whether the answer clearly shows that the service accepted the request."""
    try:
        return accepted(usable(exchange))
    except OBSTACLES:
        return False


def elements(answer: Response) -> Iterator[tuple[str, str]]:
    """Code and property of each well-formed element of the errors array."""
    for element in readers.errors(answer) or ():
        if well_formed(element):
            yield element["code"], element["property"]


def well_formed(element: Any) -> bool:
    """Whether an element is an object whose code and property are strings."""
    return isinstance(element, dict) and all(
        isinstance(element.get(name), str) for name in ("code", "property")
    )


def names_field(path: str, field: str) -> bool:
    """Whether a property (a name or path) is this field or inside it."""
    return field.lower() in _STEPS.findall(path.lower())


def is_field(path: str, field: str) -> bool:
    """Whether a property (a name or path) is this field itself."""
    return _STEPS.findall(path.lower())[-1:] == [field.lower()]


def is_code(seen: str, code: str) -> bool:
    """Whether a code is the one that is due.

    Which fields are a set for Error.MandatoryAnyOf is not shown, so it may report any mandatory field.
    """
    return seen == code or (code == MANDATORY and seen == MANDATORY_ANY_OF)


def reports(answer: Response, field: str, code: str | None = None) -> bool:
    """Whether the errors array names a field, with this code if one is given."""
    return any(
        names_field(path, field) and (code is None or is_code(named, code))
        for named, path in elements(answer)
    )


def holds_code(answer: Response, code: str) -> bool:
    """Whether some element has this code."""
    return any(is_code(named, code) for named, _ in elements(answer))


def outcome(exchange: Exchange) -> str:
    """The outcome for a record, for observations: `201`, `404`, or `400 errors` with an errors array."""
    answer = usable(exchange)
    return f"{answer.status} errors" if readers.errors(answer) else str(answer.status)


def describe_outcome(exchange: Exchange, members: Iterable[str]) -> str:
    """The outcome for a record and which of these members its errors name, for observations."""
    named = sorted(member for member in members if reports(usable(exchange), member))
    return f"{outcome(exchange)} for {', '.join(named)}" if named else outcome(exchange)


def with_errors(exchange: Exchange) -> Exchange:
    """Require, as a precondition, that a request was refused with readable errors.

    Raises:
        Blocked: it was accepted, or no error element is readable; the elements have clauses of their own.
    """
    if not list(elements(refused_before(exchange).answer)):
        raise Blocked(exchange.operation or exchange.method, "no errors with code and property")
    return exchange


def refused_before(exchange: Exchange) -> Exchange:
    """Require, as a precondition, that a request was refused."""
    answer = usable(exchange)
    if not turned_down(answer):
        raise Blocked(exchange.operation or exchange.method, f"accepts what it must refuse: {answer.quote()}")
    return exchange
