"""One sandbox as an application: its handlers and routes, its published data, and the page of its description.

Each realm has ``sandbox-existing-<realm>`` and five more with ``-2`` to ``-6`` behind it (the author's, published),
``sandbox-foreign-<realm>`` (a draft of the other author), ``sandbox-locked-<realm>`` (the author's, submitted and so
locked), ``sandbox-published-<realm>`` and one with ``-2`` (the author's, a published version beside a draft), the
organization ``organization-<realm>`` and the unused temporary files ``sandbox-temporary-<realm>-01`` to ``-20``.
"""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from registry_contracts.interface.description import as_yaml, load_description
from registry_contracts.sandbox.authentication import SIGN_IN
from registry_contracts.sandbox.documents import Attachments, Contacts, Context, Drafts, SignIn
from registry_contracts.sandbox.habits import Habits, Settings
from registry_contracts.sandbox.http import RawPaths, Refusal
from registry_contracts.sandbox.responses import NO_CONTENT, json_response, json_text
from registry_contracts.sandbox.storage import DRAFT, PUBLISHED, Records, TemporaryFile
from registry_contracts.sandbox.validation import CONTACT, Realm
from registry_contracts.sandbox.workflow import Workflow

TEMPORARY_FILES = 20
#: Where only published documents take files: those that do, and names of temporary files.
WITH_FILES = tuple(f"sandbox-files-{{realm}}-{number:02}" for number in range(1, 41))
STRANGE = "tmp~{realm}.{number:02}_"
_RECORDS = (
    ("existing", "author", (PUBLISHED,)),
    # An accepted workflow update locks its record for ever, so tests of updates need several.
    *((f"existing-{number}", "author", (PUBLISHED,)) for number in range(2, 7)),
    ("foreign", "other", (DRAFT,)),
    ("locked", "author", (DRAFT,)),
    ("published", "author", (PUBLISHED, DRAFT)),
    ("published-2", "author", (PUBLISHED, DRAFT)),
)


class Seeds:
    """Plants the published data, once for each database: what a client deletes stays deleted."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.only_published = context.habits.attachments_of == "published"

    def plant(self) -> None:
        """Put the data in place, unless this database already had it."""
        with self.context.storage.transaction() as records:
            if records.planted():
                return
            for realm in self.context.realms.realms.values():
                self.plant_records(records, realm)
            self.plant_temporary_files(records)
            records.number_attachments(self.context.habits.attachment_first_id)

    def plant_records(self, records: Records, realm: Realm) -> None:
        """Store the records of one realm."""
        schema = next(iter(realm.types))
        for name, owner, states in _RECORDS:
            kind, _, number = name.partition("-")
            identifier = "-".join(filter(None, ("sandbox", kind, realm.name, number)))
            for state in states:
                store(records, realm, identifier, state, schema, owner)
        records.lock(realm.name, f"sandbox-locked-{realm.name}", "author")
        if CONTACT.name in realm.types:
            store(records, realm, f"organization-{realm.name}", PUBLISHED, CONTACT.name, "other")
            for name in WITH_FILES if self.only_published else ():
                store(records, realm, name.format(realm=realm.name), PUBLISHED, schema, "author")

    def plant_temporary_files(self, records: Records) -> None:
        """Store the temporary files of every realm, each of a realm's a small picture of its own shade."""
        named = STRANGE if self.only_published else "sandbox-temporary-{realm}-{number:02d}"
        for number in range(1, TEMPORARY_FILES + 1):
            file = self.context.files.keep(_picture(number * 12))
            for realm in self.context.realms.realms:
                names = named.format(realm=realm, number=number), f"temporary-{number:02d}.pgm"
                records.add_temporary_file(TemporaryFile(*names, file.size, file.key))


def store(records: Records, realm: Realm, identifier: str, state: str, schema: str, owner: str) -> None:
    """Store one version of a published record."""
    header = {"identifier": identifier, "schema": schema, "languages": ["en"]}
    document = {"header": header, "title": {"en": f"The {state} version of {identifier}"}}
    records.store(realm.name, identifier, state, schema=schema, owner=owner, content=json_text(document))


def _picture(shade: int, side: int = 16) -> bytes:
    """A grey map (PGM), the plainest picture that previews can be made of; `shade` from 0, black, to 255, white."""
    return f"P5 {side} {side} 255\n".encode() + bytes([shade]) * side**2


#: The page that loads Swagger UI; by its policy the browser refuses all requests to other hosts.
_PAGE = Path(__file__).with_name("page")


async def _description_json(request: Request) -> Response:
    return JSONResponse(described(request))


async def _description_yaml(request: Request) -> Response:
    return Response(as_yaml(described(request)), media_type="application/yaml")


async def _root(_request: Request) -> Response:
    return RedirectResponse("/docs/")


def described(request: Request) -> dict[str, Any]:
    """Return the description, with this sandbox as its server."""
    server = {"url": str(request.base_url).rstrip("/"), "description": "This sandbox."}
    return {**load_description().published, "servers": [server]}


_DRAFT = "/api/v2013/documents/{uid}/versions/draft"
_ATTACHMENTS = "/api/v2013/documents/{uid}/attachments"
_ATTACHMENT = _ATTACHMENTS + "/{attachmentId}/{filename}"
_WORKFLOW = "/api/v2023/documents/schemas/{schema}"
_NOT_FOUND = 404
Handler = Callable[[Request], Awaitable[Response]]


def _routes(context: Context) -> list[BaseRoute]:
    contacts, drafts, attachments = Contacts(context), Drafts(context), Attachments(context)
    submit = Workflow(context).submit
    routes = [
        _route(SIGN_IN, POST=SignIn(context).create_token),
        _route("/api/v2013/documents", POST=contacts.create),
        _route("/api/v2013/documents/{uid}", PUT=contacts.update),
        _route(_DRAFT, PUT=drafts.save, GET=drafts.get, HEAD=drafts.exists, DELETE=drafts.delete),
        _route(_DRAFT + "/info", GET=drafts.info),
        _route("/api/v2013/document-drafts", GET=drafts.list),
        _route(_ATTACHMENTS + "/persist-temporary/{tempFileId}", POST=attachments.persist),
        _route(_ATTACHMENTS + "/{filename}", POST=attachments.create),
        _route(_ATTACHMENTS, GET=attachments.list),
        _route(_ATTACHMENT, GET=attachments.get, HEAD=attachments.exists),
        _route(_ATTACHMENT + "/thumbnail", GET=attachments.thumbnail),
        _route(_WORKFLOW, POST=submit),
        _route(_WORKFLOW + "/{identifier}", POST=submit, PUT=submit),
        # What the sandbox serves beside the document.
        _route("/openapi.json", GET=_description_json),
        _route("/openapi.yaml", GET=_description_yaml),
        _route("/", GET=_root),
        _route("/docs", GET=_root),
    ]
    if context.habits.identifier_empty:
        routes.append(_route(_WORKFLOW + "/", POST=submit))
    if context.habits.versions_alike:
        routes += [
            Route(route.path.replace(old, new), route.endpoint, methods=list(route.methods or ()))
            for old, new in (("/v2013/", "/v2023/"), ("/v2023/", "/v2013/"))
            for route in routes
            if old in route.path
        ]
    for route in routes:
        if context.habits.head_unlisted and route.path not in (_DRAFT, _ATTACHMENT):
            route.methods = (route.methods or set()) - {"HEAD"}
        if context.habits.paths_any_case:
            route.path_regex = re.compile(route.path_regex.pattern, re.IGNORECASE)
    page = StaticFiles(directory=_PAGE, packages=[("flask_swagger_ui", "dist")], html=True)
    return [*routes, Mount("/docs", page)]


def _route(path: str, **handlers: Handler) -> Route:
    if "GET" in handlers:
        handlers.setdefault("HEAD", handlers["GET"])

    async def answered(request: Request) -> Response:
        return await handlers[request.method](request)

    return Route(path, answered, methods=list(handlers))


_FAITHFUL = Habits()


def create_app(settings: Settings, habits: Habits = _FAITHFUL) -> Starlette:
    """Return a sandbox as an ASGI application; what its handlers share stands at ``app.state.service``."""
    context = Context(settings, habits)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        Seeds(context).plant()
        try:
            yield
        finally:
            context.close()

    refusal_body = context.responses.refusal_body

    async def refused(_: Request, refusal: Refusal) -> Response:
        return context.responses.refusal(refusal)

    async def unrouted(request: Request, problem: HTTPException) -> Response:
        if problem.status_code == _NOT_FOUND:
            message = "there is nothing at this path"
            if habits.paths_unknown_html:
                return HTMLResponse(f"<h1>{message}</h1>", _NOT_FOUND)
            return json_response(refusal_body(_NOT_FOUND, message), _NOT_FOUND)
        if request.method == "OPTIONS" and habits.options_answered:
            return Response(status_code=NO_CONTENT, headers=problem.headers)
        status, message = habits.other_method_status, "this path does not take this method"
        return json_response(refusal_body(status, message), status, problem.headers)

    def answered(status: int, message: str) -> Callable[[Request, Exception], Response]:
        return lambda *_: json_response(refusal_body(status, message), status)

    handlers: dict[Any, Any] = {
        Refusal: refused,
        HTTPException: unrouted,
        # The client is gone and reads no answer; this one ends the exchange in good order.
        ClientDisconnect: lambda *_: Response(status_code=400),
        # The disk is full, or the files were removed by hand: the fault is neither the client's nor the service's.
        OSError: answered(503, "the sandbox cannot reach its files"),
        # A fault of the sandbox itself; its traceback goes to stderr.
        Exception: answered(500, "the sandbox failed; see its stderr"),
    }
    app = Starlette(routes=_routes(context), exception_handlers=handlers, lifespan=lifespan)
    app.router.redirect_slashes = habits.slashes_redirected
    app.add_middleware(RawPaths)
    app.state.service = context
    return app
