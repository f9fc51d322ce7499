"""The page's requests by hand: fill a form, send it, and describe the exchange and its findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from contracts.checks.single import Judgement
from contracts.errors import UsageError
from contracts.evidence.record import RecordedExchange
from contracts.exchanges.transcript import heading, request_text, response_text
from contracts.history.observed_facts import SEEN
from contracts.interface.catalogue import load_catalogue
from contracts.interface.description import Operation
from contracts.manual.call import CallResult, SilentPoint, refuse_foreign, send, silent_points
from contracts.manual.manual_session import ManualSession, known_role
from contracts.manual.prepared_requests import UNARRANGED, PreparedRequest, RequestPreparer, realm_for
from contracts.manual.request_options import RequestOptions
from contracts.page.forms import form_of, request_of
from contracts.page.page_session import FormRequest, PageSession
from contracts.settings.target import ANY_REALM
from contracts.settings.toml_file import suggestion

Answer = dict[str, Any]
_SHOWN: Final = 40_000
_NOTHING_ASKED: Final = RequestOptions()
_ARRANGING: Final = "made up; 'Valid values' first arranges what the request is about"


def prepare(desk: PageSession, session: ManualSession, wish: Mapping[str, Any]) -> Answer:
    """Fill a form with valid values, and with one fault where that is asked for.

    Args:
        wish: `operation`, `role`, `realm`, `fault` (a key, or None) and `live`: whether what the request is about may
            be arranged first, by sending.

    Raises:
        UsageError: it names what there is not.
        EnvironmentFault, Blocked: what the request is about cannot be arranged.
    """
    operation, role, realm = sender_of(session, wish)
    live = bool(wish.get("live"))
    if live and operation.id != "createToken":
        desk.sign_in(session, role)
    preparer = RequestPreparer(session, operation, role, realm, live=live)
    base = preparer.prepare(_NOTHING_ASKED)
    fault = wish.get("fault")
    given = preparer.spoil(base, str(fault)) if fault else base
    number = desk.remember(FormRequest(operation.id, role, realm, base, given))
    notes = [_ARRANGING if note == UNARRANGED else note for note in base.notes]
    form = form_of(session, given.request, given.content)
    return {"trial": number, "form": form, "fault": fault or None, "realm": realm, "notes": notes}


def send_form(desk: PageSession, session: ManualSession, wish: Mapping[str, Any]) -> Answer:
    """Send what somebody made of a form, and judge the exchange.

    Args:
        wish: `operation`, `role`, `realm`, `trial` (its number) and `form`.

    Raises:
        UsageError: the form cannot be read, or the request must not be sent.
        EnvironmentFault: the target gives no token.
    """
    operation, role, realm = sender_of(session, wish)
    trial = desk.recall(_number(wish))
    if trial.operation != operation.id:
        raise UsageError("the form was filled for another operation; fill it again with 'Valid values'")
    request, content = request_of(session, operation.id, role, wish.get("form"))
    _refuse_unknown(operation, request.path)
    refuse_foreign(session, operation, request.path)
    if operation.id != "createToken":
        desk.sign_in(session, role)
    same = (trial.role, trial.realm) == (role, realm) and trial.is_given(request, content)
    right = same and trial.given.right and not trial.used
    prepared = PreparedRequest(request, content, right)
    start = len(session.exchanges)
    called = send(session, session.actor(role, realm), prepared, desk.judge(session))
    trial.used = True
    number = desk.remember(
        replace(trial, role=role, realm=realm, sent=prepared, judged=called.judged, used=True)
    )
    before = [session.notes.of(each) for each in session.exchanges[start:-1]]
    return {"trial": number, **result(session, called, before)}


def sender_of(session: ManualSession, wish: Mapping[str, Any]) -> tuple[Operation, str, str]:
    """The operation, the role and the realm that are asked for.

    Raises:
        UsageError: there is none of this name.
    """
    operation = known_operation(session, wish.get("operation"))
    role = known_role(str(wish.get("role") or ""))
    asked = str(wish.get("realm") or "") or None
    if operation.realms == (ANY_REALM,):
        asked = None
    return operation, role, realm_for(operation, asked, session.target.realms)


def known_operation(session: ManualSession, name: object) -> Operation:
    """The operation of a name.

    Raises:
        UsageError: there is none.
    """
    operations = session.description.operations
    found = operations.get(str(name or ""))
    if found is None:
        raise UsageError(f"unknown operation '{name}'; {suggestion(str(name or ''), operations)}")
    return found


def result(session: ManualSession, called: CallResult, before: list[RecordedExchange]) -> Answer:
    """What came of a request, without secrets."""
    recorded, judged = called.recorded, called.judged
    shown: Answer = session.redactor.value(
        {
            **exchange_words(recorded),
            "operation": recorded.operation,
            "role": recorded.role,
            "realm": recorded.realm,
            "findings": findings(judged),
            "request_faults": list(judged.request_faults),
            "obstacles": [*judged.obstacles, *([recorded.fault] if called.spoilt and recorded.fault else [])],
            "clauses": [_clause(name, judged) for name in judged.touched],
            "observed": [_point(each) for each in _points(session, called, before)],
            "curl": called.curl,
        }
    )
    return shown


def exchange_words(recorded: RecordedExchange) -> Answer:
    """An exchange as text, with what a list shows of it."""
    response = recorded.response
    return {
        "heading": heading(recorded),
        "status": int(response["status"]) if response else None,
        "milliseconds": round(recorded.seconds * 1000, 1),
        "request": request_text(recorded, _SHOWN),
        "response": response_text(recorded, _SHOWN),
    }


def findings(judged: Judgement) -> list[Answer]:
    """What contradicts the interface, with the words of each clause."""
    catalogue = load_catalogue()
    return [
        {
            "side": "answer",
            "name": each.clause,
            "clause": each.clause,
            "level": judged.levels[each.clause],
            "wording": catalogue.clause(each.clause).wording,
            "expected": each.expected,
            "seen": each.seen,
        }
        for each in judged.findings
    ]


def _clause(name: str, judged: Judgement) -> Answer:
    clause = load_catalogue().clause(name)
    contradicted = any(each.clause == name for each in judged.findings)
    state = "contradicted" if contradicted else "held" if name in judged.held else "observed"
    return {"id": name, "level": str(clause.level), "wording": clause.wording, "state": state}


def _points(
    session: ManualSession, called: CallResult, before: list[RecordedExchange]
) -> tuple[SilentPoint, ...]:
    if not called.sent or called.spoilt:
        return ()
    noted = [(seen, called.recorded.realm) for seen in called.judged.observations]
    return silent_points([called.recorded], before, noted, session.target).points


def _point(point: SilentPoint) -> Answer:
    named = "" if point.name == SEEN else point.name
    return {"clause": point.clause, "point": named, "seen": point.seen, "accepted": point.accepted}


def _number(wish: Mapping[str, Any]) -> int:
    number = wish.get("trial")
    if not isinstance(number, int):
        raise UsageError("the request was not filled in yet; use 'Valid values' first")
    return number


def _refuse_unknown(operation: Operation, path: Mapping[str, str]) -> None:
    for name in operation.path_parameters:
        if not path.get(name):
            raise UsageError(f"path parameter {name} is empty; {operation.id} has no address without it")
    for name in path:
        if name not in operation.path_parameters:
            raise UsageError(f"{operation.id} has no path parameter {name}")
