"""Who is who in traffic: tokens as they are issued, accounts behind them, and tokens that are refused too early."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from contracts.checking.request_facts import Credentials
from contracts.judging.rows import Row, tells
from contracts.session.recording import SHORTEST_TOKEN
from contracts.session.tokens import read_timestamp
from contracts.traffic.discretion import credential
from contracts.traffic.passed import Passed
from contracts.traffic.steps import Followed, Step, Suspicion

#: How long before its expiration a token is good for sure, whatever the clocks say.
_MARGIN: Final = timedelta(minutes=2)
_TOKEN: Final = "authenticationToken"  # noqa: S105 - a member's name
_SHORTEST_SECRET: Final = 8


@dataclass(frozen=True)
class _Issued:
    account: str
    entry: int
    good_until: datetime | None


class SignIns:
    """Follows tokens; keeps digests of them, and for echoes the secrets themselves, in memory only."""

    def __init__(self) -> None:
        self._issued: Followed[_Issued] = Followed(500)
        self._secrets: Followed[str] = Followed(500)

    def knows(self, secret: str) -> bool:
        """Whether a text is a token that was issued here, or a password that signed somebody in."""
        return self._secrets.get((secret,)) is not None

    def who(self, passed: Passed) -> str | None:
        """The account of a request where its sign-in was seen, else its token; None where nobody can tell."""
        token = credential(passed)
        if token is None:
            return None
        issued = self._issued.get((_site(passed), _digest(token)))
        return f"account {issued.account}" if issued else f"token {_digest(token)}"

    def learn(self, passed: Passed, sent: Any, answered: Any) -> None:
        """Learn from an answer to signing in, before it is judged."""
        if not isinstance(sent, dict) or not isinstance(answered, dict) or not 200 <= passed.status < 300:
            return
        email, password, token = sent.get("email"), sent.get("password"), answered.get(_TOKEN)
        if not isinstance(token, str) or len(token) < SHORTEST_TOKEN or not isinstance(email, str):
            return
        until = read_timestamp(str(answered.get("expiration")))
        good = until - _MARGIN if until is not None else None
        account = _digest(email.strip().lower())
        self._issued.put((_site(passed), _digest(token)), _Issued(account, passed.number, good))
        self._secrets.put((token,), token)
        # A password that is part of the e-mail may well be told.
        if isinstance(password, str) and len(password) >= _SHORTEST_SECRET and password not in email:
            self._secrets.put((password,), password)

    def take(self, step: Step) -> Iterator[Suspicion]:
        """Say whether a token that ought to be good is taken for none."""
        token = credential(step.passed)
        issued = self._issued.get((step.site, _digest(token))) if token is not None else None
        if issued is None or issued.good_until is None or step.answer is None or step.passed.at is None:
            return
        made_up = step.facts.credentials is Credentials.MADE_UP
        if step.passed.at >= issued.good_until or made_up or not step.right:
            return
        turned_away = step.answer.status == 401 or tells(step.answer, Row.ANONYMOUS, step.realm)
        if turned_away or step.taken:
            yield Suspicion(
                "token-opens-protected",
                issued.account,
                "the token is taken: it was issued before and has not expired",
                step.answer.quote(),
                issued.entry,
                not turned_away,
            )


def _site(passed: Passed) -> str:
    return site_of(passed.url)


def site_of(url: str) -> str:
    """Scheme and host of an address, in small letters."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}".lower()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
