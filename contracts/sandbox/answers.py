"""Answers of the sandbox: JSON texts, timestamps, metadata and refusals, in the shapes that the habits give."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from starlette.responses import JSONResponse, Response

from contracts.sandbox.habits import Habits
from contracts.sandbox.http_requests import Fault, Reason, Refusal
from contracts.sandbox.storage import Version

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
            record: metadata of what was written.
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
    """Tells the time; a test or a defect may put another clock in its place.

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
