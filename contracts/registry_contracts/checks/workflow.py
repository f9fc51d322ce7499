"""Checks for the chapter on the workflow: the table of status and message, and the record's identifier."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Final

from registry_contracts.checks import errors_array
from registry_contracts.checks.definition import Arguments, Check, Subject, on_accepted, quoted_unless
from registry_contracts.checks.outcomes import Result, contradicted, usable
from registry_contracts.errors import SuiteError
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Exchange, Response
from registry_contracts.exchanges.request_facts import RequestFacts
from registry_contracts.interface.catalogue import load_catalogue
from registry_contracts.interface.operations import is_valid_uid
from registry_contracts.settings.target import DEVELOPMENT_REALMS, REALMS


class Row(StrEnum):
    """The rows of the workflow table; each value is the clause with its status and message."""

    REALM_MISSING = "workflow-realm-missing"
    REALM_UNKNOWN = "workflow-realm-unknown"
    SCHEMA_UNKNOWN = "workflow-schema-unknown"
    TAKEN = "workflow-identifier-taken"
    UNKNOWN = "workflow-identifier-unknown"
    LOCKED = "workflow-locked-record"
    MAY_NOT_UPDATE = "workflow-update-rights"
    MAY_NOT_CREATE = "workflow-create-rights"
    ANONYMOUS = "workflow-anonymous"


def carries_message(response: Response, row: Row, realm: str = "") -> bool:
    """Whether an unsuccessful answer has a row's message, whatever its status."""
    return not response.success and _has_message(response, row, realm)


def _has_message(response: Response, clause: str, realm: str) -> bool:
    """Whether an answer holds a message; the realm in it may be in any letter case."""
    stated, given = load_catalogue().clause(clause), response.realm_given or realm
    spellings = (realm, realm.lower(), realm.upper(), realm.capitalize(), realm.title(), given)
    messages = {stated.message_in(spelling) or "" for spelling in spellings}
    return any(readers.contains_message(response, message) for message in messages)


def _stated(clause: str, realm: str) -> tuple[int, str]:
    stated = load_catalogue().clause(clause)
    message = stated.message_in(realm)
    if message is None or stated.status is None:
        raise SuiteError(f"clause {clause} has no message and status to compare with")
    return stated.status, message


def _in_words(*, clause: str, realm: str) -> str:
    status, message = _stated(clause, realm)
    return f"{status} {message!r}"


def _another_message(response: Response, *, clause: str, realm: str) -> str | None:
    status, _ = _stated(clause, realm)
    return None if response.status == status and _has_message(response, clause, realm) else response.quote()


def _not_carried(response: Response, *, identifier: str) -> str | None:
    # JSON that cannot be parsed is useless to a client.
    broken = response.json_labelled and response.flaw
    return None if readers.carries_identifier(response, identifier) and not broken else response.quote()


def _names_a_record(response: Response) -> bool:
    named = any(is_valid_uid(value) for value in readers.values(response.json))
    return named or bool(response.headers.get("location", ""))


def _of_the_path(subject: Subject, clause: str) -> Arguments | None:
    if subject.facts is None or on_accepted(subject, clause) is None:
        return None
    return {"identifier": subject.facts.path["identifier"]}


MESSAGE: Final = Check("message", _in_words, _another_message)
IDENTIFIER: Final = Check(
    "identifier",
    "the identifier {identifier} in the answer",
    _not_carried,
    clauses=("workflow-identifier-kept",),
    applies=_of_the_path,
)
ANY_IDENTIFIER: Final = Check(
    "any-identifier",
    "the record's identifier",
    quoted_unless(_names_a_record),
    clauses=("workflow-identifier-returned",),
    applies=on_accepted,
)


def _refused_as_in_use(response: Response) -> bool:
    """Whether a creation was refused, but not for its content; an array named errors may hold a row's message."""
    for_row = carries_message(response, Row.TAKEN) or carries_message(response, Row.LOCKED)
    return response.refusal and (for_row or not readers.errors(response))


RECORD_FOUND: Final = Check(
    "record-found",
    "an update finds the record that was created before",
    quoted_unless(lambda response: not carries_message(response, Row.UNKNOWN)),
)
IN_USE: Final = Check(
    "identifier-in-use", "refused, since the identifier is in use", quoted_unless(_refused_as_in_use)
)
NOT_IN_USE: Final = Check(
    "identifier-not-in-use",
    "an identifier that is not in use",
    quoted_unless(
        lambda response: not (carries_message(response, Row.TAKEN) or carries_message(response, Row.LOCKED))
    ),
)
NOT_LOCKED: Final = Check(
    "identifier-not-locked",
    "no lock under the identifier of a refused submission",
    quoted_unless(lambda response: not carries_message(response, Row.LOCKED)),
)
CHECKS: Final = (MESSAGE, IDENTIFIER, ANY_IDENTIFIER, RECORD_FOUND, IN_USE, NOT_IN_USE, NOT_LOCKED)

_UNCONFIGURED: Final = re.compile(r"Schema not configured for the given realm\s+(?P<realm>[\w-]+)")


def misplaced_messages(exchange: Exchange, facts: RequestFacts) -> Iterator[tuple[Result, bool]]:
    """Messages of the table that do not fit the status or the request.

    Yields:
        A contradiction, and whether it is certain that a clause is broken.
    """
    response, operation = exchange.answer, facts.operation.id
    if facts.operation.family != "workflow" or response.success:
        return
    for clause, expected, firm in _misplaced(exchange, response, facts):
        seen = response.quote()
        yield contradicted(clause, operation, expected, seen, (exchange.id,), exchange.role), firm


def _misplaced(
    exchange: Exchange, response: Response, facts: RequestFacts
) -> Iterator[tuple[str, str, bool]]:
    realm = facts.realm or ""
    rows = [row for row in Row if carries_message(response, row, realm)]
    for row in rows:
        status = load_catalogue().clause(row).status
        if status is not None and response.status != status:
            yield str(row), f"{status} with this message", True
    if Row.REALM_MISSING in rows and realm in DEVELOPMENT_REALMS:
        clause = "realm-workflow-realms" if "Realm" in exchange.request_headers else "realm-query"
        yield clause, f"the realm {realm} of the request is found", True
    other = _UNCONFIGURED.search(response.text)
    named = {realm.lower(), (response.realm_given or realm).lower()}
    if other is not None and realm in REALMS and other["realm"].lower() not in named:
        yield str(Row.SCHEMA_UNKNOWN), f"the message names the realm of the request, {realm}", True
    creates = facts.operation.needs is None
    if Row.TAKEN in rows and not creates:
        yield str(Row.TAKEN), "an update is not refused because its record exists", False
    if Row.UNKNOWN in rows and creates:
        yield str(Row.UNKNOWN), "a creation is not refused because its record does not exist", False


def ended_in(exchange: Exchange, *rows: Row, realm: str = "") -> bool:
    """Whether an exchange ended in one of these rows."""
    answer = usable(exchange)
    return any(carries_message(answer, row, realm) for row in rows)


def row_or_outcome(exchange: Exchange, realm: str = "") -> str:
    """The row an exchange ended in, else its outcome; for observations."""
    answer = usable(exchange)
    row_seen = next((row for row in Row if carries_message(answer, row, realm)), None)
    return str(row_seen) if row_seen else errors_array.outcome(exchange)
