"""Variants of who sees a draft: in which realm, whose account, while it is locked."""

from sqlalchemy import select
from starlette.requests import Request

from contracts.sandbox.drafts import DraftOperations
from contracts.sandbox.records import DRAFT, Records, Version
from contracts.sandbox.refusals import forbidden, not_found
from contracts.sandbox.tables import VERSIONS
from contracts.sandbox.variants.model import Variant


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
        if draft.owner != self.service.identity.require(request).name:
            raise not_found("there is no such draft of yours")
        return draft


class _Private(DraftOperations):
    """The draft of another account may not be read."""

    def _found(self, request: Request) -> Version:
        draft = super()._found(request)
        if draft.owner != self.service.identity.require(request).name:
            raise forbidden("this draft is somebody else's")
        return draft


class _LockedHidden(DraftOperations):
    """The draft of a locked record is with the workflow, and not there for others."""

    def _found(self, request: Request) -> Version:
        draft = super()._found(request)
        with self.service.storage.transaction() as records:
            locked = records.is_locked(draft.realm, draft.identifier)
        if locked:
            raise not_found("this record is under way")
        return draft


VARIANTS = (
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
