"""Between a form and a request: what a form is filled with, and the request that somebody made of it.

No secret is part of a form: the account's password is `{password}` there, and the token is not named at all.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any, Final

from contracts.errors import UsageError
from contracts.evidence.plain import json_text
from contracts.generation.faults import ABSENT
from contracts.generation.grafting import Request
from contracts.page.forms import OWN_TOKEN
from contracts.session.actor import JSON, WITHOUT_CONTENT_TYPE
from contracts.target.model import AUTHOR
from contracts.workbench.bench import Bench
from contracts.workbench.wishes import read_json

#: Stands for the password of the account that a request is sent as.
PASSWORD: Final = "{password}"  # noqa: S105 - a placeholder
#: Stand for a fresh identifier, and for what identifiers of this bench begin with.
FRESH, PREFIX = "{uid}", "{prefix}"
_SIGN_IN: Final = "createToken"

Body = dict[str, str]
Form = dict[str, Any]


def form_of(bench: Bench, request: Request, content: bytes | None) -> Form:
    """Fill a form with a request.

    Returns:
        `path`, `query`, `headers` (None for one that is left out) and `body`.
    """
    body = _without_password(bench, request.body)
    filled: Form = {
        "path": dict(request.path),
        "query": dict(request.query),
        "headers": dict(request.headers),
        "body": _as_body(body, content),
    }
    shown: Form = bench.redactor.value(filled)
    return shown


def _as_body(value: Any, content: bytes | None) -> Body:
    if content is not None:
        try:
            return {"kind": "text", "text": content.decode("utf-8")}
        except UnicodeDecodeError:
            return {"kind": "base64", "text": base64.b64encode(content).decode("ascii")}
    if value is ABSENT:
        return {"kind": "none", "text": ""}
    return {"kind": "json", "text": json_text(value, indent=2)}


def _without_password(bench: Bench, body: Any) -> Any:
    known = {account.password.reveal() for account in bench.target.accounts.values()}
    if isinstance(body, dict) and isinstance(body.get("password"), str) and body["password"] in known:
        return {**body, "password": PASSWORD}
    return body


def request_of(bench: Bench, operation: str, role: str, form: object) -> tuple[Request, bytes | None]:
    """Read the request that a form holds.

    Returns:
        The request, and the bytes of its body where they stand in place of JSON.

    Raises:
        UsageError: the form, or the JSON in it, cannot be read; one line.
    """
    if not isinstance(form, dict):
        raise UsageError("the form holds no request")
    fill = _Filler(bench)
    path = {name: fill(value) for name, value in _texts(form, "path").items()}
    query = {name: fill(value) for name, value in _texts(form, "query").items()}
    headers = _headers(form, fill, operation)
    kind, text = _body(form)
    content: bytes | None = None
    body: Any = ABSENT
    if kind == "json":
        body = _with_password(bench, read_json(fill(text), "the body"), operation, role)
    elif kind == "text":
        content = fill(text).encode("utf-8", "surrogatepass")
    elif kind == "base64":
        content = _decoded(text)
    return Request(operation, path, query, headers, body), content


class _Filler:
    """Puts identifiers in the place of `{uid}`, the same one throughout a form, and of `{prefix}`."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._uid = ""

    def __call__(self, text: str) -> str:
        if FRESH in text:
            self._uid = self._uid or self._bench.namespace.uid()
            text = text.replace(FRESH, self._uid)
        return text.replace(PREFIX, self._bench.namespace.prefix)


def _texts(form: Mapping[str, Any], place: str) -> dict[str, str]:
    given = form.get(place, {})
    if not isinstance(given, dict) or not all(isinstance(value, str) for value in given.values()):
        raise UsageError(f"the form's {place} must be names with texts")
    return given


def _headers(form: Mapping[str, Any], fill: _Filler, operation: str) -> dict[str, str | None]:
    given = form.get("headers", {})
    if not isinstance(given, dict) or not all(
        value is None or isinstance(value, str) for value in given.values()
    ):
        raise UsageError("the form's headers must be names with texts, or null for one that is left out")
    usual = {"Accept": JSON, "Authorization": OWN_TOKEN}
    usual |= {} if operation in WITHOUT_CONTENT_TYPE else {"Content-Type": JSON}
    changed = {name: value for name, value in given.items() if value is None or value != usual.get(name)}
    for name, value in changed.items():
        if value is not None and any(sign in value or sign in name for sign in "\r\n\0"):
            raise UsageError(
                f"the header {name.strip()} holds a line break or a null, which no header can carry"
            )
    return {name: None if value is None else fill(value) for name, value in changed.items()}


def _body(form: Mapping[str, Any]) -> tuple[str, str]:
    body = form.get("body", {"kind": "none", "text": ""})
    kind, text = (body.get("kind"), body.get("text", "")) if isinstance(body, dict) else (None, None)
    if kind not in ("none", "json", "text", "base64") or not isinstance(text, str):
        raise UsageError("the form's body must have a kind of none, json, text or base64, and a text")
    return kind, text


def _with_password(bench: Bench, body: Any, operation: str, role: str) -> Any:
    """Only the request for a token gets the password, and only in the place that is meant for it."""
    if operation != _SIGN_IN or not isinstance(body, dict) or body.get("password") != PASSWORD:
        return body
    accounts = bench.target.accounts
    by_email = {account.email: account for account in accounts.values()}
    found = by_email.get(str(body.get("email"))) or accounts.get(role) or accounts[AUTHOR]
    return {**body, "password": found.password.reveal()}


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise UsageError("the file did not arrive whole; choose it again") from None
