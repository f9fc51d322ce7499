"""Reads requests: paths, headers, query strings, JSON bodies and identifiers, and refuses what it cannot read.

A value that cannot be decoded or is given twice is refused, never guessed.
"""

import asyncio
import json
import re
import secrets
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any, Final
from urllib.parse import parse_qsl, unquote_to_bytes

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from registry_contracts.sandbox.habits import Habits


class Reason(Enum):
    """Why a request is refused: the habit that gives its status."""

    BAD_REQUEST = "bad_request_status"
    UNAUTHENTICATED = "unauthenticated_status"
    WRONG_CREDENTIALS = "wrong_credentials_status"
    FORBIDDEN = "forbidden_status"
    NOT_FOUND = "not_found_status"
    DELETE_MISSING = "delete_missing_status"
    CONFLICT = "conflict_status"
    TOO_LARGE = "too_large_status"
    MEDIA_TYPE = "media_type_status"
    NOT_ACCEPTABLE = "not_acceptable_status"
    INVALID_CONTENT = "validation_status"


@dataclass(frozen=True)
class Problem:
    """One element of the ``errors`` array (Errors, "Validation errors in the errors property").

    ``path`` is where the value stands; its first part is the field of the table.
    """

    code: str
    path: tuple[str, ...]


@dataclass(eq=False)
class Refusal(Exception):
    """The request is refused and changes nothing.

    ``message`` is one line for the client: never a secret, never a path of this machine. ``status`` is given only where
    the document states one, else the reason's habit gives it; ``identifier`` where the answer carries the record's.
    """

    reason: Reason
    message: str
    problems: Sequence[Problem] = ()
    status: int | None = None
    identifier: str | None = None


#: A parameter, header or body that cannot be used.
bad_request = partial(Refusal, Reason.BAD_REQUEST)
#: A request that names something that is not there.
not_found = partial(Refusal, Reason.NOT_FOUND)
#: A caller who lacks the right (the workflow has its own rows).
forbidden = partial(Refusal, Reason.FORBIDDEN)
#: A write that contradicts what is stored.
conflict = partial(Refusal, Reason.CONFLICT)


_MOST_PARAMETERS = 200


def query_value(request: Request, name: str) -> str | None:
    """Return the decoded value of one query parameter, or ``None``; the letter case of its name counts.

    It refuses a query that cannot be decoded or repeats the parameter.
    """
    raw = request.scope["query_string"].decode("latin-1")
    try:
        pairs = parse_qsl(raw, keep_blank_values=True, errors="strict", max_num_fields=_MOST_PARAMETERS)
    except ValueError as error:
        raise bad_request("the query string cannot be read: percent-encoded UTF-8 is expected") from error
    values = [value for key, value in pairs if key == name]
    if len(values) > 1:
        raise bad_request(f"query parameter {name} is given more than once")
    return values[0] if values else None


def header_value(request: Request, name: str) -> str | None:
    """Return one header; several of the same name count as one value joined by commas, as HTTP says."""
    values = request.headers.getlist(name)
    return ", ".join(values) if values else None


_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_DEEPEST = 200
_LARGE = 256 * 1024
#: The largest JSON body, in bytes.
_LONGEST = 16 * 1024**2


@dataclass(frozen=True)
class JsonBody:
    """A JSON body that was read whole; the text is as it was sent: key order, big numbers and null stay exactly."""

    value: Any
    text: str


class BodyReader:
    """Reads the JSON body of a request, up to a limit."""

    def __init__(self, habits: Habits) -> None:
        self.habits = habits

    async def read(self, request: Request, *, half_pairs: bool = False) -> JsonBody:
        """Return the request's JSON body, of any JSON kind; refuse another content type, too much, or what is not JSON.

        ``half_pairs``: half of a surrogate pair, which no UTF-8 holds, is text.
        """
        if not self.habits.content_type_any:
            _require_json_type(request)
        raw = bytearray()
        async for chunk in request.stream():
            raw += chunk
            if len(raw) > _LONGEST:
                raise Refusal(Reason.TOO_LARGE, f"the body is larger than {_LONGEST} bytes")
        if self.habits.json_lenient:
            raw = raw.removeprefix(_BYTE_ORDER_MARK)
        body = await run_in_threadpool(self.parse, raw) if len(raw) > _LARGE else self.parse(raw)
        if not half_pairs and _SURROGATE_ESCAPE.search(body.text):
            try:
                json.dumps(body.value, ensure_ascii=False).encode("utf-8")
            except UnicodeEncodeError as error:
                raise bad_request("the body holds half of a surrogate pair") from error
        return body

    async def read_object(self, request: Request, *, half_pairs: bool = False) -> JsonBody:
        """Return the request's JSON body, which must be an object; refusals as of ``read``."""
        body = await self.read(request, half_pairs=half_pairs)
        if not isinstance(body.value, dict):
            raise bad_request("the body must be a JSON object")
        return body

    def parse(self, raw: bytes | bytearray) -> JsonBody:
        """Return the value of a JSON text: strict UTF-8, no NaN, infinity, member named twice, or deep nesting."""
        members = None if self.habits.json_lenient else _object
        try:
            text = raw.decode("utf-8")
            value = json.loads(
                text, object_pairs_hook=members, parse_constant=_refuse_constant, parse_float=_number
            )
        except UnicodeDecodeError as error:
            raise bad_request("the body is not valid UTF-8") from error
        except RecursionError as error:
            raise bad_request("the body is nested too deeply") from error
        except ValueError as error:
            raise bad_request("the body is not well-formed JSON") from error
        if text.count("[") + text.count("{") > _DEEPEST:
            _refuse_depth(value)
        # A member that was named twice is kept once.
        return JsonBody(value, json.dumps(value) if self.habits.json_lenient else text)


def _require_json_type(request: Request) -> None:
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


def _refuse_depth(value: Any) -> None:
    level: list[Any] = [value]
    for _ in range(_DEEPEST):
        level = [item for parent in level for item in _children(parent)]
        if not level:
            return
    raise bad_request(f"the body is nested more than {_DEEPEST} levels deep")


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


def decoded_segment(raw: str) -> str | None:
    """Undo the percent-encoding of one path segment exactly once; ``None`` when it is not valid UTF-8 so encoded."""
    if _BAD_ESCAPE.search(raw):
        return None
    try:
        return unquote_to_bytes(raw).decode("utf-8")
    except UnicodeDecodeError:
        return None


_NUMBER = re.compile(r"[0-9]+", re.ASCII)
_MOST_DIGITS = 18


def attachment_number(request: Request) -> int:
    """Return the attachment identifier in the path; refuse what is no integer, or larger than any we gave."""
    text = decoded_segment(request.path_params["attachmentId"]) or ""
    if _NUMBER.fullmatch(text) is None:
        raise bad_request("attachmentId must be an integer")
    if len(text) > _MOST_DIGITS:
        raise not_found("there is no such attachment of this document")
    return int(text)


def filename_in_path(request: Request) -> str:
    """Return the file name in the path; refuse one that cannot be decoded, or is no name of a single file."""
    name = decoded_segment(request.path_params["filename"])
    if name is None:
        raise bad_request("filename must be percent-encoded UTF-8")
    if name in {".", ".."} or any(sign in "/\\" or ord(sign) < 32 or ord(sign) == 127 for sign in name):
        raise bad_request("filename must be the name of one file, without slashes or control characters")
    return name


def is_identifier(text: str) -> bool:
    """Tell whether a text obeys the identifier rule: the whole of it, without a trailing newline."""
    return _UID.fullmatch(text) is not None


def identifier_in_path(request: Request, name: str = "uid") -> str:
    """Return the identifier in the path, whose placeholders are still percent-encoded; refuse any other segment."""
    text = decoded_segment(request.path_params[name])
    if text is None or not is_identifier(text):
        raise bad_request(f"{name} must be letters, digits, hyphen and underscore, 11 to 128 characters")
    return text


def new_identifier(habits: Habits) -> str:
    """Return a new identifier that is not in use."""
    return str(uuid.uuid4()).upper() if habits.identifiers_uuid else secrets.token_hex(12)


class RawPaths:
    """Routes by the path as it was sent, so that an encoded slash stays inside its segment.

    Path parameters arrive percent-encoded at the handlers, which decode them exactly once.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request on (ASGI)."""
        if scope["type"] == "http" and scope.get("raw_path") is not None:
            scope = {**scope, "path": scope["raw_path"].decode("latin-1")}
        await self.app(scope, receive, send)


#: Where a request's ``state`` holds the connection it came over.
TRANSPORT: Final = "transport"


class Connection(H11Protocol):
    """uvicorn's HTTP/1.1, whose requests know the connection that they came over."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection."""
        super().connection_made(transport)
        self.app_state = {**self.app_state, TRANSPORT: transport}
