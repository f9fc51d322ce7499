"""What weather does on the wire: connections reset, answers that nobody gets, answers that break off."""

import asyncio
import socket
import struct
from typing import Any

from starlette.types import Message, Receive, Scope, Send

from contracts.sandbox.connection import TRANSPORT

_AT_ONCE = struct.pack("ii", 1, 0)


def drop(transport: asyncio.Transport | None) -> None:
    """Reset a connection: whoever is on the other side learns of it at once and gets nothing more."""
    if transport is None or transport.is_closing():
        return
    wire = transport.get_extra_info("socket")
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
    transport.abort()


def transport_of(scope: Scope) -> asyncio.Transport | None:
    """Return the connection that a request came over, where the server tells it."""
    found: asyncio.Transport | None = scope.get("state", {}).get(TRANSPORT)
    return found


async def reset(scope: Scope, receive: Receive) -> None:
    """Reset the connection of a request in place of an answer."""
    drop(transport_of(scope))
    await gone(receive)


async def gone(receive: Receive) -> None:
    """Wait until the client is gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def nobody(_message: Message) -> None:
    """Take an answer that nobody gets."""


async def page(send: Send, status: int, title: str, *headers: tuple[bytes, bytes]) -> None:
    """Answer with an HTML page, as gateways do."""
    body = f"<!DOCTYPE html>\n<html><head><title>{title}</title></head><body><h1>{title}</h1></body></html>\n"
    await reply(send, status, b"text/html; charset=utf-8", body.encode(), *headers)


async def reply(send: Send, status: int, kind: bytes, body: bytes, *headers: tuple[bytes, bytes]) -> None:
    """Answer in place of the service."""
    length = str(len(body)).encode()
    named: list[Any] = [(b"content-type", kind), (b"content-length", length), *headers]
    await send({"type": "http.response.start", "status": status, "headers": named})
    await send({"type": "http.response.body", "body": body})
