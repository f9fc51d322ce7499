"""What a run will send and judge, before it sends anything, and which further setting would let it judge more."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from contracts.checks.table import UNIVERSAL
from contracts.evidence.findings import wanting_settings
from contracts.interface.catalogue import Catalogue, Clause
from contracts.safe_text import many
from contracts.settings.target import AttachmentSettings, RealmSettings, Target

#: A clause in a realm: what a run gives one verdict on.
Cell = tuple[str, str]
_REALM: Final = re.compile(r"\b(abs|bch|chm|ort)-dev\b")
_MINUTE: Final = 60
_ACCOUNTS: Final = {
    "restricted": "an account that can sign in, and may neither create nor update",
    "nau": "an account that holds the NAU role",
    "other": "a second author, who may save drafts as well and owns the record of others_identifier",
}


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
        needs: Settings and accounts without which it sends nothing, as the catalogue names them.
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
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Unlock:
    """One setting that is missing, and what it would add to those listed before it.

    Attributes:
        setting: As the settings file names it, such as `realm.<realm>.workflow_schema` or `accounts.nau`.
        realms: Realms that lack it; empty where it is a setting of the whole target.
        meaning: What the setting is, in words.
        clauses: Those of the cells.
        cells: Clauses by realm that a run would judge in addition; none where it adds to what the one before frees.
    """

    setting: str
    realms: tuple[str, ...]
    meaning: str
    clauses: tuple[str, ...]
    cells: int


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
        unreached: Mapping[Cell, str],
        budget: int,
        files: Mapping[str, int] = MappingProxyType({}),
        counts: Callable[[Clause, str], bool] | None = None,
    ) -> None:
        self._target = target
        self._catalogue = catalogue
        self._budget = budget
        self._unreached = unreached
        self._unused = files
        self._requests: defaultdict[str, float] = defaultdict(float)
        self._records: Counter[str] = Counter()
        self._files: Counter[str] = Counter()
        for realm, number in arranged:
            self._records[realm] += number
        cases = list(cases)
        realms = Counter(without_realm(case.case) for case in cases)
        of_cells: defaultdict[Cell, list[tuple[PlannedCase, frozenset[str]]]] = defaultdict(list)
        for case in cases:
            lacking = frozenset(need for need in case.needs if target.missing(need, case.realm))
            for clause in map(catalogue.clause, case.clauses):
                counted = counts is None or counts(clause, case.realm)
                of_it = case.realm in clause.realms and clause.untested is None and clause.id not in UNIVERSAL
                if counted and of_it and not (lacking and clause.id in case.of_faults):
                    of_cells[clause.id, case.realm].append((case, lacking))
            if not lacking:
                self._requests[case.realm] += case.requests + case.dealt / realms[without_realm(case.case)]
                self._records[case.realm] += case.records
                self._files[case.realm] += case.files
        #: What each cell that the run takes up lacks.
        self._lacking = {
            cell: _lacking(catalogue.clause(cell[0]), [lacking for _, lacking in found])
            for cell, found in of_cells.items()
        }
        self._dealt = {cell: all(case.deals for case, _ in found) for cell, found in of_cells.items()}

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
    def musts(self) -> set[str]:
        """The must clauses that the run takes up."""
        taken_up = {name for name, _ in self._lacking} | {*UNIVERSAL}
        return {clause.id for clause in self._catalogue.must if clause.id in taken_up}

    @property
    def wanting(self) -> set[str]:
        """The must clauses that stay untested for want of a setting, counted as at the end of the run."""
        return wanting_settings(
            (self._catalogue.clause(name), self._reason((name, realm))) for name, realm in self._lacking
        )

    def _reason(self, cell: Cell) -> str | None:
        missing = (self._target.missing(need, cell[1]) for need in sorted(self._lacking[cell]))
        return next(missing, None)

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
    def dealt(self) -> list[str]:
        """The must clauses that are judged in a part of their realms: their cases deal out what they try."""
        realms = Counter(name for name, _ in self._lacking)
        dealt = dict.fromkeys(name for (name, _), deals in self._dealt.items() if deals)
        return [name for name in dealt if realms[name] > 1 and name in self.musts]

    def unlocks(self) -> Iterator[Unlock]:
        """List the settings that must clauses lack, those that add most first, each with what it adds to the others."""
        musts = self.musts
        lacking = {cell: names for cell, names in self._lacking.items() if names and cell[0] in musts}
        waiting = {
            need: [cell for cell, names in lacking.items() if need in names]
            for need in frozenset[str]().union(*lacking.values())
        }
        for bundle, freed in _steps(lacking):
            first, *others = sorted(bundle, key=lambda need: (-len(waiting[need]), need))
            yield _unlock(first, _realms_of(waiting[first]), freed)
            yield from (_unlock(need, _realms_of(waiting[need]), []) for need in others)

    @property
    def summary(self) -> str:
        """One line, for the beginning of a run."""
        parts = [f"about {many(self.requests, 'request')}{self._pace()}"]
        stays = many(self.permanent_records, "permanent record")
        parts += [f"at most {stays}" if self.permanent_records else "no permanent record"]
        short = any(need > self._unused[realm] for realm, need in self._needs())
        parts += [f"temporary files run out ({self.files})"] if short else []
        wanting = many(len(self.wanting), "must clause")
        parts += [f"{wanting} untested for want of a setting (--plan names them)"] if self.wanting else []
        return ", ".join(parts)

    def lines(self) -> Iterator[str]:
        """All of it, as a table and sentences."""
        yield f"requests      about {self.requests:,}{self._pace()}; the run stops at {self._budget:,}"
        by_realm = ", ".join(f"{realm} {round(number):,}" for realm, number in self._requests.items())
        yield f"by realm      {by_realm or 'none'}"
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

    def _untested(self) -> list[tuple[str, list[str]]]:
        """Reasons and the must clauses that stay untested for them, those with most first.

        A clause lacks a setting where a realm does; otherwise it is untested where no realm is reached.
        """
        reasons: defaultdict[str, dict[str, None]] = defaultdict(dict)
        wanting, judged = self.wanting, {name for name, _ in self._lacking}
        for name, realm in self._lacking:
            reason = self._reason((name, realm))
            if reason and name in wanting:
                reasons[reason.replace(f"realm.{realm}.", "realm.<realm>.")][name] = None
        must = {clause.id for clause in self._catalogue.must if clause.untested is None}
        for (name, _), reason in self._unreached.items():
            if name in must - judged:
                reasons[reason][name] = None
        return sorted(((why, list(names)) for why, names in reasons.items()), key=lambda pair: -len(pair[1]))


def _lacking(clause: Clause, of_cases: list[frozenset[str]]) -> frozenset[str]:
    """What keeps a clause from a verdict, by what each of its cases lacks.

    As at the end of a run: a case that lacks a setting counts where the clause itself needs that, and where no case
    sends anything.
    """
    needed = {name for lacking in of_cases for name in lacking if name in clause.needs}
    fewest = min(of_cases, key=lambda lacking: (len(lacking), sorted(lacking)))
    return fewest | needed


def _steps(lacking: Mapping[Cell, frozenset[str]]) -> list[tuple[frozenset[str], list[Cell]]]:
    """Needs in order of the cells that they free, with these; those stand together that free more together."""
    steps: list[tuple[frozenset[str], list[Cell]]] = []
    while lacking:
        bundles = Counter(lacking.values())

        def worth(bundle: frozenset[str], bundles: Counter[frozenset[str]] = bundles) -> float:
            return sum(count for names, count in bundles.items() if names <= bundle) / len(bundle)

        best = min(bundles, key=lambda bundle: (-worth(bundle), sorted(bundle)))
        step = best, [cell for cell, names in lacking.items() if names <= best]
        lacking = {cell: names - best for cell, names in lacking.items() if not names <= best}
        while steps and len(step[1]) > len(steps[-1][1]):
            before = steps.pop()
            step = before[0] | step[0], before[1] + step[1]
        steps.append(step)
    return steps


def _realms_of(cells: Iterable[Cell]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(realm for _, realm in cells))


def _unlock(need: str, realms: tuple[str, ...], freed: list[Cell]) -> Unlock:
    """Name a need of the catalogue as the settings file does."""
    group, _, key = need.partition(".")
    clauses = tuple(dict.fromkeys(name for name, _ in freed))
    if group == "account":
        return Unlock(f"accounts.{key}", (), _ACCOUNTS.get(key, ""), clauses, len(freed))
    fields = (AttachmentSettings if group == "attachments" else RealmSettings).__dataclass_fields__
    meaning = str(fields[key].metadata["meaning"])
    if group == "attachments":
        return Unlock(need, (), meaning, clauses, len(freed))
    return Unlock(f"realm.<realm>.{key}", realms, meaning, clauses, len(freed))
