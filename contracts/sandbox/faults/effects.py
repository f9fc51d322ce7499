"""Effects: the ways in which faults change what passes between the service and its clients.

Each function makes an effect from a test or a change, so that a fault is one row of a table.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from contracts.sandbox.faults.messages import MISSING, Answer, Below, Inject, Memory, Request, answer_json
from contracts.sandbox.faults.samples import repaired

When = Callable[[Request], bool]
Record = dict[str, Any]
Errors = list[Record]
MANDATORY, ANY_OF, VALUE, PROPERTY, LOCALE, TERM, KIND = (
    f"Error.{name}"
    for name in (
        *("Mandatory", "MandatoryAnyOf", "InvalidValue", "InvalidProperty"),
        *("UnspecifiedLocale", "UnexpectedTerm", "InvalidType"),
    )
)
#: A member that no record has: a record that is faulty for it alone is a good one.
_MARK: Final = "only-to-look"
#: Stands for the answer to a success of which the document shows nothing.
_MADE_UP: Final = object()
#: What a service answers that broke.
BROKEN: Final = answer_json(500, {"message": "internal error"})
#: Longer than any client waits.
_FOREVER_SECONDS: Final = 3600.0


def always(_: Request) -> bool:
    """Every request is meant."""
    return True


def send(change: Callable[[Request], Request]) -> Inject:
    """Change the request."""

    async def effect(request: Request, below: Below, _: Memory) -> Answer | None:
        changed = change(request)
        return None if changed == request else await below(changed)

    return effect


def answer(change: Callable[[Request, Answer], Answer]) -> Inject:
    """Change the answer, be it a success or a refusal."""

    async def effect(request: Request, below: Below, _: Memory) -> Answer | None:
        return change(request, await below(request))

    return effect


def edit(change: Callable[[Any], Any]) -> Inject:
    """Change the JSON of a success."""
    return answer(
        lambda _, got: got.with_json(change(got.json)) if got.success and got.json is not None else got
    )


def refusals(change: Callable[[Answer], Answer]) -> Inject:
    """Change the answer of a refusal."""
    return answer(lambda _, got: change(got) if got.refusal else got)


def refuse(status: int = 400) -> Inject:
    """Refuse what the service takes, after it was done."""
    message = {"message": "unexpected" if status >= 500 else "this is refused"}
    return answer(lambda _, got: answer_json(status, message) if got.success else got)


def refuse_before(when: When = always, status: int = 400) -> Inject:
    """Refuse requests with a good token before anything else is looked at."""
    return instead(answer_json(status, {"message": "this is refused"}), when)


def instead(of: Answer, when: When = always) -> Inject:
    """Answer in place of the service, which does nothing, requests that have the token they need."""

    async def effect(request: Request, _below: Below, _: Memory) -> Answer | None:
        return of if request.signed_in and when(request) else None

    return effect


def forgive(when: When, body: Any = _MADE_UP, status: int = 200) -> Inject:
    """Answer success, without doing anything, where the service refuses the request and not the caller."""

    def changed(request: Request, got: Answer) -> Answer:
        if got.status in (401, 403) or not got.refusal or not when(request):
            return got
        made_up = {"identifier": request.uid or "made-up-identifier"}
        return Answer(status) if body is None else answer_json(status, made_up if body is _MADE_UP else body)

    return answer(changed)


def mend(repair: Callable[[Request], Request | None]) -> Inject:
    """Take what the service refuses as it would stand repaired; None leaves it refused."""

    async def effect(request: Request, below: Below, _: Memory) -> Answer | None:
        got = await below(request)
        changed = None if got.success or not request.signed_in else repair(request)
        return got if changed is None else await below(changed)

    return effect


def report(change: Callable[[Errors], Any]) -> Inject:
    """Change the errors array of a refusal."""

    def changed(_: Request, got: Answer) -> Answer:
        body = got.json
        if not isinstance(body, dict) or not body.get("errors"):
            return got
        errors = change(body["errors"])
        rest = {name: value for name, value in body.items() if name != "errors"}
        return got.with_json(rest if errors is MISSING else {**rest, "errors": errors})

    return answer(changed)


async def looked_at(request: Request, below: Below) -> tuple[Errors, Answer] | None:
    """Ask which errors a record has, without storing it; None where it is not looked at."""
    body = request.json
    if not isinstance(body, dict):
        return None
    got = await below(replace(request.with_json({**body, _MARK: True}), look=True))
    errors = got.json.get("errors") if isinstance(got.json, dict) else None
    return None if not errors else ([e for e in errors if e["property"] != _MARK], got)


def judge(change: Callable[[Record, Errors], Errors]) -> Inject:
    """Find other errors in a record: one without errors is taken, if need be repaired, and all others refused."""

    async def effect(request: Request, below: Below, _: Memory) -> Answer | None:
        looked = await looked_at(request, below)
        if looked is None:
            return None
        errors, refusal = looked
        changed = change(request.json, errors)
        if changed == errors:
            return None
        if changed:
            return refusal.with_json({**refusal.json, "errors": changed})
        return await below(repaired(request, errors))

    return effect


def overlook(test: Callable[[Record, Record], bool]) -> Inject:
    """Overlook the errors of a record that pass a test."""
    return judge(lambda body, errors: [error for error in errors if not test(body, error)])


def demand(code: str, field: str, unless: Callable[[Record], bool]) -> Inject:
    """Find an error in records that have none of it."""
    error = {"code": code, "property": field}
    return judge(lambda body, errors: errors if error in errors or unless(body) else [*errors, error])


async def stall(_request: Request, _below: Below, _: Memory) -> Answer | None:
    """No answer ever comes."""
    await asyncio.sleep(_FOREVER_SECONDS)
    return None


def remember(key: Callable[[Request], Any]) -> Inject:
    """Give the first success of each key for all later ones, whatever became of it since."""

    async def effect(request: Request, below: Below, memory: Memory) -> Answer | None:
        got = await below(request)
        first: Answer = memory.kept.setdefault(key(request), got) if got.success else got
        return replace(got, body=first.body, headers=first.headers)

    return effect


async def not_done(request: Request, _below: Below, memory: Memory) -> Answer | None:
    """Answer as the success before, and do nothing."""
    return memory.successes.get(request.operation.id) if request.role else None


def member(name: str, change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Change one member of an object, where there is one of this name; `MISSING` takes it out."""

    def changed(value: Any) -> Any:
        if not isinstance(value, dict) or name not in value:
            return value
        rest = {key: other for key, other in value.items() if key != name}
        new = change(value[name])
        return rest if new is MISSING else {**rest, name: new}

    return changed
