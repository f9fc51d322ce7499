"""Defects of headers and versions: headers that are needed or refused, and paths that are gone."""

from collections.abc import Callable

from starlette.requests import Request

from contracts.sandbox.defects.altering import refuse
from contracts.sandbox.defects.groups import (
    ATTACHING,
    CREATE,
    JSON_BODIES,
    LIST_ATTACHMENTS,
    READING_ATTACHMENTS,
    UPDATE,
    kebab,
)
from contracts.sandbox.defects.registry import Change, defect
from contracts.sandbox.query import header_value
from contracts.sandbox.refusals import Reason, Refusal, not_found

_WITHOUT_BODY = ("getDraft", "getDraftInfo", "draftExists", "deleteDraft", "listDrafts", *READING_ATTACHMENTS)


def _media_type(_: str) -> Refusal:
    return Refusal(Reason.MEDIA_TYPE, "the Content-Type cannot be used")


def _refusing(operation: str, when: Callable[[Request], bool]) -> Change:
    return lambda service: refuse(service, [operation], _media_type, when)


def _typed(request: Request) -> bool:
    return header_value(request, "content-type") is not None


def _untyped(request: Request) -> bool:
    return not _typed(request)


def _with_charset(request: Request) -> bool:
    return "charset" in (header_value(request, "content-type") or "").lower()


for _operation in _WITHOUT_BODY:
    defect(
        f"content-type-refused-by-{kebab(_operation)}",
        clause="content-type-without-body",
        operations=[_operation],
        sentence=f"{_operation} is refused when it carries a Content-Type header.",
    )(_refusing(_operation, _typed))

for _operation in (*LIST_ATTACHMENTS, *ATTACHING):
    defect(
        f"content-type-needed-by-{kebab(_operation)}",
        clause="content-type-not-needed",
        operations=[_operation],
        sentence=f"{_operation} is refused without a Content-Type header.",
    )(_refusing(_operation, _untyped))

for _operation in JSON_BODIES:
    defect(
        f"charset-refused-by-{kebab(_operation)}",
        clause="content-type-charset",
        operations=[_operation],
        sentence=f"{_operation} refuses a Content-Type with the parameter charset.",
    )(_refusing(_operation, _with_charset))


def _gone(operation: str) -> Change:
    return lambda service: refuse(service, [operation], lambda _: not_found("there is nothing at this path"))


for _operation, _clause in (
    ("listAttachments", "version-2013-paths"),
    ("getDraftInfo", "version-2013-paths"),
    (CREATE, "version-2023-paths"),
    (UPDATE, "version-2023-paths"),
):
    defect(
        f"path-of-{kebab(_operation)}-gone",
        clause=_clause,
        operations=[_operation],
        sentence=f"There is nothing at the path and method of {_operation}.",
    )(_gone(_operation))
