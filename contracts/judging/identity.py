"""Which identifier the answer to a submission gives its record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from contracts.judging import readers
from contracts.judging.claims import Claim, usable
from contracts.session.exchange import Answer, Exchange
from contracts.session.namespace import is_valid_uid


def named_identifiers(answer: Answer, sent: Any) -> list[str]:
    """Texts of an answer that may be the identifier of the record that was sent: its own first, then new ones.

    Args:
        sent: The JSON value that was sent; other texts that only come back from it are no candidates.
    """
    own = _own_identifier(sent)
    echoed = {value for value in readers.values(sent) if isinstance(value, str)} - {own}
    texts = [value for value in readers.values(answer.json) if isinstance(value, str)]
    places = answer.headers.get("location", "").partition("?")[0].split("/")
    found = [text for text in (*texts, *reversed(places)) if is_valid_uid(text) and text not in echoed]
    first = [own] if own is not None and own in found else []
    return list(dict.fromkeys([*first, *found]))


def _own_identifier(sent: Any) -> str | None:
    document = sent.get("document", sent) if isinstance(sent, dict) else None
    header = document.get("header") if isinstance(document, dict) else None
    own = header.get("identifier") if isinstance(header, dict) else None
    return own if isinstance(own, str) else None


def claim_identifier(claim: Claim, exchange: Exchange, sent: Any, known: Callable[[str], bool]) -> str:
    """Claim that an answer carries the identifier of the new record.

    Args:
        known: Tells whether the service knows a record under an identifier.

    Returns:
        The identifier.

    Raises:
        Contradiction: no text of the answer is one.
    """
    answer = usable(exchange)
    candidates = named_identifiers(answer, sent)
    found = next((candidate for candidate in candidates if known(candidate)), None)
    claim.holds(
        found is not None,
        exchange,
        expected="the identifier of the new record in the answer",
        seen=f"{answer.quote()}; of {', '.join(candidates) or 'nothing'} no record is known",
    )
    return str(found)


def origin(exchange: Exchange, sent: Any) -> str:
    """Where the identifier in an answer is from, for observations: `header`, `given`, or `none` where there is none."""
    named = named_identifiers(usable(exchange), sent)
    return "none" if not named else "header" if named[0] == _own_identifier(sent) else "given"


def without_errors(claim: Claim, exchange: Exchange) -> None:
    """Claim that the answer to an accepted record holds no errors array, or an empty one."""
    answer = usable(exchange)
    claim.holds(
        not readers.errors(answer), exchange, expected="no errors beside the acceptance", seen=answer.quote()
    )
