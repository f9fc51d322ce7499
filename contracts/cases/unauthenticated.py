"""Protected operations without a valid token: refused, and without effect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from contracts.cases import refusals
from contracts.cases.arrangement import Arrangement
from contracts.cases.credentials import half
from contracts.cases.requests import Request, send
from contracts.checks.claims import Claim
from contracts.checks.outcomes import Blocked, done
from contracts.exchanges.exchange import Exchange
from contracts.session.actor import Actor

#: Makes another token of a token; long enough to be no padding.
_TAIL: Final = "rcTail00"
#: Operations whose request, sent with a valid token, leaves nothing that cannot be removed.
_HARMLESS: Final = frozenset(
    {
        "updateContact",
        "saveDraft",
        "getDraft",
        "getDraftInfo",
        "draftExists",
        "deleteDraft",
        "listDrafts",
        "listAttachments",
    }
)


def never_issued(actor: Actor) -> list[str]:
    """Values of the Authorization header that hold no token the service ever issued.

    All but the half of a real token are short, so that an answer which repeats one is no leak.
    """
    return ["Bearer", "Bearer garbage", f"Bearer {half(actor.token() or '')}"]


def send_without_token(actor: Actor, request: Request) -> list[Exchange]:
    """Send a request once with each of the invalid values."""
    return [send(request, actor, {"Authorization": value}) for value in never_issued(actor)]


def refused_without_token(
    claim: Claim, actor: Actor, arrange: Arrangement, request: Request, asked: Sequence[Exchange]
) -> None:
    """Claim that requests were refused and nothing came of them, and see that the same with a valid token works.

    Args:
        actor: Somebody who may do what was asked.
        request: What was asked for.
        asked: The request without a valid token.

    Raises:
        Contradiction: one was accepted, or had an effect.
        Blocked: refused with a valid token too, so nothing can be told.
    """
    refusals.each_refused(claim, asked)
    for effect in _effects(actor, arrange, request):
        claim.holds(not effect, *asked[:1], expected="nothing changed", seen=effect)
    if request.operation in _HARMLESS:
        done(send(request, actor))


def _effects(actor: Actor, arrange: Arrangement, request: Request) -> Iterator[str]:
    """What came of a request, in words; empty texts where a look showed nothing."""
    uid = request.path.get("uid") or request.path.get("identifier", "")
    if request.operation in ("saveDraft", "createWorkflowRecordWithIdentifier"):
        yield "there is a draft now" if _exists(actor, uid) else ""
    if request.operation == "deleteDraft":
        gone = not _exists(actor, uid)
        if gone:
            refusals.tells_presence(actor, arrange)
        yield "the draft is gone" if gone else ""
    if request.operation in ("createAttachment", "persistTemporaryFile"):
        yield "the document has an attachment now" if arrange.attachment_ids(actor, uid) else ""


def _exists(actor: Actor, uid: str) -> bool:
    found = actor.send("draftExists", path={"uid": uid}).answer
    if found.success:
        refusals.tells_absence(actor)
    return found.success


def altered(token: str) -> list[str]:
    """Texts that differ from a valid token in a way that a careless check overlooks, and were never issued.

    Letter case is left alone where a notation may not know it, and no tail follows what closes a text in Base64.
    """
    both_cases = token != token.lower() and token != token.upper()
    return ([token.swapcase()] if both_cases else []) + ([] if token.endswith("=") else [token + _TAIL])


def spellings(token: str) -> Mapping[str, str]:
    """Ways to send a valid token that the document does not show."""
    return {
        "small letters": f"bearer {token}",
        "no scheme": token,
        "another scheme": f"Token {token}",
    }


def observed(exchanges: Mapping[str, Exchange]) -> Mapping[str, int]:
    """The statuses of several exchanges, for an observation.

    Raises:
        Blocked: one had no answer.
    """
    if any(exchange.response is None for exchange in exchanges.values()):
        raise Blocked("", "a request had no answer")
    return {name: exchange.answer.status for name, exchange in exchanges.items()}
