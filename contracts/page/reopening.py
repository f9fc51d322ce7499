"""An exchange that passed through the proxy, opened in the form: same operation and values, fresh identifiers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from contracts.cases.generated_faults import ABSENT
from contracts.cases.requests import Request
from contracts.checks.requests import ROOT
from contracts.checks.single import Judge
from contracts.errors import UsageError
from contracts.exchanges.redaction import REDACTED
from contracts.exchanges.traffic_exchange import Passed
from contracts.interface.description import Operation
from contracts.manual.manual_session import Bench
from contracts.manual.request_options import Wishes
from contracts.manual.requests import Prepared, Preparer, realm_for
from contracts.manual.traffic_findings import Feed
from contracts.page.bench import Desk, Trial
from contracts.page.forms import form_of
from contracts.page.live import passed_of, role_of, seen_of
from contracts.page.scenario import scenario_text
from contracts.session.actor import JSON
from contracts.session.namespace import UID_LONGEST, UID_SHORTEST, is_valid_uid
from contracts.settings.target import ANONYMOUS

_NOTHING_ASKED: Final = Wishes()
#: Parts of a path that name a record or a thing in it.
_NAMES: Final = ("uid", "identifier", "attachmentId", "tempFileId")


def reopen(feed: Feed, desk: Desk, bench: Bench, wish: Mapping[str, Any]) -> dict[str, Any]:
    """Fill the form with an exchange that passed.

    Args:
        wish: `number` of the exchange, and `live`: whether what it is about may be arranged first.

    Raises:
        UsageError: it is not kept, or is no operation of the interface.
        EnvironmentFault, Blocked: what it is about cannot be arranged.
    """
    passed = passed_of(seen_of(feed, wish.get("number")))
    trial = _trial(desk, bench, passed, live=bool(wish.get("live")))
    form = form_of(bench, trial.given.request, trial.given.content)
    notes = ["values as they passed, identifiers fresh", *trial.given.notes]
    return {
        "trial": desk.remember(trial),
        "operation": trial.operation,
        "role": trial.role,
        "realm": trial.realm,
        "form": form,
        "fault": None,
        "notes": notes,
    }


def scenario_of_seen(feed: Feed, desk: Desk, bench: Bench, wish: Mapping[str, Any]) -> dict[str, Any]:
    """Word an exchange that passed as a scenario test; nothing is sent.

    Args:
        wish: `number` of the exchange.

    Raises:
        UsageError: it is not kept, or is no operation of the interface.
    """
    seen = seen_of(feed, wish.get("number"))
    passed = passed_of(seen)
    trial = _trial(desk, bench, passed, live=False)
    trial.sent, trial.judged = trial.given, Judge().judge(passed.exchange())
    further = [each.clause for each in seen.findings if each.clause and each.side == "answer"]
    return scenario_text(bench, trial, further)


def _trial(desk: Desk, bench: Bench, passed: Passed, *, live: bool) -> Trial:
    operation, path = _match(bench, passed)
    role = role_of(passed)
    named = passed.header("Realm") or dict(_query(passed)).get("Realm")
    known = named if named in operation.realms and named in bench.target.realms else None
    realm = realm_for(operation, known, bench.target.realms)
    if live and operation.id != "createToken":
        desk.sign_in(bench, role)
    base = Preparer(bench, operation, role, realm, live=live).prepare(_NOTHING_ASKED)
    request, content = _overlaid(bench, operation, base, path, passed)
    headers = _headers(operation, passed, realm)
    given = Prepared(replace(request, headers=headers), content, False, base.notes)
    return Trial(operation.id, role, realm, base, given)


def _match(bench: Bench, passed: Passed) -> tuple[Operation, dict[str, str]]:
    raw = urlsplit(passed.url).path
    found = bench.description.match(passed.method, raw[max(raw.find(ROOT), 0) :])
    if found is None:
        raise UsageError(
            f"{passed.method} {raw} is no operation of the interface, so there is no form for it"
        )
    return found


def _query(passed: Passed) -> list[tuple[str, str]]:
    return parse_qsl(urlsplit(passed.url).query, keep_blank_values=True)


def _overlaid(
    bench: Bench, operation: Operation, base: Prepared, path: dict[str, str], passed: Passed
) -> tuple[Request, bytes | None]:
    """The values that passed, on the identifiers of a request that was made up."""
    if operation.safe:
        # What is only read may be read as it was.
        names = dict(path)
    else:
        names = {name: value for name, value in path.items() if name not in _NAMES}
        names |= {name: _fresh(bench, base, name, path[name]) for name in path if name in _NAMES}
    request = replace(base.request, path=names, query=dict(_query(passed)))
    if not passed.request_body.content:
        return replace(request, body=ABSENT if passed.request_body.known else request.body), None
    if operation.id == "createAttachment":
        return request, passed.request_body.content if passed.request_body.known else base.content
    try:
        body = json.loads(passed.request_body.content)
    except (ValueError, RecursionError):
        return replace(request, body=ABSENT), passed.request_body.content
    return replace(request, body=_renamed(body, base.request.body)), None


def _fresh(bench: Bench, base: Prepared, name: str, value: str) -> str:
    """The identifier of the made-up request; one that breaks the rule where the one that passed does."""
    if name not in ("uid", "identifier") or is_valid_uid(value):
        return base.request.path.get(name, value)
    size, namespace = len(value), bench.namespace
    if UID_SHORTEST <= size <= UID_LONGEST:
        return f"{namespace.prefix}{value}"[:UID_LONGEST]
    return namespace.uid(max(size, len(namespace.prefix) + 1))


def _renamed(body: Any, made_up: Any) -> Any:
    """A body whose record, and every record in it, is called as in the made-up request."""
    if not isinstance(body, dict) or not isinstance(made_up, dict):
        return body
    renamed = dict(body)
    header, other = body.get("header"), made_up.get("header")
    if isinstance(header, dict) and "identifier" in header and isinstance(other, dict):
        renamed["header"] = {**header, "identifier": other.get("identifier", header["identifier"])}
    if "document" in body:
        renamed["document"] = _renamed(body["document"], made_up.get("document"))
    if REDACTED in str(body.get("password")):
        renamed["password"] = made_up.get("password")
        renamed["email"] = made_up.get("email")
    return renamed


def _headers(operation: Operation, passed: Passed, realm: str) -> dict[str, str | None]:
    """Headers in which the request differs from a documented one."""
    changed: dict[str, str | None] = {}
    if operation.takes_realm and passed.header("Realm") != realm:
        changed["Realm"] = passed.header("Realm")
    credentials = passed.header("Authorization")
    if operation.id != "createToken" and credentials is None and role_of(passed) != ANONYMOUS:
        changed["Authorization"] = None
    media_type = passed.header("Content-Type")
    if (
        media_type is not None
        and media_type.partition(";")[0].strip().lower() != JSON
        and operation.takes_realm
    ):
        changed["Content-Type"] = media_type
    return changed
