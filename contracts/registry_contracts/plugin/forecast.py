"""Estimates a run before it sends anything: requests, permanent records, clauses that lack a setting."""

from __future__ import annotations

import math
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

from registry_contracts.checks.table import UNIVERSAL
from registry_contracts.interface.catalogue import load_catalogue
from registry_contracts.interface.operations import in_realms
from registry_contracts.plugin.case import Case
from registry_contracts.plugin.plan import Selection, request_budget
from registry_contracts.safe_text import many
from registry_contracts.session.budgets import USED_UP_FILE, UsedUp
from registry_contracts.settings.target import Target

#: A clause in a realm: what a run gives one verdict on.
Cell = tuple[str, str]
#: How many clauses are named per reason.
_NAMED: Final = 6


def _wrapped(text: str, margin: str) -> list[str]:
    return textwrap.wrap(text, 118, initial_indent=margin, subsequent_indent=margin, break_on_hyphens=False)


class Forecast:
    """What a run will do to its target.

    Args:
        cases: The cases of the run, and stand-ins for what creates the records that they share.
        unreached: Why no case of the run reaches a cell.

    Attributes:
        requests: Estimated number, if nothing has to be repeated.
        minutes: Their shortest duration at the target's pace; None without a limit.
        permanent_records: How many contacts and submissions stay.
        musts: The must clauses that the run has cases for.
        lacking_settings: Those that stay untested because a setting is missing, counted as at the end of the run.
        rotated: Those that are judged in some of their realms: their cases distribute their inputs over the realms.
    """

    def __init__(self, cases: Sequence[Case], selection: Selection, unreached: Mapping[Cell, str]) -> None:
        self._target, self._unreached, catalogue = selection.aim(), unreached, load_catalogue()
        self._budget = request_budget(self._target, selection.profile)
        consumer, realms = selection.terms.consumer, Counter(case.name for case in cases)
        of_cells: defaultdict[Cell, list[Case]] = defaultdict(list)
        requests, self._records, self._files = 0.0, Counter[str](), Counter[str]()
        for case in cases:
            for clause in map(catalogue.clause, case.clauses):
                of_it = case.realm in clause.realms and clause.untested is None and clause.id not in UNIVERSAL
                concerned = not case.operation or case.operation in clause.operations
                if of_it and concerned and consumer.covers(clause, case.realm):
                    of_cells[clause.id, case.realm].append(case)
            if not case.lacks(self._target):
                own, dealt = case.sends(selection.profile)
                requests += own + dealt / realms[case.name]
                self._records[case.realm] += case.facts.records
                self._files[case.realm] += case.facts.files
        pace = self._target.pace.requests_per_second
        self.requests = math.ceil(requests)
        self.minutes = None if pace is None or math.isinf(pace) else self.requests / pace / 60
        self.permanent_records = sum(self._records.values())
        self._unused = _unused_files(selection, self._target)
        #: The missing setting that keeps a cell from a verdict, if any, for each cell with a case.
        self._reasons = {cell: self._reason(cell, found) for cell, found in of_cells.items()}
        taken_up = Counter(name for name, _ in of_cells)
        self.musts = {clause.id for clause in catalogue.must if clause.id in {*taken_up, *UNIVERSAL}}
        self.lacking_settings = {
            name for (name, _), why in self._reasons.items() if why and name in self.musts
        }
        dealing = {name for (name, _), found in of_cells.items() if all(case.deals for case in found)}
        self.rotated = sorted(name for name in self.musts & dealing if taken_up[name] > 1)

    def _reason(self, cell: Cell, cases: Sequence[Case]) -> str | None:
        """The missing setting that keeps a clause from a verdict in a realm, by what each of its cases lacks.

        Counts as the end of a run does: a setting that one case lacks matters if the clause itself needs it, or if no
        case sends anything.
        """
        lacking, clause = [case.lacks(self._target) for case in cases], load_catalogue().clause(cell[0])
        least = min(lacking, key=lambda needs: (len(needs), sorted(needs)))
        needed = least.union(need for needs in lacking for need in needs if need in clause.needs)
        return next((self._target.missing(need, cell[1]) for need in sorted(needed)), None)

    @property
    def files(self) -> str:
        """The realms whose temporary files the run uses up, as text; empty if it needs none."""
        needs = ((realm, need) for realm, need in self._files.items() if need and realm in self._unused)
        return ", ".join(f"{realm} needs {need}, has {self._unused[realm]} left" for realm, need in needs)

    @property
    def summary(self) -> str:
        """The estimate in one line, for the beginning of a run."""
        stays = many(self.permanent_records, "permanent record")
        parts = [f"about {many(self.requests, 'request')}{self._pace()}"]
        parts += [f"at most {stays}" if self.permanent_records else "no permanent record"]
        short = any(need > self._unused.get(realm, need) for realm, need in self._files.items())
        parts += [f"temporary files run out ({self.files})"] if short else []
        wanting = many(len(self.lacking_settings), "must clause")
        parts += (
            [f"{wanting} untested: a setting is missing (--plan names them)"] if self.lacking_settings else []
        )
        return ", ".join(parts)

    def lines(self) -> Iterator[str]:
        """The whole estimate, as a table and sentences, for `--plan`."""
        yield f"requests      about {self.requests:,}{self._pace()}; the run stops at {self._budget:,}"
        yield f"stays         {self._stays()}"
        yield f"uses up       temporary files: {self.files or 'none'}"
        if self.rotated:
            yield f"rotated       {many(len(self.rotated), 'must clause')}, each judged in some of its realms"
        yield f"untested      {'' if self.untested else 'no must clause'}".rstrip()
        for reason, clauses in self.untested.items():
            yield from _wrapped(f"{many(len(clauses), 'must clause')}: {reason}", "  ")
            more = f" and {len(clauses) - _NAMED} more" if clauses[_NAMED:] else ""
            yield from _wrapped(", ".join(clauses[:_NAMED]) + more, "      ")
        if any(clauses[_NAMED:] for clauses in self.untested.values()):
            yield "  (`registry-contracts doctor --json` names all of them)"

    def _pace(self) -> str:
        rate = self._target.pace.requests_per_second
        return "" if self.minutes is None else f", {self.minutes:.1f} minutes at {rate:g} a second"

    def _stays(self) -> str:
        if not self.permanent_records:
            return "nothing permanent except attachments"
        total = many(self.permanent_records, "permanent record")
        places = ", ".join(
            f"{number} in {realm}" for realm, number in sorted(self._records.items()) if number
        )
        allowed = self._target.pace.permanent_records
        return f"at most {total} ({places}), of {allowed} allowed in a realm; and attachments"

    @cached_property
    def untested(self) -> dict[str, list[str]]:
        """The must clauses that stay untested, by reason, the most frequent reason first.

        A clause counts once one of its realms lacks a setting, or if no case reaches it in any realm.
        """
        clauses: defaultdict[str, dict[str, None]] = defaultdict(dict)
        realms: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for (name, realm), reason in self._reasons.items():
            if reason and name in self.lacking_settings:
                of_realms = reason.replace(f"realm.{realm}.", "realm.<realm>.")
                clauses[of_realms][name] = None
                realms[of_realms] |= {realm: None} if of_realms != reason else {}
        must = {clause.id for clause in load_catalogue().must if clause.untested is None}
        unjudged = must - {name for name, _ in self._reasons}
        for (name, _), reason in self._unreached.items():
            if name in unjudged:
                clauses[reason][name] = None
        ordered = sorted(clauses.items(), key=lambda pair: -len(pair[1]))
        return {f"{why} {in_realms(realms[why])}".rstrip(): list(names) for why, names in ordered}


def _unused_files(selection: Selection, target: Target) -> dict[str, int]:
    """How many unused temporary files each realm has whose settings name some."""
    used = UsedUp(selection.reports / USED_UP_FILE if selection.settings else None, target.base_url)
    named = {realm: set(target.realm_settings(realm).temporary_files) for realm in target.realms}
    return {realm: len(files - used.of(realm)) for realm, files in named.items() if files}
