"""How a defect is declared, how it alters a service, and the clauses that no defect breaks.

What a defect is called, which clause it breaks, where, and what the altered sandbox does stands in ``defects.toml``;
the modules of the clause families declare under each name how it alters a service.
"""

import difflib
import functools
import json
import tomllib
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any, Concatenate, Final, ParamSpec

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from contracts.errors import SuiteError, UsageError
from contracts.sandbox.http_requests import Refusal, header_value
from contracts.sandbox.service import OPERATIONS, Service

Operations = tuple[str, ...]
Change = Callable[[Service, Operations], None]
Handler = Callable[[Request], Awaitable[Response]]
Answer = Callable[[Service, Handler, Request], Awaitable[Response]]
When = Callable[[Request], bool]
_P = ParamSpec("_P")


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
    operations: Operations
    sentence: str
    apply: Callable[[Service], None]
    realms: tuple[str, ...] = ()


_CATALOGUE: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    name: (clause, row)
    for clause, rows in tomllib.loads(Path(__file__).with_name("defects.toml").read_text("utf-8")).items()
    for name, row in rows.items()
}
_DECLARED: dict[str, Defect] = {}
#: So long does a request wait whose defect shows only when another is under way.
OVERLAP_SECONDS: Final = 0.1


def defects(changes: Mapping[str, Change]) -> None:
    """Declare defects of ``defects.toml``, which has the clause, the operations and a sentence of each.

    Args:
        changes: by the name of the defect, how it alters a service; it is given the operations of the defect too.

    Raises:
        SuiteError: a name is taken, or not in ``defects.toml``.

    """
    for name, change in changes.items():
        if name in _DECLARED or name not in _CATALOGUE:
            raise SuiteError(f"the defect {name!r} must stand once in defects.toml and once in the modules")
        clause, row = _CATALOGUE[name]
        on, realms = tuple(row["on"]), tuple(row.get("in", ()))
        _DECLARED[name] = Defect(name, clause, on, row["does"], _applying(change, on), realms)


def _applying(change: Change, operations: Operations) -> Callable[[Service], None]:
    return lambda service: change(service, operations)


def defect(name: str) -> Callable[[Callable[[Service], None]], None]:
    """Declare the decorated change of a service as the defect of that name."""
    return lambda change: defects({name: lambda service, operations: change(service)})  # noqa: ARG005


def answers(name: str, *at: str) -> Callable[[Answer], None]:
    """Declare the decorated answer as the defect of that name.

    Args:
        at: ids of the operations it answers, where they are others than those on which the break shows.

    """
    return lambda answer: defects({name: answered(answer, at)})


def replaces(method: str, name: str) -> Callable[[Callable[..., Any]], None]:
    """Declare the decorated function, which replaces a method such as ``identity.require``, as the defect."""
    return lambda instead: defects({name: replaced(method, instead)})


def alteration(function: Callable[Concatenate[Service, _P], None]) -> Callable[_P, Change]:
    """Let a function that alters a service be called without the service, and return the change that it makes."""

    @functools.wraps(function)
    def change(*arguments: _P.args, **named: _P.kwargs) -> Change:
        return lambda service, operations: function(service, *arguments, **named)  # noqa: ARG005

    return change


def alteration_at(function: Callable[Concatenate[Service, Operations, _P], None]) -> Callable[_P, Change]:
    """Do the same for a function that needs the operations of the defect, after the service."""

    @functools.wraps(function)
    def change(*arguments: _P.args, **named: _P.kwargs) -> Change:
        return lambda service, operations: function(service, operations, *arguments, **named)

    return change


def alter(part: object, method: str, instead: Callable[..., Any]) -> None:
    """Replace one method of one part.

    Args:
        instead: called in its place, with the faithful method before the arguments.

    """
    faithful = getattr(part, method)

    @functools.wraps(faithful)
    def altered(*arguments: Any, **named: Any) -> Any:
        return instead(faithful, *arguments, **named)

    setattr(part, method, altered)


@alteration
def replaced(service: Service, method: str, instead: Callable[..., Any]) -> None:
    """Replace a method, such as ``identity.require``.

    ``instead`` is given the service, the faithful method and its arguments.
    """
    part, _, attribute = method.rpartition(".")
    alter(attrgetter(part)(service), attribute, partial(instead, service))


_PLACES = {operation: place.split(".") for operation, _, _, place in OPERATIONS}


@alteration_at
def answered(service: Service, operations: Operations, answer: Answer, at: Iterable[str] = ()) -> None:
    """Let ``answer`` answer the requests of the defect's operations, or of those in ``at``."""
    for operation in at or operations:
        part, method = _PLACES[operation]
        alter(getattr(service, part), method, partial(answer, service))


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


@alteration_at
def every(service: Service, operations: Operations, number: int, make: Callable[[Every], Change]) -> None:
    """Apply the change that ``make`` gives for a count of its own: true at each n-th call."""
    make(Every(number))(service, operations)


def _success(body: Any, status: int) -> Response:
    """Return a success in JSON; body ``None`` is no body."""
    return Response(status_code=status) if body is None else JSONResponse(body, status)


def refuse(refusal: Callable[[str], Refusal], when: When = always) -> Change:
    """Refuse the requests that ``when`` means, before anything else is looked at."""

    async def answer(_service: Service, faithful: Handler, request: Request) -> Response:
        if when(request):
            raise refusal("this is refused")
        return await faithful(request)

    return answered(answer)


def pretend(body: Any, status: int = 200, when: When = always) -> Change:
    """Answer the requests that ``when`` means with success and do nothing; body ``None`` is no body."""

    async def answer(_service: Service, faithful: Handler, request: Request) -> Response:
        return _success(body, status) if when(request) else await faithful(request)

    return answered(answer)


def forgive(body: Any, status: int = 200, when: When = always) -> Change:
    """Answer with success where the faithful handler refuses; body ``None`` is no body."""

    async def answer(_service: Service, faithful: Handler, request: Request) -> Response:
        try:
            return await faithful(request)
        except Refusal:
            if not when(request):
                raise
            return _success(body, status)

    return answered(answer)


def edit(change: Callable[[Any], Any], when: When = always, at: Iterable[str] = ()) -> Change:
    """Change the JSON value that a successful answer carries; ``at``: of operations other than the defect's."""
    return edit_for_request(lambda value, _request: change(value), when, at)


def edit_for_request(
    change: Callable[[Any, Request], Any], when: When = always, at: Iterable[str] = ()
) -> Change:
    """Change the JSON value that a successful answer carries; ``change`` is given the request too."""

    async def answer(_service: Service, faithful: Handler, request: Request) -> Response:
        response = await faithful(request)
        if not when(request) or not response.body:
            return response
        return JSONResponse(change(json.loads(bytes(response.body)), request), response.status_code)

    return answered(answer, at)


def edit_refusal(change: Callable[[Refusal], Refusal], when: When = always) -> Change:
    """Change the refusals of some operations."""

    async def answer(_service: Service, faithful: Handler, request: Request) -> Response:
        try:
            return await faithful(request)
        except Refusal as refusal:
            raise (change(refusal) if when(request) else refusal) from None

    return answered(answer)


async def json_of(request: Request) -> Any:
    """Return the JSON value of a request before its handler reads it; ``None`` when it is not JSON."""
    try:
        return json.loads(await request.body())
    except (ValueError, RecursionError):
        return None


def declared() -> tuple[Defect, ...]:
    """Return all defects, in the order of their names.

    Raises:
        SuiteError: a defect of ``defects.toml`` was not declared.

    """
    missing = _CATALOGUE.keys() - _DECLARED.keys()
    if missing:
        raise SuiteError(f"no module declares the defects {', '.join(sorted(missing))}")
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
