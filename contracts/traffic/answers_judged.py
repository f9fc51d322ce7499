"""What one answer shows by itself: the service's side of an exchange.

Nobody here knows the accounts, the records or the schemas of whoever sent the request, so a refusal may have reasons
that do not show. What only holds when nothing else is wrong is held against an answer only where the same token was
seen to work on the same operation before, and is a remark otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from contracts.checking.answer_checks import Answers
from contracts.checking.fault_checks import check_faults
from contracts.checking.request_facts import RequestFacts
from contracts.errors import EnvironmentFault
from contracts.interface.catalogue import Catalogue, Level
from contracts.judging import content, rows, universal
from contracts.judging.attempts import Attempt
from contracts.judging.claims import usable
from contracts.judging.outcomes import Blocked, Contradiction, Evidence
from contracts.judging.readers import Ambiguous
from contracts.session.exchange import Answer, Exchange
from contracts.traffic.findings import Side, Standing, TrafficFinding
from contracts.traffic.requests_judged import Mistakes
from contracts.traffic.table import row_faults

#: Refusals that say nothing about the content of a request.
_ABOUT_SOMETHING_ELSE: Final = frozenset({401, 403, 404, 405, 406, 409, 410, 412, 415, 423, 451})
#: Nothing on the way of somebody's traffic shows a body that comes with the answer to HEAD.
_UNSEEN: Final = frozenset({"head-without-body"})
_LONGEST: Final = 600


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
    answer: Answer,
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


def _accepted(answer: Answer) -> bool:
    return answer.success and not content.turned_down(answer)


def _explained(exchange: Exchange, answer: Answer, facts: RequestFacts) -> bool:
    """Whether a refusal plainly has another reason than the fault that shows."""
    if _accepted(answer) or answer.status >= 500:
        return False
    fault = facts.faults[0]
    about_token = fault.key.startswith("header.Authorization")
    realm = facts.realm or ""
    told = [row for row in rows.Row if rows.tells(answer, row, realm)]
    if about_token:
        return bool(told) and rows.Row.ANONYMOUS not in told
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
            seen=evidence.seen[:_LONGEST],
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
