"""Sequences of exchanges: what an exchange shows about a record because of an earlier one.

The reference model follows drafts; trackers follow sign-ins, attachments and submissions. Each says which check of
the table is due. On a shared service another client may have written in between, so a contradiction names its record.
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
#: Prefix of a known account's name; a name made from a token has another prefix.
ACCOUNT: Final = "account "
#: Maximum number of records to follow.
FOLLOWED: Final = 2000
#: Default seconds until a change must show in a list.
SETTLE_SECONDS: Final = Pace().settle_seconds

State = TypeVar("State")


@dataclass(frozen=True)
class Step:
    """An exchange with everything a sequence needs to know.

    Attributes:
        answer: The service's answer; None if the environment gave none.
        site: Scheme and host; services are followed separately.
        realm: As the request names it, empty for none.
        who: The account of the request, or its token; None if unknown.
        right: The request is valid as far as can be seen, and its answer is complete.
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
        """Its answer if the exchange can contradict an earlier one, else None."""
        return self.answer if self.right and not self.exchange.overlapped else None

    @property
    def sent(self) -> Any:
        """The request's body as JSON; None if unknown or not JSON."""
        return self.exchange.request_body.json

    @property
    def taken(self) -> bool:
        """Whether the service accepted the request: 2xx, and no errors."""
        answer = self.answer
        return answer is not None and answer.success and not answer.redirect and not self._turned_down(answer)

    @property
    def refused(self) -> bool:
        """Whether the service refused it for its content or record, not for its account or rate."""
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
    """What an exchange shows about a record because of the earlier exchange with number `because_of`."""

    result: Result
    subject: str
    because_of: int

    @property
    def held(self) -> bool:
        """Whether the check holds."""
        return self.result.outcome is CheckOutcome.HELD


def told(
    step: Step, clause: str, check: Check, subject: str, because_of: int, expected: str = "", **arguments: Any
) -> Iterator[Told]:
    """Run a check of the table because of an earlier exchange; yields nothing if the answer cannot be judged."""
    try:
        found = load_catalogue().clause(clause)
        result = check.judge(found, step.operation, step.exchange, arguments, expected)
    except OBSTACLES:
        return
    yield Told(result, subject, because_of)


class RecentRecords(dict[tuple[str, ...], State]):
    """What is known about records; the oldest entry is dropped first."""

    def __setitem__(self, key: tuple[str, ...], state: State) -> None:
        """Set the state of a record."""
        self.pop(key, None)
        super().__setitem__(key, state)
        if len(self) > FOLLOWED:
            del self[next(iter(self))]


def site_of(url: str) -> str:
    """Scheme and host of a URL in lower case, without the default port."""
    scheme, _, rest = url.lower().partition("://")
    return f"{scheme}://{rest.partition('/')[0].removesuffix(_PORTS.get(scheme, '/'))}"


CREATE: Final = "createWorkflowRecordWithIdentifier"
UPDATE: Final = "updateWorkflowRecord"


def records_in(answer: Response) -> list[dict[str, Any]] | None:
    """The records of a list; None if the answer is no list or ambiguous."""
    try:
        return readers.records(answer)
    except Ambiguous:
        return None


def settled(step: Step, changed: datetime | None, seconds: float) -> bool:
    """Whether a step's list was read at least `seconds` after a change."""
    started = step.exchange.started
    return started is not None and changed is not None and (started - changed).total_seconds() >= seconds
