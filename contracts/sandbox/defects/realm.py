"""Defects of the realm: one left out, one made up, and one taken from the wrong place."""

from collections.abc import Callable
from typing import Any

from starlette.requests import Request

from contracts.sandbox.database import Records
from contracts.sandbox.defects.declaration import (
    ATTACHING,
    READING_ATTACHMENTS,
    UPDATE,
    Change,
    alter,
    alteration,
    defects,
    edit_refusal,
    in_realm,
    kebab,
    refuse,
    replaces,
)
from contracts.sandbox.http_requests import Reason, Refusal, bad_request, header_value, query_value
from contracts.sandbox.listing import Page
from contracts.sandbox.service import Service
from contracts.sandbox.workflow import Row

_FIRST = "abs-dev"


def _unknown(_: str) -> Refusal:
    return bad_request("the realm is not configured")


def _row_unknown(_: str) -> Refusal:
    return Row.REALM_UNKNOWN.refusal()


def has_realm_header(request: Request) -> bool:
    """Tell whether a request has a Realm header that is not empty."""
    return bool(header_value(request, "realm"))


def _without_header(request: Request) -> bool:
    return not has_realm_header(request)


def _empty(request: Request) -> bool:
    return header_value(request, "realm") == ""


def _known(service: Service, realm: str | None) -> bool:
    return realm in service.realms.realms


@alteration
def realm_given(service: Service, change: Callable[[Service, Request, str | None], str | None]) -> None:
    """Let ``change`` say which realm a workflow request names, from the request and the faithful answer."""
    alter(service.realms, "given", lambda faithful, request: change(service, request, faithful(request)))


def _query_ignored(meant: Callable[[Request, str | None], bool]) -> Change:
    """Return the change that takes no notice of a known realm in the query of the requests that are meant."""
    return realm_given(
        lambda service, request, realm: (
            None if _without_header(request) and _known(service, realm) and meant(request, realm) else realm
        )
    )


def _unknown_in_query_is_first(service: Service, request: Request, realm: str | None) -> str | None:
    unknown = _without_header(request) and not _known(service, query_value(request, "Realm") or None)
    return _FIRST if realm is not None and unknown else realm


def _of_rows(change: Callable[[Refusal], Refusal], *rows: Row) -> Callable[[Refusal], Refusal]:
    """Return the change of a refusal that is one of some rows of the workflow table."""
    messages = {row.value[1] for row in rows}
    return lambda refusal: change(refusal) if refusal.message in messages else refusal


def _not_found(refusal: Refusal) -> Refusal:
    return Refusal(Reason.STATED, refusal.message, status=404)


defects(
    {
        **{
            f"realm-{realm}-not-for-{operation}": refuse(_unknown, in_realm(f"{realm}-dev"))
            for realm, operation in (
                ("bch", "create-contact"),
                ("abs", "update-contact"),
                ("bch", "save-draft"),
                ("chm", "draft-exists"),
                ("chm", "delete-draft"),
                ("abs", "list-drafts"),
            )
        },
        "realm-ort-not-for-create-workflow-record": refuse(_row_unknown, in_realm("ort-dev")),
        "realm-chm-not-for-create-workflow-record-with-identifier": refuse(_row_unknown, in_realm("chm-dev")),
        "realm-ort-not-for-update-workflow-record": refuse(_row_unknown, in_realm("ort-dev")),
        "realm-query-ignored": _query_ignored(lambda _request, _realm: True),
        "realm-query-ignored-on-update": _query_ignored(
            lambda request, _: request.scope["operation_id"] == UPDATE
        ),
        "realm-query-only-abs": _query_ignored(lambda _, realm: realm != _FIRST),
        "realm-query-unknown-status": edit_refusal(
            _of_rows(_not_found, Row.REALM_UNKNOWN), when=_without_header
        ),
        "realm-query-unknown-message": edit_refusal(
            _of_rows(lambda _: Row.REALM_MISSING.refusal(), Row.REALM_UNKNOWN), when=_without_header
        ),
        "realm-query-unknown-taken-for-first": realm_given(_unknown_in_query_is_first),
        **{
            f"realm-needed-by-{kebab(operation)}": refuse(bad_request, _without_header)
            for operation in (*ATTACHING, "listAttachments", *READING_ATTACHMENTS)
        },
        "realm-empty-taken-for-first": realm_given(
            lambda _, request, realm: realm or (_FIRST if _empty(request) else None)
        ),
        "realm-empty-status": edit_refusal(
            _of_rows(_not_found, Row.REALM_MISSING, Row.REALM_UNKNOWN), when=_empty
        ),
    }
)


@replaces("listing.drafts", "realm-lists-mixed")
def _(
    service: Service,
    faithful: Callable[..., list[dict[str, Any]]],
    records: Records,
    realm: str,
    owner: str | None,
    page: Page,
) -> list[dict[str, Any]]:
    if page.filter is not None or page.orderby is not None:
        return faithful(records, realm, owner, page)
    rows = [*faithful(records, realm, owner, Page(None, None, None, 0))]
    for other in service.realms.realms:
        rows += faithful(records, other, owner, Page(None, None, None, 0)) if other != realm else []
    return rows[page.skip : None if page.top is None else page.skip + page.top]
