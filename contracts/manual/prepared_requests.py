"""Single requests by hand: the options of a request, and valid requests but for the parts that the options change."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from contracts.cases.generated_cases import Fault, with_fault
from contracts.cases.requests import ABSENT, CONTENT, OrdinaryRequests, Request
from contracts.cases.sample_records import (
    NO_LANGUAGE,
    STAND_IN_SCHEMA,
    UNKNOWN_FIELD,
    UNKNOWN_TERM,
    WRONG_KIND,
    Samples,
)
from contracts.cases.world import World
from contracts.checks.outcomes import Untested
from contracts.errors import UsageError, suggestion
from contracts.file_formats import is_file, read_bytes
from contracts.interface.catalogue import Catalogue, load_catalogue
from contracts.interface.description import Operation, load_description, operations_with
from contracts.interface.operations import ANY_REALM, UID_LONGEST, UID_SHORTEST
from contracts.manual.manual_session import ManualSession
from contracts.safe_text import json_text
from contracts.session.namespace import Namespace
from contracts.settings.guard import refuse_production_realm
from contracts.settings.target import AUTHOR, Account

PLACES: Final = ("path", "query", "header", "body")
#: Headers that a request can be without, and that are named without their place.
HEADERS: Final = ("Realm", "Authorization", "Accept", "Content-Type")
_EXAMPLE: Final = (
    "header.Realm=bch-dev, path.uid={uid}, query.$top=5, body.firstName=Ada or body.phones:='[\"+1\"]'"
)


@dataclass(frozen=True)
class RequestPart:
    """One part of a request: its place, and the steps that lead to it, `("firstName",)` or `("emails", "0")`."""

    place: str
    steps: tuple[str, ...]

    @property
    def name(self) -> str:
        """The part as a person writes it, without its place."""
        return ".".join(self.steps)


@dataclass(frozen=True)
class Setting:
    """A value for one part; a JSON value in the body, text anywhere else."""

    part: RequestPart
    value: Any


@dataclass(frozen=True)
class RequestOptions:
    """What the options say of a request; everything else is generated.

    Attributes:
        body: In place of the generated one, as bytes; None for the generated one.
        body_name: Name of the file that the body came from.
        without: Parts to leave out, as written.
        invalid: The fault, as written.
    """

    settings: tuple[Setting, ...] = ()
    body: bytes | None = None
    body_name: str | None = None
    without: tuple[str, ...] = ()
    invalid: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing of the request is changed."""
        return not (self.settings or self.without or self.invalid or self.body is not None)

    def values(self, place: str) -> dict[str, Any]:
        """Values for the parts of a place that is not the body."""
        return {setting.part.name: setting.value for setting in self.settings if setting.part.place == place}


def read_setting(text: str) -> Setting:
    """Read one `--set`: `PLACE.NAME=TEXT`, or `body.NAME:=JSON`.

    Raises:
        UsageError: it cannot be read; one line with an example.
    """
    left, equals, right = text.partition("=")
    as_json = left.endswith(":")
    part = _part(left.removesuffix(":"))
    if not equals or part is None:
        raise UsageError(
            f"--set '{text}' cannot be read; write PLACE.NAME=VALUE with a place of "
            f"{', '.join(PLACES)}, as in {_EXAMPLE}"
        )
    if not as_json:
        return Setting(part, right)
    if part.place != "body":
        raise UsageError(
            f"--set '{text}': only in the body is a value JSON; write {left.removesuffix(':')}=…"
        )
    return Setting(part, read_json(right, f"--set {left}"))


def _part(text: str) -> RequestPart | None:
    place, _, name = text.strip().partition(".")
    if place not in PLACES or not name:
        return None
    steps = name.split(".") if place == "body" else [name]
    return RequestPart(place, tuple(steps)) if all(steps) else None


def read_body(text: str, *, as_json: bool) -> tuple[bytes, str | None]:
    """Read a `--body`: `@FILE`, or the body itself.

    Returns:
        Its bytes, and the file's name where it came from a file.

    Raises:
        UsageError: the file cannot be read, or it is no JSON; one line.
    """
    if not text.startswith("@"):
        if as_json:
            read_json(text, "--body")
        return text.encode("utf-8", "surrogatepass"), None
    path = Path(text[1:])
    if not is_file(path):
        raise UsageError(f"--body {text}: there is no file '{path}'")
    try:
        content = read_bytes(path)
    except OSError as error:
        raise UsageError(f"--body {text}: cannot be read: {error.strerror}") from None
    if as_json:
        try:
            decoded = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise UsageError(f"--body {text}: is not UTF-8 text, so no JSON") from None
        read_json(decoded, f"--body {text}")
        content = decoded.encode("utf-8")
    return content, path.name


def read_json(text: str, shown: str) -> Any:
    """Read JSON that a person wrote.

    Raises:
        UsageError: it is none; one line with the place of the mistake.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        at = f"line {error.lineno}, column {error.colno}"
        hint = (
            "; to send broken JSON on purpose: --invalid body:malformed" if shown.startswith("--body") else ""
        )
        raise UsageError(f"{shown}: is not JSON at {at}: {error.msg}{hint}") from None
    except RecursionError:
        raise UsageError(f"{shown}: nests too deep") from None
    except ValueError:
        raise UsageError(f"{shown}: holds a number that is too long to be read") from None


def find_part(text: str, body: Any, query: Sequence[str]) -> RequestPart:
    """Find the part that a `--without` names: with its place, or by its bare name.

    Args:
        body: The body it may be a member of.
        query: Names of the query parameters.

    Raises:
        UsageError: there is no such part; names the nearest one.
    """
    part = RequestPart("body", ()) if text == "body" else _part(text)
    if part is None:
        part = _bare(tuple(text.split(".")), text, body, query)
    names = [*_members(body), *(f"query.{name}" for name in query), *(f"header.{name}" for name in HEADERS)]
    if part is None or not _is_there(part, body, query):
        raise UsageError(f"--without {text}: the request has no such part; {suggestion(text, names)}")
    return part


def _bare(steps: tuple[str, ...], text: str, body: Any, query: Sequence[str]) -> RequestPart | None:
    parts = [
        RequestPart("body", steps),
        RequestPart("body", ("document", *steps)),
        RequestPart("query", (text,)),
    ]
    parts += [RequestPart("header", (name,)) for name in HEADERS if name.lower() == text.lower()]
    return next((part for part in parts if _is_there(part, body, query)), None)


def _is_there(part: RequestPart, body: Any, query: Sequence[str]) -> bool:
    if part.place == "query":
        return part.name in query
    if part.place != "body":
        return part.place == "header"
    try:
        walk(body, part.steps)
    except (KeyError, IndexError, TypeError, ValueError):
        return False
    return True


def _members(body: Any) -> list[str]:
    members = list(body) if isinstance(body, dict) else []
    document = body.get("document") if isinstance(body, dict) else None
    return [*members, *(document if isinstance(document, dict) else ())]


def walk(value: Any, steps: Sequence[str]) -> Any:
    """The value at the end of some steps; items by their number.

    Raises:
        KeyError, IndexError, TypeError, ValueError: there is none.
    """
    for step in steps:
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


#: What is sent for a fault, by its key or else by its kind; `body:malformed` is made of the body itself.
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


def known_faults(operation: str, catalogue: Catalogue) -> list[Fault]:
    """The faults of an operation that a clause speaks about and that can be made by themselves."""
    spoken = (fault for clause in catalogue.by_operation(operation) for fault in clause.faults)
    made = []
    for key in dict.fromkeys(spoken):
        place, _, kind = key.partition(":")
        where, *steps = place.split(".")
        if "*" not in key and key != "body:too-long":
            made.append(Fault(where, tuple(steps), key, _VALUES.get(key, _VALUES.get(kind))))
    return made


def choose_fault(operation: str, name: str) -> Fault:
    """The fault of a name: its whole key, its part (`body.firstName`), or its kind alone.

    Raises:
        UsageError: the operation has no such fault; names the nearest one.
    """
    possible = known_faults(operation, load_catalogue())
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
        f"--invalid {name}: {operation} has no such fault; {advice}; --invalid list shows them all"
    )


#: What stands in a path where nothing is arranged: a setting, or a value.
_NAMED: Final = {"tempFileId": "temporary_files"}
_PLAIN: Final = {"attachmentId": "1", "filename": "note.txt"}


class RequestGenerator:
    """Generates requests of one realm without sending anything.

    Attributes:
        missing: Settings that are missing, in words; stand-ins take their place.
    """

    def __init__(self, samples: Samples, fresh: Namespace, account: Account) -> None:
        self._samples = samples
        self._fresh = fresh
        self._account = account
        self.missing: list[str] = []

    def request(self, operation: str, names: tuple[str, ...], settled: Mapping[str, str]) -> Request:
        """Generate a request.

        Args:
            names: The operation's path parameters.
            settled: Path parameters that are settled already; the body names the same record.
        """
        path = {name: str(settled.get(name) or self._path(operation, name)) for name in names}
        identifier = path.get("uid") or path.get("identifier") or self._fresh.uid()
        if operation == "createToken":
            email, password = self._account.email, self._account.password.reveal()
            return Request(operation, body={"email": email, "password": password})
        stores, samples = load_description().operations[operation].stores, self._samples
        if stores == "draft" and samples.tells("draft_document"):
            return Request(operation, path, {"schema": samples.draft_schema}, body=samples.draft(identifier))
        if stores in ("contact", "draft"):
            query = {"schema": self._or(partial(samples.setting, "contact_schema"), STAND_IN_SCHEMA)}
            body = self._or(partial(samples.full_contact, identifier), samples.stand_in(identifier))
            return Request(operation, path, query, body=body)
        if "schema" in names:
            stand_in = {"document": samples.stand_in(identifier)}
            return Request(operation, path, body=self._or(partial(samples.submission, identifier), stand_in))
        return Request(operation, path)

    def _path(self, operation: str, name: str) -> str:
        if name == "schema":
            return str(self._or(partial(self._samples.setting, "workflow_schema"), STAND_IN_SCHEMA))
        named = "existing_identifier" if operation == "updateWorkflowRecord" else _NAMED.get(name)
        given = self._or(partial(self._samples.setting, named), ()) if named else ()
        return str(next(iter(given), None) or _PLAIN.get(name) or self._fresh.uid())

    def _or(self, sample: Callable[[], Any], stand_in: Any) -> Any:
        """A sample, or what stands in for one that lacks its setting."""
        try:
            return sample()
        except Untested as missing:
            self.missing += [str(missing)] if str(missing) not in self.missing else []
            return stand_in


#: Roles that own the records they work on, so that a right request has to be accepted.
_OWNERS: Final = (AUTHOR,)
_RULED: Final = ("uid", "identifier")
_EDGES: Final = {"too-short": UID_SHORTEST - 1, "too-long": UID_LONGEST + 1}
_HELPED: Final = ("anonymous", "restricted")
#: Note of a request whose subject was made up, because nothing was to be sent for it.
UNARRANGED: Final = "a real call would first arrange what the request is about"


@dataclass(frozen=True)
class PreparedRequest:
    """A request that is ready to be sent.

    Attributes:
        right: The request is valid in every respect, so it has to be accepted.
        notes: Remarks: settings that are missing, the fault that was chosen.
    """

    request: Request
    right: bool = False
    notes: tuple[str, ...] = field(default=())


class RequestPreparer:
    """Prepares requests of one operation, as one role in one realm.

    Args:
        live: Whether something may be sent to arrange what the request is about.
    """

    def __init__(
        self, session: ManualSession, operation: Operation, role: str, realm: str, *, live: bool
    ) -> None:
        self._session = session
        self._operation = operation
        self._role = role
        self._realm = realm
        self._live = live
        owner = AUTHOR if role in _HELPED else role
        self._owner = session.actor(owner, realm)
        self._account = session.target.accounts[owner]
        self._samples = Samples(session.target.realm_settings(realm), realm)

    def prepare(self, options: RequestOptions) -> PreparedRequest:
        """Prepare a request, on fresh data.

        Raises:
            UsageError: the options name what the operation does not have.
            Blocked, EnvironmentFault: what it is about cannot be arranged.
        """
        path = {name: self._filled(value) for name, value in options.values("path").items()}
        self._refuse_unknown(path)
        request, notes = self._base(path)
        if self._operation.id == "createAttachment":
            request = replace(request, body=CONTENT if options.body is None else options.body)
        elif options.body is not None:
            request = replace(request, body=json.loads(options.body))
        if options.body_name and "filename" in request.path and "filename" not in path:
            request = replace(request, path={**request.path, "filename": options.body_name})
        if options.invalid is not None:
            request, note = self._faulty(request, options.invalid)
            notes.append(note)
        request = self._set(request, options)
        for name in options.without:
            request = self._without(request, name)
        right = options.is_empty and self._role in _OWNERS and not notes
        return PreparedRequest(request, right, tuple(notes))

    def _refuse_unknown(self, path: dict[str, str]) -> None:
        for name in path:
            if name not in self._operation.path_parameters:
                parameters = self._operation.path_parameters
                advice = suggestion(name, parameters) if parameters else "it has none"
                raise UsageError(
                    f"--set path.{name}: {self._operation.id} has no such path parameter; {advice}"
                )

    def _base(self, path: dict[str, str]) -> tuple[Request, list[str]]:
        """A valid request; arranged where that is possible and the options do not name its record."""
        operation = self._operation.id
        named = bool(path.keys() - {"filename", "schema"})
        if self._live and not named:
            try:
                request = self._arranged(operation)
                return replace(request, path={**request.path, **path}), []
            except Untested:
                pass  # the generator notes which settings are missing
        generator = RequestGenerator(self._samples, self._session.namespace, self._account)
        request = generator.request(operation, self._operation.path_parameters, path)
        notes = [f"{missing}: made up" for missing in generator.missing]
        if not self._live and operation not in operations_with(needs=None) and not named:
            notes.append(UNARRANGED)
        return request, notes

    def _arranged(self, operation: str) -> Request:
        world = World(self._session, self._owner, self._samples)
        return OrdinaryRequests(world, self._account).request(operation)

    def _faulty(self, request: Request, chosen: str) -> tuple[Request, str]:
        fault = choose_fault(self._operation.id, chosen)
        note = f"fault: {fault.key}"
        if fault.key == "body:malformed":
            return replace(request, body=json_text(request.body).encode()[:-1] + b","), note
        if fault.place == "path" and fault.name in _RULED and fault.kind in _EDGES:
            # The nearest miss shows most, and each on an identifier of its own.
            missed = self._session.namespace.uid(_EDGES[fault.kind])
            return replace(request, path={**request.path, fault.name: missed}), note
        try:
            return with_fault(request, fault, self._session.namespace), note
        except (KeyError, IndexError, TypeError, StopIteration):
            raise UsageError(
                f"--invalid {chosen}: the request that was made up has no {fault.key.partition(':')[0]}; "
                "give it with --set or --body"
            ) from None

    def _set(self, request: Request, options: RequestOptions) -> Request:
        query = {name: self._filled(value) for name, value in options.values("query").items()}
        headers = {name: self._filled(value) for name, value in options.values("header").items()}
        body = request.body
        for setting in options.settings:
            if setting.part.place == "body":
                body = self._put({} if body is ABSENT else copy.deepcopy(body), setting)
        return replace(
            request, query={**request.query, **query}, headers={**request.headers, **headers}, body=body
        )

    def _put(self, body: Any, setting: Setting) -> Any:
        value = self._filled(setting.value) if isinstance(setting.value, str) else setting.value
        *way, last = setting.part.steps
        holder = body
        try:
            for step in way:
                if isinstance(holder, dict) and step not in holder:
                    holder[step] = {}
                holder = walk(holder, [step])
            if isinstance(holder, list) and int(last) == len(holder):
                holder.append(value)
            else:
                holder[int(last) if isinstance(holder, list) else last] = value
        except (TypeError, ValueError, IndexError, KeyError):
            raise UsageError(
                f"--set body.{setting.part.name}: there is no such place in the body; "
                "members are named, items numbered from 0"
            ) from None
        return body

    def _without(self, request: Request, name: str) -> Request:
        part = find_part(name, request.body, list(request.query))
        if part.place == "header":
            header = next((name for name in HEADERS if name.lower() == part.name.lower()), part.name)
            return replace(request, headers={**request.headers, header: None})
        if part.place == "query":
            return replace(
                request, query={key: value for key, value in request.query.items() if key != part.name}
            )
        if not part.steps:
            return replace(request, body=ABSENT)
        body = copy.deepcopy(request.body)
        holder = walk(body, part.steps[:-1])
        del holder[int(part.steps[-1]) if isinstance(holder, list) else part.steps[-1]]
        return replace(request, body=body)

    def _filled(self, text: str) -> str:
        """A value with `{uid}` for a fresh identifier and `{prefix}` for what the session's identifiers begin with."""
        if "{uid}" in text:
            text = text.replace(
                "{uid}", self._session.shared.once("the uid of --set", self._session.namespace.uid)
            )
        return text.replace("{prefix}", self._session.namespace.prefix)


def realm_for(operation: Operation, realm: str | None, realms: tuple[str, ...]) -> str:
    """The realm to send an operation in: the one named, or else the target's first that has it.

    Raises:
        UsageError: the operation or the target does not have it.
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
