"""Authentication: one token per role and run, shared by all workers; adds it to requests and renews it.

A token may end early: by a later sign-in, or a restart of the service. If a fresh token is refused, the refusal
stands: that is a finding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

from registry_contracts.errors import EnvironmentFault
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import TOKEN_ENDED, Exchange, Response, read_timestamp
from registry_contracts.exchanges.foreign_answers import GATEWAY_STATUSES, page_words
from registry_contracts.interface.catalogue import load_catalogue
from registry_contracts.interface.operations import SIGN_IN
from registry_contracts.session.breaker import Breaker
from registry_contracts.session.pipeline import Request, Stage, encoded, plain_request
from registry_contracts.session.shared_state import SharedState
from registry_contracts.settings.target import DOCUMENT_REALMS

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
        """The role's token, issued on first use by any worker; with `as_it_is` it is not renewed, even if it ends."""
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
    ahead = clock_ahead(answer, now) or 0.0
    return Token(
        value=value,
        expires=expires if isinstance(expires, str) else "",
        issued=now.isoformat(),
        status=answer.status,
        ahead=ahead if abs(ahead) > CLOCKS_AGREE_SECONDS else 0.0,
    )


def clock_ahead(answer: Response, now: datetime) -> float | None:
    """Seconds by which the service's clock is ahead of ours, by the Date of an answer that came `now`; None without."""
    try:
        there = parsedate_to_datetime(answer.headers["date"])
        return (there.astimezone(UTC) - now).total_seconds()
    except (KeyError, ValueError, OverflowError):
        return None


#: Credentials are missing or invalid (RFC 9110, 15.5.2).
UNAUTHENTICATED: Final = 401
#: Statuses of a refusal that may concern the account (RFC 9110, 15.5.2 and 15.5.4).
FOR_THE_ACCOUNT: Final = (UNAUTHENTICATED, 403)
#: Key in the shared state of the tokens that ended early.
_ENDED_EARLY: Final = "which tokens ended early"
#: The fault to count for each of them.
ENDED_EARLY: Final = "a token refused before its expiration, and a fresh one accepted"
#: Length of a timestamp up to its seconds.
_SECONDS: Final = len("2026-01-31T08:15:00")
#: Fresh tokens for one request if tokens are known to end early: another request may have ended one meanwhile.
_RENEWALS: Final = 3
#: A made-up token, and the key in the shared state of the status that refuses it.
NO_TOKEN: Final = "rc-no-such-token"  # noqa: S105 - it opens nothing
_UNKNOWN_REFUSED: Final = "status for an unknown token"
#: The case of the requests that test whether a token is known.
_TESTING_TOKEN: Final = "[testing a token]"  # noqa: S105 - no token


class NoTokenError(EnvironmentFault):
    """The service gave this role no token."""


@dataclass
class EarlyEnd:
    """A token that was refused before its expiration, as text, and when the next one was issued."""

    words: str
    renewed: str
    reported: bool = False


@dataclass(eq=False, repr=False)
class Authentication:
    """Adds the role's token to requests, and repeats a request whose token was no longer valid.

    `note_fault` is called with each exchange whose token was refused for no visible reason, and a text.
    """

    below: Stage
    tokens: TokenStore
    breaker: Breaker
    base_url: str
    note_fault: Callable[[Exchange, str], None]
    #: Roles and operations for which a fresh token was refused like the one before.
    _refuses_all: set[tuple[str, str | None]] = field(default_factory=set)
    #: By token, the last sign-in of a case after which the service still knew the token.
    _known_since: dict[str, str] = field(default_factory=dict)

    def token(self, role: str) -> str:
        """A role's bearer token. Raises `NoTokenError` if the service gave none."""
        token = self.tokens.token(role)
        if not token.value:
            raise NoTokenError(f"createToken gave the {role} no token: {token.refusal}")
        return token.value

    def another_early_end(self) -> str:
        """A token that was refused before its expiration while a fresh one was accepted, as text; empty for none.

        Each is reported once. Tokens that one event may have ended, since they existed together, count as one.
        """
        with self.tokens.shared.held(_ENDED_EARLY, list[EarlyEnd]) as ended:
            for each in ended:
                if not each.reported:
                    each.reported = True
                    return each.words
        return ""

    @property
    def _some_end_early(self) -> bool:
        return bool(self.tokens.shared.offered(_ENDED_EARLY))

    def _note_early_end(self, words: str, issued: str, role: str) -> None:
        with self.tokens.shared.held(_ENDED_EARLY, list[EarlyEnd]) as ended:
            if not ended or issued >= ended[-1].renewed:
                ended.append(EarlyEnd(words, self.tokens.token(role, as_it_is=True).issued))

    def send(self, request: Request) -> Exchange:
        """Send a request; send it again with a fresh token if it was refused because of the old one."""
        signed = self._signed(request) if request.signed else request
        exchange = self.below.send(signed)
        if request.operation == SIGN_IN and exchange.response is not None and exchange.response.success:
            self.tokens.note_sign_in()
        left = _RENEWALS if request.signed else 0
        while left and exchange.answered and exchange.answer.refusal:
            outlived = self._outlived(signed, exchange.answer)
            early = None if outlived else self._early(signed, exchange.answer)
            if not outlived and early is None:
                break
            signed, before = self._signed(request), exchange
            exchange = self.below.send(signed)
            refused = _not_known(exchange.response)
            if early is not None and exchange.answered and not refused:
                self.note_fault(before, ENDED_EARLY)
                words, issued = early
                words += f", was refused in {request.realm}, and a fresh one accepted"
                self._note_early_end(words, issued, request.role)
            left = left - 1 if self._some_end_early else 0
            if refused and self._some_end_early:
                exchange.notes |= {TOKEN_ENDED: True}
            if refused and not left:
                self._refuses_all.add((request.role, request.operation))
        return exchange

    def _signed(self, request: Request) -> Request:
        token = encoded(f"Bearer {self.token(request.role)}")
        return replace(request, headers={**request.headers, "Authorization": token})

    def _outlived(self, request: Request, answer: Response) -> bool:
        """Whether a refusal may only mean that the role's token has ended meanwhile; if so, drop the token.

        It may have expired; a later sign-in may have ended it, since the document does not forbid that; or the service
        may have restarted and forgotten it.
        """
        token = self.tokens.token(request.role, as_it_is=True)
        if not _carries(request, token):
            return False
        issued = read_timestamp(token.issued)
        forgotten = issued is not None and self.breaker.fault_since(issued.timestamp())
        if not (token.over or self.tokens.displaced(request.role, token.value) or forgotten):
            return False
        if answer.status not in FOR_THE_ACCOUNT and not self._shown_unknown(request, token, answer.status):
            return False
        self.tokens.forget(request.role, token.value)
        return True

    def _early(self, request: Request, answer: Response) -> tuple[str, str] | None:
        """The refused token, as text, and when it was issued, if it should still be valid; it is then dropped.

        None if the refusal is not about the token, or if the operation is known to refuse every token of the role.
        """
        hopeless = (request.role, request.operation) in self._refuses_all
        if not _not_known(answer) or (hopeless and not self._some_end_early):
            return None
        token = self.tokens.token(request.role, as_it_is=True)
        if not _carries(request, token):  # a parallel call has renewed it meanwhile
            return f"a token of {request.role}", ""
        self.tokens.forget(request.role, token.value)
        until = f" and valid until {token.expires}" if token.expires else ""
        return f"a token of {request.role}, issued at {token.issued[:_SECONDS]}Z{until}", token.issued

    def _shown_unknown(self, request: Request, token: Token, status: int) -> bool:
        """Whether the service refuses unknown tokens with this status, and this token too.

        The document gives no such status outside the workflow, so a list of drafts with a made-up token shows it, once
        in a run.
        """
        last = self.tokens.last_sign_in()
        # Earlier knowledge of the token is worthless once its expiration has passed.
        known = not token.over and self._known_since.get(token.value) == last
        if request.realm not in DOCUMENT_REALMS or known:
            return False
        usual = self.tokens.shared.once(_UNKNOWN_REFUSED, lambda: self._status_for(request, NO_TOKEN))
        if status != usual:
            return False
        if self._status_for(request, token.value) == usual:
            return True
        self._known_since[token.value] = last
        return False

    def _status_for(self, request: Request, token: str) -> int | None:
        """The status of a list of drafts with a token; None without an answer."""
        probe = plain_request(
            "listDrafts",
            self.base_url,
            headers={"Authorization": encoded(f"Bearer {token}")},
            altered="other credentials",
            case=_TESTING_TOKEN,
            realm=request.realm,
            role=request.role,
        )
        return self.below.send(probe).status


def _carries(request: Request, token: Token) -> bool:
    return request.headers.get("Authorization") == encoded(f"Bearer {token.value}")


def _not_known(answer: Response | None) -> bool:
    """Whether an answer says that the token is unknown: by status 401, or the workflow table's message."""
    if answer is None or not answer.refusal:
        return False
    anonymous = load_catalogue().clause("workflow-anonymous").message or ""
    return answer.status == UNAUTHENTICATED or readers.contains_message(answer, anonymous)
