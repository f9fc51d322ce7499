"""What a run will send and judge, before it sends anything, and which further setting would let it judge more."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from contracts.evidence.findings import wanting_settings
from contracts.interface.catalogue import Catalogue, Clause
from contracts.interface.description import operations_with
from contracts.interface.operations import ANY_REALM
from contracts.safe_text import many
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


_REALM: Final = re.compile(r"\b(abs|bch|chm|ort)-dev\b")
_MINUTE: Final = 60
#: What a stand-in may take the place of, but where contacts are created or updated.
_STOOD_IN_FOR: Final = "realm.contact_schema"


def without_realm(case: str) -> str:
    """A case's id, the same for each realm."""
    file, separator, rest = case.partition("::")
    return f"{file}{separator}{_REALM.sub('*', rest)}"


@dataclass(frozen=True)
class PlannedCase:
    """A case that a run takes up.

    Attributes:
        case: Its id.
        clauses: Those it is about.
        requests: About how many it sends.
        dealt: About how many it deals out among its realms in the run besides.
        records: Permanent records that it creates.
        files: Temporary files that it uses up.
        deals: What it tries is dealt out among its realms in the run.
        of_faults: Those of its clauses of which it says nothing where it sends no generated fault.
        roles: Accounts that it sends requests as.
    """

    case: str
    realm: str
    clauses: tuple[str, ...]
    requests: float
    dealt: float = 0
    records: int = 0
    files: int = 0
    deals: bool = False
    of_faults: frozenset[str] = frozenset()
    roles: tuple[str, ...] = ()


def _needs(clause: Clause) -> tuple[str, ...]:
    """The settings that a clause cannot do without: for drafts a record of a made-up schema may serve."""
    contacts = not set(operations_with(family="contact")).isdisjoint(clause.operations)
    return clause.needs if contacts else tuple(need for need in clause.needs if need != _STOOD_IN_FOR)


class Forecast:
    """What a run will do to its target.

    Args:
        cases: Those that the run takes up.
        arranged: Permanent records that cases use together, by realm.
        unreached: Cells that no case of the run reaches, by reason.
        budget: Requests that the run may send in all.
        files: Temporary files that are unused, by realm; a realm whose settings name none is not there.
        counts: Whether a clause counts in a realm; None where all do.
    """

    def __init__(
        self,
        cases: Iterable[PlannedCase],
        target: Target,
        catalogue: Catalogue,
        *,
        arranged: Iterable[tuple[str, int]] = (),
        unreached: Mapping[tuple[str, str], str],
        budget: int,
        files: Mapping[str, int] = MappingProxyType({}),
        counts: Callable[[Clause, str], bool] | None = None,
    ) -> None:
        self._target = target
        self._catalogue = catalogue
        self._budget = budget
        self._unreached = unreached
        self._counts = counts
        cases = list(cases)
        realms = Counter(without_realm(case.case) for case in cases)
        self._requests: defaultdict[str, float] = defaultdict(float)
        self._records: Counter[str] = Counter()
        self._files: Counter[str] = Counter()
        self._unused = files
        for realm, number in arranged:
            self._records[realm] += number
        #: What the cells that the run takes up lack, as far as is known before; None for those that it can judge.
        self._lacking: dict[Cell, str | None] = {}
        self._dealt: dict[Cell, bool] = {}
        for case in cases:
            lacking = self._lacks(case)
            self._take_up(case, lacking)
            if lacking is None:
                self._requests[case.realm] += case.requests + case.dealt / realms[without_realm(case.case)]
                self._records[case.realm] += case.records
                self._files[case.realm] += case.files

    def _lacks(self, case: PlannedCase) -> str | None:
        """Which setting keeps a case from sending anything: one that a clause of it needs, or an account's."""
        needs = (self._missing(name, case.realm) for name in case.clauses)
        accounts = (self._target.missing(f"account.{role}", case.realm) for role in case.roles)
        return next(filter(None, (*accounts, *needs)), None)

    def _missing(self, name: str, realm: str) -> str | None:
        needs = _needs(self._catalogue.clause(name))
        return next(filter(None, (self._target.missing(need, realm) for need in needs)), None)

    def _take_up(self, case: PlannedCase, lacking: str | None) -> None:
        for clause in map(self._catalogue.clause, case.clauses):
            says_nothing = lacking and clause.id in case.of_faults
            counts = self._counts is None or self._counts(clause, case.realm)
            if counts and case.realm in clause.realms and clause.untested is None and not says_nothing:
                self._dealt[clause.id, case.realm] = case.deals and self._dealt.get(
                    (clause.id, case.realm), True
                )
                known = self._lacking.get((clause.id, case.realm), lacking)
                own = self._missing(clause.id, case.realm)
                self._lacking[clause.id, case.realm] = own or (known and lacking)

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
    def wanting(self) -> set[str]:
        """The must clauses that stay untested for want of a setting, counted as at the end of the run."""
        return wanting_settings(
            (self._catalogue.clause(name), lacking) for (name, _), lacking in self._lacking.items()
        )

    @property
    def files(self) -> str:
        """The realms whose temporary files the run uses up; empty where it needs none."""
        return ", ".join(
            f"{realm} needs {need}, has {self._unused[realm]} left" for realm, need in self._needs()
        )

    def _needs(self) -> Iterator[tuple[str, int]]:
        """How many temporary files the run needs, in each realm whose settings name some."""
        return ((realm, need) for realm, need in self._files.items() if need and realm in self._unused)

    @property
    def _runs_out(self) -> bool:
        return any(need > self._unused[realm] for realm, need in self._needs())

    @property
    def dealt(self) -> list[str]:
        """The must clauses that are judged in a part of their realms: their cases deal out what they try."""
        realms = Counter(name for name, _ in self._dealt)
        must = {clause.id for clause in self._catalogue.must}
        return [
            name for name, number in realms.items() if number > 1 and name in must and self._is_dealt(name)
        ]

    def _is_dealt(self, name: str) -> bool:
        return any(dealt for (clause, _), dealt in self._dealt.items() if clause == name)

    @property
    def summary(self) -> str:
        """One line, for the beginning of a run."""
        parts = [f"about {many(self.requests, 'request')}{self._pace()}"]
        stays = many(self.permanent_records, "permanent record")
        parts += [f"at most {stays}" if self.permanent_records else "no permanent record"]
        parts += [f"temporary files run out ({self.files})"] if self._runs_out else []
        wanting = many(len(self.wanting), "must clause")
        parts += (
            [f"about {wanting} untested for want of a setting (--plan names them)"] if self.wanting else []
        )
        return ", ".join(parts)

    def lines(self) -> Iterator[str]:
        """All of it, as a table and sentences."""
        yield f"requests      about {self.requests:,}{self._pace()}; the run stops at {self._budget:,}"
        yield f"by realm      {self._by_realm()}"
        yield f"stays         {self._stays()}"
        yield f"uses up       temporary files: {self.files or 'none'}"
        if self.dealt:
            yield f"dealt         {many(len(self.dealt), 'must clause')}, each judged in a part of its realms"
            yield f"      {', '.join(self.dealt)}"
        untested = self._untested()
        yield f"untested      {'' if untested else 'no must clause'}".rstrip()
        for reason, clauses in untested:
            yield f"  {many(len(clauses), 'must clause')}: {reason}"
            yield f"      {', '.join(clauses)}"
        yield "Nothing was sent."

    def _pace(self) -> str:
        if self.minutes is None:
            return ""
        rate = self._target.pace.requests_per_second
        return f", {self.minutes:.1f} minutes at {rate:g} a second"

    def _stays(self) -> str:
        if not self.permanent_records:
            return "nothing for good but attachments"
        total = many(self.permanent_records, "permanent record")
        places = ", ".join(
            f"{number} in {realm}" for realm, number in sorted(self._records.items()) if number
        )
        allowed = self._target.pace.permanent_records
        return f"at most {total} ({places}), of {allowed} allowed in a realm; and attachments"

    def _by_realm(self) -> str:
        return ", ".join(f"{realm} {round(number):,}" for realm, number in self._requests.items()) or "none"

    def _untested(self) -> list[tuple[str, list[str]]]:
        """Reasons and the must clauses that stay untested for them, those with most first.

        A clause lacks a setting where a realm does; otherwise it is untested where no realm is reached.
        """
        reasons: defaultdict[str, dict[str, None]] = defaultdict(dict)
        wanting, judged = self.wanting, {name for name, _ in self._lacking}
        for (name, realm), lacking in self._lacking.items():
            if lacking and name in wanting:
                reasons[lacking.replace(f"realm.{realm}.", "realm.<realm>.")][name] = None
        must = {clause.id for clause in self._catalogue.must if clause.untested is None}
        for (name, _), reason in self._unreached.items():
            if name in must - judged:
                reasons[reason][name] = None
        return sorted(((why, list(names)) for why, names in reasons.items()), key=lambda pair: -len(pair[1]))
