"""Faults of the table of the workflow endpoint: its rows told wrongly or not at all, and steps in another order."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from contracts.interface.catalogue import Clause, load_catalogue
from contracts.sandbox.faults.contacts import MANDATORY
from contracts.sandbox.faults.effects import Errors, looked_at, send
from contracts.sandbox.faults.fault import (
    SINGLE,
    SUBMISSIONS,
    Answer,
    Below,
    Family,
    Fault,
    Inject,
    Memory,
    Request,
    answer_json,
    as_role,
    row,
)
from contracts.sandbox.faults.samples import valid_document
from contracts.sandbox.validation import REALMS

_STATE: Final = Family("state")
_ROWS: Final = Family("rows")
CREATE, NAMED, UPDATE = SUBMISSIONS
CREATING: Final = (CREATE, NAMED)
_TYPES: Final = {realm.name: tuple(realm.types) for realm in REALMS}
_SCHEMAS: Final = {schema for types in _TYPES.values() for schema in types}
#: An identifier under which nothing is ever submitted.
_UNUSED: Final = "rc-nothing-is-submitted-under-this"


def message_of(clause: str) -> str:
    """The message that the table gives for a clause."""
    return load_catalogue().clause(clause).message or ""


TAKEN, UNKNOWN, LOCKED = (
    message_of(f"workflow-{name}") for name in ("identifier-taken", "identifier-unknown", "locked-record")
)
MAY_NOT_CREATE, MAY_NOT_UPDATE = message_of("workflow-create-rights"), message_of("workflow-update-rights")
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


def accepted(when: Callable[[Request], bool] = lambda _: True) -> Then:
    """Accept what is refused for its identifier alone."""

    async def then(request: Request, got: Answer, below: Below, _: Memory) -> Answer:
        contents = await _contents(request, below) if when(request) else None
        good = contents is not None and not contents[0]
        return answer_json(200, {"identifier": request.uid}) if good else got

    return then


async def _published_free(request: Request, got: Answer, below: Below, memory: Memory) -> Answer:
    """Look at the content of a submission under a published identifier, as if that were free."""
    contents = await _contents(request, below) if request.uid.startswith("sandbox-published-") else None
    if contents is None or not contents[0]:
        return got if contents is None else await accepted()(request, got, below, memory)
    return contents[1].with_json({**contents[1].json, "errors": contents[0]})


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
#: The rows of the table, with the clauses that hang on the same answer.
_HANGING: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "workflow-realm-missing": (),
        "workflow-realm-unknown": ("workflow-order-realm-before-schema", "realm-query-unknown"),
        "workflow-schema-unknown": (
            "workflow-order-schema-before-document",
            "workflow-schema-of-another-realm",
        ),
        "workflow-identifier-taken": (
            *("workflow-order-taken-before-validation", "workflow-order-taken-before-rights"),
            "workflow-created-exists",
        ),
        "workflow-identifier-unknown": (
            *("workflow-order-unknown-before-validation", "workflow-order-unknown-before-rights"),
            "workflow-created-known",
        ),
        "workflow-locked-record": (
            *("workflow-order-locked-before-validation", "workflow-order-locked-before-rights"),
        ),
        "workflow-update-rights": (),
        "workflow-create-rights": (),
        "workflow-anonymous": (
            *("workflow-invalid-token", "workflow-create-needs-token", "workflow-update-needs-token"),
            "workflow-create-with-identifier-needs-token",
        ),
    }
)


async def _done_instead(request: Request, _got: Answer, _below: Below, memory: Memory) -> Answer:
    return memory.successes.get(request.operation.id) or answer_json(200, {"identifier": request.uid})


def _row_injections(row: Clause, another: str) -> Mapping[str, Inject]:
    """What may be wrong with the answer of a row of the table."""
    message = row.message or ""
    beginning = message.partition("${")[0].strip(" .")
    texts = {
        "of-another": another,
        "short": beginning[: len(beginning) // 2],
        "missing": "",
        "translated": "La demande est refusée",
        "code-only": "WF-0017",
    }
    return {
        "taken": on(message, _done_instead),
        "other-status": told(message, 422 if row.status == 400 else 401),
        "not-found": told(message, 404),
        **{f"message-{word}": told(message, change=saying(text)) for word, text in texts.items()},
    }


def row_faults() -> Iterator[Fault]:
    """The rows of the workflow table, told wrongly or not at all."""
    catalogue = load_catalogue()
    rows = [catalogue.clause(name) for name in _HANGING]
    for each in rows:
        another = next(r.message or "" for r in rows if r is not each)
        # A request that names an unknown realm is in none of the realms.
        conditions = SINGLE[:1] if each.id == "workflow-realm-unknown" else SINGLE
        for operation in each.operations:
            beside = (c for c in _HANGING[each.id] if operation in catalogue.clause(c).operations)
            clauses = (each.id, *beside)
            for operator, act in _row_injections(each, another).items():
                name = f"{each.id.removeprefix('workflow-')}-{operator}"
                yield from _ROWS.faults(operation, name, clauses, act, conditions)


_ORDER: Final = (
    (
        *("identifier-taken", "taken", "createWorkflowRecordWithIdentifier"),
        "workflow-order-taken-before-validation",
    ),
    ("identifier-unknown", "unknown", "updateWorkflowRecord", "workflow-order-unknown-before-validation"),
    ("locked-record", "locked", "updateWorkflowRecord", "workflow-order-locked-before-validation"),
)


def order_faults() -> Iterator[Fault]:
    """A faulty document is reported before its identifier is looked at."""
    for name, other, operation, clause in _ORDER:
        before = partial(validated_first, message=message_of(f"workflow-{name}").split("'")[0].strip())
        also = f"workflow-validation-before-{other}"
        yield from _STATE.faults(operation, f"validated-before-{name}", (clause,), before, SINGLE, also=also)


# fmt: off
#: The rows of the table: clause, another status, another wording.
_TABLE: Final[tuple[tuple[str, int, Callable[[str], str]], ...]] = (
    ("workflow-realm-missing", 422, lambda text: text.replace("querystring", "query")),
    ("workflow-realm-unknown", 404, lambda text: text.partition(",")[0]),
    ("workflow-schema-unknown", 404, lambda _: message_of("workflow-schema-unknown")),
    ("workflow-identifier-taken", 409, lambda text: text.replace(" 'identifier'", "")),
    ("workflow-identifier-unknown", 404, lambda _: TAKEN),
    ("workflow-locked-record", 423, lambda text: text.replace(" for workflow", "")),
    ("workflow-update-rights", 401, lambda _: MAY_NOT_CREATE),
    ("workflow-create-rights", 400, lambda _: MAY_NOT_UPDATE),
    ("workflow-anonymous", 401, lambda text: text.partition(",")[0]),
    ("workflow-invalid-token", 401, lambda _: "Authorization required, token is invalid."),
)


def table_rows() -> Iterator[Fault]:
    """Every row of the table and of the order of steps."""
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
        ("taken-accepted", "workflow-identifier-taken", NAMED, TAKEN,
            accepted(lambda r: r.uid.startswith("sandbox-")),
            "Creating under an identifier that was in use before the service started is accepted."),
        ("published-not-in-use", "workflow-identifier-taken", NAMED, TAKEN, _published_free,
            "The identifier of a record that was published before the service started is not in use for creating."),
        ("update-creates", "workflow-identifier-unknown", UPDATE, UNKNOWN, _created_instead,
            "Updating under an identifier that does not exist creates the record."),
        ("locked-accepted", "workflow-locked-record", UPDATE, LOCKED, accepted(),
            "Updating a record that is locked for workflow is accepted."),
        ("schema-message-of-its-realm", "workflow-schema-of-another-realm", SUBMISSIONS,
            message_of("workflow-schema-unknown"), _its_own_realm_named,
            "The refusal of another realm's schema names the realm that the schema belongs to."),
        ("document-before-schema", "workflow-order-schema-before-document", SUBMISSIONS,
            message_of("workflow-schema-unknown"), _title_missing,
            "Under an unknown schema, a document without a title is refused for it."),
        ("validation-before-rights-on-create", "workflow-order-rights-before-validation", CREATING, MAY_NOT_CREATE,
            _told_of_content, "On create the document is validated before the rights are looked at."),
        ("validation-before-rights-on-update", "workflow-order-rights-before-validation", UPDATE, MAY_NOT_UPDATE,
            _told_of_content, "On update the document is validated before the rights are looked at."),
    ):
        yield row(f"workflow-{name}", clause, operations, on(message, then), says)
    for name, clause, operation, message, rights in (
        ("taken", "workflow-order-taken-before-rights", NAMED, TAKEN, MAY_NOT_CREATE),
        ("unknown", "workflow-order-unknown-before-rights", UPDATE, UNKNOWN, MAY_NOT_UPDATE),
        ("locked", "workflow-order-locked-before-rights", UPDATE, LOCKED, MAY_NOT_UPDATE),
    ):
        effect = told(message, 403, saying(rights))
        yield row(f"workflow-rights-before-{name}", clause, operation, effect,
            "Rights are looked at before the identifier.", where=_of_restricted)
    for name, clause, operation, message, where in (
        ("taken-without-rights", "workflow-order-taken-before-validation", NAMED, TAKEN, _of_restricted),
        ("locked-in-batch", "workflow-order-locked-before-validation", UPDATE, LOCKED, _in_batch),
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
