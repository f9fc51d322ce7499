"""What a run will send and judge, before it sends anything, and which settings would let it judge more."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from contracts.checks.table import UNIVERSAL
from contracts.evidence.findings import wanting_settings
from contracts.interface.catalogue import Clause, load_catalogue
from contracts.interface.operations import in_realms
from contracts.plugin.case import Case
from contracts.plugin.plan import Selection, request_budget
from contracts.safe_text import many

#: A clause in a realm: what a run gives one verdict on.
Cell = tuple[str, str]


class Forecast:
    """What a run will do to its target.

    Args:
        cases: Those that the run takes up, and what creates the records that they use together.
        unreached: Cells that no case of the run reaches, by reason.
        unused: Temporary files that are unused, by realm; a realm whose settings name none is not there.
    """

    def __init__(
        self,
        cases: Sequence[Case],
        selection: Selection,
        unreached: Mapping[Cell, str],
        unused: Mapping[str, int],
    ) -> None:
        self._target, self._catalogue = selection.aim(), load_catalogue()
        self._budget = request_budget(self._target, selection.profile)
        self._unreached, self._unused = unreached, unused
        self._requests, self._records, self._files = 0.0, Counter[str](), Counter[str]()
        consumer, realms = selection.terms.consumer, Counter(case.name for case in cases)
        of_cells: defaultdict[Cell, list[Case]] = defaultdict(list)
        for case in cases:
            for clause in map(self._catalogue.clause, case.spoken):
                of_it = case.realm in clause.realms and clause.untested is None and clause.id not in UNIVERSAL
                if of_it and (consumer is None or consumer.covers(clause, case.realm)):
                    of_cells[clause.id, case.realm].append(case)
            if not case.lacks(self._target):
                own, dealt = case.sends(selection.profile)
                self._requests += own + dealt / realms[case.name]
                self._records[case.realm] += case.records
                self._files[case.realm] += case.files
        #: What each cell that the run takes up lacks.
        self.lacking = {
            cell: _lacking(self._catalogue.clause(cell[0]), [case.lacks(self._target) for case in found])
            for cell, found in of_cells.items()
        }
        dealing = {name for (name, _), found in of_cells.items() if all(case.deals for case in found)}
        of_realms = Counter(name for name, _ in self.lacking)
        #: The must clauses that are judged in a part of their realms: their cases deal out what they try.
        self.dealt = sorted(name for name in self.musts & dealing if of_realms[name] > 1)

    @property
    def requests(self) -> int:
        """About how many requests the run sends when nothing has to be repeated."""
        return math.ceil(self._requests)

    @property
    def minutes(self) -> float | None:
        """How long these take at the target's pace at least; None without a limit."""
        rate = self._target.pace.requests_per_second
        return None if rate is None or math.isinf(rate) else self.requests / rate / 60

    @property
    def permanent_records(self) -> int:
        """How many contacts and submissions stay."""
        return sum(self._records.values())

    @property
    def musts(self) -> set[str]:
        """The must clauses that the run takes up."""
        taken_up = {name for name, _ in self.lacking} | {*UNIVERSAL}
        return {clause.id for clause in self._catalogue.must if clause.id in taken_up}

    @property
    def wanting(self) -> set[str]:
        """The must clauses that stay untested for want of a setting, counted as at the end of the run."""
        return wanting_settings(
            (self._catalogue.clause(cell[0]), self._reason(cell)) for cell in self.lacking
        )

    def _reason(self, cell: Cell) -> str | None:
        return next((self._target.missing(need, cell[1]) for need in sorted(self.lacking[cell])), None)

    @property
    def files(self) -> str:
        """The realms whose temporary files the run uses up; empty where it needs none."""
        needs = ((realm, need) for realm, need in self._files.items() if need and realm in self._unused)
        return ", ".join(f"{realm} needs {need}, has {self._unused[realm]} left" for realm, need in needs)

    @property
    def summary(self) -> str:
        """One line, for the beginning of a run."""
        stays = many(self.permanent_records, "permanent record")
        parts = [f"about {many(self.requests, 'request')}{self._pace()}"]
        parts += [f"at most {stays}" if self.permanent_records else "no permanent record"]
        short = any(need > self._unused.get(realm, need) for realm, need in self._files.items())
        parts += [f"temporary files run out ({self.files})"] if short else []
        wanting = many(len(self.wanting), "must clause")
        parts += [f"{wanting} untested for want of a setting (--plan names them)"] if self.wanting else []
        return ", ".join(parts)

    def lines(self) -> Iterator[str]:
        """All of it, as a table and sentences."""
        yield f"requests      about {self.requests:,}{self._pace()}; the run stops at {self._budget:,}"
        yield f"stays         {self._stays()}"
        yield f"uses up       temporary files: {self.files or 'none'}"
        if self.dealt:
            yield f"dealt         {many(len(self.dealt), 'must clause')}, each judged in a part of its realms"
            yield f"      {', '.join(self.dealt)}"
        yield f"untested      {'' if self.untested else 'no must clause'}".rstrip()
        for reason, clauses in self.untested.items():
            yield f"  {many(len(clauses), 'must clause')}: {reason}"
            yield f"      {', '.join(clauses)}"

    def _pace(self) -> str:
        rate = self._target.pace.requests_per_second
        return "" if self.minutes is None else f", {self.minutes:.1f} minutes at {rate:g} a second"

    def _stays(self) -> str:
        if not self.permanent_records:
            return "nothing for good but attachments"
        total = many(self.permanent_records, "permanent record")
        places = ", ".join(
            f"{number} in {realm}" for realm, number in sorted(self._records.items()) if number
        )
        allowed = self._target.pace.permanent_records
        return f"at most {total} ({places}), of {allowed} allowed in a realm; and attachments"

    @cached_property
    def untested(self) -> dict[str, list[str]]:
        """The must clauses that stay untested, by reason, those with most first.

        A clause lacks a setting where a realm does; otherwise it is untested where no realm is reached.
        """
        clauses: defaultdict[str, dict[str, None]] = defaultdict(dict)
        realms: defaultdict[str, dict[str, None]] = defaultdict(dict)
        wanting, judged = self.wanting, {name for name, _ in self.lacking}
        for name, realm in self.lacking:
            reason = self._reason((name, realm))
            if reason and name in wanting:
                of_realms = reason.replace(f"realm.{realm}.", "realm.<realm>.")
                clauses[of_realms][name] = None
                realms[of_realms] |= {realm: None} if of_realms != reason else {}
        must = {clause.id for clause in self._catalogue.must if clause.untested is None}
        for (name, _), reason in self._unreached.items():
            if name in must - judged:
                clauses[reason][name] = None
        ordered = sorted(clauses.items(), key=lambda pair: -len(pair[1]))
        return {f"{why} {in_realms(realms[why])}".rstrip(): list(names) for why, names in ordered}


def _lacking(clause: Clause, of_cases: list[frozenset[str]]) -> frozenset[str]:
    """What keeps a clause from a verdict, by what each of its cases lacks.

    As at the end of a run: a case that lacks a setting counts where the clause itself needs that, and where no case
    sends anything.
    """
    needed = {name for lacking in of_cases for name in lacking if name in clause.needs}
    return min(of_cases, key=lambda lacking: (len(lacking), sorted(lacking))) | needed
