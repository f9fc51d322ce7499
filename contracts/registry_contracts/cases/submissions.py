"""Submissions to the workflow by its three operations, and claims about their effects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
#: Operation → the clause that it needs a token.
NEEDS_TOKEN: Final = {
    CREATE: "workflow-create-needs-token",
    CREATE_NAMED: "workflow-create-with-identifier-needs-token",
    UPDATE: "workflow-update-needs-token",
}

#: The longest texts that the interface document permits, in characters.
LONGEST_BATCH, LONGEST_INFO = 100, 1000
#: One character, one UTF-16 unit, but two bytes in UTF-8: shows whether a service counts characters or bytes.
BEYOND_ASCII: Final = "é"
#: Rows that mean that an identifier is in use.
IN_USE: Final = (Row.TAKEN, Row.LOCKED)
UNKNOWN_SCHEMA: Final = "contractTestUnknownSchema"


def claim_longest_info(
    claims: Callable[[str, str], Claim], operation: str, world: World, actor: Actor
) -> Exchange:
    """Claim that an additionalInfo of the maximum length is accepted, like a short one; return the accepted submission.

    Its note `identifier` names the record.
    """

    def submit(**info: str) -> Exchange:
        identifier = world.uid()
        sent = world.submit(operation, identifier, world.samples.submission(identifier, **info), by=actor)
        sent.notes["identifier"] = identifier
        return sent

    def short() -> Exchange:
        """One for all attempts: an accepted record is permanent."""
        return world.once(f"short info to {operation}", lambda: submit(additionalInfo="Please publish."))

    accepted = claim_accepted_for_each(
        submit(additionalInfo=BEYOND_ASCII * LONGEST_INFO),
        (claims("workflow-info-longest", operation), short),
        (claims("workflow-info-available", operation), submit),
    )
    if "additionalInfo" not in accepted.request_body.json:
        raise Untested(f"a short additionalInfo of the {actor.role} is refused")
    return accepted


def claim_longest_batch(claims: Callable[[str, str], Claim], world: World) -> tuple[str, Exchange]:
    """Claim that a batchId of the maximum length in characters is accepted, even if it has more bytes.

    Returns:
        The accepted batchId, and the submission.
    """
    plain = world.fresh.uid(LONGEST_BATCH)
    wide = plain[: LONGEST_BATCH // 2] + BEYOND_ASCII * (LONGEST_BATCH // 2)

    def submit(batch: str) -> Exchange:
        return world.submit(CREATE, "", world.samples.submission(world.fresh.uid(), batchId=batch))

    sent = submit(wide)
    accepted = claim_accepted_for_each(
        sent,
        (claims("workflow-batch-characters", CREATE), partial(submit, plain)),
        (claims("workflow-batch-longest", CREATE), None),
    )
    return (wide if taken(sent) else plain), accepted


def submit_unnamed(world: World, identifier: str) -> Exchange:
    """Create under an identifier that is only in the path, not in the document's header."""
    submission = world.samples.submission(identifier)
    submission["document"].get("header", {}).pop("identifier", None)
    return world.submit(CREATE_NAMED, identifier, submission)


def claim_identifier(
    claim: Claim, exchange: Exchange, sent: Any, known: Callable[[list[str]], str | None]
) -> str:
    """Claim that an answer holds the identifier of the new record."""
    answer = usable(exchange)
    candidates = named_identifiers(answer, sent)
    found = known(candidates)
    expected = "the identifier of the new record in the answer"
    seen = f"{answer.quote()}; of {', '.join(candidates) or 'nothing'} no record is known"
    claim.holds(found is not None, exchange, expected=expected, seen=seen)
    return str(found)


def claim_told(claim: Claim, exchange: Exchange, sent: Any) -> None:
    """Claim that the answer to an accepted submission holds the record's identifier or a Location."""
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


def claim_own_identifier(claims: Callable[[str], Claim], refused: Exchange) -> None:
    """Claim that a refusal for content holds the identifier from its path, if the operation has one there."""
    if refused.operation in (CREATE_NAMED, UPDATE):
        claims(refused.operation).carries(refused, refused.notes["identifier"])


def origin(exchange: Exchange, sent: Any) -> str:
    """Where the identifier in an answer comes from, for observations.

    Returns:
        `header`, `given`, `none` (no identifier) or `refused` (no record).
    """
    if not taken(exchange):
        return "refused"
    named = named_identifiers(usable(exchange), sent)
    return "none" if not named else "header" if named[0] == readers.own_identifier(sent) else "given"


def claim_without_errors(claim: Claim, exchange: Exchange) -> None:
    """Claim that a successful answer holds no errors array, or an empty one; refusals are not judged.

    Call it before claiming acceptance, which such an array contradicts too.
    """
    if usable(exchange).success:
        claim.meets(NO_ERRORS.id, exchange)


def claim_same_draft(claim: Claim, before: Sequence[Exchange], refused: Exchange, after: Exchange) -> None:
    """Claim that a draft reads the same before and after a refused update, even if it is absent.

    Args:
        before: Two reads in a row; members that differ between them are ignored.
    """
    first, again, second = (usable(exchange) for exchange in (*before, after))
    same = not first.success or readers.includes(second.json, readers.common(first.json, again.json))
    kept, expected = first.success == second.success and same, f"the draft as it was: {first.quote()}"
    claim.holds(kept, *before, refused, after, expected=expected, seen=second.quote())


def claim_draft_saved(claim: Claim, world: World, identifier: str) -> None:
    """Claim that reads of drafts and the exists check show the submitted document."""
    path = {"uid": identifier}
    read = world.until(lambda: world.author.send("getDraft", path=path), lambda read: usable(read).success)
    if not usable(read).success:
        _shows_drafts_of_locked_records(world)
    claim.shows(read, world.samples.document(identifier))
    claim.accepted(world.author.send("draftExists", path=path))


def _shows_drafts_of_locked_records(world: World) -> None:
    """Check once that the draft of a locked record can be read; the document does not say so."""
    locked = str(world.samples.setting("locked_identifier"))
    shown = world.once("draft of a locked record", lambda: usable(world.author.draft_exists(locked)).success)
    require(shown, "draftExists", "does not show the draft of a locked record")
