"""Asks the service for a role's token, with the account that the settings name."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from contracts.errors import EnvironmentFault
from contracts.interface.description import Description
from contracts.session.door import Call, Context, Door
from contracts.session.exchange import Answer
from contracts.session.tokens import Token
from contracts.target.model import ANY_REALM, Target

CASE = "[signing in]"
#: Two clocks this close, in seconds, are taken to agree: Date knows no fractions, and an answer takes its time.
_CLOCKS_AGREE = 5.0


def token_issuer(door: Door, target: Target, description: Description) -> Callable[[str], Token]:
    """A function from role to token that never raises for what the service answers.

    The token operation's own cases judge it; here a failure is only noted, as the reason why whatever needs the
    token is inconclusive.
    """
    url = description.operations["createToken"].url(target.base_url)

    def issue(role: str) -> Token:
        account = target.accounts[role]
        body = json.dumps({"email": account.email, "password": account.password.reveal()}).encode()
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        call = Call("createToken", "POST", url, headers, body)
        try:
            answer = door.send(call, Context(CASE, 1, ANY_REALM, role)).answer
        except EnvironmentFault as fault:
            return Token(refusal=str(fault))
        record = answer.json if isinstance(answer.json, dict) else {}
        value = record.get("authenticationToken")
        if not answer.success or not isinstance(value, str) or not value:
            return Token(refusal=f"status {answer.status}, no authenticationToken", status=answer.status)
        expires = record.get("expiration")
        now = datetime.now(UTC)
        return Token(
            value=value,
            expires=expires if isinstance(expires, str) else "",
            issued=now.isoformat(),
            status=answer.status,
            ahead=_ahead(answer, now),
        )

    return issue


def _ahead(answer: Answer, now: datetime) -> float:
    """Seconds by which the service's clock is ahead of ours, by the Date of its answer; small differences are none."""
    try:
        there = parsedate_to_datetime(answer.headers["date"])
    except (KeyError, ValueError):
        return 0.0
    ahead = (there.astimezone(UTC) - now).total_seconds()
    return ahead if abs(ahead) > _CLOCKS_AGREE else 0.0
