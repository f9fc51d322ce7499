"""What a run will send and judge, before it sends anything, and which further setting would let it judge more.

The requests of each case were measured on the faithful sandbox, in the profiles `gate`, `full` and `smoke`;
`tests.meta.case_requests` writes them down.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from contracts.cases.marks import Profile
from contracts.interface.catalogue import Catalogue, Clause
from contracts.interface.description import operations_with
from contracts.interface.operations import ANY_REALM
from contracts.safe_text import many
from contracts.settings.target import DOCUMENT_REALMS, AttachmentSettings, RealmSettings, Target

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
        cells: Clauses by realm that a run would judge in addition; none where it adds to what the one before frees.
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
        refused: Realm to the settings that the clauses on drafts or on attachments need there besides, since an
            ordinary one was refused: `draft_document`, `attachment_identifiers`.
    """

    def __init__(
        self, clauses: Iterable[Clause], target: Target, refused: Mapping[str, Collection[str]] | None = None
    ) -> None:
        self._lacking: dict[Cell, frozenset[str]] = {}
        for clause in clauses:
            if clause.untested is None:
                for realm in _realms(clause, target):
                    needs = _needs_on(target, realm, clause, (refused or {}).get(realm, ()))
                    self._lacking[clause.id, realm] = frozenset(
                        need for need in needs if target.missing(need, realm)
                    )

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
        """List the missing settings, those that add most first, each with what it adds to those before it."""
        lacking = {cell: names for cell, names in self._lacking.items() if names}
        judged = set(self.judged)
        for bundle in _bundles(Counter(lacking.values())):
            freed = [cell for cell, names in lacking.items() if names <= bundle]
            clauses = tuple(dict.fromkeys(clause for clause, _ in freed if clause not in judged))
            waiting = {need: [cell for cell, names in lacking.items() if need in names] for need in bundle}
            first, *others = sorted(bundle, key=lambda need: (-len(waiting[need]), need))
            helped = {clause for (clause, _), names in lacking.items() if names & bundle and names - bundle}
            yield _unlock(first, _realms_of(waiting[first]), clauses, len(freed), len(helped))
            for need in others:
                yield _unlock(need, _realms_of(waiting[need]), (), 0, len(helped))
            judged.update(clauses)
            lacking = {cell: names - bundle for cell, names in lacking.items() if not names <= bundle}


def _bundles(lacking: Mapping[frozenset[str], int]) -> list[frozenset[str]]:
    """Needs in order of what they free; needs that free more after another than that one itself stand together.

    Args:
        lacking: How many cells lack just these needs.
    """
    units = {frozenset([need]) for names in lacking for need in names}
    ordered: list[frozenset[str]] = []
    gains: list[int] = []
    while len(ordered) < len(units):
        given = frozenset[str]().union(*ordered)

        def gain(unit: frozenset[str], given: frozenset[str] = given) -> int:
            """Cells that are freed beside those freed already."""
            freed = (number for names, number in lacking.items() if names <= given | unit and names & unit)
            return sum(freed)

        def waiting(unit: frozenset[str]) -> int:
            return sum(number for names, number in lacking.items() if names & unit)

        best = min(units - set(ordered), key=lambda unit: (-gain(unit), -waiting(unit), sorted(unit)))
        if gains and gain(best) > gains[-1]:
            units = units - {best, ordered[-1]} | {best | ordered[-1]}
            ordered, gains = [], []
        else:
            ordered.append(best)
            gains.append(gain(best))
    return ordered


def _realms_of(cells: Iterable[Cell]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(realm for _, realm in cells))


def _needs_on(target: Target, realm: str, clause: Clause, refused: Collection[str]) -> tuple[str, ...]:
    """The settings that a clause needs in a realm; where those hold a draft, no contact has to serve as one.

    Args:
        refused: As for `Coverage`.
    """
    needs = clause.needs
    if _on_drafts(clause) and ("draft_document" in refused or target.realm_settings(realm).draft_document):
        needs = (*_needs(clause), "realm.draft_document")
    if "attachment_identifiers" in refused and clause.family == "attachment":
        needs = (*needs, "realm.attachment_identifiers")
    return needs


def _on_drafts(clause: Clause) -> bool:
    """Whether a clause needs a draft, as which a contact serves where the settings hold no other."""
    return _STOOD_IN_FOR in clause.needs and _STOOD_IN_FOR not in _needs(clause)


def _realms(clause: Clause, target: Target) -> tuple[str, ...]:
    return tuple(realm for realm in clause.realms if realm == ANY_REALM or realm in target.realms)


_ACCOUNTS: Final = {
    "restricted": "an account that can sign in, and may neither create nor update",
    "nau": "an account that holds the NAU role",
    "other": "a second author, who may save drafts as well and owns the record of others_identifier",
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


#: Requests by case, where `*` stands for the realm: in a gate, and those that differ in the later profiles, in `smoke`
#: and in a gate of one realm.
MEASURED: Final = Path(__file__).with_name("case_requests.json")
#: Files above this are counted, in bytes.
LARGE_FILE_BYTES: Final = 1024**2
#: Requests of a case that was never measured, all of one operation that has no name.
USUAL_REQUESTS: Final = 3
_UNMEASURED: Final = "(not measured)"
_REALM: Final = re.compile(r"\b(abs|bch|chm|ort)-dev\b")
_MINUTE: Final = 60
#: What a stand-in may take the place of, but where contacts are created or updated.
_STOOD_IN_FOR: Final = "realm.contact_schema"


def without_realm(case: str) -> str:
    """A case's id, the same for each realm."""
    file, separator, rest = case.partition("::")
    return f"{file}{separator}{_REALM.sub('*', rest)}"


@cache
def measured(profile: Profile = Profile.GATE, *, alone: bool = False) -> Mapping[str, Mapping[str, float]]:
    """Requests of each case in one realm, by operation, and `large_files`: bodies above `LARGE_FILE_BYTES`.

    Args:
        profile: Drawn cases send more in the profiles after `gate`; in `smoke` others arrange less for a case.
        alone: Whether one realm with documents is judged, so that nothing is dealt out among realms.
    """
    content: dict[str, dict[str, dict[str, float]]] = json.loads(MEASURED.read_text(encoding="utf-8"))
    if not Profile.GATE.includes(profile):
        return content["gate"] | content["later"]
    smoke = content["smoke"] if profile is Profile.SMOKE else {}
    return content["gate"] | smoke | (content["alone"] if alone else {})


@dataclass(frozen=True)
class PlannedCase:
    """A case that a run takes up.

    Attributes:
        case: Its id.
        clauses: Those it is about.
    """

    case: str
    realm: str
    clauses: tuple[str, ...]


def _with_documents(cases: Iterable[PlannedCase]) -> set[str]:
    return {case.realm for case in cases if case.realm in DOCUMENT_REALMS}


def _needs(clause: Clause) -> tuple[str, ...]:
    """The settings that a clause cannot do without: for drafts a record of a made-up schema may serve."""
    contacts = not set(operations_with(family="contact")).isdisjoint(clause.operations)
    return clause.needs if contacts else tuple(need for need in clause.needs if need != _STOOD_IN_FOR)


class Forecast:
    """What a run will do to its target.

    Args:
        cases: Those that the run takes up.
        records: Permanent records by realm.
        unreached: Cells that no case of the run reaches, by reason.
        budget: Requests that the run may send in all.
        profile: How far the run goes.
    """

    def __init__(
        self,
        cases: Iterable[PlannedCase],
        target: Target,
        catalogue: Catalogue,
        *,
        records: Mapping[str, int],
        unreached: Mapping[tuple[str, str], str],
        budget: int,
        profile: Profile = Profile.GATE,
    ) -> None:
        cases = list(cases)
        self._measured = measured(profile, alone=len(_with_documents(cases)) == 1)
        self._target = target
        self._catalogue = catalogue
        self._budget = budget
        self._records = {realm: number for realm, number in records.items() if number}
        self._unreached = unreached
        self._requests: defaultdict[tuple[str, str], float] = defaultdict(float)
        self._large = 0.0
        for case in cases:
            if self._can_run(case):
                self._count(case)

    def _can_run(self, case: PlannedCase) -> bool:
        """Whether a case sends anything: one whose clauses all lack a setting does not."""
        clauses = map(self._catalogue.clause, case.clauses)
        return any(
            not any(self._target.missing(need, case.realm) for need in _needs(clause)) for clause in clauses
        )

    def _count(self, case: PlannedCase) -> None:
        by_operation = self._measured.get(without_realm(case.case), {_UNMEASURED: USUAL_REQUESTS})
        for name, number in by_operation.items():
            if name == "large_files":
                self._large += number
            else:
                self._requests[name, case.realm] += number

    @property
    def requests(self) -> int:
        """About how many requests the run sends when nothing has to be repeated."""
        return math.ceil(sum(self._requests.values()))

    @property
    def minutes(self) -> float | None:
        """How long these take at the target's pace at least; None without a limit."""
        rate = self._target.pace.requests_per_second
        return None if rate is None or math.isinf(rate) else self.requests / rate / _MINUTE

    @property
    def permanent_records(self) -> int:
        """How many contacts and submissions stay."""
        return sum(self._records.values())

    @property
    def summary(self) -> str:
        """One line, for the beginning of a run."""
        parts = [f"about {many(self.requests, 'request')}{self._pace()}"]
        parts += [f"{many(self.permanent_records, 'permanent record')}"]
        parts += [f"{many(round(self._large), 'file')} over 1 MB"] if self._large else []
        untested = {clause for _, clauses in self._untested() for clause in clauses}
        parts += [f"{many(len(untested), 'must clause')} untested (--plan names them)"] if untested else []
        return ", ".join(parts)

    def lines(self) -> Iterator[str]:
        """All of it, as a table and sentences."""
        yield from self._table()
        yield ""
        yield f"requests      about {self.requests:,}{self._pace()}; the run stops at {self._budget:,}"
        yield f"stays         {self._stays()}"
        large = many(round(self._large), "file") if self._large else "none"
        yield f"over 1 MB     {large}"
        untested = list(self._untested())
        yield f"untested      {'' if untested else 'no must clause'}".rstrip()
        for reason, clauses in untested:
            yield f"  {many(len(clauses), 'must clause')}: {reason}"
            yield f"      {', '.join(clauses)}"
        yield "Nothing was sent."

    def _may_do_without(self, name: str) -> bool:
        """Whether a clause that lacks something can be judged where the service takes a stand-in."""
        needs = _needs(self._catalogue.clause(name))
        return any(
            not any(self._target.missing(need, realm) for need in needs) for realm in self._target.realms
        )

    def _pace(self) -> str:
        if self.minutes is None:
            return ""
        rate = self._target.pace.requests_per_second
        return f", {self.minutes:.1f} minutes at {rate:g} a second"

    def _stays(self) -> str:
        if not self._records:
            return "nothing for good"
        total = many(self.permanent_records, "permanent record")
        places = ", ".join(f"{number} in {realm}" for realm, number in sorted(self._records.items()))
        return f"{total} ({places}), at most {self._target.pace.permanent_records} a realm; and attachments"

    def _table(self) -> Iterator[str]:
        realms = sorted({realm for _, realm in self._requests})
        operations = sorted({operation for operation, _ in self._requests})
        width = max((len(name) for name in operations), default=0)
        yield f"{'':{width}}" + "".join(f"{realm:>10}" for realm in realms)
        for operation in operations:
            numbers = (self._requests[operation, realm] for realm in realms)
            yield f"{operation:{width}}" + "".join(f"{math.ceil(number) or '-':>10}" for number in numbers)

    def _untested(self) -> list[tuple[str, list[str]]]:
        """Reasons and the must clauses that no realm is judged on for it, those with most first."""
        reasons: dict[str, list[str]] = {}
        coverage = Coverage(self._catalogue.must, self._target)
        for unlock in coverage.unlocks():
            for clause in unlock.clauses:
                instead = "; a stand-in may do" if self._may_do_without(clause) else ""
                reasons.setdefault(f"setting {unlock.setting} is missing{instead}", []).append(clause)
        must = {clause.id for clause in self._catalogue.must}
        for clause, reason in {name: why for (name, _), why in self._unreached.items()}.items():
            if clause in must:
                reasons.setdefault(reason, []).append(clause)
        return sorted(reasons.items(), key=lambda reason: -len(reason[1]))
