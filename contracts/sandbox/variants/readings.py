"""Variants that take another reading where the document can be read in two ways, and that take more than they must.

Where the suite has a clause of level should, these may earn an advisory; never a fail.
"""

import json
from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.answers import Answers
from contracts.sandbox.body import BodyReader, JsonBody
from contracts.sandbox.drafts import COLLECTIONS, DraftOperations
from contracts.sandbox.identity import Account
from contracts.sandbox.json_answer import JsonAnswer, json_text
from contracts.sandbox.query import query_value
from contracts.sandbox.realms import Realm, RealmBook
from contracts.sandbox.record_types import Field, Kind, RecordType
from contracts.sandbox.refusals import Fault, Refusal
from contracts.sandbox.validation import INVALID_VALUE, MANDATORY, Expectation, Faults, Path, Validator
from contracts.sandbox.variants.model import Variant

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class _OneAtATime(Validator):
    """Faults are told one at a time."""

    def faults(self, document: dict[str, Any], expectation: Expectation) -> list[Fault]:
        return super().faults(document, expectation)[:1]


class _Coarse(Answers):
    """Whatever is not a missing field is an invalid value."""

    def errors(self, faults: Sequence[Fault]) -> list[dict[str, str]]:
        coarse = [
            Fault(fault.code if fault.code == MANDATORY else INVALID_VALUE, fault.path) for fault in faults
        ]
        return super().errors(coarse)


class _UnknownFields(Validator):
    """Fields that the table does not have are let through."""

    def unknown_fields(self, document: dict[str, Any], kind: RecordType) -> Faults:  # noqa: ARG002
        yield from ()


class _AnyTerm(Validator):
    """Any term is as good as another."""

    def term_faults(self, field: Field, value: Any, path: Path) -> Faults:
        return super().term_faults(Field(field.name, Kind.TERM), value, path)


class _AnyCollection(DraftOperations):
    """A collection that is not known is passed over."""

    def collection_owner(self, request: Request, caller: Account) -> str | None:
        known = query_value(request, "collection") in {None, *COLLECTIONS}
        return super().collection_owner(request, caller) if known else None


class _AnyCaseRealms(RealmBook):
    """Realm names are read in any letter case, and so is the name of the query parameter."""

    def named(self, name: str) -> Realm | None:
        return super().named(name.lower())

    def given(self, request: Request) -> str | None:
        return super().given(request) or query_value(request, "realm") or None


class _QueryFirst(RealmBook):
    """The realm in the query counts before that in the header."""

    def given(self, request: Request) -> str | None:
        return query_value(request, "Realm") or super().given(request)


class _AnySchema(RealmBook):
    """A draft may be of a schema that nobody configured, or of none."""

    def schema(self, request: Request, realm: Realm) -> RecordType:
        try:
            return super().schema(request, realm)
        except Refusal:
            if not str(request.url.path).endswith("/versions/draft"):
                raise
            return RecordType(query_value(request, "schema") or "none", ())


class _AnyJson(BodyReader):
    """A draft may be any JSON value."""

    async def read_object(self, request: Request) -> JsonBody:
        draft = str(request.url.path).endswith("/versions/draft")
        return await (self.read(request) if draft else super().read_object(request))


class _Kind(BodyReader):
    """A byte order mark is passed over, and of two members of one name the last counts."""

    def parse(self, raw: bytes) -> JsonBody:
        plain = raw.removeprefix(_BYTE_ORDER_MARK)
        try:
            return super().parse(plain)
        except Refusal:
            return super().parse(_single_names(plain))


def _single_names(raw: bytes) -> bytes:
    """Return a JSON text in which no object names a member twice; what is no JSON stays as it is."""
    try:
        return json_text(json.loads(raw)).encode()
    except (ValueError, RecursionError):
        return raw


class _AlwaysErrors(Answers):
    """Records that were written and refusals carry an errors array, empty where nothing is wrong."""

    def written(self, record: dict[str, Any], status: int) -> Response:
        return super().written({**record, "errors": []}, status)

    def refusal_body(self, status: int, message: str, faults: Sequence[Fault] = ()) -> dict[str, Any]:
        return {"errors": [], **super().refusal_body(status, message, faults)}


class _OnlyErrors(Answers):
    """Faulty content is answered with the errors array alone, and each element says more than it must."""

    def refusal(self, refusal: Refusal) -> Response:
        if not refusal.faults:
            return super().refusal(refusal)
        errors = [{**error, "parameters": None, "severity": 3} for error in self.errors(refusal.faults)]
        return JsonAnswer({"errors": errors}, self.status(refusal.reason))


VARIANTS = (
    Variant(
        "faults-one-at-a-time",
        "Whether all faults are told at once is not stated: one at a time.",
        parts={"validator": _OneAtATime},
    ),
    Variant(
        "codes-coarse",
        "What triggers the codes is not shown: whatever is not a missing field is an invalid value.",
        parts={"answers": _Coarse},
    ),
    Variant(
        "unknown-fields-kept",
        "What a field that is not documented leads to is not stated: it is let through.",
        parts={"validator": _UnknownFields},
    ),
    Variant(
        "terms-open",
        "Which terms are known is not shown: any.",
        parts={"validator": _AnyTerm},
    ),
    Variant(
        "collections-open",
        "What another collection than my and mydrafts leads to is not stated: it is passed over.",
        parts={"drafts": _AnyCollection},
    ),
    Variant(
        "realm-any-case",
        "Whether the letter case of a realm matters is not shown: it does not.",
        parts={"realms": _AnyCaseRealms},
    ),
    Variant(
        "realm-query-first",
        "Which realm counts when header and query differ is not shown: that of the query.",
        parts={"realms": _QueryFirst},
    ),
    Variant(
        "draft-any-schema",
        "A draft without a schema or of an unknown one is not shown: it is saved.",
        parts={"realms": _AnySchema},
    ),
    Variant(
        "draft-any-json",
        "The body of a save is not shown: any JSON value.",
        parts={"body": _AnyJson},
    ),
    Variant(
        "json-lenient",
        "The edges of JSON are not shown: a byte order mark and members named twice are read.",
        parts={"body": _Kind},
    ),
    Variant(
        "errors-always",
        "An errors array where nothing is wrong with content is not shown: it is there, and empty.",
        parts={"answers": _AlwaysErrors},
    ),
    Variant(
        "errors-only",
        "What else the answer to faulty content holds is not shown: nothing, but each element says more.",
        parts={"answers": _OnlyErrors},
    ),
)
"""Each reads the document otherwise, or takes more than it must."""
