"""The base address of a target: checked once, kept in one normal form."""

import re
from urllib.parse import SplitResult, urlsplit

DEFAULT_PORTS = {"http": 80, "https": 443}
_VERSIONED = re.compile(r"/api/v\d+$", re.IGNORECASE)
_NO_HOST = "names no host that can be reached; write https://host or http://host:port"


def checked_base_url(text: str) -> str:
    """Return a base URL in normal form: lower-case scheme and host, path prefix kept, no trailing slash.

    Raises:
        ValueError: what is wrong with it and what to do, without repeating it: it might hold a password.

    """
    if not text.isprintable() or " " in text or "\\" in text:
        raise ValueError("holds a space, backslash or control character; write https://host")
    try:
        parts = urlsplit(text)
    except ValueError:
        raise ValueError(_NO_HOST) from None
    if parts.scheme not in DEFAULT_PORTS:
        raise ValueError("is not an http or https address; write https://host or http://host:port")
    if "@" in parts.netloc:
        raise ValueError("holds credentials; take them out and name them in [accounts.author] by variables")
    if not _reachable(parts):
        raise ValueError(_NO_HOST)
    if not parts.netloc.isascii():
        raise ValueError("has a host with letters outside ASCII; write its xn--… form")
    if "?" in text or "#" in text:
        raise ValueError("has a query or fragment; write only scheme, host, port and path prefix")
    prefix = parts.path.rstrip("/")
    if _VERSIONED.search(prefix):
        raise ValueError("ends with the interface's own /api/v…; take that out, every path brings it")
    if any(segment in (".", "..", "") for segment in prefix.split("/")[1:]):
        raise ValueError("has an empty or dotted path segment; write the path prefix plainly")
    return f"{parts.scheme}://{parts.netloc.lower().removesuffix(':')}{prefix}"


def _reachable(parts: SplitResult) -> bool:
    """Tell whether host and port could be looked up and connected to at all."""
    try:
        return bool((parts.hostname or "").encode("idna")) and parts.port != 0
    except ValueError:
        # The library's own message repeats what stands after a colon, which may be a password.
        return False
