"""Refusals of several requests at once, and that nothing came of them.

A request with something wrong in it must be turned down, and nothing may be there afterwards. Both are judged here
for a whole table of faults, so that one server error among them neither hides the rest nor counts twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from contracts.cases.arrangement import Arrangement
from contracts.checks.claims import Claim
from contracts.checks.outcomes import Blocked, done, usable
from contracts.errors import EnvironmentFault
from contracts.exchanges import readers
from contracts.exchanges.exchange import Exchange
from contracts.session.actor import Actor

#: Refused uids that are asked for one by one.
_LOOKED_AT = 2


def each_refused(
    claim: Claim, exchanges: Sequence[Exchange], control: Callable[[], Exchange] | None = None
) -> None:
    """Claim that every request was refused; those without a usable answer are left to the end.

    Args:
        control: Sent when one was not refused: the same operation on a valid uid that nobody has used. When that is
            not refused either, the operation refuses nothing that is absent, which is a matter of its own clause.

    Raises:
        Contradiction: a must was contradicted.
        Blocked, EnvironmentFault: a request had no answer that can be judged.
    """
    obstacle: Blocked | EnvironmentFault | None = None
    for exchange in exchanges:
        try:
            answer = usable(exchange)
        except (Blocked, EnvironmentFault) as problem:
            obstacle = obstacle or problem
            continue
        if not answer.refusal and control is not None and not usable(control()).refusal:
            raise Blocked(
                exchange.operation or "", "does not refuse what is absent, so nothing can be told apart"
            )
        claim.turned_down(exchange, "refused (4xx)")
    if obstacle is not None:
        raise obstacle


def each_usable(exchanges: Iterable[Exchange]) -> None:
    """Say so when one of them has no answer that can be judged.

    Raises:
        Blocked, EnvironmentFault: the first of them.
    """
    for exchange in exchanges:
        usable(exchange)


def nothing_saved(
    claims: Callable[[str], Claim],
    actor: Actor,
    uids: Sequence[str],
    foldings: Iterable[str],
    *causes: Exchange,
) -> None:
    """Claim that refused uids left no draft: under themselves, under what they might be taken for, in the list.

    Args:
        claims: Makes a claim about the clause on an operation.
        uids: The uids outside the rule; the list is searched for all of them, a few are asked for by themselves.
        foldings: Valid uids that a careless service might take them for.
        causes: The refused requests.

    Raises:
        Contradiction: a must was contradicted.
        Blocked, EnvironmentFault: a request had no answer that can be judged.
    """
    asked = [actor.send("draftExists", path={"uid": uid}) for uid in uids[:_LOOKED_AT]]
    no_draft_under(claims("saveDraft"), actor, foldings, *causes[:1])
    each_refused(claims("draftExists"), asked, lambda: actor.send("draftExists", path={"uid": never_used()}))
    not_listed(claims("saveDraft"), actor, uids, *causes[:1])


def no_draft_under(claim: Claim, actor: Actor, uids: Iterable[str], *causes: Exchange) -> None:
    """Claim that no draft is there under any of these valid uids.

    Args:
        causes: What might have stored one; named in the evidence.

    Raises:
        Contradiction: a must was contradicted.
        Blocked: the service says of any draft that it exists.
    """
    for uid in uids:
        found = actor.send("draftExists", path={"uid": uid})
        if usable(found).success:
            tells_absence(actor)
        claim.holds(
            not found.answer.success,
            *causes,
            found,
            expected=f"no draft under {uid}",
            seen=found.answer.quote(),
        )


def tells_absence(actor: Actor) -> None:
    """See to it that the service says of a draft nobody saved that it is absent.

    Raises:
        Blocked: it does not.
    """
    found = actor.send("draftExists", path={"uid": never_used()})
    if usable(found).success:
        raise Blocked("draftExists", "says of a draft that nobody saved that it exists")


def draft_still_there(claim: Claim, actor: Actor, arrange: Arrangement, uid: str, *causes: Exchange) -> None:
    """Claim that a draft which was there before is there still.

    Raises:
        Contradiction: a must was contradicted.
        Blocked: the service does not say of any draft that it exists.
    """
    found = actor.send("draftExists", path={"uid": uid})
    if not usable(found).success:
        tells_presence(actor, arrange)
    claim.holds(
        found.answer.success, *causes, found, expected=f"the draft {uid} untouched", seen=found.answer.quote()
    )


def tells_presence(actor: Actor, arrange: Arrangement) -> None:
    """See to it that the service says of a draft that was saved that it exists.

    Raises:
        Blocked: it does not.
    """
    done(actor.send("draftExists", path={"uid": arrange.draft(actor).uid}))


def not_listed(claim: Claim, actor: Actor, uids: Iterable[str], *causes: Exchange) -> None:
    """Claim that none of these uids stands in the list of the actor's drafts, as far as it is shown.

    Raises:
        Contradiction: a must was contradicted.
        Blocked: the list cannot be had.
    """
    listed = actor.send("listDrafts", query={"collection": "mydrafts"})
    answer = usable(listed)
    if not answer.success:
        raise Blocked("listDrafts", f"answered {answer.quote()}")
    for uid in uids:
        claim.holds(
            not readers.carries_identifier(answer, uid),
            *causes,
            listed,
            expected=f"no draft under {uid!r} in the list",
            seen="the list names it",
        )


def never_used() -> str:
    """A valid uid that nobody has ever used, for reading only; always the same, as a gate sends the same twice."""
    return "rc-never-used-by-anybody"
