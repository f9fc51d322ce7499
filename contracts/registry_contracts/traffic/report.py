"""The report on traffic: findings about both sides, counts, verdict, `check.json`, and lines for a terminal."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from msgspec import structs

from registry_contracts.errors import ExitCode, UsageError
from registry_contracts.evidence.findings import Finding, Standing
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.file_formats import (
    Count,
    Format,
    Level,
    Moment,
    Name,
    RunExitCode,
    RunWord,
    one_of,
    plain,
    same_outcome,
    write_file,
)
from registry_contracts.interface.catalogue import load_catalogue
from registry_contracts.interface.description import load_description, where_in_words
from registry_contracts.interface.operations import ANY_REALM
from registry_contracts.safe_text import encodable, listed, many, plain_line
from registry_contracts.settings.target import target_in_words

JSON_NAME: Final = "check.json"
#: The case of requests from the page.
BY_HAND: Final = "by hand"
#: Limits of the names of a count in `check.json`, and of different unknown requests.
_MOST: Final = 200
_MOST_UNKNOWN: Final = 2000
#: Limit of the exchanges that a finding names, and of those on which the suite broke.
_MOST_ENTRIES: Final = 50
_SHOWN: Final = 20
_STANDINGS: Final = list(Standing)


def fault_of(finding: Finding) -> str:
    """The fault of a client's request, as `body.firstName:missing`; empty for a finding about the service."""
    return finding.check if ":" in finding.check else ""


def side_of(finding: Finding) -> str:
    """The side that breaks the interface: `client` or `service`."""
    return "client" if fault_of(finding) else "service"


def level_of(finding: Finding) -> str:
    """The level of a finding's clause; empty if the catalogue has no clause on its fault."""
    known = load_catalogue()
    return str(known.clause(finding.clause).level) if finding.clause in known else ""


def _worst_first(finding: Finding) -> tuple[int, bool]:
    """Sort key: the worst standing first, the service before the client."""
    return _STANDINGS.index(finding.standing), bool(fault_of(finding))


@dataclass(frozen=True)
class Judged:
    """One exchange, its findings, and the clauses that `held`."""

    exchange: Exchange
    findings: tuple[Finding, ...] = ()
    held: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """The verdict on this exchange alone, in a run's words, or the worst standing that decides nothing."""
        standing = min((each.standing for each in self.findings), key=_STANDINGS.index, default="")
        if standing in (Standing.FAIL, Standing.ADVISORY):
            return standing
        if self.exchange.fault is not None:
            return "inconclusive"
        return standing or ("pass" if self.held else "untested")


Counts = dict[str, Count]


class CheckedExchanges(Format, frozen=True, kw_only=True):
    """Counts of exchanges.

    `by_hand`: sent from the page. `not_answered`: faults of the environment, and responses that the service did not
    give. `judged_in_part`: why responses were not judged in full. `no_operation`: requests below the interface's paths
    without an operation; `elsewhere`: to other paths, by host. `unreadable`: entries of the archive without a request.
    """

    all: Count
    by_hand: Count
    of_the_interface: Count
    by_realm: Counts
    not_answered: Counts
    judged_in_part: Counts
    no_operation: Counts
    elsewhere: Counts
    preflights: Count
    unreadable: Count


class CheckedClause(Format, frozen=True):
    """A judged clause, and how often it held and was contradicted."""

    id: str
    level: Level
    held: Count
    contradicted: Count


class CheckedFindings(Format, frozen=True):
    """The findings about either side, the worst first.

    They have the form of a run's findings. `exchanges` are the first entries that show a finding, and `rate` counts all
    of them. `check` of a client's finding is the fault of the request, such as `body.firstName:missing`, and so is
    `clause` if no clause covers the fault. `reproduce` is empty, since a recording may hold personal data.
    """

    service: tuple[Finding, ...]
    client: tuple[Finding, ...]


class CheckFile(Format, frozen=True, kw_only=True):
    """What traffic showed about the interface, from an archive or through the proxy.

    `alone`: nothing else wrote to the service meanwhile, so that sequences decide. `breaks`: the number of different
    deciding findings, by side. `operations` counts requests by operation.
    """

    format: Literal[3] = 3
    kind: Annotated[str, one_of("archive", "proxy")]
    verdict: RunWord
    exit_code: RunExitCode
    reason: Name
    breaks: Counts
    source: str | None
    target: dict[str, str | None]
    started: Moment | None
    finished: Moment | None
    alone: bool
    exchanges: CheckedExchanges
    findings: CheckedFindings
    operations: Counts
    clauses: tuple[CheckedClause, ...]
    notes: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse a verdict with the wrong exit code."""
        same_outcome(self.verdict, self.exit_code)


_STANDINGS_IN_WORDS: Final = {
    Standing.FAIL: "breaks the interface",
    Standing.ADVISORY: "does something else than it should",
    Standing.UNCONFIRMED: "may break the interface; something else could explain it",
    Standing.OBSERVED: "does something about which the document is silent",
}


@dataclass
class TrafficReport:
    """The results so far.

    Attributes:
        kind: `archive` or `proxy`.
        source: Name of the archive; None for a proxy.
        target, base_url: The service, if known; of an archive only requests below that address are judged.
        started, finished: ISO 8601; None if unknown.
        alone: Whether no other client wrote to the service meanwhile.
        notes: Remarks for people, a line each.
        counted: Exchanges by the members of `CheckedExchanges` that are plain numbers.
        held, contradicted: How often each clause held and was contradicted.
        broken: The first exchanges on which this suite itself broke.
    """

    kind: str = "archive"
    source: str | None = None
    target: str | None = None
    base_url: str | None = None
    started: str | None = None
    finished: str | None = None
    alone: bool = False
    notes: tuple[str, ...] = ()
    counted: Counter[str] = field(default_factory=Counter)
    used: Counter[str] = field(default_factory=Counter)
    realms: Counter[str] = field(default_factory=Counter)
    held: Counter[str] = field(default_factory=Counter)
    contradicted: Counter[str] = field(default_factory=Counter)
    not_answered: Counter[str] = field(default_factory=Counter)
    judged_in_part: Counter[str] = field(default_factory=Counter)
    no_operation: Counter[str] = field(default_factory=Counter)
    elsewhere: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    _findings: dict[tuple[str, str], Finding] = field(default_factory=dict)

    def add(self, judged: Judged) -> None:
        """Add an exchange."""
        self.counted["all"] += 1
        self.counted["by_hand"] += judged.exchange.case == BY_HAND
        self.held.update(judged.held)
        for finding in judged.findings:
            key = finding.id, fault_of(finding)
            if not key[1]:
                self.contradicted[finding.clause] += 1
            known = self._findings.get(key)
            self._findings[key] = _together(known, finding) if known else finding

    def add_unknown(self, request: str) -> None:
        """Count a request below the interface's paths without an operation, as "METHOD path"."""
        if len(self.no_operation) < _MOST_UNKNOWN or request in self.no_operation:
            self.no_operation[request] += 1

    def add_broken(self, number: int, why: str) -> None:
        """Note that the suite broke on an exchange."""
        if len(self.broken) < _MOST_ENTRIES:
            self.broken.append(f"exchange {number}: {why}")

    @property
    def findings(self) -> list[Finding]:
        """The findings, equal ones merged, the worst first."""
        return sorted(self._findings.values(), key=_worst_first)

    def _of(self, side: str, *, failing: bool = False) -> tuple[Finding, ...]:
        found = (each for each in self.findings if side_of(each) == side)
        return tuple(each for each in found if each.fails or not failing)

    @property
    def operations(self) -> dict[str, int]:
        """The number of requests of each operation, in the order of the description."""
        return {name: self.used[name] for name in load_description().operations}

    @property
    def exercised(self) -> dict[str, int]:
        """The operations with a request."""
        return {name: times for name, times in self.operations.items() if times}

    @property
    def verdict(self) -> tuple[ExitCode, str]:
        """The exit code for all exchanges so far, and its reason on one line without a full stop."""
        failing = [
            f"the {side} breaks the interface ({listed(names)})"
            for side in ("service", "client")
            if (names := list(dict.fromkeys(map(_name, self._of(side, failing=True)))))
        ]
        used, spoilt = self.used.total(), self.not_answered.total()
        if failing:
            return ExitCode.FAIL, "; ".join(failing)
        if self.broken:
            return ExitCode.ERROR, f"the suite broke on {self.broken[0]}"
        if not used:
            return ExitCode.NOTHING_TESTED, "no request was an operation of the interface"
        if spoilt == used:
            fault = self.not_answered.most_common(1)[0][0]
            return ExitCode.INCONCLUSIVE, f"the environment gave no answer of the service ({fault})"
        operations = many(len(self.exercised), "operation")
        kept = f"{many(used, 'request')} of {operations} {'keeps' if used == 1 else 'keep'} the interface"
        unanswered = f"; {many(spoilt, 'answer')} not judged: the environment" if spoilt else ""
        doubtful = sum(each.standing is Standing.UNCONFIRMED for each in self.findings)
        unconfirmed = f", as far as is confirmed; {many(doubtful, 'finding')} not confirmed"
        doubts = unconfirmed if doubtful else ", on both sides"
        return ExitCode.PASS, f"{kept}{doubts}{unanswered}"

    def content(self) -> CheckFile:
        """Return the content of `check.json`."""
        code, reason = self.verdict
        judged = self.held.keys() | self.contradicted.keys()
        return CheckFile(
            kind=self.kind,
            verdict=code.word,
            exit_code=int(code),
            reason=reason,
            breaks={side: len(self._of(side, failing=True)) for side in ("client", "service")},
            source=self.source,
            target={"name": self.target, "base_url": self.base_url},
            started=self.started,
            finished=self.finished,
            alone=self.alone,
            exchanges=CheckedExchanges(
                all=self.counted["all"],
                by_hand=self.counted["by_hand"],
                of_the_interface=self.used.total(),
                by_realm=dict(self.realms),
                not_answered=dict(self.not_answered.most_common(_MOST)),
                judged_in_part=dict(self.judged_in_part.most_common(_MOST)),
                no_operation=dict(self.no_operation.most_common(_MOST)),
                elsewhere=dict(self.elsewhere.most_common(_MOST)),
                preflights=self.counted["preflights"],
                unreadable=self.counted["unreadable"],
            ),
            findings=CheckedFindings(self._of("service"), self._of("client")),
            operations=self.operations,
            clauses=tuple(
                CheckedClause(
                    clause.id, str(clause.level), self.held[clause.id], self.contradicted[clause.id]
                )
                for clause in load_catalogue()
                if clause.id in judged
            ),
            notes=(*self.notes, *(f"the suite broke on {each}" for each in self.broken)),
        )

    def write(self, folder: Path) -> dict[str, Any]:
        """Write `check.json`, and return its content.

        Raises:
            UsageError: the file cannot be written.
            SuiteError: the content does not fit its own schema.
        """
        content: dict[str, Any] = encodable(plain(self.content()))
        try:
            write_file(folder / JSON_NAME, content, CheckFile)
        except OSError as error:
            why = f"cannot write the report to '{folder}': {error.strerror}; choose another --reports"
            raise UsageError(why) from None
        return content

    def lines(self) -> Iterator[str]:
        """Yield the findings, the worst first, then the coverage and what could not be judged."""
        shown = Counter[str]()
        for finding in self.findings:
            heading = f"the {side_of(finding)} {_STANDINGS_IN_WORDS[finding.standing]}:"
            if not shown[heading]:
                yield heading
            shown[heading] += 1
            if shown[heading] <= _SHOWN:
                yield from _lines_of(finding)
            elif shown[heading] == _SHOWN + 1:
                yield f"  and more; {JSON_NAME} holds all of them"
        if not shown:
            yield "no findings"
        yield ""
        yield from self._coverage()
        yield from self.notes

    def _coverage(self) -> Iterator[str]:
        if used := [f"{name} {times}" for name, times in self.exercised.items()]:
            yield f"exercised    {many(len(used), 'operation')}: {', '.join(used)}"
        if never := [name for name in self.operations if name not in self.exercised]:
            yield f"never        {many(len(never), 'operation')}: {', '.join(never)}"
        if held := [str(clause.level) for clause in load_catalogue() if self.held[clause.id]]:
            yield f"clauses      {len(held)} were judged and held at least once, {held.count('must')} of them must"
        if by_hand := self.counted["by_hand"]:
            yield f"by hand      {many(by_hand, 'exchange')} from the page, whose own faults do not count"
        for what, counts in (
            ("not judged", self.not_answered),
            ("in part", self.judged_in_part),
            ("no operation", self.no_operation),
            ("elsewhere", self.elsewhere),
        ):
            if counts:
                names = plain_line(listed(f"{name} ({times})" for name, times in counts.most_common()))
                yield f"{what:<12} {many(counts.total(), 'exchange')}: {names}"
        if preflights := self.counted["preflights"]:
            yield f"left out     {many(preflights, 'request')} with OPTIONS, which browsers send by themselves"
        if self.broken:
            number = many(len(self.broken), "exchange")
            yield f"broken       {number}, the suite broke: {plain_line(self.broken[0])}"
        if unreadable := self.counted["unreadable"]:
            yield f"left out     {many(unreadable, 'line')} of the archive without a web request"

    @property
    def verdict_line(self) -> str:
        """The last line."""
        code, reason = self.verdict
        address = self.base_url or "every address in the recording"
        service = target_in_words(self.target, address) if self.target else address
        return (
            f"verdict: {code.word} ({int(code)}): {plain_line(reason, 400)} (target: {plain_line(service)})"
        )

    def consumer_toml(self) -> str:
        """Return a consumer file with the used operations, of which there is at least one."""
        width = max(map(len, self.exercised)) + len('"",')
        lines = [f"# What {plain_line(self.source or '')} uses of the interface.", "operations = ["]
        lines += [
            f"    {json.dumps(name) + ',':<{width}}  # {times}" for name, times in self.exercised.items()
        ]
        lines.append("]")
        realms = [f"{name} ({times})" for name, times in self.realms.items() if name != ANY_REALM]
        if realms:
            lines += ["", f"# Realms seen: {', '.join(realms)}. To gate some only, name development realms:"]
            lines.append('# realms = ["abs-dev"]')
        return "\n".join(lines) + "\n"


def _together(known: Finding, finding: Finding) -> Finding:
    """Merge two equal findings, in the words of the worse."""
    times = known.rate[0] + 1
    return structs.replace(
        min(known, finding, key=_worst_first),
        rate=(times, times),
        exchanges=(*known.exchanges, *finding.exchanges)[:_MOST_ENTRIES],
        cases=tuple(dict.fromkeys((*known.cases, *finding.cases))),
    )


def _name(finding: Finding) -> str:
    return fault_of(finding) or finding.clause


def _lines_of(finding: Finding) -> Iterator[str]:
    numbers = [each.rpartition(" ")[2] for each in finding.exchanges[:5]]
    more = f" and {finding.rate[0] - 5} more" if finding.rate[0] > 5 else ""
    entries = f"{'entry' if len(numbers) == 1 else 'entries'} {', '.join(numbers)}{more}"
    where = where_in_words(finding.operation, [finding.realm])
    place = f"{finding.operation} {where}" if finding.operation else "no operation"
    fault, level = fault_of(finding), f" ({level_of(finding)})" if level_of(finding) else ""
    clause = f"clause {finding.clause}{level}, " if fault and level else ""
    yield f"  {fault or finding.clause + level}: {place}, {clause}{entries}"
    if not fault:
        yield f"    expected  {plain_line(finding.expected)}"
    yield f"    seen      {plain_line(finding.seen)}"


def one_line(finding: Finding) -> str:
    """Return a finding as one line, to be printed while traffic passes."""
    lines = "; ".join(map(plain_line, _lines_of(finding)))
    return plain_line(f"{side_of(finding)} ({finding.standing}): {lines}", 240)
