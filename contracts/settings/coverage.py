"""What the settings of a target let a run judge, and which further setting would let it judge how much more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from contracts.interface.catalogue import Clause
from contracts.interface.operations import ANY_REALM
from contracts.settings.target import AttachmentSettings, RealmSettings, Target

#: A clause in a realm: what a run gives one verdict on.
Cell = tuple[str, str]


@dataclass(frozen=True)
class Unlock:
    """One setting that is missing, and what it would add to those listed before it.

    Attributes:
        setting: As the settings file names it, such as `realm.<realm>.workflow_schema` or `accounts.nau`.
        realms: Realms that lack it; empty where it is a setting of the whole target.
        meaning: What the setting is, in words.
        clauses: Clauses that no realm can be judged on without it.
        cells: Clauses by realm that a run would judge in addition.
        helps: Clauses that need it and still lack another setting.
    """

    setting: str
    realms: tuple[str, ...]
    meaning: str
    clauses: tuple[str, ...]
    cells: int
    helps: int


class Coverage:
    """The clauses that a run on a target can judge.

    A run may judge more: where the service takes records of a schema that it does not know, stand-ins serve.

    Args:
        clauses: Those to count; clauses that nothing can test are left out.
        target: The target with its settings.
    """

    def __init__(self, clauses: Iterable[Clause], target: Target) -> None:
        self._lacking: dict[Cell, frozenset[str]] = {}
        for clause in clauses:
            if clause.untested is None:
                for realm in _realms(clause, target):
                    needs = (need for need in clause.needs if target.missing(need, realm))
                    self._lacking[clause.id, realm] = frozenset(needs)

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Every clause with each realm of the target that it concerns."""
        return tuple(self._lacking)

    @property
    def clauses(self) -> tuple[str, ...]:
        """Every clause that concerns a realm of the target."""
        return tuple(dict.fromkeys(clause for clause, _ in self._lacking))

    @property
    def judged_cells(self) -> tuple[Cell, ...]:
        """Clauses by realm that lack no setting."""
        return tuple(cell for cell, lacking in self._lacking.items() if not lacking)

    @property
    def judged(self) -> tuple[str, ...]:
        """Clauses that lack no setting in one realm at least."""
        return tuple(dict.fromkeys(clause for clause, _ in self.judged_cells))

    def unlocks(self) -> Iterator[Unlock]:
        """List the missing settings in order of use, each with what it adds to those before it."""
        lacking = {cell: set(names) for cell, names in self._lacking.items() if names}
        judged = set(self.judged)
        while lacking:
            need = _most_useful(lacking)
            freed = [cell for cell, names in lacking.items() if names == {need}]
            helped = {clause for (clause, _), names in lacking.items() if need in names and len(names) > 1}
            realms = tuple(dict.fromkeys(realm for (_, realm), names in lacking.items() if need in names))
            clauses = tuple(dict.fromkeys(clause for clause, _ in freed if clause not in judged))
            yield _unlock(need, realms, clauses, len(freed), len(helped))
            judged.update(clauses)
            lacking = {cell: names - {need} for cell, names in lacking.items() if names != {need}}


def _realms(clause: Clause, target: Target) -> tuple[str, ...]:
    return tuple(realm for realm in clause.realms if realm == ANY_REALM or realm in target.realms)


def _most_useful(lacking: Mapping[Cell, set[str]]) -> str:
    """The need with the greatest share in what is lacking: a clause that lacks three gives each of them a third."""
    shares: Counter[str] = Counter()
    for names in lacking.values():
        for name in names:
            shares[name] += 60 // len(names)
    return min(shares, key=lambda name: (-shares[name], name))


_ACCOUNTS: Final = {
    "restricted": "an account that can sign in, and may neither create nor update",
    "nau": "an account that holds the NAU role",
    "other": "a second author, who owns the record of others_identifier",
}


def _unlock(need: str, realms: tuple[str, ...], clauses: tuple[str, ...], cells: int, helps: int) -> Unlock:
    """Name a need of the catalogue as the settings file does."""
    group, _, key = need.partition(".")
    if group == "account":
        return Unlock(f"accounts.{key}", (), _ACCOUNTS.get(key, ""), clauses, cells, helps)
    if group == "attachments":
        meaning = AttachmentSettings.__dataclass_fields__[key].metadata["meaning"]
        return Unlock(need, (), str(meaning), clauses, cells, helps)
    meaning = RealmSettings.__dataclass_fields__[key].metadata["meaning"]
    return Unlock(f"realm.<realm>.{key}", realms, str(meaning), clauses, cells, helps)
