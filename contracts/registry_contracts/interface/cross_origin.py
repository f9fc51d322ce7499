"""What a browser has to be told before a page of another origin may use the interface (the Fetch standard, CORS)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Self

from registry_contracts.errors import UsageError

ANY: Final = "*"
#: Browsers leave the usual port out.
_USUAL_PORT: Final = re.compile(r"http://.*:80|https://.*:443")
#: What a page in a file or in a closed frame sends.
_OPAQUE: Final = "null"
_ORIGIN: Final = re.compile(r"https?://([a-z0-9._-]+|\[[0-9a-f:]+\])(:(?!0)[0-9]+)?")
#: The headers of the interface document; a browser asks before it sends some of them.
HEADERS: Final = ("Accept", "Authorization", "Content-Type", "Realm")
PREFIX: Final = "access-control-"
#: Of requests without credentials, `*` stands for everything but Authorization.
_ALLOWED: Final = {
    "Access-Control-Allow-Methods": ANY,
    "Access-Control-Allow-Headers": f"{ANY}, Authorization",
    "Access-Control-Max-Age": "600",
}


@dataclass(frozen=True)
class AllowedOrigins:
    """Pages of these origins, as browsers send them, may use what is served; `*` stands for any.

    Credentials in the sense of browsers (cookies) are never allowed: the interface takes its token in a header.
    """

    names: frozenset[str]

    @classmethod
    def of(cls, values: Iterable[str]) -> Self:
        """Read the values of --cors; raises `UsageError` for one that is no origin."""
        return cls(frozenset(map(_origin, values)))

    def allows(self, origin: str | None) -> bool:
        """Whether a page of this origin may use it."""
        return origin is not None and not self.names.isdisjoint((ANY, origin))

    def preflight(self, headers: Mapping[str, str]) -> tuple[int, dict[str, str]]:
        """Answer a browser that asks whether a request may be sent; names of its headers in small letters."""
        origin = headers.get("origin")
        answer = self.of_answer(origin, "")
        return (204, {**answer, **_ALLOWED}) if self.allows(origin) else (403, answer)

    def of_answer(self, origin: str | None, vary: str) -> dict[str, str]:
        """The headers that an answer needs; `vary` is the value of the answer's own `Vary`."""
        varies = {name.strip().lower() for name in vary.split(",")} & {"origin", ANY}
        headers = {} if varies else {"Vary": ", ".join(filter(None, (vary, "Origin")))}
        if origin is None or not self.allows(origin):
            return headers
        return {**headers, "Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": "*"}


def is_preflight(method: str, headers: Mapping[str, str]) -> bool:
    """Whether a browser asks before it sends a request; names of headers in small letters."""
    return method == "OPTIONS" and "origin" in headers and "access-control-request-method" in headers


def _origin(value: str) -> str:
    """An origin as browsers send it; raises `UsageError` where it is none."""
    if value not in (ANY, _OPAQUE) and not _ORIGIN.fullmatch(value):
        raise UsageError(
            f"--cors {value!r} is no origin; write it as http://localhost:5173, in small letters and without a path"
        )
    if _USUAL_PORT.fullmatch(value):
        raise UsageError(
            f"--cors {value!r} matches no browser, which leaves the usual port out; leave it out"
        )
    return value
