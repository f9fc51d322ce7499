"""Checks for the chapter on requests: accepted and refused, bodies and media types, server errors and secrets."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from registry_contracts.checks import errors_array
from registry_contracts.checks.definition import Arguments, Check, Subject, quoted_unless
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Exchange, Response
from registry_contracts.exchanges.foreign_answers import GATEWAY_STATUSES
from registry_contracts.exchanges.readers import Ambiguous
from registry_contracts.exchanges.redaction import is_ordinary
from registry_contracts.exchanges.request_facts import all_faults
from registry_contracts.interface.description import operations_with

#: A shorter one may occur in an answer by chance.
_SHORTEST_SECRET: Final = 8

_NOT_IMPLEMENTED: Final = 501


def _right_request(subject: Subject, clause: str) -> Arguments | None:
    """Applies to a request that its sender knows to be valid; to its acceptance only if that shows something."""
    facts = subject.facts
    if facts is None or not subject.right or all_faults(facts):
        return None
    clauses = facts.operation.clauses
    if clause != clauses.right_request:
        return None
    return {} if clauses.accepted is not None or not subject.response.success or subject.turned_down else None


def _not_head(subject: Subject, _: str) -> Arguments | None:
    return {} if subject.exchange.method != "HEAD" else None


def _head(subject: Subject, _: str) -> Arguments | None:
    return {} if subject.exchange.method == "HEAD" else None


def _of_its_own_making(subject: Subject, _: str) -> Arguments | None:
    """Applies unless a gateway may have answered, or the service does not implement something, as OData allows."""
    exempt = {_NOT_IMPLEMENTED, *GATEWAY_STATUSES}
    return {} if subject.response.status not in exempt and not subject.exchange.error_due else None


def _secret_of_the_request(subject: Subject, _: str) -> Arguments | None:
    secret = secret_sent(subject.exchange)
    return {"secret": secret} if secret is not None and subject.knows(secret) else None


def _json_that_is_due(subject: Subject, _: str) -> Arguments | None:
    """Applies to JSON that the document shows: that of a success, and a refusal with errors."""
    response = subject.response
    exchange = subject.exchange
    if exchange.method == "HEAD" or exchange.operation in operations_with(answers="file"):
        return None
    body = response.json
    shown = response.success or (response.refusal and isinstance(body, dict) and bool(body.get("errors")))
    return {} if shown and isinstance(body, dict | list) else None


def _with_status(response: Response, *, status: int | None) -> str | None:
    return None if response.status == status else response.quote()


def _content(response: Response) -> str | None:
    return f"{len(response.content)} bytes of content" if response.content else None


def _empty_or_json(response: Response) -> bool:
    if response.charset:
        return False
    return not response.content.strip() or response.json is not None or response.text.strip() == "null"


def _label(response: Response) -> str | None:
    if "json" in response.media_type:
        return None
    return f"Content-Type {response.headers.get('content-type', 'absent')}"


def _accepts(condition: Callable[[Response], bool]) -> Callable[[Response], str | None]:
    """A comparison for an answer that must accept or refuse; raises `Ambiguous` for a redirect."""

    def contradiction(response: Response) -> str | None:
        if response.redirect and not response.success:
            raise Ambiguous(f"a redirect ({response.quote()}) neither accepts nor refuses")
        return None if condition(response) else response.quote()

    return contradiction


def _echo(response: Response, *, secret: str) -> str | None:
    # A session cookie with the token tells it to nobody else.
    headers = (text for name, text in response.headers.items() if name.lower() != "set-cookie")
    shown = any(_stands_in(secret, text) for text in (*headers, response.text))
    return f"{response.status} with the secret of the request in it" if shown else None


def _stands_in(secret: str, text: str) -> bool:
    """Whether a text holds a secret as a whole word."""
    return secret in text and re.search(rf"(?<![\w-]){re.escape(secret)}(?![\w-])", text) is not None


def secret_sent(exchange: Exchange) -> str | None:
    """The password or token in a request; None if an answer might hold the same text by chance."""
    if exchange.operation == "createToken":
        record = exchange.request_body.json
        secret = record.get("password") if isinstance(record, dict) else None
    else:
        secret = exchange.request_headers.get("Authorization", "").partition(" ")[2]
    telling = isinstance(secret, str) and len(secret) >= _SHORTEST_SECRET and not is_ordinary(secret)
    return secret if telling else None


ACCEPTANCE: Final = Check(
    "accepted", "accepted (2xx)", _accepts(lambda response: response.success), of_acceptance=True
)
TAKEN: Final = Check(
    "taken",
    "accepted (2xx), without errors",
    _accepts(errors_array.accepted),
    of_operation=lambda operation: operation.clauses.right_request,
    applies=_right_request,
    of_acceptance=True,
)
REFUSED: Final = Check("refused", "refused (4xx)", _accepts(lambda response: response.refusal))
TURNED_DOWN: Final = Check(
    "turned-down", "refused", _accepts(lambda response: response.refusal or bool(readers.errors(response)))
)
STATUS: Final = Check("status", "{status}", _with_status)
NO_CONTENT: Final = Check(
    "no-content", "no content", _content, clauses=("head-without-body",), applies=_head, any_status=True
)
EMPTY_OR_JSON: Final = Check(
    "empty-or-json",
    "an empty body or JSON",
    quoted_unless(_empty_or_json),
    clauses=("json-bodies",),
    applies=_not_head,
    any_status=True,
    of_form=True,
)

BELOW_500: Final = Check(
    "below-500",
    "an answer below 500, whatever was sent",
    quoted_unless(lambda response: response.status < 500),
    clauses=("no-server-error",),
    universal=True,
    applies=_of_its_own_making,
    any_status=True,
)
NO_SECRET: Final = Check(
    "no-secret",
    "no password and no token in the answer",
    _echo,
    clauses=("no-secret-echoed",),
    universal=True,
    applies=_secret_of_the_request,
    any_status=True,
)
#: Checks of every exchange of every case; they do not fail the case.
UNIVERSAL: Final = (
    BELOW_500,
    NO_SECRET,
    Check(
        "json-labelled",
        "a JSON body labelled as JSON",
        _label,
        clauses=("json-labelled-json",),
        universal=True,
        applies=_json_that_is_due,
        any_status=True,
        of_form=True,
    ),
)
