"""Faults of submissions, each a row: the table of the workflow, the order of its steps, limits, and what is left."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final

from contracts.interface.catalogue import load_catalogue
from contracts.sandbox.faults.contacts import KIND, MANDATORY, VALUE
from contracts.sandbox.faults.effects import (
    Errors,
    answer,
    demand,
    edit,
    forgive,
    judge,
    looked_at,
    overlook,
    refuse_before,
    send,
)
from contracts.sandbox.faults.fault import (
    SUBMISSIONS,
    Answer,
    Below,
    Fault,
    Inject,
    Memory,
    Request,
    answer_json,
    as_role,
    row,
)
from contracts.sandbox.faults.samples import valid_document
from contracts.sandbox.faults.uid import shaped
from contracts.sandbox.record_types import REALMS

CREATE, NAMED, UPDATE = SUBMISSIONS
CREATING: Final = (CREATE, NAMED)
_TYPES: Final = {realm.name: tuple(realm.types) for realm in REALMS}
_SCHEMAS: Final = {schema for types in _TYPES.values() for schema in types}
#: An identifier under which nothing is ever submitted.
_UNUSED: Final = "rc-nothing-is-submitted-under-this"


def message_of(clause: str) -> str:
    """The message that the table gives for a clause."""
    return load_catalogue().clause(clause).message or ""


_TAKEN, _UNKNOWN, _LOCKED = (
    message_of(f"workflow-{name}") for name in ("identifier-taken", "identifier-unknown", "locked-record")
)
_MAY_NOT_CREATE, _MAY_NOT_UPDATE = message_of("workflow-create-rights"), message_of("workflow-update-rights")
Then = Callable[[Request, Answer, Below, Memory], Awaitable[Answer]]


def has_message(answer: Answer, message: str) -> bool:
    """Whether a refusal carries the message of a row; the row's realm may stand where its placeholder is."""
    beginning = message.partition("${")[0].strip(" .")
    return beginning in json.dumps(answer.json) and 400 <= answer.status < 500


def texts_changed(value: Any, change: Callable[[str], str]) -> Any:
    """A JSON value with each text in it changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {name: texts_changed(member, change) for name, member in value.items()}
    return [texts_changed(item, change) for item in value] if isinstance(value, list) else value


def on(message: str, then: Then) -> Inject:
    """Do something else where the service refuses with a message of its table."""

    async def effect(request: Request, below: Below, memory: Memory) -> Answer | None:
        got = await below(request)
        return await then(request, got, below, memory) if has_message(got, message) else got

    return effect


def told(
    message: str, status: int | None = None, change: Callable[[str], str] = str, when: Any = None
) -> Inject:
    """Tell a row of the table with another status, or in other words."""

    async def then(request: Request, got: Answer, _below: Below, _: Memory) -> Answer:
        if when is not None and not when(request):
            return got
        beginning = message.partition("${")[0].strip(" .")
        body = texts_changed(got.json, lambda text: change(text) if beginning in text else text)
        return replace(got.with_json(body), status=status or got.status)

    return on(message, then)


def saying(text: str) -> Callable[[str], str]:
    """Say this text in place of another."""
    return lambda _: text


async def _contents(request: Request, below: Below) -> tuple[Errors, Answer] | None:
    """Which errors the content of a submission has, whatever its identifier; None where it may not be submitted."""
    body = request.body.replace(request.uid.encode(), _UNUSED.encode()) if request.uid else request.body
    params = {"schema": request.params["schema"], "identifier": _UNUSED}
    looked = replace(request, operation=request.described(NAMED), params=params, body=body)
    return await looked_at(looked, below)


def _accepted(when: Callable[[Request], bool] = lambda _: True) -> Then:
    """Accept what is refused for its identifier alone."""

    async def then(request: Request, got: Answer, below: Below, _: Memory) -> Answer:
        contents = await _contents(request, below) if when(request) else None
        good = contents is not None and not contents[0]
        return answer_json(200, {"identifier": request.uid}) if good else got

    return then


async def _created_instead(request: Request, got: Answer, below: Below, _: Memory) -> Answer:
    """Create the record that an update does not find."""
    created = await below(replace(request, operation=request.described(NAMED)))
    return created if created.success else got


async def _told_of_content(request: Request, got: Answer, below: Below, memory: Memory) -> Answer:
    """Tell an account without rights of the content first."""
    contents = await _contents(request, lambda changed: as_role(changed, below, memory, "author"))
    if contents is None or not contents[0]:
        return got
    return contents[1].with_json({**contents[1].json, "errors": contents[0]})


def _untitled(request: Request) -> bool:
    body = request.json
    document = body.get("document") if isinstance(body, dict) else None
    return isinstance(document, dict) and not isinstance(document.get("title"), dict | str)


def _no_schema(request: Request) -> bool:
    return request.params["schema"] not in _SCHEMAS


def _of_another_realm(request: Request) -> bool:
    schema = request.params["schema"]
    return schema in _SCHEMAS and schema not in _TYPES.get(request.realm, ())


async def _title_missing(request: Request, got: Answer, _below: Below, _: Memory) -> Answer:
    errors = [{"code": MANDATORY, "property": "title"}]
    return answer_json(400, {"message": "not valid", "errors": errors}) if _untitled(request) else got


async def _its_own_realm_named(request: Request, got: Answer, _below: Below, _: Memory) -> Answer:
    owner = next((realm for realm, types in _TYPES.items() if request.params["schema"] in types), "")
    return got.renamed(f"realm {request.realm}", f"realm {owner}") if owner else got


def _first_schema(request: Request) -> Request:
    """The request under the first schema of its realm, with a document of that schema."""
    types = _TYPES.get(request.realm, ())
    if not types:
        return request
    document = valid_document(request.realm, types[0], request.uid)
    return replace(request.with_json({"document": document}), params={**request.params, "schema": types[0]})


def _developed(request: Request) -> Request:
    realm = (request.header("realm").partition("-")[0]) + "-dev"
    return request.with_header("realm", realm) if realm in _TYPES else request


def _first_realm(request: Request) -> Request:
    return (
        request.with_header("realm", "abs-dev") if request.header("realm") not in ("", *_TYPES) else request
    )


def _of_restricted(request: Request, _: Memory) -> bool:
    return request.role == "restricted"


def _in_batch(request: Request, _: Memory) -> bool:
    return isinstance(request.json, dict) and "batchId" in request.json


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


async def _as_author_in_batch(request: Request, below: Below, memory: Memory) -> Answer | None:
    """An account without rights may submit a record of a batch."""
    return await as_role(request, below, memory, "author") if _of_restricted(request, memory) else None


#: What a clause is about, where several clauses give the same message.
_ABOUT: Final[dict[str, Callable[[Request], bool]]] = {
    "workflow-realm-missing": lambda request: not request.header("realm"),
    "workflow-realm-unknown": lambda request: bool(request.header("realm")),
    "workflow-anonymous": lambda request: not request.header("authorization"),
    "workflow-invalid-token": lambda request: bool(request.header("authorization")),
}


def _batch_of(limit: int) -> Inject:
    """Refuse a record whose batch holds so many already."""

    async def effect(request: Request, below: Below, memory: Memory) -> Answer | None:
        batch = request.json.get("batchId") if isinstance(request.json, dict) else None
        looked = await looked_at(request, below) if isinstance(batch, str) else None
        if looked is None or looked[0]:
            return None
        if memory.kept.get(batch, 0) >= limit:
            errors = [{"code": MANDATORY, "property": "batchId"}]
            return looked[1].with_json({**looked[1].json, "errors": errors})
        got = await below(request)
        memory.kept[batch] = memory.kept.get(batch, 0) + got.success
        return got

    return effect


def _known_after(refused: Callable[[Answer], bool], message: str) -> Inject:
    """Refuse, with a message of the table, an identifier whose first submission was refused."""

    async def effect(request: Request, below: Below, memory: Memory) -> Answer | None:
        key = (request.realm, request.uid)
        if request.role and key in memory.kept:
            return answer_json(400, {"message": message})
        got = await below(request)
        if refused(got):
            memory.kept[key] = True
        return got

    return effect


def _errors_in(got: Answer) -> Errors:
    return (got.json.get("errors") or []) if isinstance(got.json, dict) else []


def _for_member(member: str) -> Callable[[Answer], bool]:
    return lambda got: _errors_in(got) == [{"code": VALUE, "property": member}]


async def _created_twice(request: Request, below: Below, memory: Memory) -> Answer | None:
    """Creating under an identifier again is accepted when it was submitted before."""
    key = (request.realm, request.uid)
    got = await below(request)
    if got.success:
        memory.kept[key] = True
    elif key in memory.kept and has_message(got, _TAKEN):
        return await _accepted()(request, got, below, memory)
    return got


async def _submitted_unknown(request: Request, below: Below, memory: Memory) -> Answer | None:
    """Updating a record that was submitted before is refused because it does not exist."""
    key = (request.realm, request.uid)
    if request.operation.id == UPDATE:
        return answer_json(400, {"message": _UNKNOWN}) if request.role and key in memory.kept else None
    got = await below(request)
    memory.kept.update({key: True} if got.success else {})
    return got


async def _taken_in_any_case(request: Request, below: Below, memory: Memory) -> Answer | None:
    """An identifier is in use when one is that differs only in letter case."""
    folded = (request.realm, request.uid.lower())
    if request.role and memory.kept.get(folded, request.uid) != request.uid:
        return answer_json(400, {"message": _TAKEN})
    got = await below(request)
    if got.success:
        memory.kept.setdefault(folded, request.uid)
    return got


async def _both_at_once(request: Request, below: Below, memory: Memory) -> Answer | None:
    """Two creations under one identifier that overlap are both accepted."""
    key = (request.realm, request.uid)
    under_way, most = memory.kept.get(key, (0, 0))
    memory.kept[key] = (under_way + 1, max(most, under_way + 1))
    await asyncio.sleep(0.1)
    got = await below(request)
    under_way, most = memory.kept[key]
    memory.kept[key] = (under_way - 1, most if under_way > 1 else 0)
    return answer_json(201, {"identifier": request.uid}) if most > 1 and has_message(got, _TAKEN) else got


async def _draft_removed(request: Request, below: Below, _: Memory) -> Answer | None:
    """An accepted submission leaves no draft."""
    got = await below(request)
    if got.success:
        await below(request.for_operation("deleteDraft", request.uid))
    return got


async def _draft_without_country(request: Request, below: Below, _: Memory) -> Answer | None:
    """The draft of an accepted submission lacks the country of the document."""
    got = await below(request)
    if got.success:
        document = {k: v for k, v in request.json["document"].items() if k != "country"}
        saved = request.for_operation("saveDraft", request.uid, schema=request.params["schema"])
        await below(saved.with_json(document))
    return got


async def _draft_as_before(request: Request, below: Below, _: Memory) -> Answer | None:
    """An accepted update leaves the draft of its record as it was."""
    before = await below(request.for_operation("getDraft", request.uid))
    got = await below(request)
    if got.success and before.success:
        schema = request.params["schema"]
        await below(request.for_operation("saveDraft", request.uid, before.body, schema=schema))
    return got


def _unnamed(_: Request, got: Answer) -> Answer:
    errors = _errors_in(got)
    return got.with_json({k: v for k, v in got.json.items() if k != "identifier"}) if errors else got


def _identifier(change: Callable[[str], str]) -> Inject:
    return edit(lambda body: {**body, "identifier": change(body["identifier"])})


def document(test: Callable[[Any], bool]) -> Inject:
    """Take a submission whose document passes a test."""

    def change(body: dict[str, Any], errors: Errors) -> Errors:
        of_others = [error for error in errors if error["property"] in ("batchId", "additionalInfo")]
        return of_others if test(body.get("document", ...)) else errors

    return judge(change)


def wrong(code: str, member: str, test: Callable[[Any], bool] = lambda _: True) -> Inject:
    """Overlook what is wrong with a member whose value passes a test."""
    return overlook(lambda body, error: error == {"code": code, "property": member} and test(body[member]))


def _longer(least: int) -> Callable[[str], bool]:
    return lambda text: len(text) >= least


def _begins(first: bytes) -> Callable[[Request], bool]:
    return lambda request: request.body.strip()[:1] == first


# fmt: off
#: The rows of the table: clause, another status, another wording.
_TABLE: Final[tuple[tuple[str, int, Callable[[str], str]], ...]] = (
    ("workflow-realm-missing", 422, lambda text: text.replace("querystring", "query")),
    ("workflow-realm-unknown", 404, lambda text: text.partition(",")[0]),
    ("workflow-schema-unknown", 404, lambda _: message_of("workflow-schema-unknown")),
    ("workflow-identifier-taken", 409, lambda text: text.replace(" 'identifier'", "")),
    ("workflow-identifier-unknown", 404, lambda _: _TAKEN),
    ("workflow-locked-record", 423, lambda text: text.replace(" for workflow", "")),
    ("workflow-update-rights", 401, lambda _: _MAY_NOT_CREATE),
    ("workflow-create-rights", 400, lambda _: _MAY_NOT_UPDATE),
    ("workflow-anonymous", 401, lambda text: text.partition(",")[0]),
    ("workflow-invalid-token", 401, lambda _: "Authorization required, token is invalid."),
)


def _table_rows() -> Iterator[Fault]:
    catalogue = load_catalogue()
    for clause, status, change in _TABLE:
        of, message, when = catalogue.clause(clause).operations, message_of(clause), _ABOUT.get(clause)
        yield row(f"{clause}-status", clause, of, told(message, status, when=when),
            f"The right message comes with the status {status}.")
        yield row(f"{clause}-message", clause, of, told(message, change=change, when=when),
            "The right status comes with another message.")
    for clause, operation, name in (
        ("workflow-realm-missing", UPDATE, "update-workflow-record"),
        ("workflow-schema-unknown", NAMED, "create-workflow-record-with-identifier"),
        ("workflow-create-rights", CREATE, "create-workflow-record"),
        ("workflow-anonymous", UPDATE, "update-workflow-record"),
    ):
        effect = told(message_of(clause), 422, when=_ABOUT.get(clause))
        yield row(f"{clause}-status-on-{name}", clause, operation, effect,
            f"The right message comes with 422, on {operation} alone.")
    for clause, change, realm in (
        ("workflow-schema-unknown", lambda text: text.replace("bch-dev", "abs-dev"), "in-bch-dev"),
        ("workflow-locked-record", str.upper, "in-ort-dev"),
        ("workflow-identifier-taken", lambda text: text.replace("document", "record"), "in-chm-dev"),
    ):
        effect = told(message_of(clause), change=change)
        yield row(f"{clause}-message", clause, catalogue.clause(clause).operations, effect,
            "The message has other words.", realm)
    for name, clause, operations, message, then, says in (
        ("taken-accepted", "workflow-identifier-taken", NAMED, _TAKEN,
            _accepted(lambda r: r.uid.startswith("sandbox-")),
            "Creating under an identifier that was in use before the service started is accepted."),
        ("published-not-in-use", "workflow-identifier-taken", NAMED, _TAKEN,
            _accepted(lambda r: r.uid.startswith("sandbox-published-")),
            "The identifier of a record that was published before the service started is not in use for creating."),
        ("update-creates", "workflow-identifier-unknown", UPDATE, _UNKNOWN, _created_instead,
            "Updating under an identifier that does not exist creates the record."),
        ("locked-accepted", "workflow-locked-record", UPDATE, _LOCKED, _accepted(),
            "Updating a record that is locked for workflow is accepted."),
        ("schema-message-of-its-realm", "workflow-schema-of-another-realm", SUBMISSIONS,
            message_of("workflow-schema-unknown"), _its_own_realm_named,
            "The refusal of another realm's schema names the realm that the schema belongs to."),
        ("document-before-schema", "workflow-order-schema-before-document", SUBMISSIONS,
            message_of("workflow-schema-unknown"), _title_missing,
            "Under an unknown schema, a document without a title is refused for it."),
        ("validation-before-rights-on-create", "workflow-order-rights-before-validation", CREATING, _MAY_NOT_CREATE,
            _told_of_content, "On create the document is validated before the rights are looked at."),
        ("validation-before-rights-on-update", "workflow-order-rights-before-validation", UPDATE, _MAY_NOT_UPDATE,
            _told_of_content, "On update the document is validated before the rights are looked at."),
    ):
        yield row(f"workflow-{name}", clause, operations, on(message, then), says)
    for name, clause, operation, message, rights in (
        ("taken", "workflow-order-taken-before-rights", NAMED, _TAKEN, _MAY_NOT_CREATE),
        ("unknown", "workflow-order-unknown-before-rights", UPDATE, _UNKNOWN, _MAY_NOT_UPDATE),
        ("locked", "workflow-order-locked-before-rights", UPDATE, _LOCKED, _MAY_NOT_UPDATE),
    ):
        effect = told(message, 403, saying(rights))
        yield row(f"workflow-rights-before-{name}", clause, operation, effect,
            "Rights are looked at before the identifier.", where=_of_restricted)
    for name, clause, operation, message, where in (
        ("taken-without-rights", "workflow-order-taken-before-validation", NAMED, _TAKEN, _of_restricted),
        ("locked-in-batch", "workflow-order-locked-before-validation", UPDATE, _LOCKED, _in_batch),
    ):
        effect = partial(validated_first, message=message.split("'")[0].strip())
        yield row(f"workflow-validation-before-{name}", clause, operation, effect,
            "A faulty document is reported before its identifier is looked at, of some submissions.", where=where)
    unknown = message_of("workflow-schema-unknown").replace("${realm}", "unknown")
    for name, when in (("", _no_schema), ("-of-faulty", lambda request: _no_schema(request) and _untitled(request))):
        effect = told(message_of("workflow-realm-unknown"), change=saying(unknown), when=when)
        yield row(f"workflow-schema-before-realm{name}", "workflow-order-realm-before-schema", SUBMISSIONS, effect,
            "Where both realm and schema are unknown, the refusal is that of the schema.")
    for name, clause, sent, says in (
        ("realm-not-needed", "workflow-realm-missing",
            lambda r: r if r.realm or r.header("realm") else r.with_header("realm", "abs-dev"),
            "A submission without a realm goes to abs-dev."),
        ("realm-of-any-name", "workflow-realm-unknown", _first_realm,
            "A submission under an unknown realm in the header goes to abs-dev."),
        ("realm-of-its-beginning", "workflow-realm-unknown", _developed,
            "A realm that begins with the name of an application is taken for its development realm."),
        ("schema-of-any-name", "workflow-schema-unknown",
            lambda r: _first_schema(r) if r.role and _no_schema(r) else r,
            "A schema that no realm knows is taken for the first one of the realm."),
        ("schema-of-another-realm", "workflow-schema-of-another-realm",
            lambda r: _first_schema(r) if r.role and _of_another_realm(r) else r,
            "The schemas of all realms are configured in every realm."),
    ):
        yield row(f"workflow-{name}", clause, SUBMISSIONS, send(sent), says)
    for word, clause, operations in (("create", "workflow-create-rights", CREATING), ("update",
        "workflow-update-rights", UPDATE)):
        yield row(f"workflow-{word}-rights-not-needed-in-batch", clause, operations, _as_author_in_batch,
            where=_in_batch)


_ROWS: Final[tuple[tuple[str, str, str | tuple[str, ...], Inject, str], ...]] = (
    ("document-array", "workflow-document-kind", SUBMISSIONS, document(lambda d: isinstance(d, list)),
        "A document that is an array is accepted."),
    ("document-string", "workflow-document-kind", CREATING, document(lambda d: isinstance(d, str)),
        "A document that is a string is accepted."),
    ("document-empty", "workflow-document-empty", SUBMISSIONS, document(lambda d: d == {}),
        "A document without any field is accepted."),
    ("document-not-validated-on-update", "workflow-document-validated", UPDATE,
        document(lambda d: isinstance(d, dict)), "A document of any content is accepted on update."),
    ("body-array", "workflow-body-kind", CREATE, forgive(_begins(b"[")),
        "A body that is an array is answered with success."),
    ("body-null", "workflow-body-kind", UPDATE, forgive(_begins(b"n")),
        "A body that is null is answered with success."),
    ("body-absent", "workflow-body-kind", NAMED, forgive(_begins(b"")), "No body is answered with success."),
    ("create-needs-batch", "workflow-create-accepted", CREATE,
        demand(MANDATORY, "batchId", unless=lambda body: "batchId" in body),
        "A submission without an identifier is refused without batchId."),
    ("create-with-identifier-needs-batch", "workflow-create-with-identifier-accepted", NAMED,
        demand(MANDATORY, "batchId", unless=lambda body: "batchId" in body),
        "A submission with an identifier is refused without batchId."),
    ("update-needs-batch", "workflow-update-accepted", UPDATE,
        demand(MANDATORY, "batchId", unless=lambda body: "batchId" in body), "An update is refused without batchId."),
    ("batch-not-limited-far-above", "workflow-batch-too-long", SUBMISSIONS, wrong(VALUE, "batchId", _longer(1000)),
        "A batchId of 1000 or more characters is accepted, although one of 101 is refused."),
    ("info-not-limited-far-above", "workflow-info-too-long", SUBMISSIONS, wrong(VALUE, "additionalInfo", _longer(5000)),
        "An additionalInfo of 5000 or more characters is accepted, although one of 1001 is refused."),
    ("batch-of-any-kind", "workflow-batch-kind", SUBMISSIONS, wrong(KIND, "batchId"),
        "A batchId of any kind is accepted."),
    ("info-of-any-kind", "workflow-info-kind", SUBMISSIONS, wrong(KIND, "additionalInfo"),
        "An additionalInfo of any kind is accepted."),
    ("info-refused", "workflow-info-available", CREATING,
        demand(VALUE, "additionalInfo", unless=lambda body: "additionalInfo" not in body),
        "An additionalInfo is refused from every role."),
    ("batch-used-once", "workflow-batch-shared", CREATING, _batch_of(1),
        "A batchId that an earlier submission carried is refused."),
    ("batch-of-two", "workflow-batch-shared", CREATING, _batch_of(2),
        "A batch takes two records; a third one is refused."),
    ("batch-refused-yet-taken", "workflow-batch-too-long", NAMED, _known_after(_for_member("batchId"), _TAKEN),
        "A batchId that is too long is refused, yet the identifier is in use from then on."),
    ("info-refused-yet-taken", "workflow-info-too-long", NAMED, _known_after(_for_member("additionalInfo"), _TAKEN),
        "An additionalInfo that is too long is refused, yet the identifier is in use from then on."),
    ("refused-identifier-taken", "workflow-refused-frees-identifier", NAMED,
        _known_after(lambda got: bool(_errors_in(got)), _TAKEN),
        "An identifier stays in use when its submission was refused for its content."),
    ("locked-before-content", "workflow-order-validation-before-initiate", NAMED,
        _known_after(lambda got: bool(_errors_in(got)), _LOCKED),
        "The workflow begins before the document is validated, so that a refused identifier is locked."),
    ("rights-after-save", "workflow-rights-refusal-stores-nothing", NAMED,
        _known_after(lambda got: has_message(got, _MAY_NOT_CREATE), _TAKEN),
        "An account that may not create is refused, yet the identifier it named is in use from then on."),
    ("create-twice", "workflow-created-exists", NAMED, _created_twice, ""),
    ("created-twice-at-once", "workflow-identifier-once", NAMED, _both_at_once, ""),
    ("created-unknown", "workflow-created-known", (NAMED, UPDATE), _submitted_unknown, ""),
    ("draft-not-saved", "workflow-draft-saved", NAMED, _draft_removed, ""),
    ("draft-without-country", "workflow-draft-saved", NAMED, _draft_without_country, ""),
    ("update-keeps-draft", "workflow-update-replaces-draft", UPDATE, _draft_as_before, ""),
    ("errors-without-identifier", "workflow-errors-with-identifier", (NAMED, UPDATE), answer(_unnamed),
        "A refusal for content holds the errors array and no identifier."),
    ("identifier-empty", "workflow-identifier-returned", CREATE, _identifier(lambda _: ""),
        "The answer to a submission carries an empty identifier."),
    ("identifier-in-lower-case", "workflow-identifier-kept", NAMED, _identifier(str.swapcase),
        "The answer to a submission carries its identifier in the other letter case."),
    ("identifier-letter-case-ignored", "workflow-identifier-case-sensitive", NAMED, _taken_in_any_case, ""),
    ("identifier-refuses-eleven", "workflow-identifier-edges", NAMED, refuse_before(lambda r: len(r.uid) == 11),
        "An identifier of 11 characters is refused."),
    ("identifier-refuses-128", "workflow-identifier-edges", NAMED, refuse_before(lambda r: len(r.uid) == 128),
        "An identifier of 128 characters is refused."),
    ("identifier-accepts-ten", "workflow-identifier-too-short", NAMED, forgive(lambda r: shaped(r.uid, 10, 10)),
        "An identifier of 10 characters is accepted."),
    ("identifier-accepts-129", "workflow-identifier-too-long", NAMED, forgive(lambda r: shaped(r.uid, 129, 129)),
        "An identifier of 129 characters is accepted."),
    ("identifier-accepts-dot", "workflow-identifier-characters", NAMED,
        forgive(lambda r: "." in r.uid and shaped(r.uid.replace(".", "x"))), "An identifier may hold a dot."),
)


def submission_rows() -> Iterator[Fault]:
    """Every row of submissions."""
    yield from _table_rows()
    for name, clause, operations, effect, says in _ROWS:
        yield row(f"workflow-{name}", clause, operations, effect, says)
    yield row("workflow-draft-not-saved", "workflow-draft-saved", NAMED, _draft_removed, condition="every-second")
    for name, clause, operation, realm in (
        ("create-refused", "workflow-create-accepted", CREATE, "in-ort-dev"),
        ("create-with-identifier-refused", "workflow-create-with-identifier-accepted", NAMED, "in-bch-dev"),
    ):
        effect = judge(lambda _, errors: errors or [{"code": MANDATORY, "property": "title"}])
        yield row(f"workflow-{name}", clause, operation, effect, "Every submission is refused for its title.", realm)
    yield row("workflow-document-not-validated", "workflow-document-validated", SUBMISSIONS,
        document(lambda d: isinstance(d, dict)), "A document of any content is accepted.", "in-ort-dev")
