"""The effects of crossed faults: what is done to an answer, to the state of a record, or to a neighbour of it."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Final

from registry_contracts.interface.catalogue import load_catalogue
from registry_contracts.sandbox.faults import effects as do
from registry_contracts.sandbox.faults import held, lists, protocol
from registry_contracts.sandbox.faults.conditions import Condition
from registry_contracts.sandbox.faults.held import Rows
from registry_contracts.sandbox.faults.messages import (
    MISSING,
    Answer,
    Inject,
    Request,
    answer_json,
    rewritten,
)
from registry_contracts.sandbox.faults.places import NAMED_SUBMISSIONS
from registry_contracts.sandbox.faults.tokens import as_author
from registry_contracts.sandbox.faults.workflow import message_of, under_first_schema
from registry_contracts.sandbox.storage import DRAFT, PUBLISHED, Attachment
from registry_contracts.sandbox.validation import CONTACT

_NO_ROWS: Final[Rows] = {"versions": [], "locks": [], "attachments": []}
#: Fields of a draft that the document names; of the header, and of all others, it promises less.
_FIELDS: Final = frozenset(field.name for field in CONTACT.fields) - {"header"}


def _taken(got: Answer) -> bool:
    return got.success and not got.errors


def _put(request: Request, uid: str, rows: Mapping[str, list[tuple[Any, ...]]]) -> None:
    request.memory.held.put(uid, rows)
    request.memory.changed = True


async def _undone(request: Request) -> Answer:
    """Let the service answer, and take back what it did."""
    before = request.memory.held.rows(request.uid)
    got = await request.ask()
    if _taken(got) and not request.operation.safe:
        uid = request.uid or str(got.member.get("identifier"))
        _put(request, uid, before if request.uid else _NO_ROWS)
        request.memory.held.unused(request.params.get("tempFileId", ""))
    return got


# -- answers


@do.effect
async def refused(request: Request, status: int) -> Answer | None:
    """Refuse what the service takes, and leave everything as it was."""
    got = await _undone(request)
    empty = request.operation.answers == "list" and not got.items
    return got if not _taken(got) or empty else answer_json(status, {"message": "refused"})


def told(status: int) -> Inject:
    """Refuse what the service takes, after it was done; that a list is empty may be told so."""
    return do.answer(
        lambda r, got: (
            answer_json(status, {"message": "refused"})
            if _taken(got) and (r.operation.answers != "list" or got.items)
            else got
        )
    )


def failed() -> Inject:
    """Break."""
    return do.give(do.always(do.BROKEN), to_anyone=True)


def token_told() -> Inject:
    """Repeat the request's token."""
    return do.answer(
        lambda r, got: (
            got.with_member("request", {"authorization": r.header("authorization")}) if r.role else got
        )
    )


def body_cut() -> Inject:
    """Leave out the last character of an answer."""
    return do.success(lambda got: replace(got, body=got.body[:-1]))


@do.effect
async def identifier(request: Request, what: str) -> Answer | None:
    """Tell no identifier, or another one."""
    got, kept = await request.ask(), request.memory.kept
    if not _taken(got):
        return got
    earlier = kept.get("identifier", MISSING)
    kept["identifier"] = got.member.get("identifier")
    if what == "earlier":
        return got if earlier is MISSING else got.with_member("identifier", earlier)
    return got.with_member("identifier", MISSING if what == "lost" else "")


def image(what: str) -> Inject:
    """Give a preview that is no image."""
    if what == "emptied":
        return do.content(do.always(b""))
    return do.success(lambda got: got.with_header("content-type", "application/json"))


# -- what has to be refused


async def _as_if_absent(request: Request, *, lock_alone: bool = False) -> Answer:
    """Answer as if there were no such record, or no lock on it."""
    before = request.memory.held.rows(request.uid)
    locks = [row for row in before["locks"] if row[0] != request.realm]
    versions = [row for row in before["versions"] if lock_alone or row[1] != request.realm]
    request.memory.held.put(request.uid, {"locks": locks, "versions": versions})
    got = await request.ask()
    request.memory.changed = _taken(got)
    if not _taken(got):
        request.memory.held.put(request.uid, {name: before[name] for name in ("locks", "versions")})
    return got


async def _found(request: Request) -> Answer:
    """Find what is not there; of a draft that was deleted, with its content."""
    gone = request.memory.deleted.get(request.uid)
    return answer_json(200, gone.json if gone else {})


@do.effect
async def _near(
    request: Request, near: Callable[[str, str], bool], *, same_realm: bool = True
) -> Answer | None:
    for draft in held.elsewhere(request, near, same_realm=same_realm):
        owner = await request.as_role(draft.owner)
        return await request.ask(owner.with_uid(draft.identifier).with_header("realm", draft.realm))
    return None


async def _of_other_document(request: Request) -> Answer | None:
    file = held.file_of(request)
    named = {"uid": file.identifier, "filename": file.filename} if file else {}
    return await request.ask(request.with_params(**named))


async def _in_first_realm(request: Request) -> Answer | None:
    return await request.ask(request.with_options(Realm=None).with_header("realm", "abs-dev"))


async def _first_schema(request: Request) -> Answer | None:
    for other in under_first_schema(request):
        return await request.ask(other)
    return None


#: Answers a request as if a value did not refuse it.
_AS_IF: Final[Mapping[str, Inject]] = {
    "in_use": _as_if_absent,
    "unknown": lambda r: r.ask(r.at(NAMED_SUBMISSIONS[0])),
    "locked": partial(_as_if_absent, lock_alone=True),
    **dict.fromkeys(("never_saved", "deleted", "no_such_file"), _found),
    "only_elsewhere": _near(str.__eq__, same_realm=False),
    "only_twin": _near(lambda a, b: a.lower() == b.lower()),
    "only_longer": _near(str.startswith),
    "only_shorter": _near(lambda a, b: b.startswith(a)),
    "file_of_another": _of_other_document,
    **dict.fromkeys(("caller_restricted", "anonymous", "token_invented", "token_half"), as_author),
    **dict.fromkeys(("realm_missing", "realm_unknown", "realm_unknown_in_query"), _in_first_realm),
    "schema_unknown": _first_schema,
    **dict.fromkeys(
        ("faulty", "no_document", "no_last_name", "emails_no_array"), do.overlook(do.always(True))
    ),
    "batch_too_long": do.overlook(lambda _, error: error["property"] == "batchId"),
    "info_too_long": do.overlook(lambda _, error: error["property"] == "additionalInfo"),
}


async def _as_if_not(request: Request, given: Sequence[Condition]) -> Answer | None:
    """The success that a request has without the value that refuses it; None where it has none."""
    reason = next(value.name for value in given if value.refusing(request.operation.id))
    got = await _AS_IF[reason](request)
    return got if got is not None and _taken(got) else None


accepted = do.effect(_as_if_not)


@do.effect
async def done_and_refused(request: Request, given: Sequence[Condition]) -> Answer | None:
    """Refuse, and do it all the same."""
    got = await request.ask()
    request.memory.changed = got.refusal and await _as_if_not(request, given) is not None
    return got


def answered() -> Inject:
    """Answer success to what is refused, and do nothing."""
    return do.forgive()


@do.effect
async def told_with(
    request: Request, given: Sequence[Condition], status: int | None = None, message: str = ""
) -> Answer | None:
    """Refuse by the right row of the table with another status, or another message."""
    operation, got = request.operation.id, await request.ask()
    clauses = [clause for value in given for clause in value.refusing(operation)]
    told_here = [text for clause in clauses if (text := message_of(clause)) and text in json.dumps(got.json)]
    if not got.refusal or not told_here:
        return got
    if status:
        return replace(got, status=status)
    others = (c.message for c in load_catalogue() if c.message and not c.message.startswith(told_here[0]))
    instead = {"cut": told_here[0].rpartition(" ")[0], "of-another-row": next(others), "lost": ""}[message]

    def told_otherwise(value: Any, _: Any) -> Any:
        return instead if isinstance(value, str) and told_here[0] in value else value

    return got.with_json(rewritten(told_otherwise, got.json))


def errors(place: str, name: str) -> Inject:
    """Change elements of an errors array: the first, the last, or every one."""
    changes: dict[str, Callable[[do.Record], Any]] = {
        "code-unknown": lambda e: {**e, "code": "Error.Document"},
        "code-lost": lambda e: {"property": e["property"]},
        "property-lost": lambda e: {"code": e["code"]},
        "property-other": lambda e: {**e, "property": "document"},
        "element-text": lambda e: f"{e['code']}: {e['property']}",
    }

    def changed(found: do.Errors) -> Any:
        if name == "element-lost":
            return []
        at = {"first": {0}, "last": {len(found) - 1}}.get(place, set(range(len(found))))
        return [changes[name](error) if number in at else error for number, error in enumerate(found)]

    return do.report(changed)


@do.effect
async def saved_though_refused(request: Request) -> Answer | None:
    """Save the document of a submission that is refused for its content."""
    got, document = await request.ask(), request.member.get("document")
    if got.errors and isinstance(document, dict) and request.role:
        about = {"schema": request.params["schema"], "owner": request.role, "content": json.dumps(document)}
        request.memory.held.read(lambda records: records.store(*request.key, DRAFT, **about))
        request.memory.changed = True
    return got


@do.effect
async def locked_though_refused(request: Request) -> Answer | None:
    """Lock the record of a submission that is refused for its content."""
    got = await request.ask()
    if got.errors and request.role:
        request.memory.held.read(lambda records: records.lock(*request.key, request.role))
        request.memory.changed = True
    return got


# -- the record itself


def without_effect() -> Inject:
    """Answer as ever, and leave everything as it was."""
    return do.effect(_undone)()


@do.effect
async def late(request: Request, seconds: float) -> Answer | None:
    """Answer at once, and do it later, unless something else was done meanwhile."""
    kept, uid = request.memory.held, request.uid
    before = kept.rows(uid)
    got = await request.ask()
    after = kept.rows(uid)
    if not _taken(got) or before == after:
        return got

    def arrive() -> None:
        with suppress(sqlite3.Error):  # the service may have ended
            if kept.rows(uid) == before:
                kept.put(uid, after)

    _put(request, uid, before)
    asyncio.get_running_loop().call_later(seconds, arrive)
    return got


@do.effect
async def published_lost(request: Request) -> Answer | None:
    """Remove the published version with the draft."""
    got = await request.ask()
    rows = request.memory.held.rows(request.uid)
    kept = [row for row in rows["versions"] if row[1] != request.realm or row[3] != PUBLISHED]
    if _taken(got) and kept != rows["versions"]:
        _put(request, request.uid, {"versions": kept})
    return got


def content_of_another() -> Inject:
    """Store what another draft holds."""
    return do.send(
        lambda r: next((r.with_json(json.loads(d.content)) for d in held.neighbours(r, "unrelated")), None)
    )


def bytes_of_another() -> Inject:
    """Store the bytes of another file."""
    return do.send(
        lambda r: next((replace(r, body=u.body) for u in reversed(r.memory.uploads.values())), None)
    )


@do.effect
async def others_lost(request: Request) -> Answer | None:
    """Remove the other files of a document."""
    others = [file for file in request.memory.held.files() if file.identifier == request.uid]
    return await _removing(request, others)


async def _removing(request: Request, files: Sequence[Attachment]) -> Answer:
    got = await request.ask()
    for file in files if _taken(got) else ():
        request.memory.held.remove_file(file)
        request.memory.changed = True
    return got


def from_cache() -> Inject:
    """Give what was given first."""
    return do.remember(lambda r: r.key)


def emptied() -> Inject:
    """Give an empty object."""
    return do.edit(do.always({}))


#: Names that files are kept under, by how they differ from those that were sent.
FILE_NAMES: Final = {
    "lowered": "in small letters",
    "without-spaces": "with underscores for spaces",
    "without-signs": "without signs other than dots, hyphens and underscores",
    "in-ascii": "without letters beyond ASCII",
    "cut": "of 64 characters at most",
    "without-inner-dots": "with its last dot alone",
}
_RENAMED: Final[Mapping[str, Callable[[str], str]]] = {
    "lowered": str.lower,
    "without-spaces": lambda name: name.replace(" ", "_"),
    "without-signs": lambda name: re.sub(r"[^\w.-]", "", name),
    "in-ascii": lambda name: name.encode("ascii", "ignore").decode(),
    "cut": lambda name: name[:64],
    "without-inner-dots": lambda name: re.sub(r"[.](?=.*[.])", "", name),
}


def file_name(how: str) -> Inject:
    """Keep a file under another name."""
    change = _RENAMED[how]
    return do.send(lambda r: r.with_params(filename=change(r.params["filename"]) or "file"))


# -- neighbours


@do.effect
async def neighbour(request: Request, relation: str, what: str) -> Answer | None:
    """Remove the drafts that are near, or write over them."""
    near = held.neighbours(request, relation)[: 1 if relation == "unrelated" else None]
    got = await request.ask()
    document = request.document if request.operation.stores == "submission" else request.json
    content = None if what == "lost" else json.dumps(document)
    for draft in near if _taken(got) else ():
        if content is None or json.loads(draft.content) != document:
            request.memory.held.change(draft, content)
            request.memory.changed = True
    return got


@do.effect
async def neighbour_given(request: Request, relation: str) -> Answer | None:
    """Give a draft that is near, where the one that is asked for is there."""
    got, near = await request.ask(), held.neighbours(request, relation)
    if not got.success or not near:
        return got
    owner = await request.as_role(near[0].owner)
    return await request.ask(owner.with_uid(near[0].identifier).with_header("realm", near[0].realm))


@do.effect
async def neighbour_file_lost(request: Request, relation: str) -> Answer | None:
    """Remove the files of other documents that are near the one that is sent."""
    return await _removing(request, held.neighbour_files(request, relation))


@do.effect
async def neighbour_file_given(request: Request, relation: str) -> Answer | None:
    """Give a file of another document that is near, where the one that is asked for is there."""
    got, near = await request.ask(), held.neighbour_files(request, relation)
    if not got.success or not near:
        return got
    other = {"uid": near[0].identifier, "attachmentId": str(near[0].id), "filename": near[0].filename}
    return replace(got, body=(await request.ask(request.with_params(**other))).body)


# -- lists


def _newest(request: Request, items: list[Any]) -> int | None:
    """Where the newest draft of the caller, or file of the document, stands."""
    here = (request.realm, request.role)
    drafts = [d.identifier for d in request.memory.held.drafts() if (d.realm, d.owner) == here]
    files = [file.id for file in request.memory.held.files() if file.identifier == request.uid]
    newest = (drafts if request.operation.id == "listDrafts" else files)[-1:]
    return next((at for at, item in enumerate(items) if newest and newest[0] in item.values()), None)


def entry(place: str, what: str) -> Inject:
    """List an entry twice, or not at all."""

    def changed(request: Request, got: Answer) -> Answer:
        items = got.items
        last = len(items) - 1
        at = _newest(request, items) if place == "newest" else {"first": 0, "second": 1, "last": last}[place]
        if at is None or not 0 <= at <= last:
            return got
        return got.with_items(
            [*items[:at], *([items[at]] * 2 if what == "doubled" else []), *items[at + 1 :]]
        )

    return do.answer(changed)


def of_other_realms() -> Inject:
    """List the drafts of other realms too."""
    return do.answer(protocol.with_those_of_others)


def of_other_documents() -> Inject:
    """List a file of another document too."""
    return do.answer(lists.of_other_documents)


def deleted_listed() -> Inject:
    """List drafts that were deleted."""

    def changed(request: Request, got: Answer) -> Answer:
        there = {draft.identifier for draft in request.memory.held.drafts()}
        mine = [
            d for d in request.memory.deleted.values() if (d.realm, d.role) == (request.realm, request.role)
        ]
        return got.with_items([*got.items, *lists.like(got.items, *({d.uid for d in mine} - there))])

    return do.answer(changed)


# -- values


def _has(pattern: str) -> Callable[[str], bool]:
    return lambda text: re.search(pattern, text) is not None


def _any(test: Callable[[str], object]) -> Callable[[str], bool]:
    return lambda text: any(map(test, text))


#: Texts that break services: in words, whether it is for a script of theirs, and which they are.
TEXTS: Final[Mapping[str, tuple[str, bool, Callable[[str], bool]]]] = {
    "beyond-ascii": ("with letters beyond ASCII", True, lambda text: not text.isascii()),
    "astral": ("with characters beyond the basic plane", True, _any(lambda c: c > "\uffff")),
    "marks": ("with combining marks", True, _any(unicodedata.combining)),
    "right-to-left": (
        "of a script from the right",
        True,
        _any(lambda c: unicodedata.bidirectional(c) in ("R", "AL")),
    ),
    "joiners": ("with characters that join others", True, _has("[\u200b-\u200d\u2060]")),
    "separators": ("with line separators", True, _has("[\x0b\x0c\x85\u2028\u2029]")),
    "full-width": ("with full-width letters", True, _has("[\uff01-\uff5e]")),
    "date": ("that looks like a date", False, _has(r"^\d{4}-\d\d-\d\d")),
    "number": ("that looks like a number", False, _has(r"^[-+]?\d+([.]\d+)?(e\d+)?$")),
    "boolean": ("that looks like a boolean", False, _has("(?i)^(true|false|yes|no|on|off)$")),
    "null": ("that looks like null", False, _has("(?i)^(null|none|nil|undefined|nan)$")),
    "json": ("that looks like JSON", False, _has(r"(?s)^[\[{].*[\]}]$")),
    "html": ("that looks like HTML", False, _has(r"<\w+[^>]*>|&\w+;")),
    "template": ("that looks like a template", False, _has(r"\$\{|\{\{|%\w")),
    "base64": ("that looks like Base64", False, _has(r"^[A-Za-z0-9+/]{8,}={1,2}$")),
    "address": ("that looks like an address", False, _has(r"^\w+://|^\S+@\S+$")),
    "path": ("that looks like a path", False, _has(r"\.\./|^/\w|\\\w")),
    "quotes": ("with quotation marks", False, _has("[\"'`]")),
    "backslash": ("with a backslash", False, _has(r"\\")),
    "line-break": ("of several lines", False, _has(r"\n")),
    "long": ("of 255 or more characters", False, lambda text: len(text) >= 255),
}
#: What becomes of them.
CHANGES: Final = {"lost": "nothing at all", "null": "null", "emptied": "an empty text"}
_BECOMES: Final = {"lost": MISSING, "null": None, "emptied": ""}
#: What becomes of arrays.
ARRAYS: Final = {
    "first-lost": "of several without the first item",
    "second-lost": "of several without the second item",
    "last-lost": "of several without the last item",
    "reversed": "in reverse order",
    "distinct": "with each item once",
    "unpacked": "of one as the item alone",
    "emptied": "of several as empty ones",
}


def _documented(change: Callable[[Any], Any], *, stored: bool) -> Inject:
    """Change a document as it is stored, or as it is given; what no documented field holds is promised nowhere."""

    def note(request: Request, before: Any, after: Any) -> None:
        known = [value if isinstance(value, dict) else {} for value in (before, after)]
        differs = any(known[0].get(name, MISSING) != known[1].get(name, MISSING) for name in _FIELDS)
        request.memory.silent = not differs

    def sent(request: Request) -> Request | None:
        if not isinstance(request.json, dict):
            return None
        changed = change(request.json)
        note(request, request.json, changed)
        return request.with_json(changed)

    def given(request: Request, got: Answer) -> Answer:
        if not got.success or not isinstance(got.json, dict):
            return got
        changed = change(got.json)
        note(request, got.json, changed)
        return got.with_json(changed)

    return do.send(sent) if stored else do.answer(given)


def text(kind: str, name: str, *, stored: bool) -> Inject:
    """Change each text of a kind."""
    is_of, becomes = TEXTS[kind][2], _BECOMES[name]
    change = partial(
        rewritten, lambda value, path: becomes if path and isinstance(value, str) and is_of(value) else value
    )
    return _documented(change, stored=stored)


def array(name: str, *, stored: bool) -> Inject:
    """Change arrays."""

    def changed(value: Any, _: Any) -> Any:
        if not isinstance(value, list) or not value:
            return value
        if name == "unpacked":
            return value[0] if len(value) == 1 else value
        several = {
            "first-lost": value[1:],
            "second-lost": [*value[:1], *value[2:]],
            "last-lost": value[:-1],
            "reversed": value[::-1],
            "distinct": [item for at, item in enumerate(value) if item not in value[:at]],
            "emptied": [],
        }
        return several[name] if len(value) > 1 else value

    return _documented(partial(rewritten, changed), stored=stored)


#: What becomes of the bytes of files.
BYTES: Final = {
    "line-ends": "with a line feed for each carriage return and line feed",
    "high": "with a question mark for each byte above 127",
    "null": "without its null bytes",
    "mark": "without a byte order mark at its beginning",
    "last-newline": "without the line break at its end",
    "end-trimmed": "without white space at its end",
    "last-lost": "without its last byte",
    "edge-lost": "without byte 4,096",
    "cut": "cut behind 65,536 bytes",
    "emptied": "that is empty",
}
_CHANGED: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    "line-ends": lambda c: c.replace(b"\r\n", b"\n"),
    "high": lambda c: bytes(byte if byte < 128 else 63 for byte in c),
    "null": lambda c: c.replace(b"\0", b""),
    "mark": lambda c: c.removeprefix(b"\xef\xbb\xbf"),
    "last-newline": lambda c: c.removesuffix(b"\n"),
    "end-trimmed": bytes.rstrip,
    "last-lost": lambda c: c[:-1],
    "edge-lost": lambda c: c[:4095] + c[4096:],
    "cut": lambda c: c[:65_536],
    "emptied": lambda _: b"",
}


def file_bytes(name: str, *, stored: bool) -> Inject:
    """Change the bytes of a file as it is stored, or as it is given."""
    change = _CHANGED[name]
    return do.send(lambda r: replace(r, body=change(r.body))) if stored else do.content(change)
