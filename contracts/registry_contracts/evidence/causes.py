"""Causes: findings of one contradiction in several realms as one, in the words that every report uses.

What only follows from another finding stands beneath it, and each cause says what it stood in the way of.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, takewhile
from typing import Annotated, Final, Generic, TypeVar
from urllib.parse import unquote, urlsplit

from msgspec import Meta, structs

from registry_contracts.evidence.cells import Cell
from registry_contracts.evidence.findings import Finding, Standing
from registry_contracts.evidence.record import Block, Case, RunRecord, Verdict
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.exchanges.redaction import REDACTED, TOKEN
from registry_contracts.exchanges.request_facts import RequestFault, read_request
from registry_contracts.exchanges.subjects import EVERYTHING, subject_of, writes
from registry_contracts.exchanges.transcript import curl
from registry_contracts.file_formats import Count, Format, Name, Names
from registry_contracts.interface.catalogue import Clause, matches
from registry_contracts.interface.description import load_description, operations_with, where_in_words
from registry_contracts.interface.operations import Operation
from registry_contracts.safe_text import many, plain_line

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
#: An answer, as what was seen: its status, and more; that of another operation than the finding's is named.
_ANSWER: Final = re.compile(r"(?:(?P<operation>\w+) was answered )?(?P<status>[1-5]\d\d)\b")
#: What is expected where the clause says it all.
_PLAIN: Final = re.compile(r"(accepted|refused)\b")
#: Identifiers and values, long enough not to stand anywhere by chance.
_WORD: Final = re.compile(r"[\w-]{8,}")
_IDENTIFYING: Final = re.compile(r"[0-9]|\w-\w")
_ROOT: Final = re.compile(r"^.*?/api/v\d+")
#: The header of a request with a right token, as exchanges are kept.
_RIGHT: Final = f"Bearer {TOKEN}"
_FAULTS_TOLD: Final = 2
_WRITES_TOLD: Final = 3
_SEEN: Final = 200
_LONGEST: Final = 400


#: A finding in memory, its id in a file.
Member = TypeVar("Member")


class Cause(Format, Generic[Member], frozen=True, kw_only=True):
    """One contradiction of one clause on one operation, in every realm that shows it, with all that follows from it.

    `findings` holds one for each of `realms`; the first, whose `id` it has, has the evidence that is shown. `should`
    and `was` say what should be and what was, `part` which operation of a clause about several, `quote` what the
    interface document says, `request` what was sent, `faults` what is wrong with that. `culprit` is the id of the
    exchange that gives it away, by `marks` in it, and `curl` sends it again. It, and what follows from it, stood in the
    way of `blocked_cases` cases, so that `blocked_clauses` were not judged.
    """

    id: str = ""
    clause: Name
    operation: str | None
    standing: Standing
    counted: bool = True
    realms: Names = ()
    should: str
    was: str
    part: str = ""
    faults: tuple[str, ...] = ()
    quote: str = ""
    request: str = ""
    marks: tuple[str, ...] = ()
    culprit: str = ""
    curl: str = ""
    findings: Annotated[tuple[Member, ...], Meta(min_length=1)]
    follows: tuple[Cause[Member], ...] = ()
    blocked_cases: Count = 0
    blocked_clauses: Names = ()

    @property
    def lead(self) -> Member:
        """The finding whose evidence is shown."""
        return self.findings[0]

    @property
    def fails(self) -> bool:
        """Whether it fails the run."""
        return self.standing is Standing.FAIL and self.counted

    @property
    def all_findings(self) -> tuple[Member, ...]:
        """Its findings and those that follow from them."""
        return (*self.findings, *(finding for cause in self.follows for finding in cause.findings))

    @property
    def heading(self) -> str:
        """What should be and, of a clause about more than one operation, of which of them it was not so."""
        return f"{self.should} Not so: {self.part}." if self.part else self.should

    @property
    def headline(self) -> str:
        """What should be, and what was, in one line."""
        return f"{self.should} {self.was}"

    @property
    def place(self) -> str:
        """The operation and the realms."""
        return f"{self.operation or 'the service'} {where_in_words(self.operation, self.realms)}"

    @property
    def details(self) -> dict[str, str]:
        """What it takes to see why that is wrong, by what it is called."""
        texts = {"document": self.quote, "sent": self.request}
        return {name: text for name, text in texts.items() if text}

    @property
    def details_in_words(self) -> list[str]:
        """The details, each with its name."""
        return [f"{name}: {text}" for name, text in self.details.items()]

    @property
    def stood_in_the_way(self) -> str:
        """What could not be judged for it, in words; empty where nothing was in its way."""
        if not self.blocked_cases:
            return ""
        clauses = f", {many(len(self.blocked_clauses), 'clause')}" if self.blocked_clauses else ""
        return f"stood in the way of {many(self.blocked_cases, 'case')}{clauses}, which could not be judged for it"


def causes_of(
    record: RunRecord, findings: Sequence[Finding], clauses: Mapping[str, Clause]
) -> tuple[Cause[Finding], ...]:
    """Group findings by cause, in their order; what the causes stood in the way of is not said yet.

    Advice on HTTP, which one setting of a server decides, is given once for all its operations.
    """
    realms = {realm: place for place, realm in enumerate(record.run.realms)}
    groups: dict[object, list[Finding]] = defaultdict(list)
    for finding in findings:
        clause = clauses.get(finding.clause)
        once = finding.standing is Standing.ADVISORY and clause is not None and clause.family == "http"
        where = None if once else finding.operation
        groups[finding.clause, where, finding.standing, finding.counted, finding.deviation].append(finding)
    made = []
    for group in groups.values():
        group.sort(key=lambda finding: realms.get(finding.realm, len(realms)))
        clause = clauses.get(group[0].clause)
        shown = [_Shown(record, finding, clause) for finding in group]
        made.append((shown[0].cause(group), shown))
    return _folded(made)


def attribute(
    causes: Sequence[Cause[Finding]], cases: Iterable[Case], cells: Iterable[Cell]
) -> tuple[tuple[Cause[Finding], ...], dict[str, str]]:
    """Say of each cause what it stood in the way of, and of each blocked case the id of the finding in its way.

    That is a finding of the clause that the case relies on, else one on the operation that it got stuck at, else one on
    an operation that this relies on.
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
            if blocking := _blocking(case.blocked_by, by_realm[realm]):
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
        structs.replace(cause, blocked_cases=len(stuck[number]), blocked_clauses=tuple(touched[number]))
        for number, cause in enumerate(causes)
    )
    return tuple(attributed), blocked


def _blocking(block: Block, findings: Sequence[Finding]) -> Finding | None:
    """The finding in a realm that explains why an operation did not do what a case needed."""
    on_it = [finding for finding in findings if finding.operation == block.operation]
    firm = (finding for finding in findings if finding.standing in {Standing.FAIL, Standing.DEVIATION})
    behind = (finding for finding in firm if _relies_on(block.operation, finding.operation))
    named = (finding for finding in on_it if finding.clause == block.clause)
    return next(chain(named, on_it, behind), None)


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
    """A finding with what its exchanges say of it."""

    def __init__(self, record: RunRecord, finding: Finding, clause: Clause | None) -> None:
        self.finding = finding
        self._record, self._clause = record, clause
        self.shown = [record.exchanges[key] for key in finding.exchanges if key in record.exchanges]
        #: Those of its operation; all of them where there are none.
        self.exchanges = [each for each in self.shown if each.operation == finding.operation] or self.shown
        self.last = self.shown[-1] if self.shown else None

    @cached_property
    def faults(self) -> tuple[RequestFault, ...]:
        """The faults of the last request of its operation."""
        if not self.exchanges:
            return ()
        request = self.exchanges[-1]
        facts, token = read_request(request), _token_fault(request)
        return (*(facts.faults if facts else ()), *([token] if token else []))

    @property
    def answered(self) -> int:
        """The hundreds of the status of its answer: 2 for one that was taken, 4 for a refusal, 0 for none."""
        return (self.exchanges[-1].status or 0) // 100 if self.exchanges else 0

    @property
    def fields(self) -> frozenset[str]:
        """Members of the body that are at fault."""
        steps = (fault.key.partition(":")[0].split(".") for fault in self.faults if fault.in_content)
        return frozenset(step[1] for step in steps)

    @cached_property
    def undone(self) -> bool:
        """Whether a right request to store or remove something was taken, and has not had that effect."""
        operation = _operation(self.finding.operation)
        changes = operation is not None and bool(operation.stores or operation.removes)
        # A check compares an answer; that something is missing or still there afterwards, a case has to look up.
        by_effect = not self.finding.check
        return changes and by_effect and self.answered == 2 and not self.faults

    def cause(self, group: Sequence[Finding]) -> Cause[Finding]:
        """The finding and its like in other realms, in words."""
        finding, clause = self.finding, self._clause
        faults = self._faults_of_clause()
        marks = tuple(dict.fromkeys(_marks(finding, faults)))
        culprit = self._culprit(marks)
        whole = f"{finding.operation or 'The service'}: {finding.expected}."
        among, others = len(clause.operations) if clause else 1, len({each.operation for each in group}) - 1
        where = f" and {others} more of {among} operations" if others else f", one of {among} operations"
        cause = Cause(
            id=finding.id,
            clause=finding.clause,
            operation=finding.operation,
            standing=finding.standing,
            counted=finding.counted,
            realms=tuple(dict.fromkeys(each.realm for each in group)),
            findings=tuple(group),
            should=(clause.title or clause.wording) if clause else whole,
            was=_was(finding, faults),
            part=f"{finding.operation}{where}" if finding.operation and among > 1 else "",
            quote=f"{clause.quote} ({clause.source})" if clause and clause.quote else "",
            faults=tuple(map(fault_in_words, faults)),
            marks=marks,
        )
        if culprit is None:
            return cause
        sent = " after ".join(filter(None, (request_line(culprit), self._written_before(culprit))))
        return structs.replace(cause, request=sent, culprit=culprit.id, curl=curl(culprit))

    def _faults_of_clause(self) -> tuple[RequestFault, ...]:
        """The faults that its clause speaks of; all of them where it speaks of none."""
        patterns = self._clause.faults if self._clause else ()
        of_clause = [f for f in self.faults if any(matches(pattern, f.key) for pattern in patterns)]
        return tuple(of_clause or self.faults)[:_FAULTS_TOLD]

    def _culprit(self, marks: Iterable[str]) -> Exchange | None:
        """The exchange whose answer gives it away: the last of its operation with most of the marks.

        Where an answer was judged that none of these gave, it is the last of all, which shows the effect.
        """
        answer = _ANSWER.match(self.finding.seen)
        if answer and answer["operation"]:
            quoted = (each for each in reversed(self.shown) if each.operation == answer["operation"])
            return next((each for each in quoted if str(each.status) == answer["status"]), self.last)
        if answer and all(str(exchange.status) != answer["status"] for exchange in self.exchanges):
            return self.last

        def named(exchange: Exchange) -> int:
            text = (exchange.response.body.decoded if exchange.response else None) or ""
            return sum(mark in text for mark in marks)

        return max(reversed(self.exchanges), key=named, default=None)

    def _written_before(self, last: Exchange) -> str:
        """The writes to what a request is about in the same try, with how each was answered."""
        subject = subject_of(last.url)
        earlier = takewhile(lambda exchange: exchange is not last, self._record.exchanges.values())
        told = [
            f"{exchange.operation} {exchange.status or 'nothing'}"
            for exchange in earlier
            if (exchange.case, exchange.attempt) == (last.case, last.attempt)
            and subject != EVERYTHING
            and writes(exchange.method, exchange.url)
            and subject_of(exchange.url) == subject
        ]
        return ", ".join(told[-_WRITES_TOLD:])


def _was(finding: Finding, faults: Sequence[RequestFault]) -> str:
    """What was, in a sentence: the answer or what a case saw, what is wrong with the request, and what was expected."""
    answer = _ANSWER.match(finding.seen)
    taken = answer is not None and answer["status"].startswith("2")
    # A right answer's body says nothing of what it should not have been.
    seen = finding.seen.partition(" {")[0] if taken else finding.seen
    named = finding.seen.partition(" ")[0] in load_description().operations
    words = (
        "" if named else f"{finding.operation or 'the service'} {'was answered' if answer else 'showed:'} "
    )
    at_fault = " and ".join(map(fault_in_words, faults))
    where = f", {'though' if taken else 'where'} {at_fault}" if at_fault else ""
    line = f"But {words}{plain_line(seen, _SEEN)}{where}; expected: {finding.expected}"
    return f"{plain_line(line, _LONGEST).rstrip('.')}."


def fault_in_words(fault: RequestFault) -> str:
    """What is wrong with a request, with the member that it is about."""
    member = fault.key.partition(":")[0].removeprefix("body.")
    named = not fault.in_content or fault.field in fault.says
    return fault.says if named else f"{member}: {fault.says}"


def _marks(finding: Finding, faults: Sequence[RequestFault]) -> Iterator[str]:
    """Texts that give it away: what is at fault in the request, and what the answer was judged by."""
    for fault in faults:
        yield from (quoted.removesuffix("…") for quoted in re.findall(r"'([^']{3,})'", fault.says)[:1])
        if fault.in_content and fault.kind != "missing":
            yield f'"{fault.field}"'
    if REDACTED in finding.seen or "secret" in finding.seen:
        yield REDACTED
    words = finding.expected if _ANSWER.match(finding.seen) else f"{finding.seen} {finding.expected}"
    yield from (f'"{name}"' for name in re.findall(r"\bdocument\.([\w-]+)", words))
    yield from (word for word in _WORD.findall(words) if _IDENTIFYING.search(word))


def _token_fault(exchange: Exchange) -> RequestFault | None:
    """What is wrong with the token that a request carries, as it is kept; None for a right one, and for none."""
    value = (exchange.authorization or "").strip()
    if not value or value == _RIGHT or exchange.operation not in operations_with(protected=True):
        return None
    says = f"the header Authorization is '{plain_line(value, 80)}', not '{_RIGHT}'"
    return RequestFault("header.Authorization:unknown-value", says)


def request_line(exchange: Exchange) -> str:
    """A request as a person would say it: method, address, and the account whose token it carries, if that is right."""
    who = f" as {exchange.role}" if exchange.role and _token_fault(exchange) is None else ""
    if exchange.operation in operations_with(protected=True) and not exchange.request_headers.get(
        "authorization"
    ):
        who = " without a token"
    parts = urlsplit(exchange.url)
    # A query is told as it is meant, a path as it is sent: what is encoded there may be what it is about.
    query = f"?{unquote(parts.query)}" if parts.query else ""
    return f"{exchange.method} {plain_line(_ROOT.sub('', parts.path) + query, _LONGEST)}{who}"


_Group = tuple[Cause[Finding], Sequence[_Shown]]


def _folded(groups: Sequence[_Group]) -> tuple[Cause[Finding], ...]:
    """Put causes that only follow from another beneath it; what stands first in the order may hold others."""
    parents: dict[int, int] = {}
    for number, group in enumerate(groups):
        for place, other in enumerate(groups):
            # Only what was not done explains findings on other operations.
            undone = any(shown.undone for shown in other[1])
            near = undone or other[0].operation == group[0].operation
            if near and place != number and place not in parents and _follows(group, other):
                parents[number] = place
                break
    held: dict[int, list[Cause[Finding]]] = defaultdict(list)
    for number in parents:
        top = number
        while top in parents:
            top = parents[top]
        held[top].append(groups[number][0])
    return tuple(
        structs.replace(cause, follows=tuple(held[number]))
        for number, (cause, _) in enumerate(groups)
        if number not in parents
    )


def _follows(group: _Group, other: _Group) -> bool:
    """Whether the first only follows from the second: in each of its realms, by the exchanges that show both."""
    cause, above = group[0], other[0]
    # What fails a run must not disappear beneath what is accepted, or beneath a mere advice.
    alike = above.counted == cause.counted and above.standing in _FIRM[cause.standing]
    if not alike or not set(cause.realms) <= set(above.realms):
        return False
    by_realm = {shown.finding.realm: shown for shown in other[1]}
    return all(_explains(by_realm[shown.finding.realm], shown) for shown in group[1])


def _explains(above: _Shown, shown: _Shown) -> bool:
    one, other = above.finding, shown.finding
    if not above.exchanges or not shown.exchanges:
        return False
    if one.operation != other.operation:
        return above.undone and _meets(shown, above)
    # A should that is about one value is contradicted by a value that should not be there at all.
    same_field = bool(above.fields & shown.fields) and above.answered == shown.answered == 2
    quoted = other.seen.startswith(f"{one.seen} ") and not _ANSWER.match(one.seen)
    softer = other.standing is not Standing.FAIL and (same_field or quoted)
    return softer or _same_words(one, other)


def _meets(shown: _Shown, above: _Shown) -> bool:
    """Whether a finding shows what another operation has left undone: nothing is there, or it is there still."""
    if not _relies_on(shown.finding.operation, above.finding.operation):
        return False
    left_out = _operation(above.finding.operation)
    missing = shown.answered == 4 or shown.finding.seen.startswith("not there")
    return missing if left_out is not None and left_out.stores else shown.answered == 2


def _same_words(above: Finding, other: Finding) -> bool:
    """Whether two clauses are contradicted by the same: in the same words, numbers aside, of a case's own."""
    pairs = ((above.expected, other.expected), (above.seen, other.seen))
    alike = all(_NUMBER.sub("#", one) == _NUMBER.sub("#", two) for one, two in pairs)
    return alike and above.clause != other.clause and not _PLAIN.match(above.expected)
