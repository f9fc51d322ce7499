"""Comparisons of two requests that differ in one part, so that a finding names the part and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from contracts.cases.requests import ELSEWHERE, UNKNOWN_REALM
from contracts.checks.claims import Claim
from contracts.checks.outcomes import Blocked, usable
from contracts.errors import EnvironmentFault
from contracts.exchanges import readers
from contracts.exchanges.exchange import Exchange, Response
from contracts.settings.target import DOCUMENT_REALMS

#: How HTTP says that an address, or a method at it, is not known (RFC 9110, 15.5.5, 15.5.6 and 15.6.2).
NOTHING_THERE = frozenset({404, 405, 501})


def tolerated(claim: Claim, changed: Exchange, usual: Callable[[], Exchange]) -> None:
    """Claim that a request is accepted with a change in it.

    Args:
        usual: Sends the request without the change; asked only when the changed one was not accepted.

    Raises:
        Contradiction: a must was contradicted: accepted without the change, not with it.
        Blocked: not accepted without the change either, which is a matter of another clause.
    """
    answer = usable(changed)
    if answer.success:
        claim.accepted(changed)
        return
    plain = usual()
    if not usable(plain).success:
        raise Blocked(changed.operation or "", f"answered {plain.answer.quote()} to the usual request")
    claim.holds(False, changed, plain, expected="accepted like the usual request", seen=answer.quote())


def tolerated_of(changed: Exchange, *reasons: tuple[Claim, Callable[[], Exchange]]) -> None:
    """Claim of one request that it is accepted for several reasons at once.

    Args:
        reasons: A claim, and the request that differs by what this claim is about; the first that is accepted where
            the changed one is not names the clause that was contradicted.

    Raises:
        Contradiction: a must was contradicted.
        Blocked: not accepted in any of the ways.
    """
    if usable(changed).success:
        for claim, _ in reasons:
            claim.accepted(changed)
        return
    for claim, usual in reasons:
        plain = usual()
        if usable(plain).success:
            claim.holds(False, changed, plain, expected="accepted", seen=changed.answer.quote())
    raise Blocked(changed.operation or "", f"answered {changed.answer.quote()}")


def each_judged(judgements: Iterable[Callable[[], None]]) -> None:
    """Make every judgement of a round, though one of them may not be possible.

    Raises:
        Contradiction: a must was contradicted.
        Blocked, EnvironmentFault: something could not be judged; the first of them, raised at the end.
    """
    obstacle: Blocked | EnvironmentFault | None = None
    for judge in judgements:
        try:
            judge()
        except (Blocked, EnvironmentFault) as problem:
            obstacle = obstacle or problem
    if obstacle is not None:
        raise obstacle


def taken_alike(claim: Claim, changed: Exchange, usual: Exchange) -> None:
    """Claim that two requests came to the same: accepted both, or refused for the same reasons.

    Serves where an accepted request would leave something that cannot be removed, so that both carry the same fault.
    """
    one, two = usable(changed), usable(usual)
    claim.holds(
        outcome(one) == outcome(two),
        usual,
        changed,
        expected=f"the same as {two.quote()}",
        seen=one.quote(),
    )


def treated_alike(claim: Claim, changed: Exchange, usual: Exchange) -> None:
    """Claim that two requests were both accepted, or both refused for the same reasons.

    Unlike `taken_alike` two different statuses of success are one outcome: the second save of a draft replaces it.
    """
    if usable(changed).success and usable(usual).success:
        claim.accepted(changed)
        return
    taken_alike(claim, changed, usual)


def outcome(answer: Response) -> tuple[object, ...]:
    """What an answer amounts to: status, faults in whatever order, and whether it got past the realm."""
    faults = readers.errors(answer) or []
    return answer.status, sorted(map(repr, faults)), _beyond_the_realm(answer)


def _beyond_the_realm(answer: Response) -> bool:
    """Whether an answer speaks of what comes after the realm: success, content, the workflow's first step."""
    return (
        answer.success or bool(readers.errors(answer)) or any(map(partial(readers.says, answer), _STEP_ONE))
    )


#: What the workflow's first step says; it comes after the realm (Workflow endpoint status codes).
_STEP_ONE = (
    "A document with the identifier exists, please use a different 'identifier'.",
    "A document with the identifier does not exist, please provide correct 'identifier' to update.",
    "The record is locked for workflow, cannot proceed.",
)


#: What is said of a schema, which comes after the realm too.
_SCHEMA_UNKNOWN = "Schema not configured for the given realm"


def refused_as(answer: Response, pattern: Response) -> bool:
    """Whether an answer is the same refusal as another: status and text, whatever the order of its members."""
    same_text = answer.json == pattern.json if answer.json is not None else answer.text == pattern.text
    return answer.refusal and answer.status == pattern.status and same_text


def realm_known(exchange: Exchange) -> Exchange:
    """The exchange, when its answer shows that its realm was accepted.

    Raises:
        Blocked: it does not.
    """
    if not _beyond_the_realm(usable(exchange)):
        raise Blocked(exchange.operation or "", f"answered {exchange.answer.quote()} to a known realm")
    return exchange


def realm_reached(claim: Claim, exchange: Exchange) -> None:
    """Claim that the answer speaks of what comes after the realm, so that the right one was found."""
    answer = usable(exchange)
    claim.holds(_beyond_the_realm(answer), exchange, expected="the realm is accepted", seen=answer.quote())


def has_status(claim: Claim, exchange: Exchange, usual: Callable[[], Exchange]) -> None:
    """Claim that a refusal has the clause's own status.

    Args:
        usual: Sends the request as it should be; asked only when nothing at all was found at the address.

    Raises:
        Contradiction: a must was contradicted.
        Blocked: the operation is not served.
    """
    if usable(exchange).status in NOTHING_THERE:
        realm_known(usual())
    claim.has_status(exchange)


def no_realm_found(claim: Claim, exchange: Exchange, usual: Callable[[], Exchange]) -> None:
    """Claim that a request without a realm was not taken for one of some realm.

    Args:
        usual: Sends the request with its realm; asked only when the answer speaks of what comes after the realm.
    """
    answer = usable(exchange)
    found = readers.says(answer, _SCHEMA_UNKNOWN)
    if not found and _beyond_the_realm(answer):
        found = outcome(answer) == outcome(usable(usual()))
    claim.holds(not found, exchange, expected="no realm is taken for the one meant", seen=answer.quote())


def listed(found: bool) -> None:
    """See that a draft stands in the list of its own realm.

    Raises:
        Blocked: it does not, which is a matter of the list's own clauses.
    """
    if not found:
        raise Blocked("listDrafts", "does not show a draft that was just saved")


def realm_taken(
    claim: Claim, exchange: Exchange, again: Callable[[Mapping[str, str | None]], Exchange]
) -> None:
    """Claim that a request is not turned down for its realm.

    Args:
        again: Sends the same request with headers changed; asked only when this one was refused, under a realm that
            does not exist and under another one that does, to tell whether the refusal is about the realm.

    Raises:
        Contradiction: a must was contradicted: refused just as under a realm that does not exist, and not so under
            another one.
        Blocked: refused for something else.
    """
    answer = usable(exchange)
    if _beyond_the_realm(answer):
        claim.holds(True, exchange, expected="the realm is accepted", seen=answer.quote())
        return
    other = ELSEWHERE.get(exchange.realm, DOCUMENT_REALMS[0])
    unknown, elsewhere = again({"Realm": UNKNOWN_REALM}), again({"Realm": other})
    if not refused_as(answer, usable(unknown)) or refused_as(answer, usable(elsewhere)):
        raise Blocked(exchange.operation or "", f"answered {answer.quote()}")
    claim.holds(False, exchange, unknown, elsewhere, expected="the realm is accepted", seen=answer.quote())
