"""Causes: findings grouped by what they come from, what they stood in the way of, and one wording for all reports."""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile
from typing import Final

from contracts.evidence.findings import Cell, Finding, Standing
from contracts.evidence.record import Case, RunRecord, Verdict
from contracts.evidence.wording import (
    MEMBER,
    PLAIN,
    STATUS,
    SUCCESSES,
    came_before,
    contrast,
    fault_in_words,
    faults_of_clause,
    marks_of,
    others_refused,
    request_line,
    token_fault,
    was,
)
from contracts.exchanges.exchange import Exchange
from contracts.exchanges.request_facts import RequestFault, read_request
from contracts.interface.catalogue import Clause
from contracts.interface.description import load_description, where_in_words
from contracts.interface.operations import Operation
from contracts.safe_text import many

#: What an operation needs → what has to be stored for that.
_RELIES_ON: Final[Mapping[str, frozenset[str]]] = {
    "draft": frozenset({"draft"}),
    "document": frozenset({"draft", "contact", "submission"}),
    "contact": frozenset({"contact"}),
    "record": frozenset({"submission"}),
    "attachment": frozenset({"attachment"}),
}
#: Standing of a finding → those of the findings that it may follow from.
_FIRM: Final[Mapping[Standing, tuple[Standing, ...]]] = {
    Standing.FAIL: (Standing.FAIL,),
    Standing.ADVISORY: (Standing.FAIL,),
    Standing.DEVIATION: (Standing.FAIL, Standing.DEVIATION),
    Standing.UNCONFIRMED: (Standing.FAIL,),
    Standing.OBSERVED: (),
}
_NUMBER: Final = re.compile(r"\d+")
_NAME: Final = re.compile(r"\w+")
#: The options of lists, and those that take a page out of what the others select.
_OPTION: Final = re.compile(r"\$?\b(filter|orderby|top|skip)\b")
_PAGING: Final = frozenset({"top", "skip"})


@dataclass(frozen=True, slots=True)
class Cause:
    """One contradiction of one clause on one operation, in every realm that shows it, with all that follows from it.

    Attributes:
        findings: One for each realm, in the order of the run's realms; the first has the evidence that is shown.
        should: What should be: the clause, in the catalogue's words.
        was: What was, in words.
        part: What of the clause failed, where it is about more than one operation or does not name the member at fault.
        quote: The sentences of the interface document that the clause rests on, and where they stand there.
        request: The request that gives it away, and what had been done before it, in words.
        contrast: What the same request got without its fault, in words.
        faults: What is wrong with the request that shows it, in words; empty for a right one.
        marks: Texts in the request and the response that give it away.
        culprit: Key of the exchange that gives it away; empty where none was kept.
        curl: The line that sends its request again; empty where there is none.
        follows: Causes that only follow from this one.
        cases: Ids of the cases that it stood in the way of, and those of `follows`.
        clauses: Ids of the clauses that could not be judged for it.
    """

    findings: tuple[Finding, ...]
    should: str
    was: str
    part: str = ""
    quote: str = ""
    request: str = ""
    contrast: str = ""
    faults: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    culprit: str = ""
    curl: str = ""
    follows: tuple[Cause, ...] = ()
    cases: tuple[str, ...] = ()
    clauses: tuple[str, ...] = ()

    @property
    def lead(self) -> Finding:
        """The finding whose evidence is shown."""
        return self.findings[0]

    @property
    def id(self) -> str:
        """The id of the lead."""
        return self.lead.id

    @property
    def realms(self) -> tuple[str, ...]:
        """Realms that show it."""
        return tuple(finding.realm for finding in self.findings)

    @property
    def fails(self) -> bool:
        """Whether it fails the run."""
        return self.lead.fails

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        """Its findings and those that follow from them."""
        return (*self.findings, *(finding for cause in self.follows for finding in cause.findings))

    @property
    def heading(self) -> str:
        """What should be and, of a clause about more than one operation or member, of which of them it was not so."""
        return f"{self.should} Not so: {self.part}." if self.part else self.should

    @property
    def headline(self) -> str:
        """What should be, and what was, in one line."""
        return f"{self.should} {self.was}"

    @property
    def place(self) -> str:
        """The operation and the realms."""
        return f"{self.lead.operation or 'the service'} {where_in_words(self.lead.operation, self.realms)}"

    @property
    def details(self) -> dict[str, str]:
        """What it takes to see why that is wrong, by what it is called."""
        texts = {"document": self.quote, "sent": self.request, "contrast": self.contrast}
        return {name: text for name, text in texts.items() if text}

    @property
    def details_in_words(self) -> list[str]:
        """The details, each with its name."""
        return [f"{name}: {text}" for name, text in self.details.items()]

    @property
    def stood_in_the_way(self) -> str:
        """What could not be judged for it, in words; empty where nothing was in its way."""
        if not self.cases:
            return ""
        clauses = f", {many(len(self.clauses), 'clause')}" if self.clauses else ""
        return (
            f"stood in the way of {many(len(self.cases), 'case')}{clauses}, which could not be judged for it"
        )


def causes_of(
    record: RunRecord, findings: Sequence[Finding], clauses: Mapping[str, Clause]
) -> tuple[Cause, ...]:
    """Group findings by cause.

    Args:
        record: the run, whose exchanges say what follows from what.
        findings: in the order of `merge_findings`.
        clauses: those of the catalogue, by id.

    Returns:
        Causes in the order of their first findings, without what they stood in the way of.
    """
    realms = {realm: place for place, realm in enumerate(record.run.realms)}
    groups: dict[object, list[Finding]] = defaultdict(list)
    for finding in findings:
        place = (finding.clause, finding.operation, finding.standing, finding.counted, finding.accepted)
        groups[place].append(finding)
    made = []
    for group in groups.values():
        group.sort(key=lambda finding: realms.get(finding.realm, len(realms)))
        shown = [_Shown(record, finding, clauses.get(finding.clause)) for finding in group]
        made.append((_worded(record, group, shown[0], clauses.get(group[0].clause)), shown))
    return _folded(made)


def attribute(
    causes: Sequence[Cause], cases: Iterable[Case], cells: Iterable[Cell]
) -> tuple[tuple[Cause, ...], dict[str, str]]:
    """Say of each cause what it stood in the way of.

    Returns:
        The causes, and the id of the finding that stood in the way of each blocked case, by the case's id. A case is
        blocked by a finding on the operation that it got stuck at, else by one on an operation that this relies on.
    """
    owners = {finding.id: number for number, cause in enumerate(causes) for finding in cause.all_findings}
    by_realm: dict[str, list[Finding]] = defaultdict(list)
    for cause in causes:
        for finding in cause.all_findings:
            by_realm[finding.realm].append(finding)
    blocked: dict[str, str] = {}
    for case in cases:
        if case.blocked_by is not None and case.blocked_by.operation:
            realm = case.blocked_by.realm or case.realm
            if blocking := _blocking(case.blocked_by.operation, by_realm[realm]):
                blocked[case.id] = blocking.id
    stuck: dict[int, list[str]] = defaultdict(list)
    for case_id, finding_id in blocked.items():
        stuck[owners[finding_id]].append(case_id)
    touched: dict[int, dict[str, None]] = defaultdict(dict)
    for cell in cells:
        if cell.verdict is Verdict.INCONCLUSIVE:
            for number in {owners[blocked[case]] for case in cell.cases if case in blocked}:
                touched[number][cell.clause.id] = None
    attributed = (
        replace(cause, cases=tuple(stuck[number]), clauses=tuple(touched[number]))
        for number, cause in enumerate(causes)
    )
    return tuple(attributed), blocked


def _blocking(operation: str, findings: Sequence[Finding]) -> Finding | None:
    """The finding in a realm that explains why an operation did not do what a case needed."""
    on_it = next((finding for finding in findings if finding.operation == operation), None)
    if on_it is not None:
        return on_it
    firm = (finding for finding in findings if finding.standing in {Standing.FAIL, Standing.DEVIATION})
    return next((finding for finding in firm if _relies_on(operation, finding.operation)), None)


def _relies_on(operation: str | None, other: str | None) -> bool:
    """Whether an operation needs what another stores, or takes away."""
    one, two = _operation(operation), _operation(other)
    if one is None or two is None or not (two.stores or two.removes):
        return False
    needs = _RELIES_ON.get(one.needs or "", frozenset())
    if one.answers == "list" and one.family == two.family:
        needs |= {two.stores or two.removes or ""}
    return (two.stores or two.removes) in needs


def _operation(name: str | None) -> Operation | None:
    return load_description().operations.get(name or "")


class _Shown:
    """What the exchanges of a finding say of it."""

    def __init__(self, record: RunRecord, finding: Finding, clause: Clause | None) -> None:
        self.finding = finding
        #: Options of a list that the clause speaks of.
        self.about = frozenset(_OPTION.findall(clause.wording if clause else ""))
        exchanges = [record.exchanges[key] for key in finding.exchanges if key in record.exchanges]
        mine = [exchange for exchange in exchanges if exchange.operation == finding.operation]
        self.exchanges: Sequence[Exchange] = mine or exchanges
        self._keys = {id(record.exchanges[key]): key for key in finding.exchanges if key in record.exchanges}
        self.last = exchanges[-1] if exchanges else None
        self._record = record

    @cached_property
    def earlier(self) -> Sequence[Exchange]:
        """What the same try of the case sent before the last exchange."""
        if self.last is None:
            return ()
        last = self.last
        return [
            exchange
            for exchange in takewhile(lambda each: each is not last, self._record.exchanges.values())
            if (exchange.case, exchange.attempt) == (last.case, last.attempt)
        ]

    @cached_property
    def faults(self) -> tuple[RequestFault, ...]:
        """The faults of the last request of its operation."""
        if not self.exchanges:
            return ()
        facts, token = read_request(self.exchanges[-1], load_description()), token_fault(self.exchanges[-1])
        return (*(facts.faults if facts else ()), *([token] if token else []))

    def culprit(self, marks: Iterable[str]) -> tuple[str, Exchange] | None:
        """The exchange of its operation whose answer gives it away, with its key: the last with most of the marks."""
        if not self.exchanges:
            return None
        answer = STATUS.fullmatch(self.finding.seen.strip())
        judged = answer is not None and all(
            str(exchange.status) != answer["status"] for exchange in self.exchanges
        )
        if judged and self.last is not None:
            # What was judged is the answer to another operation, which shows the effect.
            return self._keys[id(self.last)], self.last
        texts = [mark for mark in marks if not mark.strip().isdigit()]

        def named(exchange: Exchange) -> int:
            text = (exchange.response.body.decoded if exchange.response else None) or ""
            return sum(mark in text for mark in texts)

        best = max(reversed(self.exchanges), key=named)
        return self._keys[id(best)], best

    @cached_property
    def status(self) -> int:
        """The status of its answer; 0 for none."""
        return (self.exchanges[-1].status or 0) if self.exchanges else 0

    @property
    def taken(self) -> bool:
        """Whether the answer says that the request was done."""
        return 200 <= self.status < 300

    @property
    def refused(self) -> bool:
        """Whether the answer is a refusal."""
        return 400 <= self.status < 500

    @cached_property
    def fields(self) -> frozenset[str]:
        """Members of the body that are at fault."""
        steps = (fault.key.partition(":")[0].split(".") for fault in self.faults if fault.in_content)
        return frozenset(step[1] for step in steps)

    @cached_property
    def options(self) -> list[frozenset[str]]:
        """Names of the query's parameters, for each exchange."""
        facts = [read_request(exchange, load_description()) for exchange in self.exchanges]
        return [
            frozenset(name.removeprefix("$") for name, _ in request.query)
            for request in facts
            if request is not None
        ]


_Group = tuple[Cause, Sequence[_Shown]]


def _folded(groups: Sequence[_Group]) -> tuple[Cause, ...]:
    """Put causes that only follow from another beneath it; what stands first in the order may hold others."""
    parents: dict[int, int] = {}
    by_operation: dict[str | None, set[int]] = defaultdict(set)
    for number, (_, shows) in enumerate(groups):
        for shown in shows:
            by_operation[shown.finding.operation].add(number)
    # Something of another operation is explained by what was not done, and a should by a must in the same words.
    abroad = {
        number
        for number, (_, shows) in enumerate(groups)
        if any(_undone(shown) or _in_words(shown.finding) for shown in shows)
    }
    for number, group in enumerate(groups):
        alike = by_operation[group[0].lead.operation]
        rivals = (
            place
            for place in sorted(alike | abroad)
            if place != number and place not in parents and _follows(group, groups[place])
        )
        parent = next(rivals, None)
        if parent is not None:
            parents[number] = parent
    held: dict[int, list[Cause]] = defaultdict(list)
    for number, parent in parents.items():
        top = parent
        while top in parents:
            top = parents[top]
        held[top].append(groups[number][0])
    return tuple(
        replace(cause, follows=tuple(held[number]))
        for number, (cause, _) in enumerate(groups)
        if number not in parents
    )


def _follows(group: _Group, other: _Group) -> bool:
    """Whether the first only follows from the second: in each of its realms, by the exchanges that show both."""
    cause, above = group[0], other[0]
    # What fails a run must not disappear beneath what is accepted, or beneath a mere advice.
    alike = above.lead.counted == cause.lead.counted and above.lead.standing in _FIRM[cause.lead.standing]
    if not alike or not set(cause.realms) <= set(above.realms):
        return False
    by_realm = {shown.finding.realm: shown for shown in other[1]}
    return all(_explains(by_realm[shown.finding.realm], shown) for shown in group[1])


def _explains(above: _Shown, shown: _Shown) -> bool:
    if not above.exchanges or not shown.exchanges:
        return False
    softer = shown.finding.standing is not Standing.FAIL
    if above.finding.operation != shown.finding.operation:
        told = softer and _in_words(above.finding) and _same_words(above.finding, shown.finding)
        return told or (_undone(above) and (_misses(shown, above) or _still_finds(shown, above)))
    same_field = bool(above.fields & shown.fields) and above.taken and shown.taken
    # A service that does not miss a member takes null in its place, too.
    absent = all(fault.kind == "missing" for fault in above.faults)
    null = absent and bool(shown.faults) and all(fault.says.startswith("null ") for fault in shown.faults)
    # Nor does it name the member where others are missing, too.
    due = set(_NAME.findall(shown.finding.expected))
    unnamed = above.taken and absent and bool(above.fields & due)
    # A should that is about one value is contradicted by a value that should not be there at all.
    quoted = softer and shown.finding.seen.startswith(f"{above.finding.seen} ") and _in_words(above.finding)
    if (same_field and (softer or null)) or (softer and unnamed) or quoted:
        return True
    return _same_words(above.finding, shown.finding) or _needs_fewer_options(above, shown)


def _same_words(above: Finding, other: Finding) -> bool:
    """Whether two clauses are contradicted by the same: an answer that lacks the same, told in the same words."""
    alike = all(
        _NUMBER.sub("#", one) == _NUMBER.sub("#", two)
        for one, two in ((above.expected, other.expected), (above.seen, other.seen))
    )
    return alike and not PLAIN.fullmatch(above.expected) and above.clause != other.clause


def _in_words(finding: Finding) -> bool:
    """Whether what was seen is told in a case's own words, not by an answer, which may stand for anything."""
    return not STATUS.fullmatch(finding.seen.strip())


def _undone(above: _Shown) -> bool:
    """Whether a right request to store or remove something was taken, and has not had that effect."""
    operation = _operation(above.finding.operation)
    # A check compares an answer; that something is missing or still there afterwards, a case has to look up.
    by_effect = not above.finding.check
    changes = operation is not None and bool(operation.stores or operation.removes)
    return changes and by_effect and above.taken and not above.faults


def _misses(shown: _Shown, above: _Shown) -> bool:
    """Whether something was not found, or not done, where what the other operation stores is needed."""
    operation = _operation(shown.finding.operation)
    needed = _relies_on(shown.finding.operation, above.finding.operation) and _stores(above)
    listed = (
        operation is not None and operation.answers == "list" and shown.finding.seen.startswith("not there")
    )
    return needed and (shown.refused or listed)


def _stores(above: _Shown) -> bool:
    operation = _operation(above.finding.operation)
    return operation is not None and bool(operation.stores)


def _still_finds(shown: _Shown, above: _Shown) -> bool:
    """Whether something was found that the other operation had removed, by its answer in the same try."""
    removed = any(
        exchange.operation == above.finding.operation and exchange.status in SUCCESSES
        for exchange in shown.earlier
    )
    needed = _relies_on(shown.finding.operation, above.finding.operation) and not _stores(above)
    return needed and removed and shown.taken


def _needs_fewer_options(above: _Shown, shown: _Shown) -> bool:
    """Whether the first shows with some of the query's parameters what the second shows with more of them.

    With as many, it is the page that is wrong where one is about pages: what is selected was asked for whole first.
    """
    if not (above.taken and shown.taken) or not above.options or not shown.options:
        return False
    few = frozenset[str]().union(*above.options)
    paged = bool(above.about) and above.about <= _PAGING and bool(shown.about - _PAGING)
    return bool(few) and any(few < names or (paged and above.about <= names) for names in shown.options)


def _worded(record: RunRecord, group: Sequence[Finding], shown: _Shown, clause: Clause | None) -> Cause:
    finding = group[0]
    faults = faults_of_clause(shown.faults, clause)
    marks = tuple(marks_of(finding, faults, shown.last))
    culprit = shown.culprit(marks)
    # Of a case's own words the request tells that shows what they say.
    in_words = culprit is not None and not STATUS.fullmatch(finding.seen.strip())
    telling_exchange = culprit[1] if in_words and culprit is not None else shown.last
    cause = Cause(
        findings=tuple(group),
        should=(clause.title or clause.wording)
        if clause
        else f"{finding.operation or 'The service'}: {finding.expected}.",
        was=was(finding, telling_exchange, faults, shown.earlier),
        part=_part(record, shown, clause, faults),
        quote=f"{clause.quote} ({clause.source})" if clause and clause.quote else "",
        faults=tuple(map(fault_in_words, faults)),
        marks=marks,
    )
    if culprit is None:
        return cause
    key, exchange = culprit
    return replace(
        cause,
        request=" ".join(
            filter(None, (request_line(exchange), came_before(record, finding, exchange, faults)))
        ),
        contrast=contrast(record, finding, exchange, faults),
        culprit=key,
        curl=_curl_of(finding, exchange),
    )


def _part(record: RunRecord, shown: _Shown, clause: Clause | None, faults: Sequence[RequestFault]) -> str:
    """Which operation and member of its clause a finding is about, in words; empty where the clause has but one."""
    if clause is None:
        return ""
    name, among = shown.finding.operation, len(clause.operations)
    members = {match["name"] for match in MEMBER.finditer(shown.finding.seen)}
    if shown.taken and shown.last and others_refused(record, shown.last, faults, clause):
        members |= {fault.key.partition(":")[0].removeprefix("body.") for fault in faults}
    member = "".join(members) if len(members) == 1 else ""
    title = {word.lower() for word in _NAME.findall(clause.title or clause.wording)}
    named = member and title.isdisjoint(_NAME.findall(member.lower()))
    operation = f"{name}, one of {among} operations" if name and among > 1 else ""
    return ", ".join(filter(None, (operation, f"the member {member}" if named else "")))


def _curl_of(finding: Finding, culprit: Exchange) -> str:
    """The curl line of an exchange among those of its finding, or the last of them."""
    method = "-I" if culprit.method == "HEAD" else f"-X {culprit.method}"
    start = f"curl -i {method} {shlex.quote(culprit.url)} "
    mine = [line for line in finding.curl if start in f"{line} "]
    return next(reversed(mine or finding.curl), "")
