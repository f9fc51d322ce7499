"""Sequences: an exchange as a step of one, and what it tells of a record because of an earlier step.

The reference model follows drafts, and trackers sign-ins, attachments and submissions; each says which check of the
table is due. On a service that others use too, another client may have written in between, so a contradiction carries
the record it was seen on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeVar

from registry_contracts.checks import errors_array
from registry_contracts.checks.definition import Check
from registry_contracts.checks.outcomes import OBSTACLES, CheckOutcome, Result
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Exchange, Response
from registry_contracts.exchanges.readers import Ambiguous
from registry_contracts.exchanges.request_facts import RequestFacts
from registry_contracts.interface.catalogue import load_catalogue
from registry_contracts.settings.target import Pace

_PORTS: Final = {"http": ":80", "https": ":443"}
#: What the name of an account begins with that is known for sure; that of a token begins otherwise.
ACCOUNT: Final = "account "
#: How many records are followed at a time.
FOLLOWED: Final = 2000
#: How long a change may take to show in a list where no target says otherwise, in seconds.
SETTLE_SECONDS: Final = Pace().settle_seconds

State = TypeVar("State")


@dataclass(frozen=True)
class Step:
    """An exchange with everything a sequence needs of it.

    Attributes:
        answer: Of the service; None where the environment gave none.
        site: Scheme and host; what is said about one service says nothing about another.
        realm: As the request names it, empty for none.
        who: The account of the request, or its token; None where unknown.
        right: The request keeps the interface as far as it shows, and its answer is known as a whole.
    """

    exchange: Exchange
    facts: RequestFacts
    answer: Response | None
    site: str
    realm: str
    who: str | None
    right: bool

    @property
    def operation(self) -> str:
        """Its operationId."""
        return self.facts.operation.id

    @property
    def path(self) -> Mapping[str, str]:
        """Values of its placeholders."""
        return self.facts.path

    @property
    def judged(self) -> Response | None:
        """Its answer where the exchange can contradict an earlier one; None where it cannot."""
        return self.answer if self.right and not self.exchange.overlapped else None

    @property
    def sent(self) -> Any:
        """The request's body as JSON; None when it is not known, or none."""
        return self.exchange.request_body.json

    @property
    def taken(self) -> bool:
        """Whether the service took the request: 2xx, and no errors array."""
        answer = self.answer
        return answer is not None and 200 <= answer.status < 300 and not self._turned_down(answer)

    @property
    def refused(self) -> bool:
        """Whether the service refused it for what it is about, and not for who asks or how often."""
        answer = self.answer
        if answer is None or answer.page or answer.status in (401, 403, 407, 408, 429):
            return False
        return answer.refusal or self._turned_down(answer)

    @property
    def vague(self) -> bool:
        """Whether its effect is unknown."""
        answered = self.taken or (self.answer is not None and self.answer.refusal)
        return not answered or self.exchange.overlapped

    def _turned_down(self, answer: Response) -> bool:
        try:
            return errors_array.turned_down(answer)
        except Ambiguous:
            return True


class Told(NamedTuple):
    """What an exchange tells of a record because of an earlier one, whose number is `because_of`."""

    result: Result
    subject: str
    because_of: int

    @property
    def held(self) -> bool:
        """Whether it is as the earlier exchange makes it due."""
        return self.result.outcome is CheckOutcome.HELD


def told(
    step: Step, clause: str, check: Check, subject: str, because_of: int, expected: str = "", **arguments: Any
) -> Iterator[Told]:
    """Run a check of the table because of an earlier exchange; nothing where the answer cannot be judged."""
    try:
        found = load_catalogue().clause(clause)
        result = check.judge(found, step.operation, step.exchange, arguments, expected)
    except OBSTACLES:
        return
    yield Told(result, subject, because_of)


class RecentRecords(dict[tuple[str, ...], State]):
    """What is known about records; what was noted longest ago goes first."""

    def __setitem__(self, key: tuple[str, ...], state: State) -> None:
        """Remember something about a record."""
        self.pop(key, None)
        super().__setitem__(key, state)
        if len(self) > FOLLOWED:
            del self[next(iter(self))]


def site_of(url: str) -> str:
    """Scheme and host of an address, in small letters and without the port that goes without saying."""
    scheme, _, rest = url.lower().partition("://")
    return f"{scheme}://{rest.partition('/')[0].removesuffix(_PORTS.get(scheme, '/'))}"


CREATE: Final = "createWorkflowRecordWithIdentifier"
UPDATE: Final = "updateWorkflowRecord"


def records_in(answer: Response) -> list[dict[str, Any]] | None:
    """The records of a list; None where the answer is none, or could be several."""
    try:
        return readers.records(answer)
    except Ambiguous:
        return None


def settled(step: Step, changed: datetime | None, seconds: float) -> bool:
    """Whether a change that ended then has had its time to show in the list of a step."""
    started = step.exchange.started
    return started is not None and changed is not None and (started - changed).total_seconds() >= seconds
