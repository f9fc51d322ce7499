"""An exchange that passed through the proxy, read again: to be shown, judged by itself, and sent once more."""

from __future__ import annotations

import hashlib
from typing import Any

from contracts.errors import UsageError
from contracts.evidence.record import RecordedExchange
from contracts.interface.operations import ANY_REALM
from contracts.target.model import ANONYMOUS, AUTHOR
from contracts.traffic.archive import read_entry
from contracts.traffic.feed import Seen
from contracts.traffic.passed import Body, Pairs, Passed


def passed_of(seen: Seen) -> Passed:
    """What passed, in parts.

    Raises:
        UsageError: it was not kept in full.
    """
    passed = read_entry(seen.number, seen.exchange)
    if passed is None:
        raise UsageError(f"exchange {seen.number} was not kept in full")
    return passed


def role_of(passed: Passed) -> str:
    """The role that comes closest to who sent a request: who signed in is not told by a token."""
    signed_in = (passed.header("Authorization") or "").strip() or "/authentication/token" in passed.url
    return AUTHOR if signed_in else ANONYMOUS


def recorded_of(seen: Seen) -> RecordedExchange:
    """An exchange as the reports show one.

    Raises:
        UsageError: it was not kept in full.
    """
    passed = passed_of(seen)
    answered = {
        "status": passed.status,
        "reason": passed.reason,
        "headers": _listed(passed.answer_headers),
        "body": _body(passed.answer_body),
    }
    return RecordedExchange(
        id=f"passed {seen.number}",
        case="through the proxy",
        attempt=1,
        realm=seen.realm or ANY_REALM,
        role="a client",
        operation=seen.operation,
        started=seen.at,
        seconds=seen.milliseconds / 1000,
        request={
            "method": passed.method,
            "url": passed.url,
            "http_version": "1.1",
            "headers": _listed(passed.request_headers),
            "body": _body(passed.request_body),
        },
        response=answered if passed.status else None,
        fault=passed.fault,
        retries=0,
    )


def _listed(pairs: Pairs) -> list[list[str]]:
    return [[name, value] for name, value in pairs]


def _body(body: Body) -> dict[str, Any] | None:
    if not body.content and body.known:
        return None
    shown: dict[str, Any] = {"size": max(body.size, len(body.content), 1), "truncated": not body.known}
    shown["sha256"] = hashlib.sha256(body.content).hexdigest()
    if not body.content:
        return {**shown, "text": "(not kept)"}
    try:
        return {**shown, "text": body.content.decode("utf-8")}
    except UnicodeDecodeError:
        return shown
