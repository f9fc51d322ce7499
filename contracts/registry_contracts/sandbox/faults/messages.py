"""Requests and answers as faults see and change them, between the service and its clients."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Self

from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from registry_contracts.interface.description import load_description
from registry_contracts.interface.operations import Operation
from registry_contracts.sandbox.authentication import Account
from registry_contracts.sandbox.faults.held import Held
from registry_contracts.sandbox.faults.places import ACCOUNTS, SIGN_IN

if TYPE_CHECKING:
    from registry_contracts.sandbox.documents import Context

#: Here a sandbox answers how often its fault made a difference, or what it has shown; outside the interface.
COUNTS_PATH: Final = "/sandbox/counts"
#: Stands for a value that is taken out of its object or array.
MISSING: Final = object()
#: The realm and the identifier, by which records are told apart.
Key = tuple[str, str]
Headers = tuple[tuple[bytes, bytes], ...]
_JSON: Final = (b"content-type", b"application/json")


def rewritten(
    change: Callable[[Any, tuple[str | int, ...]], Any], value: Any, path: tuple[str | int, ...] = ()
) -> Any:
    """Apply a change to each value inside a JSON value and its path, innermost first; `MISSING` removes the value."""
    if isinstance(value, dict):
        members = {name: rewritten(change, member, (*path, name)) for name, member in value.items()}
        value = {name: member for name, member in members.items() if member is not MISSING}
    elif isinstance(value, list):
        items = [rewritten(change, item, (*path, at)) for at, item in enumerate(value)]
        value = [item for item in items if item is not MISSING]
    return change(value, path)


@dataclass(frozen=True, kw_only=True)
class Message:
    """Headers, as raw pairs, and the body of a request or an answer."""

    headers: Headers = ()
    body: bytes = b""

    @property
    def json(self) -> Any:
        """The body read as JSON; None when it is none."""
        try:
            return json.loads(self.body) if self.body else None
        except (ValueError, RecursionError):
            return None

    @property
    def member(self) -> dict[str, Any]:
        """The members of a JSON object; empty for any other body."""
        return self.json if isinstance(self.json, dict) else {}

    def header(self, name: str) -> str:
        """The first value of a header, empty for none."""
        return next((v.decode("latin-1") for k, v in self.headers if k.lower() == name.encode()), "")

    def with_json(self, value: Any) -> Self:
        """The same with another JSON body; unchanged, byte for byte, if the JSON is equal."""
        text = json.dumps(value)
        return self if text == json.dumps(self.json) else replace(self, body=text.encode())

    def with_header(self, name: str, value: str) -> Self:
        """The same with another value of a header."""
        rest = (pair for pair in self.headers if pair[0].lower() != name.encode())
        return replace(self, headers=(*rest, (name.encode(), value.encode("latin-1"))))


@dataclass(frozen=True)
class Answer(Message):
    """What the service answers."""

    status: int

    @property
    def success(self) -> bool:
        """Whether the status is a 2xx."""
        return 200 <= self.status < 300

    @property
    def refusal(self) -> bool:
        """Whether the status is a 4xx."""
        return 400 <= self.status < 500

    @property
    def errors(self) -> list[dict[str, Any]]:
        """The errors array; empty without one."""
        return self.member.get("errors") or []

    @property
    def done(self) -> bool:
        """Whether the service accepted the request: a success without errors."""
        return self.success and not self.errors

    def with_member(self, name: str, value: Any) -> Answer:
        """Set a member of an answer that is an object; `MISSING` removes it."""
        members = {**self.member, name: value}.items()
        return self.with_json({k: v for k, v in members if v is not MISSING}) if self.member else self

    @property
    def items(self) -> list[Any]:
        """The items of a list: the body itself, or the first array in it."""
        members = self.json.values() if isinstance(self.json, dict) else [self.json]
        return next((value for value in members if isinstance(value, list)), [])

    def with_items(self, items: list[Any]) -> Answer:
        """A success with other items, in the same envelope."""
        envelope = {k: items if isinstance(v, list) else v for k, v in self.member.items()}
        return self.with_json(envelope or items) if self.success and self.json is not None else self


def answer_json(status: int, value: Any) -> Answer:
    """Make an answer with a JSON body."""
    return Answer(status, headers=(_JSON,), body=json.dumps(value).encode())


async def ask(app: ASGIApp, scope: Scope, body: bytes) -> Answer:
    """Send one request to an application and collect its answer."""
    received, sent = asyncio.Queue[Any](), list[Any]()
    received.put_nowait({"type": "http.request", "body": body, "more_body": False})

    async def send(message: Any) -> None:
        sent.append(message)

    await app(scope, received.get, send)
    content = b"".join(message.get("body", b"") for message in sent[1:])
    return Answer(sent[0]["status"], headers=tuple(sent[0]["headers"]), body=content)


@dataclass(frozen=True)
class Asked:
    """One request on its way to an application."""

    app: ASGIApp
    scope: Scope
    receive: Receive
    send: Send

    @property
    def path(self) -> str:
        """The path as it came, percent-encoded."""
        return str(self.scope.get("raw_path", b"").decode("latin-1"))

    @property
    def operation(self) -> Operation | None:
        """The operation that it is of; None for any other request."""
        match = load_description().match(self.scope["method"], self.path)
        return match[0] if match else None

    async def passes(self, headers: Callable[[Headers], Headers] = lambda headers: headers) -> None:
        """Pass it on, and change the headers of the answer."""

        async def sent(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*headers(tuple(message["headers"]))]
            await self.send(message)

        await self.app(self.scope, self.receive, sent)

    async def body(self) -> bytes:
        """Read its body."""
        return await HttpRequest(self.scope, self.receive).body()

    async def answered(self, body: bytes | None = None) -> Answer:
        """Pass it on, and keep the answer; a body that was read before has to be given."""
        return await ask(self.app, self.scope, await self.body() if body is None else body)

    async def answer(self, answer: Answer) -> None:
        """Answer it."""
        headed = self.scope["method"] == "HEAD"
        headers = [pair for pair in answer.headers if pair[0].lower() != b"content-length"]
        if not headed and answer.status not in (204, 304):
            headers.append((b"content-length", str(len(answer.body)).encode()))
        await self.send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await self.send({"type": "http.response.body", "body": b"" if headed else answer.body})

    async def respond(self, response: Response) -> None:
        """Answer it with a response of the framework."""
        await response(self.scope, self.receive, self.send)


class Between:
    """ASGI middleware that hands every HTTP request to a function."""

    def __init__(self, app: ASGIApp, act: Callable[[Asked], Awaitable[None]]) -> None:
        self._app = app
        self._act = act

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand one request over (ASGI)."""
        asked = Asked(self._app, scope, receive, send)
        await (self._act(asked) if scope["type"] == "http" else asked.passes())


class Memory:
    """What the injector remembers of earlier requests."""

    def __init__(self) -> None:
        #: Set at the first request.
        self.service: Context
        #: The last save of each draft that was not deleted.
        self.saved: dict[Key, Request] = {}
        #: The last save of each deleted draft, by identifier.
        self.deleted: dict[str, Request] = {}
        #: Anything else that an effect remembers.
        self.kept: dict[Any, Any] = {}
        #: How many requests of an identifier met all other conditions.
        self.met_by_uid: Counter[str] = Counter()
        #: Whether the fault changed the storage itself.
        self.changed = False
        #: Whether the document promises nothing of what the fault changed.
        self.silent = False
        #: How often the fault made a difference, and how often against a promise.
        self.altered = self.mattered = 0

    def alter(self, change: Callable[[Held], object]) -> None:
        """Change what the service stores."""
        with self.service.storage.transaction() as records:
            change(Held(records.connection, records.clock))
        self.changed = True

    def note(self, request: Request, answer: Answer) -> None:
        """Remember saved and deleted drafts, which effects need later."""
        if answer.success and request.operation.id == "saveDraft":
            self.saved[request.key] = request
        elif answer.success and request.operation.id == "deleteDraft":
            self.deleted[request.uid] = self.saved.pop(request.key, request)


@dataclass(frozen=True)
class Request(Message):
    """One request of an operation of the interface.

    Attributes:
        params: Decoded values of the path's placeholders.
        query: Decoded pairs.
        memory: What the injector remembers of earlier requests.
        service: Sends a request to the service.
        path: The path as it came, percent-encoded.
    """

    operation: Operation
    params: dict[str, str]
    query: tuple[tuple[str, str], ...]
    memory: Memory = field(repr=False, compare=False)
    service: Callable[[Request], Awaitable[Answer]] = field(repr=False, compare=False)
    path: str = ""

    async def ask(self, other: Request | None = None) -> Answer:
        """Let the service answer this request, or another one in its place."""
        return await self.service(other or self)

    @property
    def bearer(self) -> str | None:
        """The bearer token; None without one."""
        scheme, _, token = self.header("authorization").partition(" ")
        return token.strip() if scheme.lower() == "bearer" else None

    @property
    def role(self) -> str:
        """Role of the account that the token belongs to; empty without a token of the service."""
        account = self.memory.service.identity.holder(self.bearer or "")
        return account.name if account else ""

    @property
    def held(self) -> Held:
        """What the service stores."""
        with self.memory.service.storage.transaction() as records:
            return Held(records.connection, records.clock)

    @property
    def uid(self) -> str:
        """The identifier in the path; empty where there is none."""
        return self.params.get("uid") or self.params.get("identifier") or ""

    @property
    def realm(self) -> str:
        """The realm of the header, else of the query."""
        return self.header("realm") or dict(self.query).get("Realm", "")

    @property
    def key(self) -> Key:
        """Realm and identifier of its record."""
        return self.realm, self.uid

    @property
    def options(self) -> dict[str, str]:
        """The options in the query, without the dollar sign that draft lists use."""
        return {name.removeprefix("$"): value for name, value in self.query}

    @property
    def signed_in(self) -> bool:
        """Whether it has a valid token, or its operation needs none."""
        return bool(self.role) or not self.operation.protected

    @property
    def record(self) -> Any:
        """The record that it sends: the document of a submission, any other body whole."""
        return self.member.get("document") if self.operation.stores == "submission" else self.json

    def text(self, name: str) -> str | None:
        """A header, an option, a part of the path, `uid`, `role`, `path`, `body` or `json`; None for none."""
        if name in ("uid", "role", "path"):
            return str(getattr(self, name))
        if name == "json":
            return json.dumps(self.json, ensure_ascii=False)
        if name == "body":
            return self.body.decode("utf-8", "replace")
        headers = {key.decode(): value.decode("latin-1") for key, value in self.headers}
        return {**headers, **self.options, **self.params}.get(name)

    def with_uid(self, uid: str) -> Request:
        """The request for another identifier."""
        return self.with_params(**{"uid" if "uid" in self.params else "identifier": uid})

    def with_params(self, **values: str) -> Request:
        """The request with other values in its path."""
        return replace(self, params={**self.params, **values})

    def with_options(self, **values: str | None) -> Request:
        """The request with other options in its query; None takes one out."""
        names = {name.removeprefix("$"): name for name, _ in self.query}
        query = {**dict(self.query), **{names.get(name, name): value for name, value in values.items()}}
        return replace(self, query=tuple((name, value) for name, value in query.items() if value is not None))

    def at(self, operation: str) -> Request:
        """The request at the path and method of another operation."""
        return replace(self, operation=load_description().operations[operation])

    def signing_in(self, account: Account) -> Request:
        """The request that signs an account of the sandbox in."""
        plain = replace(self.at(SIGN_IN), params={}, query=(), headers=(_JSON, (b"accept", _JSON[1])))
        return plain.with_json({"email": account.email, "password": account.password})

    def as_role(self, role: str) -> Request:
        """The request as another account would send it."""
        if role == self.role:
            return self
        token = self.memory.service.identity.issue(ACCOUNTS[role])
        return self.with_header("authorization", f"Bearer {token.text}")


#: Answers a request in place of the service; None lets the service answer.
Inject = Callable[[Request], Awaitable[Answer | None]]
#: Whether a fault is about a request.
Where = Callable[[Request], bool]


def given(texts: str) -> Where:
    """Make a test for requests from texts that `Request.text` finds.

    Args:
        texts: Terms with spaces between. `name` is present, `name~PATTERN` matches; `-` before a term negates it.
    """
    terms = [(*term.removeprefix("-").partition("~"), not term.startswith("-")) for term in texts.split()]

    def has(found: str | None, pattern: str) -> bool:
        return found is not None and re.search(pattern, found, re.DOTALL) is not None

    return lambda request: all(has(request.text(name), text) is wanted for name, _, text, wanted in terms)
