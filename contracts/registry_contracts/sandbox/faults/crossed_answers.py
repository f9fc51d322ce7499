"""Crossed faults of answers: wrong refusals, broken or wrong answers, and accepted requests that must be refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from registry_contracts.interface.catalogue import load_catalogue
from registry_contracts.sandbox.faults import effects as do
from registry_contracts.sandbox.faults import held
from registry_contracts.sandbox.faults.conditions import OPERATIONS
from registry_contracts.sandbox.faults.effects import Clauses, Effect, Record, Rule, Side, Values, row
from registry_contracts.sandbox.faults.lists import like, of_other_documents
from registry_contracts.sandbox.faults.messages import (
    MISSING,
    Answer,
    Inject,
    Request,
    answer_json,
    rewritten,
)
from registry_contracts.sandbox.faults.places import CONTACTS, DRAFTS, FILES, NAMED_SUBMISSIONS, SUBMISSIONS
from registry_contracts.sandbox.faults.protocol import ACCEPTANCE, with_those_of_others
from registry_contracts.sandbox.faults.workflow import message_of, under_first_schema

_SAVE, _GET, _EXISTS, _DELETE, _INFO = DRAFTS
_CREATE_FILE, _PERSIST, _LIST_FILES, _FILE_EXISTS, _, _PREVIEW = FILES
_CREATE, _NAMED, _UPDATE = SUBMISSIONS
_LIST: Final = "listDrafts"
_NO_ROWS: Final[held.Rows] = {"versions": [], "locks": [], "attachments": []}


async def without_effect(request: Request) -> Answer:
    """Let the service answer, and take back what it did."""
    before = request.held.rows(request.uid)
    got = await request.ask()
    if got.done and not request.operation.safe:
        made = request.uid or str(got.member.get("identifier"))
        request.memory.alter(partial(held.Held.put, uid=made, rows=before if request.uid else _NO_ROWS))
        request.memory.alter(partial(held.Held.unused, file_id=request.params.get("tempFileId", "")))
    return got


def _refusing(status: int, first: Inject) -> Inject:
    """Refuse what the service accepts, but for empty lists, which a refusal may report."""

    async def refused(request: Request) -> Answer | None:
        got = await first(request)
        if got is None or not got.done or (request.operation.answers == "list" and not got.items):
            return got
        return replace(do.REFUSED, status=status)

    return refused


@do.effect
async def _identifier(request: Request, what: str) -> Answer | None:
    got, kept = await request.ask(), request.memory.kept
    if not got.done:
        return got
    first = kept.setdefault("identifier", got.member.get("identifier"))
    return got.with_member("identifier", {"lost": MISSING, "empty": "", "of-first": first}[what])


# Requests that must be refused, answered as if the reason did not hold.


async def _as_if_absent(request: Request, *, lock_alone: bool = False) -> Answer:
    before = request.held.rows(request.uid)
    locks = [lock for lock in before["locks"] if lock[0] != request.realm]
    versions = [version for version in before["versions"] if lock_alone or version[1] != request.realm]
    request.held.put(request.uid, {"locks": locks, "versions": versions})
    got = await request.ask()
    request.memory.changed = got.done
    if not got.done:
        request.held.put(request.uid, {name: before[name] for name in ("locks", "versions")})
    return got


async def _found(request: Request) -> Answer:
    gone = request.memory.deleted.get(request.uid)
    return answer_json(200, gone.json if gone else {})


@do.effect
async def _near(request: Request, relation: str) -> Answer | None:
    drafts = held.only(relation, request)
    return await request.ask(held.at_draft(request, drafts[0])) if drafts else None


#: Answers a request as if a value did not refuse it.
_AS_IF: Final[Mapping[str, Inject]] = {
    "in_use": _as_if_absent,
    "unknown": do.send(lambda r: r.at(_NAMED)),
    "locked": partial(_as_if_absent, lock_alone=True),
    **dict.fromkeys(("never_saved", "deleted", "no_such_file"), _found),
    "only_elsewhere": _near("other_realm"),
    "only_twin": _near("twin"),
    "only_longer": _near("beginning"),
    "only_shorter": _near("going_on"),
    "file_of_another": do.send(lambda r: held.at_file(r, file) if (file := held.file_of(r)) else None),
    **dict.fromkeys(
        ("caller_restricted", "anonymous", "token_invented", "token_half"),
        do.send(lambda r: r.as_role("author")),
    ),
    **dict.fromkeys(
        ("realm_missing", "realm_unknown", "realm_unknown_in_query"),
        do.send(lambda r: r.with_options(Realm=None).with_header("realm", "abs-dev")),
    ),
    "schema_unknown": under_first_schema,
    "batch_too_long": do.overlook(lambda _, error: error["property"] == "batchId"),
    "info_too_long": do.overlook(lambda _, error: error["property"] == "additionalInfo"),
}


@do.effect
async def _accepted(request: Request, given: Values) -> Answer | None:
    """Answer as if the reason for the refusal did not hold; None if that would be no success."""
    reason = next(value.name for value in given if value.refusing(request.operation.id))
    # Whatever else is wrong with a record is in its content.
    got = await _AS_IF.get(reason, do.ANY_CONTENT)(request)
    return got if got is not None and got.done else None


@do.effect
async def _done_and_refused(request: Request, given: Values) -> Answer | None:
    got = await request.ask()
    request.memory.changed = got.refusal and await _accepted(given)(request) is not None
    return got


@do.effect
async def _told_with(
    request: Request, given: Values, status: int | None = None, message: str = ""
) -> Answer | None:
    """Refuse by the right row of the workflow table with another status or message."""
    operation, got = request.operation.id, await request.ask()
    clauses = [clause for value in given for clause in value.refusing(operation)]
    told = [text for clause in clauses if (text := message_of(clause)) and text in json.dumps(got.json)]
    if not got.refusal or not told:
        return got
    if status:
        return replace(got, status=status)
    others = (c.message for c in load_catalogue() if c.message and not c.message.startswith(told[0]))
    instead = {"cut": told[0].rpartition(" ")[0], "of-another-row": next(others), "lost": ""}[message]

    def otherwise(value: Any, _: Any) -> Any:
        return instead if isinstance(value, str) and told[0] in value else value

    return got.with_json(rewritten(otherwise, got.json))


def _entry(place: str, what: str) -> Inject:
    """List an entry twice, or not at all."""

    def changed(request: Request, got: Answer) -> Answer:
        items, last = got.items, len(got.items) - 1
        at = _newest(request, items) if place == "newest" else {"first": 0, "second": 1, "last": last}[place]
        if at is None or not 0 <= at <= last:
            return got
        twice = what == "doubled"
        # Of drafts the document promises in pages alone that an entry is listed once.
        request.memory.silent = twice and request.operation.id == _LIST and "top" not in request.options
        return got.with_items([*items[:at], *([items[at]] * 2 if twice else []), *items[at + 1 :]])

    return do.answer(changed)


def _newest(request: Request, items: list[Any]) -> int | None:
    """The place of the caller's newest draft, or of the document's newest file."""
    files = [file.id for file in held.files_of(request)]
    newest = held.newest(request) if request.operation.id == _LIST else max(files, default=0)
    return next((at for at, item in enumerate(items) if newest and newest in item.values()), None)


def _with_deleted(request: Request, got: Answer) -> Answer:
    there = {draft.identifier for draft in request.held.drafts()}
    mine = [d for d in request.memory.deleted.values() if (d.realm, d.role) == (request.realm, request.role)]
    return got.with_items([*got.items, *like(got.items, *({d.uid for d in mine} - there))])


# Rules that give the clauses of an effect by the values.


def _by_question(**clauses: Clauses) -> Rule:
    """Choose clauses by the list question; `every` if the values name none."""

    def rule(_: str, values: Values) -> Clauses:
        asked = next((value.name for value in values if value.factor == "question"), "every")
        return clauses.get(asked, ())

    return rule


def _added(clause: str) -> Rule:
    """Items that must not be listed; they make a page longer than asked for."""
    paged = dict.fromkeys(("every", "list_top", "list_page"), (clause, "list-top", "list-top-and-skip"))
    return _by_question(**dict.fromkeys(("list_all", "list_my", "list_mydrafts"), (clause,)), **paged)


def _reasons(operation: str, values: Values) -> Clauses:
    """The clauses that say that the request is refused."""
    return tuple(clause for value in values for clause in value.refusing(operation))


def _of_request(operation: str, values: Values) -> Clauses:
    """Those of them that are not about the caller."""
    return _reasons(operation, [value for value in values if value.factor != "caller"])


def _rows(operation: str, values: Values) -> Clauses:
    """Those of them that give a message."""
    return tuple(name for name in _reasons(operation, values) if load_catalogue().clause(name).message)


def _unsubmitted(operation: str, values: Values) -> Clauses:
    """The clauses that say that nothing is submitted; what other refused submissions leave is not shown."""
    reasons = {value.name for value in values if value.refusing(operation)}
    if reasons == {"faulty"}:
        return ("workflow-order-validation-before-save", "workflow-order-validation-before-initiate")
    return _reasons(operation, values) if reasons & {"batch_too_long", "info_too_long"} else ()


def _of_content(clause: str) -> Rule:
    """A clause on the errors of faulty content; for contacts also the clause that refuses the content."""

    def rule(operation: str, values: Values) -> Clauses:
        # A request without a document has no faulty content.
        reason = {v.name for v in values if v.factor == "body" and v.refuses} - {"no_document"}
        missing = any(name.startswith("no_") for name in reason)
        if not reason or (clause == "errors-property-names-field" and missing):
            return ()
        return (clause, *(_reasons(operation, values) if operation in CONTACTS else ()))

    return rule


# fmt: off
_PAGES: Final = ("list-top-and-skip", "list-pages-cover")
_MINE: Final = ("list-mydrafts-has-mine",)
_LISTED: Final = _by_question(every=ACCEPTANCE[_LIST], list_all=("list-answers",), list_my=("list-my-answers",),
    list_mydrafts=_MINE, list_top=("list-top",), list_page=_PAGES)
_LACKING: Final = _by_question(every=(*_MINE, *_PAGES, "list-skip", "list-collection-with-skip"),
    list_mydrafts=(*_MINE, "list-collection-with-skip"), list_page=_PAGES)
_IN_PART: Final = ("list-collection-with-top",)
_DOUBLED: Final = _by_question(every=("list-pages-cover", "list-top", *_IN_PART), list_top=("list-top",),
    list_page=(*_PAGES, "list-top"), list_my=_IN_PART, list_mydrafts=_IN_PART)
_ACCEPTED: Final[do.At] = {**{name: ACCEPTANCE[name] for name in OPERATIONS}, _LIST: _LISTED}
_NAMES: Final[do.At] = {_CREATE: ("workflow-identifier-returned",),
    **dict.fromkeys(NAMED_SUBMISSIONS, ("workflow-identifier-kept",))}
#: Changes of an element of an errors array, each with the clause that it breaks.
_ELEMENTS: Final[Mapping[str, tuple[str, Callable[[Record], Any]]]] = {
    "code-unknown": ("errors-code-known", lambda e: {**e, "code": "Error.Document"}),
    "code-lost": ("errors-element-shape", lambda e: {"property": e["property"]}),
    "property-lost": ("errors-element-shape", lambda e: {"code": e["code"]}),
    "element-text": ("errors-element-shape", lambda e: f"{e['code']}: {e['property']}"),
}
_PLACES: Final[Mapping[str, slice]] = {"first": slice(1), "last": slice(-1, None), "every": slice(None)}


def _changed(place: str, change: Callable[[Record], Any]) -> Inject:
    def changed(errors: do.Errors) -> Any:
        at = range(len(errors))[_PLACES[place]]
        return [change(error) if number in at else error for number, error in enumerate(errors)]

    return do.report(changed)


def on_answers() -> Iterator[Effect]:
    """Answers that contradict what the service did, or cannot be used."""
    for status in (400, 403, 404, 409):
        yield row("answer", f"refused-{status}", f"refuses with {status} what it must accept", _ACCEPTED,
            _refusing(status, without_effect), acceptance=True)
        yield row("answer", f"told-{status}", f"does what is asked and answers {status}", _ACCEPTED,
            _refusing(status, Request.ask), acceptance=True)
    yield row("answer", "failed", "answers 500 and does nothing", dict.fromkeys(OPERATIONS, ("no-server-error",)),
        do.give(do.always(do.BROKEN), to_anyone=True), side=Side.ALL)
    yield row("answer", "token-told", "repeats the request's token in its answer",
        dict.fromkeys((_INFO, _SAVE, *CONTACTS, *SUBMISSIONS), ("no-secret-echoed",)), do.answer(lambda r, got:
            got.with_member("request", {"authorization": r.header("authorization")}) if r.role else got), side=Side.ALL)
    yield row("bytes", "body-cut", "answers JSON without its last character", {_GET: ("draft-get-content",),
        _LIST: _LISTED, _LIST_FILES: ("attachment-create-listed",), **_NAMES},
        do.success(lambda got: replace(got, body=got.body[:-1])), lost=True)
    for name, says in (("lost", "no identifier"), ("empty", "an empty identifier")):
        yield row("member", f"identifier-{name}", f"answers with {says}", _NAMES, _identifier(name))
    yield row("member", "identifier-of-first", "answers with the identifier of the first submission",
        {**_NAMES, _CREATE: ("workflow-distinct-identifiers",)}, _identifier("of-first"))
    image = {_PREVIEW: ("attachment-thumbnail-image",)}
    yield row("bytes", "image-emptied", "gives an empty preview", image, do.content(do.always(b"")))
    yield row("bytes", "image-mislabelled", "labels a preview as JSON", image,
        do.success(lambda got: got.with_header("content-type", "application/json")))
    yield row("bytes", "emptied", "gives an empty object",
        {_GET: ("draft-get-content",), _INFO: ("draft-info-present",)}, do.edit(do.always({})))
    yield row("bytes", "from-cache", "always gives the first answer again, whatever is saved later",
        {_GET: ("draft-save-updates", "draft-get-content")}, do.remember(lambda r: r.key))


def on_refusals() -> Iterator[Effect]:
    """Requests that must be refused are accepted, or refused in another way than the document says."""
    refused = partial(Effect, side=Side.REFUSED)
    for status in (401, 404, 409, 422):
        yield refused("row", f"status-{status}", f"refuses with {status} instead of the status of the table",
            dict.fromkeys(SUBMISSIONS, _rows), partial(_told_with, status=status), clean=True)
    for other in ("cut", "of-another-row", "lost"):
        yield refused("row", f"message-{other}", f"refuses with a message that is {other.replace('-', ' ')}",
            dict.fromkeys(SUBMISSIONS, _rows), partial(_told_with, message=other), clean=True)
    yield refused("accepted", "accepted", "accepts what it must refuse", dict.fromkeys(OPERATIONS, _reasons), _accepted)
    yield refused("accepted", "done-though-refused", "refuses what it must refuse, and still does it",
        {**dict.fromkeys((_SAVE, _DELETE, _CREATE_FILE, _PERSIST), _reasons), _NAMED: _unsubmitted}, _done_and_refused)
    yield row("accepted", "answered", "answers success to what it must refuse, and does nothing",
        dict.fromkeys((*SUBMISSIONS, *CONTACTS, _EXISTS, _FILE_EXISTS), _of_request), do.forgive(), side=Side.REFUSED)
    with_content = (*SUBMISSIONS, *CONTACTS)
    for place in _PLACES:
        for name, (clause, change) in _ELEMENTS.items():
            yield row("errors", f"{place}-{name}", f"reports faulty content, {place} {name.replace('-', ' ')}",
                dict.fromkeys(with_content, _of_content(clause)), _changed(place, change), side=Side.REFUSED)
    yield row("errors", "emptied", "reports faulty content without errors",
        dict.fromkeys(with_content, _of_content("errors-array")), do.report(do.always([])), side=Side.REFUSED,
        clean=True)
    yield row("errors", "property-other", "reports faulty content with another property",
        dict.fromkeys(CONTACTS, _of_content("errors-property-names-field")),
        _changed("every", lambda e: {**e, "property": "document"}), side=Side.REFUSED)


def on_lists() -> Iterator[Effect]:
    """Lists that lack entries or have too many."""
    for place in ("first", "second", "last", "newest"):
        yield row("entry", f"{place}-lost", f"lists all but the {place} entry", {_LIST: _LACKING, _LIST_FILES:
            ("attachment-create-listed", "attachment-several", "attachment-list-pages-cover")}, _entry(place, "lost"))
        yield row("entry", f"{place}-doubled", f"lists the {place} entry twice", {_LIST: _DOUBLED, _LIST_FILES:
            ("attachment-list-pages-cover", "attachment-list-top")}, _entry(place, "doubled"))
    yield row("entry", "saved-again-doubled", "lists drafts twice that were saved twice",
        {_LIST: ("list-saved-twice",)},
        do.answer(lambda _, got: got.with_items([*got.items,
            *(item for item in got.items if item["createdOn"] != item["updatedOn"])])))
    yield row("entry", "of-other-realms", "lists the drafts of other realms too", {_LIST: _added("realm-lists-apart")},
        do.answer(with_those_of_others))
    yield row("entry", "deleted-kept", "lists deleted drafts", {_LIST: _added("list-deleted-gone")},
        do.answer(_with_deleted))
    yield row("entry", "of-other-documents", "lists a file of another document too",
        {_LIST_FILES: ("attachment-list-own-only",)}, do.answer(of_other_documents))
# fmt: on
