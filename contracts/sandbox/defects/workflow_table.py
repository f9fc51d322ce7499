"""Defects of the nine rows of the workflow's status table, and of the order of a submission's steps."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.defects.declaration import (
    CREATE,
    CREATE_WITH,
    UPDATE,
    Change,
    Handler,
    Operations,
    When,
    alter,
    alteration,
    alteration_at,
    always,
    answers,
    defects,
    edit_refusal,
    in_realm,
    json_of,
    replaces,
)
from contracts.sandbox.defects.http import has_realm_header, realm_given
from contracts.sandbox.http_requests import Fault, Reason, Refusal, header_value, query_value
from contracts.sandbox.record_types import MANDATORY, Realm, RecordType
from contracts.sandbox.service import Service
from contracts.sandbox.storage import Records
from contracts.sandbox.workflow import Row, Submission

Run = Callable[[Submission, Records], str]
Instead = Callable[[Run, Submission, Records], str]


def run_instead(service: Service, instead: Instead) -> None:
    """Run the steps of a submission in another way; ``instead`` is given the faithful one too."""
    alter(service.workflow, "run", instead)


@alteration
def running(service: Service, instead: Callable[[Service, Run, Submission, Records], str]) -> None:
    """Run the steps of a submission in another way; ``instead`` is given the service and the faithful one."""
    run_instead(service, partial(instead, service))


def operation_of(submission: Submission) -> str:
    """Return the operation id by which a submission came."""
    if not submission.creating:
        return UPDATE
    return CREATE if submission.path_identifier is None else CREATE_WITH


def identifier_of(service: Service, submission: Submission) -> str | None:
    """Return the identifier that a submission names, or ``None``."""
    return submission.given_identifier(service.identifiers)


def exists(submission: Submission, identifier: str | None, records: Records) -> bool:
    """Tell whether a record of the identifier exists in the realm."""
    return identifier is not None and records.owner(submission.realm.name, identifier) is not None


def locked(submission: Submission, identifier: str | None, records: Records) -> bool:
    """Tell whether the record of the identifier is locked."""
    return identifier is not None and records.is_locked(submission.realm.name, identifier)


def faulty(service: Service, submission: Submission, records: Records) -> bool:
    """Tell whether the content of a submission is faulty."""
    return bool(service.submissions.faults(submission, records))


def carry_out(service: Service, submission: Submission, identifier: str, records: Records) -> str:
    """Save and initiate, without any check; a lock that is there stays."""
    document: Any = submission.body.get("document")
    service.workflow.save_draft(with_document(submission, document), identifier, records)
    if not records.is_locked(submission.realm.name, identifier):
        service.workflow.initiate(submission, identifier, records)
    return identifier


def with_document(submission: Submission, document: Any) -> Submission:
    """Return a submission with another document."""
    return replace(submission, body={**submission.body, "document": document})


def allowed(service: Service, submission: Submission, records: Records) -> bool:
    """Tell whether the first step lets a submission pass."""
    identifier = identifier_of(service, submission)
    if submission.creating:
        return not exists(submission, identifier, records)
    return exists(submission, identifier, records) and not locked(submission, identifier, records)


def known_schemas(service: Service) -> set[str]:
    """Return the names of the schemas that any realm has configured."""
    return {name for realm in service.realms.realms.values() for name in realm.types}


def _without_realm(request: Request) -> bool:
    return header_value(request, "realm") is None


def _header_or_nothing(request: Request) -> bool:
    return not _without_realm(request) or query_value(request, "Realm") is None


def _no_token(request: Request) -> bool:
    return header_value(request, "authorization") is None


def _some_token(request: Request) -> bool:
    return header_value(request, "authorization") is not None


#: The row that stands behind each clause, and the requests whose refusal by that row the clause is about.
_ROWS: dict[str, tuple[Row, When]] = {
    "workflow-realm-missing": (Row.REALM_MISSING, _without_realm),
    "workflow-realm-unknown": (Row.REALM_UNKNOWN, _header_or_nothing),
    "workflow-schema-unknown": (Row.SCHEMA_UNKNOWN, always),
    "workflow-identifier-taken": (Row.IN_USE, always),
    "workflow-identifier-unknown": (Row.NOT_EXISTING, always),
    "workflow-locked-record": (Row.LOCKED, always),
    "workflow-update-rights": (Row.MAY_NOT_UPDATE, always),
    "workflow-create-rights": (Row.MAY_NOT_CREATE, always),
    "workflow-anonymous": (Row.ANONYMOUS, _no_token),
    "workflow-invalid-token": (Row.ANONYMOUS, _some_token),
}


def _is_row(refusal: Refusal, row: Row) -> bool:
    return refusal.message.startswith(row.value[1].partition("${realm}")[0]) and refusal.status is not None


def _refused(clause: str, change: Callable[[Refusal], Refusal], when: When = always) -> Change:
    """Return the change of the refusals of a clause's row."""
    row, right = _ROWS[clause]
    return edit_refusal(
        lambda refusal: change(refusal) if _is_row(refusal, row) else refusal,
        lambda request: right(request) and when(request),
    )


def _status(clause: str, status: int) -> Change:
    return _refused(clause, lambda refusal: Refusal(Reason.STATED, refusal.message, status=status))


def _message(clause: str, change: Callable[[str], str], when: When = always) -> Change:
    return _refused(
        clause, lambda refusal: Refusal(Reason.STATED, change(refusal.message), status=refusal.status), when
    )


def _without(part: str, instead: str = "") -> Callable[[str], str]:
    return lambda text: text.replace(part, instead)


def _first_half(text: str) -> str:
    return text.partition(",")[0]


_STATUSES = {
    "workflow-realm-missing": 422,
    "workflow-realm-unknown": 404,
    "workflow-schema-unknown": 404,
    "workflow-identifier-taken": 409,
    "workflow-identifier-unknown": 404,
    "workflow-locked-record": 423,
    "workflow-update-rights": 401,
    "workflow-create-rights": 400,
    "workflow-anonymous": 401,
    "workflow-invalid-token": 401,
}
_MESSAGES: dict[str, Callable[[str], str]] = {
    "workflow-realm-missing": _without("querystring", "query"),
    "workflow-realm-unknown": _first_half,
    "workflow-schema-unknown": lambda _: Row.SCHEMA_UNKNOWN.value[1],
    "workflow-identifier-taken": _without(" 'identifier'"),
    "workflow-identifier-unknown": lambda _: Row.IN_USE.value[1],
    "workflow-locked-record": _without(" for workflow"),
    "workflow-update-rights": lambda _: Row.MAY_NOT_CREATE.value[1],
    "workflow-create-rights": lambda _: Row.MAY_NOT_UPDATE.value[1],
    "workflow-anonymous": _first_half,
    "workflow-invalid-token": lambda _: "Authorization required, token is invalid.",
}
defects(
    {
        **{f"{clause}-status": _status(clause, status) for clause, status in _STATUSES.items()},
        **{f"{clause}-message": _message(clause, change) for clause, change in _MESSAGES.items()},
        "workflow-realm-missing-status-on-update-workflow-record": _status("workflow-realm-missing", 422),
        "workflow-schema-unknown-status-on-create-workflow-record-with-identifier": _status(
            "workflow-schema-unknown", 422
        ),
        "workflow-create-rights-status-on-create-workflow-record": _status("workflow-create-rights", 422),
        "workflow-anonymous-status-on-update-workflow-record": _status("workflow-anonymous", 422),
        "workflow-schema-unknown-message-in-bch": _message(
            "workflow-schema-unknown", _without("bch-dev", "abs-dev"), in_realm("bch-dev")
        ),
        "workflow-locked-record-message-in-ort": _message(
            "workflow-locked-record", str.upper, in_realm("ort-dev")
        ),
        "workflow-identifier-taken-message-in-chm": _message(
            "workflow-identifier-taken", _without("document", "record"), in_realm("chm-dev")
        ),
    }
)


def _first_unless_named(_service: Service, request: Request, realm: str | None) -> str | None:
    named = not _without_realm(request) or query_value(request, "Realm") is not None
    return realm or (None if named else "abs-dev")


def _first_for_unknown(service: Service, request: Request, realm: str | None) -> str | None:
    return realm if realm in service.realms.realms or not has_realm_header(request) else "abs-dev"


def _of_the_application(service: Service, _request: Request, realm: str | None) -> str | None:
    application = (realm or "").partition("-")[0] + "-dev"
    return (
        realm if realm in service.realms.realms or application not in service.realms.realms else application
    )


@replaces("workflow.require_schema", "workflow-schema-of-any-name")
def _(service: Service, faithful: Callable[..., RecordType], request: Request, realm: Realm) -> RecordType:
    if request.path_params["schema"] not in known_schemas(service):
        return next(iter(realm.types.values()))
    return faithful(request, realm)


def _unless_refused_later(
    service: Service, faithful: Run, submission: Submission, identifier: str, records: Records
) -> str:
    """Carry a submission out, but leave those to the faithful steps that rights or content stop as well."""
    if not submission.caller.may_write or faulty(service, submission, records):
        return faithful(submission, records)
    return carry_out(service, submission, identifier, records)


Meant = Callable[[Submission, str | None, Records], bool]


def _taken_at_start(submission: Submission, _identifier: str | None, _records: Records) -> bool:
    return submission.creating and (submission.path_identifier or "").startswith("sandbox-")


def _taken(submission: Submission, identifier: str | None, records: Records) -> bool:
    return operation_of(submission) == CREATE_WITH and exists(submission, identifier, records)


def _absent(submission: Submission, identifier: str | None, records: Records) -> bool:
    return operation_of(submission) == UPDATE and not exists(submission, identifier, records)


def _locked(submission: Submission, identifier: str | None, records: Records) -> bool:
    return operation_of(submission) == UPDATE and locked(submission, identifier, records)


def _published_not_in_use(service: Service, faithful: Run, submission: Submission, records: Records) -> str:
    """Create under the identifier of a record that was published at the start as under one that is free."""
    identifier = submission.path_identifier or ""
    if not submission.creating or not identifier.startswith("sandbox-published-"):
        return faithful(submission, records)
    service.workflow.validate(submission, records)
    return _unless_refused_later(service, faithful, submission, identifier, records)


def _locked_in_batch(submission: Submission, identifier: str | None, records: Records) -> bool:
    return "batchId" in submission.body and _locked(submission, identifier, records)


def _accepted(meant: Meant) -> Change:
    """Return the change that carries submissions out that the first step would refuse."""

    def run(service: Service, faithful: Run, submission: Submission, records: Records) -> str:
        identifier = identifier_of(service, submission)
        if identifier is None or not meant(submission, identifier, records):
            return faithful(submission, records)
        return _unless_refused_later(service, faithful, submission, identifier, records)

    return running(run)


@alteration
def _without_rights(service: Service, *, creating: bool, in_batch: bool = False) -> None:
    """Let accounts without rights create, or update; or only where the record is one of a batch."""

    def create_securities(faithful: Any, submission: Submission, identifier: str, records: Records) -> None:
        meant = submission.creating == creating and (not in_batch or "batchId" in submission.body)
        if not meant or submission.caller.may_write:
            faithful(submission, identifier, records)

    alter(service.workflow, "create_securities", create_securities)


def _validated_first(meant: Meant, *, with_rights: bool = True) -> Change:
    """Return the change that validates the document before anything else, where ``meant`` says so.

    Args:
        meant: tells of which submissions.
        with_rights: of accounts that may write, else of those that may not.

    """

    def run(service: Service, faithful: Run, submission: Submission, records: Records) -> str:
        may = submission.caller.may_write
        if may == with_rights and meant(submission, identifier_of(service, submission), records):
            service.workflow.validate(submission, records)
        return faithful(submission, records)

    return running(run)


def _rights_first(meant: Meant) -> Change:
    """Return the change that looks at the rights before the identifier, where ``meant`` says so."""

    def run(service: Service, faithful: Run, submission: Submission, records: Records) -> str:
        may = submission.caller.may_write
        if not may and meant(submission, identifier_of(service, submission), records):
            raise (Row.MAY_NOT_CREATE if submission.creating else Row.MAY_NOT_UPDATE).refusal()
        return faithful(submission, records)

    return running(run)


def _content_before_rights(*, creating: bool) -> Change:
    def run(service: Service, faithful: Run, submission: Submission, records: Records) -> str:
        meant = submission.creating == creating and not submission.caller.may_write
        if meant and allowed(service, submission, records):
            service.workflow.validate(submission, records)
        return faithful(submission, records)

    return running(run)


@alteration_at
def _schema_before_realm(service: Service, operations: Operations) -> None:
    known = known_schemas(service)

    def otherwise(refusal: Refusal) -> Refusal:
        unknown = refusal.message == Row.REALM_UNKNOWN.value[1]
        return Row.SCHEMA_UNKNOWN.refusal("unknown") if unknown else refusal

    edit_refusal(otherwise, lambda request: request.path_params["schema"] not in known)(service, operations)


async def _untitled(request: Request) -> bool:
    """Tell whether the document of a submission is an object without a title of a right kind."""
    body = await json_of(request)
    document = body.get("document") if isinstance(body, dict) else None
    return isinstance(document, dict) and not isinstance(document.get("title"), dict | str)


@answers("workflow-document-before-schema")
async def _(_service: Service, faithful: Handler, request: Request) -> Response:
    untitled = await _untitled(request)
    try:
        return await faithful(request)
    except Refusal as refusal:
        if untitled and _is_row(refusal, Row.SCHEMA_UNKNOWN):
            faults = [Fault(MANDATORY, ("title",))]
            raise Refusal(Reason.INVALID_CONTENT, "not valid", faults=faults) from None
        raise


@answers("workflow-schema-before-realm-of-faulty")
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    unknown = request.path_params["schema"] not in known_schemas(service)
    untitled = await _untitled(request)
    try:
        return await faithful(request)
    except Refusal as refusal:
        if unknown and untitled and _is_row(refusal, Row.REALM_UNKNOWN):
            raise Row.SCHEMA_UNKNOWN.refusal("unknown") from None
        raise


defects(
    {
        "workflow-realm-not-needed": realm_given(_first_unless_named),
        "workflow-realm-of-any-name": realm_given(_first_for_unknown),
        "workflow-realm-of-its-beginning": realm_given(_of_the_application),
        "workflow-taken-accepted": _accepted(_taken_at_start),
        "workflow-published-not-in-use": running(_published_not_in_use),
        "workflow-update-creates": _accepted(_absent),
        "workflow-locked-accepted": _accepted(_locked),
        "workflow-update-rights-not-needed": _without_rights(creating=False),
        "workflow-create-rights-not-needed": _without_rights(creating=True),
        "workflow-update-rights-not-needed-in-batch": _without_rights(creating=False, in_batch=True),
        "workflow-create-rights-not-needed-in-batch": _without_rights(creating=True, in_batch=True),
        "workflow-validation-before-taken": _validated_first(_taken),
        "workflow-validation-before-taken-without-rights": _validated_first(_taken, with_rights=False),
        "workflow-validation-before-unknown": _validated_first(_absent),
        "workflow-validation-before-locked": _validated_first(_locked),
        "workflow-validation-before-locked-in-batch": _validated_first(_locked_in_batch),
        "workflow-rights-before-taken": _rights_first(_taken),
        "workflow-rights-before-unknown": _rights_first(_absent),
        "workflow-rights-before-locked": _rights_first(_locked),
        "workflow-validation-before-rights-on-create": _content_before_rights(creating=True),
        "workflow-validation-before-rights-on-update": _content_before_rights(creating=False),
        "workflow-schema-before-realm": _schema_before_realm(),
    }
)
