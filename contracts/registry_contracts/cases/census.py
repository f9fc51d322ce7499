"""The census: at the end of a run it reads the drafts and files that were kept, which no request may have changed.

If one is not as it was saved, rows of the factor table are sent again, beside fresh drafts and files, until the row
that changes them is found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from registry_contracts.cases import attachments
from registry_contracts.cases.attachment_ids import Attachment, attached
from registry_contracts.cases.neighbours import has_drafts
from registry_contracts.cases.rows import Rows, RowTrials
from registry_contracts.cases.taken_rows import AcceptedRows, TakenRows
from registry_contracts.cases.world import Draft, World
from registry_contracts.checks.claims import Expect
from registry_contracts.checks.outcomes import (
    OBSTACLES,
    Attempt,
    Blocked,
    Contradiction,
    Result,
    Untested,
    usable,
)
from registry_contracts.exchanges import readers
from registry_contracts.interface.catalogue import Catalogue
from registry_contracts.model import factors
from registry_contracts.model.rows import Row, one_reason, taken
from registry_contracts.session.actor import Actor

CLAUSES: Final = ("draft-get-content", "attachment-download-same")
#: Operations of which the rows that nothing refuses save drafts or files.
_KEPT_BY_ROWS: Final = ("saveDraft", "createAttachment")
#: Where an attempt leaves the row that it found for the next one.
_FOUND: Final = "row that changes what is kept"
#: The search for that row ends after so many requests.
_MOST_REQUESTS: Final = 400

#: Something kept, with the role of the account that saved it.
Kept = tuple[str, Draft | Attachment]


@dataclass
class Census:
    """The census of one realm.

    Attributes:
        refused, taken, accepted: Send the rows of each kind.
    """

    world: World
    actors: Callable[[str], Actor]
    attempt: Attempt
    catalogue: Catalogue
    refused: Rows
    taken: TakenRows
    accepted: AcceptedRows

    def claim(self) -> None:
        """Claim that everything that was kept is as it was saved.

        Raises:
            Contradiction: it is not. The evidence names the row after which it is not, if one was found.
            Blocked: a fresh draft or file, beside which nothing was sent, is not as it was saved either.
        """
        kept = self.world.kept()
        seen = self._look(kept)
        evidence = _first(seen)
        if self.attempt.replay:
            row = self.world.offered(_FOUND)
            evidence = self._after([row] if row else [], seen := Attempt(self.attempt.number))
        elif not kept or (evidence is not None and _first(self._look(kept))):
            evidence = self._narrowed(evidence, seen)  # without anything kept, the case is run alone
        self.attempt.held.update(seen.held)
        if evidence is not None:
            self.attempt.note(evidence)
            raise Contradiction(evidence)

    def _narrowed(self, evidence: Result | None, seen: Attempt) -> Result | None:
        """The same contradiction, or any, after the one row that causes it; as it is if no row is found."""
        for rows in _groups():
            if len(self.attempt.exchanges) > _MOST_REQUESTS:
                break
            found = self._after(rows, seen)
            if found is None or (evidence is not None and found.key != evidence.key):
                continue
            row = self._cause(rows, found)
            self.world.offer(_FOUND, row)
            return self._after([row], Attempt(self.attempt.number)) or evidence
        return evidence

    def _cause(self, rows: Sequence[Row], evidence: Result) -> Row:
        """The one of some rows that causes a contradiction, with as few values as that needs."""
        while len(rows) > 1:
            half = rows[: len(rows) // 2]
            rows = half if self._contradicts(half, evidence) else rows[len(half) :]
        row = rows[0]
        for name in row.beside:
            if self._contradicts([row.without(name)], evidence):
                row = row.without(name)
        return row

    def _contradicts(self, rows: Sequence[Row], evidence: Result) -> bool:
        found = self._after(rows, Attempt(self.attempt.number))
        return found is not None and found.key == evidence.key

    def _after(self, rows: Sequence[Row], seen: Attempt) -> Result | None:
        """Send rows beside fresh drafts and files, and look at these; `seen` gets what was asserted."""
        fresh = list(self._fresh())
        if plain := _first(self._look(fresh)):
            raise Blocked(plain.operation, f"not {plain.expected}", plain.clause)
        start = len(self.attempt.exchanges)
        for row in rows:
            with suppress(*OBSTACLES, Untested):
                self._trials(row).send_anew(row)
        sent = self.attempt.exchanges[start:]
        evidence = _first(self._look(fresh, seen))
        if evidence is None or len(rows) != 1:
            return evidence
        expected = f"{evidence.expected}, after the row {rows[0]}"
        shown = (*evidence.exchanges[:-1], *(each.id for each in sent), *evidence.exchanges[-1:])
        return replace(evidence, check="", expected=expected, exchanges=shown)

    def _trials(self, row: Row) -> RowTrials:
        if row.reason:
            return self.refused
        return self.taken if row.operation in _KEPT_BY_ROWS else self.accepted

    def _fresh(self) -> Iterator[Kept]:
        """Two drafts of the author and one of another account, with equal contents; and two files of equal names."""
        world = self.world
        for _ in range(2):
            draft = world.draft()
            yield world.author.role, draft
            if world.refusal_of_files() is None:
                content = f"kept with {draft.uid}\n".encode()
                yield world.author.role, attached(world.author, draft.uid, "kept.txt", content)
        with suppress(*OBSTACLES, Untested):
            if has_drafts(world, other := self.actors("other")):
                yield other.role, world.draft(by=other)

    def _look(self, kept: Iterable[Kept], seen: Attempt | None = None) -> Attempt:
        """Read what is kept, each part on its own; what does not answer is left to other cases."""
        seen = Attempt(self.attempt.number) if seen is None else seen
        expect = Expect(seen, self.catalogue, CLAUSES)
        for role, each in kept:
            with suppress(*OBSTACLES, Untested, Contradiction):
                by = self.actors(role)
                if isinstance(each, Draft):
                    self._see_draft(expect, each, by)
                else:
                    same = expect("attachment-download-same", "getAttachment")
                    attachments.claim_same_bytes(same, self.world, each, by)
        return seen

    def _see_draft(self, expect: Expect, draft: Draft, by: Actor) -> None:
        if not has_drafts(self.world, by):
            return
        read = by.get_draft(draft.uid)
        answer, document = usable(read), dict(draft.document)
        document.pop("relevantDocuments", None)  # a service may add the files of a document to it
        same = answer.success and readers.holds_document(answer, document)
        expected = f"the draft {draft.uid} of {by.role} as it was saved"
        expect("draft-get-content", "getDraft").holds(same, draft.exchange, read, expected=expected)


def _groups() -> Iterator[list[Row]]:
    """The rows that may change what is kept: of each operation the plain one, and then the others together."""
    # Each of the three that follow leaves a permanent record.
    permanent = (*factors.CONTACTS, factors.CREATE_NAMED)
    yield from ([Row(operation, "")] for operation in (*_KEPT_BY_ROWS, *permanent))
    for operation in (*factors.DRAFT_WRITES, "createAttachment", *factors.CONTACTS, *factors.WORKFLOW):
        accepted = taken(operation) if operation in _KEPT_BY_ROWS else ()
        yield [*accepted, *one_reason(operation)]


def _first(seen: Attempt) -> Result | None:
    return next(iter(seen.evidence), None)
