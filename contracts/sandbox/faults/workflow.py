"""Faults of submissions: the table of the workflow endpoint, the order of its steps, limits, and what is stored."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Any, Final

from contracts.interface.catalogue import load_catalogue
from contracts.sandbox.faults import effects as do
from contracts.sandbox.faults.conditions import NO_CONDITION, ONCE
from contracts.sandbox.faults.effects import KIND, MANDATORY, VALUE, Errors
from contracts.sandbox.faults.fault import Fault, row, sized
from contracts.sandbox.faults.identifiers import shaped
from contracts.sandbox.faults.messages import (
    SUBMISSIONS,
    Answer,
    Below,
    Inject,
    Memory,
    Request,
    answer_json,
    as_role,
    kebab,
)
from contracts.sandbox.faults.samples import valid_document
from contracts.sandbox.faults.tokens import anonymous, as_author
from contracts.sandbox.validation import REALMS

CREATE, NAMED, UPDATE = SUBMISSIONS
CREATING: Final = (CREATE, NAMED)
_TYPES: Final = {realm.name: tuple(realm.types) for realm in REALMS}
_SCHEMAS: Final = {schema for types in _TYPES.values() for schema in types}
#: An identifier under which nothing is ever submitted.
_UNUSED: Final = "rc-nothing-is-submitted-under-this"
Then = Callable[[Request, Answer, Below, Memory], Awaitable[Answer]]


def message_of(clause: str) -> str:
    """The message that the table gives for a clause."""
    return load_catalogue().clause(clause).message or ""


TAKEN, UNKNOWN, LOCKED, MAY_NOT_CREATE, MAY_NOT_UPDATE, NO_SCHEMA, NO_REALM = (
    message_of(f"workflow-{name}")
    for name in (
        *("identifier-taken", "identifier-unknown", "locked-record", "create-rights", "update-rights"),
        *("schema-unknown", "realm-unknown"),
    )
)


def _beginning(message: str) -> str:
    """What of a message stands before the realm that it names."""
    return message.partition("${")[0].strip(" .")


def _has_message(got: Answer, message: str) -> bool:
    return got.refusal and _beginning(message) in json.dumps(got.json)


def _texts_changed(value: Any, change: Callable[[str], str]) -> Any:
    """A JSON value with each text in it changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {name: _texts_changed(member, change) for name, member in value.items()}
    return [_texts_changed(item, change) for item in value] if isinstance(value, list) else value


def _on(message: str, then: Then) -> Inject:
    """Do something else where the service refuses with a message of its table."""

    async def effect(request: Request, below: Below, memory: Memory) -> Answer | None:
        got = await below(request)
        return await then(request, got, below, memory) if _has_message(got, message) else got

    return effect


def _told(message: str, status: int | None = None, change: Callable[[str], str] = str) -> Inject:
    """Tell a row of the table with another status, or in other words."""

    async def then(_request: Request, got: Answer, _below: Below, _: Memory) -> Answer:
        beginning = _beginning(message)
        body = _texts_changed(got.json, lambda text: change(text) if beginning in text else text)
        return replace(got.with_json(body), status=status or got.status)

    return _on(message, then)


def _said(text: str) -> Callable[[str], str]:
    """Say this in place of whatever is said."""
    return lambda _: text


async def _contents(request: Request, below: Below) -> tuple[Errors, Answer] | None:
    """Which errors the content of a submission has, whatever its identifier; None where it may not be submitted."""
    body = request.body.replace(request.uid.encode(), _UNUSED.encode()) if request.uid else request.body
    params = {"schema": request.params["schema"], "identifier": _UNUSED}
    return await do.looked_at(replace(request.at(NAMED), params=params, body=body), below)


async def _accepted(request: Request, got: Answer, below: Below, _: Memory) -> Answer:
    """Accept what is refused for its identifier alone."""
    contents = await _contents(request, below)
    good = contents is not None and not contents[0]
    return answer_json(200, {"identifier": request.uid}) if good else got


async def _told_of_content(request: Request, got: Answer, below: Below, memory: Memory) -> Answer:
    """Tell of the content first, be it of an account without rights."""

    async def by_author(changed: Request) -> Answer:
        return await as_role(changed, below, memory, "author")

    contents = await _contents(request, by_author)
    if contents is None or not contents[0]:
        return got
    return contents[1].with_json({**contents[1].json, "errors": contents[0]})


async def _created_instead(request: Request, got: Answer, below: Below, _: Memory) -> Answer:
    created = await below(request.at(NAMED))
    return created if created.success else got


async def _title_missing(request: Request, got: Answer, _below: Below, _: Memory) -> Answer:
    errors = [{"code": MANDATORY, "property": "title"}]
    return answer_json(400, {"message": "not valid", "errors": errors}) if _untitled(request) else got


def _untitled(request: Request) -> bool:
    document = request.member.get("document")
    return isinstance(document, dict) and not isinstance(document.get("title"), dict | str)


def _no_schema(request: Request, _: Memory) -> bool:
    return request.params["schema"] not in _SCHEMAS


def _of_another_realm(request: Request, _: Memory) -> bool:
    schema = request.params["schema"]
    return schema in _SCHEMAS and schema not in _TYPES.get(request.realm, ())


def _first_schema(request: Request) -> Request:
    """The request under the first schema of its realm, with a document of that schema."""
    types = _TYPES.get(request.realm, ())
    if not types or not request.role:
        return request
    document = valid_document(request.realm, types[0], request.uid)
    return request.with_json({"document": document}).with_params(schema=types[0])


def _of_restricted(request: Request, _: Memory) -> bool:
    return request.role == "restricted"


def _in_batch(request: Request, _: Memory) -> bool:
    return "batchId" in request.member


# fmt: off
#: The rows of the table: clause, another status, another wording, and which requests it is about where another clause
#: gives the same message.
_TABLE: Final[tuple[tuple[str, int, Callable[[str], str], Any], ...]] = (
    ("workflow-realm-missing", 422, lambda text: text.replace("querystring", "query"),
        lambda r, _: not r.header("realm")),
    ("workflow-realm-unknown", 404, lambda text: text.partition(",")[0], lambda r, _: bool(r.header("realm"))),
    ("workflow-schema-unknown", 404, lambda _: NO_SCHEMA, None),
    ("workflow-identifier-taken", 409, lambda text: text.replace(" 'identifier'", ""), None),
    ("workflow-identifier-unknown", 404, lambda _: TAKEN, None),
    ("workflow-locked-record", 423, lambda text: text.replace(" for workflow", ""), None),
    ("workflow-update-rights", 401, lambda _: MAY_NOT_CREATE, None),
    ("workflow-create-rights", 400, lambda _: MAY_NOT_UPDATE, None),
    ("workflow-anonymous", 401, lambda text: text.partition(",")[0], anonymous),
    ("workflow-invalid-token", 401, lambda _: "Authorization required, token is invalid.",
        lambda r, _: bool(r.header("authorization"))),
)


def _table() -> Iterator[Fault]:
    catalogue = load_catalogue()
    for clause, status, change, where in _TABLE:
        message = message_of(clause)
        half = _said(_beginning(message)[: len(_beginning(message)) // 2])
        for operation in catalogue.clause(clause).operations:
            for name, effect, says in (
                ("status", _told(message, status), f"with the status {status}"),
                ("message", _told(message, change=change), "in other words"),
                ("message-cut", _told(message, change=half), "with half its message"),
            ):
                yield row(f"{clause}-{name}-on-{kebab(operation)}", clause, operation, effect,
                    f"{operation} tells of {clause} {says}.", where=where,
                    ways=NO_CONDITION if "realm" in clause else ONCE)
    for name, clause, operations, message, then, where, says in (
        ("taken-accepted", "workflow-identifier-taken", NAMED, TAKEN, _accepted,
            lambda r, _: r.uid.startswith("sandbox-"),
            "Creating under an identifier that was in use before the service started is accepted."),
        ("update-creates", "workflow-identifier-unknown", UPDATE, UNKNOWN, _created_instead, None,
            "Updating under an identifier that does not exist creates the record."),
        ("locked-accepted", "workflow-locked-record", UPDATE, LOCKED, _accepted, None,
            "Updating a record that is locked for workflow is accepted."),
    ):
        yield row(f"workflow-{name}", clause, operations, _on(message, then), says, where=where)
    def in_first(request: Request) -> Request:
        return request.with_header("realm", "abs-dev")

    for name, clause, where, sent, says in (
        ("realm-not-needed", "workflow-realm-missing", lambda r, _: not r.realm, in_first,
            "A submission without a realm goes to abs-dev."),
        ("realm-of-any-name", "workflow-realm-unknown",
            lambda r, _: r.header("realm") not in ("", *_TYPES), in_first,
            "A submission under an unknown realm in the header goes to abs-dev."),
        ("schema-of-any-name", "workflow-schema-unknown", _no_schema, _first_schema,
            "A schema that no realm knows is taken for the first one of the realm."),
        ("schema-of-another-realm", "workflow-schema-of-another-realm", _of_another_realm, _first_schema,
            "The schemas of all realms are configured in every realm."),
    ):
        yield row(f"workflow-{name}", clause, SUBMISSIONS, do.send(sent), says, where=where)
    for word, at in (("create", CREATING), ("update", (UPDATE,))):
        yield row(f"workflow-{word}-rights-not-needed-in-batch", f"workflow-{word}-rights", at, as_author,
            f"An account without rights may {word} a record of a batch.",
            where=lambda r, memory: _of_restricted(r, memory) and _in_batch(r, memory))


def _order() -> Iterator[Fault]:
    for name, operation, message, rights in (
        ("taken", NAMED, TAKEN, MAY_NOT_CREATE),
        ("unknown", UPDATE, UNKNOWN, MAY_NOT_UPDATE),
        ("locked", UPDATE, LOCKED, MAY_NOT_UPDATE),
    ):
        yield row(f"workflow-validation-before-{name}", f"workflow-order-{name}-before-validation", operation,
            _on(message, _told_of_content), "A faulty document is reported before its identifier is looked at.")
        yield row(f"workflow-rights-before-{name}", f"workflow-order-{name}-before-rights", operation,
            _told(message, 403, _said(rights)),
            "Rights are looked at before the identifier.", where=_of_restricted)
    for word, operation, message, where in (
        ("taken-without-rights", NAMED, TAKEN, _of_restricted), ("locked-in-batch", UPDATE, LOCKED, _in_batch),
    ):
        yield row(f"workflow-validation-before-{word}", f"workflow-order-{word.partition('-')[0]}-before-validation",
            operation, _on(message, _told_of_content),
            "A faulty document is reported before its identifier is looked at, of some submissions.", where=where)
    for word, at, message in (("create", CREATING, MAY_NOT_CREATE), ("update", (UPDATE,), MAY_NOT_UPDATE)):
        yield row(f"workflow-validation-before-rights-on-{word}", "workflow-order-rights-before-validation", at,
            _on(message, _told_of_content), f"On {word} the document is validated before the rights are looked at.")
    yield row("workflow-document-before-schema", "workflow-order-schema-before-document", SUBMISSIONS,
        _on(NO_SCHEMA, _title_missing), "Under an unknown schema, a document without a title is refused for it.")
    unknown = NO_SCHEMA.replace("${realm}", "unknown")
    for end, where in (("", _no_schema), ("-of-faulty", lambda r, memory: _no_schema(r, memory) and _untitled(r))):
        yield row(f"workflow-schema-before-realm{end}", "workflow-order-realm-before-schema", SUBMISSIONS,
            _told(NO_REALM, change=_said(unknown)),
            "Where both realm and schema are unknown, the refusal is that of the schema.", where=where)
# fmt: on


def _batch_of(limit: int) -> Inject:
    """Refuse a record whose batch holds so many already."""

    async def effect(request: Request, below: Below, memory: Memory) -> Answer | None:
        batch = request.member.get("batchId")
        looked = await do.looked_at(request, below) if isinstance(batch, str) else None
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
        if request.role and request.key in memory.kept:
            return answer_json(400, {"message": message})
        got = await below(request)
        if refused(got):
            memory.kept[request.key] = True
        return got

    return effect


def _errors_in(got: Answer) -> Errors:
    return (got.json.get("errors") or []) if isinstance(got.json, dict) else []


async def _created_twice(request: Request, below: Below, memory: Memory) -> Answer | None:
    got = await below(request)
    if got.success:
        memory.kept[request.key] = True
    elif request.key in memory.kept and _has_message(got, TAKEN):
        return await _accepted(request, got, below, memory)
    return got


async def _submitted_unknown(request: Request, below: Below, memory: Memory) -> Answer | None:
    if request.operation.id == UPDATE:
        return answer_json(400, {"message": UNKNOWN}) if request.role and request.key in memory.kept else None
    got = await below(request)
    memory.kept.update({request.key: True} if got.success else {})
    return got


async def _taken_in_any_case(request: Request, below: Below, memory: Memory) -> Answer | None:
    folded = (request.realm, request.uid.lower())
    if request.role and memory.kept.get(folded, request.uid) != request.uid:
        return answer_json(400, {"message": TAKEN})
    got = await below(request)
    if got.success:
        memory.kept.setdefault(folded, request.uid)
    return got


async def _both_at_once(request: Request, below: Below, memory: Memory) -> Answer | None:
    under_way, most = memory.kept.get(request.key, (0, 0))
    memory.kept[request.key] = (under_way + 1, max(most, under_way + 1))
    await asyncio.sleep(0.1)
    got = await below(request)
    under_way, most = memory.kept[request.key]
    memory.kept[request.key] = (under_way - 1, most if under_way > 1 else 0)
    return answer_json(201, {"identifier": request.uid}) if most > 1 and _has_message(got, TAKEN) else got


def _draft_after(kept: Callable[[Request, Answer], Any], *, refused: bool = False) -> Inject:
    """Leave another draft behind an accepted submission, or behind one that is refused for its content.

    Args:
        kept: Which one, of the request and of the draft before; None for none.
    """

    async def effect(request: Request, below: Below, _: Memory) -> Answer | None:
        before = await below(request.for_operation("getDraft"))
        got = await below(request)
        due = bool(_errors_in(got)) if refused else got.success
        content = kept(request, before) if due and request.role else request
        if content is None:
            await below(request.for_operation("deleteDraft"))
        elif isinstance(content, dict):
            saved = request.for_operation("saveDraft", schema=request.params["schema"])
            await below(saved.with_json(content))
        return got

    return effect


def _document_of(request: Request) -> Any:
    return request.member.get("document")


async def _freed_by_deleting(request: Request, below: Below, memory: Memory) -> Answer | None:
    got = await below(request)
    free = _has_message(got, TAKEN) and request.uid in memory.deleted
    return answer_json(201, {"identifier": request.uid}) if free else got


def _identifier(change: Callable[[str], Any]) -> Inject:
    return do.edit(lambda body: {**body, "identifier": change(body["identifier"])})


def _unnamed(_: Request, got: Answer) -> Answer:
    return got.with_json({k: v for k, v in got.json.items() if k != "identifier"}) if _errors_in(got) else got


def _document(test: Callable[[Any], bool]) -> Inject:
    """Take a submission whose document passes a test."""

    def change(body: dict[str, Any], errors: Errors) -> Errors:
        of_others = [error for error in errors if error["property"] in ("batchId", "additionalInfo")]
        return of_others if test(body.get("document", ...)) else errors

    return do.judge(change)


def _wrong(code: str, member: str, test: Callable[[Any], bool] = lambda _: True) -> Inject:
    """Overlook what is wrong with a member whose value passes a test."""
    return do.overlook(lambda body, error: error == {"code": code, "property": member} and test(body[member]))


def _longer(member: str, longest: int, length: Callable[[str], int] = len) -> Inject:
    """Refuse a member whose text is longer."""
    return do.demand(
        VALUE,
        member,
        lambda body: not isinstance(body.get(member), str) or length(body[member]) <= longest,
    )


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _body_repaired(request: Request) -> Request:
    """A body that is no object is taken."""
    good = valid_document(request.realm, request.params.get("schema", ""), request.uid)
    return (
        request if isinstance(request.json, dict) or good is None else request.with_json({"document": good})
    )


# fmt: off
def _limits_of(member: str, name: str, limit: int, characters: str) -> Iterator[Fault]:
    """The limit of a text: the member, its name in a clause, the limit, and the clause on characters."""
    catalogue, alone = load_catalogue(), {"code": VALUE, "property": member}
    for operation in SUBMISSIONS:
        place = f"on-{kebab(operation)}"
        yield sized(f"workflow-{name}-more-taken-{place}", f"workflow-{name}-too-long", operation,
            lambda n: _wrong(VALUE, member, lambda text: len(text) <= limit + n),
            f"{operation} takes a {member} of up to {{}} characters more than its limit.", (1, 1, 10_000))
        if operation in catalogue.clause(f"workflow-{name}-longest").operations:
            yield sized(f"workflow-{name}-fewer-only-{place}", f"workflow-{name}-longest", operation,
                lambda n: _longer(member, limit - n),
                f"{operation} refuses a {member} of {{}} characters below its limit.", (1, 1, 20))
        if operation in catalogue.clause(characters).operations:
            yield row(f"workflow-{name}-bytes-counted-{place}", characters, operation, _longer(member, limit, _bytes),
                f"{operation} counts the bytes of a {member}.")
    yield row(f"workflow-{name}-not-limited-far-above", f"workflow-{name}-too-long", SUBMISSIONS,
        _wrong(VALUE, member, lambda text: len(text) >= 5 * limit),
        f"A {member} far above its limit is accepted, although one slightly above is refused.")
    yield row(f"workflow-{name}-of-any-kind", f"workflow-{name}-kind", SUBMISSIONS, _wrong(KIND, member),
        f"A {member} of any kind is accepted.")
    yield row(f"workflow-{name}-refused-yet-taken", f"workflow-{name}-too-long", NAMED,
        _known_after(lambda got: _errors_in(got) == [alone], TAKEN),
        f"A {member} that is too long is refused, yet the identifier is in use from then on.")


def _limits() -> Iterator[Fault]:
    yield from _limits_of("batchId", "batch", 100, "workflow-batch-characters")
    yield from _limits_of("additionalInfo", "info", 1000, "workflow-info-longest")
    yield sized("workflow-batch-of-two", "workflow-batch-shared", CREATING, _batch_of,
        "A batch takes {} records; a further one is refused.", (2, 1, 2))
    for operation in SUBMISSIONS:
        for name, clause, effect, says in (
            ("not-validated", "validated", _document(lambda d: isinstance(d, dict)), "a document of any content"),
            ("array", "kind", _document(lambda d: isinstance(d, list)), "a document that is an array"),
            ("string", "kind", _document(lambda d: isinstance(d, str)), "a document that is a string"),
            ("not-needed", "missing", _document(lambda d: d is ...), "a submission without a document"),
        ):
            yield row(f"workflow-document-{name}-on-{kebab(operation)}", f"workflow-document-{clause}", operation,
                effect, f"{operation} accepts {says}.")
        yield row(f"workflow-body-of-any-kind-on-{kebab(operation)}", "workflow-body-kind", operation,
            do.send(_body_repaired), f"{operation} accepts a body that is no object.")
    for word, operation in (("create", CREATE), ("create-with-identifier", NAMED), ("update", UPDATE)):
        yield row(f"workflow-{word}-needs-batch", f"workflow-{word}-accepted", operation,
            do.demand(MANDATORY, "batchId", unless=lambda body: "batchId" in body), f"{operation} demands a batchId.")
        yield row(f"workflow-{word}-refused", f"workflow-{word}-accepted", operation,
            do.judge(lambda _, errors: errors or [{"code": MANDATORY, "property": "title"}]),
            f"{operation} refuses every submission for its title.")


#: The other rows: name, clause, operations, effect, and a sentence.
_ROWS: Final[tuple[tuple[str, str | tuple[str, ...], str | tuple[str, ...], Inject, str], ...]] = (
    ("document-empty", "workflow-document-empty", SUBMISSIONS, _document(lambda d: d == {}),
        "A document without any field is accepted."),
    ("info-refused", "workflow-info-available", CREATING,
        do.demand(VALUE, "additionalInfo", unless=lambda body: "additionalInfo" not in body),
        "An additionalInfo is refused from every role."),
    ("refused-identifier-taken", "workflow-refused-frees-identifier", NAMED,
        _known_after(lambda got: bool(_errors_in(got)), TAKEN),
        "An identifier stays in use when its submission was refused for its content."),
    ("locked-before-content", "workflow-order-validation-before-initiate", NAMED,
        _known_after(lambda got: bool(_errors_in(got)), LOCKED),
        "The workflow begins before the document is validated, so that a refused identifier is locked."),
    ("rights-after-save", "workflow-rights-refusal-stores-nothing", NAMED,
        _known_after(lambda got: _has_message(got, MAY_NOT_CREATE), TAKEN),
        "An account that may not create is refused, yet the identifier it named is in use from then on."),
    ("create-twice", "workflow-created-exists", NAMED, _created_twice,
        "Creating under an identifier again is accepted when it was submitted before."),
    ("created-twice-at-once", "workflow-identifier-once", NAMED, _both_at_once,
        "Two creations under one identifier that overlap are both accepted."),
    ("created-unknown", "workflow-created-known", (NAMED, UPDATE), _submitted_unknown,
        "Updating a record that was submitted before is refused because it does not exist."),
    ("not-done", ("workflow-created-exists", "workflow-created-known", "workflow-draft-saved",
        "workflow-document-validated", "workflow-identifier-once"), NAMED, do.not_done,
        "A submission is answered as the one before, and nothing is done."),
    ("draft-not-saved", "workflow-draft-saved", NAMED, _draft_after(lambda *_: None),
        "An accepted submission leaves no draft."),
    ("update-keeps-draft", "workflow-update-replaces-draft", UPDATE,
        _draft_after(lambda request, before: before.json if before.success else request),
        "An accepted update leaves the draft of its record as it was."),
    ("save-before-validation", "workflow-order-validation-before-save", NAMED,
        _draft_after(lambda request, _: _document_of(request) or request, refused=True),
        "The document of a submission that is refused for its content is saved as a draft."),
    ("save-before-validation-on-update", "workflow-refused-update-keeps-draft", UPDATE,
        _draft_after(lambda request, _: _document_of(request) or request, refused=True),
        "The document of an update that is refused for its content is saved as a draft."),
    ("deleted-draft-frees-identifier", "draft-delete-keeps-published", NAMED, _freed_by_deleting,
        "Deleting a draft takes the published version along: its identifier is free again."),
    ("same-identifier-for-all", "workflow-distinct-identifiers", CREATE,
        do.remember(lambda _: CREATE), "A submission without an identifier gets the identifier of the first."),
    ("errors-without-identifier", "workflow-errors-with-identifier", (NAMED, UPDATE), do.answer(_unnamed),
        "A refusal for content holds the errors array and no identifier."),
    ("identifier-empty", "workflow-identifier-returned", CREATE, _identifier(lambda _: ""),
        "The answer to a submission carries an empty identifier."),
    ("identifier-missing-from-named", "workflow-identifier-kept", (NAMED, UPDATE),
        do.edit(lambda _: {"message": "accepted"}), "The answer to a submission under an identifier does not name it."),
    ("identifier-in-other-case", "workflow-identifier-kept", NAMED, _identifier(str.swapcase),
        "The answer to a submission carries its identifier in the other letter case."),
    ("identifier-of-another-on-update", "workflow-identifier-kept", UPDATE, _identifier(lambda uid: uid[::-1]),
        "The answer to an update names another identifier."),
    ("identifier-letter-case-ignored", "workflow-identifier-case-sensitive", NAMED, _taken_in_any_case,
        "An identifier is in use when one is that differs only in letter case."),
    ("identifier-refuses-eleven", "workflow-identifier-edges", NAMED, do.refuse_before(lambda r: len(r.uid) == 11),
        "An identifier of 11 characters is refused."),
    ("identifier-refuses-128", "workflow-identifier-edges", NAMED, do.refuse_before(lambda r: len(r.uid) == 128),
        "An identifier of 128 characters is refused."),
    ("identifier-accepts-ten", "workflow-identifier-too-short", NAMED, do.forgive(lambda r: shaped(r.uid, 10, 10)),
        "An identifier of 10 characters is accepted."),
    ("identifier-accepts-129", "workflow-identifier-too-long", NAMED, do.forgive(lambda r: shaped(r.uid, 129, 129)),
        "An identifier of 129 characters is accepted."),
    ("identifier-accepts-dot", "workflow-identifier-characters", NAMED,
        do.forgive(lambda r: "." in r.uid and shaped(r.uid.replace(".", "x"))), "An identifier may hold a dot."),
)


def workflow_faults() -> Iterator[Fault]:
    """The workflow endpoint."""
    yield from _table()
    yield from _order()
    yield from _limits()
    for name, clause, operations, effect, says in _ROWS:
        yield row(f"workflow-{name}", clause, operations, effect, says)
# fmt: on
