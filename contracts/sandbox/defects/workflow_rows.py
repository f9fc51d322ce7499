"""Defects of the nine rows of the workflow's status table: another status, another message, or no refusal."""

from collections.abc import Callable
from typing import Any

from starlette.requests import Request

from contracts.sandbox.defects.altering import When, alter, always, edit_refusal, in_realm
from contracts.sandbox.defects.groups import CREATE, CREATE_WITH, UPDATE, WORKFLOW, kebab
from contracts.sandbox.defects.registry import Change, defect
from contracts.sandbox.defects.workflow_steps import (
    Run,
    carry_out,
    exists,
    faulty,
    identifier_of,
    locked,
    run_instead,
)
from contracts.sandbox.query import header_value, query_value
from contracts.sandbox.realms import Realm
from contracts.sandbox.record_types import RecordType
from contracts.sandbox.records import Records
from contracts.sandbox.refusals import Reason, Refusal
from contracts.sandbox.service import Service
from contracts.sandbox.submissions import Submission
from contracts.sandbox.workflow import Row


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


@defect("workflow-taken-accepted", clause="workflow-identifier-taken", operations=[CREATE_WITH])
def _(service: Service) -> None:
    """Creating under an identifier that was in use before the service started is accepted."""

    def run(faithful: Run, submission: Submission, records: Records) -> str:
        identifier = submission.path_identifier
        if submission.creating and identifier is not None and identifier.startswith("sandbox-"):
            return _unless_refused_later(service, faithful, submission, identifier, records)
        return faithful(submission, records)

    run_instead(service, run)


@defect("workflow-update-creates", clause="workflow-identifier-unknown", operations=[UPDATE])
def _(service: Service) -> None:
    """Updating under an identifier that does not exist creates the record."""

    def run(faithful: Run, submission: Submission, records: Records) -> str:
        identifier = identifier_of(service, submission)
        if submission.creating or identifier is None or exists(submission, identifier, records):
            return faithful(submission, records)
        return _unless_refused_later(service, faithful, submission, identifier, records)

    run_instead(service, run)


@defect("workflow-locked-accepted", clause="workflow-locked-record", operations=[UPDATE])
def _(service: Service) -> None:
    """Updating a record that is locked for workflow is accepted."""

    def run(faithful: Run, submission: Submission, records: Records) -> str:
        identifier = identifier_of(service, submission)
        if submission.creating or identifier is None or not locked(submission, identifier, records):
            return faithful(submission, records)
        return _unless_refused_later(service, faithful, submission, identifier, records)

    run_instead(service, run)


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
        operations=_ROWS[_clause][1],
        sentence="An account without rights may do what it may not.",
    )(_without_rights)
