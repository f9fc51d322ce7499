"""Causes: group the findings of one contradiction in all realms, with the texts that every report uses.

A cause that only follows from another is listed below it, and each cause names the cases that it blocked.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, takewhile
from typing import Annotated, Final, Generic, TypeVar
from urllib.parse import unquote, urlsplit

from msgspec import Meta, structs

from registry_contracts.evidence.cells import Cell
from registry_contracts.evidence.findings import Finding, Standing
from registry_contracts.evidence.record import Block, Case, RunRecord, Verdict
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.exchanges.redaction import REDACTED, TOKEN
from registry_contracts.exchanges.request_facts import (
    EVERYTHING,
    RequestFault,
    read_request,
    subject_of,
    writes,
)
from registry_contracts.exchanges.transcript import curl
from registry_contracts.file_formats import Count, Format, Name, Names
from registry_contracts.interface.catalogue import Clause, matches
from registry_contracts.interface.description import load_description, operations_with, where_in_words
from registry_contracts.interface.operations import Operation
from registry_contracts.safe_text import many, plain_line

#: The `needs` of an operation → the kinds of records that satisfy it.
_RELIES_ON: Final[Mapping[str, frozenset[str]]] = {
    "draft": frozenset({"draft"}),
    "document": frozenset({"draft", "contact", "submission"}),
    "contact": frozenset({"contact"}),
    "record": frozenset({"submission"}),
    "attachment": frozenset({"attachment"}),
}
#: Standing of a finding → standings of findings that it may follow from.
_FIRM: Final[Mapping[Standing, tuple[Standing, ...]]] = {
    Standing.FAIL: (Standing.FAIL,),
    Standing.ADVISORY: (Standing.FAIL,),
    Standing.DEVIATION: (Standing.FAIL, Standing.DEVIATION),
    Standing.UNCONFIRMED: (Standing.FAIL,),
    Standing.OBSERVED: (),
}
_NUMBER: Final = re.compile(r"\d+")
#: An answer in the text of what was seen: its status, after the operation if it is not the finding's.
_ANSWER: Final = re.compile(r"(?:(?P<operation>\w+) was answered )?(?P<status>[1-5]\d\d)\b")
#: Expectations that add nothing to the clause.
_PLAIN: Final = re.compile(r"(accepted|refused)\b")
#: Identifiers and values that are too long to appear by chance.
_WORD: Final = re.compile(r"[\w-]{8,}")
_IDENTIFYING: Final = re.compile(r"[0-9]|\w-\w")
_ROOT: Final = re.compile(r"^.*?/api/v\d+")
#: The redacted Authorization header of a request with a correct token.
_RIGHT: Final = f"Bearer {TOKEN}"
#: Most faults of a request, and most earlier writes, that a sentence names.
_MOST_FAULTS: Final = 2
_MOST_WRITES: Final = 3
#: Longest quotation, and longest sentence, in characters.
_SEEN: Final = 200
_LONGEST: Final = 400


#: A finding in memory, or its id in a file.
Member = TypeVar("Member")


class Cause(Format, Generic[Member], frozen=True, kw_only=True):
    """One contradiction of a clause on an operation, in all realms that show it, with the causes that follow from it.

    `findings` has one finding for each of `realms`; the cause has the `id` of the first and shows its evidence.
    `should` is the requirement and `was` the observation, `part` names the operation if the clause is about several,
    `quote` is from the interface document, `request` was sent, and `faults` say what is wrong with it. `culprit` is the
    id of the exchange that shows the contradiction, `marks` are texts to highlight in it, and `curl` repeats it. It and
    what follows from it blocked `blocked_cases` cases, so that `blocked_clauses` were not judged.
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
        """The requirement and, for a clause about several operations, which of them broke it."""
        return f"{self.should} Not so: {self.part}." if self.part else self.should

    @property
    def headline(self) -> str:
        """Requirement and observation in one line."""
        return f"{self.should} {self.was}"

    @property
    def place(self) -> str:
        """The operation and the realms."""
        return f"{self.operation or 'the service'} {where_in_words(self.operation, self.realms)}"

    @property
    def details(self) -> dict[str, str]:
        """Further texts that explain the contradiction, by name."""
        texts = {"document": self.quote, "sent": self.request}
        return {name: text for name, text in texts.items() if text}

    @property
    def details_in_words(self) -> list[str]:
        """The details, each with its name."""
        return [f"{name}: {text}" for name, text in self.details.items()]

    @property
    def blocked_in_words(self) -> str:
        """How many cases and clauses it kept from being judged, as text; empty for none."""
        if not self.blocked_cases:
            return ""
        clauses = f", so that {many(len(self.blocked_clauses), 'clause')} could not be judged"
        return f"blocked {many(self.blocked_cases, 'case')}{clauses if self.blocked_clauses else ''}"


def causes_of(
    record: RunRecord, findings: Sequence[Finding], clauses: Mapping[str, Clause]
) -> tuple[Cause[Finding], ...]:
    """Group findings by cause, in their order; `attribute` adds the blocked cases.

    Advice on HTTP is given once for all operations, since one setting of a server decides it.
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
    """Add the blocked cases and clauses to causes; also return the id of the blocking finding by case.

    The blocking finding is on the clause that the case relies on, else on the operation that failed, else on an
    operation that this one relies on.
    """
    findings = [finding for cause in causes for finding in cause.all_findings]
    blocked: dict[str, str] = {}
    for case in cases:
        if case.blocked_by is not None and case.blocked_by.operation:
            here = [finding for finding in findings if finding.realm == case.realm]
            if blocking := _blocking(case.blocked_by, here):
                blocked[case.id] = blocking.id
    stuck = [cell for cell in cells if cell.verdict is Verdict.INCONCLUSIVE]
    attributed = []
    for cause in causes:
        own = {finding.id for finding in cause.all_findings}
        mine = {case for case, finding in blocked.items() if finding in own}
        clauses = dict.fromkeys(cell.clause.id for cell in stuck if not mine.isdisjoint(cell.cases))
        attributed.append(structs.replace(cause, blocked_cases=len(mine), blocked_clauses=tuple(clauses)))
    return tuple(attributed), blocked


def _blocking(block: Block, findings: Sequence[Finding]) -> Finding | None:
    """The finding in a realm that explains why an operation failed as a precondition."""
    on_it = [finding for finding in findings if finding.operation == block.operation]
    firm = (finding for finding in findings if finding.standing in {Standing.FAIL, Standing.DEVIATION})
    behind = (finding for finding in firm if _relies_on(block.operation, finding.operation))
    named = (finding for finding in on_it if finding.clause == block.clause)
    return next(chain(named, on_it, behind), None)


def _relies_on(operation: str | None, other: str | None) -> bool:
    """Whether an operation needs records that another one stores or removes."""
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
    """A finding with its exchanges and what can be read from them."""

    def __init__(self, record: RunRecord, finding: Finding, clause: Clause | None) -> None:
        self.finding = finding
        self._record, self._clause = record, clause
        self.shown = record.exchanges_of(finding)
        #: The exchanges of its operation, or all if there are none.
        self.exchanges = [each for each in self.shown if each.operation == finding.operation] or [*self.shown]
        last = self.exchanges[-1] if self.exchanges else None
        #: The faults of the last request of its operation.
        self.faults = _faults_of(last) if last else ()
        #: The class of its answer's status: 2 for accepted, 4 for refused, 0 for no answer.
        self.answered = (last.status or 0) // 100 if last else 0

    @property
    def fields(self) -> set[str]:
        """Members of the body that are at fault."""
        return {fault.key.partition(":")[0].split(".")[1] for fault in self.faults if fault.in_content}

    @property
    def undone(self) -> bool:
        """Whether a valid request to store or remove something was accepted without effect."""
        operation = _operation(self.finding.operation)
        changes = operation is not None and bool(operation.stores or operation.removes)
        # A check judges an answer only; a missing effect is found by a case itself.
        return changes and not self.finding.check and self.answered == 2 and not self.faults

    def cause(self, group: Sequence[Finding]) -> Cause[Finding]:
        """The cause of the finding and its group, which holds the same finding in other realms."""
        finding, clause = self.finding, self._clause
        faults = self._faults_of_clause()
        marks = tuple(dict.fromkeys(_marks(finding, faults)))
        culprit = self._culprit(marks)
        among, others = len(clause.operations) if clause else 1, len({each.operation for each in group}) - 1
        where = f" and {others} more of {among} operations" if others else f", one of {among} operations"
        should = f"{finding.operation or 'The service'}: {finding.expected}."
        if clause is not None:
            should = clause.title or clause.wording
        sent = (request_line(culprit), self._written_before(culprit)) if culprit else ()
        return Cause(
            id=finding.id,
            clause=finding.clause,
            operation=finding.operation,
            standing=finding.standing,
            counted=finding.counted,
            realms=tuple(dict.fromkeys(each.realm for each in group)),
            findings=tuple(group),
            should=should,
            was=_was(finding, faults),
            part=f"{finding.operation}{where}" if finding.operation and among > 1 else "",
            quote=f"{clause.quote} ({clause.source})" if clause and clause.quote else "",
            faults=tuple(map(fault_in_words, faults)),
            marks=marks,
            request=" after ".join(filter(None, sent)),
            culprit=culprit.id if culprit else "",
            curl=curl(culprit) if culprit else "",
        )

    def _faults_of_clause(self) -> tuple[RequestFault, ...]:
        """The request's faults that its clause is about, or all if it is about none."""
        patterns = self._clause.faults if self._clause else ()
        of_clause = [f for f in self.faults if any(matches(pattern, f.key) for pattern in patterns)]
        return tuple(of_clause or self.faults)[:_MOST_FAULTS]

    def _culprit(self, marks: Iterable[str]) -> Exchange | None:
        """The exchange that shows the contradiction: of those of its operation the last one with the most marks.

        If none of these gave the answer that the finding quotes, it is the last exchange of all: it shows the effect.
        """
        last = self.shown[-1] if self.shown else None
        answer = _ANSWER.match(self.finding.seen)
        if answer and answer["operation"]:
            quoted = (each for each in reversed(self.shown) if each.operation == answer["operation"])
            return next((each for each in quoted if str(each.status) == answer["status"]), last)
        if answer and all(str(exchange.status) != answer["status"] for exchange in self.exchanges):
            return last

        def named(exchange: Exchange) -> int:
            text = (exchange.response.body.decoded if exchange.response else None) or ""
            return sum(mark in text for mark in marks)

        return max(reversed(self.exchanges), key=named, default=None)

    def _written_before(self, last: Exchange) -> str:
        """The earlier writes to the request's record in the same attempt, with the status of each."""
        subject = subject_of(last.url)
        if subject == EVERYTHING:
            return ""
        earlier = takewhile(lambda exchange: exchange is not last, self._record.exchanges.values())
        earlier_writes = [
            f"{exchange.operation} {exchange.status or 'nothing'}"
            for exchange in earlier
            if (exchange.case, exchange.attempt) == (last.case, last.attempt)
            and writes(exchange.method, exchange.url)
            and subject_of(exchange.url) == subject
        ]
        return ", ".join(earlier_writes[-_MOST_WRITES:])


def _was(finding: Finding, faults: Sequence[RequestFault]) -> str:
    """A sentence on the observation: what was seen, what is wrong with the request, and what was expected."""
    answer = _ANSWER.match(finding.seen)
    taken = answer is not None and answer["status"].startswith("2")
    # The body of an accepting answer does not explain why it is wrong.
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
    """What is wrong with a request, with the member concerned."""
    member = fault.key.partition(":")[0].removeprefix("body.")
    named = not fault.in_content or fault.field in fault.says
    return fault.says if named else f"{member}: {fault.says}"


def _marks(finding: Finding, faults: Sequence[RequestFault]) -> Iterator[str]:
    """Texts to highlight in exchanges: the faulty values of the request, and names in the expectation."""
    for fault in faults:
        yield from (quoted.removesuffix("…") for quoted in re.findall(r"'([^']{3,})'", fault.says)[:1])
        if fault.in_content and fault.kind != "missing":
            yield f'"{fault.field}"'
    if REDACTED in finding.seen or "secret" in finding.seen:
        yield REDACTED
    words = finding.expected if _ANSWER.match(finding.seen) else f"{finding.seen} {finding.expected}"
    yield from (f'"{name}"' for name in re.findall(r"\bdocument\.([\w-]+)", words))
    yield from (word for word in _WORD.findall(words) if _IDENTIFYING.search(word))


def _faults_of(exchange: Exchange) -> tuple[RequestFault, ...]:
    facts, token = read_request(exchange), _token_fault(exchange)
    return (*(facts.faults if facts else ()), *([token] if token else []))


def _token_fault(exchange: Exchange) -> RequestFault | None:
    """What is wrong with a request's (redacted) token; None for a correct one, and for none."""
    value = (exchange.authorization or "").strip()
    if not value or value == _RIGHT or exchange.operation not in operations_with(protected=True):
        return None
    says = f"the header Authorization is '{plain_line(value, 80)}', not '{_RIGHT}'"
    return RequestFault("header.Authorization:unknown-value", says)


def request_line(exchange: Exchange) -> str:
    """A request in one line: method, address, and the account if its token is correct."""
    who = f" as {exchange.role}" if exchange.role and _token_fault(exchange) is None else ""
    protected = exchange.operation in operations_with(protected=True)
    if protected and not exchange.request_headers.get("authorization"):
        who = " without a token"
    parts = urlsplit(exchange.url)
    # The query is decoded, the path is not: its encoding may be the point of the request.
    query = f"?{unquote(parts.query)}" if parts.query else ""
    return f"{exchange.method} {plain_line(_ROOT.sub('', parts.path) + query, _LONGEST)}{who}"


_Group = tuple[Cause[Finding], Sequence[_Shown]]


def _folded(groups: Sequence[_Group]) -> tuple[Cause[Finding], ...]:
    """Put causes that only follow from another one below it; the first that fits takes them."""
    parents: dict[int, int] = {}
    for number, group in enumerate(groups):
        for place, other in enumerate(groups):
            if place != number and place not in parents and _follows(group, other):
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
    """Whether the first cause only follows from the second, in each of its realms."""
    cause, above = group[0], other[0]
    # Only a missing effect explains findings on other operations.
    if cause.operation != above.operation and not any(each.undone for each in other[1]):
        return False
    # A cause that fails the run must not disappear below an accepted or an advisory one.
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
    # A value that must not be there at all also contradicts a SHOULD about that value.
    same_field = bool(above.fields & shown.fields) and above.answered == shown.answered == 2
    quoted = other.seen.startswith(f"{one.seen} ") and not _ANSWER.match(one.seen)
    softer = other.standing is not Standing.FAIL and (same_field or quoted)
    return softer or _same_words(one, other)


def _meets(shown: _Shown, above: _Shown) -> bool:
    """Whether a finding shows another operation's missing effect: a record is missing, or still there."""
    if not _relies_on(shown.finding.operation, above.finding.operation):
        return False
    left_out = _operation(above.finding.operation)
    missing = shown.answered == 4 or shown.finding.seen.startswith("not there")
    return missing if left_out is not None and left_out.stores else shown.answered == 2


def _same_words(above: Finding, other: Finding) -> bool:
    """Whether two findings on different clauses have the same texts, apart from numbers and standard expectations."""
    pairs = ((above.expected, other.expected), (above.seen, other.seen))
    alike = all(_NUMBER.sub("#", one) == _NUMBER.sub("#", two) for one, two in pairs)
    return alike and above.clause != other.clause and not _PLAIN.match(above.expected)
