"""What a browser has to be told before a page of another origin may use the interface (the Fetch standard, CORS)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Self
from urllib.parse import urlsplit

from contracts.errors import UsageError
from contracts.interface.description import load_description

ANY: Final = "*"
#: What a page in a file or in a closed frame sends.
_OPAQUE: Final = "null"
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_MAX_AGE_SECONDS: Final = 600
#: The headers of the interface document; a browser asks before it sends some of them.
HEADERS: Final = ("Accept", "Authorization", "Content-Type", "Realm")
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)
PREFIX: Final = "access-control-"
PREFLIGHT: Final = (204, 403)
"""Statuses of the answer to a preflight: of an origin that is allowed, and of another."""


@dataclass(frozen=True)
class AllowedOrigins:
    """Pages of these origins may use what is served.

    Credentials in the sense of browsers (cookies) are never allowed: the interface takes its token in a header.

    Attributes:
        names: Origins as browsers send them; `*` for any.
    """

    names: frozenset[str]

    @classmethod
    def of(cls, values: Iterable[str]) -> Self:
        """Read the values of --cors.

        Raises:
            UsageError: one is no origin.
        """
        return cls(frozenset(map(_origin, values)))

    @property
    def open(self) -> bool:
        """Whether any page may use it."""
        return ANY in self.names

    def allows(self, origin: str | None) -> bool:
        """Whether a page of this origin may use it."""
        return origin is not None and (self.open or origin in self.names)

    def preflight(self, headers: Mapping[str, str]) -> tuple[int, dict[str, str]]:
        """Answer a browser that asks whether a request may be sent.

        Args:
            headers: Of the question; names in small letters.
        """
        origin = headers.get("origin")
        allowed, refused = PREFLIGHT
        if not self.allows(origin):
            return refused, {"Vary": "Origin"}
        wanted = headers.get("access-control-request-headers", "").split(",")
        named = {name.lower(): name for name in HEADERS}
        requested = (name.strip() for name in wanted)
        further = [name for name in requested if _TOKEN.fullmatch(name) and name.lower() not in named]
        return allowed, {
            **self.of_answer(origin, ""),
            "Access-Control-Allow-Methods": ", ".join(_methods()),
            "Access-Control-Allow-Headers": ", ".join((*HEADERS, *further)),
            "Access-Control-Max-Age": str(_MAX_AGE_SECONDS),
        }

    def of_answer(self, origin: str | None, vary: str) -> dict[str, str]:
        """The headers that an answer needs.

        Args:
            vary: The value of the answer's own `Vary`.
        """
        varies = {name.strip().lower() for name in vary.split(",")} & {"origin", ANY}
        headers = {} if self.open or varies else {"Vary": ", ".join(filter(None, (vary, "Origin")))}
        if origin is None or not self.allows(origin):
            return headers
        # Of requests without credentials, `*` exposes every header.
        shown = ANY if self.open else origin
        return {**headers, "Access-Control-Allow-Origin": shown, "Access-Control-Expose-Headers": "*"}


def is_preflight(method: str, headers: Mapping[str, str]) -> bool:
    """Whether a browser asks before it sends a request; names of headers in small letters."""
    return method == "OPTIONS" and "origin" in headers and "access-control-request-method" in headers


def _methods() -> list[str]:
    return sorted({operation.method for operation in load_description().operations.values()})


def _origin(value: str) -> str:
    """An origin as browsers send it.

    Raises:
        UsageError: it is none.
    """
    if value in (ANY, _OPAQUE):
        return value
    try:
        parts = urlsplit(value)
        port, host = parts.port, parts.hostname
    except ValueError:
        raise _no_origin(value) from None
    beyond = parts.path or parts.query or parts.fragment or "@" in parts.netloc
    if parts.scheme not in _DEFAULT_PORTS or not host or beyond or not value.isascii() or " " in value:
        raise _no_origin(value)
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}" + ("" if port in (None, _DEFAULT_PORTS[parts.scheme]) else f":{port}")


def _no_origin(value: str) -> UsageError:
    return UsageError(f"--cors {value!r} is no origin; write it as http://localhost:5173, without a path")
