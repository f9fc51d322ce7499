"""Arrangements: what has to be there before a claim can be made. One that fails blocks the case, nothing more."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from contracts.generation.kept_contact import kept_contact
from contracts.generation.samples import Samples
from contracts.generation.shelf import Shelf
from contracts.judging import readers
from contracts.judging.claims import usable
from contracts.judging.disturbing import mark_of
from contracts.judging.outcomes import Blocked, Untested
from contracts.session.actor import Actor
from contracts.session.exchange import Answer, Exchange

_LOOK_AGAIN_SECONDS = 0.25

T = TypeVar("T")


@dataclass(frozen=True)
class Draft:
    """A draft that was saved: its uid, the document as it was sent, and the exchange that saved it."""

    uid: str
    document: dict[str, Any]
    exchange: Exchange


@dataclass(frozen=True)
class Attachment:
    """An attachment that was created, with the id that makes follow-up calls work."""

    uid: str
    id: int
    filename: str
    content: bytes

    @property
    def path(self) -> dict[str, str]:
        """Its path parameters."""
        return {"uid": self.uid, "attachmentId": str(self.id), "filename": self.filename}


class Arrangement:
    """Arranges preconditions in one realm.

    Raises (all methods):
        Blocked: an operation that the arrangement needs did not do its part.
        Untested: a setting is missing.
        EnvironmentFault: the environment stood in the way.
    """

    def __init__(self, shelf: Shelf, realm: str, samples: Samples) -> None:
        self._shelf = shelf
        self._realm = realm
        self._samples = samples

    def draft(
        self,
        actor: Actor,
        uid: str | None = None,
        document: dict[str, Any] | None = None,
        schema: str | None = None,
    ) -> Draft:
        """Save a draft under a fresh identifier, or under `uid`; of the contact schema, or of `schema`."""
        uid = uid or self._shelf.namespace.uid()
        document = document if document is not None else self._samples.draft(uid)
        query = {"schema": schema or self._samples.draft_schema}
        exchange = actor.send("saveDraft", path={"uid": uid}, query=query, json=document)
        done(exchange)
        return Draft(uid, document, exchange)

    def keep(self, uid: str) -> None:
        """Keep a draft that cases share until the end of the run."""
        self._shelf.keep(uid)

    def take(self, counter: str, most: int) -> int | None:
        """The next number of a counter of the realm that all workers share, from 0; None from `most` on."""
        number = self._shelf.shared.take(f"{counter}-{self._realm}")
        return number if number < most else None

    def shared_draft(self, actor: Actor, word: str = "", uid: str | None = None) -> Draft:
        """A draft that cases read and never change.

        Args:
            word: Tells it from the ordinary one.
            uid: Under which it is saved when it is not there yet; fresh by default.
        """
        return self._once(f"draft of {actor.role} {word}", lambda: self.kept_draft(actor, uid=uid))

    def kept_draft(self, actor: Actor, word: str = "", uid: str | None = None) -> Draft:
        """Save a draft that stays until the end of the run.

        Args:
            word: Opens the random part of its uid.
            uid: In place of a fresh one.
        """
        uid = uid or self._shelf.namespace.uid()
        uid = uid if not word else f"{self._shelf.namespace.prefix}{word}-{uid[-12:]}"
        draft = self.draft(actor, uid)
        self._shelf.keep(draft.uid)
        return draft

    def attachment(
        self, actor: Actor, uid: str, filename: str = "note.txt", content: bytes = b"a note\n"
    ) -> Attachment:
        """Create an attachment of a document and find out its id."""
        from contracts.generation.attaching import attach  # noqa: PLC0415 - builds on this module

        return attach(actor, uid, filename, content)

    def attachment_ids(self, actor: Actor, uid: str) -> list[int]:
        """Every whole number in the records of a document's attachment list; ids are among them."""
        answer = actor.send("listAttachments", path={"uid": uid}).answer
        # Figures of an envelope, such as a total, say nothing about an attachment.
        listed = readers.records(answer) if answer.success else None
        return [number for record in listed or () for number in readers.integers(record)]

    def shared_attachment(self, actor: Actor) -> Attachment:
        """An attachment that cases read and never change."""
        return self._once(
            f"attachment of {actor.role}", lambda: self.attachment(actor, self.shared_draft(actor).uid)
        )

    def contact(self, actor: Actor) -> str:
        """The identifier of a contact record of the actor's that can be updated; one for each realm, reused by runs."""
        identifier = self._once(f"contact of {actor.role}", lambda: self._kept_contact(actor))
        self._shelf.namespace.claim(identifier)  # another worker may have got it from the service
        return identifier

    def _kept_contact(self, actor: Actor) -> str:
        return kept_contact(actor, self._samples, self._shelf.namespace, self._realm)

    def submission(self, actor: Actor) -> str:
        """The identifier of a record that was submitted through the workflow; one for each realm and run."""
        return self._once(f"submission of {actor.role}", lambda: self.new_submission(actor))

    def offer(self, name: str, value: object) -> None:
        """Leave something of this realm's for cases that can do with what another case has made."""
        self._shelf.shared.offer(f"{self._realm} {name}", value)

    def offered(self, name: str) -> Any:
        """What another case has left under a name; None for nothing."""
        return self._shelf.shared.offered(f"{self._realm} {name}")

    def disturbed(self, identifier: str) -> bool:
        """Whether a workflow record may not be as it was found, for what some case of the run sent to it."""
        return self._shelf.shared.marked(mark_of(self._realm, identifier))

    def new_submission(self, actor: Actor) -> str:
        """The identifier of a record that is submitted through the workflow now; it stays for good."""
        identifier = self._shelf.namespace.uid()
        self._shelf.keep(identifier)
        path = {"schema": self._samples.workflow_schema, "identifier": identifier}
        done(
            actor.send(
                "createWorkflowRecordWithIdentifier", path=path, json=self._samples.submission(identifier)
            )
        )
        return identifier

    def temporary_file(self) -> str:
        """An unused temporary file id; each is given out once in a run, whichever worker asks."""
        offered = self._samples.setting("temporary_files")
        taken = self._shelf.shared.take(f"temporary-{self._realm}")
        if taken >= len(offered):
            raise Untested(f"setting realm.{self._realm}.temporary_files has no unused id left")
        return str(offered[taken])

    def unspent(self, persisted: Exchange) -> None:
        """Block a case whose temporary file was refused when an earlier run may have used it up."""
        if usable(persisted).refusal and not self._shelf.unused:
            raise Blocked(
                "persistTemporaryFile", "the file was refused; name unused ids in the setting temporary_files"
            )

    def eventually(self, look: Callable[[], bool]) -> bool:
        """Whether an effect shows within a few seconds; looks again while it does not."""
        return eventually(look, self._shelf.settle_seconds)

    def once(self, name: str, make: Callable[[], T]) -> T:
        """What cases of this realm arrange once in a run and use together, under a name of its own.

        Args:
            make: Gives something that can be pickled, for the other workers.
        """
        return self._once(name, make)

    def _once(self, name: str, make: Callable[[], T]) -> T:
        return self._shelf.shared.once(f"{self._realm} {name}", make)


def eventually(look: Callable[[], bool], patience: float) -> bool:
    """Whether an effect shows within some seconds; looks again while it does not."""
    deadline = time.monotonic() + patience
    while not look():
        if time.monotonic() > deadline:
            return False
        time.sleep(_LOOK_AGAIN_SECONDS)
    return True


def require(condition: bool, operation: str, cause: str) -> bool:
    """Go on only when something holds that the case relies on.

    Args:
        operation: What stands in the way when it does not.
        cause: What that operation did, in a few words.

    Raises:
        Blocked: it does not hold.
    """
    if not condition:
        raise Blocked(operation, cause)
    return condition


def done(exchange: Exchange) -> Answer:
    """The answer of a request that had to succeed.

    Raises:
        Blocked: it did not.
    """
    answer = usable(exchange)
    if not answer.success:
        raise Blocked(exchange.operation or exchange.method, f"answered {answer.quote()}")
    return answer
