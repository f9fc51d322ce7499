"""Requests as they come over the wire: paths, headers, query strings, JSON bodies, identifiers, and their refusal.

What cannot be decoded or is given twice is refused, never guessed. A refusal has a reason; its status and shape are
given by ``habits``.
"""

import asyncio
import json
import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final
from urllib.parse import parse_qsl, unquote_to_bytes

import h11
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from contracts.interface.cross_origin import AllowedOrigins, is_preflight


class Reason(Enum):
    """Why a request is refused; the habits turn a reason into a status."""

    BAD_REQUEST = auto()
    UNAUTHENTICATED = auto()
    WRONG_CREDENTIALS = auto()
    FORBIDDEN = auto()
    NOT_FOUND = auto()
    DELETE_MISSING = auto()
    CONFLICT = auto()
    TOO_LARGE = auto()
    MEDIA_TYPE = auto()
    INVALID_CONTENT = auto()
    STATED = auto()


@dataclass(frozen=True)
class Fault:
    """One element of the ``errors`` array (Errors, "Validation errors in the errors property").

    Attributes:
        code: one of the seven codes, for example ``Error.Mandatory``.
        path: where the value stands; the first part is the field of the table.

    """

    code: str
    path: tuple[str, ...]


class Refusal(Exception):
    """The request is refused and changes nothing.

    Args:
        message: one line for the client; never a secret, never a path of this machine.
        faults: content problems, all of them.
        status: the status, only where the document states one (``Reason.STATED``).
        identifier: the record's identifier, where the answer carries it.

    """

    def __init__(
        self,
        reason: Reason,
        message: str,
        *,
        faults: Sequence[Fault] = (),
        status: int | None = None,
        identifier: str | None = None,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.faults = tuple(faults)
        self.status = status
        self.identifier = identifier


def bad_request(message: str) -> Refusal:
    """Return the refusal of a parameter, header or body that cannot be used."""
    return Refusal(Reason.BAD_REQUEST, message)


def not_found(message: str) -> Refusal:
    """Return the refusal of a request that names something that is not there."""
    return Refusal(Reason.NOT_FOUND, message)


def forbidden(message: str) -> Refusal:
    """Return the refusal of a caller who lacks the right (roles; workflow has its own rows)."""
    return Refusal(Reason.FORBIDDEN, message)


_MOST_FIELDS = 200


def query_value(request: Request, name: str) -> str | None:
    """Return one query parameter.

    Args:
        name: the exact, case-sensitive name of the parameter.

    Returns:
        Its decoded value, or ``None`` when it is not there.

    Raises:
        Refusal: the query string cannot be decoded, or gives the parameter more than once.

    """
    values = [value for key, value in _pairs(request) if key == name]
    if len(values) > 1:
        raise bad_request(f"query parameter {name} is given more than once")
    return values[0] if values else None


def _pairs(request: Request) -> list[tuple[str, str]]:
    raw = request.scope["query_string"].decode("latin-1")
    try:
        return parse_qsl(raw, keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS)
    except ValueError as problem:
        raise bad_request("the query string cannot be read: percent-encoded UTF-8 is expected") from problem


def header_value(request: Request, name: str) -> str | None:
    """Return one header; several of the same name count as one value joined by commas, as HTTP says."""
    values = request.headers.getlist(name)
    return ", ".join(values) if values else None


_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_DEEPEST = 200
_LARGE = 256 * 1024


@dataclass(frozen=True)
class JsonBody:
    """A JSON body that was read whole.

    Attributes:
        text: the body as it was sent, so that drafts keep key order, big numbers and null exactly.

    """

    value: Any
    text: str


class BodyReader:
    """Reads the JSON body of a request.

    Args:
        limit: the largest body read, in bytes.

    """

    def __init__(self, limit: int) -> None:
        self.limit = limit

    async def read(self, request: Request) -> JsonBody:
        """Return the request's JSON body, of any JSON kind.

        Raises:
            Refusal: another content type, too large, or not one well-formed JSON value.

        """
        self.require_json_type(request)
        raw = await self._bytes(request)
        if len(raw) > _LARGE:
            return await run_in_threadpool(self.parse, raw)
        return self.parse(raw)

    async def read_object(self, request: Request) -> JsonBody:
        """Return the request's JSON body, which must be an object.

        Raises:
            Refusal: as ``read``, or the value is not an object.

        """
        body = await self.read(request)
        if not isinstance(body.value, dict):
            raise bad_request("the body must be a JSON object")
        return body

    def require_json_type(self, request: Request) -> None:
        """Refuse a request whose Content-Type is not application/json in UTF-8 (Common headers)."""
        kind, *parameters = (header_value(request, "content-type") or "").split(";")
        if kind.strip().lower() != "application/json":
            raise Refusal(Reason.MEDIA_TYPE, "Content-Type must be application/json")
        for parameter in parameters:
            name, _, value = parameter.strip().partition("=")
            if name.lower() == "charset" and value.strip('"').lower() not in {"utf-8", "utf8", "us-ascii"}:
                raise Refusal(Reason.MEDIA_TYPE, "the charset of a JSON body must be UTF-8")
        if header_value(request, "content-encoding") not in {None, "", "identity"}:
            raise Refusal(Reason.MEDIA_TYPE, "compressed bodies are not read")

    async def _bytes(self, request: Request) -> bytes:
        received = bytearray()
        async for chunk in request.stream():
            received += chunk
            if len(received) > self.limit:
                raise Refusal(Reason.TOO_LARGE, f"the body is larger than {self.limit} bytes")
        return bytes(received)

    def parse(self, raw: bytes) -> JsonBody:
        """Return the value of a JSON text.

        Args:
            raw: the bytes of the text, UTF-8 without byte order mark.

        Raises:
            Refusal: not well-formed: also NaN and infinities, duplicate keys, lone surrogates, too deep.

        """
        try:
            text = raw.decode("utf-8")
            value = json.loads(
                text, object_pairs_hook=_object, parse_constant=_refuse_constant, parse_float=_number
            )
        except UnicodeDecodeError as problem:
            raise bad_request("the body is not valid UTF-8") from problem
        except RecursionError as problem:
            raise bad_request("the body is nested too deeply") from problem
        except ValueError as problem:
            raise bad_request("the body is not well-formed JSON") from problem
        self._refuse_depth(text, value)
        self.refuse_surrogates(text, value)
        return JsonBody(value, text)

    def _refuse_depth(self, text: str, value: Any) -> None:
        if text.count("[") + text.count("{") <= _DEEPEST:
            return
        level: list[Any] = [value]
        for _ in range(_DEEPEST):
            level = [item for parent in level for item in _children(parent)]
            if not level:
                return
        raise bad_request(f"the body is nested more than {_DEEPEST} levels deep")

    def refuse_surrogates(self, text: str, value: Any) -> None:
        """Refuse a value that holds half of a surrogate pair, which no UTF-8 does.

        Raises:
            Refusal: it does.

        """
        if _SURROGATE_ESCAPE.search(text):
            try:
                json.dumps(value, ensure_ascii=False).encode("utf-8")
            except UnicodeEncodeError as problem:
                raise bad_request("the body holds half of a surrogate pair") from problem


def _children(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key is given twice")
    return members


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _number(text: str) -> float:
    value = float(text)
    if value in {float("inf"), float("-inf")}:
        raise ValueError("a number is out of range")
    return value


_UID = re.compile(r"[A-Za-z0-9_-]{11,128}", re.ASCII)
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")

RULE = "letters, digits, hyphen and underscore, 11 to 128 characters"


def decoded_segment(raw: str) -> str | None:
    """Return one path segment with its percent-encoding undone exactly once.

    Args:
        raw: the segment as it came over the wire.

    Returns:
        The text, or ``None`` when it is not valid percent-encoded UTF-8.

    """
    if _BAD_ESCAPE.search(raw):
        return None
    try:
        return unquote_to_bytes(raw).decode("utf-8")
    except UnicodeDecodeError:
        return None


class IdentifierRule:
    """Decides which texts are identifiers, and makes new ones."""

    def holds(self, text: str) -> bool:
        """Tell whether a text obeys the identifier rule (the whole of it; no trailing newline)."""
        return _UID.fullmatch(text) is not None

    def from_path(self, request: Request, name: str = "uid") -> str:
        """Return the identifier in the path.

        Args:
            request: the request; its path parameters are still percent-encoded.
            name: the placeholder's name.

        Raises:
            Refusal: the segment is no identifier (Identifier rule).

        """
        text = decoded_segment(request.path_params[name])
        if text is None or not self.holds(text):
            raise bad_request(f"{name} must be {RULE}")
        return text

    def mint(self) -> str:
        """Return a new identifier that is not in use (24 hexadecimal digits)."""
        return secrets.token_hex(12)


class RawPaths:
    """Routes by the path as it was sent, so that an encoded slash stays inside its segment.

    Path parameters arrive percent-encoded at the operations, which decode them exactly once.

    Args:
        app: the application behind it.

    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request on (ASGI)."""
        if scope["type"] == "http" and scope.get("raw_path") is not None:
            scope = {**scope, "path": scope["raw_path"].decode("latin-1")}
        await self.app(scope, receive, send)


class CrossOrigin:
    """Answers browsers that ask whether a page may use the sandbox, and lets it see every answer.

    Args:
        app: the application behind it.

    """

    def __init__(self, app: ASGIApp, origins: AllowedOrigins) -> None:
        self.app = app
        self.origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a preflight, or pass a request on (ASGI)."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_headers = Headers(scope=scope)
        if is_preflight(scope["method"], request_headers):
            status, headers = self.origins.preflight(request_headers)
            await Response(status_code=status, headers=headers)(scope, receive, send)
            return

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self.origins.of_answer(
                    request_headers.get("origin"), headers.get("vary", "")
                ).items():
                    headers[name] = value
            await send(message)

        await self.app(scope, receive, sent)


#: How long a refused sender may go on sending before the connection is closed on it.
LINGER_SECONDS: Final = 2.0
#: Where a request's ``state`` holds the connection it came over.
TRANSPORT: Final = "transport"


class JsonRefusals(H11Protocol):
    """HTTP/1.1 as uvicorn speaks it, but what is no HTTP at all is refused in JSON too."""

    _refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, and let its requests know it."""
        super().connection_made(transport)
        self.app_state = {**self.app_state, TRANSPORT: transport}

    def data_received(self, data: bytes) -> None:
        """Take what arrives; after a refusal it is thrown away."""
        if not self._refused:
            super().data_received(data)

    def send_400_response(self, msg: str) -> None:
        """Refuse bytes that are no HTTP request and close the connection."""
        body = json.dumps({"statusCode": 400, "message": msg}).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        ]
        response = h11.Response(status_code=400, headers=headers, reason=b"Bad Request")
        for event in (response, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self._refused = True
        # Closed at once, with bytes still arriving, the connection would be reset, and the refusal lost on its way.
        self.transport.write_eof()
        self.loop.call_later(LINGER_SECONDS, self.transport.close)
