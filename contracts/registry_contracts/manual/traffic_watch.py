"""Watches traffic: takes one exchange after another, and says of each what it shows on either side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final
from urllib.parse import urlsplit

from msgspec import structs

from registry_contracts.checks import errors_array
from registry_contracts.checks.outcomes import Result
from registry_contracts.checks.sequences import (
    SETTLE_SECONDS,
    DraftTracker,
    RecentRecords,
    Step,
    Told,
    site_of,
)
from registry_contracts.checks.table import (
    TABLE,
    Judgement,
    answer_results,
    fault_results,
    universal_results,
)
from registry_contracts.checks.trackers import AttachmentTracker, RecordTracker, SignIns
from registry_contracts.checks.workflow import Row, carries_message, misplaced_messages
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Body, Exchange, Response, in_utf8
from registry_contracts.exchanges.foreign_answers import ForeignAnswers
from registry_contracts.exchanges.redaction import NOT_UNDERSTOOD, TrafficRedactor, redacted
from registry_contracts.exchanges.request_facts import (
    CLOSING_SLASH,
    RequestFacts,
    RequestFault,
    below_root,
    body_schema,
    match_request,
    read_request,
    scheme_fault,
)
from registry_contracts.interface.catalogue import Clause, Level, load_catalogue
from registry_contracts.interface.description import Operation
from registry_contracts.interface.operations import ANY_REALM
from registry_contracts.manual.traffic_findings import BY_HAND, Seen, Side, Standing, Tally, TrafficFinding
from registry_contracts.settings.target import PRODUCTION_REALMS, REALMS

#: What programs send in place of a token that they do not have.
_NO_TOKENS: Final = frozenset({"undefined", "null", "none", "nan", "[object object]", "<access_token>"})
_NO_TOKEN_FAULT: Final = "header.Authorization:unknown-value"  # noqa: S105 - a fault's name
#: A mistake of these kinds in the request around its content is one whatever level the clause has that speaks of it.
_OUTRIGHT: Final = frozenset({"header.Realm:missing", "header.Authorization:missing"})
_NO_TOKEN_SENT: Final = "header.Authorization:missing"  # noqa: S105 - a fault's name
#: Faults of a request that are told without a word of it.
_WITHOUT_QUOTES: Final = frozenset({"missing", "malformed", "empty"})
_UPDATE: Final = "updateContact"
_REFUSED: Final = 400
_LONGEST: Final = 400
#: So many different records with the same contradiction are no accident of another client's writing.
ENOUGH: Final = 3


def mistakes_of(exchange: Exchange, facts: RequestFacts) -> tuple[RequestFault, ...]:
    """The faults of a request that the recording shows for sure.

    Returns:
        Without faults of a body or of headers that were not recorded, without those of a production realm, which the
        document lists as well as the others, and without a closing slash that the service takes.
    """
    faults = [
        fault for fault in facts.faults if exchange.request_body.whole or not fault.key.startswith("body")
    ]
    if not exchange.request_headers:
        # No client sends none: the recording has lost them.
        faults = [fault for fault in faults if not fault.key.startswith("header")]
    if facts.realm in PRODUCTION_REALMS:
        faults = [fault for fault in faults if not fault.key.startswith("header.Realm")]
    if exchange.status is not None and exchange.status < _REFUSED:
        faults = [fault for fault in faults if fault is not CLOSING_SLASH]
    token = (exchange.request_headers.first("Authorization") or "").strip().partition(" ")[2].strip()
    if token.lower() in _NO_TOKENS:
        wording = f"the token is the word {token!r}, which no service ever gave"
        faults.append(RequestFault(_NO_TOKEN_FAULT, wording))
    scheme = scheme_fault(exchange.request_headers)
    return (*faults, scheme) if scheme is not None else tuple(faults)


def request_findings(
    exchange: Exchange, facts: RequestFacts, faults: Iterable[RequestFault]
) -> Iterator[TrafficFinding]:
    """A finding for each fault of a request."""
    for fault in faults:
        clause = load_catalogue().for_fault(facts.operation.id, fault.key)
        expected, seen = _expected(fault, clause), fault.says[:_LONGEST]
        yield _finding(exchange, _standing(fault, clause), clause, expected, seen, fault.key)


def _finding(
    exchange: Exchange,
    standing: Standing,
    clause: Clause | None,
    expected: str,
    seen: str,
    fault: str | None = None,
) -> TrafficFinding:
    """A finding about the request of an exchange where it has a fault, else about the answer."""
    return TrafficFinding(
        side=Side.REQUEST if fault else Side.ANSWER,
        standing=standing,
        clause=clause.id if clause else None,
        level=str(clause.level) if clause else None,
        fault=fault,
        operation=exchange.operation,
        realm=exchange.realm,
        expected=expected,
        seen=seen,
        entries=(exchange.number,),
    )


def _standing(fault: RequestFault, clause: Clause | None) -> Standing:
    """How much a fault weighs: what the document rules out outright decides, what it leaves open is a remark."""
    if fault.key in _OUTRIGHT:
        return Standing.FAULT
    if clause is None or clause.level is Level.SILENT:
        return Standing.REMARK
    return Standing.FAULT if fault.firm and clause.level is Level.MUST else Standing.ADVICE


def _expected(fault: RequestFault, clause: Clause | None) -> str:
    place = fault.key.partition(":")[0]
    if clause is None or clause.level is Level.SILENT:
        return f"{place} as the interface document lists it"
    return f"{place} as {clause.source} of the interface document asks for"


#: Refusals that say nothing about the content of a request.
_ABOUT_SOMETHING_ELSE: Final = frozenset({401, 403, 404, 405, 406, 409, 410, 412, 415, 423, 451})
#: Nothing on the way of traffic shows a body that comes with the answer to HEAD.
_UNSEEN: Final = frozenset({"head-without-body"})
_LONGEST_ANSWER: Final = 600


@dataclass(frozen=True)
class Grounds:
    """What earlier exchanges tell of a request.

    Attributes:
        proven: The same token was seen to work on the same operation, realm and schema.
        right: A sign-in with an e-mail and a password that got a token.
        record_known: The record that it names was seen to be taken.
    """

    proven: bool
    right: bool
    record_known: bool


def judge_answer(
    exchange: Exchange,
    facts: RequestFacts,
    faults: tuple[RequestFault, ...],
    grounds: Grounds,
    knows: Callable[[str], bool],
) -> tuple[list[TrafficFinding], list[str], list[str]]:
    """Judge the answer of an exchange by itself; its operation and realm stand in it.

    Args:
        knows: Whether a text is a real secret of this traffic.

    Returns:
        Findings about the service, clauses that an assertion was reached for and held, and why something could not be
        judged.
    """
    answer = exchange.response
    if answer is None or exchange.fault:
        return [], [], [exchange.fault or "no answer"]
    results, obstacles = list(universal_results(exchange, knows)), list[str]()
    if not answer.body.whole:
        obstacles.append("the body of the answer is not known")
    elif _is_unread(exchange, facts.operation):
        obstacles.append("the body of the request is not known")
    elif not 300 <= answer.status < 400:
        results += _results(exchange, answer, replace(facts, faults=faults), grounds)
        obstacles += Judgement(facts, tuple(results)).obstacles
    judged = Judgement(facts, tuple(results))
    about_token = any(fault.key.startswith("header.Authorization") for fault in faults[:1])
    sure = errors_array.accepted(answer) or grounds.proven or about_token
    findings = [
        of_service(
            result, exchange, firm=sure or TABLE[result.check].universal or TABLE[result.check].of_form
        )
        for result in reversed(judged.findings)
    ]
    if answer.body.whole and answer.status < 500:
        misplaced = misplaced_messages(exchange, facts)
        findings += [of_service(result, exchange, firm=firm) for result, firm in misplaced]
    return findings, [clause for clause in judged.held if clause not in _UNSEEN], obstacles


def _is_unread(exchange: Exchange, operation: Operation) -> bool:
    """Whether the body of a request is not known, and its operation takes JSON."""
    return body_schema(operation.id) is not None and not exchange.request_body.whole


def _results(exchange: Exchange, answer: Response, facts: RequestFacts, grounds: Grounds) -> Iterator[Result]:
    elsewhere = answer.status in _ABOUT_SOMETHING_ELSE and not errors_array.accepted(answer)
    # A refusal for something else than the content holds errors of whatever form.
    of_content = replace(facts, faults=()) if elsewhere else facts
    yield from answer_results(exchange, of_content, right=grounds.right)
    unknown_record = not grounds.record_known and answer.refusal and not readers.errors(answer)
    if facts.faults and not unknown_record and not _explained(exchange, answer, facts):
        yield from fault_results(exchange, facts)


def _explained(exchange: Exchange, answer: Response, facts: RequestFacts) -> bool:
    """Whether a refusal plainly has another reason than the fault that shows."""
    if errors_array.accepted(answer) or answer.status >= 500:
        return False
    fault = facts.faults[0]
    about_token = fault.key.startswith("header.Authorization")
    realm = facts.realm or ""
    rows = [row for row in Row if carries_message(answer, row, realm)]
    if about_token:
        return bool(rows) and Row.ANONYMOUS not in rows
    if rows:
        return fault.in_content or not any(str(row).startswith("workflow-realm") for row in rows)
    return answer.status in _ABOUT_SOMETHING_ELSE and exchange.operation != "createToken"


def of_service(
    result: Result, exchange: Exchange, *, firm: bool, because_of: int | None = None
) -> TrafficFinding:
    """The finding that a check makes which an exchange contradicts.

    Args:
        firm: Nothing but a broken promise explains it; else it is a remark.
        because_of: Number of the earlier exchange that it follows from.
    """
    clause = load_catalogue().clause(result.clause)
    standing = Standing.ADVICE if clause.level is Level.SHOULD else Standing.FAULT
    seen = result.seen[:_LONGEST_ANSWER]
    finding = _finding(exchange, standing if firm else Standing.REMARK, clause, result.expected, seen)
    return structs.replace(finding, operation=result.operation, because_of=because_of)


#: A browser asks with it before it calls; the interface document does not list it.
_PREFLIGHT: Final = "OPTIONS"
_LONGEST_PATH: Final = 300


class Watch:
    """Judges the traffic of any client, live or from an archive; for one thread.

    Args:
        alone: No other client writes to the service meanwhile.
        settle_seconds: How long a change may take to show in a list.

    Attributes:
        tally: Everything that was found so far.
        without_credentials: Sites whose requests have lost their Authorization headers: no request there carries one,
            although protected operations succeed. So does a browser's sanitized export, or a tool that takes
            credentials out.
    """

    def __init__(
        self, redactor: TrafficRedactor, *, alone: bool = False, settle_seconds: float = SETTLE_SECONDS
    ) -> None:
        self.without_credentials: frozenset[str] = frozenset()
        #: Sites and operations where a request without the Content-Type that is listed was taken.
        self._unlabelled: set[tuple[str, str]] = set()
        self._redactor = redactor
        self._sign_ins = SignIns()
        self._trackers = (
            DraftTracker(settle_seconds).take,
            AttachmentTracker(settle_seconds).take,
            RecordTracker().take,
            self._sign_ins.take,
        )
        self._alone = alone
        self._foreign = ForeignAnswers()
        self._subjects: dict[tuple[str, str, str], set[str]] = defaultdict(set)
        self._worked: RecentRecords[bool] = RecentRecords()
        self.tally = Tally()

    def look_through(self, exchanges: Iterable[Exchange]) -> None:
        """Learn what a whole recording shows, before its exchanges are judged one by one."""
        succeeded, with_token = set[str](), set[str]()
        for exchange in exchanges:
            site = site_of(exchange.url)
            matched = match_request(exchange.method, exchange.documented.url)
            if (exchange.request_headers.first("Authorization") or "").strip():
                with_token.add(site)
            elif matched and matched.operation.protected and site not in with_token | succeeded:
                succeeded |= {site} if errors_array.was_taken(exchange) else set()
            if matched:
                self._labelled(exchange, matched.operation)
        self.without_credentials = frozenset(succeeded - with_token)

    def take(self, exchange: Exchange) -> Seen:
        """Take the next exchange.

        Returns:
            What it shows, without secrets.
        """
        judged, findings, held = self._taken(exchange)
        return Seen(redacted(judged, self._redactor), findings, held)

    def count(self, exchange: Exchange) -> None:
        """Take the next exchange, of which nothing is shown."""
        self._taken(exchange)

    def _taken(self, exchange: Exchange) -> tuple[Exchange, tuple[TrafficFinding, ...], tuple[str, ...]]:
        """The exchange as it is judged, the findings without secrets, and the clauses that held."""
        self._redactor.learn_from(exchange)
        judged, facts, held = _readable(exchange), None, list[str]()
        findings: tuple[TrafficFinding, ...] = ()
        # Recorded traffic of any client meets every check: what a check may fail on cannot be listed.
        try:
            facts = read_request(judged)
            judged.operation = facts.operation.id if facts else None
            judged.realm = _shown_realm(facts)
            hidden = self._redactor.withheld(judged) is not judged
            found = self._outside(judged) if facts is None else self._judged(judged, facts, held)
            findings = tuple(self._without_secrets(finding, hidden=hidden) for finding in found)
            if judged.case == BY_HAND:
                findings = tuple(map(_on_purpose, findings))
        except Exception as error:  # noqa: BLE001 - told in the verdict; one exchange must not hide the others
            self.tally.broken(exchange.number, self._redactor.text(f"{type(error).__name__}: {error}"))
        self.tally.add(findings, judged)
        return judged, findings, tuple(dict.fromkeys(held))

    def _outside(self, exchange: Exchange) -> Iterator[TrafficFinding]:
        """What is no operation of the interface; below its paths that is a slip of the client, most likely."""
        path = below_root(exchange.url)
        if exchange.method == _PREFLIGHT:
            self.tally.preflights += 1
        elif path is None:
            self.tally.hosts[urlsplit(exchange.url).hostname or ""] += 1
        else:
            below = self._redactor.text(path)[:_LONGEST_PATH]
            self.tally.unknown(exchange.method, below)
            if exchange.fault is None and exchange.status in (404, 405, 501):
                expected, seen = "an operation of the interface", f"{exchange.method} {below}"
                yield _finding(exchange, Standing.REMARK, None, expected, seen, "path:unknown")

    def _judged(self, exchange: Exchange, facts: RequestFacts, held: list[str]) -> Iterator[TrafficFinding]:
        response, site, operation = exchange.response, site_of(exchange.url), facts.operation
        if operation.id == "createToken":
            self._sign_ins.learn(exchange)
        fault = exchange.fault or self._foreign.take(exchange, site)
        exchange.fault = fault and self._redactor.text(fault)
        who = self._sign_ins.who(exchange)
        schema = str(dict(facts.query).get("schema"))
        same_before = (site, who or "", operation.id, exchange.realm, schema)
        record, updates = _contact_key(exchange, facts), operation.id == _UPDATE
        grounds = Grounds(
            proven=who is not None and self._worked.get(same_before) is not None,
            right=self._sign_ins.signed_in_before(exchange),
            record_known=not updates or self._worked.get(record) is not None,
        )
        faults = mistakes_of(exchange, facts)
        if site in self.without_credentials:
            faults = tuple(fault for fault in faults if fault.key != _NO_TOKEN_SENT)
        findings, held_alone, obstacles = judge_answer(exchange, facts, faults, grounds, self._sign_ins.knows)
        readable = response is None or response.body.whole
        if readable and errors_array.was_taken(exchange):
            known = [*([same_before] if who is not None else []), *([record] if updates else [])]
            for key in known:
                self._worked[key] = True
        own = response if exchange.fault is None and response is not None and response.status < 500 else None
        right = self._labelled(exchange, operation) and not faults and not _is_unread(exchange, operation)
        right = right and readable and own is not None and not 300 <= own.status < 400
        step = Step(exchange, facts, own, site, facts.realm or "", who, right)
        contradictions, held_together = self._of_sequences(step)
        held += [*held_alone, *held_together]
        self.tally.judged(operation.id, exchange.realm, held, obstacles, exchange.fault)
        yield from request_findings(exchange, facts, faults)
        yield from findings
        yield from contradictions

    def _labelled(self, exchange: Exchange, operation: Operation) -> bool:
        """Whether a request has the Content-Type that is listed for it, or one without was taken there before.

        Whether a service minds is not shown: what it refuses may be refused for that.
        """
        key = site_of(exchange.url), operation.id
        if not operation.lists_content_type or exchange.request_headers.first("Content-Type"):
            return True
        if key not in self._unlabelled and errors_array.was_taken(exchange):
            self._unlabelled.add(key)
        return key in self._unlabelled

    def _of_sequences(self, step: Step) -> tuple[list[TrafficFinding], list[str]]:
        """What an exchange contradicts of earlier ones, and the clauses that held."""
        findings, held = [], []
        for told in chain.from_iterable(tracker(step) for tracker in self._trackers):
            if told.held:
                held.append(told.result.clause)
            else:
                findings.append(self._of_sequence(step, told))
        return findings, held

    def _of_sequence(self, step: Step, told: Told) -> TrafficFinding:
        subjects = self._subjects[told.result.clause, step.operation, step.realm]
        if len(subjects) < ENOUGH:
            subjects.add(told.subject)
        firm = self._alone or len(subjects) >= ENOUGH
        return of_service(told.result, step.exchange, firm=firm, because_of=told.because_of)

    def _without_secrets(self, finding: TrafficFinding, *, hidden: bool) -> TrafficFinding:
        quotes = (finding.fault or "").rpartition(":")[2] not in _WITHOUT_QUOTES
        firm = structs.replace(finding, seen=NOT_UNDERSTOOD) if hidden and quotes else finding
        expected, seen = map(self._redactor.text, (firm.expected, firm.seen))
        return structs.replace(firm, expected=expected, seen=seen)


def _on_purpose(finding: TrafficFinding) -> TrafficFinding:
    """A finding of a request by hand: a fault that a person puts in breaks no client."""
    return structs.replace(finding, standing=Standing.REMARK) if finding.side is Side.REQUEST else finding


def _contact_key(exchange: Exchange, facts: RequestFacts) -> tuple[str, ...]:
    return site_of(exchange.url), facts.realm or "", "contact", facts.path.get("uid", "")


def _readable(exchange: Exchange) -> Exchange:
    """The exchange as it is judged: its response unpacked where the recorder left it packed, nothing known in part."""
    response = exchange.response
    if response is not None:
        coding, body = response.headers.first("Content-Encoding"), response.body
        if coding and body.whole and body.content and _looks_packed(body.content):
            body = body.unpacked(coding)
        body = _all_or_nothing(body)
        response = in_utf8(response if body is response.body else replace(response, body=body))
    return replace(exchange, request_body=_all_or_nothing(exchange.request_body), response=response)


def _all_or_nothing(body: Body) -> Body:
    return body if body.whole else Body(size=body.size, whole=False)


def _looks_packed(content: bytes) -> bool:
    """Browsers write bodies unpacked into their archives and keep the header."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return not text.isprintable() and "\x00" in text


def _shown_realm(facts: RequestFacts | None) -> str:
    named = facts.realm if facts else None
    return named if named in REALMS else ANY_REALM
