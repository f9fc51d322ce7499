"""How answers look, in a few words that stay the same from run to run: what silent points are observed by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contracts.judging import readers
from contracts.session.exchange import Answer, Exchange


def shape(exchange: Exchange) -> dict[str, Any]:
    """Status, media type and kind of body of an answer; of an object its member names, never their values.

    Raises:
        EnvironmentFault: the environment gave no answer.
    """
    answer = exchange.answer
    return {"status": answer.status, "type": answer.media_type, "body": _body(answer)}


def status(exchange: Exchange) -> int:
    """The status of an answer.

    Raises:
        EnvironmentFault: the environment gave none.
    """
    return exchange.answer.status


def _body(answer: Answer) -> str:
    if not answer.content:
        return "empty"
    return described(answer.json) if answer.json is not None else "not JSON"


def described(value: Any) -> str:
    """A JSON value by its kind; an object with its member names, an array with those of its first item."""
    if isinstance(value, dict):
        return "object of " + (", ".join(sorted(value)) or "nothing")
    if isinstance(value, list):
        return f"array of {described(value[0])}" if value else "array of nothing"
    return "text" if isinstance(value, str) else "null" if value is None else type(value).__name__


def place_of(answer: Answer, document: dict[str, Any]) -> str:
    """Where a document stands in a body: `the body itself`, the path of a member, or `nowhere`."""
    return next(
        (path for path, value in _objects(answer.json, "") if readers.includes(value, document)), "nowhere"
    )


def _objects(value: Any, path: str, depth: int = 0) -> Iterator[tuple[str, dict[str, Any]]]:
    if depth > 8:
        return
    if isinstance(value, dict):
        yield path or "the body itself", value
        for name, member in value.items():
            yield from _objects(member, f"{path}.{name}".lstrip("."), depth + 1)
    elif isinstance(value, list):
        for item in value:
            yield from _objects(item, f"{path}[]", depth + 1)
