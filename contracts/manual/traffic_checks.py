"""What is wrong with a request by itself: the client's side of an exchange.

The workflow table: a message of it comes with its own status, and does not contradict the request it answers.

What one answer shows by itself: the service's side of an exchange.

Nobody here knows the accounts, the records or the schemas of whoever sent the request, so a refusal may have reasons
that do not show. What only holds when nothing else is wrong is held against an answer only where the same token was
seen to work on the same operation before, and is a remark otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from contracts.checks import errors_array, universal, workflow_errors
from contracts.checks.answers import Answers
from contracts.checks.outcomes import Attempt, Blocked, Contradiction, Evidence, usable
from contracts.checks.requests import RequestFacts, RequestFault, check_faults
from contracts.checks.workflow_errors import Row, tells
from contracts.errors import EnvironmentFault
from contracts.exchanges.exchange import Exchange, Response
from contracts.exchanges.readers import Ambiguous
from contracts.interface.catalogue import Catalogue, Clause, Level
from contracts.interface.description import Operation
from contracts.manual.traffic_findings import Side, Standing, TrafficFinding
from contracts.settings.target import DEVELOPMENT_REALMS, PRODUCTION_REALMS

#: What programs send in place of a token that they do not have.
_NO_TOKENS: Final = frozenset({"undefined", "null", "none", "nan", "[object object]", "<access_token>"})
_NO_TOKEN_FAULT: Final = "header.Authorization:unknown-value"  # noqa: S105 - a fault's name
_REALM_FAULT: Final = "header.Realm:unknown-value"
#: A mistake of these kinds in the request around its content is one whatever level the clause has that speaks of it.
_OUTRIGHT: Final = frozenset({"header.Realm:missing", "header.Authorization:missing"})
_LONGEST: Final = 400


@dataclass(frozen=True)
class Mistakes:
    """The faults of a request, and what can be said of it besides."""

    faults: tuple[RequestFault, ...]
    unread: bool

    @property
    def none(self) -> bool:
        """Whether it keeps the interface, as far as it is known."""
        return not self.faults


def mistakes_of(exchange: Exchange, facts: RequestFacts) -> Mistakes:
    """The faults of a request that the recording shows for sure.

    Returns:
        Without faults of a body that was not recorded, and without those of a production realm, which the document
        lists as well as the others.
    """
    found = [
        fault for fault in facts.faults if exchange.request_body.whole or not fault.key.startswith("body")
    ]
    if facts.realm in PRODUCTION_REALMS:
        found = [fault for fault in found if fault.key != _REALM_FAULT]
    token = (exchange.request_headers.first("Authorization") or "").strip().partition(" ")[2].strip()
    if token.lower() in _NO_TOKENS:
        said = f"the token is the word {token!r}, which no service ever gave"
        found.append(RequestFault(_NO_TOKEN_FAULT, said))
    return Mistakes(tuple(found), unread=not exchange.request_body.whole and _takes_json(facts.operation))


def request_findings(
    exchange: Exchange, facts: RequestFacts, mistakes: Mistakes, catalogue: Catalogue, realm: str
) -> Iterator[TrafficFinding]:
    """A finding for each fault of a request."""
    for fault in mistakes.faults:
        clause = catalogue.for_fault(facts.operation.id, fault.key)
        yield TrafficFinding(
            side=Side.REQUEST,
            standing=_standing(fault, clause),
            clause=clause.id if clause else None,
            level=str(clause.level) if clause else None,
            fault=fault.key,
            operation=facts.operation.id,
            realm=realm,
            expected=_expected(fault, clause),
            seen=fault.says[:_LONGEST],
            entry=exchange.number,
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


def _takes_json(operation: Operation) -> bool:
    return operation.method in ("POST", "PUT") and not operation.id.endswith(("Attachment", "File"))


_WORKFLOW: Final = frozenset(
    {"createWorkflowRecord", "createWorkflowRecordWithIdentifier", "updateWorkflowRecord"}
)
_UNCONFIGURED: Final = re.compile(r"Schema not configured for the given realm\s+(?P<realm>[\w-]+)")
_REALMS: Final = frozenset((*DEVELOPMENT_REALMS, *PRODUCTION_REALMS))
_CREATES: Final = frozenset({"createWorkflowRecord", "createWorkflowRecordWithIdentifier"})


def row_faults(
    exchange: Exchange, facts: RequestFacts, realm: str, entry: int, catalogue: Catalogue
) -> Iterator[TrafficFinding]:
    """Where an answer to a submission contradicts the table of the interface document.

    Args:
        realm: As findings name it.
        entry: Number of the exchange.
    """
    answer = exchange.answer
    if facts.operation.id not in _WORKFLOW or answer.success:
        return
    in_header = "Realm" in exchange.request_headers
    for clause, expected, standing in _contradictions(answer, facts, catalogue, in_header=in_header):
        found = catalogue.clause(clause)
        yield TrafficFinding(
            side=Side.ANSWER,
            standing=standing,
            clause=clause,
            level=str(found.level),
            fault=None,
            operation=facts.operation.id,
            realm=realm,
            expected=expected,
            seen=answer.quote(),
            entry=entry,
        )


def _contradictions(
    answer: Response, facts: RequestFacts, catalogue: Catalogue, *, in_header: bool
) -> Iterator[tuple[str, str, Standing]]:
    named = facts.realm or ""
    told = [row for row in Row if tells(answer, row, named)]
    for row in told:
        clause = catalogue.clause(row)
        if clause.status is not None and answer.status != clause.status:
            yield str(row), f"{clause.status} with this message", Standing.FAULT
    if Row.REALM_MISSING in told and named in DEVELOPMENT_REALMS:
        clause_id = "realm-workflow-realms" if in_header else "realm-query"
        yield clause_id, f"the realm {named} of the request is found", Standing.FAULT
    other = _UNCONFIGURED.search(answer.text)
    if other is not None and named in _REALMS and other["realm"] != named:
        yield str(Row.SCHEMA_UNKNOWN), f"the message names the realm of the request, {named}", Standing.FAULT
    updates = facts.operation.id not in _CREATES
    if Row.TAKEN in told and updates:
        yield str(Row.TAKEN), "an update is not refused because its record exists", Standing.REMARK
    if Row.UNKNOWN in told and not updates:
        yield str(Row.UNKNOWN), "a creation is not refused because its record does not exist", Standing.REMARK


#: Refusals that say nothing about the content of a request.
_ABOUT_SOMETHING_ELSE: Final = frozenset({401, 403, 404, 405, 406, 409, 410, 412, 415, 423, 451})
#: Nothing on the way of somebody's traffic shows a body that comes with the answer to HEAD.
_UNSEEN: Final = frozenset({"head-without-body"})
_LONGEST_ANSWER: Final = 600


@dataclass
class Shown:
    """What one exchange, or a sequence, shows about the service.

    Attributes:
        held: Clauses that an assertion was reached for, and held.
        obstacles: Why something could not be judged.
    """

    findings: list[TrafficFinding] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    obstacles: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Setting:
    """What is known about a request besides itself.

    Attributes:
        realm: As findings name it.
        entry: Number of the exchange.
        proven: The same token was seen to work on the same operation, realm and schema before.
        knows: Whether a text is a real secret of this traffic.
        readable: The answer's body is known.
    """

    realm: str
    entry: int
    proven: bool
    knows: Callable[[str], bool]
    readable: bool


def judge_answer(
    exchange: Exchange, facts: RequestFacts, mistakes: Mistakes, setting: Setting, catalogue: Catalogue
) -> Shown:
    """Judge the answer of an exchange by itself; its operation stands in it."""
    shown = Shown()
    answer = exchange.response
    if answer is None:
        shown.obstacles.append(exchange.fault or "no answer")
        return shown
    attempt = Attempt(1, exchanges=[exchange])
    universal.judge(attempt, catalogue, setting.knows)
    firm = {each.key for each in attempt.evidence}
    if setting.readable and not mistakes.unread and not 300 <= answer.status < 400:
        for check in _checks(exchange, answer, facts, mistakes, catalogue, attempt):
            try:
                check()
            except Contradiction:
                pass  # it stands in the attempt's evidence
            except (Blocked, EnvironmentFault, Ambiguous) as obstacle:
                shown.obstacles.append(str(obstacle))
    elif not setting.readable:
        shown.obstacles.append("the body of the answer is not known")
    elif mistakes.unread:
        shown.obstacles.append("the body of the request is not known")
    about_token = any(fault.key.startswith("header.Authorization") for fault in mistakes.faults[:1])
    sure = _accepted(answer) or setting.proven or about_token
    shown.findings += _findings(attempt, firm, setting, catalogue, sure=sure)
    contradicted = {each.clause for each in attempt.evidence}
    told = (clause for clause, _ in attempt.held if clause not in contradicted | _UNSEEN)
    shown.held += list(dict.fromkeys(told))
    if setting.readable and answer.status < 500:
        shown.findings += row_faults(exchange, facts, setting.realm, setting.entry, catalogue)
    return shown


def _checks(
    exchange: Exchange,
    answer: Response,
    facts: RequestFacts,
    mistakes: Mistakes,
    catalogue: Catalogue,
    attempt: Attempt,
) -> Iterator[Callable[[], None]]:
    usual = replace(facts, faults=mistakes.faults)
    elsewhere = answer.status in _ABOUT_SOMETHING_ELSE
    # A refusal for something else than the content holds errors of whatever form.
    of_content = replace(usual, faults=()) if elsewhere and not _accepted(answer) else usual
    yield from Answers(exchange, of_content, catalogue, attempt).checks()
    if mistakes.faults and not _explained(exchange, answer, usual):
        yield lambda: check_faults(exchange, usual, catalogue, attempt)


def _accepted(answer: Response) -> bool:
    return answer.success and not errors_array.turned_down(answer)


def _explained(exchange: Exchange, answer: Response, facts: RequestFacts) -> bool:
    """Whether a refusal plainly has another reason than the fault that shows."""
    if _accepted(answer) or answer.status >= 500:
        return False
    fault = facts.faults[0]
    about_token = fault.key.startswith("header.Authorization")
    realm = facts.realm or ""
    told = [row for row in workflow_errors.Row if workflow_errors.tells(answer, row, realm)]
    if about_token:
        return bool(told) and workflow_errors.Row.ANONYMOUS not in told
    if told:
        return fault.in_content or not any(str(row).startswith("workflow-realm") for row in told)
    return answer.status in _ABOUT_SOMETHING_ELSE and exchange.operation != "createToken"


def _findings(
    attempt: Attempt, firm: set[tuple[str, str]], setting: Setting, catalogue: Catalogue, *, sure: bool
) -> Iterator[TrafficFinding]:
    for evidence in {each.key: each for each in reversed(attempt.evidence)}.values():
        clause = catalogue.clause(evidence.clause)
        standing = Standing.ADVICE if clause.level is Level.SHOULD else Standing.FAULT
        yield TrafficFinding(
            side=Side.ANSWER,
            standing=standing if sure or evidence.key in firm or _is_form(evidence) else Standing.REMARK,
            clause=clause.id,
            level=str(clause.level),
            fault=None,
            operation=evidence.operation or "",
            realm=setting.realm,
            expected=evidence.expected,
            seen=evidence.seen[:_LONGEST_ANSWER],
            entry=setting.entry,
        )


def _is_form(evidence: Evidence) -> bool:
    """Whether a finding is about the form of an answer, whatever it answers to."""
    return evidence.clause in (
        "json-bodies",
        "json-labelled-json",
        "errors-element-shape",
        "errors-code-known",
    )


def worked(exchange: Exchange) -> bool:
    """Whether an answer shows that the service took the request."""
    try:
        return _accepted(usable(exchange))
    except (Blocked, EnvironmentFault, Ambiguous):
        return False
