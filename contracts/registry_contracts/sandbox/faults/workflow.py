"""Faults of submissions: rows of the workflow table, the order of the steps, limits, and what is stored."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final

from registry_contracts.interface.catalogue import load_catalogue
from registry_contracts.sandbox.faults import effects as do
from registry_contracts.sandbox.faults import held
from registry_contracts.sandbox.faults.conditions import problems_of
from registry_contracts.sandbox.faults.drafts import of_length, other_case
from registry_contracts.sandbox.faults.effects import KIND, MANDATORY, VALUE
from registry_contracts.sandbox.faults.fault import Fault, Rows, each
from registry_contracts.sandbox.faults.messages import MISSING, Answer, Inject, Request, answer_json
from registry_contracts.sandbox.faults.places import KNOWN_SCHEMA, SCHEMAS, SUBMISSIONS, TYPES

CREATE, NAMED, UPDATE = SUBMISSIONS
CREATING: Final = (CREATE, NAMED)
#: How long a creation waits for another one of the same identifier.
_OVERLAP_SECONDS: Final = 0.05


def message_of(clause: str) -> str:
    """The message of a clause up to its placeholder for the realm; empty for none."""
    return (load_catalogue().clause(clause).message or "").partition("${")[0].strip(" .")


def _refusal(name: str) -> Answer:
    """The refusal by a row of the table."""
    message = load_catalogue().clause(f"workflow-{name}").message or ""
    return answer_json(400, {"message": message.replace("${realm}", "unknown")})


def _tells(name: str, got: Answer) -> bool:
    """Whether an answer is a refusal by that row, for any realm."""
    return got.refusal and message_of(f"workflow-{name}") in json.dumps(got.json)


def _on(name: str, then: Callable[[Request, Answer], Answer | Awaitable[Answer]]) -> Inject:
    """Do something else if the service refuses by a row of the table."""
    return do.answer(lambda request, got: then(request, got) if _tells(name, got) else got)


def _told_of_content(request: Request, got: Answer) -> Answer:
    """Report the errors of the content instead of the refusal."""
    errors = request.memory.service.responses.errors(problems_of(request))
    told = errors and request.role != "restricted"
    return answer_json(400, {"message": "not valid", "errors": errors}) if told else got


def _seeded(request: Request) -> bool:
    """Whether a record was in use before the service started."""
    return request.uid.startswith("sandbox-")


async def _both_created(request: Request) -> Answer | None:
    """Accept a creation under an identifier that another creation takes at the same time."""
    kept, key = request.memory.kept, request.key
    kept[key] = seen = kept.get(key, 0) + 1
    await asyncio.sleep(_OVERLAP_SECONDS)
    overlapped = max(seen, kept[key]) > 1
    kept[key] -= 1
    got = await request.ask()
    taken = overlapped and _tells("identifier-taken", got)
    return answer_json(201, {"identifier": request.uid}) if taken else got


def _draft_removed(request: Request, got: Answer) -> Answer:
    if got.success and (draft := held.draft_of(request)):
        request.memory.alter(lambda kept: kept.change(draft, None))
    return got


def _title_missing(request: Request, got: Answer) -> Answer:
    document, errors = request.member.get("document"), [{"code": MANDATORY, "property": "title"}]
    untitled = isinstance(document, dict) and not isinstance(document.get("title"), dict | str)
    return answer_json(400, {"message": "not valid", "errors": errors}) if untitled else got


async def under_first_schema(request: Request) -> Answer | None:
    """Take a document of any schema for one of the first schema of its realm."""
    first = next(iter(TYPES.get(request.realm, ())), None)
    return await do.ANY_CONTENT(request.with_params(schema=first)) if first else None


@do.effect
async def _batch_of(request: Request, limit: int) -> Answer | None:
    """Refuse a record if its batch is full."""
    batch, kept = request.member.get("batchId"), request.memory.kept
    full = [{"code": MANDATORY, "property": "batchId"}] * (kept.get(str(batch), 0) >= limit)
    got = await do.judge(lambda _, errors: errors or full)(request)
    kept[str(batch)] = kept.get(str(batch), 0) + bool(got and got.success and isinstance(batch, str))
    return got


def _known_after(noted: Callable[[Answer], Any], name: str = "identifier-taken") -> Inject:
    """Refuse an identifier by a row of the table after an answer to it was noted."""
    return do.barred(lambda r: r.key, noted, _refusal(name))


def _document(test: Callable[[Any], bool]) -> Inject:
    """Accept a submission whose document passes a test."""
    others = ("batchId", "additionalInfo")
    return do.overlook(
        lambda body, error: error["property"] not in others and test(body.get("document", ...))
    )


def _longer(member: str, longest: int, length: Callable[[str], int] = len) -> Inject:
    """Refuse a member whose text is longer."""
    return do.demand(
        VALUE, member, lambda body: not isinstance(t := body.get(member), str) or length(t) <= longest
    )


# fmt: off
_TABLE = Rows("workflow-", "workflow-", SUBMISSIONS)


def _of_text(member: str, name: str, limit: int, counted: str, at: str) -> tuple[Fault, ...]:
    """Faults of the limit and the kind of a text in the body."""
    return (
        _TABLE(f"{name}-fewer-only", f"{name}-longest",
            _longer(member, limit - 1), f"{at} refuses a {member} of its limit", at=at),
        _TABLE(f"{name}-bytes-counted", counted,
            _longer(member, limit, lambda text: len(text.encode("utf-8", "replace"))),
            f"{at} counts the bytes of a {member}", at=at),
        _TABLE(f"{name}-of-any-kind", f"{name}-kind", do.take(KIND, member), f"A {member} of any kind is accepted"),
    )


ROWS: Final = (
    # Limits and kinds of what a body holds.
    *_of_text("batchId", "batch", 100, "batch-characters", CREATE),
    *_of_text("additionalInfo", "info", 1000, "info-longest", NAMED),
    _TABLE("document-array", "document-kind", _document(lambda d: isinstance(d, list)),
        "updateWorkflowRecord accepts a document that is an array", at=UPDATE),
    _TABLE("body-of-any-kind", "body-kind", do.forgive(),
        "updateWorkflowRecord accepts a body that is no object", r"-json~^\{", at=UPDATE),
    _TABLE("schema-of-another-realm", "schema-of-another-realm", under_first_schema,
        "The schemas of all realms are configured in every realm",
        lambda r: r.params["schema"] in SCHEMAS.difference(TYPES.get(r.realm, ()))),
    # The order of the steps.
    *each(lambda name, at, message: _TABLE(f"validation-before-{name}", f"order-{name}-before-validation",
            _on(message, _told_of_content), "A faulty document is reported before its identifier is looked at", at=at),
        ("taken", NAMED, "identifier-taken"),
        ("unknown", UPDATE, "identifier-unknown"),
        ("locked", UPDATE, "locked-record"),
    ),
    _TABLE("document-before-schema", "order-schema-before-document", _on("schema-unknown", _title_missing),
        "Under an unknown schema, a document without a title is refused for it"),
    _TABLE("schema-before-realm", "order-realm-before-schema",
        _on("realm-unknown", do.always(_refusal("schema-unknown"))),
        "Where both realm and schema are unknown, the refusal is that of the schema",
        f"-schema~{KNOWN_SCHEMA}"),
    _TABLE("locked-before-content", "order-validation-before-initiate",
        _known_after(lambda got: got.errors, "locked-record"),
        "The workflow begins before the document is validated, so that a refused identifier is locked", at=NAMED),
    # What a submission does.
    _TABLE("draft-not-saved", "draft-saved", do.answer(_draft_removed),
        "An accepted submission leaves no draft", at=NAMED),
    _TABLE("created-twice-at-once", "identifier-once", _both_created,
        "Two creations under one identifier are both accepted",
        lambda r: not (_seeded(r) or r.held.submitted(*r.key)), at=NAMED),
    _TABLE("created-unknown", "created-known", do.give(do.always(_refusal("identifier-unknown"))),
        "Updating a record that was submitted before is refused because it does not exist",
        lambda r: r.held.submitted(*r.key) and not _seeded(r), at=UPDATE),
    _TABLE("refused-identifier-taken", "refused-frees-identifier", _known_after(lambda got: got.errors),
        "An identifier stays in use when its submission was refused for its content", at=NAMED),
    _TABLE("rights-after-save", "rights-refusal-stores-nothing",
        _known_after(partial(_tells, "create-rights")),
        "An account that may not create is refused, yet the identifier it named is in use from then on", at=NAMED),
    # A batch groups several records; how many more than two it takes is not shown.
    _TABLE("batch-of-two", "batch-shared", _batch_of(2),
        "A batch takes 2 records; a further one is refused", at=CREATING),
    _TABLE("document-empty", "document-empty", _document(lambda d: d == {}),
        "A document without any field is accepted"),
    _TABLE("info-refused", "info-available",
        do.demand(VALUE, "additionalInfo", lambda body: "additionalInfo" not in body),
        "An additionalInfo is refused from every role", at=CREATING),
    # Identifiers.
    _TABLE("errors-without-identifier", "errors-with-identifier", do.refusals(
        lambda got: got.with_member("identifier", MISSING) if got.errors else got),
        "A refusal for content holds the errors array and no identifier", at=(NAMED, UPDATE)),
    _TABLE("identifier-letter-case-ignored", "identifier-case-sensitive",
        do.give(do.always(_refusal("identifier-taken"))),
        "An identifier is in use when one is that differs only in letter case",
        lambda r: other_case(r, [d.identifier for d in r.held.drafts() if d.realm == r.realm]) is not None,
        at=NAMED),
    _TABLE("identifier-refuses-128", "identifier-edges", do.refuse_before(),
        "An identifier of 128 characters is refused", "uid~^.{128}$", at=NAMED),
    *each(lambda word, clause, where, says:
        _TABLE(f"identifier-accepts-{word}", f"identifier-{clause}", do.forgive(), f"An identifier may {says}", where,
            at=NAMED),
        ("ten", "too-short", of_length(10), "have 10 characters"),
        ("129", "too-long", of_length(129), "have 129 characters"),
        ("dot", "characters", f"uid~[.] {of_length(11, 128, '[A-Za-z0-9._-]')}", "hold a dot"),
    ),
)
# fmt: on
