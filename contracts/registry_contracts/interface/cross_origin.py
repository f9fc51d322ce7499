"""CORS (Fetch standard): the headers that let pages of other origins use a server of this project."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Self

from registry_contracts.errors import UsageError

ANY: Final = "*"
#: Browsers omit the default port.
_DEFAULT_PORT: Final = re.compile(r"http://.*:80|https://.*:443")
#: The origin of a page in a file or in a sandboxed frame.
_OPAQUE: Final = "null"
_ORIGIN: Final = re.compile(r"https?://([a-z0-9._-]+|\[[0-9a-f:]+\])(:(?!0)[0-9]+)?")
#: The headers of the interface document; a browser asks before it sends some of them.
HEADERS: Final = ("Accept", "Authorization", "Content-Type", "Realm")
PREFIX: Final = "access-control-"
#: In answers to requests without credentials, `*` covers all headers but Authorization.
_ALLOWED: Final = {
    "Access-Control-Allow-Methods": ANY,
    "Access-Control-Allow-Headers": f"{ANY}, Authorization",
    "Access-Control-Max-Age": "600",
}


@dataclass(frozen=True)
class AllowedOrigins:
    """The origins, as browsers send them, whose pages may use a server; `*` allows any.

    Cookies are never allowed: the interface takes its token in a header.
    """

    names: frozenset[str]

    @classmethod
    def of(cls, values: Iterable[str]) -> Self:
        """Read the values of --cors; raises `UsageError` for an invalid origin."""
        return cls(frozenset(map(_origin, values)))

    def allows(self, origin: str | None) -> bool:
        """Whether pages of this origin are allowed."""
        return origin is not None and not self.names.isdisjoint((ANY, origin))

    def preflight(self, headers: Mapping[str, str]) -> tuple[int, dict[str, str]]:
        """Return the status and headers that answer a preflight request; `headers` has lower-case names."""
        origin = headers.get("origin")
        answer = self.of_answer(origin, "")
        return (204, {**answer, **_ALLOWED}) if self.allows(origin) else (403, answer)

    def of_answer(self, origin: str | None, vary: str) -> dict[str, str]:
        """Return the headers to add to an answer; `vary` is the answer's own `Vary`."""
        varies = {name.strip().lower() for name in vary.split(",")} & {"origin", ANY}
        headers = {} if varies else {"Vary": ", ".join(filter(None, (vary, "Origin")))}
        if origin is None or not self.allows(origin):
            return headers
        return {**headers, "Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": "*"}


def is_preflight(method: str, headers: Mapping[str, str]) -> bool:
    """Whether a request is a preflight request; header names in lower case."""
    return method == "OPTIONS" and "origin" in headers and "access-control-request-method" in headers


def _origin(value: str) -> str:
    """Check an origin; raises `UsageError` if browsers never send it."""
    if value not in (ANY, _OPAQUE) and not _ORIGIN.fullmatch(value):
        raise UsageError(
            f"--cors {value!r} is not an origin; write it like http://localhost:5173, in lower case, without a path"
        )
    if _DEFAULT_PORT.fullmatch(value):
        raise UsageError(
            f"--cors {value!r} never matches, as browsers omit the default port; remove the port"
        )
    return value
