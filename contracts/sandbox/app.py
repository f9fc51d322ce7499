"""The routes: which operation answers which method and path."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from contracts.sandbox.answers import JsonAnswer
from contracts.sandbox.habits import Habits, Settings
from contracts.sandbox.http_requests import RawPaths, Refusal
from contracts.sandbox.service import Service

_DRAFT = "/api/v2013/documents/{uid}/versions/draft"
_ATTACHMENTS = "/api/v2013/documents/{uid}/attachments"
_ATTACHMENT = _ATTACHMENTS + "/{attachmentId}/{filename}"
_WORKFLOW = "/api/v2023/documents/schemas/{schema}"
_WORKFLOW_RECORD = _WORKFLOW + "/{identifier}"

OPERATIONS: tuple[tuple[str, str, str, str], ...] = (
    ("createToken", "POST", "/api/v2013/authentication/token", "authentication.create_token"),
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


def create_app(settings: Settings, habits: Habits = Habits()) -> Starlette:  # noqa: B008 - frozen
    """Return a sandbox as an ASGI application; its parts stand at ``app.state.service``.

    Args:
        settings: where data is kept, and the limits.
        habits: choices where the document is silent.

    Raises:
        UsageError: the data folder cannot be used.

    """
    service = Service(settings, habits)

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


async def _gone(_request: Request, _problem: ClientDisconnect) -> Response:
    # Nobody reads this answer; it only ends the exchange in good order.
    return Response(status_code=400)


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service
