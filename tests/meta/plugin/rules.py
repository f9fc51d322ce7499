"""Rules by which a service misbehaves: a rule gets method, path and count, and answers in the service's place."""

from collections.abc import Callable
from typing import Any

JSON = [(b"content-type", b"application/json")]
NOT_FOUND = (404, JSON, b'{"message": "none"}')


def hidden_when(when: Callable[[int], bool], answer: Any = NOT_FOUND) -> Callable[[str, str, int], Any]:
    """Hide a draft at the reads for which `when` holds, counted from 0."""

    def rule(method: str, path: str, before: int) -> Any:
        read = method == "GET" and path.endswith("/versions/draft")
        return answer if read and when(before) else None

    return rule


hidden = hidden_when(lambda _: True)
