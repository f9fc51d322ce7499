"""Which documented names that the settings of a target replace can be tried, and what shows that one is not known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from contracts.cases.submissions import UNKNOWN_SCHEMA
from contracts.checks.workflow import Row, carries_message
from contracts.exchanges.exchange import Response
from contracts.exchanges.readers import Ambiguous, records
from contracts.interface.operations import DOCUMENT_REALMS
from contracts.settings.target import BEARER, REALM_HEADER, Target

#: The clause that says which realms there are, and the operation that shows it by reading alone.
REALMS_CLAUSE: Final = "realm-document-realms"
READING: Final = "listDrafts"
#: The clause that says how a token is sent.
TOKEN_CLAUSE: Final = "token-opens-protected"  # noqa: S105 - no token
SUBMITTING: Final = "createWorkflowRecord"
#: The list of drafts as a look reads it in each realm.
FIRST_ITEM: Final = {"query": {"$top": "1"}}


@dataclass(frozen=True)
class TriedName:
    """A documented name, the clause that says it is known, and the request that tries it.

    Attributes:
        most: Records that are listed where the name is known; more of them show that it is not.
    """

    name: str
    clause: str
    operation: str = READING
    parts: dict[str, Any] = field(default_factory=lambda: FIRST_ITEM)
    most: int | None = None

    def is_unknown(self, documented: Response, own: Response) -> bool | None:
        """Whether the answer to it shows that it is not known, by that to the target's own; None for neither."""
        if self.operation == SUBMITTING:
            return _finds_no_realm(documented) and not _finds_no_realm(own)
        if not own.success or documented.refusal:
            return True if own.success else None
        return False if self.most is None else (_listed(documented) > self.most >= _listed(own) or None)


def tried_names(target: Target, realm: str) -> Iterator[TriedName]:
    """Every name that reading in a realm allows to try; what submits names a schema that no service has."""
    submission = {"path": {"schema": UNKNOWN_SCHEMA}, "json": {}}
    by_query = submission | {"headers": {"Realm": None}, "query": {"Realm": realm}}
    yield TriedName("Realm", "realm-query", SUBMITTING, by_query)
    if realm not in DOCUMENT_REALMS:
        yield TriedName(realm, "realm-workflow-realms", SUBMITTING, submission)
        return
    yield TriedName(realm, REALMS_CLAUSE)
    yield TriedName(REALM_HEADER, REALMS_CLAUSE)
    yield TriedName(BEARER, TOKEN_CLAUSE)
    of_mine = {"query": {"collection": "my", "$top": "1"}}
    yield TriedName("my", "list-my-answers", parts=of_mine)
    yield TriedName("collection", "list-my-answers", parts=of_mine)
    of_drafts = {"query": {"collection": "mydrafts", "$top": "1"}}
    yield TriedName("mydrafts", "list-mydrafts-has-mine", parts=of_drafts)
    yield TriedName("$top", "list-top", most=1)
    yield TriedName("$skip", "list-skip-beyond", parts={"query": {"$skip": "1000000"}}, most=0)
    for uid in target.realm_settings(realm).existing_identifier[:1]:
        one = {"path": {"uid": uid}, "query": {"top": "1"}}
        none = {"path": {"uid": uid}, "query": {"skip": "1000000"}}
        yield TriedName("top", "attachment-list-top", "listAttachments", one, 1)
        yield TriedName("skip", "attachment-list-skip-beyond", "listAttachments", none, 0)


def _finds_no_realm(answer: Response) -> bool:
    return any(carries_message(answer, row) for row in (Row.REALM_MISSING, Row.REALM_UNKNOWN))


def _listed(answer: Response) -> int:
    """How many records a list holds; none where that cannot be told."""
    try:
        return len(records(answer) or ()) if answer.success else 0
    except Ambiguous:
        return 0
