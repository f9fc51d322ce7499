"""Variants of contacts and of what counts as valid where the document gives no rule.

Variants of refusals: where the message and the errors array stand. Only their presence is stated.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

from starlette.responses import PlainTextResponse, Response

from contracts.sandbox.accounts import Account
from contracts.sandbox.answers import Answers, JsonAnswer
from contracts.sandbox.contacts import ContactOperations
from contracts.sandbox.database import PUBLISHED, Records, Version
from contracts.sandbox.record_types import CONTACT, Field, Kind, Realm
from contracts.sandbox.refusals import Fault, Reason, Refusal, forbidden
from contracts.sandbox.validation import (
    INVALID_VALUE,
    UNSPECIFIED_LOCALE,
    Expectation,
    Faults,
    Path,
    Validator,
)
from contracts.sandbox.variants.model import Variant

_FORMS = {
    "emails": re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]+"),
    "phones": re.compile(r"[+0-9][0-9 ().-]{4,30}"),
    "faxes": re.compile(r"[+0-9][0-9 ().-]{4,30}"),
}
_ADDRESS = re.compile(r"https?://\S+")
_LANGUAGES = frozenset({"ar", "en", "es", "fr", "ru", "zh"})


class _PutCreates(ContactOperations):
    """Updating a contact that is not there creates it."""

    def require_right(self, records: Records, caller: Account, realm: Realm, uid: str) -> None:
        if records.owner(realm.name, uid) is not None:
            super().require_right(records, caller, realm, uid)
        elif not self.context.rights.may_create(caller):
            raise forbidden("this account may not create contacts")


class _PostUpdates(ContactOperations):
    """Creating a contact under the identifier of one's own contact updates that one."""

    def new_identifier(self, records: Records, realm: Realm, document: dict[str, Any]) -> str:
        identifier = document.get("header", {}).get("identifier")
        present = records.version(realm.name, identifier, PUBLISHED) if identifier is not None else None
        if present is None or present.schema != CONTACT.name:
            return super().new_identifier(records, realm, document)
        return present.identifier

    def keep(self, records: Records, *, caller: Account, realm: Realm, identifier: str, body: Any) -> Version:
        owner = records.owner(realm.name, identifier)
        if owner is not None and not self.context.rights.may_update(caller, owner):
            raise Refusal(Reason.CONFLICT, "a record of this identifier exists in the realm")
        return super().keep(records, caller=caller, realm=realm, identifier=identifier, body=body)


class _ReferencesOpen(ContactOperations):
    """A reference may point to a record that nobody knows."""

    def knows(self, records: Records, realm: Realm) -> Callable[[str], bool]:  # noqa: ARG002
        return lambda _identifier: True


class _NumbersAsText(Validator):
    """A number is read as text where text is due."""

    def typed(self, value: Any, wanted: type, path: Path) -> Faults:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (wanted is str and number):
            yield from super().typed(value, wanted, path)


class _NullsAbsent(Validator):
    """Null stands for an absent field."""

    def field_faults(self, field: Field, value: Any, given: bool, expectation: Expectation) -> Faults:
        yield from super().field_faults(field, value, given and value is not None, expectation)


class _Forms(Validator):
    """E-mail addresses, telephone numbers and web addresses have to look like ones."""

    def value_faults(self, field: Field, value: Any, path: Path, expectation: Expectation) -> Faults:
        faults = list(super().value_faults(field, value, path, expectation))
        yield from faults
        text = value.get("url") if field.kind is Kind.LINK and isinstance(value, dict) else value
        form = _ADDRESS if field.kind is Kind.LINK else _FORMS.get(field.name)
        if form is not None and not faults and form.fullmatch(str(text)) is None:
            yield Fault(INVALID_VALUE, path)


class _SixLanguages(Validator):
    """Only the six official languages of the United Nations are language codes."""

    def language_faults(self, language: str, path: Path) -> Faults:
        faults = list(super().language_faults(language, path))
        yield from faults
        if not faults and language.partition("-")[0].lower() not in _LANGUAGES:
            yield Fault(UNSPECIFIED_LOCALE, path)


class _HeaderIgnored(Validator):
    """What a header says of identifier and schema is not compared with anything."""

    def header_agreement(self, header: dict[str, Any], path: Path, expectation: Expectation) -> Faults:  # noqa: ARG002
        yield from ()


class _HeaderWhole(Validator):
    """A header that is given has to carry all its members."""

    def header_faults(self, value: Any, path: Path, expectation: Expectation) -> Faults:
        yield from super().header_faults(value, path, expectation)
        if isinstance(value, dict):
            for member in ("identifier", "schema", "languages"):
                if member not in value:
                    yield from self.missing((*path, member))


CONTACT_VARIANTS = (
    Variant(
        "contact-put-creates",
        "Updating a contact that does not exist is not shown: it creates it.",
        parts={"contacts": _PutCreates},
    ),
    Variant(
        "contact-post-updates",
        "Creating a contact under an identifier in use is not shown: one's own contact is updated.",
        parts={"contacts": _PostUpdates},
    ),
    Variant(
        "references-open",
        "A contactOrganization that points to no record is not shown: it is accepted.",
        parts={"contacts": _ReferencesOpen},
    ),
    Variant(
        "numbers-as-text",
        "Whether a number is read as text is not shown: it is.",
        parts={"validator": _NumbersAsText},
    ),
    Variant(
        "nulls-absent",
        "Null in an optional field is not shown: it counts as left out.",
        parts={"validator": _NullsAbsent},
    ),
    Variant(
        "forms-checked",
        "Whether e-mail, telephone and web addresses are checked for their form is not shown: they are.",
        parts={"validator": _Forms},
    ),
    Variant(
        "languages-six",
        "Which language codes are known is not shown: six.",
        parts={"validator": _SixLanguages},
    ),
    Variant(
        "header-ignored",
        "A header that disagrees with path or query is not shown: it is not compared.",
        parts={"validator": _HeaderIgnored},
    ),
    Variant(
        "header-whole",
        "Which members a header has to carry is not shown: all three.",
        parts={"validator": _HeaderWhole},
    ),
)
"""Each judges contacts, and what else is validated, otherwise."""


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


REFUSAL_VARIANTS = (
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


VARIANTS = (*CONTACT_VARIANTS, *REFUSAL_VARIANTS)
