"""Concurrent calls, and claims that they do not disturb each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from registry_contracts.cases import contents
from registry_contracts.cases.attachment_ids import Attachment, found, upload
from registry_contracts.cases.attachments import claim_same_bytes
from registry_contracts.cases.contact_requests import claim_accepted
from registry_contracts.cases.draft_lives import DraftModel
from registry_contracts.cases.drawn_contents import DOCUMENTED, Content
from registry_contracts.cases.list_pages import NOTHING_THERE
from registry_contracts.cases.shared_documents import document_for_uploads
from registry_contracts.cases.world import World
from registry_contracts.checks.claims import Claim, Expect
from registry_contracts.checks.outcomes import done, taken, usable
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.session.actor import Actor

T = TypeVar("T")

CLAUSES: Final = (
    "draft-save-creates",
    "draft-save-updates",
    DOCUMENTED,
    "draft-info-present",
    "draft-exists-present",
    "draft-delete-removes",
    "draft-delete-content-gone",
    "draft-save-spares-others",
    "draft-delete-spares-others",
)


def at_once(call: Callable[[T], Exchange], arguments: Sequence[T]) -> list[Exchange]:
    """Make a call with each argument, all at the same time."""
    with ThreadPoolExecutor(len(arguments)) as pool:
        return list(pool.map(call, arguments))


def claim_files_kept_apart(world: World, expect: Expect) -> None:
    """Claim that two files of the same length, uploaded at the same time, each come back as sent."""
    uid = document_for_uploads(world)
    files = {f"{world.fresh.uid()}.bin": contents.content(3_000, seed=seed) for seed in (1, 2)}
    sent = at_once(lambda file: upload(world.author, uid, *file), list(files.items()))
    for (name, content), created in zip(files.items(), sent, strict=True):
        done(created)
        attachment = found(world.author, Attachment(uid, 0, name, content), created, len(content))
        claim_same_bytes(expect("attachment-download-same", "getAttachment"), world, attachment)


def claim_one_of_two(claim: Claim, send: Callable[[T], Exchange], submission: T) -> Exchange:
    """Send a creation twice at the same time, and claim that at most one is accepted.

    Returns:
        The accepted exchange, or a third try if neither was accepted.
    """
    sent = at_once(send, [submission] * 2)
    given = [exchange for exchange in sent if taken(exchange)]
    expected = "one refused, since its identifier is then in use"
    seen = "; ".join(exchange.answer.quote() for exchange in sent)
    claim.holds(len(given) < len(sent), *sent, expected=expected, seen=seen)
    return given[0] if given else send(submission)


class OverlappingDrafts:
    """Overlapping calls on drafts: each owner saves, reads and deletes two."""

    def __init__(self, owners: Sequence[Actor], world: World, expect: Expect) -> None:
        self._owner = {world.uid(): owner for _ in range(2) for owner in owners}
        self._world, self._expect = world, expect
        self._model = DraftModel(world)

    def claim_promises_hold(self) -> None:
        """Claim that drafts saved together exist, and that changing or deleting half of them spares the others."""
        expect, everyone = self._expect, list(self._owner)
        changed = everyone[: len(everyone) // 2]
        for saved in self._save("first", everyone):
            claim_accepted(expect("draft-save-creates"), saved, self._world.samples)
        for read in self._ask("getDraft", everyone):
            self._model.claim(lambda *_: expect("draft-save-spares-others"), read)
        updated = self._save("later", changed)
        for saved in updated:
            expect("draft-save-updates", "saveDraft").accepted(saved)
        self._judged(self._ask("getDraft", everyone), *updated)
        self._judged(self._ask("draftExists", everyone), *updated)
        for info in self._judged(self._ask("getDraftInfo", everyone), *updated):
            expect("draft-info-present").meets("metadata", info)
        deleted = self._ask("deleteDraft", changed)
        for uid, sent in zip(changed, deleted, strict=True):
            self._claim_spared(uid, sent, deleted)
            expect("draft-delete-removes", "deleteDraft").accepted(sent)
        self._judged(deleted)
        self._judged(self._ask("getDraft", everyone), *deleted)
        self._judged(self._ask("draftExists", changed), *deleted)

    def claim_contents_kept(self, content: Content) -> None:
        """Claim that the plain texts of a content, if accepted, come back when they are read at the same time."""
        members, samples = content.only((DOCUMENTED,))[DOCUMENTED], self._world.samples
        owner = dict(zip((self._world.uid(), self._world.uid()), self._owner.values(), strict=False))

        def save(uid: str) -> Exchange:
            return self._world.save(uid, samples.short_draft(uid, **members), by=owner[uid])

        sent = zip(owner, at_once(save, list(owner)), strict=True) if samples.drafts_are_contacts else ()
        there = [uid for uid, saved in sent if taken(saved)]
        for read in at_once(lambda uid: owner[uid].get_draft(uid), there) if there else ():
            self._expect(DOCUMENTED, "getDraft").shows(read, members)

    def _claim_spared(self, uid: str, sent: Exchange, deleted: Sequence[Exchange]) -> None:
        """If a deletion found nothing, claim that the concurrent deletions did not remove the draft."""
        if usable(sent).status in NOTHING_THERE:
            owner = self._owner[uid]
            alone = owner.delete_draft(self._world.draft(by=owner).uid)
            self._expect("draft-delete-removes", "deleteDraft").accepted(alone)
            check, expected = owner.draft_exists(uid), f"{uid} there until it is deleted itself"
            spared = self._expect("draft-delete-spares-others")
            spared.holds(usable(check).success, *deleted, check, expected=expected)

    def _save(self, word: str, uids: Sequence[str]) -> list[Exchange]:
        def save(uid: str) -> Exchange:
            document = self._world.samples.short_draft(uid, middleName=f"{word} of {uid}")
            return self._world.save(uid, document, by=self._owner[uid])

        return self._judged(at_once(save, uids))

    def _ask(self, operation: str, uids: Sequence[str]) -> list[Exchange]:
        return at_once(lambda uid: self._owner[uid].send(operation, path={"uid": uid}), uids)

    def _judged(self, sent: list[Exchange], *changes: Exchange) -> list[Exchange]:
        """Claim what is promised of each exchange after these changes; return the exchanges."""
        for each in sent:
            self._model.claim(self._expect, each, *changes)
        return sent
