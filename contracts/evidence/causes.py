"""Causes: findings grouped by what they come from, what they stood in the way of, and one wording for all reports."""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final
from urllib.parse import unquote, urlsplit

from contracts.evidence.findings import Cell, Finding, Standing
from contracts.evidence.record import Case, RunRecord, Verdict
from contracts.exchanges import readers
from contracts.exchanges.exchange import Exchange
from contracts.exchanges.redaction import REDACTED
from contracts.exchanges.request_facts import RequestFault, all_faults, read_request
from contracts.interface.catalogue import Clause, matches
from contracts.interface.description import load_description
from contracts.interface.operations import Operation
from contracts.safe_text import many, plain_line

#: What an operation needs → what has to be stored for that.
_RELIES_ON: Final[Mapping[str, frozenset[str]]] = {
    "draft": frozenset({"draft"}),
    "document": frozenset({"draft", "contact", "submission"}),
    "contact": frozenset({"contact"}),
    "record": frozenset({"submission"}),
    "attachment": frozenset({"attachment"}),
}
_FAULTS_TOLD: Final = 2
_ERRORS_TOLD: Final = 3
_LONGEST: Final = 300
_SEEN: Final = 120
_ADDRESS: Final = 160
_OPTION: Final = 40
_STATUS: Final = re.compile(r"(?P<status>[1-5]\d\d)(?:\s+(?P<body>.*))?", re.DOTALL)
_MESSAGE: Final = re.compile(r'"message"\s*:\s*"(?P<text>(?:[^"\\]|\\.)*)"')
#: An expected answer with the text of its message.
_MESSAGE_DUE: Final = re.compile(r"^[1-5]\d\d ['\"]")
#: What an answer to signing in has to hold.
_SIGN_IN: Final = "createToken"
_GIVEN_BY_SIGN_IN: Final = ("authenticationToken", "expiration")
#: Between the steps of a walk, and how many of the last ones a sentence names.
_STEP: Final = " → "
_STEPS_TOLD: Final = 3
#: Standing of a finding → those of the findings that it may follow from.
_FIRM: Final[Mapping[Standing, tuple[Standing, ...]]] = {
    Standing.FAIL: (Standing.FAIL,),
    Standing.ADVISORY: (Standing.FAIL,),
    Standing.DEVIATION: (Standing.FAIL, Standing.DEVIATION),
    Standing.UNCONFIRMED: (Standing.FAIL,),
    Standing.OBSERVED: (),
}
#: How many items a list holds, in a case's words.
_COUNTED: Final = re.compile(r"\d+ items")
#: An answer behind a case's own words.
_QUOTED: Final = re.compile(r": (?=[1-5]\d\d\b)")
#: Identifiers and values, long enough not to stand anywhere by chance.
_WORD: Final = re.compile(r"[\w-]{8,}")
_IDENTIFYING: Final = re.compile(r"[0-9]|\w-\w")
#: What a case says of an answer behind its status, in its own words.
_IN_WORDS: Final = re.compile(r"[a-z][^{\[]*")
#: What a check says of an answer that holds the request's password or token.
_SECRET: Final = "secret of the request"  # noqa: S105 - words
_NUMBER: Final = re.compile(r"\d+")
_NAME: Final = re.compile(r"\w+")
_ROOT: Final = re.compile(r"^.*?/api/v\d+")
#: The member of a document at which it is not what was saved.
_MEMBER: Final = re.compile(r"\bdocument\.(?P<name>[\w-]+)")
#: What a check expects where the request should have been refused.
_REFUSAL: Final = re.compile(r"refused( \(4xx\)|: [\w.$*-]+ (is|breaks|has) .+)?")
_ACCEPTANCE: Final = re.compile(r"accepted( \(2xx\))?")
#: What a check expects where the clause says it all.
_PLAIN: Final = re.compile(rf"{_REFUSAL.pattern}|{_ACCEPTANCE.pattern}")


@dataclass(frozen=True, slots=True)
class Cause:
    """One contradiction of one clause on one operation, in every realm that shows it, with all that follows from it.

    Attributes:
        findings: One for each realm, in the order of the run's realms; the first has the evidence that is shown.
        should: What should be: the clause, in the catalogue's words.
        was: What was, in words.
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
    def headline(self) -> str:
        """What should be, and what was, in one line."""
        return f"{self.should} {self.was}"

    @property
    def place(self) -> str:
        """The operation and the realms."""
        return f"{self.lead.operation or 'the service'} in {', '.join(self.realms)}"

    @property
    def stood_in_the_way(self) -> str:
        """What could not be judged for it, in words; empty where nothing was in its way."""
        if not self.cases:
            return ""
        clauses = f", {many(len(self.clauses), 'clause')}" if self.clauses else ""
        return f"stood in the way of {many(len(self.cases), 'case')}{clauses}"


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
        shown = [_Shown(record, finding) for finding in group]
        made.append((_worded(group, shown[0], clauses.get(group[0].clause)), shown))
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

    def __init__(self, record: RunRecord, finding: Finding) -> None:
        self.finding = finding
        exchanges = [record.exchanges[key] for key in finding.exchanges if key in record.exchanges]
        mine = [exchange for exchange in exchanges if exchange.operation == finding.operation]
        self.exchanges: Sequence[Exchange] = mine or exchanges
        self._keys = {id(record.exchanges[key]): key for key in finding.exchanges if key in record.exchanges}
        self.last = exchanges[-1] if exchanges else None

    @cached_property
    def faults(self) -> tuple[RequestFault, ...]:
        """The faults of the last request of its operation."""
        facts = read_request(self.exchanges[-1], load_description()) if self.exchanges else None
        return all_faults(facts) if facts is not None else ()

    def culprit(self, marks: Iterable[str]) -> tuple[str, Exchange] | None:
        """The exchange of its operation whose answer gives it away, with its key: the last with most of the marks."""
        if not self.exchanges:
            return None
        answer = _STATUS.fullmatch(self.finding.seen.strip())
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
        return [frozenset(name for name, _ in request.query) for request in facts if request is not None]


_Group = tuple[Cause, Sequence[_Shown]]


def _folded(groups: Sequence[_Group]) -> tuple[Cause, ...]:
    """Put causes that only follow from another beneath it; what stands first in the order may hold others."""
    parents: dict[int, int] = {}
    by_operation: dict[str | None, set[int]] = defaultdict(set)
    for number, (_, shows) in enumerate(groups):
        for shown in shows:
            by_operation[shown.finding.operation].add(number)
    # Only what was not stored explains something of another operation.
    lost = {number for number, (_, shows) in enumerate(groups) if any(map(_lost, shows))}
    for number, group in enumerate(groups):
        alike = by_operation[group[0].lead.operation]
        rivals = (
            place
            for place in sorted(alike | lost)
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
    if above.finding.operation != shown.finding.operation:
        return _lost(above) and _misses(shown, above)
    softer = shown.finding.standing is not Standing.FAIL
    same_field = bool(above.fields & shown.fields) and above.taken and shown.taken
    # A service that does not miss a member takes null in its place, too.
    absent = all(fault.kind == "missing" for fault in above.faults)
    null = absent and bool(shown.faults) and all(fault.says.startswith("null ") for fault in shown.faults)
    # Nor does it name the member where others are missing, too.
    due = set(_NAME.findall(shown.finding.expected))
    unnamed = above.taken and absent and bool(above.fields & due)
    if (same_field and (softer or null)) or (softer and unnamed):
        return True
    return _same_words(above.finding, shown.finding) or _needs_fewer_options(above, shown)


def _same_words(above: Finding, other: Finding) -> bool:
    """Whether two clauses are contradicted by the same: an answer that lacks the same, told in the same words."""
    alike = all(
        _NUMBER.sub("#", one) == _NUMBER.sub("#", two)
        for one, two in ((above.expected, other.expected), (above.seen, other.seen))
    )
    return alike and not _PLAIN.fullmatch(above.expected) and above.clause != other.clause


def _lost(above: _Shown) -> bool:
    """Whether a right request to store something was taken, and what it should have left is not there."""
    operation = _operation(above.finding.operation)
    # A check compares an answer; that something is missing afterwards, a case has to look up.
    by_effect = not above.finding.check
    return operation is not None and bool(operation.stores) and by_effect and above.taken and not above.faults


def _misses(shown: _Shown, above: _Shown) -> bool:
    """Whether something was not found, or not done, where what the other operation stores is needed."""
    operation = _operation(shown.finding.operation)
    needed = _relies_on(shown.finding.operation, above.finding.operation)
    listed = (
        operation is not None and operation.answers == "list" and shown.finding.seen.startswith("not there")
    )
    return needed and (shown.refused or listed)


def _needs_fewer_options(above: _Shown, shown: _Shown) -> bool:
    """Whether the first shows with some of the query's parameters what the second shows with more of them."""
    if not (above.taken and shown.taken) or not above.options or not shown.options:
        return False
    few = frozenset[str]().union(*above.options)
    return bool(few) and any(few < names for names in shown.options)


def _worded(group: Sequence[Finding], shown: _Shown, clause: Clause | None) -> Cause:
    finding = group[0]
    faults = _faults_of_clause(shown.faults, clause)
    marks = tuple(_marks(finding, faults, shown.last))
    culprit = shown.culprit(marks)
    return Cause(
        findings=tuple(group),
        should=clause.wording if clause else f"{finding.operation or 'The service'}: {finding.expected}.",
        was=_was(finding, shown.last, faults),
        faults=tuple(map(_fault_in_words, faults)),
        marks=marks,
        culprit=culprit[0] if culprit else "",
        curl=_curl_of(finding, culprit[1]) if culprit else "",
    )


def _curl_of(finding: Finding, culprit: Exchange) -> str:
    """The curl line of an exchange among those of its finding, or the last of them."""
    method = "-I" if culprit.method == "HEAD" else f"-X {culprit.method}"
    start = f"curl -i {method} {shlex.quote(culprit.url)} "
    mine = [line for line in finding.curl if start in f"{line} "]
    return next(reversed(mine or finding.curl), "")


def _faults_of_clause(faults: Sequence[RequestFault], clause: Clause | None) -> tuple[RequestFault, ...]:
    """The faults of a request that its clause speaks of; all of them where it speaks of none."""
    patterns = clause.faults if clause else ()
    of_clause = [fault for fault in faults if any(matches(pattern, fault.key) for pattern in patterns)]
    return tuple(of_clause or faults)[:_FAULTS_TOLD]


def _was(finding: Finding, last: Exchange | None, faults: Sequence[RequestFault]) -> str:
    """Word what was: the answer, what is wrong with the request, and what was expected where that says more."""
    who = finding.operation or "the service"
    answer = _STATUS.fullmatch(finding.seen.strip())
    if answer is None:
        # What a case quotes behind its own words is shown in full with the exchanges.
        words = finding.seen if _STEP in finding.seen else _QUOTED.split(finding.seen)[0]
        seen = plain_line(_last_steps(words), _SEEN) + _behind(finding, words, last)
        return _sentence(f"But {who}{_queried(finding, last)} showed: {seen}; expected: {finding.expected}")
    status, body = answer["status"], answer["body"] or ""
    if last is not None and str(last.status) == status:
        who = last.operation or who
    taken = status.startswith("2")
    message = _MESSAGE.search(body)
    quote = "" if taken else plain_line(message["text"] if message else body, _SEEN)
    if not (taken or quote) and _MESSAGE_DUE.search(finding.expected):
        quote = "without a message"
    errors = _errors_in_words(last, status)
    # Errors that are told in words need not be quoted, too.
    words = (
        f"But {who} was answered {status}{f' ({quote})' if quote and (message or not errors) else ''}{errors}"
    )
    if taken and _IN_WORDS.fullmatch(body):
        quoted = plain_line(body, _SEEN)
        words += f" {quoted}" if quoted.startswith("with") else f" ({quoted})"
    elif taken and who == _SIGN_IN and "…" not in body:
        lacking = [name for name in _GIVEN_BY_SIGN_IN if f'"{name}"' not in body]
        words += f" without {' and '.join(lacking)}" if lacking else ""
    if faults and who == finding.operation:
        words += f", {'though' if taken else 'where'} {' and '.join(map(_fault_in_words, faults))}"
    elif last is not None and (_REFUSAL if taken else _ACCEPTANCE).fullmatch(finding.expected):
        # Nothing but the address says what it was that should not have been taken, or refused.
        words += f" to {last.method} {plain_line(_address(last), _ADDRESS)}"
    if not _PLAIN.fullmatch(finding.expected):
        words += f"; expected: {finding.expected}"
    return _sentence(words)


def _queried(finding: Finding, last: Exchange | None) -> str:
    """The query of a list that shows it, as it is meant; empty where there is none."""
    operation = _operation(finding.operation)
    listing = operation is not None and operation.answers == "list"
    if not listing or last is None or last.operation != finding.operation:
        return ""
    # Each option has its place: a long filter must not hide what stands behind it.
    options = [plain_line(unquote(part), _OPTION) for part in urlsplit(last.url).query.split("&") if part]
    return f" with {' '.join(options)}" if options else ""


def _behind(finding: Finding, words: str, last: Exchange | None) -> str:
    """What the answer says behind a case's own words: how it was refused, or which items a list holds."""
    quoted = _STATUS.fullmatch(finding.seen.removeprefix(f"{words}: ").strip())
    if quoted is not None and not quoted["status"].startswith("2"):
        message = _MESSAGE.search(quoted["body"] or "")
        return f", {quoted['status']}" + (f" ({plain_line(message['text'], _SEEN)})" if message else "")
    if last is None or last.response is None or not _COUNTED.fullmatch(words):
        return ""
    try:
        items = readers.records(last.response) or []
    except readers.Ambiguous:
        return ""
    members = dict.fromkeys(name for item in items for name in item)
    named = {name: [str(item.get(name)) for item in items] for name in members}
    best = max(
        named.values(), key=lambda values: sum(value in finding.expected for value in values), default=[]
    )
    named_in_expected = any(value in finding.expected for value in best)
    return f" ({plain_line(', '.join(best), _SEEN)})" if named_in_expected else ""


def _address(exchange: Exchange) -> str:
    """What stands behind the version in an exchange's address."""
    parts = urlsplit(exchange.url)
    return _ROOT.sub("", parts.path) + (f"?{parts.query}" if parts.query else "")


def _errors_in_words(last: Exchange | None, status: str) -> str:
    """The errors array of a refusal, in words; empty where there is none to tell."""
    if last is None or last.response is None or str(last.status) != status or not status.startswith("4"):
        return ""
    try:
        elements = readers.errors(last.response) or []
    except readers.Ambiguous:
        return ""
    codes = [
        f"{element.get('code')} for {element.get('property')}"
        for element in elements
        if isinstance(element, dict)
    ]
    more = len(codes) - _ERRORS_TOLD
    words = plain_line(", ".join(codes[:_ERRORS_TOLD]), _SEEN)
    return f" with {words}{f' and {more} more' if more > 0 else ''}" if codes else ""


def _last_steps(seen: str) -> str:
    """What was seen after many steps, without those that lie far back."""
    steps = seen.split(_STEP)
    return _STEP.join(["…", *steps[-_STEPS_TOLD:]]) if len(steps) > _STEPS_TOLD else seen


def _fault_in_words(fault: RequestFault) -> str:
    """What is wrong with a request, with the member that it is about."""
    member = fault.key.partition(":")[0].removeprefix("body.")
    named = not fault.in_content or fault.field in fault.says
    return fault.says if named else f"{member}: {fault.says}"


def _sentence(words: str) -> str:
    line = plain_line(words, _LONGEST)
    return line if line.endswith((".", "…")) else f"{line}."


def _marks(finding: Finding, faults: Sequence[RequestFault], last: Exchange | None) -> Iterable[str]:
    """Texts that give it away: what is at fault in the request, and what the answer was judged by."""
    for fault in faults:
        yield from (quoted.removesuffix("…") for quoted in re.findall(r"'([^']{3,})'", fault.says)[:1])
        if fault.in_content and fault.kind != "missing":
            yield f'"{fault.field}"'
    answer = _STATUS.fullmatch(finding.seen.strip())
    if answer is not None:
        yield f"{answer['status']} "
    if _SECRET in finding.seen and last is not None and last.response is not None:
        # What must not be told is not told here either; where it stood is.
        secret_headers = (
            f"{name}: {value}" for name, value in last.response.headers.pairs if REDACTED in value
        )
        yield from list(secret_headers) or [REDACTED]
    yield from (f'"{match["name"]}"' for match in _MEMBER.finditer(finding.seen))
    words = finding.expected if answer else f"{_QUOTED.split(finding.seen)[0]} {finding.expected}"
    yield from dict.fromkeys(word for word in _WORD.findall(words) if _IDENTIFYING.search(word))
