"""Defects of the nine rows of the workflow's status table, and of the order of a submission's steps."""

from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.database import Records
from contracts.sandbox.defects.declaration import (
    CREATE,
    CREATE_WITH,
    UPDATE,
    WORKFLOW,
    Change,
    Handler,
    When,
    alter,
    always,
    answers,
    defect,
    edit_refusal,
    in_realm,
    json_of,
    kebab,
    replaces,
)
from contracts.sandbox.http_requests import Fault, Reason, Refusal, header_value, query_value
from contracts.sandbox.record_types import Realm, RecordType
from contracts.sandbox.service import Service
from contracts.sandbox.workflow import Row, Submission

Run = Callable[[Submission, Records], str]
Instead = Callable[[Run, Submission, Records], str]


def run_instead(service: Service, instead: Instead) -> None:
    """Run the steps of a submission in another way; ``instead`` is given the faithful one too."""
    alter(service.workflow, "run", instead)


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
    whole = submission if "document" in submission.body else _with(submission, document)
    service.workflow.save_draft(whole, identifier, records)
    if not records.is_locked(submission.realm.name, identifier):
        service.workflow.initiate(submission, identifier, records)
    return identifier


def _with(submission: Submission, document: Any) -> Submission:
    body = {**submission.body, "document": document}
    return Submission(
        submission.caller,
        submission.realm,
        submission.kind,
        submission.path_identifier,
        body,
        submission.creating,
    )


def allowed(service: Service, submission: Submission, records: Records) -> bool:
    """Tell whether the first step lets a submission pass."""
    identifier = identifier_of(service, submission)
    if submission.creating:
        return not exists(submission, identifier, records)
    return exists(submission, identifier, records) and not locked(submission, identifier, records)


def _header_or_nothing(request: Request) -> bool:
    return header_value(request, "realm") is not None or query_value(request, "Realm") is None


def _no_token(request: Request) -> bool:
    return header_value(request, "authorization") is None


def _some_token(request: Request) -> bool:
    return header_value(request, "authorization") is not None


_ROWS: dict[str, tuple[Row, tuple[str, ...], When]] = {
    "workflow-realm-missing": (
        Row.REALM_MISSING,
        WORKFLOW,
        lambda request: header_value(request, "realm") is None,
    ),
    "workflow-realm-unknown": (Row.REALM_UNKNOWN, WORKFLOW, _header_or_nothing),
    "workflow-schema-unknown": (Row.SCHEMA_UNKNOWN, WORKFLOW, always),
    "workflow-identifier-taken": (Row.IN_USE, (CREATE_WITH,), always),
    "workflow-identifier-unknown": (Row.NOT_EXISTING, (UPDATE,), always),
    "workflow-locked-record": (Row.LOCKED, (UPDATE,), always),
    "workflow-update-rights": (Row.MAY_NOT_UPDATE, (UPDATE,), always),
    "workflow-create-rights": (Row.MAY_NOT_CREATE, (CREATE, CREATE_WITH), always),
    "workflow-anonymous": (Row.ANONYMOUS, WORKFLOW, _no_token),
    "workflow-invalid-token": (Row.ANONYMOUS, WORKFLOW, _some_token),
}


def _is_row(refusal: Refusal, row: Row) -> bool:
    return refusal.message.startswith(row.value[1].partition("${realm}")[0]) and refusal.status is not None


def _otherwise(
    clause: str, operations: tuple[str, ...], change: Callable[[Refusal], Refusal], when: When
) -> Change:
    row, _, right = _ROWS[clause]
    return lambda service: edit_refusal(
        service,
        operations,
        lambda refusal: change(refusal) if _is_row(refusal, row) else refusal,
        lambda request: right(request) and when(request),
    )


def _status(status: int) -> Callable[[Refusal], Refusal]:
    return lambda refusal: Refusal(Reason.STATED, refusal.message, status=status)


def _message(change: Callable[[str], str]) -> Callable[[Refusal], Refusal]:
    return lambda refusal: Refusal(Reason.STATED, change(refusal.message), status=refusal.status)


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
for _clause, _code in _STATUSES.items():
    defect(
        f"{_clause}-status",
        clause=_clause,
        operations=_ROWS[_clause][1],
        sentence=f"The right message comes with the status {_code}.",
    )(_otherwise(_clause, _ROWS[_clause][1], _status(_code), always))

for _clause, _operation in (
    ("workflow-realm-missing", UPDATE),
    ("workflow-schema-unknown", CREATE_WITH),
    ("workflow-create-rights", CREATE),
    ("workflow-anonymous", UPDATE),
):
    defect(
        f"{_clause}-status-on-{kebab(_operation)}",
        clause=_clause,
        operations=[_operation],
        sentence=f"The right message comes with the status 422, on {_operation} alone.",
    )(_otherwise(_clause, (_operation,), _status(422), always))

_MESSAGES: dict[str, tuple[str, Callable[[str], str]]] = {
    "workflow-realm-missing": (
        "the query string is called a query",
        lambda text: text.replace("querystring", "query"),
    ),
    "workflow-realm-unknown": ("only its first half is there", lambda text: text.partition(",")[0]),
    "workflow-schema-unknown": ("the realm is left unfilled", lambda _: Row.SCHEMA_UNKNOWN.value[1]),
    "workflow-identifier-taken": (
        "it lacks the word identifier",
        lambda text: text.replace(" 'identifier'", ""),
    ),
    "workflow-identifier-unknown": ("it is that of an identifier in use", lambda _: Row.IN_USE.value[1]),
    "workflow-locked-record": (
        "it does not speak of the workflow",
        lambda text: text.replace(" for workflow", ""),
    ),
    "workflow-update-rights": ("it is that of creating", lambda _: Row.MAY_NOT_CREATE.value[1]),
    "workflow-create-rights": ("it is that of updating", lambda _: Row.MAY_NOT_UPDATE.value[1]),
    "workflow-anonymous": ("only its first half is there", lambda text: text.partition(",")[0]),
    "workflow-invalid-token": (
        "it speaks of an invalid token",
        lambda _: "Authorization required, token is invalid.",
    ),
}
for _clause, (_what, _change) in _MESSAGES.items():
    defect(
        f"{_clause}-message",
        clause=_clause,
        operations=_ROWS[_clause][1],
        sentence=f"The right status comes with another message: {_what}.",
    )(_otherwise(_clause, _ROWS[_clause][1], _message(_change), always))

_ELSEWHERE: tuple[tuple[str, str, Callable[[str], str], str], ...] = (
    ("workflow-schema-unknown", "bch-dev", lambda text: text.replace("bch-dev", "abs-dev"), "names abs-dev"),
    ("workflow-locked-record", "ort-dev", str.upper, "is written in capitals"),
    (
        "workflow-identifier-taken",
        "chm-dev",
        lambda text: text.replace("document", "record"),
        "speaks of a record",
    ),
)
for _clause, _realm, _change, _what in _ELSEWHERE:
    defect(
        f"{_clause}-message-in-{_realm[:3]}",
        clause=_clause,
        operations=_ROWS[_clause][1],
        realms=[_realm],
        sentence=f"In {_realm} the message {_what}.",
    )(_otherwise(_clause, _ROWS[_clause][1], _message(_change), in_realm(_realm)))


@defect("workflow-realm-not-needed", clause="workflow-realm-missing", operations=WORKFLOW)
def _(service: Service) -> None:
    """A submission without a realm goes to abs-dev."""
    _given(service, lambda request, found: found or (None if _named(request) else "abs-dev"))


@defect("workflow-realm-of-any-name", clause="workflow-realm-unknown", operations=WORKFLOW)
def _(service: Service) -> None:
    """A submission under an unknown realm in the header goes to abs-dev."""
    known = service.realms.realms
    _given(service, lambda request, found: found if found in known or not _headed(request) else "abs-dev")


def _headed(request: Request) -> bool:
    return bool(header_value(request, "realm"))


def _named(request: Request) -> bool:
    return header_value(request, "realm") is not None or query_value(request, "Realm") is not None


def _given(service: Service, change: Callable[[Request, str | None], str | None]) -> None:
    alter(service.realms, "given", lambda faithful, request: change(request, faithful(request)))


@defect("workflow-schema-of-any-name", clause="workflow-schema-unknown", operations=WORKFLOW)
def _(service: Service) -> None:
    """A schema that no realm knows is taken for the first one of the realm."""
    known = {name for realm in service.realms.realms.values() for name in realm.types}

    def require_schema(faithful: Callable[..., RecordType], request: Request, realm: Realm) -> RecordType:
        if request.path_params["schema"] not in known:
            return next(iter(realm.types.values()))
        return faithful(request, realm)

    alter(service.workflow, "require_schema", require_schema)


def _unless_refused_later(
    service: Service, faithful: Run, submission: Submission, identifier: str, records: Records
) -> str:
    """Carry a submission out, but leave those to the faithful steps that rights or content stop as well."""
    if not submission.caller.may_write or faulty(service, submission, records):
        return faithful(submission, records)
    return carry_out(service, submission, identifier, records)


@replaces(
    "workflow.run", "workflow-taken-accepted", clause="workflow-identifier-taken", operations=[CREATE_WITH]
)
def _(service: Service, faithful: Run, submission: Submission, records: Records) -> str:
    """Creating under an identifier that was in use before the service started is accepted."""
    identifier = submission.path_identifier
    if submission.creating and identifier is not None and identifier.startswith("sandbox-"):
        return _unless_refused_later(service, faithful, submission, identifier, records)
    return faithful(submission, records)


@replaces(
    "workflow.run", "workflow-update-creates", clause="workflow-identifier-unknown", operations=[UPDATE]
)
def _(service: Service, faithful: Run, submission: Submission, records: Records) -> str:
    """Updating under an identifier that does not exist creates the record."""
    identifier = identifier_of(service, submission)
    if submission.creating or identifier is None or exists(submission, identifier, records):
        return faithful(submission, records)
    return _unless_refused_later(service, faithful, submission, identifier, records)


@replaces("workflow.run", "workflow-locked-accepted", clause="workflow-locked-record", operations=[UPDATE])
def _(service: Service, faithful: Run, submission: Submission, records: Records) -> str:
    """Updating a record that is locked for workflow is accepted."""
    identifier = identifier_of(service, submission)
    if submission.creating or identifier is None or not locked(submission, identifier, records):
        return faithful(submission, records)
    return _unless_refused_later(service, faithful, submission, identifier, records)


for _clause, _creating in (("workflow-update-rights", False), ("workflow-create-rights", True)):

    def _without_rights(service: Service, creating: bool = _creating) -> None:
        def create_securities(
            faithful: Any, submission: Submission, identifier: str, records: Records
        ) -> None:
            if submission.creating != creating or submission.caller.may_write:
                faithful(submission, identifier, records)

        alter(service.workflow, "create_securities", create_securities)

    defect(
        f"{_clause}-not-needed",
        clause=_clause,
        operations=(CREATE, CREATE_WITH) if _creating else (UPDATE,),
        sentence="An account without rights may do what it may not.",
    )(_without_rights)


Meant = Callable[[Submission, str | None, Records], bool]


def _taken(submission: Submission, identifier: str | None, records: Records) -> bool:
    return operation_of(submission) == CREATE_WITH and exists(submission, identifier, records)


def _absent(submission: Submission, identifier: str | None, records: Records) -> bool:
    return operation_of(submission) == UPDATE and not exists(submission, identifier, records)


def _locked(submission: Submission, identifier: str | None, records: Records) -> bool:
    return operation_of(submission) == UPDATE and locked(submission, identifier, records)


def _validated_first(meant: Meant) -> Change:
    """Return the change that validates the document before anything else, where ``meant`` says so."""

    def change(service: Service) -> None:
        def run(faithful: Run, submission: Submission, records: Records) -> str:
            may = submission.caller.may_write
            if may and meant(submission, identifier_of(service, submission), records):
                service.workflow.validate(submission, records)
            return faithful(submission, records)

        run_instead(service, run)

    return change


def _rights_first(meant: Meant) -> Change:
    """Return the change that looks at the rights before the identifier, where ``meant`` says so."""

    def change(service: Service) -> None:
        def run(faithful: Run, submission: Submission, records: Records) -> str:
            may = submission.caller.may_write
            if not may and meant(submission, identifier_of(service, submission), records):
                raise (Row.MAY_NOT_CREATE if submission.creating else Row.MAY_NOT_UPDATE).refusal()
            return faithful(submission, records)

        run_instead(service, run)

    return change


_SWAPS: tuple[tuple[str, str, str, Change], ...] = (
    (
        "validation-before-taken",
        "workflow-order-taken-before-validation",
        CREATE_WITH,
        _validated_first(_taken),
    ),
    (
        "validation-before-unknown",
        "workflow-order-unknown-before-validation",
        UPDATE,
        _validated_first(_absent),
    ),
    (
        "validation-before-locked",
        "workflow-order-locked-before-validation",
        UPDATE,
        _validated_first(_locked),
    ),
    ("rights-before-taken", "workflow-order-taken-before-rights", CREATE_WITH, _rights_first(_taken)),
    ("rights-before-unknown", "workflow-order-unknown-before-rights", UPDATE, _rights_first(_absent)),
    ("rights-before-locked", "workflow-order-locked-before-rights", UPDATE, _rights_first(_locked)),
)
for _name, _clause, _operation, _swapped in _SWAPS:
    _first, _second = _name.split("-before-")
    _state = {"taken": "in use", "unknown": "that does not exist", "locked": "of a locked record"}[_second]
    defect(
        f"workflow-{_name}",
        clause=_clause,
        operations=[_operation],
        sentence=f"Under an identifier {_state} the step of {_first} comes before that of the identifier.",
    )(_swapped)


def _content_before_rights(*operations: str) -> Change:
    def change(service: Service) -> None:
        def run(faithful: Run, submission: Submission, records: Records) -> str:
            meant = operation_of(submission) in operations and not submission.caller.may_write
            if meant and allowed(service, submission, records):
                service.workflow.validate(submission, records)
            return faithful(submission, records)

        run_instead(service, run)

    return change


for _word, _operations in (("create", (CREATE, CREATE_WITH)), ("update", (UPDATE,))):
    defect(
        f"workflow-validation-before-rights-on-{_word}",
        clause="workflow-order-rights-before-validation",
        operations=_operations,
        sentence=f"On {_word} the document is validated before the rights are looked at.",
    )(_content_before_rights(*_operations))


@defect("workflow-schema-before-realm", clause="workflow-order-realm-before-schema", operations=WORKFLOW)
def _(service: Service) -> None:
    """Where both realm and schema are unknown, the refusal is that of the schema."""
    known = {name for realm in service.realms.realms.values() for name in realm.types}

    def otherwise(refusal: Refusal) -> Refusal:
        unknown = refusal.message == Row.REALM_UNKNOWN.value[1]
        return Row.SCHEMA_UNKNOWN.refusal("unknown") if unknown else refusal

    edit_refusal(service, WORKFLOW, otherwise, lambda request: request.path_params["schema"] not in known)


@answers(
    "workflow-document-before-schema", clause="workflow-order-schema-before-document", operations=WORKFLOW
)
async def _(_service: Service, faithful: Handler, request: Request) -> Response:
    """Under an unknown schema, a document without a title, or with one of a wrong kind, is refused for it."""
    body = await json_of(request)
    try:
        return await faithful(request)
    except Refusal as refusal:
        unknown = refusal.message.startswith("Schema not configured")
        document = body.get("document") if isinstance(body, dict) else None
        if unknown and isinstance(document, dict) and not isinstance(document.get("title"), dict | str):
            raise _invalid() from None
        raise


def _invalid() -> Refusal:
    return Refusal(Reason.INVALID_CONTENT, "not valid", faults=[Fault("Error.Mandatory", ("title",))])
