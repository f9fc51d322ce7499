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
_FOR_THE_ACCOUNT: Final = (401, 403)

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
        elif evidence is not None or not kept:  # without anything kept, the case is run alone
            evidence = self._narrowed(evidence, seen)
        self.attempt.held.update(seen.held)
        if evidence is not None:
            self.attempt.note(evidence)
            raise Contradiction(evidence)

    def _narrowed(self, evidence: Result | None, seen: Attempt) -> Result | None:
        """The same contradiction, or any, after the one row that causes it; as it is if no row does."""
        for rows in _groups():
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
        where = f" where {rows[0].words}" if rows[0].words else ""
        expected = f"{evidence.expected}, after {rows[0].operation}{where}"
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
            yield "other", world.draft(by=self.actors("other"))

    def _look(self, kept: Iterable[Kept], seen: Attempt | None = None) -> Attempt:
        """Read what is kept, each part on its own; what does not answer is left to other cases."""
        seen = Attempt(self.attempt.number) if seen is None else seen
        expect = Expect(seen, self.catalogue, CLAUSES)
        for role, each in kept:
            with suppress(*OBSTACLES, Untested, Contradiction):
                by = self.actors(role)
                self._see_draft(expect, each, by) if isinstance(each, Draft) else self._see_file(
                    expect, each, by
                )
        return seen

    def _see_draft(self, expect: Expect, draft: Draft, by: Actor) -> None:
        read = by.get_draft(draft.uid)
        answer = usable(read)
        if by.role != self.world.author.role and answer.status in _FOR_THE_ACCOUNT:
            return  # whether the account may read is not shown
        same = answer.success and readers.holds_document(answer, draft.document)
        expected = f"the draft {draft.uid} of {by.role} as it was saved"
        expect("draft-get-content", "getDraft").holds(same, draft.exchange, read, expected=expected)

    def _see_file(self, expect: Expect, file: Attachment, by: Actor) -> None:
        attachments.claim_same_bytes(
            expect("attachment-download-same", "getAttachment"), self.world, file, by
        )


def _groups() -> Iterator[list[Row]]:
    """The rows that may change what is kept: of each operation the plain one, and then the others together."""
    permanent = (*factors.CONTACTS, *factors.WORKFLOW)
    yield from ([Row(operation, "")] for operation in (*_KEPT_BY_ROWS, *permanent))
    for operation in (*factors.DRAFT_WRITES, "createAttachment", *permanent):
        accepted = taken(operation) if operation in _KEPT_BY_ROWS else ()
        yield [*accepted, *one_reason(operation)]


def _first(seen: Attempt) -> Result | None:
    return next(iter(seen.evidence), None)
