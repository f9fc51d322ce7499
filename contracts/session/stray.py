"""Content behind the answer to a HEAD request, which client libraries pass over in silence."""

from __future__ import annotations

import socket
from typing import Any

import requests


def stray_content(response: requests.Response) -> bytes:
    """What has arrived behind the headers of an answer to HEAD; must be asked before the body is read.

    Only looks at what is there already: a service that sends content sends it along with the headers, and waiting
    for what never comes would slow every exists check down. A proxy in between may have taken it away.

    Args:
        response: An answer whose connection is still its own (`stream=True`).

    Returns:
        The first bytes of the content; empty when there is none, or no plain connection to look at.
    """
    raw: Any = response.raw
    reader = getattr(getattr(raw, "_fp", None), "fp", None)
    wire = getattr(getattr(raw, "connection", None), "sock", None)
    if reader is None or not isinstance(wire, socket.socket):
        return b""
    patience = wire.gettimeout()
    wire.settimeout(0)
    try:
        return bytes(reader.peek(1))
    except OSError:
        return b""  # on an encrypted connection: nothing there yet
    finally:
        wire.settimeout(patience)
