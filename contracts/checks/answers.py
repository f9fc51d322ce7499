"""What one answer is held to by itself, whatever came before: its form, and what the document says it carries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, Final

from contracts.checks import errors_array, timestamps, universal
from contracts.checks.claims import Claim
from contracts.checks.outcomes import Attempt, usable
from contracts.checks.requests import RequestFacts
from contracts.exchanges import images, readers
from contracts.exchanges.exchange import Exchange
from contracts.interface.catalogue import Catalogue
from contracts.session.namespace import is_valid_uid

_TOKEN: Final = "authenticationToken"  # noqa: S105 - a member's name
_PICTURES: Final = frozenset({".png", ".jpg", ".jpeg", ".gif"})


class Answers:
    """The checks of one answer.

    Args:
        facts: What the request is.
        attempt: Where assertions are noted.
    """

    def __init__(
        self, exchange: Exchange, facts: RequestFacts, catalogue: Catalogue, attempt: Attempt
    ) -> None:
        self._exchange = exchange
        self._facts = facts
        self._catalogue = catalogue
        self._attempt = attempt

    def checks(self) -> tuple[Callable[[], None], ...]:
        """Every check that this answer allows, each to be called by itself."""
        operation, found = self._facts.operation.id, [self._empty_or_json, self._errors]
        if self._exchange.method == "HEAD":
            found.append(self._no_content)
        if self._exchange.response is not None and self._exchange.response.success and self._facts.valid:
            found += [each.__get__(self) for each in _OF_SUCCESS.get(operation, ())]
        return tuple(found)

    def _claim(self, clause: str) -> Claim:
        return Claim(self._catalogue.clause(clause), self._facts.operation.id, self._attempt)

    def _covers(self, clause: str) -> bool:
        return self._facts.operation.id in self._catalogue.clause(clause).operations

    def _holds(self, clause: str, condition: bool, expected: str, seen: str | None = None) -> None:
        answer = self._exchange.answer
        self._claim(clause).holds(condition, self._exchange, expected=expected, seen=seen or answer.quote())

    def _no_content(self) -> None:
        if self._covers("head-without-body"):
            universal.no_content(self._claim("head-without-body"), self._exchange)

    def _empty_or_json(self) -> None:
        if self._covers("json-bodies") and self._exchange.method != "HEAD":
            universal.empty_or_json(self._claim("json-bodies"), self._exchange)

    def _errors(self) -> None:
        answer = usable(self._exchange)
        if not self._covers("errors-element-shape") or not errors_array.turned_down(answer):
            return
        found = readers.errors(answer)
        if not found or not (self._facts.faults and all(fault.in_content for fault in self._facts.faults)):
            return
        odd = [each for each in found if not errors_array.well_formed(each)]
        shape = "objects with a string code and a string property"
        self._holds("errors-element-shape", not odd, shape, f"{odd[:1]}" if odd else None)
        strange = sorted({code for code, _ in errors_array.elements(answer)} - errors_array.CODES)
        self._holds("errors-code-known", not strange, "one of the seven documented codes", ", ".join(strange))

    def _token(self) -> None:
        body = self._exchange.answer.json
        record: Mapping[str, Any] = body if isinstance(body, dict) else {}
        token, expiration = record.get(_TOKEN), record.get("expiration")
        given = isinstance(token, str) and bool(token)
        self._holds("token-issued", given, f"{_TOKEN}, a string that is not empty", "no such member")
        form = "an ISO 8601 timestamp in UTC with fractional seconds"
        self._holds(
            "token-expiration-format", timestamps.is_utc_with_fraction(expiration), form, f"{expiration!r}"
        )

    def _draft_list(self) -> None:
        self._list("list-answers", "$top", "list-top", "list-top-zero")

    def _attachment_list(self) -> None:
        self._list(None, "top", "attachment-list-top", "attachment-list-top-zero")

    def _list(self, answers: str | None, option: str, top: str, none: str) -> None:
        records = readers.records(self._exchange.answer)
        given = dict(self._facts.query)
        if answers is not None:
            self._holds(answers, records is not None, "a list")
        most = given.get(option, "")
        if records is not None and most.isdigit():
            clause = none if int(most) == 0 else top
            self._holds(clause, len(records) <= int(most), f"at most {most} items", f"{len(records)} items")

    def _info(self) -> None:
        self._holds("draft-info-present", bool(self._exchange.answer.json), "metadata of the draft")

    def _thumbnail(self) -> None:
        name = PurePosixPath(self._facts.path.get("filename", "")).suffix.lower()
        if name in _PICTURES:
            answer = self._exchange.answer
            seen = f"{answer.media_type or 'no type'}, {len(answer.content)} bytes"
            self._holds("attachment-thumbnail-image", images.is_image(answer), "an image", seen)

    def _kept(self) -> None:
        if not self._refused_for_content():
            self._claim("workflow-identifier-kept").carries(self._exchange, self._facts.path["identifier"])

    def _returned(self) -> None:
        if not self._refused_for_content():
            named = any(is_valid_uid(value) for value in readers.values(self._exchange.answer.json))
            location = self._exchange.answer.headers.get("location", "")
            self._holds("workflow-identifier-returned", named or bool(location), "the record's identifier")

    def _no_errors(self) -> None:
        """A content problem may come with any status below 500: then it is a refusal, and no success."""
        if not self._refused_for_content():
            self._holds("errors-absent-on-success", True, "no errors array")

    def _refused_for_content(self) -> bool:
        return errors_array.turned_down(usable(self._exchange))


_OF_SUCCESS: Final[Mapping[str, tuple[Callable[[Answers], None], ...]]] = MappingProxyType(
    {
        "createToken": (Answers._token,),
        "listDrafts": (Answers._draft_list,),
        "listAttachments": (Answers._attachment_list,),
        "getDraftInfo": (Answers._info,),
        "getAttachmentThumbnail": (Answers._thumbnail,),
        "createContact": (Answers._no_errors,),
        "updateContact": (Answers._no_errors,),
        "createWorkflowRecord": (Answers._returned, Answers._no_errors),
        "createWorkflowRecordWithIdentifier": (Answers._kept, Answers._no_errors),
        "updateWorkflowRecord": (Answers._kept, Answers._no_errors),
    }
)
