"""Checks that hold for every exchange of every case (design 4.1): no server error, no secret echoed, JSON labelled.

Input that no client means to send: answered in time, and turned down where it is no JSON at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from contracts.checks.claims import Claim
from contracts.checks.outcomes import Attempt, Evidence
from contracts.errors import EnvironmentFault
from contracts.exchanges.exchange import Exchange, Response
from contracts.interface.catalogue import Catalogue
from contracts.session.environment_faults import GATEWAY_STATUSES
from contracts.session.transport import TIMED_OUT

#: Operations whose answers may be anything: the bytes of a file or of an image.
_BINARY: Final = frozenset({"getAttachment", "getAttachmentThumbnail", "attachmentExists", "draftExists"})

#: Shorter ones may stand in an answer by chance.
_SHORTEST_SECRET: Final = 8


def judge(attempt: Attempt, catalogue: Catalogue, knows: Callable[[str], bool]) -> None:
    """Add to an attempt what its exchanges say about the universal clauses.

    Args:
        knows: Whether a text is a real secret: the password of an account, or a token that the service issued. What
            a case made up is none, and an answer that quotes it harms nobody.
    """
    for exchange in attempt.exchanges:
        answer = exchange.response
        if answer is None or exchange.fault or exchange.operation is None:
            continue
        for clause, (held, seen) in _checked(exchange, answer, knows):
            if exchange.operation not in catalogue.clause(clause).operations:
                continue
            key = (clause, exchange.operation)
            if held:
                attempt.held[key] += 1
            else:
                expected = _EXPECTED[clause]
                attempt.note(
                    Evidence(clause, exchange.operation, expected, seen, (exchange.id,), exchange.role)
                )


_EXPECTED: Final = {
    "no-server-error": "an answer below 500, whatever was sent",
    "no-secret-echoed": "no password and no token in the answer",
    "json-labelled-json": "a JSON body labelled as JSON",
}
#: Clauses that are judged on every exchange, whatever its case is about.
UNIVERSAL: Final = frozenset(_EXPECTED)


def _checked(
    exchange: Exchange, answer: Response, knows: Callable[[str], bool]
) -> Iterator[tuple[str, tuple[bool, str]]]:
    own = answer.status not in GATEWAY_STATUSES
    if own:
        yield "no-server-error", (answer.status < 500, answer.quote())
    secret = secret_sent(exchange)
    if secret is not None and knows(secret):
        told = any(_stands_in(secret, text) for text in (*answer.headers.values(), answer.text))
        yield "no-secret-echoed", (not told, f"{answer.status} with the secret of the request in it")
    told = answer.success or bool(_errors(answer))
    if exchange.operation not in _BINARY and told and isinstance(answer.json, dict | list):
        labelled = "json" in answer.media_type
        yield "json-labelled-json", (labelled, f"Content-Type {answer.headers.get('content-type', 'absent')}")


def _errors(answer: Response) -> object:
    """The errors of a refusal, which the document shows as JSON; what else a refusal holds is not shown."""
    body = answer.json
    return body.get("errors") if answer.refusal and isinstance(body, dict) else None


def secret_sent(exchange: Exchange) -> str | None:
    """The password or the token that a request carried; None when it carried none worth the name."""
    if exchange.operation == "createToken":
        record = exchange.request_body.json
        secret = record.get("password") if isinstance(record, dict) else None
    else:
        secret = exchange.request_headers.get("Authorization", "").partition(" ")[2]
    return secret if isinstance(secret, str) and len(secret) >= _SHORTEST_SECRET else None


def _stands_in(secret: str, text: str) -> bool:
    """Whether a secret stands in a text as a word of its own; a longer word that holds it is another word."""
    return secret in text and re.search(rf"(?<![\w-]){re.escape(secret)}(?![\w-])", text) is not None


def answered_in_time(claim: Claim, exchanges: Iterable[Exchange], plain: Callable[[], Exchange]) -> None:
    """Claim that every request was answered within the target's time limit.

    Args:
        plain: An ordinary request; sent when one was not answered in time, to tell a hang from an environment that
            is slow for everything.

    Raises:
        Contradiction: an ordinary request is answered where this one was not.
        EnvironmentFault: another fault stood in the way, or nothing is answered.
    """
    obstacle: EnvironmentFault | None = None
    for exchange in exchanges:
        late = exchange.fault in TIMED_OUT
        if exchange.fault is not None and not late:
            obstacle = obstacle or EnvironmentFault(f"{exchange.operation}: {exchange.fault}")
            continue
        if late:
            _ = plain().answer
            exchange.own = True
        claim.holds(not late, exchange, expected="an answer within the time limit", seen=exchange.fault or "")
    if obstacle is not None:
        raise obstacle


def no_content(claim: Claim, exchange: Exchange) -> None:
    """Claim that the answer to a HEAD request carries no content."""
    content = exchange.answer.content
    claim.holds(not content, exchange, expected="no content", seen=f"{len(content)} bytes of content")


def refusals_in_json(claims: Callable[[str], Claim], exchange: Exchange) -> None:
    """Claim that a refusal is empty or JSON; HEAD has no body to look at."""
    if exchange.method != "HEAD" and exchange.operation != "deleteDraft":
        empty_or_json(claims(exchange.operation or ""), exchange)


def empty_or_json(claim: Claim, exchange: Exchange) -> None:
    """Claim that the body of an answer is empty or JSON."""
    answer = exchange.answer
    fine = not answer.content.strip() or answer.json is not None or answer.text.strip() == "null"
    claim.holds(fine, exchange, expected="an empty body or JSON", seen=answer.quote())
