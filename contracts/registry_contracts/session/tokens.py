"""One token per role and run, shared by all workers, renewed before it expires."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from registry_contracts.exchanges.exchange import Response, read_timestamp
from registry_contracts.exchanges.foreign_answers import GATEWAY_STATUSES, page_words
from registry_contracts.session.shared_state import SharedState

#: A token this close to its end is renewed before it is used.
_MARGIN = timedelta(seconds=20)
_SIGNED_IN = "last sign-in of a case"


@dataclass(frozen=True)
class Token:
    """A token, or the reason why the service gave none (`refusal`); the other one is empty.

    `expires` (as the service gave it) and `issued` (by our clock) are ISO 8601. `status` is that of the answer, if any;
    `gateway` says that a gateway answered instead of the service; `ahead` is how many seconds the service's clock is
    ahead of ours.
    """

    value: str = field(default="", repr=False)
    expires: str = ""
    refusal: str = ""
    issued: str = ""
    status: int | None = None
    ahead: float = 0.0
    gateway: bool = False

    @property
    def ending(self) -> bool:
        """Whether the token has expired or soon will; a short-lived token is used for half its life."""
        left, whole = self._left(datetime.now(UTC)), self._left(read_timestamp(self.issued))
        if left is None or whole is None:
            return self.environment
        return left < min(_MARGIN, max(whole / 2, timedelta()))

    @property
    def over(self) -> bool:
        """Whether the expiration that the service gave has passed, by the service's own clock."""
        left = self._left(datetime.now(UTC))
        return left is not None and left <= timedelta()

    @property
    def environment(self) -> bool:
        """Whether the environment prevented a token, so that another try may succeed."""
        return not self.value and (self.status is None or self.status in GATEWAY_STATUSES)

    def _left(self, at: datetime | None) -> timedelta | None:
        """How long it is valid after a moment of our clock; None if that is unknown."""
        end = read_timestamp(self.expires)
        return None if end is None or at is None else end - at - timedelta(seconds=self.ahead)


@dataclass(eq=False, repr=False)
class TokenStore:
    """Tokens of a run by role, shared by its workers.

    `issue` asks the service for one; `learn` is called with every token, so that it is redacted.
    """

    shared: SharedState
    issue: Callable[[str], Token]
    learn: Callable[[str], None]
    _tokens: dict[str, Token] = field(default_factory=dict)
    _refused: set[str] = field(default_factory=set)
    _expired_once: set[str] = field(default_factory=set)

    def token(self, role: str, *, as_it_is: bool = False) -> Token:
        """The role's token, issued on first use by any worker; `as_it_is` does not renew it."""
        token = self._tokens.get(role)
        if token is not None and (as_it_is or not token.ending):
            return token
        token = self.shared.renewed(
            _name(role),
            lambda: self.issue(role),
            lambda kept: not kept.ending and kept.value not in self._refused,
        )
        self.learn(token.value)
        self._tokens[role] = token
        return token

    def expire_tokens_once(self) -> None:
        """Drop each role's token once, so that its next request signs in: the promises hold for later tokens, too.

        Only while no request is under way and there are no other workers: it may end a token that is in use.
        """
        for role in self._tokens.keys() - self._expired_once:
            self.forget(role, self._tokens[role].value)
            self._expired_once.add(role)

    def forget(self, role: str, refused: str) -> None:
        """Drop a token that no longer works, unless another worker has renewed it already."""
        self._tokens.pop(role, None)
        self._refused.add(refused)

    def note_sign_in(self) -> None:
        """Note that a case signed in by itself: some services then end an account's earlier tokens."""
        self.shared.put(_SIGNED_IN, datetime.now(UTC).isoformat())

    def last_sign_in(self) -> str:
        """When a case last signed in by itself; empty for never."""
        return str(self.shared.offered(_SIGNED_IN) or "")

    def displaced(self, role: str, value: str) -> bool:
        """Whether a token may have ended before its time: a case has signed in since, or another worker renewed it."""
        stored: Token | None = self.shared.offered(_name(role))
        # Both are ISO 8601 by this machine's clock, in UTC.
        return stored is None or stored.value != value or self.last_sign_in() > stored.issued


def _name(role: str) -> str:
    return f"token of the {role}"


#: Smaller differences between clocks are ignored: Date has no fractions, and an answer takes time.
CLOCKS_AGREE_SECONDS = 5.0


def sendable(token: str) -> bool:
    """Whether a header can hold a token: a line break in it would begin another header."""
    return bool(token) and not any(sign in token for sign in "\r\n\0")


def token_of(answer: Response) -> Token:
    """The token that an answer to createToken gives, or why it gives none."""
    record = answer.json if isinstance(answer.json, dict) else {}
    value = record.get("authenticationToken")
    if answer.page:
        return Token(refusal=page_words(answer), status=answer.status)
    if not answer.success or not isinstance(value, str) or not value:
        return Token(refusal=f"status {answer.status}, no authenticationToken", status=answer.status)
    if not sendable(value):
        return Token(refusal=f"status {answer.status}, a token that no header can hold", status=answer.status)
    expires = record.get("expiration")
    now = datetime.now(UTC)
    ahead = seconds_ahead(answer, now) or 0.0
    return Token(
        value=value,
        expires=expires if isinstance(expires, str) else "",
        issued=now.isoformat(),
        status=answer.status,
        ahead=ahead if abs(ahead) > CLOCKS_AGREE_SECONDS else 0.0,
    )


def seconds_ahead(answer: Response, now: datetime) -> float | None:
    """Seconds by which the service's clock is ahead of ours, by the Date of an answer that came `now`; None without."""
    try:
        there = parsedate_to_datetime(answer.headers["date"])
        return (there.astimezone(UTC) - now).total_seconds()
    except (KeyError, ValueError, OverflowError):
        return None
