"""What a fault does to the frame of a request: realms, headers, tokens, and bodies that are no JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Final

from contracts.sandbox.faults.injection import Answer, Below, Memory, Request, answer_json
from contracts.sandbox.faults.injections import as_role
from contracts.sandbox.faults.operators import valid_document
from contracts.sandbox.record_types import REALMS

#: So many requests does a token last that dies early.
_REQUESTS_OF_TOKEN: Final = 20


def _refused(message: str) -> Answer:
    return answer_json(400, {"message": message})


async def realm_refused(request: Request, _below: Below, _: Memory) -> Answer | None:
    """A realm of the document is not configured."""
    return _refused("Realm is not configured, please provide valid realm.") if request.role else None


async def realm_in_query_ignored(request: Request, below: Below, _: Memory) -> Answer | None:
    """A realm that only the query names is not seen."""
    if request.header("realm") or "Realm" not in dict(request.query):
        return None
    return await below(request.with_query("Realm"))


async def realm_in_query_unchecked(request: Request, below: Below, _: Memory) -> Answer | None:
    """An unknown realm that only the query names is taken for the first one."""
    names = {realm.name for realm in REALMS}
    realm = dict(request.query).get("Realm")
    if request.header("realm") or realm is None or realm in names or not request.role:
        return None
    answer = await below(request.with_query(Realm="abs-dev"))
    return answer if answer.success else answer_json(200, {"identifier": request.uid})


async def realm_needed(request: Request, _below: Below, _: Memory) -> Answer | None:
    """A request without a Realm header is refused where none is listed."""
    return None if request.header("realm") else _refused("the Realm header is missing")


async def content_type_needed(request: Request, _below: Below, _: Memory) -> Answer | None:
    """A request without a Content-Type header is refused where none is listed."""
    return None if request.header("content-type") else _refused("the Content-Type header is missing")


async def content_type_refused(request: Request, _below: Below, _: Memory) -> Answer | None:
    """A request without a body is refused for its Content-Type header."""
    return _refused("a Content-Type without content") if request.header("content-type") else None


async def token_dies_early(request: Request, _below: Below, memory: Memory) -> Answer | None:
    """A token is refused after so many requests, long before its expiration."""
    token = request.header("authorization")
    if not request.role:
        return None
    uses = int(memory.tokens.get(f"uses of {token}", "0")) + 1
    memory.tokens[f"uses of {token}"] = str(uses)
    return answer_json(401, {"message": "the token is not valid"}) if uses > _REQUESTS_OF_TOKEN else None


async def body_cut(request: Request, below: Below, _: Memory) -> Answer | None:
    """The JSON of a success lacks its last character."""
    answer = await below(request)
    return replace(answer, body=answer.body[:-1]) if answer.success and answer.json is not None else answer


async def body_plain(request: Request, below: Below, _: Memory) -> Answer | None:
    """The body of a success is a word of plain text."""
    answer = await below(request)
    if not answer.success or answer.json is None:
        return answer
    return replace(answer, headers=((b"content-type", b"text/plain"),), body=b"OK")


async def malformed_taken(request: Request, _below: Below, memory: Memory) -> Answer | None:
    """A body that is no JSON is answered as the good one before it."""
    if not request.body or (request.role == "" and request.operation.protected):
        return None
    try:
        json.loads(request.body)
    except (ValueError, RecursionError):
        before = memory.successes.get(request.operation.id)
        return before or answer_json(200, {"identifier": request.uid})
    return None


async def password_echoed(request: Request, below: Below, _: Memory) -> Answer | None:
    """A refused sign-in repeats the password."""
    answer = await below(request)
    body = request.json
    password = body.get("password") if isinstance(body, dict) else None
    if answer.success or not isinstance(password, str) or not isinstance(answer.json, dict):
        return answer
    return answer.with_json({**answer.json, "password": password})


async def token_echoed(request: Request, below: Below, _: Memory) -> Answer | None:
    """An answer repeats the token of its request."""
    answer = await below(request)
    if not request.role or not isinstance(answer.json, dict):
        return answer
    return answer.with_json({**answer.json, "debug": request.header("authorization")})


async def validated_first(request: Request, below: Below, _: Memory, *, message: str) -> Answer | None:
    """A faulty document is reported before its identifier is looked at."""
    answer = await below(request)
    body = request.json
    document = body.get("document") if isinstance(body, dict) else None
    good = valid_document(request.realm, request.params.get("schema", ""), request.uid)
    if (
        good is None
        or message not in answer.body.decode("utf-8", "replace")
        or not isinstance(document, dict)
    ):
        return answer
    wrong = sorted(name for name, value in good.items() if type(document.get(name)) is not type(value))
    errors = [
        {"code": "Error.InvalidType" if name in document else "Error.Mandatory", "property": name}
        for name in wrong
    ]
    return answer_json(400, {"errors": errors}) if errors else answer


async def without_rights_saved(request: Request, below: Below, memory: Memory) -> Answer | None:
    """A submission that is refused for want of rights is carried out all the same."""
    answer = await below(request)
    if request.role == "restricted" and answer.status == 403:
        await as_role(request, below, memory, "author")
    return answer


async def freed_by_deleting(request: Request, below: Below, memory: Memory) -> Answer | None:
    """Deleting a draft takes the published version along: its identifier is free again."""
    answer = await below(request)
    taken = "with the identifier exists" in answer.body.decode("utf-8", "replace")
    if taken and request.uid in memory.deleted:
        return answer_json(201, {"identifier": request.uid})
    return answer


async def bytes_counted(
    request: Request, _below: Below, _: Memory, *, member: str, limit: int
) -> Answer | None:
    """The limit of a text counts bytes."""
    body = request.json
    value = body.get(member) if isinstance(body, dict) else None
    if isinstance(value, str) and len(value) <= limit < len(value.encode("utf-8", "replace")):
        return answer_json(400, {"errors": [{"code": "Error.InvalidValue", "property": member}]})
    return None


async def language_keys_unchecked(request: Request, below: Below, _: Memory, *, name: str) -> Answer | None:
    """A key that is no language code is taken in one localised field."""
    record = request.json
    value = record.get(name) if isinstance(record, dict) else None
    if not isinstance(value, dict) or not value or not all(isinstance(text, str) for text in value.values()):
        return None
    return await below(request.with_json({**record, name: {"en": next(iter(value.values()))}}))


async def second_language_refused(request: Request, _below: Below, _: Memory, *, name: str) -> Answer | None:
    """A localised field in more than one language is refused."""
    record = request.json
    value = record.get(name) if isinstance(record, dict) else None
    if isinstance(value, dict) and len(value) > 1:
        return answer_json(400, {"errors": [{"code": "Error.InvalidValue", "property": name}]})
    return None
