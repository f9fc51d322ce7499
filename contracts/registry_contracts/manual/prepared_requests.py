"""Prepares single requests for `call`: valid ones, changed by its options; sends them, and judges the exchanges."""

from __future__ import annotations

import codecs
import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from registry_contracts.cases.generated_cases import Fault, walk, with_fault
from registry_contracts.cases.requests import ABSENT, CONTENT, OrdinaryRequests, Request
from registry_contracts.cases.sample_records import (
    NO_LANGUAGE,
    STAND_IN_SCHEMA,
    UNKNOWN_FIELD,
    UNKNOWN_TERM,
    WRONG_KIND,
    Samples,
)
from registry_contracts.cases.world import World
from registry_contracts.checks.outcomes import Untested
from registry_contracts.checks.table import Judgement, judge
from registry_contracts.errors import UsageError, suggestion
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.file_formats import is_file, parse, read_bytes
from registry_contracts.interface.catalogue import load_catalogue
from registry_contracts.interface.description import Operation, operations_with
from registry_contracts.interface.operations import ANY_REALM, UID_LONGEST, UID_SHORTEST
from registry_contracts.manual.manual_session import ManualSession
from registry_contracts.safe_text import json_text
from registry_contracts.session.pipeline import UNSENT
from registry_contracts.settings.guard import refuse_production_realm
from registry_contracts.settings.target import AUTHOR

PLACES: Final = ("path", "query", "header", "body")
#: Headers that every request may have; options name them without their place.
HEADERS: Final = ("Realm", "Authorization", "Accept", "Content-Type")
_EXAMPLE: Final = (
    "header.Realm=bch-dev, path.uid={uid}, query.$top=5, body.firstName=Ada or body.phones:='[\"+1\"]'"
)
#: The path of a part in a request: its place, then names and numbers, `("body", "emails", "0")`.
Steps = tuple[str, ...]


@dataclass(frozen=True)
class RequestOptions:
    """The parts of a request that options give; everything else is generated.

    Attributes:
        settings: Values for parts: JSON values in the body, text anywhere else.
        body: The body as bytes; None for the generated one.
        body_name: Name of the file that the body came from.
        without: Parts to leave out, as written.
        invalid: The fault, as written.
    """

    settings: tuple[tuple[Steps, Any], ...] = ()
    body: bytes | None = None
    body_name: str | None = None
    without: tuple[str, ...] = ()
    invalid: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether the options change nothing."""
        return not (self.settings or self.without or self.invalid or self.body is not None)


def read_setting(text: str) -> tuple[Steps, Any]:
    """Read one `--set`: `PLACE.NAME=TEXT`, or `body.NAME:=JSON`.

    Raises:
        UsageError: the text cannot be read; one line with an example.
    """
    left, equals, right = text.partition("=")
    name = left.removesuffix(":")
    steps = _steps(name)
    if not equals or not steps:
        raise UsageError(
            f"--set '{text}' cannot be read; write PLACE.NAME=VALUE with a place of "
            f"{', '.join(PLACES)}, as in {_EXAMPLE}"
        )
    if name == left:
        return steps, right
    if steps[0] != "body":
        raise UsageError(f"--set '{text}': only the body takes JSON; write {name}=…")
    return steps, parse(right, f"--set {left}")


def _steps(text: str) -> Steps:
    """Return the steps of a part that is named with its place; none for any other text."""
    place, _, name = text.strip().partition(".")
    names = name.split(".") if place == "body" else [name]
    return (place, *names) if place in PLACES and all(names) else ()


def read_body(text: str, *, as_json: bool) -> tuple[bytes, str | None]:
    """Read a `--body`: `@FILE`, or the body itself.

    Returns:
        Its bytes, and the file's name where it came from a file.

    Raises:
        UsageError: the file cannot be read, or the body is not JSON; one line.
    """
    path = Path(text[1:]) if text.startswith("@") else None
    if path is not None and not is_file(path):
        raise UsageError(f"--body {text}: there is no file '{path}'")
    try:
        content = read_bytes(path) if path else text.encode("utf-8", "surrogatepass")
    except OSError as error:
        raise UsageError(f"--body {text}: cannot be read: {error.strerror}") from None
    if as_json:
        content = content.removeprefix(codecs.BOM_UTF8)
        parse(content, f"--body {text}" if path else "--body")
    return content, path.name if path else None


def _find(parts: Mapping[str, Any], text: str) -> Steps:
    """Return the steps of the part that a `--without` names, with or without its place.

    Raises:
        UsageError: the request does not have the part; suggests the nearest one.
    """
    names, steps = text.split("."), _steps(text)
    places = ("body",), ("body", "document"), ("query",), ("header",)
    possible = [steps] if steps else [(text,)] if text == "body" else [(*place, *names) for place in places]
    for path in possible:
        if path[0] == "header" and (steps or _listed(path[1]) in HEADERS):
            return "header", _listed(path[1])
        if _is_there(parts, path):
            return path
    body = parts.get("body")
    members = [*body, *(body.get("document") or ())] if isinstance(body, dict) else []
    known = [*members, *(f"{place}.{name}" for place in ("query", "header") for name in parts[place])]
    raise UsageError(
        f"--without {text}: the request has no such part; {suggestion(text, [*known, *HEADERS])}"
    )


def _listed(header: str) -> str:
    """Return a header's name as the document writes it."""
    return next((name for name in HEADERS if name.lower() == header.lower()), header)


def _is_there(parts: Any, steps: Steps) -> bool:
    try:
        walk(parts, steps)
    except (KeyError, IndexError, TypeError, ValueError):
        return False
    return True


def _put(parts: dict[str, Any], steps: Steps, value: Any) -> None:
    """Set a value, and create missing objects around it; the number after a list's last item appends to it."""
    holder: Any = parts
    try:
        for step in steps[:-1]:
            if isinstance(holder, dict):
                holder.setdefault(step, {})
            holder = walk(holder, [step])
        if isinstance(holder, list) and int(steps[-1]) == len(holder):
            holder.append(value)
        else:
            holder[int(steps[-1]) if isinstance(holder, list) else steps[-1]] = value
    except (TypeError, ValueError, IndexError, KeyError):
        raise UsageError(
            f"--set {'.'.join(steps)}: the body has no such place; write members by name, and items by number from 0"
        ) from None


#: The value that shows a fault, by the fault's key or else by its kind; `body:malformed` is made of the body itself.
_VALUES: Final[Mapping[str, Any]] = {
    "header.Authorization:unknown-value": "Bearer never-issued",
    "header.Authorization:malformed": "Bearer",
    "body:malformed": None,
    "body:empty": {},
    "path.uid:pattern": "a-name-with-a-!",
    "path.attachmentId:wrong-kind": "one",
    "path.tempFileId:pattern": "a b",
    "header.Content-Type:malformed": "multipart/form-data",
    "missing": ABSENT,
    "wrong-kind": WRONG_KIND,
    "null": None,
    "number": 17,
    "empty": "",
    "malformed": "(((",
    "too-short": "",
    "too-long": "x" * 1001,
    "unknown-value": UNKNOWN_TERM,
    "unknown-property": {UNKNOWN_FIELD: "42"},
    "pattern": {NO_LANGUAGE: "Nairobi"},
}


def known_faults(operation: str) -> list[Fault]:
    """List the faults of an operation that a clause covers and that one request can have alone."""
    covered = (fault for clause in load_catalogue().by_operation(operation) for fault in clause.faults)
    made = []
    for key in dict.fromkeys(covered):
        place, _, kind = key.partition(":")
        where, *steps = place.split(".")
        if "*" not in key and key != "body:too-long":
            made.append(Fault(where, tuple(steps), key, _VALUES.get(key, _VALUES.get(kind))))
    return made


def _choose_fault(operation: str, name: str) -> Fault:
    """Find a fault by its key, its part (`body.firstName`), or its kind.

    Raises:
        UsageError: the operation does not have the fault; suggests the nearest one.
    """
    possible = known_faults(operation)
    for fits in (
        lambda fault: fault.key == name,
        lambda fault: fault.key.partition(":")[0] == name,
        lambda fault: fault.kind == name,
        lambda fault: fault.key.partition(":")[0].endswith(f".{name}"),
    ):
        if chosen := next(filter(fits, possible), None):
            return chosen
    names = [*dict.fromkeys(fault.kind for fault in possible), *(fault.key for fault in possible)]
    advice = suggestion(name, names)
    if advice.startswith("known"):
        advice = f"kinds: {', '.join(dict.fromkeys(fault.kind for fault in possible))}"
    raise UsageError(
        f"--invalid {name}: {operation} has no such fault; {advice}; --list-invalid shows them all"
    )


_RULED: Final = ("uid", "identifier")
_EDGES: Final = {"too-short": UID_SHORTEST - 1, "too-long": UID_LONGEST + 1}
#: Roles for which the author creates the records.
_HELPED: Final = ("anonymous", "restricted")
#: Note of a dry run whose request needs a record.
_NOT_CREATED: Final = "a real call would first create the record that the request needs"


@dataclass(frozen=True)
class PreparedRequest:
    """A request that is ready to be sent.

    Attributes:
        right: Whether the request is valid in every respect, so that it must be accepted.
        notes: Remarks on missing settings, and on the chosen fault.
    """

    request: Request
    right: bool
    notes: tuple[str, ...]


#: Values in the path of a request whose records are not created: the first of a setting, or fixed ones.
_NAMED: Final = {"tempFileId": "temporary_files"}
_PLAIN: Final = {"attachmentId": "1", "filename": "note.txt"}


class RequestPreparer:
    """Prepares requests of one operation, as one role in one realm.

    Args:
        live: Whether the records that the request needs may be created.
    """

    def __init__(
        self, session: ManualSession, operation: Operation, role: str, realm: str, *, live: bool
    ) -> None:
        self._session = session
        self._operation = operation
        self._role = role
        self._live = live
        owner = AUTHOR if role in _HELPED else role
        self._owner = session.actor(owner, realm)
        self._account = session.target.accounts[owner]
        self._samples = Samples(session.target.realm_settings(realm), realm)
        self._notes: list[str] = []

    def prepare(self, options: RequestOptions) -> PreparedRequest:
        """Prepare a request, on fresh data.

        Raises:
            UsageError: the options name a part that the operation does not have.
            Blocked, EnvironmentFault: a record that the request needs cannot be created.
        """
        settings = [(steps, self._filled(value)) for steps, value in options.settings]
        path = {steps[1]: value for steps, value in settings if steps[0] == "path"}
        for name in path.keys() - set(self._operation.path_parameters):
            parameters = self._operation.path_parameters
            advice = suggestion(name, parameters) if parameters else "it has none"
            raise UsageError(f"--set path.{name}: {self._operation.id} has no such path parameter; {advice}")
        request = self._base(path)
        if self._operation.id == "createAttachment":
            request = replace(request, body=CONTENT if options.body is None else options.body)
        elif options.body is not None:
            request = replace(request, body=json.loads(options.body))
        if options.body_name and "filename" in request.path and "filename" not in path:
            request = replace(request, path={**request.path, "filename": options.body_name})
        if options.invalid is not None:
            request = self._faulty(request, options.invalid)
        parts: dict[str, Any] = {
            "path": {**request.path},
            "query": {**request.query},
            "header": {**request.headers},
        }
        parts |= {} if request.body is ABSENT else {"body": copy.deepcopy(request.body)}
        for steps, value in settings:
            _put(parts, steps, value)
        for name in options.without:
            *path_to, last = _find(parts, name)
            holder = walk(parts, path_to)
            if path_to == ["header"]:
                holder[last] = None
            else:
                del holder[int(last) if isinstance(holder, list) else last]
        # The author owns the records of its requests, so that a right one must be accepted.
        right = options.is_empty and self._role == AUTHOR and not self._notes
        body = parts.get("body", ABSENT)
        sent = Request(request.operation, parts["path"], parts["query"], parts["header"], body)
        return PreparedRequest(sent, right, tuple(self._notes))

    def _base(self, path: dict[str, str]) -> Request:
        """Make a valid request; create its records if that is allowed and the options name none."""
        operation = self._operation.id
        named = bool(path.keys() - {"filename", "schema"})
        if self._live and not named:
            try:
                world = World(self._session, self._owner, self._samples)
                request = OrdinaryRequests(world, self._account).request(operation)
                return replace(request, path={**request.path, **path})
            except Untested as missing:
                # The record does not exist, so the service need not accept the request.
                self._note_made_up(missing)
        request = self._made_up(operation, path)
        if not self._live and operation not in operations_with(needs=None) and not named:
            self._notes.append(_NOT_CREATED)
        return request

    def _made_up(self, operation: str, settled: Mapping[str, str]) -> Request:
        """Make a request without creating its records; body and path name the same record."""
        path = {name: settled.get(name) or self._path(name) for name in self._operation.path_parameters}
        identifier = path.get("uid") or path.get("identifier") or self._session.namespace.uid()
        if operation == "createToken":
            body = {"email": self._account.email, "password": self._account.password.reveal()}
            return Request(operation, body=body)
        stores, samples = self._operation.stores, self._samples
        if stores == "draft" and samples.tells("draft_document"):
            return Request(operation, path, {"schema": samples.draft_schema}, body=samples.draft(identifier))
        stand_in = samples.stand_in(identifier)
        if stores in ("contact", "draft"):
            query = {"schema": self._or(partial(samples.setting, "contact_schema"), STAND_IN_SCHEMA)}
            return Request(
                operation, path, query, body=self._or(partial(samples.full_contact, identifier), stand_in)
            )
        if "schema" in path:
            body = self._or(partial(samples.submission, identifier), {"document": stand_in})
            return Request(operation, path, body=body)
        return Request(operation, path)

    def _path(self, name: str) -> str:
        if name == "schema":
            return str(self._or(partial(self._samples.setting, "workflow_schema"), STAND_IN_SCHEMA))
        updates = self._operation.id == "updateWorkflowRecord"
        named = "existing_identifier" if updates else _NAMED.get(name)
        given = self._or(partial(self._samples.setting, named), ()) if named else ()
        return str(next(iter(given), None) or _PLAIN.get(name) or self._session.namespace.uid())

    def _or(self, sample: Callable[[], Any], stand_in: Any) -> Any:
        """Return a sample, or a stand-in if the sample's setting is missing."""
        try:
            return sample()
        except Untested as missing:
            self._note_made_up(missing)
            return stand_in

    def _note_made_up(self, missing: Untested) -> None:
        note = f"{missing}: made up"
        self._notes += [note] if note not in self._notes else []

    def _faulty(self, request: Request, chosen: str) -> Request:
        fault = _choose_fault(self._operation.id, chosen)
        self._notes.append(f"fault: {fault.key}")
        if fault.key == "body:malformed":
            return replace(request, body=json_text(request.body).encode()[:-1] + b",")
        if fault.place == "path" and fault.name in _RULED and fault.kind in _EDGES:
            # One character too few or too many is the hardest test of a limit. The identifier is fresh each time.
            missed = self._session.namespace.uid(_EDGES[fault.kind])
            return replace(request, path={**request.path, fault.name: missed})
        try:
            return with_fault(request, fault, self._session.namespace)
        except (KeyError, IndexError, TypeError, StopIteration):
            raise UsageError(
                f"--invalid {chosen}: the generated request has no {fault.key.partition(':')[0]}; "
                "give it with --set or --body"
            ) from None

    def _filled(self, value: Any) -> Any:
        """Replace `{uid}` in a text by a fresh identifier, and `{prefix}` by the session's prefix."""
        if not isinstance(value, str):
            return value
        if "{uid}" in value:
            fresh = self._session.shared.once("the uid of --set", self._session.namespace.uid)
            value = value.replace("{uid}", fresh)
        return value.replace("{prefix}", self._session.namespace.prefix)


@dataclass(frozen=True)
class Call:
    """One call: the recorded exchange, its judgement, and remarks on how the request was made."""

    recorded: Exchange
    judged: Judgement
    notes: tuple[str, ...]

    @property
    def sent(self) -> bool:
        """Whether the request was sent; a dry run sends none."""
        return self.recorded.fault != UNSENT


def call(
    session: ManualSession,
    operation: Operation,
    role: str,
    realm: str,
    options: RequestOptions,
    *,
    live: bool,
) -> Call:
    """Call an operation, on fresh data.

    Args:
        live: Whether the records that the request needs may be created first.

    Raises:
        UsageError: the options name a part that the operation does not have, or a foreign record.
        GuardViolation: the request must not be sent.
        Blocked, EnvironmentFault: a record that the request needs cannot be created.
    """
    prepared = RequestPreparer(session, operation, role, realm, live=live).prepare(options)
    _refuse_foreign(session, operation, prepared.request.path)
    exchange = prepared.request.send(session.actor(role, realm))
    judged = judge(exchange, session.redactor.knows, right=prepared.right)
    return Call(session.recorded[exchange.id], judged, prepared.notes)


def _refuse_foreign(session: ManualSession, operation: Operation, path: dict[str, str]) -> None:
    """Refuse a write to a foreign record, with clearer advice than the guard gives."""
    named = [path[name] for name in ("uid", "identifier") if path.get(name)]
    foreign = [name for name in named if not session.namespace.owns(name)]
    if foreign and not operation.safe:
        raise UsageError(
            f"{operation.id} would write to '{foreign[0]}', which is outside this run's namespace; write {{uid}} for "
            "a fresh identifier, {prefix}-… for one of your own, or add it to spare_identifiers in the settings"
        )


def realm_for(operation: Operation, realm: str | None, realms: tuple[str, ...]) -> str:
    """Choose the realm of a request: the named one, or else the target's first that has the operation.

    Raises:
        UsageError: the operation or the target does not have the realm.
    """
    if operation.realms == (ANY_REALM,):
        return ANY_REALM
    offered = [name for name in realms if name in operation.realms]
    if realm is None and offered:
        return offered[0]
    refuse_production_realm(realm)
    if realm not in offered:
        there = f"realm '{realm}'" if realm else "any realm"
        raise UsageError(
            f"{operation.id} is not in {there} of the target; {suggestion(realm or '', offered)}"
        )
    return str(realm)
