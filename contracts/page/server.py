"""The workbench page as an aiohttp application: its static files and its JSON interface."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Final

from aiohttp import web

from contracts.errors import UsageError
from contracts.interface.description import load_description
from contracts.manual.manual_session import Leftovers, ManualSession, SessionOptions
from contracts.manual.prepared_requests import realm_for
from contracts.manual.traffic_findings import Feed
from contracts.page import form_requests
from contracts.page.access_check import AccessCheck
from contracts.page.forms import fault_list, operation_form, role_list
from contracts.page.live import LiveStream, exchange_shown, reopen, scenario_of_seen
from contracts.page.page_session import PageSession
from contracts.page.scenario import scenario
from contracts.settings.target import ACCOUNT_ROLES, ANY_REALM, Target
from contracts.settings.toml_file import suggestion

#: A file for createAttachment comes as Base64 in JSON.
LARGEST_REQUEST: Final = 16 * 1024**2
_KINDS: Final = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_KEY: Final = "{{key}}"
Work = Callable[[ManualSession], dict[str, Any]]


def page_application(
    target: Target,
    feed: Feed,
    *,
    client_url: str | None = None,
    disposable: bool = False,
    reports: Path = Path("reports"),
    said: Callable[[Leftovers], None] = lambda _: None,
) -> web.Application:
    """Make the page of a target.

    Serve it on loopback only. The session of the page is opened on first use, and closed with the application, which
    removes what it created.

    Args:
        target: Where requests by hand go.
        feed: Tells what passes through the proxy.
        client_url: Where clients are to be pointed, for the page to say so.
        disposable: The target is a sandbox that ends with the page, so that nothing need be removed from it.
        reports: Folder whose subfolder keeps the ledger of what is created by hand.
        said: Told when the page ends what stays behind on the target.
    """
    desk = PageSession(SessionOptions(reports=reports, ready=target, disposable=disposable), said)
    guard = AccessCheck()
    application = web.Application(client_max_size=LARGEST_REQUEST, middlewares=[guard.middleware])
    page = _Page(target, feed, desk, guard, client_url)
    application.add_routes(page.routes())
    application.cleanup_ctx.append(page.pump.run)
    application.on_shutdown.append(page.pump.end)
    application.on_cleanup.append(lambda _: desk.close())
    return application


class _Page:
    def __init__(
        self, target: Target, feed: Feed, desk: PageSession, guard: AccessCheck, client_url: str | None
    ) -> None:
        self._target = target
        self._feed = feed
        self._desk = desk
        self._guard = guard
        self._client_url = client_url
        self.pump = LiveStream(feed)

    def routes(self) -> list[web.RouteDef]:
        """Every address of the page."""
        return [
            web.get("/", self._index),
            web.get("/static/{name}", self._file),
            web.get("/api/start", self._start),
            web.get("/api/faults", self._faults),
            web.get("/api/live", self.pump.stream),
            web.get("/api/live/{number}", self._one),
            web.post("/api/prepare", self._asked(form_requests.prepare)),
            web.post("/api/send", self._asked(form_requests.send_form)),
            web.post("/api/scenario", self._asked(scenario)),
            web.post("/api/reopen", self._asked(partial(reopen, self._feed))),
            web.post("/api/scenario-of-seen", self._asked(partial(scenario_of_seen, self._feed))),
        ]

    async def _index(self, _: web.Request) -> web.Response:
        text = _read("index.html").decode("utf-8").replace(_KEY, self._guard.key)
        return web.Response(text=text, content_type="text/html")

    async def _file(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        kind = _KINDS.get(Path(name).suffix)
        if kind is None or Path(name).name != name or not _resource(name).is_file():
            raise web.HTTPNotFound
        return web.Response(body=_read(name), content_type=kind, charset="utf-8")

    async def _start(self, _: web.Request) -> web.Response:
        # In a thread: whoever passes through the proxy beside the page is not to wait for it.
        return web.json_response(await asyncio.to_thread(self._beginning))

    def _beginning(self) -> dict[str, Any]:
        description = load_description()
        missing = {role: self._target.missing(f"account.{role}") for role in ACCOUNT_ROLES}
        return {
            "target": {"name": self._target.name, "base_url": self._target.base_url},
            "client_url": self._client_url,
            "realms": list(self._target.realms),
            "roles": role_list(missing),
            "operations": [operation_form(description, each) for each in description.operations.values()],
        }

    async def _faults(self, request: web.Request) -> web.Response:
        found = await asyncio.to_thread(self._faults_of, request.query.get("operation", ""), request.query)
        return web.json_response({"faults": found})

    def _faults_of(self, name: str, asked: Mapping[str, str]) -> list[dict[str, Any]]:
        operations = load_description().operations
        if name not in operations:
            raise UsageError(f"unknown operation '{name}'; {suggestion(name, operations)}")
        realm = asked.get("realm") or None
        operation = operations[name]
        if operation.realms == (ANY_REALM,):
            realm = None
        return fault_list(name, realm_for(operation, realm, self._target.realms))

    async def _one(self, request: web.Request) -> web.Response:
        return web.json_response(exchange_shown(self._feed, request.match_info["number"]))

    def _asked(
        self, work: Callable[[PageSession, ManualSession, Mapping[str, Any]], dict[str, Any]]
    ) -> Callable[[web.Request], Awaitable[web.Response]]:
        """A handler that has the session do something with the JSON it was sent."""

        async def handler(request: web.Request) -> web.Response:
            wish = await _wish(request)
            told = await self._desk.use(lambda session: work(self._desk, session, wish))
            return web.json_response(told)

        return handler


async def _wish(request: web.Request) -> Mapping[str, Any]:
    try:
        wish = json.loads(await request.read())
    except (ValueError, RecursionError):
        raise UsageError("what the page sent is no JSON; load it again") from None
    if not isinstance(wish, dict):
        raise UsageError("what the page sent is no object; load it again")
    return wish


def _resource(name: str) -> Traversable:
    # The colours and cards are those of a run's report.
    shared = name == "report.css"
    return files("contracts.reports" if shared else "contracts.page").joinpath(
        "templates" if shared else "static", name
    )


def _read(name: str) -> bytes:
    return _resource(name).read_bytes()
