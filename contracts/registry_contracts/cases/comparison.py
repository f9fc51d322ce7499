"""Comparisons of requests that differ in one part, and what an answer amounts to, in a few words.

A finding then names the part and nothing else. What is noted at silent points stays the same from run to run: other
people's data and the load of the moment must not show.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import log
from typing import Any, Final
from urllib.parse import unquote

from registry_contracts.cases.list_pages import Page
from registry_contracts.cases.requests import ELSEWHERE, UNKNOWN_REALM
from registry_contracts.checks.claims import Claim, Expect
from registry_contracts.checks.errors_array import elements
from registry_contracts.checks.outcomes import Blocked, HeldBack, taken, usable
from registry_contracts.checks.sign_in import token_in
from registry_contracts.checks.workflow import Row, carries_message
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Exchange, Response
from registry_contracts.history.observed_facts import shape_of
from registry_contracts.settings.target import DOCUMENT_REALMS

#: How HTTP says that an address, or a method at it, is not known (RFC 9110, 15.5.5 and 15.5.6).
NOTHING_THERE = frozenset({404, 405})
_WORD: Final = re.compile(r"[^\W\d_]+")


def claim_accepted_for_each(
    sent: Exchange, *reasons: tuple[Claim, Callable[[], Exchange] | None]
) -> Exchange:
    """Claim that one request is accepted, for several claims at once, so that few permanent records are made.

    Args:
        reasons: Claims, each with a smaller request that leaves out what the claim and those before it are about; None
            for the last one if the request before it has nothing more to leave out. If the whole request is refused,
            the first smaller one that is accepted names the contradicted claim, and keeps the claims behind it.

    Returns:
        What was accepted, the whole or one of these requests.
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


def claim_each(expect: Expect, operation: str, judgements: Mapping[str, Callable[[Claim], None]]) -> None:
    """Judge one request by each clause that covers its operation; one that cannot be judged hides no other.

    Raises:
        Blocked, EnvironmentFault, Ambiguous: something could not be judged; the first of them, raised at the end.
    """
    held_back = HeldBack()
    for clause, judge in judgements.items():
        for claim in expect.on(clause, operation):
            with held_back:
                judge(claim)
    held_back.release()


def claim_treated_alike(claim: Claim, changed: Exchange, usual: Exchange) -> None:
    """Claim that two requests came to the same: both accepted, or both refused for the same reasons.

    Serves where an accepted request would leave something that cannot be removed, so that both carry the same fault.
    """
    one, two = usable(changed), usable(usual)
    alike = (taken(changed) and taken(usual)) or outcome(one) == outcome(two)
    claim.holds(alike, usual, changed, expected=f"the same as {two.quote()}", seen=one.quote())


def outcome(answer: Response) -> tuple[object, ...]:
    """What an answer amounts to: status, codes and properties in whatever order, and whether it got past the realm."""
    return answer.status, sorted(elements(answer)), _beyond_the_realm(answer)


def _beyond_the_realm(answer: Response) -> bool:
    """Whether an answer speaks of what comes after the realm: success, content, the workflow's first step."""
    # A refusal of the table may carry its message in an array named errors.
    if any(carries_message(answer, row) for row in (Row.REALM_MISSING, Row.REALM_UNKNOWN)):
        return False
    step_one = any(carries_message(answer, row) for row in (Row.TAKEN, Row.UNKNOWN, Row.LOCKED))
    return answer.success or bool(readers.errors(answer)) or step_one


#: What is said of a schema, which comes after the realm too.
_SCHEMA_UNKNOWN = "Schema not configured for the given realm"


def refused_as(answer: Response, pattern: Response) -> bool:
    """Whether an answer is the same refusal as another: status and text, whatever the order of its members."""
    same_text = answer.json == pattern.json if answer.json is not None else answer.text == pattern.text
    return answer.refusal and answer.status == pattern.status and same_text


def need_realm_known(exchange: Exchange) -> Exchange:
    """The exchange, when its answer shows that its realm was accepted."""
    if not _beyond_the_realm(usable(exchange)):
        raise Blocked(exchange.operation or "", f"answered {exchange.answer.quote()} to a known realm")
    return exchange


def claim_realm_reached(claim: Claim, exchange: Exchange) -> None:
    """Claim that the answer speaks of what comes after the realm, so that the right one was found."""
    answer = usable(exchange)
    claim.holds(_beyond_the_realm(answer), exchange, expected="the realm is accepted")


def claim_status(claim: Claim, exchange: Exchange, usual: Callable[[], Exchange]) -> None:
    """Claim that a refusal has the clause's own status.

    Args:
        usual: Sends the request as it should be; asked only when nothing at all was found at the address.
    """
    if usable(exchange).status in NOTHING_THERE:
        need_realm_known(usual())
    claim.has_status(exchange)


def claim_no_default_realm(claim: Claim, exchange: Exchange, usual: Callable[[], Exchange]) -> None:
    """Claim that a request without a realm was not taken for one of some realm.

    Args:
        usual: Sends the request with its realm; asked only when the answer speaks of what comes after the realm.
    """
    answer = usable(exchange)
    judged = readers.contains_message(answer, _SCHEMA_UNKNOWN)
    if not judged and _beyond_the_realm(answer):
        judged = outcome(answer) == outcome(usable(usual()))
    claim.holds(not judged, exchange, expected="no realm is taken for the one meant")


def claim_realm_accepted(
    claim: Claim, exchange: Exchange, again: Callable[[Mapping[str, str | None]], Exchange]
) -> None:
    """Claim that a request is not turned down for its realm.

    Args:
        again: Sends the same request with headers changed; asked only when this one was refused, under a realm that
            does not exist and under another one that does, to tell whether the refusal is about the realm.

    Raises:
        Contradiction: a must was contradicted: refused just as under a realm that does not exist, and not so under
            another one, or with a word on the realm under every one.
        Blocked: refused for something else.
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

    It counts as not served when it answers in the very words that an address answers where nothing ever stood.

    Args:
        nowhere: Sends the same request to such an address; asked only when nothing was found.

    Raises:
        Blocked: it finds nothing, in words of its own or in none.
    """
    answer = usable(exchange)
    if answer.status not in NOTHING_THERE:
        claim.holds(True, exchange, expected="served under its version")
        return
    beside = nowhere()
    if answer.text.strip() and _words(exchange) == _words(beside):
        claim.holds(False, exchange, beside, expected="served under its version", seen=answer.quote())
    raise Blocked(exchange.operation or "", f"answered {answer.quote()}")


def _words(exchange: Exchange) -> list[str]:
    """The words of an answer without those of the address that was asked."""
    own = set(_WORD.findall(unquote(exchange.url)))
    return [word for word in _WORD.findall(exchange.answer.text) if word not in own]


def shape(exchange: Exchange) -> dict[str, Any]:
    """Status, media type and shape of the body of an answer: kinds of members by their paths, never their values."""
    answer = exchange.answer
    return {"status": answer.status, "type": answer.media_type, "body": _body(answer)}


def status(exchange: Exchange) -> int:
    """The status of an answer."""
    return exchange.answer.status


def _body(answer: Response) -> str | dict[str, str]:
    if not answer.content:
        return "empty"
    return shape_of(answer.json) if answer.json is not None else "not JSON"


def place_of(answer: Response, document: dict[str, Any]) -> str:
    """Where a document stands in a body: `the body itself`, the path of a member, or `nowhere`."""
    content = readers.content_of(document)
    return next(
        (path for path, value in _objects(answer.json, "") if readers.includes(value, content)), "nowhere"
    )


def _objects(value: Any, path: str, depth: int = 0) -> Iterator[tuple[str, dict[str, Any]]]:
    if depth > 8:
        return
    if isinstance(value, dict):
        yield path or "the body itself", value
        for name, member in value.items():
            yield from _objects(member, f"{path}.{name}".lstrip("."), depth + 1)
    elif isinstance(value, list):
        for item in value:
            yield from _objects(item, f"{path}[]", depth + 1)


_MINUTE, _HOUR, _DAY = 60, 3600, 86400
#: Lifetimes that services use, in seconds; a note takes the nearest, so that a second more or less is none.
LIFETIMES: Final = (
    *(minutes * _MINUTE for minutes in (1, 5, 10, 15, 20, 30, 45)),
    *(hours * _HOUR for hours in (1, 2, 4, 6, 8, 12, 16)),
    *(days * _DAY for days in (1, 2, 3, 5, 7, 14, 30, 60, 90, 180, 365)),
)


def lifetime(seconds: float, first: Exchange, second: Exchange) -> dict[str, int | None]:
    """How long a token lives, to the nearest usual length.

    Args:
        seconds: From the first answer to the expiration it names; more than 0.
        first, second: Two sign-ins. When both give one token, it may be of any age: nothing is told then.
    """
    tokens = [token_in(exchange.answer) for exchange in (first, second)]
    if tokens[0] == tokens[1] or seconds <= 0:
        return {"seconds": None}
    return {"seconds": min(LIFETIMES, key=lambda usual: abs(log(usual / seconds)))}


def order_name(seen: Sequence[str], orders: Mapping[str, Sequence[str]]) -> str | None:
    """The name of the order in which known items stand, `other` for none of them.

    Args:
        seen: Known items in the order of the page; where one is missing, others decide what it holds, and None is told.
        orders: Name → all known items in that order; None is told where several fit.
    """
    fitting = [name for name, items in orders.items() if list(items) == list(seen)]
    if len(fitting) > 1 or any(len(items) > len(seen) for items in orders.values()):
        return None
    return fitting[0] if fitting else "other"


def page_length(page: Page, known: int) -> str | None:
    """How many items a list gives without being told: all the known ones `or more`, or fewer; None for no item."""
    if page.size <= 0:
        return None
    return str(page.size) if page.size < known else f"{known} or more"
