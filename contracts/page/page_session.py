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


@dataclass
class FormRequest:
    """A request that was filled in for somebody.

    Attributes:
        base: A valid request of the same kind, which the form began with.
        given: What the form was filled with, one fault included where one was asked for.
        sent: What was sent in the end; None before.
        judged: What the exchange shows; None before.
        used: Whether `given` was sent already, so that its data is fresh no more.
    """

    operation: str
    role: str
    realm: str
    base: PreparedRequest
    given: PreparedRequest
    sent: PreparedRequest | None = None
    judged: Judgement | None = None
    used: bool = False

    def is_given(self, request: Request, content: bytes | None) -> bool:
        """Whether a request is what the form was filled with."""
        return request == self.given.request and content == self.given.content


T = TypeVar("T")
#: Older ones are forgotten: a page shows one trial at a time.
_REMEMBERED: Final = 200


class PageSession:
    """A session for a page: requests are sent one after another, whoever asks.

    Args:
        options: What the session is opened on.
        said: Told at the end what stays behind on the target.
    """

    def __init__(self, options: SessionOptions, said: Callable[[Leftovers], None]) -> None:
        self._aim = options
        self._said = said
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="workbench")
        self._open = ExitStack()
        self._session: ManualSession | None = None
        self._left = Leftovers()
        self._signed_in: set[str] = set()
        self._trials: OrderedDict[int, FormRequest] = OrderedDict()

    async def use(self, work: Callable[[ManualSession], T]) -> T:
        """Do something with the session, in its thread.

        Raises:
            RegistryContractsError: the session cannot be opened, or what the work raises.
        """
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._do, work)

    async def close(self) -> None:
        """Remove what was created, and end the thread."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._close)
        self._thread.shutdown()

    def sign_in(self, session: ManualSession, role: str) -> None:
        """See once for each role that the target can be reached and gives a token.

        Raises:
            EnvironmentFault: it cannot, or does not.
        """
        if role not in self._signed_in:
            session.sign_in(role)
            self._signed_in.add(role)

    def judge(self, session: ManualSession) -> Judge:
        """Who judges what the session sends."""
        return Judge(session.redactor.knows)

    def remember(self, trial: FormRequest) -> int:
        """Keep a trial, and say under which number."""
        number = next(reversed(self._trials), 0) + 1
        self._trials[number] = trial
        if len(self._trials) > _REMEMBERED:
            self._trials.popitem(last=False)
        return number

    def recall(self, number: int) -> FormRequest:
        """A trial that was kept.

        Raises:
            UsageError: it is forgotten, or never was.
        """
        if number not in self._trials:
            raise UsageError("this request is not known any more; fill the form again with 'Valid values'")
        return self._trials[number]

    def _do(self, work: Callable[[ManualSession], T]) -> T:
        if self._session is None:
            self._session = self._open.enter_context(open_manual_session(self._aim, self._left))
        return work(self._session)

    def _close(self) -> None:
        self._open.close()
        if self._session is not None:
            self._said(self._left)
