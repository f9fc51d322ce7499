"""Sends a sequence again, some times, and says whether what was found comes back."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from contracts.checking.single import Judge, Judgement
from contracts.errors import EnvironmentFault
from contracts.session.ledger import LEAVES, REMOVABLE
from contracts.session.recording import TOKEN
from contracts.target.model import AUTHOR
from contracts.workbench.bench import Bench
from contracts.workbench.expectations import meets
from contracts.workbench.recorded import status_of
from contracts.workbench.resemblance import differences
from contracts.workbench.resending import Pair, Round
from contracts.workbench.telling import Found, Telling

#: Rounds where nobody said how many, when nothing stays behind for good.
ROUNDS: Final = 3


class Outcome(StrEnum):
    """What a replay, or one round of it, shows."""

    REPRODUCED = "reproduced"
    NOT = "not reproduced"
    INTERMITTENT = "intermittent"
    UNDECIDED = "undecided"


@dataclass
class Replayed:
    """One round.

    Attributes:
        why: How the outcome was told, or why it could not be.
        differences: How the decisive answers differ from the recorded ones, each with its exchange.
    """

    pairs: list[Pair]
    outcome: Outcome
    why: str
    differences: list[tuple[str, str]] = field(default_factory=list)
    judgements: list[Judgement] = field(default_factory=list)


def rounds_for(telling: Telling, asked: int | None) -> int:
    """How often to send: as asked; otherwise once where a round leaves what nobody can remove, and thrice elsewhere."""
    if asked is not None:
        return asked
    lasting = any(
        LEAVES.get(step.operation or "", REMOVABLE) != REMOVABLE and (status_of(step) or 500) < 400
        for step in telling.steps
    )
    return 1 if lasting else ROUNDS


def make_ready(bench: Bench, telling: Telling) -> None:
    """Look at the target before a sequence is sent, unless signing in is what the sequence is about.

    Where a token is sent in part or in another form, it is used as it is once before, as in the run that recorded it:
    a service may know only tokens that somebody has used.

    Raises:
        EnvironmentFault: the target cannot be reached, or gives no token; one line.
    """
    if all(step.operation == "createToken" for step in telling.steps):
        return
    bench.sign_in(AUTHOR)
    if any(step.authorization not in (None, f"Bearer {TOKEN}") for step in telling.steps):
        bench.actor(AUTHOR, bench.target.realms[0]).send("listDrafts")


def replay(bench: Bench, telling: Telling, realm: str, number: int) -> Replayed:
    """Send a sequence once.

    Raises:
        UsageError: the target lacks what the sequence needs.
    """
    again = Round(bench, telling, realm, number)
    pairs: list[Pair] = []
    try:
        for pair in again.send():
            pairs.append(pair)
            obstacle = _obstacle(pair)
            if obstacle:
                return Replayed(pairs, Outcome.UNDECIDED, obstacle)
    except EnvironmentFault as fault:
        return Replayed(pairs, Outcome.UNDECIDED, str(fault))
    judge = Judge(bench.redactor.knows)
    shown = [pair for pair in pairs if pair.decisive]
    done = Replayed(pairs, Outcome.NOT, "", judgements=[judge.judge(pair.new) for pair in shown])
    for pair in shown:
        for said in differences(pair.old, pair.new.answer, again.translated):
            done.differences.append((pair.new.label, said))
    done.outcome, done.why = _decide(telling.found, shown, done, again)
    return done


def together(rounds: list[Replayed]) -> tuple[Outcome, int, int]:
    """What some rounds show together: the outcome, how many reproduced it, and how many could tell."""
    told = [each for each in rounds if each.outcome is not Outcome.UNDECIDED]
    again = sum(each.outcome is Outcome.REPRODUCED for each in told)
    if not told:
        return Outcome.UNDECIDED, 0, 0
    if again == len(told):
        return Outcome.REPRODUCED, again, again
    return (Outcome.INTERMITTENT if again else Outcome.NOT), again, len(told)


def _obstacle(pair: Pair) -> str | None:
    """What keeps a round from telling anything: the weather, or a preparation that went another way."""
    new = pair.new
    if new.fault is not None or new.response is None:
        return f"{new.label}: {new.fault or 'no answer'}"
    before = status_of(pair.old)
    if not pair.decisive and before is not None and (before < 400) is not new.response.success:
        return f"{new.label}, which prepares it, was answered {new.response.quote()[:200]}, not {before} as before"
    return None


def _decide(found: Found | None, shown: list[Pair], done: Replayed, again: Round) -> tuple[Outcome, str]:
    last = shown[-1]
    if found is not None:
        told = meets(again.translated(found.expected), last.new.answer)
        if told is not None:
            said = "is" if told else "is not"
            return (Outcome.NOT if told else Outcome.REPRODUCED), f"the answer {said} what was expected"
        if any(each.clause == found.clause for judged in done.judgements for each in judged.findings):
            return Outcome.REPRODUCED, f"a check of {found.clause} fails again"
    if done.differences:
        return Outcome.NOT, "the answers differ from the recorded ones"
    return Outcome.REPRODUCED, "the answers are the recorded ones again"
