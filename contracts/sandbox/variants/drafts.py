"""Variants of draft versions: what is returned, what is accepted, and who sees a draft."""

import json
from itertools import count
from typing import Any

from sqlalchemy import select
from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.answers import JsonAnswer, json_text
from contracts.sandbox.authentication import Account
from contracts.sandbox.database import DRAFT, VERSIONS, Records, Version
from contracts.sandbox.documents import DraftOperations
from contracts.sandbox.http_requests import Fault, Reason, Refusal, forbidden, not_found
from contracts.sandbox.record_types import INVALID_PROPERTY, Expectation, Realm
from contracts.sandbox.variants.model import Variants

VARIANTS = Variants()

_READINGS = count(1)


class _Given(DraftOperations):
    """Base of variants that give a draft back in another form."""

    async def get(self, request: Request) -> Response:
        return JsonAnswer(self.given(self._found(request)))

    def given(self, draft: Version) -> Any:
        """Return what is given for a draft."""
        raise NotImplementedError


@VARIANTS.layer("drafts", "draft-wrapped")
class _Wrapped(_Given):
    """The record that carries a draft is not shown: the content stands in it beside metadata."""

    def given(self, draft: Version) -> Any:
        info = self.context.metadata.of_version(draft)
        reading = {"readOn": self.context.clock.written(self.context.clock.now()), "reading": next(_READINGS)}
        return {**info, **reading, "state": "draft", "workingDocument": json.loads(draft.content)}


@VARIANTS.layer("drafts", "draft-extended")
class _Extended(_Given):
    """What a service adds to a draft is not shown: members of its own, and a header made whole."""

    def given(self, draft: Version) -> Any:
        content = json.loads(draft.content)
        header = content.get("header")
        header = header if isinstance(header, dict) else {}
        whole = {"identifier": draft.identifier, "schema": draft.schema, "languages": ["en"], **header}
        return {"_revision": 1, "_owner": draft.owner, **content, "header": {**whole, "version": 1}}


@VARIANTS.layer("drafts", "draft-rewritten")
class _Rewritten(DraftOperations):
    """The form of a draft's JSON is not shown: keys sorted, letters escaped, indented."""

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


@VARIANTS.layer("drafts", "draft-nulls-dropped")
class _NullsDropped(_Changed):
    """Whether null stands for an absent field is not shown: it does, and is not kept."""

    def taken(self, records: Records, realm: Realm, uid: str, schema: str, content: str) -> str:  # noqa: ARG002
        return json_text(_without_nulls(json.loads(content)))


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(member) for name, member in value.items() if member is not None}
    return [_without_nulls(member) for member in value] if isinstance(value, list) else value


@VARIANTS.layer("drafts", "draft-known-fields-only")
class _KnownOnly(_Changed):
    """What a draft may hold is not shown: only fields of its schema."""

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


VARIANTS.add(
    "draft-valid-only",
    "Whether a draft has to be complete is not shown: it has to be valid by its schema.",
    parts={"drafts": _ValidOnly},
)


@VARIANTS.layer("drafts", "draft-faults-told")
class _FaultsTold(_ValidOnly):
    """The answer to a saved draft is not shown: it holds an errors array of what is still to be done."""

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


@VARIANTS.layer("drafts", "draft-content-answered")
class _ContentAnswered(DraftOperations):
    """The answer to a saved draft is not shown: it is the content."""

    async def save(self, request: Request) -> Response:
        answer = await super().save(request)
        content = self.context.answers.content(self._found(request).content)
        content.status_code = 200 if answer.status_code == 204 else answer.status_code
        return content


@VARIANTS.layer("records", "drafts-shared")
class _OneForAll(Records):
    """Whether a uid names one document across all realms is not shown: its draft is the same in each."""

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


@VARIANTS.layer("drafts", "others-drafts-hidden")
class _Hidden(DraftOperations):
    """Whether one account may read the draft of another is not shown: it is answered as if it were not there."""

    def _found(self, request: Request) -> Version:
        draft = super()._found(request)
        if draft.owner != self.context.identity.require(request).name:
            raise not_found("there is no such draft of yours")
        return draft


@VARIANTS.layer("drafts", "others-drafts-refused")
class _Private(DraftOperations):
    """Whether one account may read the draft of another is not shown: that is refused for want of rights."""

    def _found(self, request: Request) -> Version:
        draft = super()._found(request)
        if draft.owner != self.context.identity.require(request).name:
            raise forbidden("this draft is somebody else's")
        return draft


@VARIANTS.layer("drafts", "locked-draft-hidden")
class _LockedHidden(DraftOperations):
    """Whether the draft of a locked record can be read is not shown: it cannot."""

    def _found(self, request: Request) -> Version:
        draft = super()._found(request)
        with self.context.storage.transaction() as records:
            locked = records.is_locked(draft.realm, draft.identifier)
        if locked:
            raise not_found("this record is under way")
        return draft
