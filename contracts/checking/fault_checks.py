"""What an answer to a faulty request is held to: the one fault has to be turned down, as its clause says."""

from __future__ import annotations

from collections.abc import Iterator

from contracts.checking.request_facts import Credentials, RequestFacts
from contracts.checking.request_faults import RequestFault
from contracts.interface.catalogue import Catalogue, Clause, Level
from contracts.judging import content
from contracts.judging.attempts import Attempt, Observation
from contracts.judging.claims import Claim, usable
from contracts.judging.outcomes import Contradiction
from contracts.session.exchange import Exchange
from contracts.target.model import AUTHOR

_NEVER_ISSUED = RequestFault("header.Authorization:unknown-value", "the token was never issued")
_MANDATORY = "contact-mandatory-"


def all_faults(facts: RequestFacts) -> tuple[RequestFault, ...]:
    """The faults of a request, a token that the service never issued among them."""
    made_up = facts.credentials is Credentials.MADE_UP and facts.operation.protected
    return (*facts.faults, _NEVER_ISSUED) if made_up else facts.faults


def clauses_of(facts: RequestFacts, catalogue: Catalogue) -> Iterator[tuple[RequestFault, Clause]]:
    """The faults of a request that a clause speaks about, each with the clause."""
    for fault in all_faults(facts):
        clause = catalogue.for_fault(facts.operation.id, fault.key)
        if clause is not None:
            yield fault, clause


def check_faults(exchange: Exchange, facts: RequestFacts, catalogue: Catalogue, attempt: Attempt) -> None:
    """Judge the answer to a request with faults.

    With a single fault the refusal is about it, and is held to what its clause says. With several nobody knows which
    one was refused; if all were taken, the firmest clause is contradicted.
    """
    spoken = list(clauses_of(facts, catalogue))
    for fault, clause in spoken:
        if clause.level is Level.SILENT and len(all_faults(facts)) == 1 and exchange.response is not None:
            seen = {"fault": fault.key, "status": exchange.response.status}
            attempt.observations.append(Observation(clause.id, facts.operation.id, seen))
    firm = [(fault, clause) for fault, clause in spoken if fault.firm and clause.level is not Level.SILENT]
    if not firm:
        return
    firm.sort(key=lambda pair: pair[1].level is not Level.MUST)
    fault, clause = firm[0]
    if len(all_faults(facts)) == 1:
        _check_one(exchange, facts, fault, clause, attempt)
        _check_errors_array(exchange, facts, fault, catalogue, attempt)
    elif not content.turned_down(usable(exchange)):
        Claim(clause, facts.operation.id, attempt).turned_down(exchange, f"{fault.key} refused")


def _check_one(
    exchange: Exchange, facts: RequestFacts, fault: RequestFault, clause: Clause, attempt: Attempt
) -> None:
    claim = Claim(clause, facts.operation.id, attempt)
    if clause.message is not None and clause.status is not None:
        claim.says(exchange, facts.realm or "")
        return
    if clause.id.startswith("token-") and facts.operation.id == "createToken":
        answer = usable(exchange)
        claim.holds(not answer.success, exchange, expected="no token", seen=answer.quote())
        return
    claim.turned_down(exchange, f"{fault.key} refused")
    if clause.id.startswith(_MANDATORY) and not _for_want_of_rights(exchange):
        named = content.reports(usable(exchange), fault.field, content.MANDATORY)
        claim.holds(
            named,
            exchange,
            expected=f"{content.MANDATORY} for {fault.field} among the errors",
            seen=exchange.answer.quote(),
        )


def _check_errors_array(
    exchange: Exchange, facts: RequestFacts, fault: RequestFault, catalogue: Catalogue, attempt: Attempt
) -> None:
    """Faulty content is told in an errors array; a fault of the request around it need not be."""
    clause = catalogue.clause("errors-array")
    if not fault.in_content or not facts.operation.id.endswith("Contact") or _for_want_of_rights(exchange):
        return
    try:
        Claim(clause, facts.operation.id, attempt).content_refused(exchange)
    except Contradiction:
        # Accepted altogether: that is the finding of the fault's own clause.
        if not content.turned_down(exchange.answer):
            attempt.evidence.pop()
            del attempt.contradicted[(clause.id, facts.operation.id)]


def _for_want_of_rights(exchange: Exchange) -> bool:
    """Whether it may be the caller who was refused, before anybody looked at the content."""
    return exchange.role != AUTHOR and usable(exchange).status in (401, 403)
