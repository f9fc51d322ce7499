"""How one sandbox is set up: its settings, its habits, and the shapes of answers that the habits give.

A habit fills what the document calls "not shown" or says nothing of. Another reading of the silence is another value
here and never another branch in the code.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from starlette.responses import JSONResponse, Response

from contracts.errors import UsageError, suggestion
from contracts.interface.cross_origin import AllowedOrigins
from contracts.sandbox.http import Fault, Reason, Refusal
from contracts.sandbox.storage import Version

ONE_GIGABYTE = 1024**3
"""Limits, "Create attachment": 1 GB, read as 2**30 bytes."""


@dataclass(frozen=True)
class Settings:
    """The figures a sandbox is started with.

    Attributes:
        data: folder for the database and the files; ``None`` keeps everything for this process only.
        size_limit: largest attachment accepted by Create, in bytes (Limits: 1 GB).
        token_lifetime: seconds a token stays valid (token lifetime: not shown in the document).
        variants: names of variants, see ``contracts.sandbox.variants``.
        habits: habits by name, laid over those of the variants.
        faults: names of faults of the population, see ``contracts.sandbox.faults``.
        observed: count what the service shows, see ``contracts.sandbox.faults.observer``.
        weather: what stands between the service and its clients, see ``contracts.sandbox.weather``.
        weather_seed: seed of the weather's chance.
        json_limit: largest JSON body read, in bytes (silent; guards the memory).
        origins: pages of these origins may use it; ``None`` leaves browsers to find that they may not.

    """

    data: Path | None = None
    size_limit: int = ONE_GIGABYTE
    token_lifetime: float = 3600.0
    json_limit: int = 16 * 1024**2
    variants: tuple[str, ...] = ()
    habits: tuple[tuple[str, Any], ...] = ()
    faults: tuple[str, ...] = ()
    observed: bool = False
    weather: tuple[str, ...] = ()
    weather_seed: int = 1
    origins: AllowedOrigins | None = None


_Value = TypeVar("_Value")


def _habit(usual: _Value, meaning: str) -> _Value:
    value: _Value = field(default=usual, metadata={"meaning": meaning})
    return value


@dataclass(frozen=True)
class Habits:
    """The plainest HTTP habit for each silent point."""

    token_status: int = _habit(200, "success of the token operation")
    contact_created_status: int = _habit(201, "success of contact create")
    contact_updated_status: int = _habit(200, "success of contact update")
    draft_created_status: int = _habit(201, "success of Save when no draft was there")
    draft_updated_status: int = _habit(200, "success of Save when it replaced one")
    draft_deleted_status: int = _habit(204, "success of Delete; 204 carries no body")
    attachment_created_status: int = _habit(201, "success of Create")
    attachment_persisted_status: int = _habit(201, "success of Upload from temporary storage")
    workflow_created_status: int = _habit(201, "success of a workflow POST")
    workflow_updated_status: int = _habit(200, "success of a workflow PUT")
    unauthenticated_status: int = _habit(
        401, "a protected operation without a valid token, the workflow's apart"
    )
    wrong_credentials_status: int = _habit(401, "token operation with a wrong e-mail or password")
    forbidden_status: int = _habit(403, "signed in, but without the right (workflow excepted)")
    not_found_status: int = _habit(404, "the thing named in the path is not there")
    delete_missing_status: int = _habit(404, "Delete where there is no draft, so also the second Delete")
    bad_request_status: int = _habit(400, "a parameter, header or body that cannot be used")
    validation_status: int = _habit(400, "faulty contact or submission content, with the errors array")
    conflict_status: int = _habit(409, "contact create under an identifier in use")
    too_large_status: int = _habit(413, "an upload or body over its limit")
    media_type_status: int = _habit(415, "a JSON operation with another content type")
    write_answers_record: bool = _habit(
        True, "contact, draft and attachment writes answer metadata; else nothing"
    )
    identifier_member: str = _habit("identifier", "member that carries a record's identifier")
    attachment_id_member: str = _habit("id", "member that carries an attachment's integer id")
    list_member: str | None = _habit(None, "member that wraps list items; none answers the bare array")
    count_member: str | None = _habit(
        None, "member beside list_member with the number of items; none leaves it out"
    )
    draft_member: str | None = _habit(
        None, "member that wraps the content answered by Get; none answers the content"
    )
    error_member: str | None = _habit(
        None, "member that wraps a refusal; none puts its members at the top level"
    )
    status_member: str | None = _habit(
        "statusCode", "member of a refusal that repeats the status; none leaves it out"
    )
    message_member: str = _habit("message", "member of a refusal that carries its text")
    error_property_path: bool = _habit(
        False, "the property of a fault is a dotted path, not just the table's field"
    )
    timestamp_digits: int = _habit(3, "digits of fractional seconds, 1 to 6")
    head_length: bool = _habit(True, "HEAD answers carry the Content-Length of the GET")
    realm_required: bool = _habit(True, "contact and draft operations refuse a request without Realm header")
    default_realm: str = _habit("abs-dev", "realm taken when none is given and none is required")
    attachments_open: bool = _habit(True, "attachment exists, get and thumbnail answer without a token")
    empty_mandatory_string_refused: bool = _habit(
        False, "an empty string counts as a missing mandatory value"
    )
    unknown_submission_members_refused: bool = _habit(
        True, "members of the workflow body beside the listed are a fault"
    )
    header_schema_must_agree: bool = _habit(True, "header.schema must name the schema the request names")
    list_default_top: int | None = _habit(
        None, "items answered when the request gives no top; none answers all"
    )
    newest_first: bool = _habit(False, "default order of lists is newest first, not oldest first")
    thumbnail_pixels: int = _habit(160, "longest side of a thumbnail")


_WORDS = {"true": True, "false": False, "none": None}
_LOWEST_STATUS, _HIGHEST_STATUS = 200, 499


def read_habits(words: Iterable[str]) -> tuple[tuple[str, Any], ...]:
    """Read habits given as NAME=VALUE.

    Raises:
        UsageError: there is no such habit, or the value is not of its kind.
    """
    return tuple(_read_habit(word) for word in words)


def _read_habit(word: str) -> tuple[str, Any]:
    name, equals, text = word.partition("=")
    names = [habit.name for habit in fields(Habits)]
    if not equals or name not in names:
        raise UsageError(f"--habit {word!r} is no NAME=VALUE of a habit; {suggestion(name, names)}")
    value = int(text) if text.isascii() and text.isdigit() else _WORDS.get(text, text)
    kind = _kind(name)
    if not re.fullmatch(kind, type(value).__name__):
        raise UsageError(f"--habit {name} takes {_KINDS[kind]}, not {text!r}")
    if name.endswith("_status") and not _LOWEST_STATUS <= int(value or 0) <= _HIGHEST_STATUS:
        raise UsageError(
            f"--habit {name} takes a status from {_LOWEST_STATUS} to {_HIGHEST_STATUS}, not {text}"
        )
    return name, value


#: Types of values, and how a message calls them.
_KINDS = {
    "bool": "true or false",
    "int": "a whole number",
    "int|NoneType": "a whole number or none",
    "str": "a name",
    "str|NoneType": "a name or none",
}


def _kind(name: str) -> str:
    declared = str(Habits.__annotations__[name])
    return declared.replace(" ", "").replace("None", "NoneType").replace("<class'", "").replace("'>", "")


def help_text() -> str:
    """Every habit with its usual value and what it is about, a line each, as ``--habit list`` prints them."""
    return "".join(
        f"{habit.name}={habit.default if isinstance(habit.default, str) else str(habit.default).lower()}"
        f"  {habit.metadata['meaning']}.\n"
        for habit in fields(Habits)
    )


_HALVES = re.compile("[\ud800-\udfff]")


def json_text(value: Any) -> str:
    """Return a JSON value as text, in the order and with the numbers it came with.

    Raises:
        ValueError: a number that JSON does not have, such as NaN.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _HALVES.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


def json_bytes(value: Any) -> bytes:
    """Return a JSON value as the bytes of its text."""
    return json_text(value).encode("utf-8")


class JsonAnswer(JSONResponse):
    """An answer in JSON; half of a surrogate pair, which a draft may hold, stands in it as an escape."""

    def render(self, content: Any) -> bytes:
        """Return the body; what JSON does not have, such as NaN, raises ValueError."""
        return json_bytes(content)


_JSON = "application/json"
NO_CONTENT = 204
UNAUTHORIZED = 401


class Answers:
    """Shapes every JSON answer of the sandbox.

    Args:
        habits: statuses and member names where the document is silent.

    """

    def __init__(self, habits: Habits) -> None:
        self.habits = habits

    def written(self, record: dict[str, Any], status: int) -> Response:
        """Return the answer of a successful write.

        Args:
            status: its success status; 204 carries no body.

        """
        if status == NO_CONTENT or not self.habits.write_answers_record:
            return Response(status_code=status)
        return JsonAnswer(record, status_code=status)

    def content(self, text: str) -> Response:
        """Return a stored JSON text exactly as it was stored."""
        member = self.habits.draft_member
        return Response(text if member is None else f'{{"{member}":{text}}}', media_type=_JSON)

    def listed(self, items: Sequence[dict[str, Any]]) -> Response:
        """Return a list: the bare array, or the envelope the habits ask for."""
        if self.habits.list_member is None:
            return JsonAnswer(list(items))
        envelope: dict[str, Any] = {self.habits.list_member: list(items)}
        if self.habits.count_member is not None:
            envelope[self.habits.count_member] = len(items)
        return JsonAnswer(envelope)

    def refusal(self, refusal: Refusal) -> Response:
        """Return a refusal: its text, and the ``errors`` array when content was faulty."""
        status = refusal.status or self.status(refusal.reason)
        if status == NO_CONTENT:
            return Response(status_code=status)
        body = self.refusal_body(status, refusal.message, refusal.faults)
        if refusal.identifier is not None:
            body[self.habits.identifier_member] = refusal.identifier
        headers = {"WWW-Authenticate": "Bearer"} if status == UNAUTHORIZED else None
        return JsonAnswer(body, status_code=status, headers=headers)

    def refusal_body(self, status: int, message: str, faults: Sequence[Fault] = ()) -> dict[str, Any]:
        """Return the JSON body of a refusal."""
        body: dict[str, Any] = {self.habits.message_member: message}
        if self.habits.status_member is not None:
            body = {self.habits.status_member: status, **body}
        if self.habits.error_member is not None:
            body = {self.habits.error_member: body}
        if faults:
            body["errors"] = self.errors(faults)
        return body

    def errors(self, faults: Sequence[Fault]) -> list[dict[str, str]]:
        """Return the ``errors`` array: objects of ``code`` and ``property`` (the field concerned)."""
        whole = self.habits.error_property_path
        pairs = [(fault.code, ".".join(fault.path) if whole else fault.path[0]) for fault in faults]
        return [{"code": code, "property": field} for code, field in dict.fromkeys(pairs)]

    def status(self, reason: Reason) -> int:
        """Return the status of a refusal for which the document states none."""
        habits = self.habits
        return {
            Reason.BAD_REQUEST: habits.bad_request_status,
            Reason.UNAUTHENTICATED: habits.unauthenticated_status,
            Reason.WRONG_CREDENTIALS: habits.wrong_credentials_status,
            Reason.FORBIDDEN: habits.forbidden_status,
            Reason.NOT_FOUND: habits.not_found_status,
            Reason.DELETE_MISSING: habits.delete_missing_status,
            Reason.CONFLICT: habits.conflict_status,
            Reason.TOO_LARGE: habits.too_large_status,
            Reason.MEDIA_TYPE: habits.media_type_status,
            Reason.INVALID_CONTENT: habits.validation_status,
            Reason.STATED: habits.bad_request_status,
        }[reason]


class Clock:
    """Tells the time; a test or a fault may put another clock in its place.

    Args:
        digits: digits of fractional seconds in the written form, 1 to 6.

    """

    def __init__(self, digits: int = 3) -> None:
        self.digits = digits

    def now(self) -> datetime:
        """Return the present moment in UTC, without offset, no finer than its written form."""
        moment = datetime.now(UTC).replace(tzinfo=None)
        # What a client reads is what it can ask for again in a filter.
        return moment.replace(microsecond=moment.microsecond - moment.microsecond % 10 ** (6 - self.digits))

    def written(self, moment: datetime) -> str:
        """Return a moment as "ISO 8601 UTC timestamp with fractional seconds".

        Args:
            moment: UTC without offset.

        Returns:
            For example ``2026-01-31T08:15:00.250Z``.

        """
        fraction = f"{moment.microsecond:06d}"[: self.digits]
        return f"{moment:%Y-%m-%dT%H:%M:%S}.{fraction}Z"


class Metadata:
    """Describes what is stored, without its content (fields of these records: not shown).

    Args:
        habits: names of the members that carry identifiers.
        clock: writes the timestamps.

    """

    def __init__(self, habits: Habits, clock: Clock) -> None:
        self.habits = habits
        self.clock = clock

    def of_version(self, version: Version) -> dict[str, Any]:
        """Return the description of a draft or a published version."""
        return self.of_row(
            {
                "identifier": version.identifier,
                "schema": version.schema,
                "realm": version.realm,
                "owner": version.owner,
                "createdOn": version.created_on,
                "updatedOn": version.updated_on,
                "size": version.size,
            }
        )

    def of_row(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the description made from one row of a list: names as the habits ask, moments written."""
        names = {"identifier": self.habits.identifier_member, "id": self.habits.attachment_id_member}
        return {names.get(name, name): self._shown(name, value) for name, value in row.items()}

    def _shown(self, name: str, value: Any) -> Any:
        return self.clock.written(value) if name.endswith("On") else value
