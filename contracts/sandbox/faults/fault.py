"""A fault: what goes wrong, where, under which condition, which clauses it breaks, and how it is injected.

It is injected between the service and its clients: requests and answers are changed on their way.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlencode

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from contracts.interface.catalogue import Level, load_catalogue
from contracts.interface.description import load_description
from contracts.interface.operations import DOCUMENT_REALMS, WORKFLOW_REALMS, Operation
from contracts.sandbox.habits import ONE_GIGABYTE

#: Bodies above this size pass unchanged.
_LARGEST_BODY: Final = 16 * 1024 * 1024
_LARGE: Final = 64 * 1024
#: So long does a fault wait that shows only when two requests overlap.
_OVERLAP_SECONDS: Final = 0.03
#: Where a sandbox with a fault says how often the fault made a difference; outside the interface.
COUNT_PATH: Final = "/sandbox/fault"
#: The sandbox's accounts: role and password by e-mail address.
ACCOUNTS: Final = {
    f"{role}@sandbox.test": (role, f"sandbox-{role}") for role in ("author", "other", "restricted", "nau")
}
#: Stands for a value that is taken out of its object or array.
MISSING: Final = object()
#: An identifier that keeps the rule, where a fault sends another than it was asked for.
STAND_IN: Final = "stand-in-for-what-breaks-the-rule"


@dataclass(frozen=True)
class Request:
    """One request of an operation of the interface.

    Attributes:
        params: Decoded values of the path's placeholders.
        query: Decoded pairs.
        headers: Raw pairs, names in lower case.
        role: Role of the account that the token belongs to; empty without a token of the service.
        look: A fault asks only to learn something: the service takes nothing of it.
    """

    operation: Operation
    params: dict[str, str]
    query: tuple[tuple[str, str], ...]
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes
    role: str = ""
    look: bool = False

    @property
    def uid(self) -> str:
        """The identifier in the path; empty where there is none."""
        return self.params.get("uid") or self.params.get("identifier") or ""

    @property
    def realm(self) -> str:
        """The realm that the request names, in its header or its query."""
        return self.header("realm") or dict(self.query).get("Realm", "")

    @property
    def json(self) -> Any:
        """The body read as JSON; None when it is none."""
        return _read(self.body)

    def header(self, name: str) -> str:
        """The first value of a header, empty for none."""
        return next((v.decode("latin-1") for k, v in self.headers if k == name.encode()), "")

    def with_uid(self, uid: str) -> Request:
        """The request for another identifier."""
        name = "uid" if "uid" in self.params else "identifier"
        return replace(self, params={**self.params, name: uid})

    def with_query(self, *dropped: str, **values: str) -> Request:
        """The request without some options, and with others of these values."""
        kept = [(name, values.get(name, value)) for name, value in self.query if name not in dropped]
        return replace(self, query=tuple(kept))

    def with_query_added(self, **values: str) -> Request:
        """The request with further options."""
        return replace(self, query=(*self.query, *values.items()))

    def with_json(self, value: Any) -> Request:
        """The request with another JSON body."""
        return replace(self, body=json.dumps(value).encode())

    def with_header(self, name: str, value: str | None) -> Request:
        """The request with another value of a header, or without it."""
        rest = tuple(pair for pair in self.headers if pair[0] != name.encode())
        return replace(
            self, headers=rest if value is None else (*rest, (name.encode(), value.encode("latin-1")))
        )

    def described(self, operation: str) -> Operation:
        """What the description says of an operation."""
        return load_description().operations[operation]

    def for_operation(self, operation: str, uid: str, body: bytes = b"", **query: str) -> Request:
        """Another operation on an identifier, in the same realm and with the same token."""
        described = self.described(operation)
        headers = [(k, v) for k, v in self.headers if k in (b"authorization", b"realm", b"accept")]
        headers.append((b"content-type", b"application/json"))
        return Request(described, {"uid": uid}, tuple(query.items()), tuple(headers), body, self.role)


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
    def json(self) -> Any:
        """The body read as JSON; None when it is none."""
        return _read(self.body)

    def with_json(self, value: Any) -> Answer:
        """The answer with another JSON body."""
        return replace(self, body=json.dumps(value).encode())

    def header(self, name: str) -> str:
        """The first value of a header, empty for none."""
        return next((v.decode("latin-1") for k, v in self.headers if k.lower() == name.encode()), "")

    def renamed(self, old: str, new: str) -> Answer:
        """The answer with one identifier in place of another, in its headers and its body."""
        headers = tuple((name, value.replace(old.encode(), new.encode())) for name, value in self.headers)
        return replace(self, headers=headers, body=self.body.replace(old.encode(), new.encode()))


def answer_json(status: int, value: Any) -> Answer:
    """Make an answer with a JSON body."""
    return Answer(status, ((b"content-type", b"application/json"),), json.dumps(value).encode())


@dataclass
class Memory:
    """What a fault remembers of the requests before.

    Attributes:
        saved: Drafts that were saved and not deleted, by realm and uid, with the save that did it.
        answers: The last successful answer of each operation and path.
        listed: Items that lists held, by the text of the item.
        deleted: Identifiers of deleted drafts.
        issued: Role of the account for which each token of the service was issued.
        tokens: Tokens that the fault got for itself, by role.
        uploads: The request that made each attachment, by the number of the attachment.
        size_limit: The largest file that the service takes, in bytes.
        arrived: The latest request of each operation, answered or not.
        kept: Whatever else an effect remembers.
    """

    size_limit: int = 0
    saved: dict[tuple[str, str], Request] = field(default_factory=dict)
    before: dict[tuple[str, str], Request] = field(default_factory=dict)
    answers: dict[tuple[str, str], Answer] = field(default_factory=dict)
    successes: dict[str, Answer] = field(default_factory=dict)
    items: dict[str, dict[str, Any]] = field(default_factory=lambda: defaultdict(dict))
    deleted: dict[str, None] = field(default_factory=dict)
    uploads: dict[str, Request] = field(default_factory=dict)
    issued: dict[str, str] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)
    arrived: dict[str, Request] = field(default_factory=dict)
    kept: dict[Any, Any] = field(default_factory=dict)

    def note(self, request: Request, answer: Answer) -> None:
        """Remember one request that the service answered."""
        name, key = request.operation.id, (request.realm, request.uid)
        if not answer.success:
            return
        self.successes[name] = answer
        self.answers[name, request.uid + str(sorted(request.params.items()))] = answer
        if name == "saveDraft":
            if key in self.saved:
                self.before[key] = self.saved[key]
            self.saved[key] = request
        elif name == "deleteDraft":
            self.saved.pop(key, None)
            self.deleted[request.uid] = None
        elif name in ("createAttachment", "persistTemporaryFile") and isinstance(answer.json, dict):
            self.uploads[str(answer.json.get("id"))] = request
        elif name in ("listDrafts", "listAttachments"):
            for item in items_of(answer.json) or ():
                self.items[name][json.dumps(item, sort_keys=True)] = item


Below = Callable[[Request], Awaitable[Answer]]
Inject = Callable[[Request, Below, Memory], Awaitable[Answer | None]]
Condition = Callable[[Request, "Met"], bool]
Where = Callable[[Request, Memory], bool]


@dataclass
class Met:
    """How often a fault's place was met: in all, for each identifier, and by how many requests at this moment.

    Attributes:
        altered: How often the fault made a difference, to the answer or to what the service was asked.
    """

    total: int = 0
    by_uid: Counter[str] = field(default_factory=Counter)
    overlapped: bool = False
    altered: int = 0


class Injector:
    """ASGI middleware that injects one fault."""

    def __init__(self, app: ASGIApp, fault: Fault, size_limit: int) -> None:
        self._app = app
        self._fault = fault
        self._description = load_description()
        self._memory = Memory(size_limit)
        self._met = Met()
        self._under_way: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["path"] == COUNT_PATH:
            await _send(send, answer_json(200, {"altered": self._met.altered}), scope["method"])
            return
        raw = scope.get("raw_path", b"").decode("latin-1")
        match = self._description.match(scope["method"], raw)
        headers = tuple((name.lower(), value) for name, value in scope["headers"])
        length = next(
            (int(value) for name, value in headers if name == b"content-length" and value.isdigit()), 0
        )
        if match is None or length > _LARGEST_BODY:
            await self._app(scope, receive, send)
            return
        body = await _whole_body(receive)
        query = tuple(parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True))
        request = Request(match[0], match[1], query, headers, body)
        request = replace(request, role=self._role_of(request))
        self._memory.arrived[request.operation.id] = request
        original = (scope, request)

        async def below(changed: Request) -> Answer:
            return await self._ask(changed, *original)

        answer = await self._answer(request, below)
        await _send(send, answer, scope["method"])

    async def _answer(self, request: Request, below: Below) -> Answer:
        answer: Answer | None = None
        fault = self._fault
        taken = await below(request) if fault.of_successes else None
        meant = request.operation.id in fault.operations and (
            fault.where is None or fault.where(request, self._memory)
        )
        if meant and (taken is None or taken.success):
            answer = (
                await self._altered(request, _answered_already(request, taken, below))
                if await self._acts(request)
                else None
            )
        if answer is None:
            answer = taken or await below(request)
        self._memory.note(request, answer)
        if request.operation.id == "createToken" and answer.success:
            sent, received = request.json, answer.json
            if isinstance(sent, dict) and isinstance(received, dict):
                account = ACCOUNTS.get(str(sent.get("email")))
                self._memory.issued[str(received.get("authenticationToken"))] = account[0] if account else ""
        return answer

    async def _altered(self, request: Request, below: Below) -> Answer | None:
        """Let the fault answer, and count whether that made a difference."""
        faithful: list[Answer] = []
        differs = False

        async def watched(changed: Request) -> Answer:
            nonlocal differs
            answer = await below(changed)
            if changed == request:
                faithful.append(answer)
            else:  # a look is no difference, unless it is the answer
                differs = differs or not (changed.look or changed.operation.method in ("GET", "HEAD"))
            return answer

        self._met.altered += 1  # also when no answer ever comes
        answer = await self._fault.inject(request, watched, self._memory)
        same = answer is None or (not differs and answer in faithful)
        self._met.altered -= same and self._fault.part is None
        return answer

    async def _acts(self, request: Request) -> bool:
        if self._fault.condition == "overlapping":
            key = request.operation.id
            self._under_way[key] += 1
            seen = self._under_way[key]
            await asyncio.sleep(_OVERLAP_SECONDS)
            self._met.overlapped = max(seen, self._under_way[key]) > 1
            self._under_way[key] -= 1
        self._met.total += 1
        self._met.by_uid[request.uid] += 1
        return CONDITIONS[self._fault.condition](request, self._met)

    def _role_of(self, request: Request) -> str:
        return self._memory.issued.get(request.header("authorization").rpartition(" ")[2], "")

    async def _ask(self, request: Request, scope: Scope, original: Request) -> Answer:
        """Let the service answer; a request that was not changed goes as it came, byte for byte."""
        inner = dict(scope)
        inner["headers"] = [
            pair for pair in request.headers if pair[0] not in (b"content-length", b"transfer-encoding")
        ]
        inner["headers"].append((b"content-length", str(len(request.body)).encode()))
        if request.operation is not original.operation or request.params != original.params:
            path = request.operation.url("", **request.params)
            inner["method"], inner["raw_path"], inner["path"] = request.operation.method, path.encode(), path
        if request.query != original.query:
            inner["query_string"] = urlencode(request.query, quote_via=quote).encode()
        return await ask(self._app, inner, request.body)


def _answered_already(request: Request, answer: Answer | None, below: Below) -> Below:
    """What answers in place of the service, where it has answered this request already."""

    async def again(changed: Request) -> Answer:
        return answer if answer is not None and changed == request else await below(changed)

    return again


async def ask(app: ASGIApp, scope: Scope, body: bytes) -> Answer:
    """Send one request to an application and collect its answer."""
    status, headers, content = 500, (), bytearray()
    request_sent = False
    gone = asyncio.Event()

    async def receive() -> Message:
        nonlocal request_sent
        if request_sent:
            await gone.wait()
            return {"type": "http.disconnect"}
        request_sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        nonlocal status, headers
        if message["type"] == "http.response.start":
            status, headers = message["status"], tuple(message["headers"])
        elif message["type"] == "http.response.body":
            content.extend(message.get("body", b""))

    await app(scope, receive, send)
    return Answer(status, headers, bytes(content))


async def as_role(request: Request, below: Below, memory: Memory, role: str) -> Answer:
    """Let the service answer a request as that of another account."""
    token = memory.tokens.get(role)
    if token is None:
        signed_in = await below(sign_in(request, f"{role}@sandbox.test"))
        token = str((signed_in.json or {}).get("authenticationToken", ""))
        memory.tokens[role] = token
    return await below(request.with_header("authorization", f"Bearer {token}"))


def sign_in(request: Request, email: str) -> Request:
    """Make the request that signs an account of the sandbox in."""
    described = request.described("createToken")
    body = json.dumps({"email": email, "password": ACCOUNTS[email][1]}).encode()
    headers = ((b"content-type", b"application/json"), (b"accept", b"application/json"))
    return Request(described, {}, (), headers, body)


def items_of(body: Any) -> list[Any] | None:
    """The items of a list: the body itself, or its only array of objects."""
    if isinstance(body, list):
        return body
    arrays = [value for value in body.values() if isinstance(value, list)] if isinstance(body, dict) else []
    return arrays[0] if len(arrays) == 1 else None


def with_items(answer: Answer, change: Callable[[list[Any]], list[Any]]) -> Answer:
    """The answer with another list of items, in the same envelope."""
    body = answer.json
    if isinstance(body, list):
        return answer.with_json(change(body))
    if isinstance(body, dict) and items_of(body) is not None:
        return answer.with_json({k: change(v) if isinstance(v, list) else v for k, v in body.items()})
    return answer


async def _whole_body(receive: Receive) -> bytes:
    content = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return bytes(content)
        content.extend(message.get("body", b""))
        if not message.get("more_body"):
            return bytes(content)


async def _send(send: Send, answer: Answer, method: str) -> None:
    headers = [pair for pair in answer.headers if pair[0].lower() != b"content-length"]
    if method != "HEAD" and answer.status not in (204, 304):
        headers.append((b"content-length", str(len(answer.body)).encode()))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if method == "HEAD" else answer.body})


def _read(content: bytes) -> Any:
    try:
        return json.loads(content) if content else None
    except (ValueError, RecursionError):
        return None


#: Every identifier is read and written through these.
DRAFTS: Final = ("saveDraft", "getDraft", "draftExists", "deleteDraft", "getDraftInfo")


SUBMISSIONS: Final = ("createWorkflowRecord", "createWorkflowRecordWithIdentifier", "updateWorkflowRecord")


NAMED_SUBMISSIONS: Final = SUBMISSIONS[1:]


CONTACTS: Final = ("createContact", "updateContact")


@dataclass(frozen=True)
class Fault:
    """One fault.

    Attributes:
        family: What kind of thing is wrong.
        operations: Where it acts.
        operator: What goes wrong there.
        condition: When.
        clauses: What it breaks; the first is the nearest.
        label: Stands for the operations in the name; by default the first of them.
        stated: Whether a sentence of the document says outright that it is wrong, or only a reading of one.
        of_successes: The condition counts requests that the service takes, and no others.
        where: Which requests are meant and counted; None for all of the operations.
        named: A name of its own.
        also: Another name by which it is found.
        says: What the altered service does; by default the first sentence of what injects the fault.
        part: Alters a part of the service when it is made, for what cannot be done between service and client.
    """

    family: str
    operations: tuple[str, ...]
    operator: str
    condition: str
    clauses: tuple[str, ...]
    inject: Inject = field(repr=False, compare=False)
    label: str = ""
    stated: bool = True
    of_successes: bool = False
    where: Where | None = field(default=None, repr=False, compare=False)
    named: str = ""
    also: str = ""
    says: str = ""
    part: Part | None = field(default=None, repr=False, compare=False)

    @property
    def name(self) -> str:
        """The name that the command line takes: its own, or `family/operation/operator/condition`."""
        return (
            self.named or f"{self.family}/{self.label or self.operations[0]}/{self.operator}/{self.condition}"
        )

    @property
    def sentence(self) -> str:
        """What the altered service does, and when."""
        doc = getattr(self.inject, "func", self.inject).__doc__ or ""
        shown = f"{', '.join(self.operations)}: {self.operator.replace('-', ' ')}."
        said = self.says or doc.partition("\n")[0] or shown
        return said if self.condition == "always" else f"{said[:-1]} ({self.condition.replace('-', ' ')})."

    @property
    def level(self) -> Level:
        """Must, when it breaks a must clause; else should."""
        if not self.stated:
            return Level.SHOULD
        levels = {load_catalogue().clause(clause).level for clause in self.clauses}
        return Level.MUST if Level.MUST in levels else Level.SHOULD

    @property
    def realms(self) -> tuple[str, ...]:
        """The realms in which it shows; empty for all."""
        realm = self.condition.removeprefix("in-")
        return (realm,) if realm in WORKFLOW_REALMS else ()

    @property
    def rare(self) -> bool:
        """Whether it shows so seldom that a run has to repeat itself to meet it."""
        return self.condition == "one-in-twenty"

    def over(self, app: ASGIApp, size_limit: int = ONE_GIGABYTE) -> Injector:
        """Put the fault over a sandbox that takes files up to a size."""
        return Injector(app, self, size_limit)


def _in_realm(realm: str) -> Condition:
    return lambda request, _: request.realm in ("", realm)


def _always(_request: Request, _met: Met) -> bool:
    return True


#: The condition of a fault that acts on every request.
ALWAYS: Final = "always"
#: When a fault acts.
CONDITIONS: Final[Mapping[str, Condition]] = MappingProxyType(
    {
        ALWAYS: _always,
        "second-time": lambda request, met: met.by_uid[request.uid] == 2,
        "from-second-time": lambda request, met: met.by_uid[request.uid] >= 2,
        "every-third": lambda _, met: met.total % 3 == 0,
        "every-second": lambda _, met: met.total % 2 == 0,
        "every-fifth": lambda _, met: met.total % 5 == 0,
        "one-in-twenty": lambda _, met: met.total % 20 == 0,
        "after-five": lambda _, met: met.total > 5,
        "after-thirty": lambda _, met: met.total > 30,
        "overlapping": lambda _, met: met.overlapped,
        "when-large": lambda request, _: len(request.body) > _LARGE,
        "beyond-ascii": lambda request, _: not json.dumps(request.json, ensure_ascii=False).isascii(),
        "of-other": lambda request, _: request.role == "other",
        **{f"in-{realm}": _in_realm(realm) for realm in WORKFLOW_REALMS},
    }
)


#: Conditions for what is judged by single requests; the others need a request to be made again.
SINGLE: Final = ("always", *(f"in-{realm}" for realm in DOCUMENT_REALMS))


REPEATED: Final = (
    "always",
    "second-time",
    "from-second-time",
    "every-third",
    "every-fifth",
    "after-five",
    "after-thirty",
)


STATE: Final = (*REPEATED, "overlapping", *(f"in-{realm}" for realm in DOCUMENT_REALMS))


#: Conditions that need an operation to be used more often than a live target lets a run use it: what cannot be removed
#: is kept to a few, temporary files are given by name, and one token does for a run.
_OFTEN: Final = ("every-fifth", "after-five", "after-thirty")


_RARE: Final = frozenset(
    {"createToken", "createContact", "updateContact", "persistTemporaryFile", *SUBMISSIONS}
)


#: Operations that succeed once under an identifier: a temporary file is spent, a record exists or is in a workflow.
_ONCE: Final = frozenset({"persistTemporaryFile", *NAMED_SUBMISSIONS})


def possible_conditions(
    operation: str, conditions: Sequence[str], *, successes: bool = False
) -> tuple[str, ...]:
    """Those of some conditions that an operation can meet in one run.

    Args:
        successes: Successes alone count.
    """
    never: tuple[str, ...] = _OFTEN if operation in _RARE else ()
    if load_description().operations[operation].identifier_parameter is None:
        never += ("second-time",)  # it would act once in a run, and what never comes again counts for nothing
    if successes and operation in _ONCE:
        never += ("second-time", "from-second-time", "every-third")
    return tuple(c for c in conditions if c not in never)


@dataclass(frozen=True)
class Family:
    """Makes the faults of one kind of thing that may be wrong."""

    name: str

    def faults(
        self,
        operations: str | tuple[str, ...],
        operator: str,
        clauses: Iterable[str],
        inject: Inject,
        conditions: Iterable[str] = ("always",),
        *,
        also: str = "",
        **attributes: Any,
    ) -> Iterator[Fault]:
        """Make the same fault under each of some conditions; the arguments are the attributes of the fault."""
        of, broken = (operations,) if isinstance(operations, str) else operations, tuple(clauses)
        for condition in conditions:
            other = also and short_name(also, condition)
            yield Fault(self.name, of, operator, condition, broken, inject, also=other, **attributes)


#: Alters one part of a service, before its first request.
Part = Callable[[Any], None]


async def _untouched(_request: Request, _below: Below, _: Memory) -> Answer | None:
    """A part of the service does it."""
    return None


def row(
    name: str,
    clauses: str | tuple[str, ...],
    operations: str | tuple[str, ...],
    effect: Inject = _untouched,
    says: str = "",
    condition: str = "always",
    *,
    where: Where | None = None,
    part: Part | None = None,
) -> Fault:
    """Write one fault with a name of its own; one clause means that the fault breaks it alone."""
    broken = (clauses,) if isinstance(clauses, str) else clauses
    of = (operations,) if isinstance(operations, str) else operations
    family = load_catalogue().clause(broken[0]).family
    named = short_name(name, condition)
    return Fault(family, of, name, condition, broken, effect, named=named, says=says, where=where, part=part)


def short_name(name: str, condition: str) -> str:
    """The name of a row under a condition; the ending of a realm goes without saying."""
    return name if condition == "always" else f"{name}-{condition.removesuffix('-dev')}"


def kebab(name: str) -> str:
    """Write a name in camel case with hyphens, as names of faults and clauses have it."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()


def claimable_clauses() -> tuple[str, ...]:
    """Ids of all clauses that can be contradicted."""
    return tuple(clause.id for clause in load_catalogue() if clause.level is not Level.SILENT)


#: The clauses that a refusal of a right request breaks, by operation; the nearest first.
ACCEPTANCE: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "createToken": ("token-issued",),
        "createContact": ("contact-create-accepted", "contact-create-full"),
        "updateContact": ("contact-update-accepted", "contact-update-full"),
        "saveDraft": ("draft-save-creates", "draft-save-updates"),
        "getDraft": ("draft-get-content",),
        "getDraftInfo": ("draft-info-present",),
        "draftExists": ("draft-exists-present", "draft-save-creates"),
        "deleteDraft": ("draft-delete-removes",),
        # A list that is refused breaks the clause of whatever was asked of it.
        "listDrafts": (
            "list-answers",
            "list-my-answers",
            "list-mydrafts-has-mine",
            "list-top",
            "list-skip",
            "list-top-and-skip",
            "list-pages-cover",
            "list-collection-with-top",
            "list-collection-with-skip",
        ),
        "createAttachment": ("attachment-create-accepted", "attachment-several"),
        "persistTemporaryFile": ("attachment-persist-listed", "attachment-persist-downloads"),
        "listAttachments": (
            "attachment-create-listed",
            "realm-attachments-without",
            "attachment-list-top",
            "attachment-list-skip",
            "attachment-list-pages-cover",
        ),
        "attachmentExists": ("attachment-exists-present",),
        "getAttachment": ("attachment-download-same",),
        "getAttachmentThumbnail": ("attachment-thumbnail-image",),
        "createWorkflowRecord": (
            "workflow-create-accepted",
            "workflow-batch-longest",
            "workflow-batch-shared",
        ),
        "createWorkflowRecordWithIdentifier": ("workflow-create-with-identifier-accepted",),
        "updateWorkflowRecord": ("workflow-update-accepted",),
    }
)
