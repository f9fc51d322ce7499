"""Forms of the page: made from the OpenAPI description, filled with a request, read back into one, and sent."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from contracts.cases.generated_faults import ABSENT
from contracts.cases.requests import Request
from contracts.checks.table import Judgement
from contracts.errors import UsageError, suggestion
from contracts.exchanges import readers
from contracts.exchanges.exchange import Exchange
from contracts.exchanges.redaction import REDACTED
from contracts.exchanges.transcript import heading, request_text, response_text
from contracts.history.observed_facts import SEEN
from contracts.interface.catalogue import load_catalogue
from contracts.interface.description import Description, Operation, operations_with
from contracts.interface.operations import follow, parameters_of
from contracts.manual.call import CallResult, SilentPoint, refuse_foreign, send, silent_points
from contracts.manual.manual_session import ROLES, ManualSession, known_role
from contracts.manual.prepared_requests import (
    UNARRANGED,
    PreparedRequest,
    RequestOptions,
    RequestPreparer,
    known_faults,
    read_json,
    realm_for,
)
from contracts.page.page_session import FormRequest, PageSession
from contracts.safe_text import json_text
from contracts.session.actor import JSON
from contracts.settings.target import ANY_REALM, AUTHOR

_KEYWORDS: Final = (
    ("minLength", "at least {} characters"),
    ("maxLength", "at most {} characters"),
    ("enum", "one of {}"),
)
#: What stands in the header where the role's own token goes; the token itself never comes here.
OWN_TOKEN: Final = "Bearer {token}"  # noqa: S105 - a placeholder


def operation_form(description: Description, operation: Operation) -> dict[str, Any]:
    """What the page needs to know of an operation to draw its form."""
    item = description.bundle["paths"][operation.path]
    node = item[operation.method.lower()]
    listed = parameters_of(description.bundle, item, node)
    return {
        "id": operation.id,
        "method": operation.method,
        "path": operation.path,
        "group": next(iter(node.get("tags", ())), ""),
        "summary": operation.summary,
        "description": str(node.get("description", "")),
        "realms": list(operation.realms),
        "protected": operation.protected,
        "safe": operation.safe,
        "clauses": len(load_catalogue().by_operation(operation.id)),
        "parameters": [
            _field(description, parameter) for parameter in listed if parameter["in"] in ("path", "query")
        ],
        "headers": list(_headers(operation)),
        "body": _body(description, node),
    }


def role_list(missing: Mapping[str, str | None]) -> list[dict[str, Any]]:
    """The roles a request can be sent as.

    Args:
        missing: Role → why the target has no account for it, or None.
    """
    return [{"id": role, "missing": missing.get(role)} for role in ROLES]


def fault_list(operation: str, realm: str) -> list[dict[str, Any]]:
    """The single faults that can be put into a request, each with the clause that speaks about it."""
    catalogue, entries = load_catalogue(), []
    for fault in known_faults(operation, realm, catalogue):
        clause = catalogue.for_fault(operation, fault.key)
        entries.append(
            {
                "key": fault.key,
                "clause": clause.id if clause else None,
                "level": str(clause.level) if clause else None,
                "wording": clause.wording if clause else "No clause speaks about it.",
            }
        )
    return entries


def _headers(operation: Operation) -> Iterator[dict[str, Any]]:
    yield {"name": "Accept", "default": JSON, "about": ""}
    if operation.lists_content_type:
        yield {"name": "Content-Type", "default": JSON, "about": ""}
    if operation.takes_realm:
        yield {"name": "Realm", "default": "{realm}", "about": "The application; as picked above."}
    if operation.id != "createToken":
        yield {"name": "Authorization", "default": OWN_TOKEN, "about": "The token of the role picked above."}


def _field(description: Description, parameter: Mapping[str, Any]) -> dict[str, Any]:
    schema = follow(description.bundle, parameter.get("schema") or {})
    return {
        "name": parameter["name"],
        "place": parameter["in"],
        "required": bool(parameter.get("required")),
        **_about(schema, str(parameter.get("description", ""))),
    }


def _body(description: Description, node: Mapping[str, Any]) -> dict[str, Any]:
    content = follow(description.bundle, node.get("requestBody") or {}).get("content", {})
    if not content:
        return {"kind": "none", "members": []}
    if JSON not in content:
        return {"kind": "file", "members": []}
    schema = follow(description.bundle, content[JSON]["schema"])
    required = schema.get("required", ())
    members = [
        {"name": name, "required": name in required, **_member(description, member)}
        for name, member in schema.get("properties", {}).items()
    ]
    return {"kind": "json", "members": members, "further": schema.get("additionalProperties") is not False}


def _member(description: Description, schema: Mapping[str, Any]) -> dict[str, Any]:
    followed = follow(description.bundle, schema)
    inner = [
        {"name": name, "kind": _about(follow(description.bundle, node), "")["kind"]}
        for name, node in followed.get("properties", {}).items()
    ]
    words = str(schema.get("description") or followed.get("description", ""))
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    return _about(followed, words) | {"members": inner} | ({"type": name} if name else {})


def _about(schema: Mapping[str, Any], words: str) -> dict[str, Any]:
    kind = str(schema.get("type", "value"))
    if kind == "array":
        kind = "list"
    rules = [
        text.format(_shown(schema[name])) for name, text in _KEYWORDS if schema.get(name) not in (None, 1)
    ]
    return {
        "kind": kind,
        "type": kind,
        "about": words or str(schema.get("description", "")),
        "rules": "; ".join(rules),
        "choices": [str(choice) for choice in schema.get("enum", ())],
    }


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


#: Stands for the password of the account that a request is sent as.
PASSWORD: Final = "{password}"  # noqa: S105 - a placeholder
#: Stand for a fresh identifier, and for what identifiers of this session begin with.
FRESH, PREFIX = "{uid}", "{prefix}"
_SIGN_IN: Final = "createToken"

Body = dict[str, str]
Form = dict[str, Any]


def form_of(session: ManualSession, request: Request, content: bytes | None) -> Form:
    """Fill a form with a request.

    Returns:
        `path`, `query`, `headers` (None for one that is left out) and `body`.
    """
    body = _without_password(session, request.body)
    filled: Form = {
        "path": dict(request.path),
        "query": dict(request.query),
        "headers": dict(request.headers),
        "body": _as_body(body, content),
    }
    shown: Form = session.redactor.value(filled)
    return shown


def _as_body(value: Any, content: bytes | None) -> Body:
    if content is not None:
        try:
            return {"kind": "text", "text": content.decode("utf-8")}
        except UnicodeDecodeError:
            return {"kind": "base64", "text": base64.b64encode(content).decode("ascii")}
    if value is ABSENT:
        return {"kind": "none", "text": ""}
    return {"kind": "json", "text": json_text(value, indent=2)}


def _without_password(session: ManualSession, body: Any) -> Any:
    passwords = {account.password.reveal() for account in session.target.accounts.values()}
    if isinstance(body, dict) and isinstance(body.get("password"), str) and body["password"] in passwords:
        return {**body, "password": PASSWORD}
    return body


def request_of(
    session: ManualSession, operation: str, role: str, form: object, earlier: PageSession | None = None
) -> tuple[Request, bytes | None]:
    """Read the request that a form holds.

    Args:
        earlier: Knows the answers that a reference such as `{3.identifier}` takes a value from.

    Returns:
        The request, and the bytes of its body where they stand in place of JSON.

    Raises:
        UsageError: the form, or the JSON in it, cannot be read; one line.
    """
    if not isinstance(form, dict):
        raise UsageError("the form holds no request")
    fill = _Filler(session, earlier)
    path = {name: fill(value) for name, value in _texts(form, "path").items()}
    query = {name: fill(value) for name, value in _texts(form, "query").items()}
    headers = _filled_headers(form, fill, operation)
    kind, text = _filled_body(form)
    content: bytes | None = None
    body: Any = ABSENT
    if kind == "json":
        body = _with_password(session, read_json(fill(text, in_json=True), "the body"), operation, role)
    elif kind == "text":
        content = fill(text).encode("utf-8", "surrogatepass")
    elif kind == "base64":
        content = _decoded(text)
    return Request(operation, path, query, headers, body), content


#: A value of the answer to an earlier request, by that request's number, such as `{3.identifier}` or `{4.items.0.id}`.
REFERENCE: Final = re.compile(r"\{(?P<step>\d{1,9})(?P<path>(?:\.[\w$-]+)+)\}")


def value_at(exchange: Exchange | None, path: Sequence[str]) -> str | int | float:
    """Return the text or number at a path of an answer.

    Raises:
        UsageError: there is none.
    """
    response = exchange.response if exchange is not None else None
    value = readers.value_at(response.json, path) if response is not None else None
    if value is None:
        raise UsageError(f"the answer holds no text or number at {'.'.join(path)}")
    return value


class _Filler:
    """Puts identifiers in the place of `{uid}`, the same one throughout a form, and of `{prefix}`.

    Also puts values of earlier answers in the place of references to them.
    """

    def __init__(self, session: ManualSession, earlier: PageSession | None) -> None:
        self._session = session
        self._earlier = earlier
        self._uid = ""

    def _taken(self, match: re.Match[str], *, in_json: bool) -> str:
        if self._earlier is None:
            return match[0]
        path = match["path"].strip(".").split(".")
        value = str(value_at(self._earlier.kept(int(match["step"])).recorded, path))
        return json_text(value)[1:-1] if in_json else value

    def __call__(self, text: str, *, in_json: bool = False) -> str:
        text = REFERENCE.sub(lambda match: self._taken(match, in_json=in_json), text)
        if FRESH in text:
            self._uid = self._uid or self._session.namespace.uid()
            text = text.replace(FRESH, self._uid)
        return text.replace(PREFIX, self._session.namespace.prefix)


def _texts(form: Mapping[str, Any], place: str) -> dict[str, str]:
    given = form.get(place, {})
    if not isinstance(given, dict) or not all(isinstance(value, str) for value in given.values()):
        raise UsageError(f"the form's {place} must be names with texts")
    return given


def _filled_headers(form: Mapping[str, Any], fill: _Filler, operation: str) -> dict[str, str | None]:
    given = form.get("headers", {})
    if not isinstance(given, dict) or not all(
        value is None or isinstance(value, str) for value in given.values()
    ):
        raise UsageError("the form's headers must be names with texts, or null for one that is left out")
    usual = {"Accept": JSON, "Authorization": OWN_TOKEN}
    usual |= {} if operation in operations_with(lists_content_type=False) else {"Content-Type": JSON}
    changed = {name: value for name, value in given.items() if value is None or value != usual.get(name)}
    for name, value in changed.items():
        if value is not None and any(sign in value or sign in name for sign in "\r\n\0"):
            raise UsageError(
                f"the header {name.strip()} holds a line break or a null, which no header can carry"
            )
    return {name: None if value is None else fill(value) for name, value in changed.items()}


def _filled_body(form: Mapping[str, Any]) -> tuple[str, str]:
    body = form.get("body", {"kind": "none", "text": ""})
    kind, text = (body.get("kind"), body.get("text", "")) if isinstance(body, dict) else (None, None)
    if kind not in ("none", "json", "text", "base64") or not isinstance(text, str):
        raise UsageError("the form's body must have a kind of none, json, text or base64, and a text")
    return kind, text


def _with_password(session: ManualSession, body: Any, operation: str, role: str) -> Any:
    """Only the request for a token gets the password, and only in the place that is meant for it."""
    if operation != _SIGN_IN or not isinstance(body, dict) or body.get("password") != PASSWORD:
        return body
    accounts = session.target.accounts
    by_email = {account.email: account for account in accounts.values()}
    account = by_email.get(str(body.get("email"))) or accounts.get(role) or accounts[AUTHOR]
    return {**body, "password": account.password.reveal()}


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise UsageError("the file did not arrive whole; choose it again") from None


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
    given = query.get("form")
    request, content = request_of(session, operation.id, role, given, page_session)
    _refuse_other_path(operation, request.path)
    refuse_foreign(session, operation, request.path)
    if operation.id != "createToken":
        page_session.sign_in(session, role)
    unchanged = (kept.role, kept.realm) == (role, realm) and kept.is_unchanged(request, content)
    prepared = PreparedRequest(request, content, right=unchanged and kept.filled.right and not kept.used)
    start = len(session.exchanges)
    result = send(session, session.actor(role, realm), prepared, page_session.judge(session))
    kept.used = True
    sent = replace(
        kept,
        role=role,
        realm=realm,
        sent=prepared,
        judged=result.judged,
        used=True,
        form=given,
        recorded=result.recorded,
    )
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
            "values": list(_values(recorded)),
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


#: Values of an answer that are offered for the next request.
_VALUES: Final = 30
_LONGEST_VALUE: Final = 200


def _values(recorded: Exchange) -> Iterator[Json]:
    """The texts and numbers of an answer, those that look like identifiers first, each with its path."""
    body = recorded.response.json if recorded.response is not None else None
    leaves = list(islice(_leaves(body, ()), 10 * _VALUES))
    leaves.sort(key=lambda member: not re.search(r"id(entifier)?$", member[0][-1], re.IGNORECASE))
    for path, value in leaves[:_VALUES]:
        yield {"path": ".".join(path), "value": value}


def _leaves(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in pairs:
        step = str(name)
        if isinstance(inner, dict | list):
            yield from _leaves(inner, (*path, step))
        elif isinstance(inner, str | int | float) and not isinstance(inner, bool):
            text = str(inner)
            if REDACTED not in text and len(text) <= _LONGEST_VALUE and re.fullmatch(r"[\w$-]+", step):
                yield (*path, step), text


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
