"""Effects: the ways in which faults change what passes between the service and its clients.

Each function makes an effect from a change, so that a fault is one row of a table.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec

from registry_contracts.sandbox.faults.messages import Answer, Inject, Request, answer_json
from registry_contracts.sandbox.faults.places import TYPES
from registry_contracts.sandbox.validation import CONTACT, Field, Kind

Given = ParamSpec("Given")
Record = dict[str, Any]
Errors = list[Record]
MANDATORY, KIND = "Error.Mandatory", "Error.InvalidType"
VALUE, PROPERTY = "Error.InvalidValue", "Error.InvalidProperty"
LOCALE, TERM = "Error.UnspecifiedLocale", "Error.UnexpectedTerm"
#: A member that no record has: a record that is faulty for it alone is a good one.
_MARK: Final = "only-to-look"
#: Stands for the answer to a success of which the document shows nothing.
_MADE_UP: Final = object()
#: What a service answers that broke.
BROKEN: Final = answer_json(500, {"message": "internal error"})
#: What a service answers that does not want a request.
REFUSED: Final = answer_json(400, {"message": "this is refused"})
#: Values that the service takes, for requests that a fault repairs and passes on.
_VALUES: Final[Mapping[Kind, Any]] = {
    Kind.STRING: "text",
    Kind.LSTRING: {"en": "text"},
    Kind.LINK: {"url": "https://example.test/"},
    Kind.INTEGER: 1,
    Kind.BOOLEAN: True,
    Kind.DATE: "2026-01-31",
    Kind.PLACE: {"point": {"latitude": 1.5, "longitude": 2.5}},
}


def sample(field: Field, realm: str = "abs-dev", **header: str) -> Any:
    """A value of a field that the service takes in a realm, of a record with some members in its header."""
    term, reference = min(field.terms, default="term"), f"organization-{realm}"
    named = {Kind.TERM: {"identifier": term}, Kind.REFERENCE: {"identifier": reference}}
    value = {**_VALUES, **named, Kind.HEADER: {"languages": ["en"], **header}}[field.kind]
    return [value] if field.many else value


#: A value of each field of a contact, and the fields that it has to hold.
SAMPLES: Final = {field.name: sample(field) for field in CONTACT.fields}
NEEDED: Final = tuple(field.name for field in CONTACT.fields if field.mandatory)


def good_record(request: Request, schema: str) -> Record:
    """A record that holds every field of a schema, as the service takes it in a request; empty for no schema."""
    kinds = TYPES.get(request.realm, {})
    header = {"schema": schema, **({"identifier": request.uid} if request.uid else {})}
    fields = kinds[schema].fields if schema in kinds else ()
    return {field.name: sample(field, request.realm, **header) for field in fields}


def repaired(request: Request, errors: Errors) -> Request:
    """The request with what its errors name put right, so that the service takes it."""
    wrong = {str(error["property"]).split(".")[0] for error in errors}
    good = good_record(request, request.text("schema") or "")
    if request.operation.stores == "submission":
        good = {"document": good} if wrong - {"batchId", "additionalInfo"} else {}
    else:
        good = {name: value for name, value in good.items() if name in wrong}
    return request.with_json({**{k: v for k, v in request.json.items() if k not in wrong}, **good})


def always(value: Any) -> Callable[..., Any]:
    """Make a change that gives one value, whatever there was."""
    return lambda *_: value


def effect(
    function: Callable[Concatenate[Request, Given], Awaitable[Answer | None]],
) -> Callable[Given, Inject]:
    """Let a function make effects: it is called with all but its first argument, the request."""

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
    """Change the answer, be it a success or a refusal, if need be by asking more of the service."""
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


def refuse(status: int = 400) -> Inject:
    """Refuse what the service takes, after it was done."""
    return success(lambda _: answer_json(status, {"message": "unexpected" if status >= 500 else "refused"}))


@effect
async def give(
    request: Request, choose: Callable[[Request], Answer | None], *, to_anyone: bool = False
) -> Answer | None:
    """Answer in place of the service, which does nothing, requests that have the token they need."""
    return choose(request) if to_anyone or request.signed_in else None


def refuse_before(status: int = 400) -> Inject:
    """Refuse requests with a good token before anything else is looked at."""
    return give(lambda _: replace(REFUSED, status=status))


@effect
async def forgive(request: Request, body: Any = _MADE_UP, status: int = 200) -> Answer | None:
    """Answer success, without doing anything, where the service refuses the request and not the caller."""
    got = await request.ask()
    if got.status in (401, 403) or not got.refusal:
        return got
    made_up = {"identifier": request.uid or "made-up-identifier"}
    return Answer(status) if body is None else answer_json(status, made_up if body is _MADE_UP else body)


@effect
async def mend(request: Request, repaired: Callable[[Request], Sequence[Request]]) -> Answer | None:
    """Give the first success of other requests where the service refuses this one, and not the caller."""
    got = await request.ask()
    for other in repaired(request) if got.refusal and request.signed_in else ():
        answer = await request.ask(other)
        if answer.success:
            return answer
    return got


@effect
async def afterwards(request: Request, more: Callable[[Request], Sequence[Request]]) -> Answer | None:
    """Send more to the service behind a success."""
    others = more(request)
    got = await request.ask()
    for other in others if got.success else ():
        await request.ask(other)
    return got


def report(change: Callable[[Errors], Any]) -> Inject:
    """Change the errors array of a refusal."""
    return answer(lambda _, got: got.with_member("errors", change(got.errors)) if got.errors else got)


async def looked_at(request: Request) -> Answer | None:
    """Ask which errors a record has, without storing it; None where it is not looked at."""
    if not isinstance(request.json, dict):
        return None
    got = await replace(request.with_json({**request.json, _MARK: True}), look=True).ask()
    own = [error for error in got.errors if error["property"] != _MARK]
    return got.with_member("errors", own) if got.errors else None


@effect
async def judge(request: Request, change: Callable[[Record, Errors], Errors]) -> Answer | None:
    """Find other errors in a record: one without errors is taken, if need be repaired, and all others refused."""
    looked = await looked_at(request)
    changed = change(request.json, looked.errors) if looked else None
    if looked is None or changed is None or changed == looked.errors:
        return None
    if changed:
        return looked.with_member("errors", changed)
    return await request.ask(repaired(request, looked.errors))


def overlook(test: Callable[[Record, Record], bool]) -> Inject:
    """Overlook the errors of a record that pass a test."""
    return judge(lambda body, errors: [error for error in errors if not test(body, error)])


def take(code: str, field: str, test: Callable[[Any], bool] = lambda _: True) -> Inject:
    """Overlook an error of a field whose value passes a test."""
    wrong = {"code": code, "property": field}
    return overlook(lambda record, error: error == wrong and field in record and test(record[field]))


def demand(code: str, field: str, unless: Callable[[Record], bool]) -> Inject:
    """Find an error in records that have none of it."""
    error = {"code": code, "property": field}
    return judge(lambda body, errors: errors if error in errors or unless(body) else [*errors, error])


async def stall(_: Request) -> Answer | None:
    """No answer ever comes."""
    await asyncio.Event().wait()
    return None


@effect
async def remember(request: Request, key: Callable[[Request], Any]) -> Answer | None:
    """Give the first success of each key for all later ones, whatever became of it since."""
    got = await request.ask()
    first: Answer = request.memory.kept.setdefault(key(request), got) if got.success else got
    return replace(got, body=first.body, headers=first.headers)


@effect
async def barred(
    request: Request, key: Callable[[Request], Any], noted: Callable[[Answer], bool], refusal: Answer
) -> Answer | None:
    """Refuse, to a caller with a token, a key of which a request was answered so before; None is no key."""
    kept, named = request.memory.kept, key(request)
    if request.role and named in kept:
        return refusal
    got = await request.ask()
    kept.update({named: True} if named is not None and noted(got) else {})
    return got
