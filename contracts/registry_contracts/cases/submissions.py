"""Submissions to the workflow in the three ways to send them, and claims about their effects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final

from registry_contracts.cases.comparison import claim_accepted_for_each
from registry_contracts.cases.world import World, named_identifiers
from registry_contracts.checks.claims import Claim
from registry_contracts.checks.documents import NO_ERRORS
from registry_contracts.checks.outcomes import Untested, done, require, taken, usable
from registry_contracts.checks.workflow import Row
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.session.actor import Actor

CREATE: Final = "createWorkflowRecord"
CREATE_NAMED: Final = "createWorkflowRecordWithIdentifier"
UPDATE: Final = "updateWorkflowRecord"
#: The clause of each operation that asks for a token.
NEEDS_TOKEN: Final = {
    CREATE: "workflow-create-needs-token",
    CREATE_NAMED: "workflow-create-with-identifier-needs-token",
    UPDATE: "workflow-update-needs-token",
}

#: The longest texts that the interface document permits, in characters.
LONGEST_BATCH, LONGEST_INFO = 100, 1000
#: One character, two bytes in UTF-8, one unit in UTF-16: what tells counting characters from counting bytes.
BEYOND_ASCII: Final = "é"
#: Rows that tell that an identifier is in use.
IN_USE: Final = (Row.TAKEN, Row.LOCKED)
UNKNOWN_SCHEMA: Final = "contractTestUnknownSchema"


def submit_informed(operation: str, world: World, actor: Actor, text: str) -> Exchange:
    """Send a valid submission with an additionalInfo; its note `identifier` names the record."""
    identifier = world.uid()
    submission = world.samples.submission(identifier, additionalInfo=text)
    sent = world.submit(operation, identifier, submission, by=actor)
    sent.notes["identifier"] = identifier
    return sent


def claim_longest_info(
    claims: Callable[[str, str], Claim], operation: str, world: World, actor: Actor
) -> Exchange:
    """Claim that an additionalInfo of the permitted length is accepted, as a short one is; returns the submission."""
    sent = submit_informed(operation, world, actor, BEYOND_ASCII * LONGEST_INFO)
    longest, available = (claims(f"workflow-info-{word}", operation) for word in ("longest", "available"))
    if not taken(sent):
        # One for all attempts: what is accepted stays for good.
        short = world.once(
            f"short additionalInfo to {operation}",
            lambda: submit_informed(operation, world, actor, "Please publish."),
        )
        plain = partial(world.submit, operation, world.uid(), by=actor)
        claim_accepted_for_each(short, (available, plain))
        if not taken(short):
            raise Untested(f"a short additionalInfo of the {actor.role} is refused: {short.answer.quote()}")
    else:
        available.accepted(sent)
    longest.accepted(sent)
    return sent


def claim_longest_batch(claims: Callable[[str, str], Claim], world: World) -> tuple[str, Exchange]:
    """Claim that a batchId of the permitted length is accepted, also where it is more bytes than characters.

    The query names the realm, where it is read.

    Returns:
        The batchId that was accepted, and the submission.
    """
    plain = world.fresh.uid(LONGEST_BATCH)
    wide = plain[: LONGEST_BATCH // 2] + BEYOND_ASCII * (LONGEST_BATCH // 2)
    submit = partial(world.submit, CREATE, "")
    by_query = world.in_query()
    sent = submit(world.samples.submission(world.fresh.uid(), batchId=wide), **by_query)
    shorter = partial(submit, world.samples.submission(world.fresh.uid(), batchId=plain))
    accepted = claim_accepted_for_each(
        sent,
        (claims("workflow-batch-characters", CREATE), partial(shorter, **by_query)),
        *by_query_alone(world, claims("workflow-create-accepted", CREATE), partial(shorter, query=())),
        (claims("workflow-batch-longest", CREATE), None),
    )
    return (wide if taken(sent) else plain), accepted


def by_query_alone(
    world: World, claim: Claim, by_header: Callable[[], Exchange]
) -> Iterator[tuple[Claim, Callable[[], Exchange]]]:
    """A reason to accept a submission whose query names the realm: that one is accepted whose header does.

    None where the query is not read, which is a clause of its own.
    """
    if world.in_query():
        yield claim, by_header


def submit_unnamed(world: World, identifier: str) -> Exchange:
    """Create under an identifier that the document's header does not repeat, so that only the path can be at fault."""
    submission = world.samples.submission(identifier)
    submission["document"].get("header", {}).pop("identifier", None)
    return world.submit(CREATE_NAMED, identifier, submission)


def too_long(most: int, operation: str) -> list[str]:
    """Texts above a limit in characters: one too many, and for one of the operations ten times as many."""
    return ["t" * (most + 1), *(["t" * (10 * most)] if operation == CREATE_NAMED else [])]


def claim_identifier(
    claim: Claim, exchange: Exchange, sent: Any, known: Callable[[list[str]], str | None]
) -> str:
    """Claim that an answer carries the identifier of the new record."""
    answer = usable(exchange)
    candidates = named_identifiers(answer, sent)
    found = known(candidates)
    expected = "the identifier of the new record in the answer"
    seen = f"{answer.quote()}; of {', '.join(candidates) or 'nothing'} no record is known"
    claim.holds(found is not None, exchange, expected=expected, seen=seen)
    return str(found)


def claim_told(claim: Claim, exchange: Exchange, sent: Any) -> None:
    """Claim that the answer to an accepted submission tells an identifier, or a place: more than what was sent."""
    answer = done(exchange)
    own = readers.own_identifier(sent)
    told = bool(named_identifiers(answer, sent) or answer.headers.get("location", ""))
    told = told or (own is not None and readers.carries_identifier(answer, own))
    claim.holds(told, exchange, expected="the record's identifier", seen=answer.quote())


ERROR_CLAUSES: Final = ("errors-array", "errors-element-shape", "errors-code-known")


def claim_errors_told(claims: Callable[[str, str], Claim], *refused: Exchange) -> None:
    """Claim that refusals for content hold errors, each an object with a documented code and a property."""
    for exchange in refused:
        operation = exchange.operation or ""
        claims("errors-array", operation).content_refused(exchange)
        claims("errors-element-shape", operation).meets("error-elements", exchange)
        claims("errors-code-known", operation).meets("error-codes", exchange)


def claim_named(claims: Callable[[str], Claim], refused: Exchange) -> None:
    """Claim that a refusal for content carries the identifier of its path; without one in the path, nothing."""
    if refused.operation in (CREATE_NAMED, UPDATE):
        claims(refused.operation).carries(refused, refused.notes["identifier"])


def origin(exchange: Exchange, sent: Any) -> str:
    """Where the identifier in an answer is from, for observations.

    Returns:
        `header`, `given`, `none` where there is none, or `refused` where there is no record.
    """
    if not taken(exchange):
        return "refused"
    named = named_identifiers(usable(exchange), sent)
    return "none" if not named else "header" if named[0] == readers.own_identifier(sent) else "given"


def claim_without_errors(claim: Claim, exchange: Exchange) -> None:
    """Claim that an answer with a status of success holds no errors array, or an empty one; of a refusal, nothing.

    Made before acceptance is claimed, which such an array contradicts as well.
    """
    if usable(exchange).success:
        claim.meets(NO_ERRORS.id, exchange)


def claim_same_draft(claim: Claim, before: Sequence[Exchange], refused: Exchange, after: Exchange) -> None:
    """Claim that a draft reads the same before and after a refused update, absent ones included.

    Args:
        before: Two readings one after the other; what already differs between them says nothing.
    """
    first, again, second = (usable(exchange) for exchange in (*before, after))
    same = not first.success or readers.includes(second.json, readers.common(first.json, again.json))
    kept, expected = first.success == second.success and same, f"the draft as it was: {first.quote()}"
    claim.holds(kept, *before, refused, after, expected=expected, seen=second.quote())


def claim_draft_saved(claim: Claim, world: World, identifier: str) -> None:
    """Claim that the draft operations show what was submitted, the exists check included."""
    path = {"uid": identifier}
    read = world.until(lambda: world.author.send("getDraft", path=path), lambda read: usable(read).success)
    if not usable(read).success:
        _shows_drafts_of_locked_records(world)
    claim.shows(read, world.samples.document(identifier))
    claim.accepted(world.author.send("draftExists", path=path))


def _shows_drafts_of_locked_records(world: World) -> None:
    """See once that the draft of a record that is locked for workflow can be read, which is not shown."""
    locked = str(world.samples.setting("locked_identifier"))
    shown = world.once("draft of a locked record", lambda: usable(world.author.draft_exists(locked)).success)
    require(shown, "draftExists", "does not show the draft of a locked record")
