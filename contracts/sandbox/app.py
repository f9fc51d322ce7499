"""One sandbox: its operations over what they share, their routes, its published data, and the page of its description.

Each realm has ``sandbox-existing-<realm>`` and five more with ``-2`` to ``-6`` behind it (the author's, published),
``sandbox-foreign-<realm>`` (a draft of the other author), ``sandbox-locked-<realm>`` (the author's, submitted and so
locked), ``sandbox-published-<realm>`` and one with ``-2`` (the author's, a published version beside a draft), the
organization ``organization-<realm>`` and the unused temporary files ``sandbox-temporary-<realm>-01`` to ``-20``.
"""

import copy
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from contracts.sandbox.authentication import ACCOUNTS, SIGN_IN, AuthenticationOperations
from contracts.sandbox.documents import (
    AttachmentOperations,
    ContactOperations,
    Context,
    DraftOperations,
    TemporaryOperations,
)
from contracts.sandbox.habits import Habits, JsonAnswer, Settings, json_text
from contracts.sandbox.http import RawPaths, Refusal, not_found
from contracts.sandbox.layers import Layers
from contracts.sandbox.storage import DRAFT, PUBLISHED, Records, TemporaryFile, Version, new_version
from contracts.sandbox.validation import CONTACT, Realm
from contracts.sandbox.workflow import SubmissionCheck, WorkflowOperations

TEMPORARY_FILES = 20
#: An accepted workflow update locks its record for good, so tests of updates need several.
EXISTING_RECORDS = 6
_MARK = "seeded"
_RECORDS = (
    ("existing", "author", (PUBLISHED,)),
    *((f"existing-{number}", "author", (PUBLISHED,)) for number in range(2, EXISTING_RECORDS + 1)),
    ("foreign", "other", (DRAFT,)),
    ("locked", "author", (DRAFT,)),
    ("published", "author", (PUBLISHED, DRAFT)),
    ("published-2", "author", (PUBLISHED, DRAFT)),
)


class Seeds:
    """Plants the published data, once in the life of a database.

    Args:
        context: what the operations share.

    """

    def __init__(self, context: Context) -> None:
        self.context = context

    def plant(self) -> None:
        """Put the data in place, unless this database already had it (what was deleted stays deleted)."""
        with self.context.storage.transaction() as records:
            if records.marked(_MARK):
                return
            moment = self.context.clock.now()
            for realm in self.context.realms.realms.values():
                self.plant_records(records, realm, moment)
                self.plant_temporary_files(records, realm)
            records.mark(_MARK)

    def plant_records(self, records: Records, realm: Realm, moment: datetime) -> None:
        """Store the records of one realm."""
        schema = next(iter(realm.types))
        for name, owner, states in _RECORDS:
            for state in states:
                kind, _, number = name.partition("-")
                identifier = "-".join(filter(None, ("sandbox", kind, realm.name, number)))
                records.store(_version(realm, identifier, schema, state, owner=owner, moment=moment))
        records.lock(realm.name, f"sandbox-locked-{realm.name}", "author", moment)
        if CONTACT.name in realm.types:
            identifier = f"organization-{realm.name}"
            records.store(_version(realm, identifier, CONTACT.name, PUBLISHED, owner="other", moment=moment))

    def plant_temporary_files(self, records: Records, realm: Realm) -> None:
        """Store the temporary files of one realm, each a small picture of its own shade."""
        files = []
        for number in range(1, TEMPORARY_FILES + 1):
            stored = self.context.files.keep(_picture(number * 12))
            file_id = f"sandbox-temporary-{realm.name}-{number:02d}"
            files.append(TemporaryFile(file_id, f"temporary-{number:02d}.pgm", stored.size, stored.key))
        records.attachments.add_temporary_files(files)


def _version(
    realm: Realm, identifier: str, schema: str, state: str, *, owner: str, moment: datetime
) -> Version:
    header = {"identifier": identifier, "schema": schema, "languages": ["en"]}
    document = {"header": header, "title": {"en": f"The {state} version of {identifier}"}}
    return new_version(
        realm=realm.name,
        identifier=identifier,
        state=state,
        schema=schema,
        owner=owner,
        content=json_text(document),
        moment=moment,
    )


def _picture(shade: int, side: int = 16) -> bytes:
    """A grey map (PGM), the plainest picture that previews can be made of; `shade` from 0, black, to 255, white."""
    return f"P5 {side} {side} 255\n".encode() + bytes([shade]) * side**2


FILES = {
    "swagger-ui.css": "text/css",
    "swagger-ui-bundle.js": "text/javascript",
    "favicon-32x32.png": "image/png",
}

_POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:"
"""Has the browser refuse any request to the outside."""

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Document registry: the sandbox</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="icon" href="/docs/favicon-32x32.png">
</head>
<body>
<div id="swagger-ui"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
"""

_START = """window.onload = () => {
  const author = %s;
  const page = SwaggerUIBundle({
    url: "/openapi.json",
    dom_id: "#swagger-ui",
    deepLinking: true,
    persistAuthorization: false,
    validatorUrl: null,
    onComplete: async () => {
      const answer = await fetch("%s", {
        method: "POST",
        headers: {"Accept": "application/json", "Content-Type": "application/json"},
        body: JSON.stringify(author)
      });
      // A sandbox that answers otherwise, by a fault or in bad weather, is left to the reader to sign in at.
      const token = answer.ok ? await answer.json().catch(() => null) : null;
      if (token && token.authenticationToken) page.preauthorizeApiKey("bearer", token.authenticationToken);
    }
  });
};
"""
"""Shows the description, signed in as the author."""


class DocsPage:
    """Answers the description and the page that shows it."""

    async def description_json(self, request: Request) -> Response:
        """Answer the OpenAPI description as JSON."""
        return JSONResponse(described(request))

    async def description_yaml(self, request: Request) -> Response:
        """Answer the OpenAPI description as YAML."""
        from contracts.interface.description import as_yaml  # noqa: PLC0415 - read when first asked for

        return Response(as_yaml(described(request)), media_type="application/yaml")

    async def root(self, _request: Request) -> Response:
        """Lead a browser from the bare address to the page."""
        return RedirectResponse("/docs")

    async def page(self, _request: Request) -> Response:
        """Answer the page that shows the description."""
        return Response(_PAGE, media_type="text/html", headers={"Content-Security-Policy": _POLICY})

    async def file(self, request: Request) -> Response:
        """Answer one of the page's files."""
        name = request.path_params["name"]
        if name == "start.js":
            author = {"email": ACCOUNTS[0].email, "password": ACCOUNTS[0].password}
            return Response(_START % (json_text(author), SIGN_IN), media_type="text/javascript")
        if name not in FILES:
            raise not_found("the page has no such file")
        return FileResponse(_folder() / name, media_type=FILES[name])


def described(request: Request) -> dict[str, Any]:
    """Return the description, with this sandbox as its server and its accounts as examples of signing in."""
    from contracts.interface.description import load_description  # noqa: PLC0415 - read when first asked for

    address = str(request.base_url).rstrip("/")
    description = copy.deepcopy(load_description().published)
    for item in description["paths"].values():
        for operation in item.values():
            if operation["operationId"] == "createToken":
                operation["requestBody"]["content"]["application/json"]["examples"] = _sign_in_examples()
    return {**description, "servers": [{"url": address, "description": "This sandbox."}]}


def _sign_in_examples() -> dict[str, Any]:
    return {
        account.name: {
            "summary": f"The sandbox's account {account.name}",
            "value": {"email": account.email, "password": account.password},
        }
        for account in ACCOUNTS
    }


@cache
def _folder() -> Path:
    """Where Swagger UI lies; its package is a plug-in of a framework that the sandbox has no use for."""
    return Path(str(distribution("flask-swagger-ui").locate_file("flask_swagger_ui/dist")))


class Service(Context):
    """Everything one sandbox is made of; a sandbox that differs in one point alters one of these objects."""

    def __init__(self, settings: Settings, habits: Habits, layers: Layers) -> None:
        super().__init__(settings, habits, layers)
        over = layers.over
        self.submissions = over(SubmissionCheck)(self)
        self.authentication = over(AuthenticationOperations)(self.identity, self.body, self.clock, habits)
        self.contacts = over(ContactOperations)(self)
        self.drafts = over(DraftOperations)(self)
        self.attachments = over(AttachmentOperations)(self)
        self.temporary = TemporaryOperations(self)
        self.workflow = over(WorkflowOperations)(self, self.submissions, self.drafts)
        self.docs = DocsPage()
        self.seeds = over(Seeds)(self)

    def start(self) -> None:
        """Put the published data in place; called before the first request."""
        self.seeds.plant()

    def close(self) -> None:
        """Close the database and remove what was only for this process."""
        self.storage.close()
        self.files.close()


_DRAFT = "/api/v2013/documents/{uid}/versions/draft"
_ATTACHMENTS = "/api/v2013/documents/{uid}/attachments"
_ATTACHMENT = _ATTACHMENTS + "/{attachmentId}/{filename}"
_WORKFLOW = "/api/v2023/documents/schemas/{schema}"
_WORKFLOW_RECORD = _WORKFLOW + "/{identifier}"

OPERATIONS: tuple[tuple[str, str, str, str], ...] = (
    ("createToken", "POST", SIGN_IN, "authentication.create_token"),
    ("createContact", "POST", "/api/v2013/documents", "contacts.create"),
    ("updateContact", "PUT", "/api/v2013/documents/{uid}", "contacts.update"),
    ("saveDraft", "PUT", _DRAFT, "drafts.save"),
    ("getDraft", "GET", _DRAFT, "drafts.get"),
    ("draftExists", "HEAD", _DRAFT, "drafts.exists"),
    ("deleteDraft", "DELETE", _DRAFT, "drafts.delete"),
    ("getDraftInfo", "GET", _DRAFT + "/info", "drafts.info"),
    ("listDrafts", "GET", "/api/v2013/document-drafts", "drafts.list"),
    ("persistTemporaryFile", "POST", _ATTACHMENTS + "/persist-temporary/{tempFileId}", "attachments.persist"),
    ("createAttachment", "POST", _ATTACHMENTS + "/{filename}", "attachments.create"),
    ("listAttachments", "GET", _ATTACHMENTS, "attachments.list"),
    ("attachmentExists", "HEAD", _ATTACHMENT, "attachments.exists"),
    ("getAttachment", "GET", _ATTACHMENT, "attachments.get"),
    ("getAttachmentThumbnail", "GET", _ATTACHMENT + "/thumbnail", "attachments.thumbnail"),
    ("createWorkflowRecord", "POST", _WORKFLOW, "workflow.create"),
    (
        "createWorkflowRecordWithIdentifier",
        "POST",
        _WORKFLOW_RECORD,
        "workflow.create_with_identifier",
    ),
    ("updateWorkflowRecord", "PUT", _WORKFLOW_RECORD, "workflow.update"),
)
"""operationId, method, path, and the part of the service that answers. The 18 operations of the document."""

EXTRAS: tuple[tuple[str, str, str, str], ...] = (
    ("sandboxTemporaryFile", "POST", "/sandbox/temporary-files/{filename}", "temporary.create"),
    ("sandboxDescriptionJson", "GET", "/openapi.json", "docs.description_json"),
    ("sandboxDescriptionYaml", "GET", "/openapi.yaml", "docs.description_yaml"),
    ("sandboxRoot", "GET", "/", "docs.root"),
    ("sandboxDocs", "GET", "/docs", "docs.page"),
    ("sandboxDocs", "GET", "/docs/", "docs.page"),
    ("sandboxDocsFile", "GET", "/docs/{name}", "docs.file"),
)
"""What the sandbox serves beside the document, in the same form."""


class Operation:
    """One path: passes a request to the part that answers its method.

    Args:
        handlers: for each method, operationId and where its handler stands in the service.

    """

    def __init__(self, handlers: Mapping[str, tuple[str, str]]) -> None:
        self.handlers = dict(handlers)
        if "GET" in self.handlers:
            self.handlers.setdefault("HEAD", self.handlers["GET"])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        if scope["method"] not in self.handlers:
            raise HTTPException(405, headers={"Allow": ", ".join(sorted(self.handlers))})
        operation_id, where = self.handlers[scope["method"]]
        scope["operation_id"] = operation_id
        # Looked up now, not when the routes were made: a part may have been replaced since.
        part, name = where.split(".")
        handler = getattr(getattr(scope["app"].state.service, part), name)
        response: Response = await handler(Request(scope, receive, send))
        await response(scope, receive, send)


def _routes() -> list[Route]:
    paths: dict[str, dict[str, tuple[str, str]]] = {}
    for operation_id, method, path, where in (*OPERATIONS, *EXTRAS):
        paths.setdefault(path, {})[method] = (operation_id, where)
    return [Route(path, Operation(handlers)) for path, handlers in paths.items()]


def create_app(
    settings: Settings,
    habits: Habits = Habits(),  # noqa: B008 - frozen
    layers: Layers = Layers(),  # noqa: B008 - never changed
) -> Starlette:
    """Return a sandbox as an ASGI application; its parts stand at ``app.state.service``.

    Args:
        settings: where data is kept, and the limits.
        habits: choices where the document is silent.
        layers: what is laid over the classes of its parts.

    Raises:
        UsageError: the data folder cannot be used.

    """
    service = Service(settings, habits, layers)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        service.start()
        try:
            yield
        finally:
            service.close()

    handlers: dict[Any, Any] = {
        Refusal: _refused,
        HTTPException: _unrouted,
        ClientDisconnect: _gone,
        OSError: _without_storage,
        Exception: _broken,
    }
    app = Starlette(routes=_routes(), exception_handlers=handlers, lifespan=lifespan)
    app.router.redirect_slashes = False
    app.add_middleware(RawPaths)
    app.state.service = service
    return app


async def _refused(request: Request, refusal: Refusal) -> Response:
    return _service(request).answers.refusal(refusal)


async def _unrouted(request: Request, problem: HTTPException) -> Response:
    texts = {404: "there is nothing at this path", 405: "this path does not take this method"}
    message = texts.get(problem.status_code, problem.detail)
    body = _service(request).answers.refusal_body(problem.status_code, message)
    return JsonAnswer(body, problem.status_code, headers=problem.headers)


async def _broken(request: Request, _problem: Exception) -> Response:
    # A fault of the sandbox itself; its traceback goes to stderr.
    body = _service(request).answers.refusal_body(500, "the sandbox failed; see its stderr")
    return JsonAnswer(body, 500)


async def _without_storage(request: Request, _problem: Exception) -> Response:
    # The disk is full, or the files were removed by hand: the fault is neither the client's nor the service's.
    body = _service(request).answers.refusal_body(503, "the sandbox cannot reach its files")
    return JsonAnswer(body, 503)


async def _gone(_request: Request, _problem: ClientDisconnect) -> Response:
    # The client is gone and reads no answer; this one ends the exchange in good order.
    return Response(status_code=400)


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service
