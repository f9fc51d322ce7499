"""What is noted at silent points, in a few words that stay the same from run to run.

Other people's data, the load of the moment and the length of a list must not show: where they could decide, the
note is None, which says that it could not be told this time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import log
from typing import Any, Final

from contracts.cases import sign_in
from contracts.cases.list_pages import Lister, Page
from contracts.exchanges import readers
from contracts.exchanges.exchange import Exchange, Response


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


def _body(answer: Response) -> str:
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


def place_of(answer: Response, document: dict[str, Any]) -> str:
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


_MINUTE, _HOUR, _DAY = 60, 3600, 86400
#: Lifetimes that services use, in seconds; a note takes the nearest, so that a second more or less is none.
LIFETIMES: Final = (
    *(minutes * _MINUTE for minutes in (1, 5, 10, 15, 20, 30, 45)),
    *(hours * _HOUR for hours in (1, 2, 4, 6, 8, 12, 16)),
    *(days * _DAY for days in (1, 2, 3, 5, 7, 14, 30, 60, 90, 180, 365)),
)
#: Fewer items show no order.
_FEWEST: Final = 3


def lifetime(seconds: float, first: Exchange, second: Exchange) -> dict[str, int | None]:
    """How long a token lives, to the nearest usual length.

    Args:
        seconds: From the first answer to the expiration it names; more than 0.
        first, second: Two sign-ins. When both give one token, it may be of any age: nothing is told then.
    """
    tokens = [sign_in.token_in(exchange.answer) for exchange in (first, second)]
    if tokens[0] == tokens[1] or seconds <= 0:
        return {"seconds": None}
    return {"seconds": min(LIFETIMES, key=lambda usual: abs(log(usual / seconds)))}


def order(seen: Sequence[str], orders: Mapping[str, Sequence[str]]) -> str | None:
    """The name of the order in which known items stand, `other` for none of them.

    Args:
        seen: Known items in the order of the page, which may lack some; too few of them show no order.
        orders: Name → all known items in that order.
    """
    fitting = [
        name for name, items in orders.items() if [item for item in items if item in seen] == list(seen)
    ]
    if len(seen) < _FEWEST or len(fitting) > 1:
        return None
    return fitting[0] if fitting else "other"


def items(lister: Lister, page: Page, known: int) -> str | None:
    """How many items a list gives without being told: `10`, or `6 or more` where it does not end early.

    Args:
        page: The list as it comes without top and skip.
        known: How many items it holds at least.
    """
    if page.size <= 0:
        return None
    following = lister.page(skip=page.size)
    if following.size > 0 and following.records != page.records:
        return str(page.size)
    return f"{known} or more" if page.size >= known else None
