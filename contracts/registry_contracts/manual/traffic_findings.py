"""What traffic shows to be wrong and on whose side, added up to the verdict on all of it (design section 3)."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final

from msgspec import Meta, structs

from registry_contracts.evidence.record import ExitCode
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.file_formats import Count, Format, Level
from registry_contracts.interface.catalogue import load_catalogue
from registry_contracts.interface.description import load_description
from registry_contracts.safe_text import many


class Side(StrEnum):
    """Who breaks the interface."""

    REQUEST = "request"
    ANSWER = "answer"


class Standing(StrEnum):
    """How much a finding weighs.

    A fault decides the verdict. Advice contradicts a should, or what the document does not firmly rule out. A remark
    is worth a look: something else than a broken promise could explain it.
    """

    FAULT = "fault"
    ADVICE = "advice"
    REMARK = "remark"


#: Numbers of exchanges that are kept of one finding; the first ones tell most.
NUMBERS: Final = 50
Number = Annotated[int, Meta(ge=1)]


class TrafficFinding(Format, frozen=True, kw_only=True):
    """What one or more exchanges show to be wrong.

    `side`: `request` where the client breaks the interface, `answer` where the service does. `standing`: a fault
    decides the verdict, advice does not, a remark may have another explanation. `clause` is null for a mistake of a
    request that no clause names, `fault` what is wrong with a request, such as `body.firstName:missing`. `realm` is
    `any` where the operation carries none. `entries` are the numbers of the first exchanges, from one; `because_of` is
    the number of the earlier exchange that they contradict. Secrets are out.
    """

    side: Side
    standing: Standing
    clause: str | None
    level: Level | None
    fault: str | None
    operation: str | None
    realm: str
    expected: str
    seen: str
    times: Number = 1
    entries: Annotated[tuple[Number, ...], Meta(min_length=1, max_length=NUMBERS)]
    because_of: int | None = None

    def with_another(self, finding: TrafficFinding) -> TrafficFinding:
        """This finding and another that says the same, in the words of the heavier one."""
        heavier = min((self, finding), key=lambda each: _WEIGHT.index(each.standing))
        entries = (*self.entries, *finding.entries)[:NUMBERS]
        return structs.replace(heavier, times=self.times + finding.times, entries=entries)

    @property
    def rank(self) -> tuple[int, bool, int]:
        """Sort key: what decides first, the service before the client."""
        return _WEIGHT.index(self.standing), self.side is Side.REQUEST, self.entries[0]

    @property
    def decides(self) -> bool:
        """Whether the verdict turns on it."""
        return self.standing is Standing.FAULT

    @property
    def what(self) -> str:
        """The clause, or the fault where no clause speaks of it."""
        return self.clause or self.fault or "request"


#: The case of what a person sends by hand.
BY_HAND: Final = "by hand"
#: How many exchanges a feed remembers.
KEPT: Final = 2000


@dataclass(frozen=True)
class Seen:
    """One exchange that was judged.

    Attributes:
        exchange: Secrets taken out.
        held: Clauses that an assertion was reached for, and held.
    """

    exchange: Exchange
    findings: tuple[TrafficFinding, ...] = ()
    held: tuple[str, ...] = ()

    @property
    def number(self) -> int:
        """Counted from one, in the order of judging."""
        return self.exchange.number

    @property
    def by_hand(self) -> bool:
        """Whether a person sent it from the page, in place of a client."""
        return self.exchange.case == BY_HAND

    @property
    def verdict(self) -> str:
        """What this exchange by itself shows: a run's verdict, or `remark` where that is the heaviest finding."""
        standings = {finding.standing for finding in self.findings}
        if Standing.FAULT in standings:
            return "fail"
        if Standing.ADVICE in standings:
            return "advisory"
        if self.exchange.fault is not None:
            return "inconclusive"
        if standings:
            return str(Standing.REMARK)
        return "pass" if self.held else "untested"


class Feed:
    """Keeps the last exchanges, for any thread; the oldest go first."""

    def __init__(self, kept: int = KEPT) -> None:
        self._last: deque[Seen] = deque(maxlen=kept)
        self._lock = threading.Lock()

    def publish(self, seen: Seen) -> None:
        """Add an exchange."""
        with self._lock:
            self._last.append(seen)

    def since(self, number: int) -> list[Seen]:
        """What is kept of the exchanges after a number, in their order."""
        with self._lock:
            return [seen for seen in self._last if seen.number > number]


#: Different requests that are no operation, and are counted by themselves.
_STRANGERS: Final = 2000
_WEIGHT: Final = (Standing.FAULT, Standing.ADVICE, Standing.REMARK)


class CheckedClause(Format, frozen=True):
    """A clause that an assertion was reached for."""

    id: str
    level: Level
    held: Count
    contradicted: Count


class Tally:
    """What traffic showed so far.

    Attributes:
        exchanges: Exchanges that were taken in.
        by_hand: Those of them that a person sent from the page.
        of_interface: Those that are operations of the interface, by operation.
        realms: Their realms.
        held, contradicted: Assertions by clause.
        faults: What the environment did, with how often.
        obstacles: Why answers were judged in part only, with how often.
        hosts: Requests elsewhere, by host.
        strangers: Requests below the interface's paths that are no operation, as "METHOD path".
        breakages: Where this suite itself broke, the first times.
    """

    def __init__(self) -> None:
        self._findings: dict[tuple[str | None, ...], TrafficFinding] = {}
        self.exchanges = 0
        self.by_hand = 0
        self.of_interface: Counter[str] = Counter()
        self.realms: Counter[str] = Counter()
        self.held: Counter[str] = Counter()
        self.contradicted: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.obstacles: Counter[str] = Counter()
        self.hosts: Counter[str] = Counter()
        self.strangers: Counter[str] = Counter()
        self.preflights = 0
        self.breakages: list[str] = []

    def judged(
        self, operation: str, realm: str, held: Iterable[str], obstacles: Sequence[str], fault: str | None
    ) -> None:
        """Count an exchange of the interface."""
        self.of_interface[operation] += 1
        self.realms[realm] += 1
        self.held.update(held)
        if fault is not None:
            self.faults[fault] += 1
        else:
            self.obstacles.update(set(obstacles))

    def unknown(self, method: str, path: str) -> None:
        """Count a request below the interface's paths that is no operation."""
        if len(self.strangers) < _STRANGERS or f"{method} {path}" in self.strangers:
            self.strangers[f"{method} {path}"] += 1

    def broken(self, number: int, why: str) -> None:
        """Note that judging an exchange broke."""
        if len(self.breakages) < NUMBERS:
            self.breakages.append(f"exchange {number}: {why}")

    def add(self, findings: Iterable[TrafficFinding], exchange: Exchange) -> None:
        """Take in the findings of an exchange."""
        self.exchanges += 1
        self.by_hand += exchange.case == BY_HAND
        for finding in findings:
            if finding.side is Side.ANSWER and finding.clause is not None:
                self.contradicted[finding.clause] += 1
            key = (finding.side, finding.what, finding.fault, finding.operation, finding.realm)
            known = self._findings.get(key)
            self._findings[key] = known.with_another(finding) if known else finding

    @property
    def findings(self) -> list[TrafficFinding]:
        """The findings, those that say the same as one; what decides first."""
        return sorted(self._findings.values(), key=lambda finding: finding.rank)

    @property
    def operations(self) -> dict[str, int]:
        """How often each operation was used, all of them in the order of the description."""
        return {name: self.of_interface[name] for name in load_description().operations}

    @property
    def never(self) -> list[str]:
        """Operations that were not used at all."""
        return [name for name, times in self.operations.items() if not times]

    @property
    def clauses(self) -> list[CheckedClause]:
        """Every clause that was judged."""
        judged = self.held.keys() | self.contradicted.keys()
        return [
            CheckedClause(clause.id, str(clause.level), self.held[clause.id], self.contradicted[clause.id])
            for clause in load_catalogue()
            if clause.id in judged
        ]


@dataclass(frozen=True)
class TrafficVerdict:
    """The end of it.

    Attributes:
        client, service: How many different findings decide, on either side.
        reason: One line, without a full stop.
    """

    exit_code: ExitCode
    reason: str
    client: int
    service: int

    @property
    def word(self) -> str:
        """The verdict's name."""
        return self.exit_code.word


def verdict_of(tally: Tally) -> TrafficVerdict:
    """The verdict on everything that was taken in so far."""
    client, service = (
        [finding for finding in tally.findings if finding.decides and finding.side is side] for side in Side
    )
    used, spoilt = sum(tally.of_interface.values()), sum(tally.faults.values())
    if client or service:
        code, reason = ExitCode.FAIL, _whose(client, service)
    elif tally.breakages:
        code, reason = ExitCode.ERROR, f"the suite broke on {tally.breakages[0]}"
    elif not used:
        code, reason = ExitCode.NOTHING_TESTED, "no request was an operation of the interface"
    elif spoilt == used:
        first = tally.faults.most_common(1)[0][0]
        code, reason = ExitCode.INCONCLUSIVE, f"the environment gave no answer of the service ({first})"
    else:
        exercised = len(tally.operations) - len(tally.never)
        keeps = "keeps" if used == 1 else "keep"
        reason = (
            f"{many(used, 'request')} of {many(exercised, 'operation')} {keeps} the interface, on both sides"
        )
        reason += f"; {many(spoilt, 'answer')} not judged: the environment" if spoilt else ""
        code = ExitCode.PASS
    return TrafficVerdict(code, reason, len(client), len(service))


def _whose(client: Sequence[TrafficFinding], service: Sequence[TrafficFinding]) -> str:
    sides = []
    if service:
        sides.append(f"the service breaks the interface ({_listed(service)})")
    if client:
        sides.append(f"the client breaks the interface ({_listed(client)})")
    return "; ".join(sides)


def _listed(findings: Sequence[TrafficFinding]) -> str:
    names = list(dict.fromkeys(finding.fault or finding.what for finding in findings))
    shown = ", ".join(names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"
