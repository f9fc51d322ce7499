"""The page's middleware: refuses other origins and host names, and turns every known error into one line."""

from __future__ import annotations

import hmac
import secrets
from typing import Final
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from contracts.checks.outcomes import Blocked, Untested
from contracts.errors import EnvironmentFault, RegistryContractsError, UsageError
from contracts.settings.guard import GuardViolation

#: Names of this machine; any other name may have been made to point here (DNS rebinding).
HOSTS: Final = frozenset({"127.0.0.1", "localhost", "::1"})
KEY_HEADER: Final = "X-Page-Key"
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class AccessCheck:
    """The middleware of the page.

    Attributes:
        key: Made for each start; a request that changes something has to carry it, which only our own page can.
    """

    def __init__(self) -> None:
        self.key = secrets.token_urlsafe(24)

    @property
    def middleware(self) -> Middleware:
        """The middleware, as aiohttp takes it."""

        @web.middleware
        async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
            refusal = self._refusal(request)
            response = _error(refusal, 403) if refusal else await _answered(request, handler)
            if not response.prepared:
                response.headers.update(_HEADERS)
            return response

        return guarded

    def _refusal(self, request: web.Request) -> str | None:
        if _host_name(request.headers.get("Host", "")) not in HOSTS:
            return "this page answers on 127.0.0.1 and localhost only"
        if request.method in ("GET", "HEAD"):
            return None
        origin = request.headers.get("Origin")
        if origin is not None and origin != f"{request.scheme}://{request.headers['Host']}":
            return "another site asked, which is refused"
        if not hmac.compare_digest(_raw(request.headers.get(KEY_HEADER, "")), _raw(self.key)):
            return "the page is older than this start of the program; load it again"
        return None


def policy_headers() -> dict[str, str]:
    """Headers for an answer that is sent piece by piece."""
    return dict(_HEADERS)


def _raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _host_name(host: str) -> str | None:
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None


async def _answered(request: web.Request, handler: Handler) -> web.StreamResponse:
    """The response of a handler, or one line with the error."""
    try:
        return await handler(request)
    except (UsageError, GuardViolation, Untested) as error:
        return _error(str(error), 422)
    except (EnvironmentFault, Blocked) as error:
        return _error(str(error), 503)
    except RegistryContractsError as error:
        return _error(str(error), 500)
    except web.HTTPRequestEntityTooLarge:
        return _error("the request is larger than the page takes; send so large a file with `call`", 413)
    except web.HTTPException as error:
        return _error(f"{error.reason}: {request.path}", error.status)


def _error(text: str, status: int) -> web.Response:
    return web.json_response({"error": " ".join(text.split())}, status=status)
