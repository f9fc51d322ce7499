"""The workbench page as an aiohttp application: its static files and its JSON interface."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Final

from aiohttp import web

from contracts.errors import UsageError
from contracts.exchanges.exchange import Exchange
from contracts.interface.description import load_description
from contracts.manual.manual_session import Leftovers, ManualSession, SessionOptions
from contracts.manual.traffic_findings import Feed
from contracts.page.forms import (
    fault_list,
    operation_form,
    operation_named,
    prepare,
    realm_of,
    role_list,
    send_form,
)
from contracts.page.hurl import hurl_of, sequence_of
from contracts.page.page_session import AccessCheck, PageSession
from contracts.page.scenario import scenario, scenario_of_sequence
from contracts.page.traffic import LiveStream, Recordings, exchange_shown, open_in_form, scenario_of_exchange
from contracts.settings.target import ACCOUNT_ROLES, Target

#: A file for createAttachment comes as Base64 in JSON.
LARGEST_REQUEST: Final = 16 * 1024**2
_KINDS: Final = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_KEY: Final = "{{key}}"
Json = dict[str, Any]
#: Answers one query of the page with the session.
Work = Callable[[PageSession, ManualSession, Mapping[str, Any]], Json]


def page_application(
    target: Target,
    feed: Feed,
    *,
    client_url: str | None = None,
    disposable: bool = False,
    reports: Path = Path("reports"),
    on_close: Callable[[Leftovers], None] = lambda _: None,
    hand_over: Callable[[Exchange], None] = lambda _: None,
) -> web.Application:
    """Make the page of a target.

    Serve it on loopback only. The session of the page is opened on first use, and closed with the application, which
    removes what it created.

    Args:
        target: Where requests by hand go.
        feed: The exchanges that pass through the proxy.
        client_url: The proxy's address, which the page shows.
        disposable: The target is a sandbox that ends with the page, so that nothing need be removed from it.
        reports: Folder whose subfolder keeps the ledger of what is created by hand.
        on_close: Called when the page ends with what stays behind on the target.
        hand_over: Takes each exchange by hand, to be judged and listed in the feed beside what passes.
    """
    options = SessionOptions(reports=reports, ready=target, disposable=disposable)
    page_session = PageSession(options, on_close, hand_over)
    access = AccessCheck()
    application = web.Application(client_max_size=LARGEST_REQUEST, middlewares=[access.middleware])
    page = _Page(target, feed, page_session, access.key, client_url, Recordings(reports))
    application.add_routes(page.routes())
    application.cleanup_ctx.append(page.stream.run)
    application.on_shutdown.append(page.stream.end)
    application.on_cleanup.append(lambda _: page_session.close())
    return application


class _Page:
    def __init__(
        self,
        target: Target,
        feed: Feed,
        page_session: PageSession,
        key: str,
        client_url: str | None,
        recordings: Recordings,
    ) -> None:
        self._recordings = recordings
        self._opening = asyncio.Lock()
        self._target = target
        self._feed = feed
        self._page_session = page_session
        self._key = key
        self._client_url = client_url
        self.stream = LiveStream(feed)

    def routes(self) -> list[web.RouteDef]:
        """Every address of the page."""
        return [
            web.get("/", self._index),
            web.get("/static/{name}", self._file),
            web.get("/api/start", self._start),
            web.get("/api/faults", self._faults),
            web.get("/api/live", self.stream.stream),
            web.get("/api/live/{number}", self._exchange),
            web.get("/api/runs", self._reading(lambda _: self._recordings.runs())),
            web.get("/api/recorded/{opened}/{number}", self._recorded),
            web.post("/api/open-run", self._reading(self._recordings.run)),
            web.post("/api/open-exchanges", self._reading(self._recordings.exchanges)),
            web.post("/api/open-har", self._reading(self._recordings.har)),
            web.post("/api/sequence", self._answering(lambda page, _session, _query: sequence_of(page))),
            web.post("/api/hurl", self._answering(hurl_of)),
            web.post("/api/sequence-scenario", self._answering(scenario_of_sequence)),
            web.post("/api/prepare", self._answering(prepare)),
            web.post("/api/send", self._answering(send_form)),
            web.post("/api/scenario", self._answering(scenario)),
            web.post("/api/reopen", self._answering(self._of_seen(open_in_form))),
            web.post("/api/scenario-of-seen", self._answering(self._of_seen(scenario_of_exchange))),
        ]

    async def _index(self, _: web.Request) -> web.Response:
        text = _read("index.html").decode("utf-8").replace(_KEY, self._key)
        return web.Response(text=text, content_type="text/html")

    async def _file(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        kind = _KINDS.get(Path(name).suffix)
        if kind is None or Path(name).name != name or not _resource(name).is_file():
            raise web.HTTPNotFound
        return web.Response(body=_read(name), content_type=kind, charset="utf-8")

    async def _start(self, _: web.Request) -> web.Response:
        # In a thread, so that clients of the proxy beside the page do not wait for it.
        return web.json_response(await asyncio.to_thread(self._start_facts))

    def _start_facts(self) -> Json:
        description = load_description()
        missing = {role: self._target.missing(f"account.{role}") for role in ACCOUNT_ROLES}
        forms = [operation_form(description, operation) for operation in description.operations.values()]
        return {
            "target": {"name": self._target.name, "base_url": self._target.base_url},
            "client_url": self._client_url,
            "realms": list(self._target.realms),
            "roles": role_list(missing),
            "operations": forms,
        }

    async def _faults(self, request: web.Request) -> web.Response:
        return web.json_response({"faults": await asyncio.to_thread(self._faults_of, request.query)})

    def _faults_of(self, query: Mapping[str, str]) -> list[Json]:
        operation = operation_named(load_description(), query.get("operation", ""))
        return fault_list(operation.id, realm_of(operation, query, self._target.realms))

    async def _exchange(self, request: web.Request) -> web.Response:
        return web.json_response(exchange_shown(self._feed, request.match_info["number"]))

    async def _recorded(self, request: web.Request) -> web.Response:
        feed = self._recordings.feed(request.match_info["opened"])
        return web.json_response(exchange_shown(feed, request.match_info["number"]))

    def _of_seen(self, work: Callable[[Feed, PageSession, ManualSession, Mapping[str, Any]], Json]) -> Work:
        """Work on an exchange that passed, or on one of a recording where the query names it."""

        def on_feed(page_session: PageSession, session: ManualSession, query: Mapping[str, Any]) -> Json:
            opened = query.get("opened")
            feed = self._feed if opened is None else self._recordings.feed(opened)
            return work(feed, page_session, session, query)

        return on_feed

    def _reading(
        self, work: Callable[[Mapping[str, Any]], Json]
    ) -> Callable[[web.Request], Awaitable[web.Response]]:
        """A handler that reads recordings in a thread, so that clients of the proxy beside the page do not wait."""

        async def handler(request: web.Request) -> web.Response:
            query = await _query(request) if request.method == "POST" else {}
            async with self._opening:
                return web.json_response(await asyncio.to_thread(work, query))

        return handler

    def _answering(self, work: Work) -> Callable[[web.Request], Awaitable[web.Response]]:
        """A handler that runs work on the session with the JSON of the request."""

        async def handler(request: web.Request) -> web.Response:
            query = await _query(request)
            return web.json_response(
                await self._page_session.use(lambda session: work(self._page_session, session, query))
            )

        return handler


async def _query(request: web.Request) -> Mapping[str, Any]:
    try:
        query = json.loads(await request.read())
    except (ValueError, RecursionError):
        raise UsageError("the page sent no JSON; load it again") from None
    if not isinstance(query, dict):
        raise UsageError("the page sent no JSON object; load it again")
    return query


def _resource(name: str) -> Traversable:
    # The colours and cards are those of a run's report.
    shared = name == "report.css"
    return files("contracts.reports" if shared else "contracts.page").joinpath(
        "templates" if shared else "static", name
    )


def _read(name: str) -> bytes:
    return _resource(name).read_bytes()
