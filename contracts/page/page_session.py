"""The manual session behind the page, and its guard: other origins are refused, every known error is one line."""

from __future__ import annotations

import asyncio
import hmac
import secrets
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from contracts.cases.requests import Request
from contracts.checks.outcomes import Blocked, Untested
from contracts.checks.table import Judge, Judgement
from contracts.errors import EnvironmentFault, RegistryContractsError, UsageError
from contracts.exchanges.exchange import Exchange
from contracts.manual.manual_session import Leftovers, ManualSession, SessionOptions, open_manual_session
from contracts.manual.prepared_requests import PreparedRequest
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


T = TypeVar("T")
#: Older requests are forgotten: a page shows one at a time.
_MOST_REQUESTS: Final = 200


@dataclass
class FormRequest:
    """A request that a form was filled with.

    Attributes:
        base: A valid request of the same kind, which the form began with.
        filled: What the form was filled with, a fault included where one was chosen.
        sent: What was sent in the end; None before.
        judged: What the exchange shows; None before.
        used: Whether `filled` was sent already, so that its data is not fresh any more.
        form: What the form held when it was sent, references to earlier answers included.
        recorded: The exchange without secrets; None before.
    """

    operation: str
    role: str
    realm: str
    base: PreparedRequest
    filled: PreparedRequest
    sent: PreparedRequest | None = None
    judged: Judgement | None = None
    used: bool = False
    form: Any = None
    recorded: Exchange | None = None

    def is_unchanged(self, request: Request, content: bytes | None) -> bool:
        """Whether a request is what the form was filled with."""
        return request == self.filled.request and content == self.filled.content


class PageSession:
    """A manual session that several handlers share: its requests are sent one after another.

    Args:
        options: The target and the options of the session.
        on_close: Called at the end with what stays behind on the target.
        hand_over: Takes each exchange by hand once it is over, to be judged beside what passes.
    """

    def __init__(
        self,
        options: SessionOptions,
        on_close: Callable[[Leftovers], None],
        hand_over: Callable[[Exchange], None] = lambda _: None,
    ) -> None:
        self._options = options
        self._on_close = on_close
        self._hand_over = hand_over
        self._handed_over = 0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="workbench")
        self._exit = ExitStack()
        self._session: ManualSession | None = None
        self._left = Leftovers()
        self._signed_in: set[str] = set()
        self._requests: OrderedDict[int, FormRequest] = OrderedDict()

    async def use(self, work: Callable[[ManualSession], T]) -> T:
        """Run work on the session, in its thread.

        Raises:
            RegistryContractsError: the session cannot be opened, or what the work raises.
        """
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._run, work)

    async def close(self) -> None:
        """Remove what was created, and end the thread."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._close)
        self._thread.shutdown()

    def sign_in(self, session: ManualSession, role: str) -> None:
        """Check once for each role that the target can be reached and gives a token.

        Raises:
            EnvironmentFault: it cannot be reached, or gives none.
        """
        if role not in self._signed_in:
            session.sign_in(role)
            self._signed_in.add(role)

    def judge(self, session: ManualSession) -> Judge:
        """The judge of what the session sends."""
        return Judge(session.redactor.knows)

    def keep(self, request: FormRequest) -> int:
        """Keep a request, and return its number."""
        number = next(reversed(self._requests), 0) + 1
        self._requests[number] = request
        if len(self._requests) > _MOST_REQUESTS:
            self._requests.popitem(last=False)
        return number

    def sent(self) -> list[tuple[int, FormRequest]]:
        """The requests that were sent and are kept, with their numbers, in their order."""
        return [
            (number, request) for number, request in self._requests.items() if request.recorded is not None
        ]

    def kept(self, number: int) -> FormRequest:
        """Return a request that was kept.

        Raises:
            UsageError: there is none of this number any more.
        """
        if number not in self._requests:
            raise UsageError("this request is not known any more; fill the form again with 'Valid values'")
        return self._requests[number]

    def _run(self, work: Callable[[ManualSession], T]) -> T:
        if self._session is None:
            self._session = self._exit.enter_context(open_manual_session(self._options, self._left))
        try:
            return work(self._session)
        finally:
            sent = self._session.exchanges[self._handed_over :]
            self._handed_over += len(sent)
            for exchange in sent:
                self._hand_over(exchange)

    def _close(self) -> None:
        self._exit.close()
        if self._session is not None:
            self._on_close(self._left)
