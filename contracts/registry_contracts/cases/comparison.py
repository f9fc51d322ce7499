"""Comparisons of requests that differ in one part, and short summaries of answers.

The finding then names exactly that part. Observations must be the same in every run, so they depend neither on
other people's data nor on the current load.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote

from registry_contracts.cases.list_pages import Page
from registry_contracts.cases.requests import ELSEWHERE, UNKNOWN_REALM
from registry_contracts.checks.claims import Claim, Expect
from registry_contracts.checks.errors_array import elements
from registry_contracts.checks.outcomes import OBSTACLES, Blocked, taken, usable
from registry_contracts.checks.sign_in import token_in
from registry_contracts.checks.workflow import Row, carries_message
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Exchange, Response
from registry_contracts.history.observed_facts import shape_of
from registry_contracts.settings.target import DOCUMENT_REALMS

#: HTTP's statuses for an unknown address or method (RFC 9110, 15.5.5 and 15.5.6).
_UNKNOWN_ADDRESS = frozenset({404, 405})
_MINUTE: Final = 60
_WORD: Final = re.compile(r"[^\W\d_]+")


def claim_accepted_for_each(
    sent: Exchange, *reasons: tuple[Claim, Callable[[], Exchange] | None]
) -> Exchange:
    """Claim that one request is accepted, for several claims at once, so that it makes few permanent records.

    Args:
        reasons: (claim, the same request without that feature and all earlier ones). The last request is None if
            there is nothing left to leave out. If the full request is refused, the first smaller one that is accepted
            shows which claim is contradicted; the claims after it hold.

    Returns:
        The accepted exchange.
    """
    if taken(sent):
        for claim, _ in reasons:
            claim.accepted(sent)
        return sent
    latest = sent
    for number, (claim, without) in enumerate(reasons, start=1):
        if without is None:
            claim.accepted(latest)
            break
        latest = without()
        if taken(latest):
            for other, _ in reasons[number:]:
                other.accepted(latest)
            seen = sent.answer.quote()
            claim.holds(False, sent, latest, expected="accepted like the usual request", seen=seen)
            return latest
    raise Blocked(sent.operation or "", f"answered {sent.answer.quote()}")


def claim_each(expect: Expect, operation: str, judgements: Mapping[str, Callable[[Claim], object]]) -> None:
    """Judge one request by each clause that covers its operation, even if some of them cannot be judged.

    Raises:
        Blocked, EnvironmentFault, Ambiguous: the first obstacle, raised after all clauses were tried.
    """
    obstacle: Exception | None = None
    for clause, judge in judgements.items():
        for claim in expect.on(clause, operation):
            try:
                judge(claim)
            except OBSTACLES as error:
                obstacle = obstacle or error
    if obstacle is not None:
        raise obstacle


def claim_treated_alike(claim: Claim, changed: Exchange, usual: Exchange) -> None:
    """Claim that two requests had the same outcome: both accepted, or both refused for the same reasons.

    If an accepted request would leave a permanent record, send both with the same fault.
    """
    one, two = usable(changed), usable(usual)
    alike = (taken(changed) and taken(usual)) or outcome(one) == outcome(two)
    claim.holds(alike, usual, changed, expected=f"the same as {two.quote()}", seen=one.quote())


def outcome(answer: Response) -> tuple[object, ...]:
    """The outcome of a request: status, sorted error codes and properties, and whether its realm was accepted."""
    return answer.status, sorted(elements(answer)), _beyond_the_realm(answer)


def _beyond_the_realm(answer: Response) -> bool:
    """Whether an answer shows that the realm was accepted: success, content errors, or the workflow's first step."""
    # A refusal from the workflow table may carry its message in an array named errors.
    if any(carries_message(answer, row) for row in (Row.REALM_MISSING, Row.REALM_UNKNOWN)):
        return False
    step_one = any(carries_message(answer, row) for row in (Row.TAKEN, Row.UNKNOWN, Row.LOCKED))
    return answer.success or bool(readers.errors(answer)) or step_one


#: Message about the schema, which is also checked after the realm.
_SCHEMA_UNKNOWN = "Schema not configured for the given realm"


def refused_as(answer: Response, pattern: Response) -> bool:
    """Whether two answers are the same refusal: equal status and text (JSON members in any order)."""
    same_text = answer.json == pattern.json if answer.json is not None else answer.text == pattern.text
    return answer.refusal and answer.status == pattern.status and same_text


def need_realm_known(exchange: Exchange) -> Exchange:
    """Return the exchange, after a check that its realm was accepted."""
    if not _beyond_the_realm(usable(exchange)):
        raise Blocked(exchange.operation or "", f"answered {exchange.answer.quote()} to a known realm")
    return exchange


def claim_realm_reached(claim: Claim, exchange: Exchange, usual: Callable[[], Exchange]) -> None:
    """Claim that the answer shows that the realm was accepted, if the usual request shows so too."""
    reached = _beyond_the_realm(usable(exchange))
    if not reached:
        need_realm_known(usual())
    claim.holds(reached, exchange, expected="the realm is accepted")


def claim_realm_missed(claim: Claim, exchange: Exchange, usual: Callable[[], Exchange]) -> None:
    """Claim that a request without a realm is refused with the clause's status, and no default realm was assumed.

    Args:
        usual: Sends the request with its realm; called only if the answer says that the address is unknown, or goes
            beyond the realm check.
    """
    answer = usable(exchange)
    if answer.status in _UNKNOWN_ADDRESS:
        need_realm_known(usual())
    claim.has_status(exchange)
    judged = readers.contains_message(answer, _SCHEMA_UNKNOWN)
    if not judged and _beyond_the_realm(answer):
        judged = outcome(answer) == outcome(usable(usual()))
    claim.holds(not judged, exchange, expected="no default realm is assumed")


def claim_realm_accepted(
    claim: Claim, exchange: Exchange, again: Callable[[Mapping[str, str | None]], Exchange]
) -> None:
    """Claim that a request is not refused for its realm.

    Args:
        again: Sends the same request with other headers. If this one was refused, it is called with an unknown realm
            and with another known realm, to see whether the refusal is about the realm.

    Raises:
        Contradiction: a MUST was contradicted: the refusal is the same as for an unknown realm, and either differs
            from that for another known realm, or mentions the realm.
        Blocked: refused for another reason.
    """
    answer = usable(exchange)
    if _beyond_the_realm(answer):
        claim.holds(True, exchange, expected="the realm is accepted")
        return
    other = ELSEWHERE.get(exchange.realm, DOCUMENT_REALMS[0])
    unknown, elsewhere = again({"Realm": UNKNOWN_REALM}), again({"Realm": other})
    everywhere = refused_as(answer, usable(elsewhere))
    if not refused_as(answer, usable(unknown)) or (everywhere and "realm" not in answer.text.lower()):
        raise Blocked(exchange.operation or "", f"answered {answer.quote()}")
    claim.holds(False, exchange, unknown, elsewhere, expected="the realm is accepted", seen=answer.quote())


def claim_served(claim: Claim, exchange: Exchange, nowhere: Callable[[], Exchange]) -> None:
    """Claim that an operation is served at its address.

    It is not served if its answer has the same words as the answer at an address that does not exist.

    Args:
        nowhere: Sends the same request to a non-existent address; called only for 404 or 405.

    Raises:
        Blocked: 404 or 405 with other words, or with none.
    """
    answer = usable(exchange)
    if answer.status not in _UNKNOWN_ADDRESS:
        claim.holds(True, exchange, expected="served under its version")
        return
    beside = nowhere()
    if answer.text.strip() and _words(exchange) == _words(beside):
        claim.holds(False, exchange, beside, expected="served under its version", seen=answer.quote())
    raise Blocked(exchange.operation or "", f"answered {answer.quote()}")


def _words(exchange: Exchange) -> list[str]:
    """The words of an answer, except those of the requested address."""
    own = set(_WORD.findall(unquote(exchange.url)))
    return [word for word in _WORD.findall(exchange.answer.text) if word not in own]


def shape(exchange: Exchange) -> dict[str, Any]:
    """Status, media type and body shape of an answer: the members' types by path, never their values."""
    answer = exchange.answer
    return {"status": answer.status, "type": answer.media_type, "body": _body(answer)}


def status(exchange: Exchange) -> int:
    """The status of an answer."""
    return exchange.answer.status


def _body(answer: Response) -> str | dict[str, str]:
    if not answer.content:
        return "empty"
    return shape_of(answer.json) if answer.json is not None else "not JSON"


def lifetime(seconds: float, first: Exchange, second: Exchange) -> dict[str, int | None]:
    """The lifetime of a token, rounded to minutes, at least one.

    Args:
        seconds: From the first answer to the expiration it names.
        first, second: Two sign-ins. If both return the same token, its age is unknown and the result is None.
    """
    tokens = [token_in(exchange.answer) for exchange in (first, second)]
    known = tokens[0] != tokens[1] and seconds > 0
    return {"seconds": max(1, round(seconds / _MINUTE)) * _MINUTE if known else None}


def order_name(seen: Sequence[str], orders: Mapping[str, Sequence[str]]) -> str | None:
    """The name of the order of the known items: `other` if none fits, None if several fit or an item is missing.

    Args:
        seen: Known items in the order of the page.
        orders: Name → all known items in that order.
    """
    fitting = [name for name, items in orders.items() if list(items) == list(seen)]
    if len(fitting) > 1 or any(len(items) > len(seen) for items in orders.values()):
        return None
    return fitting[0] if fitting else "other"


def page_length(page: Page, known: int) -> str | None:
    """How many items a list returns by default: `{known} or more`, or the number; None if it is empty."""
    if page.size <= 0:
        return None
    return str(page.size) if page.size < known else f"{known} or more"
