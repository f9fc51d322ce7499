"""What a run will send, before it sends anything: requests, minutes, what stays for good, and what stays untested.

The requests of each case were measured on the faithful sandbox; `contracts.proving.case_requests` writes them down.
"""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from contracts.interface.catalogue import Catalogue, Clause
from contracts.interface.description import operations_with
from contracts.safe_text import many
from contracts.settings.coverage import Coverage
from contracts.settings.target import Target

#: Requests by case, where `*` stands for the realm.
MEASURED: Final = Path(__file__).with_name("case_requests.json")
#: Files above this are counted, in bytes.
LARGE_FILE_BYTES: Final = 1024**2
#: Requests of a case that was never measured, all of one operation that has no name.
_USUAL_REQUESTS: Final = 3
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
def measured() -> Mapping[str, Mapping[str, float]]:
    """Requests of each case in one realm, by operation, and `large_files`: bodies above `LARGE_FILE_BYTES`."""
    content: dict[str, dict[str, float]] = json.loads(MEASURED.read_text(encoding="utf-8"))
    return content


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
    ) -> None:
        self._target = target
        self._catalogue = catalogue
        self._budget = budget
        self._records = {realm: number for realm, number in records.items() if number}
        self._unreached = unreached
        self._requests: defaultdict[tuple[str, str], float] = defaultdict(float)
        self._large = 0.0
        for each in cases:
            if self._can_run(each):
                self._count(each)

    def _can_run(self, case: PlannedCase) -> bool:
        """Whether a case sends anything: one whose clauses all lack a setting does not."""
        clauses = map(self._catalogue.clause, case.clauses)
        return any(
            not any(self._target.missing(need, case.realm) for need in _needs(clause)) for clause in clauses
        )

    def _count(self, case: PlannedCase) -> None:
        known = measured().get(without_realm(case.case), {_UNMEASURED: _USUAL_REQUESTS})
        for name, number in known.items():
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
    def summary(self) -> str:
        """One line, for the beginning of a run."""
        parts = [f"about {many(self.requests, 'request')}{self._pace()}"]
        parts += [f"{many(sum(self._records.values()), 'permanent record')}"]
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
        total = many(sum(self._records.values()), "permanent record")
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
        return sorted(reasons.items(), key=lambda each: -len(each[1]))
