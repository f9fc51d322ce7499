"""Headers that gateways, filters and caches between suite and service add to answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

#: A filter sends one of these when it shows a challenge, or refuses the request.
_CHALLENGES: Final = ("cf-mitigated", "x-amzn-waf-action", "x-sucuri-block")
_CACHES: Final = ("x-cache", "x-cache-status", "x-proxy-cache", "cf-cache-status", "cache-status")
_SERVERS: Final = re.compile(
    r"akamai\w*|awselb|big-?ip|cloudflare|cloudfront|envoy|fastly|haproxy|imperva|incapsula|squid|sucuri\w*|varnish",
    re.IGNORECASE,
)


def challenge(headers: Mapping[str, str]) -> str:
    """The header of a filter that answered instead of the service; empty for none."""
    return next((f"{name}: {headers[name][:40]}" for name in _CHALLENGES if headers.get(name)), "")


def store(headers: Mapping[str, str]) -> str:
    """The header of a cache that answered instead of the service; empty for none."""
    age = headers.get("age", "").strip()
    if age.isdecimal() and age.strip("0"):
        return "age"
    return next((f"{name}: hit" for name in _CACHES if "hit" in headers.get(name, "").lower()), "")


def marks(headers: Mapping[str, str]) -> str:
    """The intermediaries in headers as a suffix for a message: ` (via, server: cloudflare)`; empty for none.

    Values that change with each answer are left out.
    """
    server = _SERVERS.search(headers.get("server", ""))
    cache = next((name for name in _CACHES if headers.get(name)), "")
    named = (
        challenge(headers),
        store(headers) or cache,
        "via" if headers.get("via") else "",
        f"server: {server[0].lower()}" if server else "",
    )
    signs = ", ".join(filter(None, named))
    return f" ({signs})" if signs else ""
