"""An exchange that passed through the proxy, read again: to be shown, judged by itself, and sent once more.

What passes through the proxy, told to every page that looks on, as server-sent events.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Final

from aiohttp import web

from contracts.errors import UsageError
from contracts.evidence.record import RecordedExchange
from contracts.exchanges.traffic_exchange import Body, Pairs, Passed
from contracts.interface.catalogue import load_catalogue
from contracts.interface.operations import ANY_REALM
from contracts.manual.check import read_entry
from contracts.manual.traffic_findings import Feed, Seen, Side, TrafficFinding
from contracts.page.guard import policy_headers
from contracts.page.requests import exchange_words
from contracts.settings.target import ANONYMOUS, AUTHOR


def passed_of(seen: Seen) -> Passed:
    """What passed, in parts.

    Raises:
        UsageError: it was not kept in full.
    """
    passed = read_entry(seen.number, seen.exchange)
    if passed is None:
        raise UsageError(f"exchange {seen.number} was not kept in full")
    return passed


def role_of(passed: Passed) -> str:
    """The role that comes closest to who sent a request: who signed in is not told by a token."""
    signed_in = (passed.header("Authorization") or "").strip() or "/authentication/token" in passed.url
    return AUTHOR if signed_in else ANONYMOUS


def recorded_of(seen: Seen) -> RecordedExchange:
    """An exchange as the reports show one.

    Raises:
        UsageError: it was not kept in full.
    """
    passed = passed_of(seen)
    answered = {
        "status": passed.status,
        "reason": passed.reason,
        "headers": _listed(passed.answer_headers),
        "body": _body(passed.answer_body),
    }
    return RecordedExchange(
        id=f"passed {seen.number}",
        case="through the proxy",
        attempt=1,
        realm=seen.realm or ANY_REALM,
        role="a client",
        operation=seen.operation,
        started=seen.at,
        seconds=seen.milliseconds / 1000,
        request={
            "method": passed.method,
            "url": passed.url,
            "http_version": "1.1",
            "headers": _listed(passed.request_headers),
            "body": _body(passed.request_body),
        },
        response=answered if passed.status else None,
        fault=passed.fault,
        retries=0,
    )


def _listed(pairs: Pairs) -> list[list[str]]:
    return [[name, value] for name, value in pairs]


def _body(body: Body) -> dict[str, Any] | None:
    if not body.content and body.known:
        return None
    shown: dict[str, Any] = {"size": max(body.size, len(body.content), 1), "truncated": not body.known}
    shown["sha256"] = hashlib.sha256(body.content).hexdigest()
    if not body.content:
        return {**shown, "text": "(not kept)"}
    try:
        return {**shown, "text": body.content.decode("utf-8")}
    except UnicodeDecodeError:
        return shown


#: How long the feed is waited for at a time; the page's end waits no longer than that.
_PATIENCE_SECONDS: Final = 0.5
#: A page that hears nothing for so long is told that it still listens.
_QUIET_SECONDS: Final = 15.0


class Pump:
    """Waits for the feed in one thread, and wakes every page."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._last = 0
        self._ended = False
        self._news = asyncio.Condition()

    async def run(self, _: web.Application) -> AsyncIterator[None]:
        """Pump for as long as the application runs."""
        with ThreadPoolExecutor(1, thread_name_prefix="page-feed") as thread:
            task = asyncio.get_running_loop().create_task(self._pump(thread))
            yield
            await self.end()
            await task

    async def end(self, _: web.Application | None = None) -> None:
        """Let every page go, so that the server need not wait for those that still listen."""
        self._ended = True
        await self._wake()

    async def _pump(self, thread: ThreadPoolExecutor) -> None:
        loop = asyncio.get_running_loop()
        while not self._ended:
            news = await loop.run_in_executor(thread, self._feed.wait, self._last, _PATIENCE_SECONDS)
            if news:
                self._last = news[-1].number
                await self._wake()
            else:
                # A feed that is closed does not wait.
                await asyncio.sleep(0.05)

    async def _wake(self) -> None:
        async with self._news:
            self._news.notify_all()

    async def stream(self, request: web.Request) -> web.StreamResponse:
        """Tell a page what there is, and then what comes."""
        after = request.headers.get("Last-Event-ID") or request.query.get("after", "0")
        last = int(after) if after.isascii() and after.isdigit() else 0
        response = web.StreamResponse(headers={**policy_headers(), "Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(b"retry: 1000\n\n")
        with suppress(ConnectionResetError):  # the page was closed
            while not self._ended:
                news = self._feed.since(last)
                for seen in news:
                    data = json.dumps(row_of(seen))
                    await response.write(f"id: {seen.number}\ndata: {data}\n\n".encode())
                    last = seen.number
                if not news:
                    await self._more(response, last)
        return response

    async def _more(self, response: web.StreamResponse, last: int) -> None:
        async with self._news:
            try:
                arrived = self._news.wait_for(lambda: self._ended or self._last > last)
                await asyncio.wait_for(arrived, _QUIET_SECONDS)
            except TimeoutError:
                await response.write(b": still here\n\n")


def row_of(seen: Seen) -> dict[str, Any]:
    """An exchange as a line of the list."""
    return {
        "number": seen.number,
        "at": seen.at,
        "method": seen.method,
        "path": seen.path,
        "operation": seen.operation,
        "realm": seen.realm,
        "status": seen.status,
        "milliseconds": round(seen.milliseconds, 1),
        "findings": [_finding(each) for each in seen.findings],
    }


def exchange_shown(feed: Feed, number: str) -> dict[str, Any]:
    """An exchange in full.

    Raises:
        UsageError: it is not kept any more.
    """
    seen = seen_of(feed, number)
    return {**row_of(seen), **exchange_words(recorded_of(seen)), "milliseconds": round(seen.milliseconds, 1)}


def seen_of(feed: Feed, number: object) -> Seen:
    """An exchange of the feed.

    Raises:
        UsageError: it is not kept any more, or never was.
    """
    text = str(number)
    wanted = int(text) if text.isascii() and text.isdigit() and len(text) < 12 else 0
    found = next((each for each in feed.since(wanted - 1) if each.number == wanted), None)
    if found is None:
        raise UsageError(f"exchange {text} is not kept any more")
    return found


def _finding(finding: TrafficFinding) -> dict[str, Any]:
    catalogue = load_catalogue()
    known = finding.clause in catalogue if finding.clause else False
    return {
        "side": str(finding.side),
        "standing": str(finding.standing),
        "name": finding.fault if finding.side is Side.REQUEST and finding.fault else finding.what,
        "clause": finding.clause,
        "level": finding.level,
        "wording": catalogue.clause(finding.clause).wording if known and finding.clause else "",
        "expected": finding.expected,
        "seen": finding.seen,
        "because_of": finding.because_of,
    }
