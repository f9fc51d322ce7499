"""Checks that hold for every exchange of every case (design 4.1): no server error, no secret echoed, JSON labelled."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Final

from contracts.interface.catalogue import Catalogue
from contracts.judging.attempts import Attempt
from contracts.judging.outcomes import Evidence
from contracts.session.exchange import Answer, Exchange
from contracts.session.weather import GATEWAY_STATUSES

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
    exchange: Exchange, answer: Answer, knows: Callable[[str], bool]
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


def _errors(answer: Answer) -> object:
    """The errors of a refusal, which the document shows as JSON; what else a refusal holds is not shown."""
    body = answer.json
    return body.get("errors") if answer.refusal and isinstance(body, dict) else None


def secret_sent(exchange: Exchange) -> str | None:
    """The password or the token that a request carried; None when it carried none worth the name."""
    if exchange.operation == "createToken":
        secret = _password(exchange.request_body)
    else:
        secret = exchange.request_headers.get("Authorization", "").partition(" ")[2]
    return secret if isinstance(secret, str) and len(secret) >= _SHORTEST_SECRET else None


def _password(body: bytes | None) -> object:
    try:
        record = json.loads(body or b"")
    except (ValueError, RecursionError):
        return None
    return record.get("password") if isinstance(record, dict) else None


def _stands_in(secret: str, text: str) -> bool:
    """Whether a secret stands in a text as a word of its own; a longer word that holds it is another word."""
    return secret in text and re.search(rf"(?<![\w-]){re.escape(secret)}(?![\w-])", text) is not None
