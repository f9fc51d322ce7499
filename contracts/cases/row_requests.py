"""Submissions that end in rows of the workflow table: one condition told by a difference, or several that meet.

Without a valid document a submission goes under a schema that is not configured. That is a fault with a row of its
own, so such a submission says something about another row only by a difference: sent as it is it ends in one row, and
with the other condition added it has to end in the row of that condition, unless the first row still comes first,
which is not shown.

The document puts the steps in an order: identifier and lock, rights, content. Where a submission meets several
conditions, the first one counts. A schema belongs to a realm, and content is validated by its schema, which gives
another order. Conditions that nothing puts in an order, such as an unknown realm and a lock, never meet here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_letters
from types import MappingProxyType
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from contracts.cases.arrangement import Arrangement
from contracts.cases.sample_records import WRONG_KIND, Samples
from contracts.cases.submissions import (
    CREATE,
    CREATE_NAMED,
    UNKNOWN_REALM,
    UNKNOWN_SCHEMA,
    UPDATE,
    by_query,
    nothing_came_of,
    submit,
)
from contracts.cases.workflow_records import BY_HEADER, WAYS, WorkflowRecords
from contracts.checks.claims import Claim, Claims
from contracts.checks.outcomes import Untested, taken, usable
from contracts.checks.workflow import Row, carries_message, carries_message_and_status, ended_in
from contracts.exchanges import readers
from contracts.exchanges.exchange import Exchange
from contracts.session.actor import Actor
from contracts.session.namespace import Namespace

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

    def __init__(
        self,
        author: Actor,
        records: WorkflowRecords,
        arrange: Arrangement,
        samples: Samples,
        fresh: Namespace,
    ) -> None:
        self._author = author
        self._records = records
        self._arrange = arrange
        self._samples = samples
        self._fresh = fresh

    def send(self, operation: str, actor: Actor | None = None, **parts: Any) -> Exchange:
        """A submission with nothing wrong but what is told; its note `identifier` names the record.

        Args:
            actor: In place of the author.
            parts: What differs from an ordinary request: `realm`, `headers`, `query`.
        """
        actor = actor or self._author
        try:
            identifier = self._records.subject(operation)
            sent = submit(operation, actor, self._samples, identifier, **parts)
        except Untested as missing:
            return self._by_difference(missing, operation, actor, parts)
        sent.notes["identifier"] = identifier
        return sent

    def unknown_schema(self, operation: str, **way: Any) -> Exchange:
        """A submission under a schema that is unknown in the realm; `way` as `parts` of `send`."""
        try:
            identifier = self._records.subject(operation)
            return submit(operation, self._author, self._samples, identifier, schema=UNKNOWN_SCHEMA, **way)
        except Untested as missing:
            return self._bare_unless(missing, operation, Row.SCHEMA_UNKNOWN, way)

    def unknown_identifier(self, **way: Any) -> Exchange:
        """An update under an identifier that was never used, of a batch; `way` as `parts` of `send`."""
        identifier = self._fresh.uid()
        try:
            submission = self._samples.submission(identifier, batchId=identifier)
            return submit(UPDATE, self._author, self._samples, identifier, submission, **way)
        except Untested as missing:
            return self._bare_unless(missing, UPDATE, Row.UNKNOWN, way)

    def parts_of(self, way: str, realm: str) -> Iterator[Mapping[str, Any]]:
        """As of the records, also where the settings name no valid document."""
        if self._samples.tells_workflow or way == BY_HEADER:
            yield from self._records.parts_of(way, realm)
        elif self._arrange.once("realm from the query, bare", lambda: self._query_read(realm)):
            yield by_query(realm)

    def _query_read(self, realm: str) -> bool:
        sent = self._bare(CREATE_NAMED, self._author, self._fresh.uid(), **by_query(realm))
        return not ended_in(sent, Row.REALM_MISSING, Row.REALM_UNKNOWN)

    def nothing_came_of(self, claim: Claim, refused: Exchange) -> None:
        """Claim that a refused submission had no effect, as far as the settings let it be seen."""
        if self._samples.tells_workflow:
            nothing_came_of(claim, self._records, refused.notes["identifier"], refused)

    def _by_difference(
        self, missing: Untested, operation: str, actor: Actor, parts: dict[str, Any]
    ) -> Exchange:
        """A bare submission with more wrong than its schema, when its answer tells of that."""
        realm = self._author.realm
        control = self._arrange.once(
            f"bare {operation}", lambda: self._bare(operation, self._author, self._fresh.uid())
        )
        first = next(
            (row for row in _AT_FIRST if carries_message_and_status(usable(control), row, realm)), None
        )
        if first is None:
            raise Untested(f"{missing}, and a made-up schema is answered {control.answer.quote()}")
        sent = self._bare(operation, actor, self._fresh.uid(), **parts)
        answer = usable(sent)
        if carries_message(answer, first, realm) or (
            not answer.success and readers.contains_message(answer, _SCHEMA_TOLD)
        ):
            raise Untested(f"{missing}, and a made-up schema comes first: {answer.quote()}")
        return sent

    def _bare_unless(self, missing: Untested, operation: str, wanted: Row, way: dict[str, Any]) -> Exchange:
        """A bare submission, when it was taken or ends in the wanted row: of two faults either may come first."""
        sent = self._bare(operation, self._author, self._fresh.uid(), **way)
        answer = usable(sent)
        alone = wanted is Row.SCHEMA_UNKNOWN and operation != UPDATE
        content = answer.status == 403 or readers.errors(
            answer
        )  # rights that the account may lack, or the document
        if taken(sent) or carries_message(answer, wanted, self._author.realm) or (alone and not content):
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
        header = self._samples.header(UNKNOWN_SCHEMA, identifier)
        document = {"header": header, "title": {"en": "A record of no schema"}}
        path = {"schema": UNKNOWN_SCHEMA} | ({"identifier": identifier} if operation != CREATE else {})
        sent = actor.send(operation, path=path, json={"document": document, **members}, **parts)
        sent.notes["identifier"] = identifier
        return sent


#: Conditions without a row of their own: rights have one for each method, content has none.
_RIGHTS, _CONTENT = "rights", "content"
#: The clauses that say which of two conditions counts, the one that counts first.
_OF_STEPS: Final[Mapping[tuple[str, str], str]] = {
    (Row.TAKEN, _CONTENT): "workflow-order-taken-before-validation",
    (Row.UNKNOWN, _CONTENT): "workflow-order-unknown-before-validation",
    (Row.LOCKED, _CONTENT): "workflow-order-locked-before-validation",
    (Row.TAKEN, _RIGHTS): "workflow-order-taken-before-rights",
    (Row.UNKNOWN, _RIGHTS): "workflow-order-unknown-before-rights",
    (Row.LOCKED, _RIGHTS): "workflow-order-locked-before-rights",
    (_RIGHTS, _CONTENT): "workflow-order-rights-before-validation",
}
_OF_PLACES: Final[Mapping[tuple[str, str], str]] = {
    (Row.REALM_UNKNOWN, Row.SCHEMA_UNKNOWN): "workflow-order-realm-before-schema",
    (Row.SCHEMA_UNKNOWN, _CONTENT): "workflow-order-schema-before-document",
}
_CLAUSES: Final = {**_OF_STEPS, **_OF_PLACES}
STEP_CLAUSES, PLACE_CLAUSES = tuple(_OF_STEPS.values()), tuple(_OF_PLACES.values())
_OPERATIONS: Final = (CREATE, CREATE_NAMED, UPDATE)
#: What may be wrong with a member of the document: nothing, that it is not there, or a kind that no schema gives it.
_LEFT, _LACKS = "left", "lacks"
_FAULTS: Final[tuple[Any, ...]] = (_LEFT, _LACKS, WRONG_KIND, {"contractTest": [WRONG_KIND]})
_ALL_WRONG: Final = (2,) * 20


@dataclass(frozen=True)
class Combination:
    """Conditions that one submission meets.

    Attributes:
        conditions: In their order, two at least.
        faults: What is wrong with the document's members, in turn; nothing with those that remain.
        way: Where the realm is given.
        batch: The record is one of a batch, which changes no row.
        letters: By which an unknown realm or schema differs from others.
    """

    operation: str
    conditions: tuple[str, ...]
    faults: tuple[int, ...] = _ALL_WRONG
    way: str = BY_HEADER
    batch: bool = False
    letters: str = ""


#: Every condition of the first step, with those behind it.
ALL_STEPS: Final = tuple(
    Combination(operation, (row, _RIGHTS, _CONTENT))
    for operation, row in ((CREATE_NAMED, Row.TAKEN), (UPDATE, Row.UNKNOWN), (UPDATE, Row.LOCKED))
)
#: An unknown realm, an unknown schema and a faulty document.
ALL_PLACES: Final = tuple(
    Combination(operation, (Row.REALM_UNKNOWN, Row.SCHEMA_UNKNOWN, _CONTENT)) for operation in _OPERATIONS
)


def of_steps() -> SearchStrategy[Combination]:
    """Combinations of what the steps look at: the identifier or the lock, the rights, the content."""
    pairs = [
        (every.operation, (every.conditions[0], *behind))
        for every in ALL_STEPS
        for behind in ((_RIGHTS,), (_CONTENT,), (_RIGHTS, _CONTENT))
    ]
    return _combinations([*pairs, *((operation, (_RIGHTS, _CONTENT)) for operation in _OPERATIONS)])


def of_places() -> SearchStrategy[Combination]:
    """Combinations of an unknown realm, an unknown schema and a faulty document."""
    kinds = [
        (Row.REALM_UNKNOWN, Row.SCHEMA_UNKNOWN),
        (Row.SCHEMA_UNKNOWN, _CONTENT),
        ALL_PLACES[0].conditions,
    ]
    return _combinations([(operation, kind) for operation in _OPERATIONS for kind in kinds])


def _combinations(pairs: Sequence[tuple[str, tuple[str, ...]]]) -> SearchStrategy[Combination]:
    return st.builds(
        lambda pair, *others: Combination(*pair, *others),
        st.sampled_from(pairs),
        st.lists(st.integers(0, len(_FAULTS) - 1), min_size=1, max_size=8).filter(any).map(tuple),
        st.sampled_from(WAYS),
        st.booleans(),
        st.text(ascii_letters, max_size=12),
    )


class DrawnConditions:
    """Sends submissions that meet several conditions, none of which lets anything be stored.

    Args:
        without_rights: Who sends where rights are one of them.
    """

    def __init__(
        self, author: Actor, without_rights: Actor, records: WorkflowRecords, samples: Samples, claim: Claims
    ) -> None:
        self._author = author
        self._without_rights = without_rights
        self._records = records
        self._samples = samples
        self._claim = claim

    def first_counts(self, met: Combination) -> None:
        """Claim that a submission is refused for its first condition.

        Raises:
            Contradiction: it is refused for another one or taken, and a must says which.
            Blocked: that condition alone is not refused so; its own clause holds that finding.
            Untested: a setting is missing.
        """
        first, identifier = met.conditions[0], self._identifier(met)
        actor = self._without_rights if _RIGHTS in met.conditions else self._author
        self._relies_on(first, met.operation, identifier)
        for parts in self._records.parts_of(met.way, self._author.realm):
            place = dict(parts) if Row.REALM_UNKNOWN not in met.conditions else self._unknown_realm(met)
            place.pop("members", None)
            if Row.SCHEMA_UNKNOWN in met.conditions:
                place["schema"] = UNKNOWN_SCHEMA + met.letters
            document = self._submission(met, identifier)
            sent = submit(met.operation, actor, self._samples, identifier, document, **place)
            self._claim_first(met, sent)

    def _identifier(self, met: Combination) -> str:
        of_row = {
            Row.TAKEN: self._records.standing,
            Row.UNKNOWN: self._records.unused,
            Row.LOCKED: self._records.locked,
        }
        for row, identifier in of_row.items():
            if row in met.conditions:
                return identifier()
        return self._records.subject(met.operation)

    def _relies_on(self, first: str, operation: str, identifier: str) -> None:
        """See once that the row of the first condition is given where it is met alone."""
        relies_on = self._records.relies_on
        if first == _RIGHTS:
            row = Row.MAY_NOT_UPDATE if operation == UPDATE else Row.MAY_NOT_CREATE
            relies_on(row, operation, self._without_rights)
        elif first == Row.REALM_UNKNOWN:
            relies_on(Row.REALM_UNKNOWN, operation, self._author, realm=UNKNOWN_REALM)
        elif first == Row.SCHEMA_UNKNOWN:
            realm = self._author.realm
            relies_on(Row.SCHEMA_UNKNOWN, operation, self._author, named=realm, schema=UNKNOWN_SCHEMA)
        else:
            relies_on(Row(first), operation, self._author, identifier)

    def _unknown_realm(self, met: Combination) -> dict[str, Any]:
        realm = f"{UNKNOWN_REALM}-{met.letters}".rstrip("-")
        return {"realm": realm} if met.way == BY_HEADER else dict(by_query(realm))

    def _submission(self, met: Combination, identifier: str) -> dict[str, Any]:
        document = self._samples.document(identifier)
        if _CONTENT in met.conditions:
            named = zip([name for name in document if name != "header"], met.faults, strict=False)
            for name, fault in [(name, _FAULTS[place]) for name, place in named]:
                document |= {} if fault in (_LEFT, _LACKS) else {name: fault}
                if fault == _LACKS:
                    del document[name]
        return {"document": document} | ({"batchId": self._records.batch()} if met.batch else {})

    def _claim_first(self, met: Combination, sent: Exchange) -> None:
        """Claim it by the clause about the first condition and the one that it was refused for instead.

        Of three, what is not refused for the rights is taken for refused for the content, or it was not refused at all.
        """
        first, second, *behind = met.conditions
        for_rights = second == _RIGHTS and usable(sent).status == 403
        later = second if for_rights or (first, *behind) not in _CLAUSES else behind[0]
        claim = self._claim(_CLAUSES[first, later], met.operation)
        if first == _RIGHTS:
            claim.holds(
                usable(sent).status == 403,
                sent,
                expected="403, for the rights",
                seen=usable(sent).quote(),
            )
        else:
            claim.has_message(sent, self._author.realm)
