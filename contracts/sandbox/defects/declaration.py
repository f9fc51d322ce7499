"""How a defect is declared, how it alters a service, and the clauses that no defect breaks."""

import difflib
import functools
import inspect
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from types import MappingProxyType
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from contracts.errors import SuiteError, UsageError
from contracts.sandbox.app import OPERATIONS
from contracts.sandbox.http_requests import Refusal, header_value
from contracts.sandbox.service import Service

Handler = Callable[[Request], Awaitable[Response]]
Around = Callable[[Handler, Request], Awaitable[Response]]
When = Callable[[Request], bool]

_PLACES = {operation: place.split(".") for operation, _, _, place in OPERATIONS}


def alter(part: object, method: str, instead: Callable[..., Any]) -> None:
    """Replace one method of one part.

    Args:
        part: a part of the service.
        method: name of the method.
        instead: called in its place, with the faithful method before the arguments.

    """
    faithful = getattr(part, method)

    @functools.wraps(faithful)
    def altered(*arguments: Any, **named: Any) -> Any:
        return instead(faithful, *arguments, **named)

    setattr(part, method, altered)


def around(service: Service, operations: Iterable[str], answer: Around) -> None:
    """Let ``answer`` answer the requests of some operations; it is given the faithful handler too."""
    for operation in operations:
        part, method = _PLACES[operation]
        alter(getattr(service, part), method, answer)


def always(_: Request) -> bool:
    """Tell that every request is meant."""
    return True


def in_realm(*names: str) -> When:
    """Return the test for a request whose Realm header names one of the realms."""
    return lambda request: header_value(request, "realm") in names


class Every:
    """Counts its calls and is true at each n-th: rare, and still the same on every run.

    Args:
        number: n.

    """

    def __init__(self, number: int) -> None:
        self.number = number
        self.calls = 0

    def __call__(self, *_: object) -> bool:
        """Count one call."""
        self.calls += 1
        return self.calls % self.number == 0


def refuse(
    service: Service, operations: Iterable[str], refusal: Callable[[str], Refusal], when: When = always
) -> None:
    """Refuse the requests that ``when`` means, before anything else is looked at."""

    async def answer(faithful: Handler, request: Request) -> Response:
        if when(request):
            raise refusal("this is refused")
        return await faithful(request)

    around(service, operations, answer)


def pretend(
    service: Service, operations: Iterable[str], body: Any, status: int = 200, when: When = always
) -> None:
    """Answer the requests that ``when`` means with success and do nothing; body ``None`` is no body."""

    async def answer(faithful: Handler, request: Request) -> Response:
        if when(request):
            return Response(status_code=status) if body is None else JSONResponse(body, status)
        return await faithful(request)

    around(service, operations, answer)


def forgive(
    service: Service, operations: Iterable[str], body: Any, status: int = 200, when: When = always
) -> None:
    """Answer with success where the faithful handler refuses; body ``None`` is no body."""

    async def answer(faithful: Handler, request: Request) -> Response:
        try:
            return await faithful(request)
        except Refusal:
            if not when(request):
                raise
            return Response(status_code=status) if body is None else JSONResponse(body, status)

    around(service, operations, answer)


def edit(
    service: Service, operations: Iterable[str], change: Callable[[Any], Any], when: When = always
) -> None:
    """Change the JSON value that a successful answer carries."""

    async def answer(faithful: Handler, request: Request) -> Response:
        response = await faithful(request)
        if not when(request) or not response.body:
            return response
        return JSONResponse(change(json.loads(bytes(response.body))), response.status_code)

    around(service, operations, answer)


def edit_refusal(
    service: Service,
    operations: Iterable[str],
    change: Callable[[Refusal], Refusal],
    when: When = always,
) -> None:
    """Change the refusals of some operations."""

    async def answer(faithful: Handler, request: Request) -> Response:
        try:
            return await faithful(request)
        except Refusal as refusal:
            raise (change(refusal) if when(request) else refusal) from None

    around(service, operations, answer)


async def json_of(request: Request) -> Any:
    """Return the JSON value of a request before its handler reads it; ``None`` when it is not JSON."""
    try:
        return json.loads(await request.body())
    except (ValueError, RecursionError):
        return None


Change = Callable[[Service], None]
Answer = Callable[[Service, Handler, Request], Awaitable[Response]]
_Method = TypeVar("_Method", bound=Callable[..., Any])


@dataclass(frozen=True)
class Defect:
    """One way in which a sandbox breaks exactly one clause and keeps all others (design 1).

    Attributes:
        name: stable name, kebab-case.
        clause: id of the clause it breaks.
        operations: operation ids on which the break shows.
        sentence: what the altered sandbox does, in one line.
        apply: alters one attribute of a faithful service, before its first request.
        realms: the only realms in which the break shows; empty when it shows in every realm of the clause.

    """

    name: str
    clause: str
    operations: tuple[str, ...]
    sentence: str
    apply: Change
    realms: tuple[str, ...] = ()


_DECLARED: dict[str, Defect] = {}


def defect(
    name: str,
    *,
    clause: str,
    operations: Iterable[str],
    realms: Iterable[str] = (),
    sentence: str | None = None,
) -> Callable[[Change], Change]:
    """Declare the decorated change of a service as a defect.

    Args:
        name: its name, kebab-case.
        clause: id of the clause it breaks.
        operations: operation ids on which the break shows.
        realms: the only realms in which it shows; empty for all.
        sentence: what the altered sandbox does; by default the docstring of the change.

    Returns:
        The decorator; it gives the change back as it was.

    Raises:
        SuiteError: the name is taken.

    """

    def declare(change: Change) -> Change:
        if name in _DECLARED:
            raise SuiteError(f"the defect {name!r} is declared twice; give one of them another name")
        told = sentence or inspect.cleandoc(change.__doc__ or "")
        _DECLARED[name] = Defect(name, clause, tuple(operations), told, change, tuple(realms))
        return change

    return declare


def answers(
    name: str,
    *,
    clause: str,
    operations: Iterable[str],
    realms: Iterable[str] = (),
    at: Iterable[str] | None = None,
) -> Callable[[Answer], Answer]:
    """Declare the decorated answer as a defect: it is given the service, the faithful handler and the request.

    Args:
        at: the operations it answers, where they are others than those on which the break shows; the other
            arguments are those of ``defect``, and the docstring is the sentence.

    """
    operations = tuple(operations)

    def declare(answer: Answer) -> Answer:
        def change(service: Service) -> None:
            around(service, operations if at is None else at, partial(answer, service))

        sentence = inspect.getdoc(answer)
        defect(name, clause=clause, operations=operations, realms=realms, sentence=sentence)(change)
        return answer

    return declare


def replaces(
    method: str,
    name: str,
    *,
    clause: str,
    operations: Iterable[str],
    realms: Iterable[str] = (),
) -> Callable[[_Method], _Method]:
    """Declare the decorated function as a defect: it is given the service, the faithful method and its arguments.

    Args:
        method: what it replaces, such as ``identity.require``; the other arguments are those of ``defect``,
            and the docstring is the sentence.

    """
    part, _, attribute = method.rpartition(".")

    def declare(instead: _Method) -> _Method:
        def change(service: Service) -> None:
            alter(attrgetter(part)(service), attribute, partial(instead, service))

        sentence = inspect.getdoc(instead)
        defect(name, clause=clause, operations=operations, realms=realms, sentence=sentence)(change)
        return instead

    return declare


def declared() -> tuple[Defect, ...]:
    """Return all defects declared so far, in the order of their names."""
    return tuple(_DECLARED[name] for name in sorted(_DECLARED))


def named(name: str) -> Defect:
    """Return a defect by its name.

    Raises:
        UsageError: there is none; names the closest one there is.

    """
    if name in _DECLARED:
        return _DECLARED[name]
    close = difflib.get_close_matches(name, _DECLARED, n=1, cutoff=0.5)
    hint = (
        f"did you mean {close[0]!r}?" if close else f"there are {len(_DECLARED)}, such as 'uid-accepts-ten'"
    )
    raise UsageError(f"unknown defect {name!r}; {hint}")


TOKEN = ("createToken",)
CONTACTS = ("createContact", "updateContact")
DRAFTS = ("saveDraft", "getDraft", "getDraftInfo", "draftExists", "deleteDraft")
READING_DRAFTS = ("getDraft", "getDraftInfo", "draftExists")
LIST = ("listDrafts",)
ATTACHING = ("createAttachment", "persistTemporaryFile")
READING_ATTACHMENTS = ("attachmentExists", "getAttachment", "getAttachmentThumbnail")
LIST_ATTACHMENTS = ("listAttachments",)
CREATE = "createWorkflowRecord"
CREATE_WITH = "createWorkflowRecordWithIdentifier"
UPDATE = "updateWorkflowRecord"
WORKFLOW = (CREATE, CREATE_WITH, UPDATE)
PROTECTED = (*CONTACTS, *DRAFTS, *LIST, *ATTACHING, *LIST_ATTACHMENTS, *WORKFLOW)
"""Operations that need a token (Authentication 4)."""

JSON_BODIES = (*TOKEN, *CONTACTS, "saveDraft", *WORKFLOW)
"""Operations that take a JSON body."""


def kebab(name: str) -> str:
    """Return a camel-case name in kebab-case, for the name of a defect or a clause."""
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name)


UNBREAKABLE: Mapping[str, str] = MappingProxyType(
    {
        "attachment-persist-no-limit": "no operation makes a temporary file, so a large one cannot be had",
        "head-without-body": "HTTP itself keeps content away from HEAD: the server drops it, clients do not read it",
        "realm-production": "the sandbox is a development environment and has no production realm",
        "token-separate-environments": "it takes two environments, and the sandbox is one",
        "workflow-initiated": "no operation shows a workflow or its state",
        "workflow-order-save-before-initiate": "neither step can be made to fail, and no answer shows them apart",
    }
)
"""The reason for each, by the id of the clause."""
