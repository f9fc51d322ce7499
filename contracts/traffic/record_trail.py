"""What a sequence shows about submissions: an identifier that was taken stays taken."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from contracts.judging.rows import Row, tells
from contracts.traffic.steps import Followed, Step, Suspicion

_CREATE: Final = "createWorkflowRecordWithIdentifier"
_UPDATE: Final = "updateWorkflowRecord"


class RecordTrail:
    """Follows identifiers that were submitted."""

    def __init__(self) -> None:
        #: Number of the exchange that created a record.
        self._created: Followed[int] = Followed()

    def take(self, step: Step) -> Iterator[Suspicion]:
        """Take the next step of the traffic, and say what it shows."""
        if step.operation == "deleteDraft":
            # Whether a record is still there without its draft is not shown.
            self._created.forget((step.site, step.realm, step.facts.path["uid"]))
        if step.operation not in (_CREATE, _UPDATE):
            return
        identifier = step.facts.path["identifier"]
        key = (step.site, step.realm, identifier)
        before = self._created.get(key)
        if before is not None and step.right and step.answer is not None and not step.passed.crossed:
            if step.operation == _CREATE and (step.taken or step.answer.refusal):
                said = f"refused: {identifier} was created before"
                yield Suspicion(
                    "workflow-created-exists", identifier, said, step.answer.quote(), before, not step.taken
                )
            elif step.operation == _UPDATE and (step.taken or step.refused):
                unknown = tells(step.answer, Row.UNKNOWN, step.realm)
                said = f"an update finds {identifier}, which was created before"
                yield Suspicion(
                    "workflow-created-known", identifier, said, step.answer.quote(), before, not unknown
                )
        if step.operation == _CREATE and step.taken and not step.passed.crossed:
            self._created.put(key, step.passed.number)
