"""Counts what a sandbox shows to its clients: which operations succeed, refuse or report faulty content."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from typing import Any, Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from contracts.interface.catalogue import load_catalogue
from contracts.interface.description import load_description
from contracts.sandbox.storage import Storage

#: Where the counts stand; outside the interface.
SHOWN_PATH: Final = "/sandbox/shown"
SUCCESS: Final = "success"
REFUSAL: Final = "refusal"
ERRORS: Final = "errors"
#: Success of these is also told by the absence of a filled errors array.
_VALIDATED: Final = frozenset(
    {
        "createContact",
        "updateContact",
        "createWorkflowRecord",
        "createWorkflowRecordWithIdentifier",
        "updateWorkflowRecord",
    }
)
#: Bodies are looked into up to this size.
_LARGEST_BODY: Final = 1024 * 1024
_SPACE: Final = re.compile(r"(\\[rnt]|\s)+")


class Observer:
    """ASGI middleware that passes everything on and counts answers by operation; a GET of `SHOWN_PATH` gives them.

    The answer to it holds `operations`, for each operation how often it showed a success, a refusal and an errors
    array, `messages`, the clauses whose message was shown, `permanent`, by realm how many records were made that
    the interface cannot remove, and `drafts`, the identifiers of drafts that were made and are there.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._description = load_description()
        self._shown: dict[str, Counter[str]] = defaultdict(Counter)
        self._waited = {c.id: beginning(c.message) for c in load_catalogue() if c.message is not None}
        self._messages: dict[str, None] = {}
        self._begun: Counter[str] | None = None
        self._drafts: set[tuple[str, str]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        storage = scope["app"].state.service.storage
        if self._begun is None:
            self._begun, self._drafts = _stored(storage)
        if scope["path"] == SHOWN_PATH:
            await self._tell(storage, send)
            return
        status, body = 0, bytearray()

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            elif len(body) < _LARGEST_BODY:
                body.extend(message.get("body", b""))
            await send(message)

        await self._app(scope, receive, watched)
        match = self._description.match(scope["method"], scope["raw_path"].decode("latin-1"))
        if match is not None:
            self._note(match[0].id, status, bytes(body))

    def _note(self, operation: str, status: int, body: bytes) -> None:
        text = _SPACE.sub(" ", body.decode("utf-8", "replace"))
        if 400 <= status < 500:
            self._messages |= dict.fromkeys(c for c, start in self._waited.items() if start in text)
        errors = operation in _VALIDATED and _filled_errors(_read(body))
        self._shown[operation][ERRORS] += errors
        succeeded = 200 <= status < 400 and not errors and (operation != "createToken" or _has_token(body))
        self._shown[operation][SUCCESS] += succeeded
        self._shown[operation][REFUSAL] += not succeeded and status < 500

    async def _tell(self, storage: Storage, send: Send) -> None:
        published, drafts = _stored(storage)
        made = {
            "permanent": published - (self._begun or Counter()),
            "drafts": sorted(identifier for _, identifier in drafts - self._drafts),
        }
        shown = {"operations": self._shown, "messages": list(self._messages), **made}
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(shown).encode()})


def _stored(storage: Storage) -> tuple[Counter[str], set[tuple[str, str]]]:
    with storage.transaction() as records:
        return records.published(), records.drafts_alone()


def beginning(message: str) -> str:
    """The part of a message before its first placeholder or quotation mark, which JSON may escape."""
    return re.split(r"\$\{|['\"]", message)[0].strip(" .,")


def _read(body: bytes) -> Any:
    try:
        return json.loads(body) if body else None
    except (ValueError, RecursionError):
        return None


def _filled_errors(value: Any) -> bool:
    if isinstance(value, dict):
        errors = value.get("errors")
        return (isinstance(errors, list) and bool(errors)) or any(map(_filled_errors, value.values()))
    return isinstance(value, list) and any(map(_filled_errors, value))


def _has_token(body: bytes) -> bool:
    answer = _read(body)
    token = answer.get("authenticationToken") if isinstance(answer, dict) else None
    return isinstance(token, str) and bool(token)
