"""The nine rows of the workflow table, as far as cases look at them without making a claim on their own clause."""

from __future__ import annotations

from collections.abc import Callable

from contracts.checks import errors_array
from contracts.checks.claims import Claim
from contracts.checks.outcomes import Blocked, taken, usable
from contracts.checks.workflow import Row, carries_message, carries_message_and_status
from contracts.exchanges.exchange import Exchange


def ended_in(exchange: Exchange, *rows: Row, realm: str = "") -> bool:
    """Whether an exchange ended in one of these rows."""
    answer = usable(exchange)
    return any(carries_message(answer, row, realm) for row in rows)


def which(exchange: Exchange, realm: str = "") -> str:
    """The row an exchange ended in, for observations; else what became of it in a few words."""
    answer = usable(exchange)
    row_seen = next((row for row in Row if carries_message(answer, row, realm)), None)
    return str(row_seen) if row_seen else errors_array.outcome(exchange)


def require_row(exchange: Exchange, row: Row, realm: str = "") -> None:
    """See to it that a row is given where its condition is the only fault, so that an order can be told.

    Raises:
        Blocked: it is not; the row's own clause holds that finding.
    """
    if not carries_message_and_status(usable(exchange), row, realm):
        raise Blocked(
            exchange.operation or "", f"does not give the row of {row} where nothing else is at fault"
        )


def both_accepted(
    added: Claim, plain: Claim, send: Callable[[], Exchange], bare: Callable[[], Exchange]
) -> Exchange:
    """Claim acceptance of a submission with something added, and by it of the plain one too.

    Only when it is refused is the plain one sent, to tell which of the two claims is contradicted. That keeps the
    records few that cannot be removed.

    Raises:
        Blocked: the plain one is refused as well, and its claim is a should.
    """
    exchange = send()
    if taken(exchange):
        added.accepted(exchange)
        plain.accepted(exchange)
        return exchange
    simple = bare()
    plain.accepted(simple)
    if not taken(simple):
        raise Blocked(
            simple.operation or "", "refuses the plain submission, so nothing is known of what was added"
        )
    added.accepted(exchange)
    return simple


def accepted_for(claim: Claim, exchange: Exchange, bare: Callable[[], Exchange]) -> None:
    """Claim acceptance of a submission for what was added to it.

    Args:
        bare: Sends the same without the addition; only called when the submission was refused.

    Raises:
        Blocked: the plain submission is refused as well, so that the addition is not to blame.
    """
    if not taken(exchange):
        plain = bare()
        if not taken(plain):
            raise Blocked(plain.operation or "", f"refuses the plain submission too: {plain.answer.quote()}")
    claim.accepted(exchange)


def claim_in_use(claim: Claim, created: Exchange, again: Exchange) -> None:
    """Claim that creating once more under an identifier was refused, and not for its content.

    A submission may lock its record at once, and which refusal comes first then is not shown; both are fine.
    """
    claim.meets("identifier-in-use", again, because_of=(created,))


def claim_record_exists(claim: Claim, created: Exchange, update: Exchange) -> None:
    """Claim that an update of a record just created is not refused as of one that does not exist."""
    claim.meets("record-found", update, because_of=(created,))


def claim_free(claim: Claim, refused: Exchange, looked_up: Exchange) -> None:
    """Claim that nothing stands under the identifier of a refused submission."""
    claim.meets("identifier-free", looked_up, because_of=(refused,))


def claim_not_locked(claim: Claim, refused: Exchange, tried: Exchange) -> None:
    """Claim that a request under the identifier of a refused submission is not refused for a lock."""
    claim.meets("identifier-not-locked", tried, because_of=(refused,))


def claim_identifier_free(claim: Claim, submitted: Exchange, created: Exchange) -> None:
    """Claim that creating under an identifier is not refused because it is in use."""
    claim.meets("identifier-not-in-use", created, because_of=(submitted,))
