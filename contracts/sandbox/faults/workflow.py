"""Faults of submissions: the table of the workflow endpoint, the order of its steps, limits, and what is stored."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any, Final

from contracts.interface.catalogue import load_catalogue
from contracts.sandbox.faults import effects as do
from contracts.sandbox.faults.conditions import NO_CONDITION, ONCE
from contracts.sandbox.faults.effects import KIND, MANDATORY, VALUE, Errors
from contracts.sandbox.faults.fault import Fault, Sized, row
from contracts.sandbox.faults.identifiers import other_case, shaped
from contracts.sandbox.faults.messages import SUBMISSIONS, Answer, Inject, Request, Where, answer_json, kebab
from contracts.sandbox.faults.samples import valid_document
from contracts.sandbox.faults.tokens import ANONYMOUS, as_author
from contracts.sandbox.validation import REALMS

CREATE, NAMED, UPDATE = SUBMISSIONS
CREATING: Final = (CREATE, NAMED)
_TYPES: Final = {realm.name: tuple(realm.types) for realm in REALMS}
_SCHEMAS: Final = {schema for types in _TYPES.values() for schema in types}
#: An identifier under which nothing is ever submitted.
_UNUSED: Final = "rc-nothing-is-submitted-under-this"
Then = Callable[[Request, Answer], Awaitable[Answer]]


def _message_of(clause: str) -> str:
    """The message that the table gives for a clause."""
    return load_catalogue().clause(clause).message or ""


TAKEN, UNKNOWN, LOCKED, MAY_NOT_CREATE, MAY_NOT_UPDATE, NO_SCHEMA, NO_REALM = (
    _message_of(f"workflow-{name}")
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


def _has_errors(got: Answer) -> bool:
    return bool(got.errors)


def _on(message: str, then: Then) -> Inject:
    """Do something else where the service refuses with a message of its table."""

    async def effect(request: Request) -> Answer | None:
        got = await request.ask()
        return await then(request, got) if _has_message(got, message) else got

    return effect


def _told(message: str, status: int | None = None, change: Callable[[str], str] = str) -> Inject:
    """Tell a row of the table with another status, or in other words."""
    beginning = _beginning(message)

    def changed(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: changed(member) for name, member in value.items()}
        if isinstance(value, list):
            return list(map(changed, value))
        return change(value) if isinstance(value, str) and beginning in value else value

    return do.answer(
        lambda _, got: (
            replace(got.with_json(changed(got.json)), status=status or got.status)
            if _has_message(got, message)
            else got
        )
    )


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


async def _title_missing(request: Request, got: Answer) -> Answer:
    errors = [{"code": MANDATORY, "property": "title"}]
    return answer_json(400, {"message": "not valid", "errors": errors}) if _untitled(request) else got


def _untitled(request: Request) -> bool:
    document = request.member.get("document")
    return isinstance(document, dict) and not isinstance(document.get("title"), dict | str)


def _no_schema(request: Request) -> bool:
    return request.params["schema"] not in _SCHEMAS


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


def _in_first_realm(request: Request) -> Request:
    return request.with_header("realm", "abs-dev")


def _of_restricted(request: Request) -> bool:
    return request.role == "restricted"


def _in_batch(request: Request) -> bool:
    return "batchId" in request.member


# fmt: off
#: The rows of the table: clause, another status, another wording, and which requests it is about where another clause
#: gives the same message.
_TABLE: Final[tuple[tuple[str, int, Callable[[str], str], Any], ...]] = (
    ("workflow-realm-missing", 422, lambda text: text.replace("querystring", "query"), lambda r: not r.header("realm")),
    ("workflow-realm-unknown", 404, lambda text: text.partition(",")[0], lambda r: bool(r.header("realm"))),
    ("workflow-schema-unknown", 404, lambda _: NO_SCHEMA, None),
    ("workflow-identifier-taken", 409, lambda text: text.replace(" 'identifier'", ""), None),
    ("workflow-identifier-unknown", 404, lambda _: TAKEN, None),
    ("workflow-locked-record", 423, lambda text: text.replace(" for workflow", ""), None),
    ("workflow-update-rights", 401, lambda _: MAY_NOT_CREATE, None),
    ("workflow-create-rights", 400, lambda _: MAY_NOT_UPDATE, None),
    ("workflow-anonymous", 401, lambda text: text.partition(",")[0], ANONYMOUS),
    ("workflow-invalid-token", 401, lambda _: "Authorization required, token is invalid.",
        lambda r: bool(r.header("authorization"))),
)


def _table() -> Iterator[Fault]:
    catalogue = load_catalogue()
    for clause, status, change, where in _TABLE:
        message = _message_of(clause)
        half = _beginning(message)[: len(_beginning(message)) // 2]
        for operation, (name, effect, says) in product(catalogue.clause(clause).operations, (
            ("status", _told(message, status), f"with the status {status}"),
            ("message", _told(message, change=change), "in other words"),
            ("message-cut", _told(message, change=do.always(half)), "with half its message"),
        )):
            yield row(f"{clause}-{name}-on-{kebab(operation)}", clause, operation, effect,
                f"{operation} tells of {clause} {says}.", where=where, ways=NO_CONDITION if "realm" in clause else ONCE)
    for name, clause, operations, effect, where, says in (
        ("taken-accepted", "identifier-taken", NAMED, _on(TAKEN, _accepted), lambda r: r.uid.startswith("sandbox-"),
            "Creating under an identifier that was in use before the service started is accepted"),
        ("update-creates", "identifier-unknown", UPDATE, _on(UNKNOWN, _created_instead), None,
            "Updating under an identifier that does not exist creates the record"),
        ("locked-accepted", "locked-record", UPDATE, _on(LOCKED, _accepted), None,
            "Updating a record that is locked for workflow is accepted"),
        ("realm-not-needed", "realm-missing", SUBMISSIONS, do.send(_in_first_realm), lambda r: not r.realm,
            "A submission without a realm goes to abs-dev"),
        ("realm-of-any-name", "realm-unknown", SUBMISSIONS, do.send(_in_first_realm),
            lambda r: r.header("realm") not in ("", *_TYPES),
            "A submission under an unknown realm in the header goes to abs-dev"),
        ("schema-of-any-name", "schema-unknown", SUBMISSIONS, do.send(_first_schema), _no_schema,
            "A schema that no realm knows is taken for the first one of the realm"),
        ("schema-of-another-realm", "schema-of-another-realm", SUBMISSIONS, do.send(_first_schema), _of_another_realm,
            "The schemas of all realms are configured in every realm"),
        *(
            (f"{word}-rights-not-needed-in-batch", f"{word}-rights", at, as_author,
                lambda r: _of_restricted(r) and _in_batch(r),
                f"An account without rights may {word} a record of a batch")
            for word, at in (("create", CREATING), ("update", (UPDATE,)))
        ),
    ):
        yield row(f"workflow-{name}", f"workflow-{clause}", operations, effect, f"{says}.", where=where)


def _order() -> Iterator[Fault]:
    first = "A faulty document is reported before its identifier is looked at"
    unknown_schema = _told(NO_REALM, change=do.always(NO_SCHEMA.replace("${realm}", "unknown")))
    for name, clause, operations, effect, where, says in (
        *(
            (f"{what}-before-{name}", f"{name}-before-{what}", at, effect, where, says)
            for name, at, message, rights in (
                ("taken", NAMED, TAKEN, MAY_NOT_CREATE),
                ("unknown", UPDATE, UNKNOWN, MAY_NOT_UPDATE),
                ("locked", UPDATE, LOCKED, MAY_NOT_UPDATE),
            )
            for what, effect, where, says in (
                ("validation", _on(message, _told_of_content), None, first),
                ("rights", _told(message, 403, do.always(rights)), _of_restricted,
                    "Rights are looked at before the identifier"),
            )
        ),
        ("validation-before-locked-in-batch", "locked-before-validation", UPDATE, _on(LOCKED, _told_of_content),
            _in_batch, f"{first}, in a batch"),
        ("validation-before-rights-on-create", "rights-before-validation", CREATING,
            _on(MAY_NOT_CREATE, _told_of_content), None,
            "On create the document is validated before the rights are looked at"),
        ("validation-before-rights-on-update", "rights-before-validation", UPDATE,
            _on(MAY_NOT_UPDATE, _told_of_content), None,
            "On update the document is validated before the rights are looked at"),
        ("document-before-schema", "schema-before-document", SUBMISSIONS, _on(NO_SCHEMA, _title_missing), None,
            "Under an unknown schema, a document without a title is refused for it"),
        ("schema-before-realm", "realm-before-schema", SUBMISSIONS, unknown_schema, _no_schema,
            "Where both realm and schema are unknown, the refusal is that of the schema"),
    ):
        yield row(f"workflow-{name}", f"workflow-order-{clause}", operations, effect, f"{says}.", where=where)
# fmt: on


def _batch_of(limit: int) -> Inject:
    """Refuse a record whose batch holds so many already."""

    async def effect(request: Request) -> Answer | None:
        batch, kept = request.member.get("batchId"), request.memory.kept
        looked = await do.looked_at(request) if isinstance(batch, str) else None
        if looked is None or looked[0]:
            return None
        if kept.get(batch, 0) >= limit:
            return looked[1].with_json(
                {**looked[1].json, "errors": [{"code": MANDATORY, "property": "batchId"}]}
            )
        got = await request.ask()
        kept[batch] = kept.get(batch, 0) + got.success
        return got

    return effect


def _refused_with(message: str) -> Inject:
    return do.give(lambda _: answer_json(400, {"message": message}))


def _submitted(request: Request) -> bool:
    """Whether the identifier was submitted before."""
    return request.key in request.memory.submitted


def _known_after(noted: Callable[[Answer], bool], message: str) -> Inject:
    """Refuse, with a message of the table, an identifier of which a submission was answered so."""

    async def effect(request: Request) -> Answer | None:
        kept = request.memory.kept
        if request.role and request.key in kept:
            return answer_json(400, {"message": message})
        got = await request.ask()
        kept.update({request.key: True} if noted(got) else {})
        return got

    return effect


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
    return request.for_operation("saveDraft", schema=request.params["schema"]).with_json(content)


async def _draft_kept(request: Request) -> Answer | None:
    before = await request.ask(request.for_operation("getDraft"))
    got = await request.ask()
    if before.success and got.success:
        await request.ask(_saving(request, before.json))
    return got


async def _saved_though_refused(request: Request) -> Answer | None:
    got, document = await request.ask(), request.member.get("document")
    if got.errors and request.role and isinstance(document, dict):
        await request.ask(_saving(request, document))
    return got


def _freed_by_deleting(request: Request, got: Answer) -> Answer:
    free = _has_message(got, TAKEN) and request.uid in request.memory.deleted
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


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _body_repaired(request: Request) -> Request | None:
    """A body that is no object is taken."""
    good = valid_document(request.realm, request.params.get("schema", ""), request.uid)
    return None if isinstance(request.json, dict) or good is None else request.with_json({"document": good})


# fmt: off
def _limits_of(member: str, name: str, limit: int, characters: str) -> Iterator[Fault]:
    """The limit of a text: the member, its name in a clause, the limit, and the clause on characters."""
    too_long, longest = f"workflow-{name}-too-long", f"workflow-{name}-longest"
    for clause, end, effect, says in (
        (too_long, "more-taken", Sized(lambda n: _wrong(VALUE, member, lambda t: len(t) <= limit + n), 1, 1, 10_000),
            "takes a {} of up to {{}} characters more than its limit"),
        (longest, "fewer-only", Sized(lambda n: _longer(member, limit - n), 1, 1, 20),
            "refuses a {} of {{}} characters below its limit"),
        (characters, "bytes-counted", _longer(member, limit, _bytes), "counts the bytes of a {}"),
    ):
        for operation in load_catalogue().clause(clause).operations:
            yield row(f"workflow-{name}-{end}-on-{kebab(operation)}", clause, operation, effect,
                f"{operation} {says.format(member)}.")
    yield row(f"workflow-{name}-not-limited-far-above", too_long, SUBMISSIONS,
        _wrong(VALUE, member, lambda text: len(text) >= 5 * limit),
        f"A {member} far above its limit is accepted, although one slightly above is refused.")
    yield row(f"workflow-{name}-of-any-kind", f"workflow-{name}-kind", SUBMISSIONS, _wrong(KIND, member),
        f"A {member} of any kind is accepted.")
    yield row(f"workflow-{name}-refused-yet-taken", too_long, NAMED,
        _known_after(lambda got: got.errors == [{"code": VALUE, "property": member}], TAKEN),
        f"A {member} that is too long is refused, yet the identifier is in use from then on.")


def _limits() -> Iterator[Fault]:
    yield from _limits_of("batchId", "batch", 100, "workflow-batch-characters")
    yield from _limits_of("additionalInfo", "info", 1000, "workflow-info-longest")
    yield row("workflow-batch-of-two", "workflow-batch-shared", CREATING, Sized(_batch_of, 2, 1, 2),
        "A batch takes {} records; a further one is refused.")
    for operation, (name, clause, effect, says) in product(SUBMISSIONS, (
        ("document-not-validated", "document-validated", _document(lambda d: isinstance(d, dict)),
            "a document of any content"),
        ("document-array", "document-kind", _document(lambda d: isinstance(d, list)), "a document that is an array"),
        ("document-string", "document-kind", _document(lambda d: isinstance(d, str)), "a document that is a string"),
        ("document-not-needed", "document-missing", _document(lambda d: d is ...), "a submission without a document"),
        ("body-of-any-kind", "body-kind", do.send(_body_repaired), "a body that is no object"),
    )):
        yield row(f"workflow-{name}-on-{kebab(operation)}", f"workflow-{clause}", operation, effect,
            f"{operation} accepts {says}.")
    for word, operation in zip(("create", "create-with-identifier", "update"), SUBMISSIONS, strict=True):
        yield row(f"workflow-{word}-needs-batch", f"workflow-{word}-accepted", operation,
            do.demand(MANDATORY, "batchId", lambda body: "batchId" in body), f"{operation} demands a batchId.")
        yield row(f"workflow-{word}-refused", f"workflow-{word}-accepted", operation,
            do.judge(lambda _, errors: errors or [{"code": MANDATORY, "property": "title"}]),
            f"{operation} refuses every submission for its title.")


#: The other rows: name, clause, operations, effect, which requests, and a sentence.
_ROWS: Final[tuple[tuple[str, str | tuple[str, ...], str | tuple[str, ...], Inject, Where | None, str], ...]] = (
    ("document-empty", "workflow-document-empty", SUBMISSIONS, _document(lambda d: d == {}), None,
        "A document without any field is accepted"),
    ("info-refused", "workflow-info-available", CREATING, do.demand(VALUE, "additionalInfo",
        lambda body: "additionalInfo" not in body), None, "An additionalInfo is refused from every role"),
    ("refused-identifier-taken", "workflow-refused-frees-identifier", NAMED, _known_after(_has_errors, TAKEN), None,
        "An identifier stays in use when its submission was refused for its content"),
    ("locked-before-content", "workflow-order-validation-before-initiate", NAMED, _known_after(_has_errors, LOCKED),
        None, "The workflow begins before the document is validated, so that a refused identifier is locked"),
    ("rights-after-save", "workflow-rights-refusal-stores-nothing", NAMED,
        _known_after(lambda got: _has_message(got, MAY_NOT_CREATE), TAKEN), None,
        "An account that may not create is refused, yet the identifier it named is in use from then on"),
    ("create-twice", "workflow-created-exists", NAMED, _on(TAKEN, _accepted), _submitted,
        "Creating under an identifier again is accepted when it was submitted before"),
    ("created-twice-at-once", "workflow-identifier-once", NAMED, _both_at_once, None,
        "Two creations under one identifier that overlap are both accepted"),
    ("created-unknown", "workflow-created-known", UPDATE, _refused_with(UNKNOWN), _submitted,
        "Updating a record that was submitted before is refused because it does not exist"),
    ("not-done", ("workflow-created-exists", "workflow-created-known", "workflow-draft-saved",
        "workflow-document-validated", "workflow-identifier-once"), NAMED,
        do.give(lambda r: r.memory.successes.get(NAMED)), None,
        "A submission is answered as the one before, and nothing is done"),
    ("draft-not-saved", "workflow-draft-saved", NAMED, do.afterwards(lambda r: [r.for_operation("deleteDraft")]), None,
        "An accepted submission leaves no draft"),
    ("update-keeps-draft", "workflow-update-replaces-draft", UPDATE, _draft_kept, None,
        "An accepted update leaves the draft of its record as it was"),
    ("save-before-validation", "workflow-order-validation-before-save", NAMED, _saved_though_refused, None,
        "The document of a submission that is refused for its content is saved as a draft"),
    ("save-before-validation-on-update", "workflow-refused-update-keeps-draft", UPDATE, _saved_though_refused, None,
        "The document of an update that is refused for its content is saved as a draft"),
    ("deleted-draft-frees-identifier", "draft-delete-keeps-published", NAMED, do.answer(_freed_by_deleting), None,
        "Deleting a draft takes the published version along: its identifier is free again"),
    ("same-identifier-for-all", "workflow-distinct-identifiers", CREATE, do.remember(lambda _: CREATE), None,
        "A submission without an identifier gets the identifier of the first"),
    ("errors-without-identifier", "workflow-errors-with-identifier", (NAMED, UPDATE), do.refusals(_unnamed), None,
        "A refusal for content holds the errors array and no identifier"),
    ("identifier-empty", "workflow-identifier-returned", CREATE, _identifier(lambda _: ""), None,
        "The answer to a submission carries an empty identifier"),
    ("identifier-in-other-case", "workflow-identifier-kept", NAMED, _identifier(str.swapcase), None,
        "The answer to a submission carries its identifier in the other letter case"),
    ("identifier-of-another-on-update", "workflow-identifier-kept", UPDATE, _identifier(lambda uid: uid[::-1]), None,
        "The answer to an update names another identifier"),
    ("identifier-letter-case-ignored", "workflow-identifier-case-sensitive", NAMED, _refused_with(TAKEN),
        lambda r: other_case(r, [uid for realm, uid in r.memory.submitted if realm == r.realm]) is not None,
        "An identifier is in use when one is that differs only in letter case"),
    ("identifier-refuses-eleven", "workflow-identifier-edges", NAMED, do.refuse_before(), lambda r: len(r.uid) == 11,
        "An identifier of 11 characters is refused"),
    ("identifier-refuses-128", "workflow-identifier-edges", NAMED, do.refuse_before(), lambda r: len(r.uid) == 128,
        "An identifier of 128 characters is refused"),
    ("identifier-accepts-ten", "workflow-identifier-too-short", NAMED, do.forgive(), lambda r: shaped(r.uid, 10, 10),
        "An identifier of 10 characters is accepted"),
    ("identifier-accepts-129", "workflow-identifier-too-long", NAMED, do.forgive(), lambda r: shaped(r.uid, 129, 129),
        "An identifier of 129 characters is accepted"),
    ("identifier-accepts-dot", "workflow-identifier-characters", NAMED, do.forgive(),
        lambda r: "." in r.uid and shaped(r.uid.replace(".", "x")), "An identifier may hold a dot"),
)


def workflow_faults() -> Iterator[Fault]:
    """The workflow endpoint."""
    yield from _table()
    yield from _order()
    yield from _limits()
    for name, clause, operations, effect, where, says in _ROWS:
        yield row(f"workflow-{name}", clause, operations, effect, f"{says}.", where=where)
# fmt: on
