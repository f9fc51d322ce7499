"""Authentication: adds the role's token to requests, and renews a token that has ended.

A token may end early: by a later sign-in, or a restart of the service. If a fresh token is refused, the refusal
stands: that is a finding.
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
from registry_contracts.session.pipeline import Request, Stage, encoded, listed_headers
from registry_contracts.session.tokens import Token, TokenStore
from registry_contracts.settings.target import DOCUMENT_REALMS

SIGN_IN: Final = "createToken"
#: Credentials are missing or invalid (RFC 9110, 15.5.2).
_UNAUTHENTICATED: Final = 401
#: Statuses of a refusal that may concern the account (RFC 9110, 15.5.2 and 15.5.4).
_FOR_THE_ACCOUNT: Final = (_UNAUTHENTICATED, 403)
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
    """Adds the role's token to requests, and repeats a request whose token had ended.

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
        if answer.status not in _FOR_THE_ACCOUNT and not self._shown_unknown(request, token, answer.status):
            return False
        self.tokens.forget(request.role, token.value)
        return True

    def _early(self, request: Request, answer: Response) -> tuple[str, str] | None:
        """The refused token, as text, and when it was issued, if it had no reason to end; it is then dropped.

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
        listing = load_description().operations["listDrafts"]
        headers = {name: value or "" for name, value in listed_headers(listing, request.realm).items()}
        probe = Request(
            listing.id,
            listing.method,
            listing.url(self.base_url),
            {**headers, "Authorization": encoded(f"Bearer {token}")},
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
    return answer.status == _UNAUTHENTICATED or readers.contains_message(answer, anonymous)
