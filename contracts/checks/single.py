"""Judges one exchange by every check that one exchange allows.

For requests sent by hand, replayed, read from an archive or passed through a proxy: nothing is sent here, and nothing
is known but the exchange itself. What takes several exchanges to show, such as reading after writing, is for cases.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from contracts.checks import errors_array, universal
from contracts.checks.answers import Answers
from contracts.checks.claims import Claim
from contracts.checks.outcomes import Attempt, Blocked, Contradiction, Evidence, Observation, usable
from contracts.checks.requests import RequestFacts, all_faults, check_faults, read_request
from contracts.errors import EnvironmentFault
from contracts.exchanges.exchange import Exchange
from contracts.exchanges.readers import Ambiguous
from contracts.interface.catalogue import Catalogue, load_catalogue
from contracts.interface.description import Description, load_description

#: Operation → the clause that a refusal of a right request contradicts, and whether acceptance alone shows it.
ACCEPTED: Final = {
    "createToken": ("token-issued", True),
    "createContact": ("contact-create-full", True),
    "updateContact": ("contact-update-full", True),
    "saveDraft": ("draft-save-creates", False),
    "getDraft": ("draft-get-content", False),
    "getDraftInfo": ("draft-info-present", False),
    "draftExists": ("draft-exists-present", True),
    "deleteDraft": ("draft-delete-removes", False),
    "listDrafts": ("list-answers", False),
    "createAttachment": ("attachment-create-accepted", True),
    "persistTemporaryFile": ("attachment-persist-listed", False),
    "listAttachments": ("realm-attachments-without", True),
    "attachmentExists": ("attachment-exists-present", True),
    "getAttachment": ("attachment-download-same", False),
    "getAttachmentThumbnail": ("attachment-thumbnail-image", False),
    "createWorkflowRecord": ("workflow-create-accepted", True),
    "createWorkflowRecordWithIdentifier": ("workflow-create-with-identifier-accepted", True),
    "updateWorkflowRecord": ("workflow-update-accepted", True),
}


@dataclass(frozen=True)
class Judgement:
    """What one exchange shows.

    Attributes:
        facts: What the request is; None when it is no operation of the interface.
        request_faults: Where the request breaks the interface, in words.
        held: Clauses that an assertion was reached for, and held.
        findings: What contradicts a must or a should.
        observations: What was seen at silent points.
        obstacles: Why something could not be judged.
    """

    exchange: Exchange
    facts: RequestFacts | None
    request_faults: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    findings: tuple[Evidence, ...] = ()
    observations: tuple[Observation, ...] = ()
    obstacles: tuple[str, ...] = ()
    levels: dict[str, str] = field(default_factory=dict)

    @property
    def touched(self) -> tuple[str, ...]:
        """Ids of all clauses that the exchange says something about, each once."""
        told = (
            *(each.clause for each in self.findings),
            *self.held,
            *(each.clause for each in self.observations),
        )
        return tuple(dict.fromkeys(told))


class Judge:
    """Judges exchanges one by one.

    Args:
        knows: Whether a text is a real secret, a token that the service issued or an account's password; None where
            nobody can tell. Then any token may be a good one, and echoes are not looked for.
    """

    def __init__(
        self,
        knows: Callable[[str], bool] | None = None,
        catalogue: Catalogue | None = None,
        description: Description | None = None,
    ) -> None:
        self._knows = knows
        self._catalogue = catalogue or load_catalogue()
        self._description = description or load_description()

    def judge(self, exchange: Exchange, *, right: bool = False) -> Judgement:
        """Judge an exchange.

        Args:
            right: Whoever sent it knows that nothing about it is wrong, its data and its account included, so that
                it has to be accepted.
        """
        facts = read_request(exchange, self._description, self._knows)
        if facts is None:
            return Judgement(exchange, None, ("it is no operation of the interface",))
        attempt, obstacles = Attempt(1, exchanges=[exchange]), dict[str, None]()
        exchange.operation = exchange.operation or facts.operation.id
        universal.judge(attempt, self._catalogue, self._knows or (lambda _: False))
        checks: list[Callable[[], None]] = [
            lambda: check_faults(exchange, facts, self._catalogue, attempt),
            *Answers(exchange, facts, self._catalogue, attempt).checks(),
        ]
        if right and not all_faults(facts):
            checks.append(lambda: self._accepted(exchange, facts, attempt))
        for check in checks:
            try:
                check()
            except Contradiction:
                pass  # it stands in the attempt's evidence
            except (Blocked, EnvironmentFault, Ambiguous) as obstacle:
                obstacles[str(obstacle)] = None
        return self._judgement(exchange, facts, attempt, tuple(obstacles))

    def _accepted(self, exchange: Exchange, facts: RequestFacts, attempt: Attempt) -> None:
        clause, enough = ACCEPTED[facts.operation.id]
        answer = usable(exchange)
        taken = answer.success and not errors_array.turned_down(answer)
        if enough or not taken:
            claim = Claim(self._catalogue.clause(clause), facts.operation.id, attempt)
            claim.holds(taken, exchange, expected="accepted (2xx)", seen=answer.quote())

    def _judgement(
        self, exchange: Exchange, facts: RequestFacts, attempt: Attempt, obstacles: tuple[str, ...]
    ) -> Judgement:
        contradicted = {each.clause for each in attempt.evidence}
        held = [clause for clause, _ in attempt.held if clause not in contradicted]
        smallest = {each.key: each for each in reversed(attempt.evidence)}
        judged = Judgement(
            exchange,
            facts,
            tuple(fault.says for fault in all_faults(facts)),
            tuple(dict.fromkeys(held)),
            tuple(reversed(smallest.values())),
            tuple(attempt.observations),
            obstacles,
        )
        judged.levels.update({name: str(self._catalogue.clause(name).level) for name in judged.touched})
        return judged
