"""Variants of refusals: where the message and the errors array stand. Only their presence is stated."""

from collections.abc import Sequence
from typing import Any

from starlette.responses import PlainTextResponse, Response

from contracts.sandbox.answers import Answers
from contracts.sandbox.json_answer import JsonAnswer
from contracts.sandbox.refusals import Fault, Refusal
from contracts.sandbox.variants.model import Variant


class _PlainText(Answers):
    """A message is the whole body; an errors array needs JSON."""

    def refusal(self, refusal: Refusal) -> Response:
        answer = super().refusal(refusal)
        if refusal.faults or answer.status_code == 204:
            return answer
        return PlainTextResponse(refusal.message + "\n", answer.status_code, _kept(answer))


class _UnderError(Answers):
    """Message and errors stand two levels down."""

    def refusal_body(self, status: int, message: str, faults: Sequence[Fault] = ()) -> dict[str, Any]:
        error: dict[str, Any] = {"code": status, "message": message, "innererror": {"trace": "0000-01"}}
        if faults:
            error["errors"] = self.errors(faults)
        return {"error": error}


class _InArray(Answers):
    """The message is one of several in an array."""

    def refusal_body(self, status: int, message: str, faults: Sequence[Fault] = ()) -> dict[str, Any]:
        body: dict[str, Any] = {"messages": [{"severity": "error", "text": message, "status": str(status)}]}
        if faults:
            body["errors"] = self.errors(faults)
        return body


class _Spaced(Answers):
    """The message is quoted, broken into lines and followed by white space."""

    def refusal_body(self, status: int, message: str, faults: Sequence[Fault] = ()) -> dict[str, Any]:
        first, space, rest = message.partition(" ")
        return super().refusal_body(status, f"  “{first}{space and chr(10)}{rest}” \r\n", faults)


class _Nested(Answers):
    """The errors array stands one level down, each element with more to say."""

    def refusal_body(self, status: int, message: str, faults: Sequence[Fault] = ()) -> dict[str, Any]:
        body = super().refusal_body(status, message)
        if faults:
            found = [
                {**error, "message": "see the documentation", "level": 2} for error in self.errors(faults)
            ]
            body["validation"] = {"isValid": False, "errors": found}
        return body


class _Bare(Answers):
    """A refusal without a stated message says nothing."""

    def refusal(self, refusal: Refusal) -> Response:
        answer = super().refusal(refusal)
        if refusal.faults or refusal.status is not None:
            return answer
        return Response(status_code=answer.status_code, headers=_kept(answer))


class _Problem(Answers):
    """Problem details for HTTP (RFC 9457)."""

    def refusal(self, refusal: Refusal) -> Response:
        answer = super().refusal(refusal)
        if answer.status_code == 204:
            return answer
        body = self.refusal_body(answer.status_code, refusal.message, refusal.faults)
        kind = "application/problem+json"
        return JsonAnswer(body, answer.status_code, _kept(answer), media_type=kind)

    def refusal_body(self, status: int, message: str, faults: Sequence[Fault] = ()) -> dict[str, Any]:
        body: dict[str, Any] = {
            "type": "about:blank",
            "title": "Refused",
            "status": status,
            "detail": message,
        }
        if faults:
            body["errors"] = self.errors(faults)
        return body


def _kept(answer: Response) -> dict[str, str]:
    """Return the headers of a refusal that do not describe its body."""
    described = ("content-type", "content-length")
    return {name: value for name, value in answer.headers.items() if name not in described}


VARIANTS = (
    Variant(
        "message-plain-text",
        "The body that carries a message is not shown: it is the message itself as plain text.",
        parts={"answers": _PlainText},
    ),
    Variant(
        "message-under-error",
        "The body that carries a message is not shown: message and errors stand under error.",
        parts={"answers": _UnderError},
    ),
    Variant(
        "message-in-array",
        "The body that carries a message is not shown: it is one of an array of messages.",
        parts={"answers": _InArray},
    ),
    Variant(
        "message-spaced",
        "White space around a message is not shown: it is quoted, broken into lines and ends with a line break.",
        parts={"answers": _Spaced},
    ),
    Variant(
        "errors-nested",
        "The place of the errors array is not shown: it stands under validation, its elements say more.",
        parts={"answers": _Nested},
    ),
    Variant(
        "refusals-without-body",
        "Bodies of refusals outside the tables are not shown: they are empty.",
        parts={"answers": _Bare},
    ),
    Variant(
        "problem-json",
        "The shape of refusals is not shown: they are problem details, application/problem+json.",
        parts={"answers": _Problem},
    ),
)
"""Each puts messages or errors elsewhere."""
