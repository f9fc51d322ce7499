"""Turning results and refusals into HTTP answers, in the shapes the habits give."""

from collections.abc import Sequence
from typing import Any

from starlette.responses import Response

from contracts.sandbox.habits import Habits
from contracts.sandbox.json_answer import JsonAnswer
from contracts.sandbox.refusals import Fault, Reason, Refusal

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
