"""The look at a target before the first case: at most twelve requests, and one cause where no case could be judged."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from contracts.cases.comparison import refused_as
from contracts.cases.requests import UNKNOWN_REALM
from contracts.checks.outcomes import Attempt, Confirmed, confirm, contradicted
from contracts.errors import EnvironmentFault
from contracts.evidence.record import Verdict
from contracts.exchanges.exchange import Exchange, Response
from contracts.plugin.case_record import Ending, write_case, write_findings
from contracts.plugin.worker import Worker
from contracts.session.environment_faults import page_words
from contracts.session.session import Session
from contracts.session.tokens import CLOCKS_AGREE_SECONDS, Token
from contracts.settings.target import AUTHOR, DOCUMENT_REALMS, Target

#: How long the look at the target may take, in seconds.
LONGEST_LOOK_SECONDS: Final = 8.0
#: Name of the sessions that look whether a target has started.
_WAITING: Final = "waiting"
#: Between two tries at a target that is just starting.
_PAUSE_SECONDS: Final = 1.0
#: The clause that says which realms there are, and the operation that shows it by reading alone.
_REALMS_CLAUSE: Final = "realm-document-realms"
_READING: Final = "listDrafts"


def preflight(worker: Worker, wait_seconds: float = 0.0) -> str | None:
    """Sign in, so that the workers share the tokens, and return what makes judging impossible.

    The author comes first, and lists drafts in each realm: when nothing can be judged, no other account is tried. A
    finding that says so by itself is written down.

    Args:
        wait_seconds: How long to wait for a target whose gateway answers in its place.

    Returns:
        One sentence when the environment is down, the author's credentials are refused, or no realm is known; None
        otherwise. An answer that breaks the contract of signing in is no obstacle: its own cases find it.
    """
    author = _sign_in(worker)
    if author.gateway and not worker.target.is_sandbox and _wait_for(worker.target, wait_seconds):
        author = _sign_in(worker)
    # An embedded sandbox that answers may be one with a defect, which its cases are there to find.
    if author.environment and (author.status is None or not worker.target.is_sandbox):
        return f"{worker.target.base_url} cannot be judged: {author.refusal}; is the service up and the base URL right?"
    obstacle = None if worker.target.is_sandbox else _refused(author, worker) or _wall(author, worker)
    if obstacle is None:
        for role in worker.target.accounts:
            worker.tokens.token(role)
    return obstacle


def clock_in_words(worker: Worker) -> str | None:
    """Say by how much the clocks differ, as the author's sign-in showed; None when they agree."""
    ahead = worker.tokens.token(AUTHOR, as_it_is=True).ahead
    if abs(ahead) <= CLOCKS_AGREE_SECONDS:
        return None
    direction = "ahead of" if ahead > 0 else "behind"
    return f"the target's clock is {abs(ahead):,.0f} s {direction} ours, which is taken into account"


def _sign_in(session: Session) -> Token:
    with session.time_limit(LONGEST_LOOK_SECONDS):
        return session.tokens.token(AUTHOR)


def _wait_for(target: Target, seconds: float) -> bool:
    """Wait until a target answers for itself; each try is a session of its own, so that none of them counts as a fault.

    Returns:
        Whether it does.
    """
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(_PAUSE_SECONDS)
        with Session(target, _WAITING) as session:
            if not _sign_in(session).gateway:
                return True
    return False


def _refused(author: Token, worker: Worker) -> str | None:
    if author.status is not None and 400 <= author.status < 500:
        return (
            f"{worker.target.base_url} refuses the author's e-mail and password (status {author.status}): "
            "check the variables that hold them"
        )
    return None


def _wall(author: Token, worker: Worker) -> str | None:
    """Why no case can get anywhere, by what the author meets in every realm that can be read."""
    realms = [name for name in worker.selection.realms or worker.target.realms if name in DOCUMENT_REALMS]
    if not author.value or not realms:
        return None
    try:
        with worker.time_limit(LONGEST_LOOK_SECONDS):
            return _RealmLook(worker, realms).obstacle()
    except EnvironmentFault:
        return None  # a fault that passes; the run has its own ways with it


class _RealmLook:
    """The list of drafts in each realm, by reading.

    Args:
        realms: Those of the run that have documents.
    """

    def __init__(self, worker: Worker, realms: list[str]) -> None:
        self._worker = worker
        self._url = worker.target.base_url
        self._realms = realms
        self._attempts = {realm: [Attempt(1)] for realm in realms}
        self._started = datetime.now(UTC)

    def obstacle(self) -> str | None:
        """Return why no case can get anywhere, and write down the finding that says so."""
        seen = {realm: self._list(realm, self._attempts[realm][0]) for realm in self._realms}
        answers = [exchange.answer for exchange in seen.values()]
        if all(answer.hollow_page for answer in answers):
            where = f"every list of drafts is {page_words(answers[0])}"
            return f"{self._url} cannot be judged: {where}; is a proxy or a login page in between?"
        if not all(answer.refusal for answer in answers):
            return None
        first = self._realms[0]
        unknown = self._list(first, self._attempts[first][0], UNKNOWN_REALM)
        capitals = self._list(first, self._attempts[first][0], first.upper())
        taken = first.upper() if capitals.answer.success else None
        if not taken and not all(_about_the_realm(answer, unknown.answer) for answer in answers):
            return None
        confirmed = [self._confirmed(realm, exchange, taken) for realm, exchange in seen.items()]
        shown = answers[0].quote() + (f"; it takes '{taken}'" if taken else "")
        refuses = f"{self._url} refuses every realm of the interface document: {shown}"
        return refuses if all(confirmed) else None

    def _confirmed(self, realm: str, exchange: Exchange, taken: str | None) -> bool:
        """Ask once more, and write down what both answers amount to."""
        attempts = self._attempts[realm]
        attempts.append(Attempt(2))
        for attempt, answered in zip(attempts, (exchange, self._list(realm, attempts[1])), strict=True):
            if answered.answer.refusal:
                seen = answered.answer.quote() + (f"; '{taken}' is taken" if taken else "")
                shown = (answered.id,)
                attempt.note(
                    contradicted(_REALMS_CLAUSE, _READING, "the realm is accepted", seen, shown, AUTHOR)
                )
        (finding,) = confirm(attempts)
        self._write(realm, finding)
        return finding.confirmed

    def _list(self, realm: str, attempt: Attempt, sent: str | None = None) -> Exchange:
        actor = self._worker.actor(AUTHOR, realm, _case(realm), attempt)
        exchange = actor.send(_READING, query={"$top": "1"}, headers={"Realm": sent} if sent else {})
        if exchange.fault:
            raise EnvironmentFault(exchange.fault)
        return exchange

    def _write(self, realm: str, finding: Confirmed) -> None:
        case, attempts, evidence = _identity(realm), self._attempts[realm], finding.evidence
        write_findings(case, self._worker, attempts, [finding])
        why = f"expected {evidence.expected}; seen: {evidence.seen}"
        ending = Ending(Verdict.FAIL if finding.confirmed else Verdict.INCONCLUSIVE, why)
        seconds = (datetime.now(UTC) - self._started).total_seconds()
        write_case(case, self._worker, attempts, ending, self._started, seconds)


def _about_the_realm(answer: Response, unknown: Response) -> bool:
    """Whether a refusal speaks of the realm, and is the one that a realm meets that does not exist."""
    return refused_as(answer, unknown) and "realm" in answer.text.lower()


def _case(realm: str) -> str:
    return f"[preflight in {realm}]"


def _identity(realm: str) -> Mapping[str, Any]:
    return {
        "case": _case(realm),
        "name": "each realm of the interface document is known",
        "doc": "The realms of the development environment are accepted in the Realm header.",
        "realm": realm,
        "clauses": [_REALMS_CLAUSE],
        "operations": [_READING],
    }
