"""The page's requests by hand: fill a form, send it, and describe the exchange and its findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from contracts.checks.single import Judgement
from contracts.errors import UsageError
from contracts.exchanges.exchange import Exchange
from contracts.exchanges.transcript import heading, request_text, response_text
from contracts.history.observed_facts import SEEN
from contracts.interface.catalogue import load_catalogue
from contracts.interface.description import Description, Operation
from contracts.manual.call import CallResult, SilentPoint, refuse_foreign, send, silent_points
from contracts.manual.manual_session import ManualSession, known_role
from contracts.manual.prepared_requests import UNARRANGED, PreparedRequest, RequestPreparer, realm_for
from contracts.manual.request_options import RequestOptions
from contracts.page.forms import form_of, request_of
from contracts.page.page_session import FormRequest, PageSession
from contracts.settings.target import ANY_REALM
from contracts.settings.toml_file import suggestion

Json = dict[str, Any]
_MOST_CHARACTERS: Final = 40_000
_ARRANGING: Final = "made up; 'Valid values' first arranges what the request is about"


def prepare(page_session: PageSession, session: ManualSession, query: Mapping[str, Any]) -> Json:
    """Fill a form with valid values, and with one fault where the query names one.

    Args:
        query: `operation`, `role`, `realm`, `fault` (a key, or None) and `live`: whether what the request is about may
            be arranged first, by sending.

    Raises:
        UsageError: an unknown operation, role, realm or fault.
        EnvironmentFault, Blocked: what the request is about cannot be arranged.
    """
    operation, role, realm = sender_of(session, query)
    live = bool(query.get("live"))
    if live and operation.id != "createToken":
        page_session.sign_in(session, role)
    preparer = RequestPreparer(session, operation, role, realm, live=live)
    base = preparer.prepare(RequestOptions())
    fault = query.get("fault")
    filled = preparer.add_fault(base, str(fault)) if fault else base
    number = page_session.keep(FormRequest(operation.id, role, realm, base, filled))
    notes = [_ARRANGING if note == UNARRANGED else note for note in base.notes]
    form = form_of(session, filled.request, filled.content)
    return {"form_number": number, "form": form, "fault": fault or None, "realm": realm, "notes": notes}


def send_form(page_session: PageSession, session: ManualSession, query: Mapping[str, Any]) -> Json:
    """Send the request that a form holds, and judge the exchange.

    Args:
        query: `operation`, `role`, `realm`, `form_number` and `form`.

    Raises:
        UsageError: the form cannot be read, or the request must not be sent.
        EnvironmentFault: the target gives no token.
    """
    operation, role, realm = sender_of(session, query)
    number = query.get("form_number")
    if not isinstance(number, int):
        raise UsageError("the request was not filled in yet; use 'Valid values' first")
    kept = page_session.kept(number)
    if kept.operation != operation.id:
        raise UsageError("the form was filled for another operation; fill it again with 'Valid values'")
    request, content = request_of(session, operation.id, role, query.get("form"))
    _refuse_other_path(operation, request.path)
    refuse_foreign(session, operation, request.path)
    if operation.id != "createToken":
        page_session.sign_in(session, role)
    unchanged = (kept.role, kept.realm) == (role, realm) and kept.is_unchanged(request, content)
    prepared = PreparedRequest(request, content, right=unchanged and kept.filled.right and not kept.used)
    start = len(session.exchanges)
    result = send(session, session.actor(role, realm), prepared, page_session.judge(session))
    kept.used = True
    sent = replace(kept, role=role, realm=realm, sent=prepared, judged=result.judged, used=True)
    before = [session.notes.of(exchange) for exchange in session.exchanges[start:-1]]
    return {"form_number": page_session.keep(sent), **_described(session, result, before)}


def sender_of(session: ManualSession, query: Mapping[str, Any]) -> tuple[Operation, str, str]:
    """The operation, the role and the realm of a query.

    Raises:
        UsageError: there is none of this name.
    """
    operation = operation_named(session.description, query.get("operation"))
    role = known_role(str(query.get("role") or ""))
    return operation, role, realm_of(operation, query, session.target.realms)


def operation_named(description: Description, name: object) -> Operation:
    """The operation of a name.

    Raises:
        UsageError: there is none.
    """
    operation = description.operations.get(str(name or ""))
    if operation is None:
        raise UsageError(f"unknown operation '{name}'; {suggestion(str(name or ''), description.operations)}")
    return operation


def realm_of(operation: Operation, query: Mapping[str, Any], realms: tuple[str, ...]) -> str:
    """The realm of a query; an operation without realms ignores it.

    Raises:
        UsageError: the operation or the target does not have it.
    """
    realm = None if operation.realms == (ANY_REALM,) else str(query.get("realm") or "") or None
    return realm_for(operation, realm, realms)


def _described(session: ManualSession, result: CallResult, before: list[Exchange]) -> Json:
    """An exchange with its findings and observations, without secrets."""
    recorded, judged = result.recorded, result.judged
    described: Json = session.redactor.value(
        {
            **exchange_texts(recorded),
            "operation": recorded.operation,
            "role": recorded.role,
            "realm": recorded.realm,
            "findings": _findings(judged),
            "request_faults": list(judged.request_faults),
            "obstacles": [*judged.obstacles, *([recorded.fault] if result.spoilt and recorded.fault else [])],
            "clauses": [_clause(name, judged) for name in judged.touched],
            "observed": [_observation(point) for point in _silent_points(session, result, before)],
            "curl": result.curl,
        }
    )
    return described


def exchange_texts(recorded: Exchange) -> Json:
    """An exchange as text, with what a list shows of it."""
    return {
        "heading": heading(recorded),
        "status": recorded.status,
        "milliseconds": round((recorded.seconds or 0.0) * 1000, 1),
        "request": request_text(recorded, _MOST_CHARACTERS),
        "response": response_text(recorded, _MOST_CHARACTERS),
    }


def _findings(judged: Judgement) -> list[Json]:
    catalogue = load_catalogue()
    return [
        {
            "side": "answer",
            "name": finding.clause,
            "clause": finding.clause,
            "level": judged.levels[finding.clause],
            "wording": catalogue.clause(finding.clause).wording,
            "expected": finding.expected,
            "seen": finding.seen,
        }
        for finding in judged.findings
    ]


def _clause(name: str, judged: Judgement) -> Json:
    clause = load_catalogue().clause(name)
    contradicted = any(finding.clause == name for finding in judged.findings)
    state = "contradicted" if contradicted else "held" if name in judged.held else "observed"
    return {"id": name, "level": str(clause.level), "wording": clause.wording, "state": state}


def _silent_points(
    session: ManualSession, result: CallResult, before: list[Exchange]
) -> tuple[SilentPoint, ...]:
    if not result.sent or result.spoilt:
        return ()
    observations = [(observation, result.recorded.realm) for observation in result.judged.observations]
    return silent_points([result.recorded], before, observations, session.target).points


def _observation(point: SilentPoint) -> Json:
    name = "" if point.name == SEEN else point.name
    return {"clause": point.clause, "point": name, "seen": point.seen, "accepted": point.accepted}


def _refuse_other_path(operation: Operation, path: Mapping[str, str]) -> None:
    """Refuse path parameters that are empty or that the operation does not have."""
    for name in operation.path_parameters:
        if not path.get(name):
            raise UsageError(f"path parameter {name} is empty; {operation.id} has no address without it")
    for name in path:
        if name not in operation.path_parameters:
            raise UsageError(f"{operation.id} has no path parameter {name}")
