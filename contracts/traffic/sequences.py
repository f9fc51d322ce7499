"""Judges what a sequence of exchanges shows, without a false alarm.

On a service that others use too, anybody may have written in between. So a contradiction between exchanges is a remark
at first, and a fault when it was seen on several records, or when nobody else can have written.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from contracts.interface.catalogue import Catalogue, Level
from contracts.traffic.attachment_trail import AttachmentTrail
from contracts.traffic.draft_trail import DraftTrail
from contracts.traffic.findings import Side, Standing, TrafficFinding
from contracts.traffic.record_trail import RecordTrail
from contracts.traffic.sign_ins import SignIns
from contracts.traffic.steps import ENOUGH, Step, Suspicion

_LONGEST: Final = 600


class Sequences:
    """Follows traffic.

    Args:
        sign_ins: Knows who is who.
        alone: Nobody else writes to the service meanwhile.
    """

    def __init__(self, catalogue: Catalogue, sign_ins: SignIns, *, alone: bool) -> None:
        self._catalogue = catalogue
        self._alone = alone
        self._trails = (DraftTrail().take, AttachmentTrail().take, RecordTrail().take, sign_ins.take)
        self._seen: dict[tuple[str, str, str], set[str]] = defaultdict(set)

    def take(self, step: Step) -> tuple[list[TrafficFinding], list[str]]:
        """Take the next exchange.

        Returns:
            What it contradicts, and the clauses that an assertion was reached for and held.
        """
        found, held = [], []
        for suspicion in self._suspicions(step):
            if suspicion.holds:
                held.append(suspicion.clause)
            else:
                found.append(self._finding(step, suspicion))
        return found, held

    def _suspicions(self, step: Step) -> Iterator[Suspicion]:
        for trail in self._trails:
            yield from trail(step)

    def _finding(self, step: Step, suspicion: Suspicion) -> TrafficFinding:
        clause = self._catalogue.clause(suspicion.clause)
        subjects = self._seen[clause.id, step.operation, step.realm]
        if len(subjects) < ENOUGH:
            subjects.add(suspicion.subject)
        sure = self._alone or len(subjects) >= ENOUGH
        firm = Standing.FAULT if clause.level is Level.MUST else Standing.ADVICE
        return TrafficFinding(
            side=Side.ANSWER,
            standing=firm if sure else Standing.REMARK,
            clause=clause.id,
            level=str(clause.level),
            fault=None,
            operation=step.operation,
            realm=step.realm or "any",
            expected=suspicion.expected,
            seen=suspicion.seen[:_LONGEST],
            entry=step.passed.number,
            because_of=suspicion.because_of,
        )
