"""Defects of the nine rows of the workflow's status table: another status, or another message."""

from collections.abc import Callable

from starlette.requests import Request

from contracts.sandbox.defects.altering import When, always, edit_refusal, in_realm
from contracts.sandbox.defects.groups import CREATE, CREATE_WITH, UPDATE, WORKFLOW, kebab
from contracts.sandbox.defects.registry import Change, defect
from contracts.sandbox.query import header_value, query_value
from contracts.sandbox.refusals import Reason, Refusal
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
