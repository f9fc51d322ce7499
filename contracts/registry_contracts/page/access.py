"""Whom the page answers: browsers of this machine, and what changes something only for the page itself."""

from __future__ import annotations

import hmac
import secrets
from typing import Final

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from registry_contracts.errors import EnvironmentFault, RegistryContractsError, UsageError
from registry_contracts.manual.proxy import OWN, names_this_machine
from registry_contracts.session.relay import RelayFault
from registry_contracts.settings.guard import GuardViolation

#: Carries the key; a page of another origin cannot send it unless this server allows that, which it never does.
KEY_HEADER: Final = "X-Page-Key"
#: Whatever the page shows comes from here; styles of elements and pictures in addresses are Swagger UI's.
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
#: All that an answer of the target is changed by: a browser must not answer in its place. No page is made of one, as
#: it is given to the holder of the key alone.
_FRESH: Final = {"Cache-Control": "no-store"}
_HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    **_FRESH,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_STATUSES: Final[tuple[tuple[type[Exception], int], ...]] = (
    (UsageError, 422),
    (GuardViolation, 403),
    (RelayFault, 502),
    (EnvironmentFault, 502),
    (RegistryContractsError, 500),
)


class AccessCheck:
    """Refuses other sites, and answers every known error with one line.

    Attributes:
        key: Made for each start; only the page itself knows it.
    """

    def __init__(self) -> None:
        self.key = secrets.token_urlsafe(24)

    @property
    def middleware(self) -> Middleware:
        """The check, as aiohttp takes it."""

        @web.middleware
        async def checked(request: web.Request, handler: Handler) -> web.StreamResponse:
            refusal = self._refusal(request)
            response = own_answer(refusal, 403) if refusal else await _answered(request, handler)
            of_target = request.path.startswith("/api/") and OWN not in response.headers
            response.headers.update(_FRESH if of_target else _HEADERS)
            return response

        return checked

    def _refusal(self, request: web.Request) -> str | None:
        host = request.headers.get("Host", "")
        if not names_this_machine(host):
            return "this page answers on 127.0.0.1 and localhost only"
        if request.headers.get("Origin") not in (None, f"{request.scheme}://{host}"):
            return "another site asked, which is refused"
        if request.method == "GET" and (request.path == "/" or request.path.startswith("/static/")):
            return None
        if not hmac.compare_digest(_raw(request.headers.get(KEY_HEADER, "")), _raw(self.key)):
            return "the page is older than this start of the proxy; load it again"
        return None


def own_answer(line: str, status: int) -> web.Response:
    """One line in place of an answer of the target, marked as the proxy's own."""
    error = {"error": " ".join(line.split())}
    return web.json_response(error, status=status, headers={OWN: "registry-contracts-proxy"})


async def _answered(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except (RegistryContractsError, RelayFault) as error:
        return own_answer(str(error), next(status for kind, status in _STATUSES if isinstance(error, kind)))
    except web.HTTPRequestEntityTooLarge:
        return own_answer("the request is larger than the page takes; send it with `call`", 413)
    except web.HTTPException as error:
        return own_answer(f"{error.reason}: {request.path}", error.status)


def _raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
