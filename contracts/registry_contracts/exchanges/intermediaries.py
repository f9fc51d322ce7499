"""Headers by which gateways, filters and caches between suite and service show themselves."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

#: A filter sends one of these if it asks for a human, or refuses the request.
_CHALLENGES: Final = ("cf-mitigated", "x-amzn-waf-action", "x-sucuri-block")
_CACHES: Final = ("x-cache", "x-cache-status", "x-proxy-cache", "cf-cache-status", "cache-status")
_SERVERS: Final = re.compile(
    r"akamai\w*|awselb|big-?ip|cloudflare|cloudfront|envoy|fastly|haproxy|imperva|incapsula|squid|sucuri\w*|varnish",
    re.IGNORECASE,
)


def challenge(headers: Mapping[str, str]) -> str:
    """The header of a filter that answered in place of the service; empty for none."""
    return next((f"{name}: {headers[name][:40]}" for name in _CHALLENGES if headers.get(name)), "")


def store(headers: Mapping[str, str]) -> str:
    """The header of a cache that answered in place of the service; empty for none."""
    age = headers.get("age", "").strip()
    if age.isdecimal() and age.strip("0"):
        return "age"
    return next((f"{name}: hit" for name in _CACHES if "hit" in headers.get(name, "").lower()), "")


def marks(headers: Mapping[str, str]) -> str:
    """The intermediaries that headers show, to stand after a sentence: ` (via, server: cloudflare)`; empty for none.

    Values that change from one answer to the next are left out.
    """
    server = _SERVERS.search(headers.get("server", ""))
    cache = next((name for name in _CACHES if headers.get(name)), "")
    named = (
        challenge(headers),
        store(headers) or cache,
        "via" if headers.get("via") else "",
        f"server: {server[0].lower()}" if server else "",
    )
    told = ", ".join(filter(None, named))
    return f" ({told})" if told else ""
