"""How a defect alters a service: one method is replaced by one that can still call the faithful one."""

import functools
import json
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from contracts.sandbox.app import OPERATIONS
from contracts.sandbox.http_requests import header_value
from contracts.sandbox.refusals import Refusal
from contracts.sandbox.service import Service

Handler = Callable[[Request], Awaitable[Response]]
Around = Callable[[Handler, Request], Awaitable[Response]]
When = Callable[[Request], bool]

_PLACES = {operation: place.split(".") for operation, _, _, place in OPERATIONS}


def alter(part: object, method: str, instead: Callable[..., Any]) -> None:
    """Replace one method of one part.

    Args:
        part: a part of the service.
        method: name of the method.
        instead: called in its place, with the faithful method before the arguments.

    """
    faithful = getattr(part, method)

    @functools.wraps(faithful)
    def altered(*arguments: Any, **named: Any) -> Any:
        return instead(faithful, *arguments, **named)

    setattr(part, method, altered)


def around(service: Service, operations: Iterable[str], answer: Around) -> None:
    """Let ``answer`` answer the requests of some operations; it is given the faithful handler too."""
    for operation in operations:
        part, method = _PLACES[operation]
        alter(getattr(service, part), method, answer)


def always(_: Request) -> bool:
    """Tell that every request is meant."""
    return True


def in_realm(*names: str) -> When:
    """Return the test for a request whose Realm header names one of the realms."""
    return lambda request: header_value(request, "realm") in names


class Every:
    """Counts its calls and is true at each n-th: rare, and still the same on every run.

    Args:
        number: n.

    """

    def __init__(self, number: int) -> None:
        self.number = number
        self.calls = 0

    def __call__(self, *_: object) -> bool:
        """Count one call."""
        self.calls += 1
        return self.calls % self.number == 0


def refuse(
    service: Service, operations: Iterable[str], refusal: Callable[[str], Refusal], when: When = always
) -> None:
    """Refuse the requests that ``when`` means, before anything else is looked at."""

    async def answer(faithful: Handler, request: Request) -> Response:
        if when(request):
            raise refusal("this is refused")
        return await faithful(request)

    around(service, operations, answer)


def pretend(
    service: Service, operations: Iterable[str], body: Any, status: int = 200, when: When = always
) -> None:
    """Answer the requests that ``when`` means with success and do nothing; body ``None`` is no body."""

    async def answer(faithful: Handler, request: Request) -> Response:
        if when(request):
            return Response(status_code=status) if body is None else JSONResponse(body, status)
        return await faithful(request)

    around(service, operations, answer)


def forgive(
    service: Service, operations: Iterable[str], body: Any, status: int = 200, when: When = always
) -> None:
    """Answer with success where the faithful handler refuses; body ``None`` is no body."""

    async def answer(faithful: Handler, request: Request) -> Response:
        try:
            return await faithful(request)
        except Refusal:
            if not when(request):
                raise
            return Response(status_code=status) if body is None else JSONResponse(body, status)

    around(service, operations, answer)


def edit(
    service: Service, operations: Iterable[str], change: Callable[[Any], Any], when: When = always
) -> None:
    """Change the JSON value that a successful answer carries."""

    async def answer(faithful: Handler, request: Request) -> Response:
        response = await faithful(request)
        if not when(request) or not response.body:
            return response
        return JSONResponse(change(json.loads(bytes(response.body))), response.status_code)

    around(service, operations, answer)


def edit_refusal(
    service: Service,
    operations: Iterable[str],
    change: Callable[[Refusal], Refusal],
    when: When = always,
) -> None:
    """Change the refusals of some operations."""

    async def answer(faithful: Handler, request: Request) -> Response:
        try:
            return await faithful(request)
        except Refusal as refusal:
            raise (change(refusal) if when(request) else refusal) from None

    around(service, operations, answer)


async def json_of(request: Request) -> Any:
    """Return the JSON value of a request before its handler reads it; ``None`` when it is not JSON."""
    try:
        return json.loads(await request.body())
    except (ValueError, RecursionError):
        return None
