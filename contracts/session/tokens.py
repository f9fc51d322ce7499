"""One token per role and run, shared by all workers through a private file, renewed before it expires."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path

from filelock import FileLock

from contracts.exchanges.exchange import Response, read_timestamp
from contracts.exchanges.readers import GATEWAY_STATUSES, page_words
from contracts.session.shared_state import write_whole

#: A token this close to its end is renewed before it is used.
_MARGIN = timedelta(seconds=20)
_SIGNED_IN = "signed-in"


@dataclass(frozen=True)
class Token:
    """A token, or the reason why the service gave none.

    Attributes:
        value: The bearer token; empty when there is none.
        expires: ISO 8601, as given; empty when unreadable.
        refusal: Why there is no token; empty when there is one.
        issued: When it was asked for, ISO 8601.
        status: The status of the answer; None when there was none.
        ahead: Seconds by which the service's clock is ahead of ours.
        gateway: Whether something answered in the place of the service.
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
        """Whether the token is over or will be in a moment; a short-lived one is used for half its life."""
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
        """Whether it was the environment that stood in the way of a token, so that another try may succeed."""
        return not self.value and (self.status is None or self.status in GATEWAY_STATUSES)

    def _left(self, at: datetime | None) -> timedelta | None:
        """How long it is valid from a moment of our clock on; None when that cannot be told."""
        end = read_timestamp(self.expires)
        return None if end is None or at is None else end - at - timedelta(seconds=self.ahead)


class TokenStore:
    """Tokens of a run by role, shared by its workers through a private folder (0700) outside the reports.

    Args:
        issue: Asks the service for a token of a role.
        learn: Called with every token, so that it is blanked out of what is written.
    """

    def __init__(self, folder: Path, issue: Callable[[str], Token], learn: Callable[[str], None]) -> None:
        self._folder = folder
        self._issue = issue
        self._learn = learn
        self._tokens: dict[str, Token] = {}

    def token(self, role: str, *, as_it_is: bool = False) -> Token:
        """The role's token, issued on first use by any worker; `as_it_is` also when it ought to be renewed."""
        token = self._tokens.get(role)
        if token is not None and (as_it_is or not token.ending):
            return token
        path = self._path(role)
        with FileLock(f"{path}.lock"):
            token = _read(path)
            if token is None or token.ending:
                token = self._issue(role)
                write_whole(path, json.dumps(asdict(token)).encode())
        self._learn(token.value)
        self._tokens[role] = token
        return token

    def forget(self, role: str, refused: str) -> None:
        """Drop a token that no longer works, unless another worker has renewed it already."""
        self._tokens.pop(role, None)
        path = self._path(role)
        with FileLock(f"{path}.lock"):
            stored = _read(path)
            if stored is not None and stored.value == refused:
                path.unlink()

    def note_sign_in(self) -> None:
        """Remember that a case has signed in by itself: some services end an account's earlier tokens then."""
        (self._folder / _SIGNED_IN).write_text(datetime.now(UTC).isoformat(), encoding="utf-8")

    def last_sign_in(self) -> str:
        """When a case has last signed in by itself; empty for never."""
        mark = self._folder / _SIGNED_IN
        return mark.read_text(encoding="utf-8") if mark.exists() else ""

    def displaced(self, role: str, value: str) -> bool:
        """Whether a token may have ended before its time: a case has signed in since, or another worker renewed it."""
        stored = _read(self._path(role))
        # Both are ISO 8601 by this machine's clock, in UTC.
        return stored is None or stored.value != value or self.last_sign_in() > stored.issued

    def _path(self, role: str) -> Path:
        return self._folder / f"token-{role}.json"


def _read(path: Path) -> Token | None:
    try:
        content = path.read_text(encoding="utf-8")
    except FileNotFoundError:  # another worker may just have dropped it
        return None
    return Token(**json.loads(content))


#: Two clocks this close are taken to agree: Date knows no fractions, and an answer takes its time.
CLOCKS_AGREE_SECONDS = 5.0


def sendable(token: str) -> bool:
    """Whether a token can stand in a header: a line break would end it, and begin another header."""
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
