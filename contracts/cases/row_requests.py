"""Submissions that end in rows of the workflow table, where need be told by a difference.

Without a valid document a submission goes under a schema that is not configured. That is a fault with a row of its
own, so such a submission says something about another row only by a difference: sent as it is it ends in one row, and
with the other condition added it has to end in the row of that condition, unless the first row still comes first,
which is not shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from contracts.cases.submissions import (
    CREATE,
    CREATE_NAMED,
    UNKNOWN_SCHEMA,
    UPDATE,
    by_query,
    claim_nothing_came_of,
)
from contracts.cases.workflow_records import BY_HEADER, WorkflowRecords
from contracts.cases.world import World
from contracts.checks.claims import Claim
from contracts.checks.outcomes import Untested, taken, usable
from contracts.checks.workflow import Row, carries_message, carries_message_and_status, ended_in
from contracts.exchanges import readers
from contracts.exchanges.exchange import Exchange
from contracts.session.actor import Actor

#: Rows that a submission under a made-up schema may end in.
_AT_FIRST: Final = (Row.SCHEMA_UNKNOWN, Row.UNKNOWN, Row.MAY_NOT_CREATE, Row.MAY_NOT_UPDATE)


#: The row of the schema without the realm that it names.
_SCHEMA_TOLD: Final = "Schema not configured for the given realm"


class RowRequests:
    """Submissions of one realm that end in rows of the table.

    Raises (all methods):
        Untested: a setting is missing, and without it nothing can be told.
        Blocked: no record is in the state that the case needs.
    """

    def __init__(self, records: WorkflowRecords, world: World) -> None:
        self._records = records
        self._world = world

    def send(self, operation: str, actor: Actor | None = None, **parts: Any) -> Exchange:
        """A submission with nothing wrong but what is told; its note `identifier` names the record.

        Args:
            actor: In place of the author.
            parts: What differs from an ordinary request: `realm`, `headers`, `query`.
        """
        actor = actor or self._world.author
        try:
            identifier = self._records.subject(operation)
            sent = self._world.submit(operation, identifier, by=actor, **parts)
        except Untested as missing:
            return self._by_difference(missing, operation, actor, parts)
        sent.notes["identifier"] = identifier
        return sent

    def unknown_schema(self, operation: str, **way: Any) -> Exchange:
        """A submission under a schema that is unknown in the realm; `way` as `parts` of `send`."""
        try:
            identifier = self._records.subject(operation)
            return self._world.submit(operation, identifier, schema=UNKNOWN_SCHEMA, **way)
        except Untested as missing:
            return self._bare_unless(missing, operation, Row.SCHEMA_UNKNOWN, way)

    def unknown_identifier(self, **way: Any) -> Exchange:
        """An update under an identifier that was never used, of a batch; `way` as `parts` of `send`."""
        identifier = self._world.fresh.uid()
        try:
            submission = self._world.samples.submission(identifier, batchId=identifier)
            return self._world.submit(UPDATE, identifier, submission, **way)
        except Untested as missing:
            return self._bare_unless(missing, UPDATE, Row.UNKNOWN, way)

    def parts_of(self, way: str, realm: str) -> Iterator[Mapping[str, Any]]:
        """As of the records, also where the settings name no valid document."""
        if self._world.samples.tells_workflow or way == BY_HEADER:
            yield from self._records.parts_of(way, realm)
        elif self._world.once("realm from the query, bare", lambda: self._query_read(realm)):
            yield by_query(realm)

    def _query_read(self, realm: str) -> bool:
        sent = self._bare(CREATE_NAMED, self._world.author, self._world.fresh.uid(), **by_query(realm))
        return not ended_in(sent, Row.REALM_MISSING, Row.REALM_UNKNOWN)

    def nothing_came_of(self, claim: Claim, refused: Exchange) -> None:
        """Claim that a refused submission had no effect, as far as the settings let it be seen."""
        if self._world.samples.tells_workflow:
            claim_nothing_came_of(claim, self._records, refused.notes["identifier"], refused)

    def _by_difference(
        self, missing: Untested, operation: str, actor: Actor, parts: dict[str, Any]
    ) -> Exchange:
        """A bare submission with more wrong than its schema, when its answer tells of that."""
        realm = self._world.author.realm
        control = self._world.once(
            f"bare {operation}", lambda: self._bare(operation, self._world.author, self._world.fresh.uid())
        )
        first = next(
            (row for row in _AT_FIRST if carries_message_and_status(usable(control), row, realm)), None
        )
        if first is None:
            raise Untested(f"{missing}, and a made-up schema is answered {control.answer.quote()}")
        sent = self._bare(operation, actor, self._world.fresh.uid(), **parts)
        answer = usable(sent)
        if carries_message(answer, first, realm) or (
            not answer.success and readers.contains_message(answer, _SCHEMA_TOLD)
        ):
            raise Untested(f"{missing}, and a made-up schema comes first: {answer.quote()}")
        return sent

    def _bare_unless(self, missing: Untested, operation: str, wanted: Row, way: dict[str, Any]) -> Exchange:
        """A bare submission, when it was taken or ends in the wanted row: of two faults either may come first."""
        sent = self._bare(operation, self._world.author, self._world.fresh.uid(), **way)
        answer = usable(sent)
        alone = wanted is Row.SCHEMA_UNKNOWN and operation != UPDATE
        content = answer.status == 403 or readers.errors(
            answer
        )  # rights that the account may lack, or the document
        if (
            taken(sent)
            or carries_message(answer, wanted, self._world.author.realm)
            or (alone and not content)
        ):
            return sent
        raise Untested(f"{missing}, and a made-up schema is answered {answer.quote()}")

    def _bare(
        self,
        operation: str,
        actor: Actor,
        identifier: str,
        members: Mapping[str, str] = MappingProxyType({}),
        **parts: Any,
    ) -> Exchange:
        header = self._world.samples.header(UNKNOWN_SCHEMA, identifier)
        document = {"header": header, "title": {"en": "A record of no schema"}}
        path = {"schema": UNKNOWN_SCHEMA} | ({"identifier": identifier} if operation != CREATE else {})
        sent = actor.send(operation, path=path, json={"document": document, **members}, **parts)
        sent.notes["identifier"] = identifier
        return sent
