"""Effects: the ways in which faults change what passes between the service and its clients.

Each function makes an effect from a change, so that a fault is one row of a table.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec

from contracts.sandbox.faults.messages import MISSING, Answer, Inject, Request, answer_json
from contracts.sandbox.validation import CONTACT, REALMS, Field, Kind, RecordType

Given = ParamSpec("Given")
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
#: What a service answers that does not want a request.
REFUSED: Final = answer_json(400, {"message": "this is refused"})
#: Longer than any client waits.
_FOREVER_SECONDS: Final = 3600.0


#: Values that the service takes, for requests that a fault repairs and passes on.
_VALUES: Final[Mapping[Kind, Any]] = {
    Kind.STRING: "text",
    Kind.LSTRING: {"en": "text"},
    Kind.LINK: {"url": "https://example.test/"},
    Kind.INTEGER: 1,
    Kind.BOOLEAN: True,
    Kind.DATE: "2026-01-31",
    Kind.PLACE: {"point": {"latitude": 1.5, "longitude": 2.5}},
    Kind.HEADER: {"languages": ["en"]},
}


def _sample(field: Field, realm: str = "abs-dev") -> Any:
    """A value of a field that the service takes in a realm."""
    names = {Kind.TERM: min(field.terms, default="term"), Kind.REFERENCE: f"organization-{realm}"}
    value = {"identifier": names[field.kind]} if field.kind in names else _VALUES[field.kind]
    return [value] if field.many else value


#: A value of each field of a contact, and the fields that it has to hold.
SAMPLES: Final = {field.name: _sample(field) for field in CONTACT.fields}
NEEDED: Final = tuple(field.name for field in CONTACT.fields if field.mandatory)


def contact_value(name: str, request: Request) -> Any:
    """A value of a contact's field that the service takes in this request."""
    sample = SAMPLES[name]
    if name == "contactOrganization":
        return {"identifier": f"organization-{request.realm}"}
    if name == "header" and request.uid:
        return {**sample, "identifier": request.uid, "schema": "contact"}
    return sample


def valid_document(realm: str, schema: str, identifier: str) -> dict[str, Any] | None:
    """A document that holds every mandatory field of its schema; None where there is no such schema."""
    kinds: Mapping[str, RecordType] = next((r.types for r in REALMS if r.name == realm), {})
    if schema not in kinds:
        return None
    header: dict[str, Any] = {"schema": schema, "languages": ["en"]}
    document = {field.name: _sample(field, realm) for field in kinds[schema].fields if field.mandatory}
    return {"header": {**header, **({"identifier": identifier} if identifier else {})}, **document}


def repaired(request: Request, errors: list[dict[str, Any]]) -> Request:
    """The request with what its errors name put right, so that the service takes it."""
    body = dict(request.json)
    for error in errors:
        name = str(error["property"]).split(".")[0]
        body.pop(name, None)
        if request.operation.stores == "submission":
            if name not in ("batchId", "additionalInfo"):
                body["document"] = valid_document(request.realm, request.params["schema"], request.uid)
        elif name in SAMPLES:
            body[name] = contact_value(name, request)
    return request.with_json(body)


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


def refusals(change: Callable[[Answer], Answer]) -> Inject:
    """Change the answer of a refusal."""
    return answer(lambda _, got: change(got) if got.refusal else got)


def refuse(status: int = 400) -> Inject:
    """Refuse what the service takes, after it was done."""
    return success(lambda _: answer_json(status, {"message": "unexpected" if status >= 500 else "refused"}))


@effect
async def give(request: Request, choose: Callable[[Request], Answer | None]) -> Answer | None:
    """Answer in place of the service, which does nothing, requests that have the token they need."""
    return choose(request) if request.signed_in else None


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
async def mend(request: Request, repair: Callable[[Request], Request]) -> Answer | None:
    """Take what the service refuses as it would stand repaired."""
    got = await request.ask()
    return got if got.success or not request.signed_in else await request.ask(repair(request))


@effect
async def afterwards(request: Request, more: Callable[[Request], Sequence[Request]]) -> Answer | None:
    """Send more to the service behind a success."""
    others = more(request)
    got = await request.ask()
    for other in others if got.success else ():
        await request.ask(other)
    return got


@effect
async def report(request: Request, change: Callable[[Errors], Any]) -> Answer | None:
    """Change the errors array of a refusal."""
    got = await request.ask()
    if not got.errors:
        return got
    errors = change(got.errors)
    rest = {name: value for name, value in got.json.items() if name != "errors"}
    return got.with_json(rest if errors is MISSING else {**rest, "errors": errors})


async def looked_at(request: Request) -> tuple[Errors, Answer] | None:
    """Ask which errors a record has, without storing it; None where it is not looked at."""
    if not isinstance(request.json, dict):
        return None
    got = await replace(request.with_json({**request.json, _MARK: True}), look=True).ask()
    return ([e for e in got.errors if e["property"] != _MARK], got) if got.errors else None


@effect
async def judge(request: Request, change: Callable[[Record, Errors], Errors]) -> Answer | None:
    """Find other errors in a record: one without errors is taken, if need be repaired, and all others refused."""
    looked = await looked_at(request)
    if looked is None:
        return None
    errors, refusal = looked
    changed = change(request.json, errors)
    if changed == errors:
        return None
    if changed:
        return refusal.with_json({**refusal.json, "errors": changed})
    return await request.ask(repaired(request, errors))


def overlook(test: Callable[[Record, Record], bool]) -> Inject:
    """Overlook the errors of a record that pass a test."""
    return judge(lambda body, errors: [error for error in errors if not test(body, error)])


def demand(code: str, field: str, unless: Callable[[Record], bool]) -> Inject:
    """Find an error in records that have none of it."""
    error = {"code": code, "property": field}
    return judge(lambda body, errors: errors if error in errors or unless(body) else [*errors, error])


async def stall(_: Request) -> Answer | None:
    """No answer ever comes."""
    await asyncio.sleep(_FOREVER_SECONDS)
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
