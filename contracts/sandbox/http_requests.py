"""Query strings, read strictly: what cannot be decoded or is given twice is refused, never guessed.

Reading JSON bodies: within the limit while they arrive, and strictly.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from contracts.sandbox.refusals import Reason, Refusal, bad_request

_MOST_FIELDS = 200


def query_value(request: Request, name: str) -> str | None:
    """Return one query parameter.

    Args:
        request: the request.
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
        value: the parsed value.
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
