"""A fault: what goes wrong, where, under which condition, which clauses it breaks, and how it is injected.

It is injected between the service and its clients: requests and answers are changed on their way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlencode

from starlette.requests import Request as HttpRequest

from registry_contracts.interface.catalogue import Level, load_catalogue
from registry_contracts.interface.description import load_description
from registry_contracts.interface.operations import WORKFLOW_REALMS
from registry_contracts.sandbox.faults.conditions import COUNTED, conditions_of
from registry_contracts.sandbox.faults.messages import (
    COUNTS_PATH,
    Answer,
    Asked,
    Inject,
    Memory,
    Request,
    Where,
    answer_json,
    ask,
    given,
)

#: Bodies above this size pass unchanged.
_LARGEST_BODY: Final = 16 * 1024 * 1024


@dataclass(frozen=True)
class Fault:
    """One fault.

    Attributes:
        name: Ends with `@CONDITION` if the fault does not always act.
        breaks: The clauses that it breaks; the fixed set tries it for the first one.
        at: Operations at which it acts.
        effect: Answers in place of the service.
        says: One sentence on what the altered service does.
        where: The requests that it is about; None for all requests of its operations.
        when: The conditions under which it acts; empty for always.
        promised: Whether the document promises anything of a request. Where it does not, the fault breaks nothing.
    """

    name: str
    breaks: tuple[str, ...]
    at: tuple[str, ...]
    effect: Inject = field(repr=False, compare=False)
    says: str
    where: Where | None = field(default=None, repr=False, compare=False)
    when: str = ""
    promised: Where = field(default=lambda _: True, repr=False, compare=False)

    @property
    def sentence(self) -> str:
        """What the altered service does, and when."""
        if not self.when:
            return self.says
        return f"{self.says[:-1]} where {' and '.join(each.says for each in conditions_of(self.when))}."

    @property
    def level(self) -> Level:
        """Must, when it breaks a must clause; else should."""
        levels = {load_catalogue().clause(clause).level for clause in self.breaks}
        return Level.MUST if Level.MUST in levels else Level.SHOULD

    @property
    def realms(self) -> tuple[str, ...]:
        """The realms in which it can be seen: those of its first clause that have its operations."""
        catalogue, described = load_catalogue(), load_description()
        if named := [realm for realm in WORKFLOW_REALMS if f"in-{realm}" in self.when.split("+")]:
            return tuple(named)
        of_clause = set(catalogue.clause(self.breaks[0]).realms)
        homes = [set(described.operations[operation].realms) for operation in self.at]
        for found in (set.intersection(*homes), set.union(*homes)):
            if common := tuple(realm for realm in WORKFLOW_REALMS if realm in of_clause & found):
                return common
        return WORKFLOW_REALMS[:1]

    def under(self, when: str) -> Fault:
        """The same fault under a condition, or several.

        Raises:
            UsageError: there is no such condition.
        """
        conditions_of(when)
        return replace(self, name=f"{self.name}@{when}", when=when)


@dataclass(frozen=True)
class Rows:
    """Makes similar faults.

    Attributes:
        name: The beginning of their names.
        clause: The beginning of the ids of their clauses.
        at: Their operations; if empty, those of their first clause.
        says: Their sentence; each row fills in the {}.
    """

    name: str
    clause: str
    at: str | tuple[str, ...] = ()
    says: str = "{}."

    def __call__(
        self,
        name: str,
        clauses: str | tuple[str, ...],
        effect: Inject,
        says: str,
        where: Where | str | None = None,
        *,
        at: str | tuple[str, ...] = (),
    ) -> Fault:
        """Make one fault."""
        breaks = tuple(self.clause + clause for clause in _several(clauses))
        places = _several(at or self.at) or load_catalogue().clause(breaks[0]).operations
        test = given(where) if isinstance(where, str) else where
        return Fault(self.name + name, breaks, places, effect, self.says.format(says), test)


def each(make: Callable[..., Fault], *rows: Any) -> tuple[Fault, ...]:
    """Make a fault from each row of a table; a row is a tuple or a single value."""
    return tuple(make(*_several(row)) for row in rows)


def _several(values: Any) -> tuple[Any, ...]:
    return values if isinstance(values, tuple) else (values,)


class Injector:
    """Injects one fault between the service and its clients."""

    def __init__(self, fault: Fault) -> None:
        self._fault = fault
        self._conditions = conditions_of(fault.when)
        self._memory = Memory()

    async def meet(self, asked: Asked) -> None:
        """Answer one request."""
        if asked.path == COUNTS_PATH:
            told = {"altered": self._memory.altered, "mattered": self._memory.mattered}
            await asked.answer(answer_json(200, told))
            return
        request = await self._read(asked)
        if request is None:
            await asked.passes()
        else:
            self._memory.service = asked.scope["app"].state.service
            answer = await self._altered(request) if self._due(request) else None
            answer = await request.ask() if answer is None else answer
            self._memory.note(request, answer)
            await asked.answer(answer)

    async def _read(self, asked: Asked) -> Request | None:
        """Read the request; None if it is of no operation, or its body is too large."""
        came = HttpRequest(asked.scope)
        length = came.headers.get("content-length", "0")
        query = parse_qsl(came.url.query, keep_blank_values=True)
        match = load_description().match(came.method, asked.path)
        if match is None or (length.isdecimal() and int(length) > _LARGEST_BODY):
            return None

        async def below(changed: Request) -> Answer:
            return await _ask(asked, changed, request)

        sent: Any = {"headers": tuple(came.headers.raw), "body": await asked.body()}
        request = Request(*match, tuple(query), self._memory, below, asked.path, **sent)
        return request

    async def _altered(self, request: Request) -> Answer | None:
        """Let the fault answer, and count whether that made a difference."""
        faithful: list[Answer] = []
        differs = False

        async def watched(changed: Request) -> Answer:
            nonlocal differs
            answer = await request.ask(changed)
            if changed == request:
                faithful.append(answer)
            else:  # a read changes nothing: it makes a difference only as the answer
                differs = differs or changed.operation.method not in ("GET", "HEAD")
            return answer

        memory, promised = self._memory, self._fault.promised(request)
        memory.changed = memory.silent = False
        memory.altered += 1  # before the effect, which may never answer
        memory.mattered += promised
        answer = await self._fault.effect(replace(request, service=watched))
        nothing = answer is None or (not differs and not memory.changed and answer in faithful)
        memory.altered -= nothing
        memory.mattered -= promised and (nothing or memory.silent)
        return answer

    def _due(self, request: Request) -> bool:
        """Whether the fault acts on a request."""
        fault, memory = self._fault, self._memory
        if request.operation.id not in fault.at or not (fault.where is None or fault.where(request)):
            return False
        ordered = [each for each in self._conditions if each.name not in COUNTED]
        if not all(condition.acts(request) for condition in ordered):
            return False
        memory.met_by_uid[request.uid] += 1
        return all(condition.acts(request) for condition in self._conditions)


async def _ask(asked: Asked, request: Request, original: Request) -> Answer:
    """Let the service answer; a request that was not changed goes as it came, byte for byte."""
    inner = dict(asked.scope)
    lengths = (b"content-length", b"transfer-encoding")
    inner["headers"] = [pair for pair in request.headers if pair[0] not in lengths]
    inner["headers"].append((b"content-length", str(len(request.body)).encode()))
    if request.operation is not original.operation or request.params != original.params:
        path = request.operation.url("", **request.params)
        inner["method"], inner["raw_path"], inner["path"] = request.operation.method, path.encode(), path
    if request.query != original.query:
        inner["query_string"] = urlencode(request.query, quote_via=quote).encode()
    return await ask(asked.app, inner, request.body)
