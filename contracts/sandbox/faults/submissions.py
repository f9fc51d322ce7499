"""Faults of submissions: contents that are not looked at, limits, and what a submission changes, leaves or forgets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
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
    kebab,
    row,
)
from contracts.sandbox.faults.samples import valid_document
from contracts.sandbox.faults.storage import refused_but_done
from contracts.sandbox.faults.table import (
    CREATE,
    CREATING,
    LOCKED,
    MAY_NOT_CREATE,
    NAMED,
    TAKEN,
    UNKNOWN,
    UPDATE,
    accepted,
    has_message,
)
from contracts.sandbox.faults.uid import shaped

_STATE: Final = Family("state")
_LIMITS: Final = Family("limits")


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
    elif key in memory.kept and has_message(got, TAKEN):
        return await accepted()(request, got, below, memory)
    return got


async def _submitted_unknown(request: Request, below: Below, memory: Memory) -> Answer | None:
    """Updating a record that was submitted before is refused because it does not exist."""
    key = (request.realm, request.uid)
    if request.operation.id == UPDATE:
        return answer_json(400, {"message": UNKNOWN}) if request.role and key in memory.kept else None
    got = await below(request)
    memory.kept.update({key: True} if got.success else {})
    return got


async def _taken_in_any_case(request: Request, below: Below, memory: Memory) -> Answer | None:
    """An identifier is in use when one is that differs only in letter case."""
    folded = (request.realm, request.uid.lower())
    if request.role and memory.kept.get(folded, request.uid) != request.uid:
        return answer_json(400, {"message": TAKEN})
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
    return answer_json(201, {"identifier": request.uid}) if most > 1 and has_message(got, TAKEN) else got


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


def _document(test: Callable[[Any], bool]) -> Inject:
    """Take a submission whose document passes a test."""

    def change(body: dict[str, Any], errors: Errors) -> Errors:
        of_others = [error for error in errors if error["property"] in ("batchId", "additionalInfo")]
        return of_others if test(body.get("document", ...)) else errors

    return judge(change)


def _wrong(code: str, member: str, test: Callable[[Any], bool] = lambda _: True) -> Inject:
    """Overlook what is wrong with a member whose value passes a test."""
    return overlook(lambda body, error: error == {"code": code, "property": member} and test(body[member]))


def _longer(least: int) -> Callable[[str], bool]:
    return lambda text: len(text) >= least


def _begins(first: bytes) -> Callable[[Request], bool]:
    return lambda request: request.body.strip()[:1] == first


def _within(
    member: str, longest: int, length: Callable[[str], int] = len
) -> Callable[[dict[str, Any]], bool]:
    return lambda body: not isinstance(body.get(member), str) or length(body[member]) <= longest


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _at_most(longest: int) -> Callable[[str], bool]:
    return lambda text: len(text) <= longest


def _body_repaired(request: Request) -> Request:
    """A body that is no object is taken."""
    good = valid_document(request.realm, request.params.get("schema", ""), request.uid)
    return (
        request if isinstance(request.json, dict) or good is None else request.with_json({"document": good})
    )


def limit_faults() -> Iterator[Fault]:
    """Texts within their limit that are refused and beyond it taken, and contents that are not looked at."""
    catalogue = load_catalogue()
    for operation in SUBMISSIONS:
        for member, limit, above, at, characters in (
            *(
                (
                    "batchId",
                    100,
                    "workflow-batch-too-long",
                    "workflow-batch-longest",
                    "workflow-batch-characters",
                ),
            ),
            *(
                (
                    "additionalInfo",
                    1000,
                    "workflow-info-too-long",
                    "workflow-info-longest",
                    "workflow-info-longest",
                ),
            ),
        ):
            for more in (1, 10, 100, 10**6):
                taken = _wrong(VALUE, member, _at_most(limit + more))
                yield from _LIMITS.faults(operation, f"{kebab(member)}-{more}-more-taken", (above,), taken)
            for name, clause, within in (
                ("1-fewer-only", at, _within(member, limit - 1)),
                ("20-fewer-only", at, _within(member, limit - 20)),
                ("bytes-counted", characters, _within(member, limit, _bytes)),
            ):
                if operation in catalogue.clause(clause).operations:
                    refused = demand(VALUE, member, unless=within)
                    yield from _LIMITS.faults(operation, f"{kebab(member)}-{name}", (clause,), refused)
        for operator, clause, act in (
            (
                "content-not-validated",
                "workflow-document-validated",
                _document(lambda d: isinstance(d, dict)),
            ),
            (
                "document-of-any-kind",
                "workflow-document-kind",
                _document(lambda d: not isinstance(d, dict) and d is not ...),
            ),
            ("document-not-needed", "workflow-document-missing", _document(lambda d: d is ...)),
            ("body-of-any-kind", "workflow-body-kind", send(_body_repaired)),
        ):
            yield from _LIMITS.faults(operation, operator, (clause,), act, SINGLE)


async def refused_document_saved(request: Request, below: Below, _: Memory) -> Answer | None:
    """The document of a submission that is refused for its content is saved as a draft."""
    answer = await below(request)
    body = request.json
    received = answer.json
    if (
        request.role
        and isinstance(received, dict)
        and "errors" in json.dumps(received)
        and isinstance(body, dict)
    ):
        document = json.dumps(body.get("document")).encode()
        schema = request.params.get("schema", "")
        await below(request.for_operation("saveDraft", request.uid, document, schema=schema))
    return answer


async def same_answer_again(request: Request, below: Below, memory: Memory) -> Answer | None:
    """A submission without an identifier gets the identifier of the one before."""
    before = memory.successes.get("createWorkflowRecord")
    answer = await below(request)
    return before if before is not None and answer.success else answer


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


# fmt: off
#: What a submission changes although it is refused or something was removed, or does not tell apart.
_EFFECTS: Final[tuple[tuple[str, str, str, Inject, tuple[str, ...], str], ...]] = (
    (*(NAMED, "draft-saved-although-refused", "workflow-order-validation-before-save"), refused_document_saved,
        SINGLE, "workflow-save-before-validation"),
    (*(UPDATE, "draft-changed-although-refused", "workflow-refused-update-keeps-draft"), refused_document_saved,
        SINGLE, "workflow-save-before-validation-on-update"),
    (*(NAMED, "without-rights-saved", "workflow-rights-refusal-stores-nothing"), without_rights_saved, SINGLE, ""),
    (*(NAMED, "refused-but-done", "workflow-create-with-identifier-needs-token"), refused_but_done, SINGLE, ""),
    (*(NAMED, "published-deleted-too", "draft-delete-keeps-published"), freed_by_deleting, SINGLE,
        "draft-delete-takes-published"),
    (CREATE, "same-identifier-again", "workflow-distinct-identifiers", same_answer_again,
        ("always", "from-second-time"), "workflow-same-identifier-for-all"),
)


def effect_faults() -> Iterator[Fault]:
    """What a submission changes although it is refused or something was removed, or does not tell apart."""
    for operation, operator, clause, act, conditions, also in _EFFECTS:
        yield from _STATE.faults(operation, operator, (clause,), act, conditions, also=also)



_ROWS: Final[tuple[tuple[str, str, str | tuple[str, ...], Inject, str], ...]] = (
    ("document-array", "workflow-document-kind", SUBMISSIONS, _document(lambda d: isinstance(d, list)),
        "A document that is an array is accepted."),
    ("document-string", "workflow-document-kind", CREATING, _document(lambda d: isinstance(d, str)),
        "A document that is a string is accepted."),
    ("document-empty", "workflow-document-empty", SUBMISSIONS, _document(lambda d: d == {}),
        "A document without any field is accepted."),
    ("document-not-validated-on-update", "workflow-document-validated", UPDATE,
        _document(lambda d: isinstance(d, dict)), "A document of any content is accepted on update."),
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
    ("batch-not-limited-far-above", "workflow-batch-too-long", SUBMISSIONS, _wrong(VALUE, "batchId", _longer(1000)),
        "A batchId of 1000 or more characters is accepted, although one of 101 is refused."),
    ("info-not-limited-far-above", "workflow-info-too-long", SUBMISSIONS,
        _wrong(VALUE, "additionalInfo", _longer(5000)),
        "An additionalInfo of 5000 or more characters is accepted, although one of 1001 is refused."),
    ("batch-of-any-kind", "workflow-batch-kind", SUBMISSIONS, _wrong(KIND, "batchId"),
        "A batchId of any kind is accepted."),
    ("info-of-any-kind", "workflow-info-kind", SUBMISSIONS, _wrong(KIND, "additionalInfo"),
        "An additionalInfo of any kind is accepted."),
    ("info-refused", "workflow-info-available", CREATING,
        demand(VALUE, "additionalInfo", unless=lambda body: "additionalInfo" not in body),
        "An additionalInfo is refused from every role."),
    ("batch-used-once", "workflow-batch-shared", CREATING, _batch_of(1),
        "A batchId that an earlier submission carried is refused."),
    ("batch-of-two", "workflow-batch-shared", CREATING, _batch_of(2),
        "A batch takes two records; a third one is refused."),
    ("batch-refused-yet-taken", "workflow-batch-too-long", NAMED, _known_after(_for_member("batchId"), TAKEN),
        "A batchId that is too long is refused, yet the identifier is in use from then on."),
    ("info-refused-yet-taken", "workflow-info-too-long", NAMED, _known_after(_for_member("additionalInfo"), TAKEN),
        "An additionalInfo that is too long is refused, yet the identifier is in use from then on."),
    ("refused-identifier-taken", "workflow-refused-frees-identifier", NAMED,
        _known_after(lambda got: bool(_errors_in(got)), TAKEN),
        "An identifier stays in use when its submission was refused for its content."),
    ("locked-before-content", "workflow-order-validation-before-initiate", NAMED,
        _known_after(lambda got: bool(_errors_in(got)), LOCKED),
        "The workflow begins before the document is validated, so that a refused identifier is locked."),
    ("rights-after-save", "workflow-rights-refusal-stores-nothing", NAMED,
        _known_after(lambda got: has_message(got, MAY_NOT_CREATE), TAKEN),
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
        _document(lambda d: isinstance(d, dict)), "A document of any content is accepted.", "in-ort-dev")
