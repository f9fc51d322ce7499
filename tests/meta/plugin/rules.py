"""Rules by which a service misbehaves: a rule gets method, path and count, and answers in the service's place."""

from collections.abc import Callable
from typing import Any

JSON = [(b"content-type", b"application/json")]
NOT_FOUND = (404, JSON, b'{"message": "none"}')


def hiding(answer: Any = NOT_FOUND) -> Callable[[str, str, int], Any]:
    """Hide every draft at its reads."""
    return lambda method, path, _: answer if method == "GET" and path.endswith("/versions/draft") else None
