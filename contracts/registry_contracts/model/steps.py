"""Steps: exchanges with what the reference model needs to know of each, and the tokens that tell who sent it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple, TypeVar

from registry_contracts.checks import errors_array
from registry_contracts.checks.definition import Check
from registry_contracts.checks.documents import digest_of
from registry_contracts.checks.outcomes import OBSTACLES, CheckOutcome, Result
from registry_contracts.checks.sign_in import EXPIRATION_MEMBER, TOKEN_TAKEN, moment_of, token_in
from registry_contracts.exchanges.exchange import Exchange, Response
from registry_contracts.exchanges.readers import Ambiguous
from registry_contracts.exchanges.redaction import SHORTEST_TOKEN, credential
from registry_contracts.exchanges.request_facts import RequestFacts
from registry_contracts.interface.catalogue import load_catalogue
from registry_contracts.settings.target import Pace

_PORTS: Final = {"http": ":80", "https": ":443"}
#: Prefix of a known account's name; the name of an account of which only a token is known has another one.
ACCOUNT: Final = "account "
#: Default seconds until a change must show in a list.
SETTLE_SECONDS: Final = Pace().settle_seconds
#: Maximum number of records to follow.
_FOLLOWED: Final = 2000
#: Statuses of refusals that depend on the account, the time or the rate.
_NOT_OF_THE_RECORD: Final = (401, 403, 407, 408, 429)
#: A token is surely valid until this long before its expiration, even if clocks differ.
_MARGIN: Final = timedelta(minutes=2)
#: A shorter password may occur in an answer by chance.
_SHORTEST_PASSWORD: Final = 8

State = TypeVar("State")


@dataclass(frozen=True)
class Step:
    """An exchange with everything that the model needs to know.

    Attributes:
        who: The account of the request, or its token; None if unknown.
        right: The request is valid as far as can be seen, and its answer is complete.
        site: Scheme and host; services are followed separately. Empty in a run, which has one service.
    """

    exchange: Exchange
    facts: RequestFacts
    who: str | None
    right: bool = True
    site: str = ""

    @property
    def operation(self) -> str:
        """Its operationId."""
        return self.facts.operation.id

    @property
    def path(self) -> Mapping[str, str]:
        """Values of its placeholders."""
        return self.facts.path

    @property
    def realm(self) -> str:
        """As the request names it, empty for none."""
        return self.facts.realm or ""

    @property
    def answer(self) -> Response | None:
        """The service's answer; None if the environment gave none, and for a server error."""
        answer = self.exchange.response
        return answer if self.exchange.fault is None and answer is not None and answer.status < 500 else None

    @property
    def judged(self) -> Response | None:
        """Its answer if the exchange can contradict an earlier one, else None."""
        return self.answer if self.right and not self.exchange.overlapped else None

    @property
    def taken(self) -> bool:
        """Whether the service clearly accepted the request; what a redirect in a recording means is not known."""
        if self.answer is not None and self.answer.redirect and not self.right:
            return False
        return errors_array.was_taken(self.exchange)

    @property
    def refused(self) -> bool:
        """Whether the service refused it for its content or record, not for its account or rate."""
        answer = self.answer
        if answer is None or answer.page or answer.status in _NOT_OF_THE_RECORD:
            return False
        try:
            return errors_array.turned_down(answer)
        except Ambiguous:
            return True

    @property
    def vague(self) -> bool:
        """Whether its effect is unknown."""
        answered = self.taken or (self.answer is not None and self.answer.refusal)
        return not answered or self.exchange.overlapped

    def settled(self, changed: datetime | None, seconds: float) -> bool:
        """Whether the request was sent at least `seconds` after a change."""
        started = self.exchange.started
        return started is not None and changed is not None and (started - changed).total_seconds() >= seconds


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
        if len(self) > _FOLLOWED:
            del self[next(iter(self))]


def site_of(url: str) -> str:
    """Scheme and host of a URL in lower case, without the default port."""
    scheme, _, rest = url.lower().partition("://")
    return f"{scheme}://{rest.partition('/')[0].removesuffix(_PORTS.get(scheme, '/'))}"


@dataclass(frozen=True)
class _Issued:
    """A token: its account, the number of the exchange that issued it, and until when it is surely valid."""

    account: str
    entry: int
    good_until: datetime | None


class Tokens:
    """The tokens that traffic shows, and the e-mails and passwords they were issued for; in memory only."""

    def __init__(self) -> None:
        #: By service and token.
        self._issued: RecentRecords[_Issued] = RecentRecords()
        #: Services with the e-mails and passwords that signed in, and single secrets.
        self._known: RecentRecords[bool] = RecentRecords()

    def knows(self, secret: str) -> bool:
        """Whether a text is a token that was issued in this traffic, or a password that signed an account in."""
        return (secret,) in self._known

    def signed_in_before(self, exchange: Exchange) -> bool:
        """Whether the same e-mail and password got a token from the same service earlier."""
        return (site_of(exchange.url), *_credentials_in(exchange)) in self._known

    def who(self, exchange: Exchange) -> str | None:
        """The account of a request if its sign-in was seen, else its token; None if it has none."""
        token = credential(exchange)
        if token is None:
            return None
        issued = self._issued.get((site_of(exchange.url), token))
        return ACCOUNT + issued.account if issued else f"token {_digest(token)}"

    def learn(self, exchange: Exchange) -> None:
        """Learn from an answer to signing in, before it is judged."""
        answer, site, (email, password) = exchange.response, site_of(exchange.url), _credentials_in(exchange)
        token = token_in(answer) if answer is not None else None
        if answer is None or token is None or len(token) < SHORTEST_TOKEN or not email:
            return
        until, account = moment_of(answer.json.get(EXPIRATION_MEMBER)), _digest(email.strip().lower())
        for key, earlier in list(self._issued.items()):
            if key[0] == site and earlier.account == account:
                # The document does not say whether a token stays valid after another one was issued.
                self._issued[key] = replace(earlier, good_until=None)
        good_until = until - _MARGIN if until is not None else None
        self._issued[site, token] = _Issued(account, exchange.number, good_until)
        self._known[(token,)] = True
        if password:
            self._known[site, email, password] = True
        # If the password is part of the e-mail, an answer may hold it.
        if len(password) >= _SHORTEST_PASSWORD and password not in email:
            self._known[(password,)] = True

    def take(self, step: Step) -> Iterator[Told]:
        """Check that a token that should be valid is accepted."""
        exchange, token = step.exchange, credential(step.exchange)
        issued = self._issued.get((step.site, token)) if token is not None else None
        if issued is None or issued.good_until is None or not step.right or step.answer is None:
            return
        current = exchange.started is not None and exchange.started < issued.good_until
        # The document does not say whether other spellings of the scheme are accepted.
        as_written = (exchange.request_headers.get("Authorization") or "").startswith("Bearer ")
        if not current or not as_written:
            return
        if step.taken or TOKEN_TAKEN.contradiction(step.answer, realm=step.realm) is not None:
            expected = "the token is accepted: it was issued before and has not expired"
            clause, realm = "token-opens-protected", step.realm
            yield from told(step, clause, TOKEN_TAKEN, issued.account, issued.entry, expected, realm=realm)


def _credentials_in(exchange: Exchange) -> tuple[str, str]:
    """E-mail and password in the body of a sign-in; empty if not a text."""
    sent = exchange.request_body.json
    given = (sent.get("email"), sent.get("password")) if isinstance(sent, dict) else ("", "")
    email, password = (text if isinstance(text, str) else "" for text in given)
    return email, password


def _digest(text: str) -> str:
    """What stands for an e-mail or a token in names, which an error may quote."""
    return digest_of(text.encode("utf-8", "surrogatepass"))
