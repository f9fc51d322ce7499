"""Answers as they go over the wire."""

from collections.abc import Callable, Iterator

JSON = "Content-Type: application/json"


def answer(status: str, *headers: str, body: bytes = b"{}", length: int | None = None) -> bytes:
    """Write an answer; it may say another length than it has."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body) if length is None else length}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


OK = answer("200 OK", JSON)


def in_turn(*answers: bytes | None) -> Callable[..., bytes | None]:
    """Give one answer after the other."""
    left: Iterator[bytes | None] = iter(answers)
    return lambda *_: next(left)


def redirect(location: str, status: str = "302 Found") -> bytes:
    """Write a redirect."""
    return answer(status, f"Location: {location}", body=b"")
