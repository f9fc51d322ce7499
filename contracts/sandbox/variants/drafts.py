"""Variants of draft versions: what is given back, and what is taken.

Variants of who sees a draft: in which realm, whose account, while it is locked.
"""

import json
from itertools import count
from typing import Any

from sqlalchemy import select
from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.accounts import Account
from contracts.sandbox.answers import JsonAnswer, json_text
from contracts.sandbox.database import DRAFT, VERSIONS, Records, Version
from contracts.sandbox.drafts import DraftOperations
from contracts.sandbox.record_types import Realm
from contracts.sandbox.refusals import Fault, Reason, Refusal, forbidden, not_found
from contracts.sandbox.validation import INVALID_PROPERTY, Expectation
from contracts.sandbox.variants.model import Variant

_READINGS = count(1)


class _Given(DraftOperations):
    """Base of variants that give a draft back in another form."""

    async def get(self, request: Request) -> Response:
        return JsonAnswer(self.given(self._found(request)))

    def given(self, draft: Version) -> Any:
        """Return what is given for a draft."""
        raise NotImplementedError


class _Wrapped(_Given):
    """The content stands between metadata, some of which is of the moment."""

    def given(self, draft: Version) -> Any:
        info = self.context.metadata.of_version(draft)
        reading = {"readOn": self.context.clock.written(self.context.clock.now()), "reading": next(_READINGS)}
        return {**info, **reading, "state": "draft", "workingDocument": json.loads(draft.content)}


class _Extended(_Given):
    """The content gets members of the service's own, and a whole header."""

    def given(self, draft: Version) -> Any:
        content = json.loads(draft.content)
        header = content.get("header")
        header = header if isinstance(header, dict) else {}
        whole = {"identifier": draft.identifier, "schema": draft.schema, "languages": ["en"], **header}
        return {"_revision": 1, "_owner": draft.owner, **content, "header": {**whole, "version": 1}}


class _Rewritten(DraftOperations):
    """The content is written anew: keys in order, escapes, indentation."""

    async def get(self, request: Request) -> Response:
        content = json.loads(self._found(request).content)
        text = json.dumps(content, sort_keys=True, indent=2, ensure_ascii=True)
        return Response(text, media_type="application/json")


class _Changed(DraftOperations):
    """Base of variants that look at what is saved; submissions were validated already and pass."""

    def keep(
        self, records: Records, *, caller: Account, realm: Realm, uid: str, schema: str, content: str
    ) -> Version:
        kept = self.taken(records, realm, uid, schema, content)
        return super().keep(records, caller=caller, realm=realm, uid=uid, schema=schema, content=kept)

    def taken(self, records: Records, realm: Realm, uid: str, schema: str, content: str) -> str:
        """Return what is stored for what was sent, both JSON texts."""
        raise NotImplementedError


class _NullsDropped(_Changed):
    """Members that are null count as left out."""

    def taken(self, records: Records, realm: Realm, uid: str, schema: str, content: str) -> str:  # noqa: ARG002
        return json_text(_without_nulls(json.loads(content)))


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(member) for name, member in value.items() if member is not None}
    return [_without_nulls(member) for member in value] if isinstance(value, list) else value


class _KnownOnly(_Changed):
    """A draft with a field that its schema does not have is refused."""

    def taken(self, records: Records, realm: Realm, uid: str, schema: str, content: str) -> str:  # noqa: ARG002
        unknown = [name for name in json.loads(content) if realm.types[schema].field(name) is None]
        if unknown:
            faults = [Fault(INVALID_PROPERTY, (name,)) for name in unknown]
            raise Refusal(Reason.INVALID_CONTENT, "The draft has unknown fields.", faults=faults)
        return content


class _ValidOnly(_Changed):
    """A draft that is not complete and valid is refused."""

    def taken(self, records: Records, realm: Realm, uid: str, schema: str, content: str) -> str:
        faults = self.faults(records, realm, uid, schema, content)
        if faults:
            raise Refusal(Reason.INVALID_CONTENT, "The draft is not valid.", faults=faults)
        return content

    def faults(self, records: Records, realm: Realm, uid: str, schema: str, content: str) -> list[Fault]:
        """Return the faults of a draft."""

        def knows(identifier: str) -> bool:
            return records.owner(realm.name, identifier) is not None

        return self.context.validator.faults(
            json.loads(content), Expectation(realm.types[schema], uid, knows)
        )


class _FaultsTold(_ValidOnly):
    """A draft is saved as it is; the answer tells what keeps it from being submitted."""

    async def save(self, request: Request) -> Response:
        answer = await super().save(request)
        _, uid, realm = self._addressed(request)
        with self.context.storage.transaction() as records:
            draft = records.version(realm.name, uid, DRAFT)
            faults = draft and self.faults(records, realm, uid, draft.schema, draft.content)
        found = {
            "draft": json.loads(bytes(answer.body) or b"null"),
            "errors": self.context.answers.errors(faults or []),
        }
        return JsonAnswer(found, 200 if answer.status_code == 204 else answer.status_code)

    def taken(self, records: Records, realm: Realm, uid: str, schema: str, content: str) -> str:  # noqa: ARG002
        return content


class _ContentAnswered(DraftOperations):
    """The answer to a save is the draft's content."""

    async def save(self, request: Request) -> Response:
        answer = await super().save(request)
        content = self.context.answers.content(self._found(request).content)
        content.status_code = 200 if answer.status_code == 204 else answer.status_code
        return content


CONTENT_VARIANTS = (
    Variant(
        "draft-wrapped",
        "The record that carries a draft is not shown: the content stands in it beside metadata.",
        parts={"drafts": _Wrapped},
    ),
    Variant(
        "draft-extended",
        "What a service adds to a draft is not shown: members of its own, and a header made whole.",
        parts={"drafts": _Extended},
    ),
    Variant(
        "draft-rewritten",
        "The form of a draft's JSON is not shown: keys sorted, letters escaped, indented.",
        parts={"drafts": _Rewritten},
    ),
    Variant(
        "draft-nulls-dropped",
        "Whether null stands for an absent field is not shown: it does, and is not kept.",
        parts={"drafts": _NullsDropped},
    ),
    Variant(
        "draft-known-fields-only",
        "What a draft may hold is not shown: only fields of its schema.",
        parts={"drafts": _KnownOnly},
    ),
    Variant(
        "draft-valid-only",
        "Whether a draft has to be complete is not shown: it has to be valid by its schema.",
        parts={"drafts": _ValidOnly},
    ),
    Variant(
        "draft-faults-told",
        "The answer to a saved draft is not shown: it holds an errors array of what is still to be done.",
        parts={"drafts": _FaultsTold},
    ),
    Variant(
        "draft-content-answered",
        "The answer to a saved draft is not shown: it is the content.",
        parts={"drafts": _ContentAnswered},
    ),
)
"""Each keeps or shows drafts otherwise."""


class _OneForAll(Records):
    """A draft is the same in every realm."""

    def version(self, realm: str, identifier: str, state: str) -> Version | None:
        return super().version(realm, identifier, state) or self._elsewhere(realm, identifier, state)

    def owner(self, realm: str, identifier: str) -> str | None:
        draft = self._elsewhere(realm, identifier, DRAFT)
        return super().owner(realm, identifier) or (draft.owner if draft else None)

    def remove_draft(self, realm: str, identifier: str) -> None:
        draft = self.version(realm, identifier, DRAFT)
        super().remove_draft(draft.realm if draft else realm, identifier)

    def _elsewhere(self, realm: str, identifier: str, state: str) -> Version | None:
        if state != DRAFT:
            return None
        here = (VERSIONS.c.identifier == identifier, VERSIONS.c.state == DRAFT, VERSIONS.c.realm != realm)
        row = self.connection.execute(select(VERSIONS).where(*here)).first()
        return None if row is None else Version(**row._mapping)


class _Hidden(DraftOperations):
    """The draft of another account is not there."""

    def _found(self, request: Request) -> Version:
        draft = super()._found(request)
        if draft.owner != self.context.identity.require(request).name:
            raise not_found("there is no such draft of yours")
        return draft


class _Private(DraftOperations):
    """The draft of another account may not be read."""

    def _found(self, request: Request) -> Version:
        draft = super()._found(request)
        if draft.owner != self.context.identity.require(request).name:
            raise forbidden("this draft is somebody else's")
        return draft


class _LockedHidden(DraftOperations):
    """The draft of a locked record is with the workflow, and not there for others."""

    def _found(self, request: Request) -> Version:
        draft = super()._found(request)
        with self.context.storage.transaction() as records:
            locked = records.is_locked(draft.realm, draft.identifier)
        if locked:
            raise not_found("this record is under way")
        return draft


VISIBILITY_VARIANTS = (
    Variant(
        "drafts-shared",
        "Whether a uid names one document across all realms is not shown: its draft is the same in each.",
        parts={"records": _OneForAll},
    ),
    Variant(
        "others-drafts-hidden",
        "Whether one account may read the draft of another is not shown: it is answered as if it were not there.",
        parts={"drafts": _Hidden},
    ),
    Variant(
        "others-drafts-refused",
        "Whether one account may read the draft of another is not shown: that is refused for want of rights.",
        parts={"drafts": _Private},
    ),
    Variant(
        "locked-draft-hidden",
        "Whether the draft of a locked record can be read is not shown: it cannot.",
        parts={"drafts": _LockedHidden},
    ),
)
"""Each shows drafts to others than the plain sandbox does."""


VARIANTS = (*CONTENT_VARIANTS, *VISIBILITY_VARIANTS)
