"""The manual session behind the page: opened on first use, used by one thread, closed with the page."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final, TypeVar

from contracts.cases.requests import Request
from contracts.checks.single import Judge, Judgement
from contracts.errors import UsageError
from contracts.manual.manual_session import Leftovers, ManualSession, SessionOptions, open_manual_session
from contracts.manual.prepared_requests import PreparedRequest

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
    """

    operation: str
    role: str
    realm: str
    base: PreparedRequest
    filled: PreparedRequest
    sent: PreparedRequest | None = None
    judged: Judgement | None = None
    used: bool = False

    def is_unchanged(self, request: Request, content: bytes | None) -> bool:
        """Whether a request is what the form was filled with."""
        return request == self.filled.request and content == self.filled.content


class PageSession:
    """A manual session that several handlers share: its requests are sent one after another.

    Args:
        options: The target and the options of the session.
        on_close: Called at the end with what stays behind on the target.
    """

    def __init__(self, options: SessionOptions, on_close: Callable[[Leftovers], None]) -> None:
        self._options = options
        self._on_close = on_close
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
        return work(self._session)

    def _close(self) -> None:
        self._exit.close()
        if self._session is not None:
            self._on_close(self._left)
