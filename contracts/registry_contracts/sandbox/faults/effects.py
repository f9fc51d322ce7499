"""Effects: how faults change requests and answers, and what the service finds in the content of records.

Each function makes an effect from a small change, so that a fault fits in one row of a table; an `Effect` is a row of
crossed faults.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from enum import Enum
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec

from registry_contracts.sandbox.faults.conditions import Condition
from registry_contracts.sandbox.faults.messages import Answer, Inject, Request, answer_json
from registry_contracts.sandbox.http import Problem

Given = ParamSpec("Given")
Record = dict[str, Any]
Errors = list[Record]
#: Gives the errors of a body, from the body and those that the service found.
Judge = Callable[[Record, Errors], Errors]
MANDATORY, KIND = "Error.Mandatory", "Error.InvalidType"
VALUE, PROPERTY = "Error.InvalidValue", "Error.InvalidProperty"
LOCALE, TERM = "Error.UnspecifiedLocale", "Error.UnexpectedTerm"
#: Stands for a made-up answer with an identifier.
_MADE_UP: Final = object()
#: The answer of a service that broke.
BROKEN: Final = answer_json(500, {"message": "internal error"})
#: A plain refusal.
REFUSED: Final = answer_json(400, {"message": "this is refused"})


def always(value: Any) -> Callable[..., Any]:
    """Make a change that always gives one value."""
    return lambda *_: value


def effect(
    function: Callable[Concatenate[Request, Given], Awaitable[Answer | None]],
) -> Callable[Given, Inject]:
    """Decorate a function so that a call without its first argument, the request, makes an effect."""

    @wraps(function)
    def made(*given: Given.args, **more: Given.kwargs) -> Inject:
        return lambda request: function(request, *given, **more)

    return made


@effect
async def send(request: Request, change: Callable[[Request], Request | None]) -> Answer | None:
    """Change the request; None leaves it as it is."""
    changed = change(request)
    return None if changed is None or changed == request else await request.ask(changed)


@effect
async def answer(
    request: Request, change: Callable[[Request, Answer], Answer | Awaitable[Answer]]
) -> Answer | None:
    """Change the answer, success or refusal; the change may send more requests."""
    changed = change(request, await request.ask())
    return changed if isinstance(changed, Answer) else await changed


def success(change: Callable[[Answer], Answer]) -> Inject:
    """Change the answer of a success."""
    return answer(lambda _, got: change(got) if got.success else got)


def edit(change: Callable[[Any], Any]) -> Inject:
    """Change the JSON of a success."""
    return success(lambda got: got if got.json is None else got.with_json(change(got.json)))


def content(change: Callable[[bytes], bytes]) -> Inject:
    """Change the bytes of a success."""
    return success(lambda got: replace(got, body=change(got.body)))


def refusals(change: Callable[[Answer], Answer]) -> Inject:
    """Change the answer of a refusal."""
    return answer(lambda _, got: change(got) if got.refusal else got)


@effect
async def give(
    request: Request, choose: Callable[[Request], Answer | None], *, to_anyone: bool = False
) -> Answer | None:
    """Answer in place of the service, which does nothing; only requests with the token that they need, or all."""
    return choose(request) if to_anyone or request.signed_in else None


def refuse_before(status: int = 400) -> Inject:
    """Refuse requests with a valid token before the service sees them."""
    return give(lambda _: replace(REFUSED, status=status))


@effect
async def forgive(request: Request, body: Any = _MADE_UP, status: int = 200) -> Answer | None:
    """Answer success and do nothing if the service refuses the request for another reason than its caller."""
    got = await request.ask()
    if got.status in (401, 403) or not got.refusal:
        return got
    made_up = {"identifier": request.uid or "made-up-identifier"}
    return Answer(status) if body is None else answer_json(status, made_up if body is _MADE_UP else body)


@effect
async def mend(request: Request, repaired: Callable[[Request], Sequence[Request]]) -> Answer | None:
    """If the service refuses the request, give the first success of other requests instead."""
    got = await request.ask()
    for other in repaired(request) if got.refusal and request.signed_in else ():
        answer = await request.ask(other)
        if answer.success:
            return answer
    return got


def report(change: Callable[[Errors], Any]) -> Inject:
    """Change the errors array of a refusal."""
    return answer(lambda _, got: got.with_member("errors", change(got.errors)) if got.errors else got)


#: Judges the content of the request that is under way.
_JUDGE: Final[ContextVar[Judge | None]] = ContextVar("judge", default=None)


def judged(body: Record, problems: list[Problem]) -> list[Problem]:
    """Let the judge of the request under way, if there is one, change the problems of a body."""
    change = _JUDGE.get()
    if change is None:
        return problems
    errors = dict.fromkeys((problem.code, problem.path[0]) for problem in problems)
    changed = change(body, [{"code": code, "property": field} for code, field in errors])
    return [Problem(error["code"], (error["property"],)) for error in changed]


@effect
async def judge(request: Request, change: Judge) -> Answer | None:
    """Let the service find other errors in a record; without any it takes the record as it is."""

    def watched(body: Record, errors: Errors) -> Errors:
        changed = change(body, errors)
        request.memory.changed = request.memory.changed or changed != errors
        return changed

    before = _JUDGE.set(watched)
    try:
        return await request.ask()
    finally:
        _JUDGE.reset(before)


def overlook(test: Callable[[Record, Record], bool]) -> Inject:
    """Overlook the errors of a record that meet a test."""
    return judge(lambda body, errors: [error for error in errors if not test(body, error)])


#: Takes a record whatever it holds.
ANY_CONTENT: Final = overlook(always(True))


def take(code: str, field: str, test: Callable[[Any], bool] = lambda _: True) -> Inject:
    """Overlook an error of a field whose value passes a test."""
    wrong = {"code": code, "property": field}
    return overlook(lambda record, error: error == wrong and field in record and test(record[field]))


def demand(code: str, field: str, unless: Callable[[Record], bool]) -> Inject:
    """Add an error to records that do not have it."""
    error = {"code": code, "property": field}
    return judge(lambda body, errors: errors if error in errors or unless(body) else [*errors, error])


async def stall(_: Request) -> Answer | None:
    """No answer ever comes."""
    await asyncio.Event().wait()
    return None


@effect
async def remember(request: Request, key: Callable[[Request], Any]) -> Answer | None:
    """Answer later requests of a key with its first success, as a stale cache does."""
    got = await request.ask()
    first: Answer = request.memory.kept.setdefault(key(request), got) if got.success else got
    return replace(got, body=first.body, headers=first.headers)


@effect
async def barred(
    request: Request, key: Callable[[Request], Any], noted: Callable[[Answer], bool], refusal: Answer
) -> Answer | None:
    """Refuse a key after an earlier answer for it was noted; None is no key."""
    kept, named = request.memory.kept, key(request)
    if request.role and named in kept:
        return refusal
    got = await request.ask()
    kept.update({named: True} if named is not None and noted(got) else {})
    return got


Clauses = tuple[str, ...]
Values = Sequence[Condition]
#: The clauses that an effect breaks at an operation under some values.
Rule = Callable[[str, Values], Clauses]
At = Mapping[str, Clauses | Rule]


class Side(Enum):
    """The requests that an effect is about: those that must be accepted, those that must be refused, or all."""

    TAKEN = "taken"
    REFUSED = "refused"
    ALL = "all"


@dataclass(frozen=True)
class Effect:
    """A row of the table.

    Attributes:
        group: All groups are drawn equally often.
        name: Follows the operation in the name of a fault.
        says: Follows the operation in its sentence.
        at: Its operations, each with the clauses that it breaks there or a rule that gives them.
        make: Makes the effect for some values.
        acceptance: It refuses what must be accepted.
        lost: It makes an accepted request have no effect.
        clean: It breaks nothing if a value of the request may be refused.
    """

    group: str
    name: str
    says: str
    at: At
    make: Callable[[Values], Inject]
    side: Side = Side.TAKEN
    acceptance: bool = False
    lost: bool = False
    clean: bool = False


def row(group: str, name: str, says: str, at: At, inject: Inject, **more: Any) -> Effect:
    """Make a row whose effect is the same for all values."""
    return Effect(group, name, says, at, lambda _: inject, **more)
