"""Faults of submissions: the table of the workflow endpoint, the order of its steps, limits, and what is stored."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

from contracts.interface.catalogue import load_catalogue
from contracts.sandbox.faults import effects as do
from contracts.sandbox.faults.conditions import NO_CONDITION, OF_SUBMISSIONS, Range
from contracts.sandbox.faults.contents import each_value
from contracts.sandbox.faults.effects import KIND, MANDATORY, VALUE, Errors, valid_document
from contracts.sandbox.faults.fault import Fault, Rows, Sized
from contracts.sandbox.faults.identifiers import of_length, other_case
from contracts.sandbox.faults.messages import Answer, Inject, Request, answer_json
from contracts.sandbox.faults.places import SUBMISSIONS
from contracts.sandbox.faults.tokens import ANONYMOUS
from contracts.sandbox.validation import REALMS

CREATE, NAMED, UPDATE = SUBMISSIONS
CREATING: Final = (CREATE, NAMED)
_TYPES: Final = {realm.name: tuple(realm.types) for realm in REALMS}
_SCHEMAS: Final = {schema for types in _TYPES.values() for schema in types}
#: An identifier under which nothing is ever submitted.
_UNUSED: Final = "rc-nothing-is-submitted-under-this"
#: Messages of the table.
TAKEN, UNKNOWN, LOCKED, MAY_NOT_CREATE, MAY_NOT_UPDATE, NO_SCHEMA, NO_REALM = (
    load_catalogue().clause(f"workflow-{name}").message or ""
    for name in (
        *("identifier-taken", "identifier-unknown", "locked-record", "create-rights", "update-rights"),
        *("schema-unknown", "realm-unknown"),
    )
)
#: Requests of an account without rights, and under a schema that no realm has.
_OF_RESTRICTED, _NO_SCHEMA = "role~^restricted$", f"-schema~^({'|'.join(_SCHEMAS)})$"
_IN_FIRST_REALM: Final = do.send(lambda r: r.with_header("realm", "abs-dev"))


def _beginning(message: str) -> str:
    """What of a message stands before the realm that it names."""
    return message.partition("${")[0].strip(" .")


def _has_message(got: Answer, message: str) -> bool:
    return got.refusal and _beginning(message) in json.dumps(got.json)


def _has_errors(got: Answer) -> bool:
    return bool(got.errors)


def _has_only(error: dict[str, str], got: Answer) -> bool:
    return got.errors == [error]


def _on(message: str, then: Callable[[Request, Answer], Answer | Awaitable[Answer]]) -> Inject:
    """Do something else where the service refuses with a message of its table."""
    return do.answer(lambda request, got: then(request, got) if _has_message(got, message) else got)


def _told(message: str, status: int | None = None, change: Callable[[str], str] = str) -> Inject:
    """Tell a row of the table with another status, or in other words."""
    text = each_value(
        lambda value: change(value) if isinstance(value, str) and _beginning(message) in value else value
    )
    return _on(message, lambda _, got: replace(got.with_json(text(got.json)), status=status or got.status))


async def _contents(request: Request) -> tuple[Errors, Answer] | None:
    """Which errors the content of a submission has, whatever its identifier; None where it may not be submitted."""
    body = request.body.replace(request.uid.encode(), _UNUSED.encode()) if request.uid else request.body
    params = {"schema": request.params["schema"], "identifier": _UNUSED}
    return await do.looked_at(replace(request.at(NAMED), params=params, body=body))


async def _accepted(request: Request, got: Answer) -> Answer:
    """Accept what is refused for its identifier alone."""
    contents = await _contents(request)
    good = contents is not None and not contents[0]
    return answer_json(200, {"identifier": request.uid}) if good else got


async def _told_of_content(request: Request, got: Answer) -> Answer:
    """Tell of the content first, be it of an account without rights."""

    async def by_author(changed: Request) -> Answer:
        return await replace(changed, service=request.service).as_role("author")

    contents = await _contents(replace(request, service=by_author))
    if contents is None or not contents[0]:
        return got
    return contents[1].with_json({**contents[1].json, "errors": contents[0]})


async def _created_instead(request: Request, got: Answer) -> Answer:
    created = await request.ask(request.at(NAMED))
    return created if created.success else got


def _title_missing(request: Request, got: Answer) -> Answer:
    document, errors = request.member.get("document"), [{"code": MANDATORY, "property": "title"}]
    untitled = isinstance(document, dict) and not isinstance(document.get("title"), dict | str)
    return answer_json(400, {"message": "not valid", "errors": errors}) if untitled else got


def _of_another_realm(request: Request) -> bool:
    schema = request.params["schema"]
    return schema in _SCHEMAS and schema not in _TYPES.get(request.realm, ())


def _first_schema(request: Request) -> Request | None:
    """The request under the first schema of its realm, with a document of that schema."""
    types = _TYPES.get(request.realm, ())
    if not types or not request.role:
        return None
    document = valid_document(request.realm, types[0], request.uid)
    return request.with_json({"document": document}).with_params(schema=types[0])


@do.effect
async def _batch_of(request: Request, limit: int) -> Answer | None:
    """Refuse a record whose batch holds so many already."""
    batch, kept = request.member.get("batchId"), request.memory.kept
    full = [{"code": MANDATORY, "property": "batchId"}] * (kept.get(str(batch), 0) >= limit)
    got = await do.judge(lambda _, errors: errors or full)(request) or await request.ask()
    kept[str(batch)] = kept.get(str(batch), 0) + (got.success and isinstance(batch, str))
    return got


def _refused_with(message: str) -> Inject:
    return do.give(lambda _: answer_json(400, {"message": message}))


def _known_after(noted: Callable[[Answer], bool], message: str) -> Inject:
    """Refuse, with a message of the table, an identifier of which a submission was answered so."""
    return do.barred(lambda r: r.key, noted, answer_json(400, {"message": message}))


async def _both_at_once(request: Request) -> Answer | None:
    kept = request.memory.kept
    under_way, most = kept.get(request.key, (0, 0))
    kept[request.key] = (under_way + 1, max(most, under_way + 1))
    await asyncio.sleep(0.1)
    got = await request.ask()
    under_way, most = kept[request.key]
    kept[request.key] = (under_way - 1, most if under_way > 1 else 0)
    return answer_json(201, {"identifier": request.uid}) if most > 1 and _has_message(got, TAKEN) else got


def _saving(request: Request, content: Any) -> Request:
    """The save of a draft under the identifier of a submission."""
    return request.for_operation("saveDraft", schema=request.params["schema"]).with_json(content)


def _saved_instead(change: Callable[[dict[str, Any]], Any]) -> Inject:
    """Save another draft than the document that was submitted."""
    return do.afterwards(lambda r: [_saving(r, change(r.document))])


async def _draft_kept(request: Request) -> Answer | None:
    before = await request.ask(request.for_operation("getDraft"))
    return await do.afterwards(lambda r: [_saving(r, before.json)] if before.success else [])(request)


async def _saved_though_refused(request: Request, got: Answer) -> Answer:
    document = request.member.get("document")
    if got.errors and request.role and isinstance(document, dict):
        await request.ask(_saving(request, document))
    return got


def _freed_by_deleting(request: Request, got: Answer) -> Answer:
    free = request.uid in request.memory.deleted
    return answer_json(201, {"identifier": request.uid}) if free else got


def _identifier(change: Callable[[str], Any]) -> Inject:
    return do.edit(lambda body: {**body, "identifier": change(body["identifier"])})


def _unnamed(got: Answer) -> Answer:
    return got.with_json({k: v for k, v in got.json.items() if k != "identifier"}) if got.errors else got


def _document(test: Callable[[Any], bool]) -> Inject:
    """Take a submission whose document passes a test."""
    others = ("batchId", "additionalInfo")
    return do.overlook(
        lambda body, error: error["property"] not in others and test(body.get("document", ...))
    )


def _wrong(code: str, member: str, test: Callable[[Any], bool] = lambda _: True) -> Inject:
    """Overlook what is wrong with a member whose value passes a test."""
    return do.overlook(lambda body, error: error == {"code": code, "property": member} and test(body[member]))


def _longer(member: str, longest: int, length: Callable[[str], int] = len) -> Inject:
    """Refuse a member whose text is longer."""
    return do.demand(
        VALUE, member, lambda body: not isinstance(t := body.get(member), str) or length(t) <= longest
    )


def _more_taken(member: str, limit: int, more: int) -> Inject:
    return _wrong(VALUE, member, lambda text: len(text) <= limit + more)


def _fewer_taken(member: str, limit: int, fewer: int) -> Inject:
    return _longer(member, limit - fewer)


def _body_repaired(request: Request) -> Request | None:
    """A body that is no object is taken."""
    good = valid_document(request.realm, request.params.get("schema", ""), request.uid)
    return None if isinstance(request.json, dict) or good is None else request.with_json({"document": good})


# fmt: off
_EACH = Rows("workflow-", "workflow-")
_TABLE = Rows("workflow-", "workflow-", SUBMISSIONS, ways=OF_SUBMISSIONS)
_REALM = Rows("workflow-", "workflow-", SUBMISSIONS, ways=NO_CONDITION)
_LIMIT = Rows("workflow-", "workflow-", SUBMISSIONS)
#: The table, told with another status or in other words; a realm's rows may be about requests of another clause.
_TOLD_OTHERWISE: Final = tuple(
    each
    for name, status, change, where in (
        ("realm-missing", 422, lambda text: text.replace("querystring", "query"), "-realm~."),
        ("realm-unknown", 404, lambda text: text.partition(",")[0], "realm~."),
        ("schema-unknown", 404, lambda _: NO_SCHEMA, None),
        ("identifier-taken", 409, lambda text: text.replace(" 'identifier'", ""), None),
        ("identifier-unknown", 404, lambda _: TAKEN, None),
        ("locked-record", 423, lambda text: text.replace(" for workflow", ""), None),
        ("update-rights", 401, lambda _: MAY_NOT_CREATE, None),
        ("create-rights", 400, lambda _: MAY_NOT_UPDATE, None),
        ("anonymous", 401, lambda text: text.partition(",")[0], ANONYMOUS),
        ("invalid-token", 401, lambda _: "Authorization required, token is invalid.", "authorization~."),
    )
    for message in (load_catalogue().clause(f"workflow-{name}").message or "",)
    for end, effect, says in (
        ("status", _told(message, status), f"with the status {status}"),
        ("message", _told(message, change=change), "in other words"),
    )
    for each in _EACH(f"{name}-{end}-on-*", name, effect, f"* tells of workflow-{name} {says}", where,
        ways=NO_CONDITION if "realm" in name else OF_SUBMISSIONS).each()
)
#: Limits and kinds of what a body holds.
_LIMITS: Final = (
    *(
        each
        for member, name, limit, counted in (
            ("batchId", "batch", 100, "batch-characters"),
            ("additionalInfo", "info", 1000, "info-longest"),
        )
        for each in (
            *_EACH(f"{name}-more-taken-on-*", f"{name}-too-long",
                Sized(partial(_more_taken, member, limit), 1, Range(1, 10_000, 100_000)),
                f"* takes a {member} of up to {{}} characters more than its limit").each(),
            *_EACH(f"{name}-fewer-only-on-*", f"{name}-longest",
                Sized(partial(_fewer_taken, member, limit), 1, Range(1, 20)),
                f"* refuses a {member} of {{}} characters below its limit").each(),
            *_EACH(f"{name}-bytes-counted-on-*", counted,
                _longer(member, limit, lambda text: len(text.encode("utf-8", "replace"))),
                f"* counts the bytes of a {member}").each(),
            _LIMIT(f"{name}-of-any-kind", f"{name}-kind", _wrong(KIND, member), f"A {member} of any kind is accepted"),
            _LIMIT(f"{name}-refused-yet-taken", f"{name}-too-long",
                _known_after(partial(_has_only, {"code": VALUE, "property": member}), TAKEN),
                f"A {member} that is too long is refused, yet the identifier is in use from then on", at=NAMED),
        )
    ),
    *(
        each
        for name, clause, effect, says in (
            ("document-not-validated", "document-validated", _document(lambda d: isinstance(d, dict)),
                "a document of any content"),
            ("document-array", "document-kind", _document(lambda d: isinstance(d, list)),
                "a document that is an array"),
            ("document-not-needed", "document-missing", _document(lambda d: d is ...),
                "a submission without a document"),
            ("body-of-any-kind", "body-kind", do.send(_body_repaired), "a body that is no object"),
        )
        for each in _LIMIT(f"{name}-on-*", clause, effect, f"* accepts {says}", at=SUBMISSIONS).each()
    ),
    *(
        _LIMIT(f"{word}-needs-batch", f"{word}-accepted", do.demand(MANDATORY, "batchId", lambda c: "batchId" in c),
            f"{operation} demands a batchId", at=operation)
        for word, operation in zip(("create", "create-with-identifier", "update"), SUBMISSIONS, strict=True)
    ),
)
#: The submissions table, the order of its steps, limits, and what is stored.
WORKFLOW: Final[tuple[Fault, ...]] = (
    *_TOLD_OTHERWISE,
    *_LIMITS,
    # The table.
    _TABLE("taken-accepted", "identifier-taken", _on(TAKEN, _accepted),
        "Creating under an identifier that was in use before the service started is accepted", "uid~^sandbox-",
        at=NAMED),
    _TABLE("update-creates", "identifier-unknown", _on(UNKNOWN, _created_instead),
        "Updating under an identifier that does not exist creates the record", at=UPDATE),
    _TABLE("locked-accepted", "locked-record", _on(LOCKED, _accepted),
        "Updating a record that is locked for workflow is accepted", at=UPDATE),
    _REALM("realm-not-needed", "realm-missing", _IN_FIRST_REALM, "A submission without a realm goes to abs-dev",
        "-realm~. -Realm~."),
    _REALM("realm-of-any-name", "realm-unknown", _IN_FIRST_REALM,
        "A submission under an unknown realm in the header goes to abs-dev", f"realm~. -realm~^({'|'.join(_TYPES)})$"),
    _TABLE("schema-of-any-name", "schema-unknown", do.send(_first_schema),
        "A schema that no realm knows is taken for the first one of the realm", _NO_SCHEMA),
    _REALM("schema-of-another-realm", "schema-of-another-realm", do.send(_first_schema),
        "The schemas of all realms are configured in every realm", _of_another_realm),
    # The order of the steps.
    *(
        each
        for name, at, message, rights in (
            ("taken", NAMED, TAKEN, MAY_NOT_CREATE),
            ("unknown", UPDATE, UNKNOWN, MAY_NOT_UPDATE),
            ("locked", UPDATE, LOCKED, MAY_NOT_UPDATE),
        )
        for each in (
            _TABLE(f"validation-before-{name}", f"order-{name}-before-validation", _on(message, _told_of_content),
                "A faulty document is reported before its identifier is looked at", at=at),
            _TABLE(f"rights-before-{name}", f"order-{name}-before-rights", _told(message, 403, do.always(rights)),
                "Rights are looked at before the identifier", _OF_RESTRICTED, at=at),
        )
    ),
    *(
        _TABLE(f"validation-before-rights-on-{word}", "order-rights-before-validation", _on(message, _told_of_content),
            f"On {word} the document is validated before the rights are looked at", at=at)
        for word, at, message in (("create", CREATING, MAY_NOT_CREATE), ("update", UPDATE, MAY_NOT_UPDATE))
    ),
    _TABLE("document-before-schema", "order-schema-before-document", _on(NO_SCHEMA, _title_missing),
        "Under an unknown schema, a document without a title is refused for it"),
    _REALM("schema-before-realm", "order-realm-before-schema",
        _told(NO_REALM, change=do.always(NO_SCHEMA.replace("${realm}", "unknown"))),
        "Where both realm and schema are unknown, the refusal is that of the schema", _NO_SCHEMA),
    _TABLE("locked-before-content", "order-validation-before-initiate", _known_after(_has_errors, LOCKED),
        "The workflow begins before the document is validated, so that a refused identifier is locked", at=NAMED),
    _TABLE("save-before-validation", "order-validation-before-save", do.answer(_saved_though_refused),
        "The document of a submission that is refused for its content is saved as a draft", at=NAMED),
    _TABLE("save-before-validation-on-update", "refused-update-keeps-draft", do.answer(_saved_though_refused),
        "The document of an update that is refused for its content is saved as a draft", at=UPDATE),
    # What a submission does.
    _TABLE("draft-not-saved", "draft-saved", do.afterwards(lambda r: [r.for_operation("deleteDraft")]),
        "An accepted submission leaves no draft", at=NAMED),
    _TABLE("draft-without-last-member", "draft-saved", _saved_instead(lambda document: dict([*document.items()][:-1])),
        "The draft of an accepted submission lacks the last member of its document", at=NAMED),
    _TABLE("update-keeps-draft", "update-replaces-draft", _draft_kept,
        "An accepted update leaves the draft of its record as it was", at=UPDATE),
    _TABLE("not-done", ("created-exists", "created-known", "draft-saved", "document-validated", "identifier-once"),
        do.give(lambda r: r.memory.answers.get(NAMED)),
        "A submission is answered as the one before, and nothing is done", at=NAMED),
    _TABLE("create-twice", "created-exists", _on(TAKEN, _accepted),
        "Creating under an identifier again is accepted when it was submitted before", "known~submitted", at=NAMED),
    _TABLE("created-twice-at-once", "identifier-once", _both_at_once,
        "Two creations under one identifier that overlap are both accepted", at=NAMED),
    _TABLE("created-unknown", "created-known", _refused_with(UNKNOWN),
        "Updating a record that was submitted before is refused because it does not exist", "known~submitted",
        at=UPDATE),
    _TABLE("refused-identifier-taken", "refused-frees-identifier", _known_after(_has_errors, TAKEN),
        "An identifier stays in use when its submission was refused for its content", at=NAMED),
    _TABLE("rights-after-save", "rights-refusal-stores-nothing",
        _known_after(lambda got: _has_message(got, MAY_NOT_CREATE), TAKEN),
        "An account that may not create is refused, yet the identifier it named is in use from then on", at=NAMED),
    _LIMIT("batch-of-two", "batch-shared", Sized(_batch_of, 2, Range(1, 2, 60)),
        "A batch takes {} records; a further one is refused", at=CREATING),
    _TABLE("document-empty", "document-empty", _document(lambda d: d == {}),
        "A document without any field is accepted"),
    _TABLE("info-refused", "info-available",
        do.demand(VALUE, "additionalInfo", lambda body: "additionalInfo" not in body),
        "An additionalInfo is refused from every role", at=CREATING),
    # Identifiers.
    _TABLE("same-identifier-for-all", "distinct-identifiers", do.remember(lambda _: CREATE),
        "A submission without an identifier gets the identifier of the first", at=CREATE),
    _TABLE("errors-without-identifier", "errors-with-identifier", do.refusals(_unnamed),
        "A refusal for content holds the errors array and no identifier", at=(NAMED, UPDATE)),
    _TABLE("identifier-empty", "identifier-returned", _identifier(do.always("")),
        "The answer to a submission carries an empty identifier", at=CREATE),
    _TABLE("identifier-in-other-case", "identifier-kept", _identifier(str.swapcase),
        "The answer to a submission carries its identifier in the other letter case", at=NAMED),
    _TABLE("identifier-letter-case-ignored", "identifier-case-sensitive", _refused_with(TAKEN),
        "An identifier is in use when one is that differs only in letter case",
        lambda r: other_case(r, [uid for realm, uid in r.memory.submitted if realm == r.realm]) is not None, at=NAMED),
    *(
        _TABLE(f"identifier-refuses-{word}", "identifier-edges", do.refuse_before(),
            f"An identifier of {length} characters is refused", f"uid~^.{{{length}}}$", at=NAMED)
        for word, length in (("eleven", 11), ("128", 128))
    ),
    *(
        _TABLE(f"identifier-accepts-{word}", f"identifier-{clause}", do.forgive(), f"An identifier may {says}", where,
            at=NAMED)
        for word, clause, where, says in (
            ("ten", "too-short", of_length(10), "have 10 characters"),
            ("129", "too-long", of_length(129), "have 129 characters"),
            ("dot", "characters", f"uid~[.] {of_length(11, 128, '[A-Za-z0-9._-]')}", "hold a dot"),
        )
    ),
    Rows("workflow-", "")("draft-without-header", ("workflow-draft-saved", "draft-header-kept"),
        _saved_instead(lambda document: {k: v for k, v in document.items() if k != "header"}),
        "The draft of an accepted submission lacks its header", at=NAMED),
    Rows("workflow-", "")("deleted-draft-frees-identifier", "draft-delete-keeps-published",
        _on(TAKEN, _freed_by_deleting),
        "Deleting a draft takes the published version along: its identifier is free again", at=NAMED),
)
# fmt: on
