"""Requests and answers as faults see and change them, between the service and its clients."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from contracts.interface.description import load_description
from contracts.interface.operations import Operation
from contracts.sandbox.faults.places import ACCOUNTS, NAMED_SUBMISSIONS, SIGN_IN

#: Stands for a value that is taken out of its object or array.
MISSING: Final = object()
#: The realm and the identifier, by which records are told apart.
Key = tuple[str, str]
_JSON: Final = (b"content-type", b"application/json")


def read_json(content: bytes) -> Any:
    """A body read as JSON; None when it is none."""
    try:
        return json.loads(content) if content else None
    except (ValueError, RecursionError):
        return None


@dataclass(frozen=True)
class Answer:
    """What the service answers."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...] = ()
    body: bytes = b""

    @property
    def success(self) -> bool:
        """Whether the status is a 2xx."""
        return 200 <= self.status < 300

    @property
    def refusal(self) -> bool:
        """Whether the status is a 4xx."""
        return 400 <= self.status < 500

    @property
    def json(self) -> Any:
        """The body read as JSON; None when it is none."""
        return read_json(self.body)

    @property
    def errors(self) -> list[dict[str, Any]]:
        """The errors array; empty without one."""
        return (self.json.get("errors") or []) if isinstance(self.json, dict) else []

    def with_json(self, value: Any) -> Answer:
        """The answer with another JSON body."""
        return replace(self, body=json.dumps(value).encode())

    def labelled(self, media_type: str) -> Answer:
        """The answer with another Content-Type."""
        rest = (pair for pair in self.headers if pair[0].lower() != b"content-type")
        return replace(self, headers=(*rest, (b"content-type", media_type.encode())))

    @property
    def items(self) -> list[Any]:
        """The items of a list: the body itself, or its only array."""
        body = self.json
        members = body.values() if isinstance(body, dict) else [body]
        arrays = [value for value in members if isinstance(value, list)]
        return arrays[0] if len(arrays) == 1 else []

    def with_items(self, change: Callable[[list[Any]], list[Any]]) -> Answer:
        """A success with another list of items, in the same envelope."""
        body = self.json
        if not self.success or not isinstance(body, list | dict):
            return self
        if isinstance(body, list):
            return self.with_json(change(body))
        return self.with_json({k: change(v) if isinstance(v, list) else v for k, v in body.items()})


def answer_json(status: int, value: Any) -> Answer:
    """Make an answer with a JSON body."""
    return Answer(status, (_JSON,), json.dumps(value).encode())


class Memory:
    """What is remembered of the requests before, of a service that takes files up to a size in bytes."""

    def __init__(self, size_limit: int) -> None:
        self.size_limit = size_limit
        #: Drafts that were saved and not deleted, with the save that did it, and the save before that one.
        self.saved: dict[Key, Request] = {}
        self.before: dict[Key, Request] = {}
        self.deleted: dict[str, None] = {}
        #: Identifiers under which records were created.
        self.submitted: set[Key] = set()
        #: The request that made each attachment, by its number.
        self.uploads: dict[str, Request] = {}
        #: Role of the account for which each token of the service was issued, and tokens of the fault's own, by role.
        self.issued: dict[str, str] = {}
        self.tokens: dict[str, str] = {}
        #: The latest request of each operation, answered or not.
        self.arrived: dict[str, Request] = {}
        #: The last successful answer of each operation, and of each operation and path.
        self.answers: dict[str | tuple[str, str], Answer] = {}
        #: What listed drafts and attachments were, by operation and the text of the item.
        self.items: dict[str, dict[str, Any]] = defaultdict(dict)
        #: Whatever else an effect remembers.
        self.kept: dict[Any, Any] = {}
        #: How often the fault's place was met, in all and by identifier, and the role of the request before there.
        self.met = 0
        self.met_by_uid: Counter[str] = Counter()
        self.role_before = ""
        #: Whether another request was at the place at the same moment, and the last one anywhere was refused.
        self.overlapped = self.refused = False
        #: How often the fault made a difference, to the answer or to what the service was asked.
        self.altered = 0

    def note(self, request: Request, answer: Answer) -> None:
        """Remember one request that the service answered."""
        name, received, self.refused = request.operation.id, answer.json, answer.refusal
        if not answer.success:
            return
        self.answers[name] = self.answers[request.place] = answer
        if name == "saveDraft":
            if request.key in self.saved:
                self.before[request.key] = self.saved[request.key]
            self.saved[request.key] = request
        elif name == "deleteDraft":
            self.saved.pop(request.key, None)
            self.deleted[request.uid] = None
        elif name == NAMED_SUBMISSIONS[0] and not answer.errors:
            self.submitted.add(request.key)
        elif name == SIGN_IN and isinstance(received, dict):
            account = ACCOUNTS.get(str(request.member.get("email")), ("", ""))
            self.issued[str(received.get("authenticationToken"))] = account[0]
        elif name in ("createAttachment", "persistTemporaryFile") and isinstance(received, dict):
            self.uploads[str(received.get("id"))] = request
        elif name in ("listDrafts", "listAttachments"):
            self.items[name] |= {json.dumps(item, sort_keys=True): item for item in answer.items}


@dataclass(frozen=True)
class Request:
    """One request of an operation of the interface.

    Attributes:
        params: Decoded values of the path's placeholders.
        query: Decoded pairs.
        headers: Raw pairs, names in lower case.
        memory: What the fault remembers.
        service: Answers requests.
        path: As it came, percent-encoded.
        role: Role of the account that the token belongs to; empty without a token of the service.
        look: A fault asks only to learn something: the service takes nothing of it.
    """

    operation: Operation
    params: dict[str, str]
    query: tuple[tuple[str, str], ...]
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes
    memory: Memory = field(repr=False, compare=False)
    service: Callable[[Request], Awaitable[Answer]] = field(repr=False, compare=False)
    path: str = ""
    role: str = ""
    look: bool = False

    async def ask(self, other: Request | None = None) -> Answer:
        """Let the service answer this request, or another one in its place."""
        return await self.service(other or self)

    @property
    def uid(self) -> str:
        """The identifier in the path; empty where there is none."""
        return self.params.get("uid") or self.params.get("identifier") or ""

    @property
    def realm(self) -> str:
        """The realm that the request names, in its header or its query."""
        return self.header("realm") or dict(self.query).get("Realm", "")

    @property
    def key(self) -> Key:
        """By which its record is told from others."""
        return self.realm, self.uid

    @property
    def known(self) -> str:
        """What is known of its record, in words: a draft is `saved`, one was `deleted`, it was `submitted`."""
        lists = {"saved": self.memory.saved, "submitted": self.memory.submitted}
        words = [word for word, keys in lists.items() if self.key in keys]
        return " ".join([*words, *["deleted"] * (self.uid in self.memory.deleted)])

    @property
    def place(self) -> tuple[str, str]:
        """The operation and its path."""
        return self.operation.id, str(sorted(self.params.items()))

    @property
    def options(self) -> dict[str, str]:
        """The options in the query, without the dollar that they have in one of the two lists."""
        return {name.removeprefix("$"): value for name, value in self.query}

    @property
    def json(self) -> Any:
        """The body read as JSON; None when it is none."""
        return read_json(self.body)

    @property
    def member(self) -> dict[str, Any]:
        """The members of a body that is an object; none of any other."""
        return self.json if isinstance(self.json, dict) else {}

    @property
    def signed_in(self) -> bool:
        """Whether it has the token that its operation needs."""
        return bool(self.role) or not self.operation.protected

    @property
    def upload(self) -> Request | None:
        """The request that made the attachment that it names."""
        return self.memory.uploads.get(self.params.get("attachmentId", ""))

    @property
    def document(self) -> dict[str, Any]:
        """The document that it sends, or that of the draft that it names."""
        saved = self.memory.saved.get(self.key)
        sent = self.member.get("document", self.member) or (saved.member if saved else {})
        return sent if isinstance(sent, dict) else {}

    def text(self, name: str) -> str | None:
        """A header, an option, a part of the path, `uid`, `role`, `path`, `known`, `body`, `json`; None for none."""
        if name in ("uid", "role", "path", "known"):
            return str(getattr(self, name))
        if name == "json":
            return json.dumps(self.json, ensure_ascii=False)
        if name == "body":
            return self.body.decode("utf-8", "replace")
        headers = {key.decode(): value.decode("latin-1") for key, value in self.headers}
        return {**headers, **self.options, **self.params}.get(name)

    def header(self, name: str) -> str:
        """The first value of a header, empty for none."""
        return next((v.decode("latin-1") for k, v in self.headers if k == name.encode()), "")

    def with_uid(self, uid: str) -> Request:
        """The request for another identifier."""
        return self.with_params(**{"uid" if "uid" in self.params else "identifier": uid})

    def with_params(self, **values: str) -> Request:
        """The request with other values in its path."""
        return replace(self, params={**self.params, **values})

    def with_query(self, *dropped: str, **added: str) -> Request:
        """The request without some options, and with further ones."""
        kept = (pair for pair in self.query if pair[0] not in dropped)
        return replace(self, query=(*kept, *added.items()))

    def with_json(self, value: Any) -> Request:
        """The request with another JSON body."""
        return replace(self, body=json.dumps(value).encode())

    def with_header(self, name: str, value: str) -> Request:
        """The request with another value of a header."""
        rest = (pair for pair in self.headers if pair[0] != name.encode())
        return replace(self, headers=(*rest, (name.encode(), value.encode("latin-1"))))

    def at(self, operation: str) -> Request:
        """The request at the path and method of another operation."""
        return replace(self, operation=load_description().operations[operation])

    def for_operation(self, operation: str, body: bytes = b"", **query: str) -> Request:
        """Another operation on the same identifier, in the same realm and with the same token."""
        headers = [pair for pair in self.headers if pair[0] in (b"authorization", b"realm", b"accept")]
        other = replace(self.at(operation), headers=(*headers, _JSON), query=tuple(query.items()), body=body)
        return replace(other, params={"uid": self.uid})

    def signing_in(self, email: str) -> Request:
        """The request that signs an account of the sandbox in."""
        account = {"email": email, "password": ACCOUNTS[email][1]}
        plain = replace(self.at(SIGN_IN), params={}, query=(), headers=(_JSON, (b"accept", _JSON[1])))
        return plain.with_json(account)

    async def as_role(self, role: str) -> Answer:
        """Let the service answer as if another account had asked."""
        tokens = self.memory.tokens
        if role not in tokens:
            signed_in = await self.signing_in(f"{role}@sandbox.test").ask()
            tokens[role] = str((signed_in.json or {}).get("authenticationToken", ""))
        return await self.with_header("authorization", f"Bearer {tokens[role]}").ask()


#: Answers a request in the service's place; None lets the service answer.
Inject = Callable[[Request], Awaitable[Answer | None]]
#: Which requests are meant.
Where = Callable[[Request], bool]


def given(texts: str) -> Where:
    """Requests with some texts, which `Request.text` finds.

    Args:
        texts: `name` is there, `name~PATTERN` is and has the pattern; after `-` it is not so.
    """

    def meant(request: Request) -> bool:
        for term in texts.split():
            name, _, pattern = term.removeprefix("-").partition("~")
            found = request.text(name)
            there = found is not None and re.search(pattern, found, re.DOTALL) is not None
            if there is term.startswith("-"):
                return False
        return True

    return meant
