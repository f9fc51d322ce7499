"""Identifiers near each other, which services confuse: in letter case, by a sign, at the end or far behind.

Each names a draft of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from contracts.cases.drafts import need_absence, need_ordinary_life
from contracts.cases.hostile_input import Deal
from contracts.cases.world import World
from contracts.checks.claims import Expect
from contracts.checks.outcomes import Blocked, done, usable
from contracts.exchanges.exchange import Exchange
from contracts.interface.operations import UID_LONGEST

CLAUSES: Final = (
    "uid-case-sensitive",
    "uid-hyphen",
    "uid-underscore",
    "uid-longest",
    "draft-save-spares-others",
    "draft-delete-spares-others",
    "draft-delete-removes",
)
_CASE, _HYPHEN, _UNDERSCORE, _LONGEST = CLAUSES[:4]


@dataclass(frozen=True)
class Neighbour:
    """One way to make an identifier that is near another one.

    Attributes:
        clause: The clause that such an identifier is acceptable by; empty for an ordinary one.
        make: Makes it of the other one.
        deleted: Whether its draft is deleted, and the plainer one stays that a service may take it for.
    """

    name: str
    clause: str
    make: Callable[[str], str]
    deleted: bool = False


def _neighbours() -> dict[str, Neighbour]:
    plain = (
        ("letters", "", "bc"),
        ("capitals", _CASE, "bC"),
        ("hyphen", _HYPHEN, "b-c"),
        ("underscore", _UNDERSCORE, "b_c"),
        ("hyphens", _HYPHEN, "b--c"),
        ("hyphen behind", _HYPHEN, "bc-"),
        ("underscore behind", _UNDERSCORE, "bc_"),
    )
    near = [
        Neighbour(name, clause, partial(_followed, by=by), name not in ("letters", "hyphen"))
        for name, clause, by in plain
    ]
    near += [Neighbour(f"same {at}", _LONGEST, partial(_filled, other=at)) for at in (32, 64, 100, 127)]
    near.append(Neighbour("filled", _LONGEST, _filled, deleted=True))
    return {neighbour.name: neighbour for neighbour in near}


def _followed(uid: str, by: str) -> str:
    return uid + by


def _filled(uid: str, other: int = UID_LONGEST) -> str:
    """The identifier filled up to the longest; from a place on with another letter."""
    return (uid + "a" * UID_LONGEST)[:other] + "x" * (UID_LONGEST - other)


NEIGHBOURS: Final[Mapping[str, Neighbour]] = _neighbours()


def names() -> SearchStrategy[tuple[str, ...]]:
    """Names of some neighbours, each once."""
    names = st.sampled_from(list(NEIGHBOURS))
    return st.lists(names, min_size=1, max_size=5, unique=True).map(tuple)


class Neighbourhood:
    """Saves drafts under identifiers that are near each other, and claims that each has one of its own."""

    def __init__(self, world: World, expect: Expect) -> None:
        self._world = world
        self._expect = expect

    def claim_told_apart(self, names: Sequence[str]) -> None:
        """Claim that drafts of neighbours keep their contents, and that deleting some leaves the others."""
        need_ordinary_life(self._world)
        base = self._world.uid()
        near = {NEIGHBOURS[name].make(base): NEIGHBOURS[name] for name in names}
        clauses = {base: ""} | {uid: neighbour.clause for uid, neighbour in near.items()}
        saved = {uid: self._saved(uid, clause) for uid, clause in clauses.items()}
        saved[base] = self._saved(base, "")
        for uid, clause in clauses.items():
            self._claim_own(uid, clause, saved)
        deleted = [base, *(uid for uid, neighbour in near.items() if neighbour.deleted)]
        gone = {uid: self._deleted(uid, clauses[uid]) for uid in deleted}
        for uid in clauses:
            self._claim_left(uid, clauses[uid], gone)

    def _document(self, uid: str) -> dict[str, Any]:
        return self._world.samples.short_draft(uid, middleName=f"of {len(uid)} {uid}")

    def _saved(self, uid: str, clause: str) -> Exchange:
        sent = self._world.save(uid, self._document(uid))
        if clause:
            self._expect(clause, "saveDraft").accepted(sent)
        done(sent)
        return sent

    def _claim_own(self, uid: str, clause: str, saved: Mapping[str, Exchange]) -> None:
        read = self._world.author.get_draft(uid)
        if clause:
            self._expect(clause, "getDraft").accepted(read)
        shown = [other for other in saved if f'"of {len(other)} {other}"' in usable(read).text]
        spared = _at_stake(uid, clause, shown, "draft-save-spares-others")
        self._expect(spared, "saveDraft").holds(
            shown == [uid],
            saved[uid],
            *[saved[other] for other in shown if other != uid],
            read,
            expected=f"the draft saved under {uid}",
            seen=f"that of {', '.join(shown)}" if shown else read.answer.quote(),
        )

    def _deleted(self, uid: str, clause: str) -> Exchange:
        sent = self._world.author.delete_draft(uid)
        if clause:
            self._expect(clause, "deleteDraft").accepted(sent)
        done(sent)
        return sent

    def _claim_left(self, uid: str, clause: str, gone: Mapping[str, Exchange]) -> None:
        check = self._world.author.draft_exists(uid)
        there = usable(check).success
        if uid in gone and there:
            self._claim_absent(uid, clause, gone[uid], check)
        spared = _at_stake(uid, clause, gone, "draft-delete-spares-others")
        self._expect(spared, "deleteDraft").holds(
            there or uid in gone, *gone.values(), check, expected=f"the draft {uid} untouched"
        )

    def _claim_absent(self, uid: str, clause: str, gone: Exchange, check: Exchange) -> None:
        """Claim that the exists check takes no identifier for another one; it finds each draft that is there."""
        read = self._world.author.get_draft(uid)
        if usable(read).success:
            raise Blocked("deleteDraft", "leaves the draft where it was")
        need_absence(self._world)
        mistaken = _at_stake(uid, clause, (), "draft-delete-removes")
        self._expect(mistaken, "draftExists").holds(
            False, gone, read, check, expected=f"no draft under {uid}"
        )


def _at_stake(uid: str, clause: str, others: Iterable[str], otherwise: str) -> str:
    """The clause about letter case for an identifier in capitals, and for one that such a one may be taken for."""
    in_other_case = any(other != uid and other.lower() == uid.lower() for other in others)
    return _CASE if clause == _CASE or in_other_case else otherwise


#: Neighbours that are taken for each other first; those of one line are always beside each other.
_TAKEN_FOR_EACH_OTHER: Final[Mapping[str, tuple[str, ...]]] = {
    "letter case": ("letters", "capitals", "same 32", "filled"),
    "signs inside": ("letters", "hyphen", "underscore", "hyphens"),
    "signs behind": ("letters", "hyphen behind", "underscore behind", "same 127", "filled"),
}


def beside_each_other(deal: Deal) -> tuple[str, ...]:
    """Neighbours whose turn it is, every one in a run of one realm; of two that look alike, one is deleted."""
    mine = {name for names in deal(_TAKEN_FOR_EACH_OTHER).values() for name in names}
    return tuple(name for name in NEIGHBOURS if name in mine)
