"""Defects of the realm: one left out, one made up, and one taken from the wrong place."""

from collections.abc import Callable
from typing import Any

from starlette.requests import Request

from contracts.sandbox.database import Records
from contracts.sandbox.defects.declaration import (
    ATTACHING,
    CREATE,
    CREATE_WITH,
    READING_ATTACHMENTS,
    UPDATE,
    WORKFLOW,
    alter,
    defect,
    edit_refusal,
    in_realm,
    kebab,
    refuse,
    replaces,
)
from contracts.sandbox.http_requests import Reason, Refusal, bad_request, header_value, query_value
from contracts.sandbox.listing import Page
from contracts.sandbox.record_types import Realm
from contracts.sandbox.service import Service
from contracts.sandbox.workflow import Row

_QUERY_ONLY = "abs-dev"


def _unknown(_: str) -> Refusal:
    return bad_request("the realm is not configured")


def _closed(operation: str, realm: str, refusal: Callable[[str], Refusal]) -> Callable[[Service], None]:
    return lambda service: refuse(service, [operation], refusal, in_realm(realm))


for _operation, _realm in (
    ("createContact", "bch-dev"),
    ("updateContact", "abs-dev"),
    ("saveDraft", "bch-dev"),
    ("draftExists", "chm-dev"),
    ("deleteDraft", "chm-dev"),
    ("listDrafts", "abs-dev"),
):
    defect(
        f"realm-{_realm[:3]}-not-for-{kebab(_operation)}",
        clause="realm-document-realms",
        operations=[_operation],
        realms=[_realm],
        sentence=f"{_operation} does not know the realm {_realm}.",
    )(_closed(_operation, _realm, _unknown))


def _row_unknown(_: str) -> Refusal:
    return Row.REALM_UNKNOWN.refusal()


for _operation, _realm in ((CREATE, "ort-dev"), (CREATE_WITH, "chm-dev"), (UPDATE, "ort-dev")):
    defect(
        f"realm-{_realm[:3]}-not-for-{kebab(_operation)}",
        clause="realm-workflow-realms",
        operations=[_operation],
        realms=[_realm],
        sentence=f"{_operation} does not know the realm {_realm} when the header names it.",
    )(_closed(_operation, _realm, _row_unknown))


def _given(service: Service, change: Callable[[Request, str | None], str | None]) -> None:
    """Let ``change`` say which realm a workflow request names, from the request and the faithful answer."""
    alter(service.realms, "given", lambda faithful, request: change(request, faithful(request)))


def _from_header(request: Request) -> bool:
    return bool(header_value(request, "realm"))


@defect("realm-query-ignored", clause="realm-query", operations=WORKFLOW)
def _(service: Service) -> None:
    """A realm in the query does not count; only the header does."""
    _given(
        service, lambda request, found: found if _from_header(request) or not _known(service, found) else None
    )


@defect("realm-query-ignored-on-update", clause="realm-query", operations=[UPDATE])
def _(service: Service) -> None:
    """A realm in the query does not count for an update."""
    _given(
        service,
        lambda request, found: (
            found
            if _from_header(request) or request.scope["operation_id"] != UPDATE or not _known(service, found)
            else None
        ),
    )


@defect(
    "realm-query-only-abs",
    clause="realm-query",
    operations=WORKFLOW,
    realms=["bch-dev", "chm-dev", "ort-dev"],
)
def _(service: Service) -> None:
    """A realm in the query counts only when it is abs-dev."""
    _given(
        service,
        lambda request, found: (
            found if _from_header(request) or found == _QUERY_ONLY or not _known(service, found) else None
        ),
    )


def _known(service: Service, realm: str | None) -> bool:
    return realm in service.realms.realms


def _query_unknown(service: Service, request: Request) -> bool:
    return not _from_header(request) and not _known(service, query_value(request, "Realm") or None)


@defect("realm-query-unknown-status", clause="realm-query-unknown", operations=WORKFLOW)
def _(service: Service) -> None:
    """An unknown realm in the query is refused with 404 in place of 400."""
    _refused_otherwise(service, lambda found: Refusal(Reason.STATED, found.message, status=404))


@defect("realm-query-unknown-message", clause="realm-query-unknown", operations=WORKFLOW)
def _(service: Service) -> None:
    """An unknown realm in the query is refused with the message for a missing one."""
    _refused_otherwise(service, lambda _: Row.REALM_MISSING.refusal())


def _refused_otherwise(service: Service, change: Callable[[Refusal], Refusal]) -> None:
    def otherwise(refusal: Refusal) -> Refusal:
        return change(refusal) if refusal.message == Row.REALM_UNKNOWN.value[1] else refusal

    edit_refusal(service, WORKFLOW, otherwise, lambda request: not _from_header(request))


@defect("realm-query-unknown-taken-for-first", clause="realm-query-unknown", operations=WORKFLOW)
def _(service: Service) -> None:
    """An unknown realm in the query is taken for abs-dev."""
    _given(
        service,
        lambda request, found: (
            _QUERY_ONLY if found is not None and _query_unknown(service, request) else found
        ),
    )


for _operation in (*ATTACHING, "listAttachments", *READING_ATTACHMENTS):

    def _needs_realm(service: Service, operation: str = _operation) -> None:
        refuse(service, [operation], bad_request, lambda request: not _from_header(request))

    defect(
        f"realm-needed-by-{kebab(_operation)}",
        clause="realm-attachments-without",
        operations=[_operation],
        sentence=f"{_operation} is refused without a Realm header.",
    )(_needs_realm)


@defect("realm-empty-taken-for-first", clause="realm-empty", operations=WORKFLOW)
def _(service: Service) -> None:
    """An empty Realm header is taken for abs-dev."""
    _given(service, lambda request, found: found or (_QUERY_ONLY if _empty(request) else None))


@defect("realm-empty-status", clause="realm-empty", operations=WORKFLOW)
def _(service: Service) -> None:
    """An empty Realm header is refused with 404 in place of 400."""
    edit_refusal(
        service,
        WORKFLOW,
        lambda found: Refusal(Reason.STATED, found.message, status=404) if _realm_row(found) else found,
        _empty,
    )


def _empty(request: Request) -> bool:
    return header_value(request, "realm") == ""


def _realm_row(refusal: Refusal) -> bool:
    return refusal.message in {Row.REALM_MISSING.value[1], Row.REALM_UNKNOWN.value[1]}


def _unknown_is_abs(operation: str) -> Callable[[Service], None]:
    """Return the change that takes an unknown realm of one operation for abs-dev."""

    def change(service: Service) -> None:
        def of_documents(faithful: Callable[[Request], Realm], request: Request) -> Realm:
            name = header_value(request, "realm")
            if request.scope["operation_id"] == operation and name and not _known(service, name):
                return service.realms.realms[_QUERY_ONLY]
            return faithful(request)

        alter(service.realms, "of_documents", of_documents)

    return change


for _operation, _clause, _realms in (
    # A record of another realm names an organization that abs-dev does not know, and is refused there all the same.
    ("createContact", "realm-unknown-contact", [_QUERY_ONLY]),
    ("updateContact", "realm-unknown-contact", [_QUERY_ONLY]),
    ("saveDraft", "realm-unknown-draft-save", []),
):
    defect(
        f"realm-unknown-taken-by-{kebab(_operation)}",
        clause=_clause,
        operations=[_operation],
        realms=_realms,
        sentence=f"{_operation} takes an unknown realm for abs-dev.",
    )(_unknown_is_abs(_operation))


@replaces("listing.drafts", "realm-lists-mixed", clause="realm-lists-apart", operations=["listDrafts"])
def _(
    service: Service,
    faithful: Callable[..., list[dict[str, Any]]],
    records: Records,
    realm: str,
    owner: str | None,
    page: Page,
) -> list[dict[str, Any]]:
    """The list of drafts of one realm goes on with the drafts of the others."""
    if page.filter is not None or page.orderby is not None:
        return faithful(records, realm, owner, page)
    rows = [*faithful(records, realm, owner, Page(None, None, None, 0))]
    for other in service.realms.realms:
        rows += faithful(records, other, owner, Page(None, None, None, 0)) if other != realm else []
    return rows[page.skip : None if page.top is None else page.skip + page.top]
