"""What a sequence shows about drafts: saved, read, deleted, listed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from contracts.judging import readers
from contracts.judging.readers import Ambiguous
from contracts.session.exchange import Answer
from contracts.traffic.steps import Followed, Step, Suspicion

_READS: Final = frozenset({"getDraft", "getDraftInfo", "draftExists"})
#: What may change a draft besides saving and deleting it, by the parameter that names it.
_OTHERS: Final = {
    "updateContact": "uid",
    "createWorkflowRecordWithIdentifier": "identifier",
    "updateWorkflowRecord": "identifier",
}
_PRESENT: Final = {
    "draftExists": "draft-exists-present",
    "getDraft": "draft-get-content",
    "getDraftInfo": "draft-info-present",
}


@dataclass(frozen=True)
class _Draft:
    """What is known of a draft: there since a save, or gone since a deletion.

    Attributes:
        content: What was saved; for one that is gone, what was there. None when nobody knows.
    """

    there: bool
    entry: int
    who: str
    content: Any


class DraftTrail:
    """Follows drafts."""

    def __init__(self) -> None:
        self._drafts: Followed[_Draft] = Followed()

    def take(self, step: Step) -> Iterator[Suspicion]:
        """Take the next step of the traffic, and say what it shows."""
        if step.operation == "createContact":
            self._created(step)
        elif step.operation in _OTHERS:
            self._drafts.forget(_key(step, step.facts.path[_OTHERS[step.operation]]))
        elif step.operation in ("saveDraft", "deleteDraft"):
            self._written(step)
        elif step.right and step.answer is not None and step.who is not None and not step.passed.crossed:
            if step.operation in _READS:
                yield from self._read(step, step.answer)
            elif step.operation == "listDrafts" and step.taken:
                yield from self._listed(step, step.answer)

    def _created(self, step: Step) -> None:
        """A contact may be created under the identifier in its header."""
        for value in readers.values(step.sent):
            if isinstance(value, str):
                self._drafts.forget(_key(step, value))

    def _written(self, step: Step) -> None:
        key = _key(step, step.facts.path["uid"])
        if step.vague or (step.taken and step.who is None):
            self._drafts.forget(key)
        elif step.taken:
            before = self._drafts.get(key)
            saved = step.operation == "saveDraft"
            was = before.content if before and before.there else None
            content = (step.sent if step.right else None) if saved else was
            self._drafts.put(key, _Draft(saved, step.passed.number, str(step.who), content))

    def _read(self, step: Step, answer: Answer) -> Iterator[Suspicion]:
        uid = step.facts.path["uid"]
        known = self._drafts.get(_key(step, uid))
        if known is None or known.who != step.who or not (step.taken or step.refused):
            return
        if known.there:
            yield self._there(step, answer, known, uid)
        elif step.operation == "draftExists":
            said = "no draft, since it was deleted"
            yield _suspicion("draft-delete-removes", uid, said, answer, known, holds=not step.taken)
        elif step.operation == "getDraft" and isinstance(known.content, dict):
            given = step.taken and readers.holds_document(answer, known.content)
            said = "not the content of the draft that was deleted"
            yield _suspicion("draft-delete-content-gone", uid, said, answer, known, holds=not given)

    def _there(self, step: Step, answer: Answer, known: _Draft, uid: str) -> Suspicion:
        clause = _PRESENT[step.operation]
        said = "the draft that was saved before"
        if step.operation != "getDraft" or not step.taken or not isinstance(known.content, dict):
            return _suspicion(clause, uid, said, answer, known, holds=step.taken)
        same = readers.holds_document(answer, known.content)
        seen = answer.quote() if same else readers.difference(answer, known.content)
        return Suspicion(clause, uid, "the draft as it was saved", seen, known.entry, same)

    def _listed(self, step: Step, answer: Answer) -> Iterator[Suspicion]:
        try:
            records = readers.records(answer)
        except Ambiguous:
            return
        collection = dict(step.facts.query).get("collection")
        for key, draft in self._drafts.items():
            site, realm, uid = key
            if (site, realm) != (step.site, step.realm) or records is None:
                continue
            named = any(readers.names(record, uid) for record in records)
            if not draft.there and draft.who == step.who:
                said = f"a list without {uid}, whose draft was deleted"
                yield Suspicion("list-deleted-gone", uid, said, f"it names {uid}", draft.entry, not named)
            elif draft.there and named and collection == "my" and _others(draft.who, str(step.who)):
                said = "a personal list without the drafts of other accounts"
                yield Suspicion(
                    "list-my-without-others", uid, said, f"it names {uid}, saved by another", draft.entry
                )


def _others(one: str, other: str) -> bool:
    """Whether two are different accounts for sure; two tokens may be of the same one."""
    return one != other and one.startswith("account ") and other.startswith("account ")


def _key(step: Step, uid: str) -> tuple[str, str, str]:
    return step.site, step.realm, uid


def _suspicion(
    clause: str, uid: str, expected: str, answer: Answer, known: _Draft, *, holds: bool
) -> Suspicion:
    return Suspicion(clause, uid, expected, answer.quote(), known.entry, holds)
