"""Authentication: puts a role's token on requests, and renews one that has ended.

A token may end before its expiration: by a later sign-in, by a restart of the service. A token that is refused although
it is fresh is a finding (design 4.7), and stays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from registry_contracts.errors import EnvironmentFault
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import TOKEN_ENDED, Exchange, Response, read_timestamp
from registry_contracts.interface.catalogue import load_catalogue
from registry_contracts.interface.description import load_description
from registry_contracts.session.breaker import Breaker
from registry_contracts.session.layers import Layer, Request, encoded, listed_headers
from registry_contracts.session.shared_state import SharedState
from registry_contracts.session.tokens import Token, TokenStore
from registry_contracts.settings.target import DOCUMENT_REALMS

SIGN_IN: Final = "createToken"
#: Credentials are lacking, or are none (RFC 9110, 15.5.2).
_UNAUTHENTICATED: Final = 401
#: Statuses of a refusal that may be about who asks (RFC 9110, 15.5.2 and 15.5.4).
_ABOUT_WHO_ASKS: Final = (_UNAUTHENTICATED, 403)
#: Under which it is kept which token was refused before its time; so many signs of a timestamp tell it to the second.
_ENDED_EARLY: Final = "which tokens ended early"
#: What is told of one, each time.
ENDED_EARLY: Final = "a token refused before its expiration, and a fresh one taken"
_SECONDS: Final = len("2026-01-31T08:15:00")
#: Fresh tokens for one request where tokens are known to end early: others may have used one up meanwhile.
_RENEWALS: Final = 3
#: A token that no service has given out, and how a service is remembered to refuse it.
NO_TOKEN: Final = "rc-no-such-token"  # noqa: S105 - it opens nothing
_UNKNOWN_REFUSED: Final = "status for an unknown token"
#: The case on whose behalf it is seen whether a token is known.
_LOOKING: Final = "[looking at a token]"


class NoTokenError(EnvironmentFault):
    """The service gave this role no token, so nothing can be done as it."""


@dataclass
class EarlyEnd:
    """A token that was refused before its expiration, in words, and when the one was issued that was taken then."""

    words: str
    renewed: str
    told: bool = False


@dataclass(eq=False, repr=False)
class Authentication:
    """Signs requests with the token of their role, and sends one again whose token had ended.

    `tell` takes each exchange that was refused for a token without a reason to end, and what is to be told of it.
    """

    below: Layer
    tokens: TokenStore
    shared: SharedState
    breaker: Breaker
    base_url: str
    tell: Callable[[Exchange, str], None]
    #: Roles and operations of which a fresh token was refused just as the one before.
    _beyond_cure: set[tuple[str, str | None]] = field(default_factory=set)
    #: The last sign-in of a case after which a token was seen to be known still.
    _known_since: dict[str, str] = field(default_factory=dict)

    def token(self, role: str) -> str:
        """A role's bearer token. Raises `NoTokenError` where the service gave none."""
        token = self.tokens.token(role)
        if not token.value:
            raise NoTokenError(f"createToken gave the {role} no token: {token.refusal}")
        return token.value

    def another_early_end(self) -> str:
        """Which token was refused before its expiration where a fresh one was taken, in words; empty where none was.

        Each is told once. Those that were issued before another one ended count for one with it, since one event may
        have ended them all.
        """
        with self.shared.held(_ENDED_EARLY, list[EarlyEnd]) as ended:
            for each in ended:
                if not each.told:
                    each.told = True
                    return each.words
        return ""

    @property
    def _some_end_early(self) -> bool:
        return bool(self.shared.offered(_ENDED_EARLY))

    def _note_early_end(self, words: str, issued: str, role: str) -> None:
        with self.shared.held(_ENDED_EARLY, list[EarlyEnd]) as ended:
            if not ended or issued >= ended[-1].renewed:
                ended.append(EarlyEnd(words, self.tokens.token(role, as_it_is=True).issued))

    def send(self, request: Request) -> Exchange:
        """Send a request, and again with a fresh token where it was refused for the old one."""
        signed = self._signed(request) if request.signed else request
        exchange = self.below.send(signed)
        if request.operation == SIGN_IN and exchange.response is not None and exchange.response.success:
            self.tokens.note_sign_in()
        left = _RENEWALS if request.signed and not request.once else 0
        while left and exchange.answered and exchange.answer.refusal:
            outlived = self._outlived(signed, exchange.answer)
            early = None if outlived else self._early(signed, exchange.answer)
            if not outlived and early is None:
                break
            signed, before = self._signed(request), exchange
            exchange = self.below.send(signed)
            refused = _not_known(exchange.response)
            if early is not None and exchange.answered and not refused:
                self.tell(before, ENDED_EARLY)
                words, issued = early
                words += f", was refused in {request.realm}, and a fresh one taken"
                self._note_early_end(words, issued, request.role)
            left = left - 1 if self._some_end_early else 0
            if refused and self._some_end_early:
                exchange.notes |= {TOKEN_ENDED: True}
            if refused and not left:
                self._beyond_cure.add((request.role, request.operation))
        return exchange

    def _signed(self, request: Request) -> Request:
        token = encoded(f"Bearer {self.token(request.role)}")
        return replace(request, headers={**request.headers, "Authorization": token})

    def _outlived(self, request: Request, answer: Response) -> bool:
        """Whether a refusal may only mean that the role's own token has ended meanwhile; the token is dropped then.

        It may have expired, or been ended by a later sign-in, which is not shown, or the service may have forgotten it
        when something disturbed it.
        """
        token = self.tokens.token(request.role, as_it_is=True)
        if not _carries(request, token):
            return False
        issued = read_timestamp(token.issued)
        forgotten = issued is not None and self.breaker.fault_since(issued.timestamp())
        if not (token.over or self.tokens.displaced(request.role, token.value) or forgotten):
            return False
        if answer.status not in _ABOUT_WHO_ASKS and not self._shown_unknown(request, token, answer.status):
            return False
        self.tokens.forget(request.role, token.value)
        return True

    def _early(self, request: Request, answer: Response) -> tuple[str, str] | None:
        """Which token a refusal for credentials was about that had no reason to end, and its issue; it is dropped.

        An answer about who asks is no answer about what was asked. Where a fresh token changes nothing, the operation
        refuses every token, and is not asked twice again: None.
        """
        beyond = (request.role, request.operation) in self._beyond_cure
        if not _not_known(answer) or (beyond and not self._some_end_early):
            return None
        token = self.tokens.token(request.role, as_it_is=True)
        if not _carries(request, token):  # a call beside this one has had it replaced meanwhile
            return f"a token of {request.role}'s", ""
        self.tokens.forget(request.role, token.value)
        until = f" and valid until {token.expires}" if token.expires else ""
        return f"a token of {request.role}'s, issued at {token.issued[:_SECONDS]}Z{until}", token.issued

    def _shown_unknown(self, request: Request, token: Token, status: int) -> bool:
        """Whether the service refuses a token that it does not know with this status, and this token just so.

        The document shows no status for it outside the workflow, so it is tried, once in a run, by a list of drafts.
        """
        last = self.tokens.last_sign_in()
        # That it was known once says nothing any more when its expiration has passed.
        known = not token.over and self._known_since.get(token.value) == last
        if request.realm not in DOCUMENT_REALMS or known:
            return False
        usual = self.shared.once(_UNKNOWN_REFUSED, lambda: self._status_for(request, NO_TOKEN))
        if status != usual:
            return False
        if self._status_for(request, token.value) == usual:
            return True
        self._known_since[token.value] = last
        return False

    def _status_for(self, request: Request, token: str) -> int | None:
        """How a list of drafts is answered to a token; None where it has no answer."""
        listing = load_description().operations["listDrafts"]
        headers = {name: value or "" for name, value in listed_headers(listing, request.realm).items()}
        look = Request(
            listing.id,
            listing.method,
            listing.url(self.base_url),
            {**headers, "Authorization": encoded(f"Bearer {token}")},
            altered="other credentials",
            case=_LOOKING,
            realm=request.realm,
            role=request.role,
        )
        return self.below.send(look).status


def _carries(request: Request, token: Token) -> bool:
    return request.headers.get("Authorization") == encoded(f"Bearer {token.value}")


def _not_known(answer: Response | None) -> bool:
    """Whether an answer says that the token is unknown: 401, or the row of the workflow table on that."""
    if answer is None or not answer.refusal:
        return False
    anonymous = load_catalogue().clause("workflow-anonymous").message or ""
    return answer.status == _UNAUTHENTICATED or readers.contains_message(answer, anonymous)
