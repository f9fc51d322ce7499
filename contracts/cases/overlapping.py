"""Calls that are under way at the same time, and claims that none takes anything from another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

from contracts.cases import contents
from contracts.cases.attachment_ids import Attachment, found, upload
from contracts.cases.attachments import claim_same_bytes
from contracts.cases.contact_requests import claim_accepted
from contracts.cases.shared_documents import document_for_uploads
from contracts.cases.world import World
from contracts.checks.claims import Claim, Expect
from contracts.checks.outcomes import done, taken, usable
from contracts.exchanges import readers
from contracts.exchanges.exchange import Exchange
from contracts.session.actor import Actor

T = TypeVar("T")

CLAUSES: Final = (
    "draft-save-creates",
    "draft-save-updates",
    "draft-get-content",
    "draft-info-present",
    "draft-exists-present",
    "draft-delete-removes",
    "draft-delete-content-gone",
    "draft-save-spares-others",
    "draft-delete-spares-others",
)


def at_once(call: Callable[[T], Exchange], arguments: Sequence[T]) -> list[Exchange]:
    """Make a call with each argument, all of them under way together."""
    with ThreadPoolExecutor(len(arguments)) as pool:
        return list(pool.map(call, arguments))


def claim_files_kept_apart(world: World, expect: Expect) -> None:
    """Claim that two files of the same length that are sent together come back each as it was sent."""
    uid = document_for_uploads(world)
    files = {f"{world.fresh.uid()}.bin": contents.content(3_000, seed=seed) for seed in (1, 2)}
    sent = at_once(lambda file: upload(world.author, uid, *file), list(files.items()))
    for (name, content), created in zip(files.items(), sent, strict=True):
        done(created)
        attachment = found(world.author, Attachment(uid, 0, name, content), created, len(content))
        claim_same_bytes(expect("attachment-download-same", "getAttachment"), world, attachment)


def claim_one_of_two(send: Callable[[T], Exchange], claim: Claim) -> Callable[[T], Exchange]:
    """A way to send a submission that creates a record: twice together, with a claim that at most one is taken.

    Returns:
        Sends a submission so and gives the exchange that was taken, or that of a third try where neither was.
    """

    def send_twice(submission: T) -> Exchange:
        sent = at_once(send, [submission] * 2)
        given = [exchange for exchange in sent if taken(exchange)]
        claim.holds(
            len(given) < len(sent),
            *sent,
            expected="one refused, since its identifier is in use then",
            seen="; ".join(exchange.answer.quote() for exchange in sent),
        )
        return given[0] if given else send(submission)

    return send_twice


class OverlappingDrafts:
    """Drafts of several documents whose calls overlap: two of each owner's.

    Args:
        owners: Who saves, reads and deletes; each two drafts.
    """

    def __init__(self, owners: Sequence[Actor], world: World, expect: Expect) -> None:
        self._owner = {world.fresh.uid(): owner for _ in range(2) for owner in owners}
        self._world = world
        self._claim = expect

        half = len(self._owner) // 2
        self._changed, self._left = list(self._owner)[:half], list(self._owner)[half:]

    def claim_contents_kept(self) -> None:
        """Claim that drafts saved together are there, and that saving half of them again leaves the others alone."""
        everyone = [*self._changed, *self._left]
        for sent in at_once(lambda uid: self._save(uid, "first"), everyone):
            claim_accepted(self._claim("draft-save-creates"), sent, self._world.samples)
        updated = at_once(lambda uid: self._save(uid, "later"), self._changed)
        for sent in updated:
            self._claim("draft-save-updates", "saveDraft").accepted(sent)
        for uid, read in zip(everyone, self._ask("getDraft", everyone), strict=True):
            self._claim_content(uid, read, updated)
        for check in self._ask("draftExists", everyone):
            self._claim("draft-exists-present").accepted(check)
        for info in self._ask("getDraftInfo", everyone):
            answered = usable(info).success and bool(info.answer.json)
            self._claim("draft-info-present").holds(answered, info, expected="some metadata")

    def _claim_content(self, uid: str, read: Exchange, updated: Sequence[Exchange]) -> None:
        first, later = self._document(uid, "first"), self._document(uid, "later")
        if uid in self._left:
            there = readers.holds_document(usable(read), first)
            self._claim("draft-save-spares-others").holds(
                there, *updated, read, expected=f"the draft {uid} as it was"
            )
            return
        self._claim("draft-save-updates", "getDraft").holds(
            not readers.holds_document(usable(read), first),
            *updated,
            read,
            expected="the later content",
            seen="the content from before",
        )
        self._claim("draft-get-content").shows(read, later)

    def claim_deleted_alone(self) -> None:
        """Claim that of drafts that are there, those deleted together are gone and the others stay."""
        deleted = at_once(lambda uid: self._owner[uid].delete_draft(uid), self._changed)
        for uid, sent in zip(self._changed, deleted, strict=True):
            self._claim_was_there(uid, sent, deleted)
            self._claim("draft-delete-removes", "deleteDraft").accepted(sent)
        for uid, read in zip(self._changed, self._ask("getDraft", self._changed), strict=True):
            given = readers.holds_document(usable(read), self._document(uid, "later"))
            self._claim("draft-delete-content-gone", "getDraft").holds(
                not given, *deleted, read, expected="nothing of it"
            )
        for check in self._ask("draftExists", self._changed):
            self._claim("draft-delete-removes", "draftExists").holds(
                not usable(check).success, *deleted, check, expected="no draft any more"
            )
        for uid, read in zip(self._left, self._ask("getDraft", self._left), strict=True):
            there = readers.holds_document(usable(read), self._document(uid, "first"))
            self._claim("draft-delete-spares-others").holds(
                there, *deleted, read, expected=f"the draft {uid} as it was"
            )

    def _claim_was_there(self, uid: str, sent: Exchange, deleted: Sequence[Exchange]) -> None:
        """Claim of a draft that could not be deleted that the deletion of another has not taken it along."""
        if usable(sent).success:
            return
        check = self._owner[uid].draft_exists(uid)
        self._claim("draft-delete-spares-others").holds(
            usable(check).success,
            *deleted,
            check,
            expected=f"the draft {uid} there until it is deleted itself",
            seen=f"{sent.answer.quote()}, and no draft any more",
        )

    def _ask(self, operation: str, uids: Sequence[str]) -> list[Exchange]:
        return at_once(lambda uid: self._owner[uid].send(operation, path={"uid": uid}), uids)

    def _save(self, uid: str, word: str) -> Exchange:
        document = self._world.samples.short_draft(uid, middleName=f"{word} of {uid}")
        return self._world.save(uid, document, by=self._owner[uid])

    def _document(self, uid: str, word: str) -> dict[str, Any]:
        """What a save stored, header aside."""
        return readers.content_of(self._world.samples.short_draft(uid, middleName=f"{word} of {uid}"))
