"""What a fault does to one request: each function answers in place of the service, which it may ask.

A function that returns None leaves the request to the service as it came.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, Final

from contracts.sandbox.faults.injection import (
    Answer,
    Below,
    Memory,
    Request,
    answer_json,
    items_of,
    with_items,
)
from contracts.sandbox.faults.operators import Change, valid_document

#: Stands for a member that is taken out.
MISSING: Final = object()
_PASSWORDS: Final = {
    f"{role}@sandbox.test": f"sandbox-{role}" for role in ("author", "other", "restricted", "nau")
}
_STAND_IN: Final = "stand-in-for-what-breaks-the-rule"


# -- values and bytes


async def request_changed(request: Request, below: Below, _: Memory, *, change: Change) -> Answer | None:
    """The service stores another document than it was sent."""
    document = request.json
    if not isinstance(document, dict):
        return None
    altered = change(document)
    return (
        None
        if altered == document and _kinds(altered) == _kinds(document)
        else await below(request.with_json(altered))
    )


async def content_changed(request: Request, below: Below, _: Memory, *, change: Change) -> Answer | None:
    """The service gives another document than it stored; its header and what is around it stay."""
    answer = await below(request)
    document = answer.json
    return answer.with_json(change(document)) if answer.success and isinstance(document, dict) else answer


def _kinds(value: Any) -> str:
    return json.dumps(value, sort_keys=False)


def _of_kind(request: Request, suffix: str) -> bool:
    return not suffix or PurePosixPath(request.params.get("filename", "")).suffix.lower() == suffix


async def upload_changed(
    request: Request, below: Below, _: Memory, *, change: Callable[[bytes], bytes], suffix: str
) -> Answer | None:
    """The service stores other bytes than it was sent."""
    if not _of_kind(request, suffix):
        return None
    return await below(replace(request, body=change(request.body)))


async def download_changed(
    request: Request, below: Below, _: Memory, *, change: Callable[[bytes], bytes], suffix: str
) -> Answer | None:
    """The service gives other bytes than it stored."""
    if not _of_kind(request, suffix):
        return None
    answer = await below(request)
    return replace(answer, body=change(answer.body)) if answer.success else answer


async def another_files_bytes(request: Request, below: Below, memory: Memory) -> Answer | None:
    """A download gives the bytes of the download before it."""
    before = memory.successes.get("getAttachment")
    answer = await below(request)
    memory.successes.setdefault("getAttachment", answer)
    return replace(answer, body=before.body) if answer.success and before is not None else answer


async def first_upload_kept(request: Request, below: Below, memory: Memory) -> Answer | None:
    """A file of a name that was sent before is stored with the bytes of the first."""
    key = (request.operation.id, request.params.get("filename", ""))
    first = memory.before.setdefault(key, request)
    return await below(replace(request, body=first.body))


# -- lists


async def items_changed(
    request: Request, below: Below, _: Memory, *, change: Callable[[list[Any]], list[Any]], where: str
) -> Answer | None:
    """The items of a list are changed: always, on a full page, or beside an option."""
    options = {name.removeprefix("$"): value for name, value in request.query}
    if where.startswith("-with-") and where.removeprefix("-with-") not in options:
        return None
    answer = await below(request)
    items = items_of(answer.json)
    if not answer.success or items is None:
        return answer
    top = options.get("top", "")
    if where == "-of-full-page" and not (top.isdigit() and len(items) == int(top)):
        return answer
    return with_items(answer, change)


async def deleted_stay(request: Request, below: Below, memory: Memory, *, collection: str) -> Answer | None:
    """Drafts that were deleted are still listed."""
    if collection and dict(request.query).get("collection") != collection:
        return None
    answer = await below(request)
    stale = [
        item
        for text, item in memory.items["listDrafts"].items()
        if any(uid in text for uid in memory.deleted)
    ]
    remembered = stale or [{"identifier": uid} for uid in memory.deleted]
    return with_items(answer, lambda items: [*remembered, *items]) if answer.success else answer


async def of_others_listed(
    request: Request, below: Below, memory: Memory, *, collection: str
) -> Answer | None:
    """Drafts that other accounts saved are listed, too."""
    if dict(request.query).get("collection", "") != collection or not request.role:
        return None
    answer = await below(request)
    sample = (items_of(answer.json) or [{}])[0] if answer.success else {}
    foreign = [
        {**sample, "identifier": uid}
        for (realm, uid), saved in memory.saved.items()
        if saved.role not in ("", request.role) and realm == request.realm
    ]
    return with_items(answer, lambda items: [*foreign, *items]) if answer.success else answer


async def of_other_documents_listed(request: Request, below: Below, memory: Memory) -> Answer | None:
    """Attachments of other documents are listed, too."""
    answer = await below(request)
    own = items_of(answer.json) or []
    texts = {json.dumps(item, sort_keys=True) for item in own}
    foreign = [item for text, item in memory.items["listAttachments"].items() if text not in texts]
    return with_items(answer, lambda items: items + foreign[-1:]) if answer.success else answer


async def answered_as_before(request: Request, below: Below, memory: Memory) -> Answer | None:
    """The answer is the one that the same request got before."""
    key = (
        request.operation.id,
        request.uid + str(sorted(request.params.items())) + str(request.query) + request.role,
    )
    before = memory.answers.get(key)
    answer = await below(request)
    if answer.success:
        memory.answers.setdefault(key, answer)
    return before if before is not None and answer.success else answer


async def option_ignored(
    request: Request, below: Below, _: Memory, *, name: str, beside: str = "", containing: str = ""
) -> Answer | None:
    """An option has no effect: always, beside another one, or when its expression holds a word."""
    options = dict(request.query)
    if name not in options or (beside and beside not in options) or containing not in options[name]:
        return None
    return await below(request.with_query(name))


async def number_shifted(request: Request, below: Below, _: Memory, *, name: str, by: int) -> Answer | None:
    """An option that is a number counts for one more or one less."""
    value = dict(request.query).get(name, "")
    if not value.isdigit():
        return None
    return await below(request.with_query(**{name: str(max(0, int(value) + by))}))


async def skip_counts_pages(
    request: Request, below: Below, _: Memory, *, top: str, skip: str
) -> Answer | None:
    """The number of skipped items counts pages."""
    options = dict(request.query)
    size, pages = options.get(top, ""), options.get(skip, "")
    if not (size.isdigit() and pages.isdigit()):
        return None
    return await below(request.with_query(**{skip: str(int(pages) * max(1, int(size)))}))


async def word_lost(request: Request, below: Below, _: Memory, *, name: str, word: str) -> Answer | None:
    """A word of an expression has no effect."""
    value = dict(request.query).get(name, "")
    return await below(request.with_query(**{name: value.replace(word, "")})) if word in value else None


# -- identifiers, tokens and rights


async def identifier_folded(
    request: Request, below: Below, _: Memory, *, fold: Callable[[str], str]
) -> Answer | None:
    """The service takes one identifier for another."""
    folded = fold(request.uid)
    return None if folded == request.uid or not request.uid else await below(request.with_uid(folded))


async def identifier_refused(
    request: Request, _below: Below, _: Memory, *, holds: Callable[[str], bool]
) -> Answer | None:
    """The service refuses identifiers of a class."""
    return answer_json(400, {"message": "the identifier is invalid"}) if holds(request.uid) else None


async def identifier_taken(
    request: Request, below: Below, _: Memory, *, holds: Callable[[str], bool]
) -> Answer | None:
    """The service takes identifiers of a class outside the rule for good ones."""
    if not holds(request.uid):
        return None
    answer = await below(request.with_uid(_STAND_IN))
    if answer.success or request.operation.method not in ("GET", "HEAD", "DELETE"):
        return answer
    return answer_json(200, [] if request.operation.id == "listAttachments" else {"identifier": request.uid})


async def missing_token_taken(request: Request, below: Below, memory: Memory) -> Answer | None:
    """A request without a token is served as the author's."""
    if request.header("authorization"):
        return None
    return await as_role(request, below, memory, "author")


async def invalid_token_taken(request: Request, below: Below, memory: Memory, *, kind: str) -> Answer | None:
    """A request with a token that was never issued is served as the author's."""
    scheme, _, token = request.header("authorization").rpartition(" ")
    if scheme.lower() != "bearer" or request.role:
        return None
    matches = {"any": True, "short": len(token) < 20, "altered": len(token) >= 20}[kind]
    return await as_role(request, below, memory, "author") if matches else None


async def rights_not_checked(request: Request, below: Below, memory: Memory) -> Answer | None:
    """An account without rights may do what the author may."""
    return await as_role(request, below, memory, "author") if request.role == "restricted" else None


async def other_account_served(request: Request, below: Below, memory: Memory) -> Answer | None:
    """The author is taken for another account."""
    return await as_role(request, below, memory, "other") if request.role == "author" else None


async def as_role(request: Request, below: Below, memory: Memory, role: str) -> Answer | None:
    """Let the service answer a request as that of another account."""
    token = memory.tokens.get(role)
    if token is None:
        signed_in = await below(_sign_in(request, f"{role}@sandbox.test"))
        token = str((signed_in.json or {}).get("authenticationToken", ""))
        memory.tokens[role] = token
    return await below(request.with_header("authorization", f"Bearer {token}"))


def _sign_in(request: Request, email: str) -> Request:
    described = request.described("createToken")
    body = json.dumps({"email": email, "password": _PASSWORDS[email]}).encode()
    headers = ((b"content-type", b"application/json"), (b"accept", b"application/json"))
    return Request(described, {}, (), headers, body)


async def sign_in_taken(request: Request, below: Below, _: Memory, *, kind: str) -> Answer | None:
    """Credentials of one wrong kind buy a token all the same."""
    sent = request.json
    if not isinstance(sent, dict):
        return None
    email, password = sent.get("email"), sent.get("password")
    known = email in _PASSWORDS if isinstance(email, str) else False
    wrong = {
        "wrong-password": known
        and isinstance(password, str)
        and password not in ("", _PASSWORDS.get(str(email))),
        "unknown-account": isinstance(email, str) and bool(email) and not known and isinstance(password, str),
        "password-missing": known and not password and not isinstance(password, bool | int | list | dict),
        "email-missing": not email
        and not isinstance(email, bool | int | list | dict)
        and isinstance(password, str),
        "password-kind": known and password is not None and not isinstance(password, str),
        "email-kind": email is not None and not isinstance(email, str),
    }[kind]
    return await below(_sign_in(request, "author@sandbox.test")) if wrong else None


# -- state


async def not_done(request: Request, below: Below, memory: Memory) -> Answer | None:
    """The service answers with success and does nothing."""
    if not request.role:
        return None
    if request.operation.id == "saveDraft":
        elsewhere = await below(request.with_uid(_STAND_IN))
        return _renamed(elsewhere, _STAND_IN, request.uid)
    before = memory.successes.get(request.operation.id)
    if before is None:
        return None
    if request.operation.id == "deleteDraft" and (request.realm, request.uid) not in memory.saved:
        return None
    return before


def _renamed(answer: Answer, old: str, new: str) -> Answer:
    headers = tuple((name, value.replace(old.encode(), new.encode())) for name, value in answer.headers)
    return replace(answer, headers=headers, body=answer.body.replace(old.encode(), new.encode()))


async def stored_elsewhere(request: Request, below: Below, _: Memory) -> Answer | None:
    """A draft is stored under another identifier."""
    other = (request.uid[:-1] + ("x" if not request.uid.endswith("x") else "y"))[:128]
    return _renamed(await below(request.with_uid(other)), other, request.uid)


async def merged_with_before(request: Request, below: Below, memory: Memory) -> Answer | None:
    """A later save keeps the members of the earlier one, and their values."""
    return await _joined(request, below, memory, lambda old, new: {**new, **old})


async def arrays_appended(request: Request, below: Below, memory: Memory) -> Answer | None:
    """A later save adds the items of its arrays to those of the earlier one."""

    def both(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
        return {
            k: old[k] + v if isinstance(v, list) and isinstance(old.get(k), list) else v
            for k, v in new.items()
        }

    return await _joined(request, below, memory, both)


async def _joined(
    request: Request,
    below: Below,
    memory: Memory,
    join: Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]],
) -> Answer | None:
    before = memory.saved.get((request.realm, request.uid))
    old, new = (before.json if before else None), request.json
    if not isinstance(old, dict) or not isinstance(new, dict):
        return None
    return await below(
        request.with_json({**join(old, new), **({"header": new["header"]} if "header" in new else {})})
    )


def _another(request: Request, memory: Memory) -> Request | None:
    """The latest draft of the same account and realm under another identifier."""
    for (realm, uid), saved in reversed(memory.saved.items()):
        if realm == request.realm and uid != request.uid and saved.role == request.role:
            return saved
    return None


async def overwrites_another(request: Request, below: Below, memory: Memory) -> Answer | None:
    """A save also writes over another draft."""
    other = _another(request, memory)
    answer = await below(request)
    if other is not None and answer.success and (request.realm, request.uid) not in memory.saved:
        await below(other.with_json(request.json))
    return answer


async def deletes_another(request: Request, below: Below, memory: Memory) -> Answer | None:
    """A write also deletes another draft."""
    other = _another(request, memory)
    answer = await below(request)
    if other is not None and answer.success:
        await below(other.for_operation("deleteDraft", other.uid))
    return answer


async def deletes_instead(request: Request, below: Below, memory: Memory) -> Answer | None:
    """Another draft is deleted in place of the one that is named."""
    other = _another(request, memory)
    return None if other is None else await below(request.with_uid(other.uid))


async def update_not_done(request: Request, below: Below, memory: Memory) -> Answer | None:
    """A save under an identifier that has a draft is answered with success, and the draft stays as it was."""
    return await not_done(request, below, memory) if (request.realm, request.uid) in memory.saved else None


async def out_of_date(request: Request, below: Below, memory: Memory) -> Answer | None:
    """A draft is read as it was before the latest save."""
    before = memory.before.get((request.realm, request.uid))
    answer = await below(request)
    if before is None or not answer.success:
        return answer
    current = (
        memory.saved[request.realm, request.uid].body if (request.realm, request.uid) in memory.saved else b""
    )
    return replace(answer, body=before.body) if answer.json == json.loads(current or b"null") else answer


async def deleted_still_read(request: Request, below: Below, memory: Memory) -> Answer | None:
    """A draft that was deleted is still read."""
    key = ("getDraft", request.uid + str(sorted(request.params.items())))
    answer = await below(request)
    before = memory.answers.get(key)
    gone = not answer.success and request.uid in memory.deleted and bool(request.role)
    if not gone:
        return answer
    return before or answer_json(200, {"header": {"identifier": request.uid}})


async def deleted_still_there(request: Request, below: Below, memory: Memory) -> Answer | None:
    """The exists check still finds a draft that was deleted."""
    answer = await below(request)
    gone = not answer.success and request.uid in memory.deleted and bool(request.role)
    return Answer(200) if gone else answer


async def always_there(request: Request, below: Below, _: Memory) -> Answer | None:
    """The exists check finds whatever it is asked for."""
    answer = await below(request)
    return Answer(200) if answer.status == 404 else answer


async def another_drafts_content(request: Request, below: Below, memory: Memory) -> Answer | None:
    """Reading a draft gives the content of another one."""
    other = _another(request, memory)
    return None if other is None else await below(request.with_uid(other.uid))


async def emptied(request: Request, below: Below, _: Memory) -> Answer | None:
    """The body of a success is an empty object."""
    answer = await below(request)
    return answer.with_json({}) if answer.success else answer


async def attachment_of_any_document(request: Request, below: Below, memory: Memory) -> Answer | None:
    """An attachment is found through the uid of any document."""
    number = request.params.get("attachmentId")
    for name, path in memory.answers:
        if name == "attachmentExists" and f"('attachmentId', '{number}')" in path:
            return Answer(200)
    answer = await below(request)
    if answer.success:
        memory.answers["attachmentExists", f"('attachmentId', '{number}')"] = answer
    return answer


async def refusal_turned(request: Request, below: Below, memory: Memory) -> Answer | None:
    """What has to be refused is answered with success."""
    answer = await below(request)
    if 400 <= answer.status < 500 and request.role:
        return memory.successes.get(request.operation.id) or answer_json(200, {"identifier": request.uid})
    return answer


async def refused_but_done(request: Request, below: Below, memory: Memory) -> Answer | None:
    """A request without a good token is refused, and done all the same."""
    if request.role:
        return None
    answer = await below(request)
    if 400 <= answer.status < 500:
        await as_role(request, below, memory, "author")
    return answer


async def refused_document_saved(request: Request, below: Below, _: Memory) -> Answer | None:
    """The document of a submission that is refused for its content is saved as a draft."""
    answer = await below(request)
    body = request.json
    told = answer.json
    if request.role and isinstance(told, dict) and "errors" in json.dumps(told) and isinstance(body, dict):
        document = json.dumps(body.get("document")).encode()
        schema = request.params.get("schema", "")
        await below(request.for_operation("saveDraft", request.uid, document, schema=schema))
    return answer


async def same_answer_again(request: Request, below: Below, memory: Memory) -> Answer | None:
    """A submission without an identifier gets the identifier of the one before."""
    before = memory.successes.get("createWorkflowRecord")
    answer = await below(request)
    return before if before is not None and answer.success else answer


# -- validation


def is_missing(value: Any) -> bool:
    """Whether a field is absent; a null is not."""
    return value is MISSING


async def field_repaired(
    request: Request, below: Below, _: Memory, *, name: str, sample: Any, wrong: Callable[[Any], bool]
) -> Answer | None:
    """A fault of one field is not seen: the service takes the record as if the field were right."""
    record = request.json
    if not isinstance(record, dict) or not record or not wrong(record.get(name, MISSING)):
        return None
    if record.get(name, MISSING) is None:
        return None
    return await below(request.with_json({**record, name: _right(name, sample, request)}))


def _right(name: str, sample: Any, request: Request) -> Any:
    if name == "contactOrganization":
        return {"identifier": f"organization-{request.realm}"}
    if name == "header" and request.uid:
        return {**sample, "identifier": request.uid, "schema": "contact"}
    return sample


async def inside_repaired(
    request: Request, below: Below, _: Memory, *, name: str, sample: Any, first: bool
) -> Answer | None:
    """What stands inside a field is not looked at: nothing of it, or nothing behind the first item."""
    record = request.json
    value = record.get(name) if isinstance(record, dict) else None
    if type(value) is not type(sample) or not value:
        return None
    right = _right(name, sample, request)
    if isinstance(sample, list):
        kept = value[:1] if first else []
        return await below(request.with_json({**record, name: [*kept, *(sample * (len(value) - len(kept)))]}))
    return await below(request.with_json({**record, name: right}))


async def field_refused(request: Request, below: Below, _: Memory, *, name: str) -> Answer | None:
    """A record with a field is refused whatever the field holds."""
    answer = await below(request)
    record = request.json
    if answer.success and isinstance(record, dict) and name in record:
        return answer_json(400, {"errors": [{"code": "Error.InvalidValue", "property": name}]})
    return answer


async def second_item_refused(request: Request, _below: Below, _: Memory, *, name: str) -> Answer | None:
    """A record whose array holds more than one item is refused."""
    record = request.json
    value = record.get(name) if isinstance(record, dict) else None
    if isinstance(value, list) and len(value) > 1:
        return answer_json(400, {"errors": [{"code": "Error.InvalidValue", "property": name}]})
    return None


async def text_cut(
    request: Request, below: Below, _: Memory, *, member: str, limit: int, more: int
) -> Answer | None:
    """A text that is too long by no more than so many characters is taken."""
    body = request.json
    value = body.get(member) if isinstance(body, dict) else None
    if not isinstance(value, str) or not limit < len(value) <= limit + more:
        return None
    return await below(request.with_json({**body, member: value[:limit]}))


async def text_refused(
    request: Request, _below: Below, _: Memory, *, member: str, longest: int
) -> Answer | None:
    """A text within the limit is refused."""
    body = request.json
    value = body.get(member) if isinstance(body, dict) else None
    if isinstance(value, str) and len(value) > longest:
        return answer_json(400, {"errors": [{"code": "Error.InvalidValue", "property": member}]})
    return None


def _good(request: Request) -> dict[str, Any] | None:
    """A submission that the service takes under the schema and the identifier of a request."""
    document = valid_document(request.realm, request.params.get("schema", ""), request.uid)
    return None if document is None else {"document": document}


async def document_repaired(request: Request, below: Below, _: Memory) -> Answer | None:
    """A document is not validated against its schema."""
    body, good = request.json, _good(request)
    if good is None or not isinstance(body, dict) or not isinstance(body.get("document"), dict):
        return None
    answer = await below(request)
    return (
        answer
        if answer.success or answer.status == 403 or not request.role
        else await below(request.with_json(good))
    )


async def document_kind_repaired(request: Request, below: Below, _: Memory) -> Answer | None:
    """A document that is no object is taken."""
    body, good = request.json, _good(request)
    if (
        good is None
        or not isinstance(body, dict)
        or "document" not in body
        or isinstance(body["document"], dict)
    ):
        return None
    return await below(request.with_json(good))


async def document_missing_repaired(request: Request, below: Below, _: Memory) -> Answer | None:
    """A submission without a document is taken."""
    body, good = request.json, _good(request)
    if good is None or not isinstance(body, dict) or "document" in body:
        return None
    return await below(request.with_json(good))


async def body_repaired(request: Request, below: Below, _: Memory) -> Answer | None:
    """A body that is no object is taken."""
    body, good = request.json, _good(request)
    if good is None or isinstance(body, dict):
        return None
    return await below(request.with_json(good))


# -- answers


def _tells(answer: Answer, message: str) -> bool:
    """Whether a refusal carries the message of a row; the row's realm may stand where its placeholder is."""
    beginning = message.partition("${")[0].strip(" .")
    return beginning in json.dumps(answer.json) and 400 <= answer.status < 500


async def _row_changed(
    request: Request, below: Below, memory: Memory, *, message: str, others: tuple[str, ...], kind: str
) -> Answer | None:
    answer = await below(request)
    if not _tells(answer, message):
        return answer
    told = answer.body.decode()
    beginning = message.partition("${")[0].strip(" .")
    if kind == "taken":
        return memory.successes.get(request.operation.id) or answer_json(200, {"identifier": request.uid})
    if kind == "other-status":
        return replace(answer, status=422 if answer.status == 400 else 401)
    if kind == "not-found":
        return replace(answer, status=404)
    changed = {
        "message-of-another": others[0],
        "message-short": beginning[: len(beginning) // 2],
        "message-missing": "",
        "message-upper-case": beginning.upper(),
        "message-translated": "La demande est refusée",
        "message-code-only": "WF-0017",
    }[kind]
    # The refusal's own body, with another text in the place of the message.
    body = _replaced(json.loads(told), beginning, changed)
    return answer.with_json(body)


def _replaced(value: Any, beginning: str, text: str) -> Any:
    if isinstance(value, str):
        return text if beginning in value else value
    if isinstance(value, dict):
        return {name: _replaced(member, beginning, text) for name, member in value.items()}
    return [_replaced(item, beginning, text) for item in value] if isinstance(value, list) else value


#: What may be wrong with the answer of a row of the workflow table.
ROW_INJECTIONS: Final[Mapping[str, Callable[..., Awaitable[Answer | None]]]] = MappingProxyType(
    {
        kind: partial(_row_changed, kind=kind)
        for kind in (
            "taken",
            "other-status",
            "not-found",
            "message-of-another",
            "message-short",
            "message-missing",
            "message-translated",
            "message-code-only",
        )
    }
)


async def success_told_as(request: Request, below: Below, _: Memory, *, status: int) -> Answer | None:
    """A success is answered with the status of a failure, although it is done."""
    answer = await below(request)
    failed = {"message": "unexpected" if status >= 500 else "refused"}
    return (
        answer_json(status, failed)
        if answer.success and (request.role or not request.operation.protected)
        else answer
    )


async def refusal_told_as_500(request: Request, below: Below, _: Memory) -> Answer | None:
    """A refusal is answered as an error of the service's own making."""
    answer = await below(request)
    return answer_json(500, {"message": "unexpected"}) if 400 <= answer.status < 500 else answer


def _each(change: Callable[[dict[str, Any]], Any]) -> Callable[[list[Any]], Any]:
    return lambda errors: [change(error) if isinstance(error, dict) else error for error in errors]


def _mandatory(change: Callable[[dict[str, Any]], Any]) -> Callable[[list[Any]], Any]:
    return _each(lambda error: change(error) if error.get("code") == "Error.Mandatory" else error)


#: What may be wrong with an errors array.
ERRORS_CHANGES: Final[Mapping[str, Callable[[list[Any]], Any]]] = MappingProxyType(
    {
        "array-emptied": lambda _: [],
        "array-missing": lambda _: MISSING,
        "array-as-object": lambda errors: {str(number): error for number, error in enumerate(errors)},
        "elements-as-text": lambda errors: [json.dumps(error) for error in errors],
        "code-missing": _each(lambda error: {k: v for k, v in error.items() if k != "code"}),
        "code-number": _each(lambda error: {**error, "code": 17}),
        "code-unknown": _each(lambda error: {**error, "code": "Error.Failed"}),
        "code-lower-case": _each(lambda error: {**error, "code": str(error.get("code")).lower()}),
        "property-missing": _each(lambda error: {k: v for k, v in error.items() if k != "property"}),
        "property-number": _each(lambda error: {**error, "property": 3}),
        "property-array": _each(lambda error: {**error, "property": [error.get("property")]}),
        "mandatory-as-invalid-value": _mandatory(lambda error: {**error, "code": "Error.InvalidValue"}),
        "mandatory-of-document": _mandatory(lambda error: {**error, "property": "document"}),
    }
)


async def errors_changed(
    request: Request, below: Below, _: Memory, *, change: Callable[[list[Any]], Any]
) -> Answer | None:
    """The errors array of an answer is changed, wherever it stands."""
    answer = await below(request)
    return answer.with_json(_errors_changed(answer.json, change)) if answer.json is not None else answer


def _errors_changed(value: Any, change: Callable[[list[Any]], Any]) -> Any:
    if isinstance(value, dict):
        members = {
            name: change(member)
            if name == "errors" and isinstance(member, list) and member
            else _errors_changed(member, change)
            for name, member in value.items()
        }
        return {name: member for name, member in members.items() if member is not MISSING}
    return [_errors_changed(item, change) for item in value] if isinstance(value, list) else value


async def identifier_missing(request: Request, below: Below, _: Memory) -> Answer | None:
    """The answer to a submission names no identifier."""
    answer = await below(request)
    return replace(answer_json(answer.status, {"message": "accepted"})) if answer.success else answer


async def identifier_altered(request: Request, below: Below, _: Memory) -> Answer | None:
    """The answer to a submission names another identifier."""
    answer = await below(request)
    if not answer.success or not request.uid:
        return answer
    return _renamed(answer, request.uid, request.uid[::-1])


async def member_set(request: Request, below: Below, _: Memory, *, name: str, value: Any) -> Answer | None:
    """A member of an answer has another value, or is not there."""
    answer = await below(request)
    body = answer.json
    if not answer.success or not isinstance(body, dict):
        return answer
    rest = {k: v for k, v in body.items() if k != name}
    return answer.with_json(rest if value is MISSING else {**rest, name: value})


#: Ways to write the expiration of a token that the document does not name.
EXPIRATION_FORMS: Final[Mapping[str, Callable[[datetime], Any]]] = MappingProxyType(
    {
        "without-fraction": lambda moment: moment.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "without-zone": lambda moment: moment.strftime("%Y-%m-%dT%H:%M:%S.%f"),
        "local-time": lambda moment: (
            (moment + timedelta(hours=2)).strftime("%Y-%m-%dT%H:%M:%S.%f") + "+02:00"
        ),
        "epoch-seconds": lambda moment: int(moment.timestamp()),
        "epoch-text": lambda moment: str(int(moment.timestamp())),
        "date-alone": lambda moment: moment.strftime("%Y-%m-%d"),
        "http-date": lambda moment: moment.strftime("%a, %d %b %Y %H:%M:%S GMT"),
        "space-for-t": lambda moment: moment.strftime("%Y-%m-%d %H:%M:%S.%f"),
        "seconds-to-live": lambda _: 3600,
        "missing": lambda _: MISSING,
    }
)


async def expiration_written(request: Request, below: Below, memory: Memory, *, form: str) -> Answer | None:
    """The expiration of a token is written in another form."""
    value = EXPIRATION_FORMS[form](datetime.now(UTC) + timedelta(hours=1))
    return await member_set(request, below, memory, name="expiration", value=value)
