"""How one sandbox is set up: its settings, its habits, and the shapes of answers that the habits give.

A habit fills what the document calls "not shown" or says nothing of. Another reading of the silence is another value
here and never another branch in the code.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from starlette.responses import JSONResponse, Response

from contracts.errors import UsageError, suggestion
from contracts.interface.cross_origin import AllowedOrigins
from contracts.sandbox.http_requests import Fault, Reason, Refusal
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


@dataclass(frozen=True)
class Habits:
    """The plainest HTTP habit for each silent point.

    Attributes:
        token_status: success of the token operation.
        contact_created_status: success of contact create.
        contact_updated_status: success of contact update.
        draft_created_status: success of Save when no draft was there.
        draft_updated_status: success of Save when it replaced one.
        draft_deleted_status: success of Delete; 204 carries no body.
        attachment_created_status: success of Create.
        attachment_persisted_status: success of Upload from temporary storage.
        workflow_created_status: success of a workflow POST.
        workflow_updated_status: success of a workflow PUT.
        unauthenticated_status: protected operation without a valid token (workflow excepted: 403 is stated).
        wrong_credentials_status: token operation with a wrong e-mail or password.
        forbidden_status: signed in, but without the right (workflow excepted).
        not_found_status: the thing named in the path is not there.
        delete_missing_status: Delete where there is no draft, so also the second Delete.
        bad_request_status: a parameter, header or body that cannot be used.
        validation_status: faulty contact or submission content, with the ``errors`` array.
        conflict_status: contact create under an identifier in use.
        too_large_status: an upload or body over its limit.
        media_type_status: a JSON operation with another content type.
        write_answers_record: contact, draft and attachment writes answer the record's metadata; else nothing.
        identifier_member: member that carries a record's identifier.
        attachment_id_member: member that carries an attachment's integer id.
        list_member: member that wraps list items; ``None`` answers the bare array.
        count_member: member beside ``list_member`` that carries the number of items; ``None`` leaves it out.
        draft_member: member that wraps the content answered by Get; ``None`` answers the content itself.
        error_member: member that wraps a refusal; ``None`` puts its members at the top level.
        status_member: member of a refusal that repeats the status; ``None`` leaves it out.
        message_member: member of a refusal that carries its text.
        error_property_path: the ``property`` of a fault is a dotted path, not just the field of the table.
        timestamp_digits: digits of fractional seconds, 1 to 6.
        head_length: HEAD answers carry the Content-Length of the GET.
        realm_required: contact and draft operations refuse a request without Realm header.
        default_realm: realm taken when none is given and none is required.
        attachments_open: attachment exists, get and thumbnail answer without a token.
        empty_mandatory_string_refused: an empty string counts as a missing mandatory value.
        unknown_submission_members_refused: members of the workflow body beside the three listed are a fault.
        header_schema_must_agree: ``header.schema`` must name the schema the request names.
        list_default_top: items answered when the request gives no top; ``None`` answers all.
        newest_first: default order of lists is newest first, not oldest first.
        thumbnail_pixels: longest side of a thumbnail.

    """

    token_status: int = 200
    contact_created_status: int = 201
    contact_updated_status: int = 200
    draft_created_status: int = 201
    draft_updated_status: int = 200
    draft_deleted_status: int = 204
    attachment_created_status: int = 201
    attachment_persisted_status: int = 201
    workflow_created_status: int = 201
    workflow_updated_status: int = 200
    unauthenticated_status: int = 401
    wrong_credentials_status: int = 401
    forbidden_status: int = 403
    not_found_status: int = 404
    delete_missing_status: int = 404
    bad_request_status: int = 400
    validation_status: int = 400
    conflict_status: int = 409
    too_large_status: int = 413
    media_type_status: int = 415
    write_answers_record: bool = True
    identifier_member: str = "identifier"
    attachment_id_member: str = "id"
    list_member: str | None = None
    count_member: str | None = None
    draft_member: str | None = None
    error_member: str | None = None
    status_member: str | None = "statusCode"
    message_member: str = "message"
    error_property_path: bool = False
    timestamp_digits: int = 3
    head_length: bool = True
    realm_required: bool = True
    default_realm: str = "abs-dev"
    attachments_open: bool = True
    empty_mandatory_string_refused: bool = False
    unknown_submission_members_refused: bool = True
    header_schema_must_agree: bool = True
    list_default_top: int | None = None
    newest_first: bool = False
    thumbnail_pixels: int = 160


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
    usual = {field.name: field.default for field in fields(Habits)}
    if not equals or name not in usual:
        raise UsageError(f"--habit {word!r} is no NAME=VALUE of a habit; {suggestion(name, list(usual))}")
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
    meanings = dict(re.findall(r"^ {8}(\w+): (.+)$", Habits.__doc__ or "", re.MULTILINE))
    usual = {field.name: field.default for field in fields(Habits)}
    words = {name: value if isinstance(value, str) else str(value).lower() for name, value in usual.items()}
    return "".join(f"{name}={word}  {meanings[name]}\n" for name, word in words.items())


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
