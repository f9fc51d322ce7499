"""Judges traffic, one exchange after another: findings about the client and about the service."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from typing import Final
from urllib.parse import urlsplit

from msgspec import structs

from registry_contracts.checks import errors_array
from registry_contracts.checks.outcomes import CheckOutcome, Result
from registry_contracts.checks.table import (
    TABLE,
    Judgement,
    answer_results,
    fault_results,
    universal_results,
)
from registry_contracts.checks.workflow import Row, carries_message, misplaced_messages
from registry_contracts.evidence.findings import UNWEIGHED, Finding, Reproduce
from registry_contracts.evidence.terms import Terms
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import NO_CONTENT, Body, Exchange, Response, in_utf8
from registry_contracts.exchanges.foreign_answers import ForeignAnswers
from registry_contracts.exchanges.redaction import redacted
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
from registry_contracts.interface.catalogue import Level, load_catalogue
from registry_contracts.interface.description import Operation
from registry_contracts.interface.operations import ANY_REALM
from registry_contracts.model.reference import Reference
from registry_contracts.model.steps import SETTLE_SECONDS, RecentRecords, Step, site_of
from registry_contracts.settings.target import PRODUCTION_REALMS, REALMS
from registry_contracts.traffic.redaction import NOT_UNDERSTOOD, TrafficRedactor
from registry_contracts.traffic.report import BY_HAND, Judged, TrafficReport, fault_of

#: Programs without a token send these.
_NO_TOKENS: Final = frozenset({"undefined", "null", "none", "nan", "[object object]", "<access_token>"})
_NO_TOKEN_SENT: Final = "header.Authorization:missing"  # noqa: S105 - a fault's name
#: Faults of a request that count as a must, whatever the level of their clause.
_OUTRIGHT: Final = frozenset({"header.Realm:missing", _NO_TOKEN_SENT})
#: Faults that are reported without a quote of the request.
_WITHOUT_QUOTES: Final = frozenset({"missing", "malformed", "empty"})
_UPDATE: Final = "updateContact"
_LONGEST_SEEN: Final = 600
_LONGEST_PATH: Final = 300
#: If this many records show the same contradiction, another client's writes do not explain it.
_ENOUGH: Final = 3
#: Refusals for another reason than the content of a request.
_ABOUT_SOMETHING_ELSE: Final = frozenset({401, 403, 404, 405, 406, 409, 410, 412, 415, 423, 451})
#: HTTP libraries drop a body in the answer to HEAD, so recorded traffic cannot show one.
_UNSEEN: Final = frozenset({"head-without-body"})
#: Browsers send it before a call; the interface document does not list it.
_PREFLIGHT: Final = "OPTIONS"


class Judge:
    """Judges the traffic of any client, live or from an archive; not thread-safe.

    Args:
        report: Takes the findings; with `alone`, one contradiction between exchanges is enough.
        settle_seconds: How long a change may take to show in a list.

    Attributes:
        without_credentials: Sites whose requests have lost their Authorization headers: protected operations succeed
            although no request carries one, as in a browser's sanitized export.
    """

    def __init__(
        self, report: TrafficReport, redactor: TrafficRedactor, *, settle_seconds: float = SETTLE_SECONDS
    ) -> None:
        self.report = report
        self.without_credentials: frozenset[str] = frozenset()
        #: Sites and operations that accepted a request without the listed Content-Type.
        self._unlabelled: set[tuple[str, str]] = set()
        self._redactor = redactor
        self._model = Reference(settle_seconds=settle_seconds)
        self._foreign = ForeignAnswers()
        self._subjects: dict[tuple[str, str, str], set[str]] = defaultdict(set)
        #: Accepted requests, by the keys of `_kinds`.
        self._worked: RecentRecords[bool] = RecentRecords()

    def look_through(self, exchanges: Iterable[Exchange]) -> None:
        """Learn from a whole recording, before its exchanges are judged one by one."""
        succeeded, with_token = set[str](), set[str]()
        for exchange in exchanges:
            site = site_of(exchange.url)
            matched = match_request(exchange.method, exchange.documented.url)
            operation = matched[0] if matched else None
            if (exchange.request_headers.first("Authorization") or "").strip():
                with_token.add(site)
            elif operation and operation.protected and site not in with_token | succeeded:
                succeeded |= {site} if errors_array.was_taken(exchange) else set()
            if operation:
                self._labelled(exchange, operation)
        self.without_credentials = frozenset(succeeded - with_token)

    def take(self, exchange: Exchange) -> Judged:
        """Judge the next exchange, and return it without secrets."""
        self._redactor.learn_from(exchange)
        readable, held = _readable(exchange), list[str]()
        findings: tuple[Finding, ...] = ()
        # Traffic of any client may hold anything, so a check may break on it.
        try:
            facts = read_request(readable)
            readable.operation = facts.operation.id if facts else None
            readable.realm = facts.realm if facts and facts.realm in REALMS else ANY_REALM
            hidden = self._redactor.withheld(readable) is not readable
            found = self._outside(readable) if facts is None else self._judged(readable, facts, held)
            findings = tuple(self._without_secrets(finding, hidden=hidden) for finding in found)
        except Exception as error:  # noqa: BLE001 - the verdict reports it; one exchange must not hide the others
            why = self._redactor.text(f"{type(error).__name__}: {error}")
            self.report.add_broken(exchange.number, why)
        judged = Judged(redacted(readable, self._redactor), findings, tuple(dict.fromkeys(held)))
        self.report.add(judged)
        return judged

    def _outside(self, exchange: Exchange) -> Iterator[Finding]:
        """Count a request outside the interface; below its paths it is probably the client's mistake."""
        path = below_root(exchange.url)
        if exchange.method == _PREFLIGHT:
            self.report.counted["preflights"] += 1
        elif path is None:
            self.report.elsewhere[urlsplit(exchange.url).hostname or ""] += 1
        else:
            request = f"{exchange.method} {self._redactor.text(path)[:_LONGEST_PATH]}"
            self.report.add_unknown(request)
            if exchange.fault is None and exchange.status in (404, 405, 501):
                expected, fault = "an operation of the interface", "path:unknown"
                result = Result(fault, "", CheckOutcome.CONTRADICTED, expected, request, check=fault)
                yield _finding(result, exchange, Level.SILENT)

    def _judged(self, exchange: Exchange, facts: RequestFacts, held: list[str]) -> Iterator[Finding]:
        response, site, operation = exchange.response, site_of(exchange.url), facts.operation
        if operation.id == "createToken":
            self._model.tokens.learn(exchange)
        fault = exchange.fault or self._foreign.take(exchange, site)
        exchange.fault = fault and self._redactor.text(fault)
        who = self._model.tokens.who(exchange)
        faults = _mistakes_of(exchange, facts)
        if site in self.without_credentials:
            faults = tuple(fault for fault in faults if fault.key != _NO_TOKEN_SENT)
        facts = replace(facts, faults=faults)
        findings = [*_request_findings(exchange, facts), *self._of_answer(exchange, facts, held)]
        readable = response is None or response.body.whole
        if readable and errors_array.was_taken(exchange):
            for key in filter(None, self._kinds(exchange, facts)):
                self._worked[key] = True
        right = self._labelled(exchange, operation) and not faults and not _is_unread(exchange, operation)
        # The document leaves open what 204 means in answer to a read: empty content, or that nothing is there.
        empty = (
            exchange.status == NO_CONTENT and operation.safe and operation.needs in ("draft", "attachment")
        )
        clear = readable and not empty and not (response is not None and response.redirect)
        step = Step(exchange, facts, who, right and clear, site)
        findings += self._of_sequences(step, held)
        self.report.used[operation.id] += 1
        self.report.realms[exchange.realm] += 1
        if exchange.fault is not None:
            self.report.not_answered[exchange.fault] += 1
        yield from findings

    def _kinds(self, exchange: Exchange, facts: RequestFacts) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return two keys to note an accepted request: its token with this operation, and its contact; () for none."""
        site, operation, who = site_of(exchange.url), facts.operation.id, self._model.tokens.who(exchange)
        schema = str(dict(facts.query).get("schema"))
        token = () if who is None else (site, who, operation, exchange.realm, schema)
        contact = (site, facts.realm or "", "contact", facts.path.get("uid", ""))
        return token, contact if operation == _UPDATE else ()

    def _of_answer(self, exchange: Exchange, facts: RequestFacts, held: list[str]) -> Iterator[Finding]:
        """Judge an answer alone, and yield findings about the service."""
        answer, faults = exchange.response, facts.faults
        if answer is None or exchange.fault:
            return
        results, obstacles = list(universal_results(exchange, self._model.tokens.knows)), list[str]()
        if not answer.body.whole:
            obstacles.append("the body of the answer is not known")
        elif _is_unread(exchange, facts.operation):
            obstacles.append("the body of the request is not known")
        elif not 300 <= answer.status < 400:
            results += self._results(exchange, answer, facts)
        judged = Judgement(facts, tuple(results))
        self.report.judged_in_part.update({*obstacles, *judged.obstacles})
        held += [clause for clause in judged.held if clause not in _UNSEEN]
        about_token = any(fault.key.startswith("header.Authorization") for fault in faults[:1])
        token_works = self._kinds(exchange, facts)[0] in self._worked
        sure = errors_array.accepted(answer) or token_works or about_token
        for result in judged.findings:
            check = TABLE[result.check]
            yield _of_service(result, exchange, firm=sure or check.universal or check.of_form)
        if answer.body.whole and answer.status < 500:
            for result, firm in misplaced_messages(exchange, facts):
                yield _of_service(result, exchange, firm=firm)

    def _results(self, exchange: Exchange, answer: Response, facts: RequestFacts) -> Iterator[Result]:
        elsewhere = answer.status in _ABOUT_SOMETHING_ELSE and not errors_array.accepted(answer)
        # A refusal for another reason than the content may have errors of any form.
        of_content = replace(facts, faults=()) if elsewhere else facts
        yield from answer_results(exchange, of_content, right=self._model.tokens.signed_in_before(exchange))
        contact = self._kinds(exchange, facts)[1]
        known = not contact or contact in self._worked
        unknown_record = not known and answer.refusal and not readers.errors(answer)
        if facts.faults and not unknown_record and not _explained(exchange, answer, facts):
            yield from fault_results(exchange, facts)

    def _labelled(self, exchange: Exchange, operation: Operation) -> bool:
        """Whether a request has the listed Content-Type, or the service has accepted one without it.

        Otherwise the missing header may be the reason for a refusal.
        """
        key = site_of(exchange.url), operation.id
        if not operation.lists_content_type or exchange.request_headers.first("Content-Type"):
            return True
        if key not in self._unlabelled and errors_array.was_taken(exchange):
            self._unlabelled.add(key)
        return key in self._unlabelled

    def _of_sequences(self, step: Step, held: list[str]) -> Iterator[Finding]:
        """Compare an exchange with earlier ones, and yield findings."""
        for shown in self._model.take(step):
            if shown.held:
                held.append(shown.result.clause)
            else:
                subjects = self._subjects[shown.result.clause, step.operation, step.realm]
                if len(subjects) < _ENOUGH:
                    subjects.add(shown.subject)
                firm = self.report.alone or len(subjects) >= _ENOUGH
                yield _of_service(shown.result, step.exchange, firm=firm, because_of=shown.because_of)

    def _without_secrets(self, finding: Finding, *, hidden: bool) -> Finding:
        quotes = fault_of(finding).rpartition(":")[2] not in _WITHOUT_QUOTES
        seen = NOT_UNDERSTOOD if hidden and quotes else finding.seen
        expected, seen = map(self._redactor.text, (finding.expected, seen))
        return structs.replace(finding, expected=expected, seen=seen)


def _mistakes_of(exchange: Exchange, facts: RequestFacts) -> tuple[RequestFault, ...]:
    """Return the faults of a request that the recording proves.

    Left out are faults of unrecorded bodies and headers, of production realms, which the document lists too, and a
    closing slash that the service accepts.
    """
    faults = [
        fault for fault in facts.faults if exchange.request_body.whole or not fault.key.startswith("body")
    ]
    if not exchange.request_headers:
        # Every client sends headers, so the recording has lost them.
        faults = [fault for fault in faults if not fault.key.startswith("header")]
    if facts.realm in PRODUCTION_REALMS:
        faults = [fault for fault in faults if not fault.key.startswith("header.Realm")]
    if exchange.status is not None and exchange.status < 400:
        faults = [fault for fault in faults if fault is not CLOSING_SLASH]
    token = (exchange.request_headers.first("Authorization") or "").strip().partition(" ")[2].strip()
    if token.lower() in _NO_TOKENS:
        wording = f"the token is the word {token!r}, which no service issues"
        faults.append(RequestFault("header.Authorization:unknown-value", wording))
    scheme = scheme_fault(exchange.request_headers)
    return (*faults, scheme) if scheme is not None else tuple(faults)


def _request_findings(exchange: Exchange, facts: RequestFacts) -> Iterator[Finding]:
    """Yield a finding about the client for each fault of its request, unconfirmed for a request from the page."""
    for fault in facts.faults:
        clause = load_catalogue().for_fault(facts.operation.id, fault.key)
        level, asks = Level.SILENT, "the interface document lists it"
        if clause is not None and clause.level is not Level.SILENT:
            level = clause.level if fault.firm else Level.SHOULD
            asks = f"{clause.source} of the interface document asks for"
        if fault.key in _OUTRIGHT:
            level = Level.MUST
        expected = f"{fault.key.partition(':')[0]} as {asks}"
        name = clause.id if clause else fault.key
        operation, against = facts.operation.id, CheckOutcome.CONTRADICTED
        result = Result(name, operation, against, expected, fault.says, check=fault.key)
        yield _finding(result, exchange, level, firm=exchange.case != BY_HAND)


def _of_service(result: Result, exchange: Exchange, *, firm: bool, because_of: int = 0) -> Finding:
    """Make a finding about the service.

    Args:
        firm: Whether only a broken promise explains it.
        because_of: Number of the earlier exchange on which it rests; 0 for none.
    """
    if because_of:
        result = replace(result, expected=f"{result.expected}, because of entry {because_of}")
    return _finding(result, exchange, load_catalogue().clause(result.clause).level, firm=firm)


def _finding(result: Result, exchange: Exchange, level: str, *, firm: bool = True) -> Finding:
    return Finding(
        clause=result.clause,
        realm=exchange.realm,
        operation=result.operation or None,
        role=exchange.role or None,
        expected=result.expected,
        seen=result.seen[:_LONGEST_SEEN],
        confirmed=firm,
        rate=(1, 1),
        exchanges=(exchange.id,),
        check=result.check,
        cases=(exchange.case,),
        reproduce=Reproduce("", ()),
        **UNWEIGHED,
    ).weighed(level, Terms(), date.min)


def _is_unread(exchange: Exchange, operation: Operation) -> bool:
    """Whether the body of a request is unknown, and its operation takes JSON."""
    return body_schema(operation.id) is not None and not exchange.request_body.whole


def _explained(exchange: Exchange, answer: Response, facts: RequestFacts) -> bool:
    """Whether a refusal plainly has another reason than the request's first fault."""
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


def _readable(exchange: Exchange) -> Exchange:
    """Return the exchange as it is judged: packed responses unpacked, partly known bodies unknown."""
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
    """Whether content is packed; browsers unpack bodies in their archives, but keep the header."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return not text.isprintable() and "\x00" in text
