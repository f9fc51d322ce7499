"""Whether the service knows a workflow record under an identifier, found out without changing anything."""

from __future__ import annotations

from typing import Any

from contracts.cases.arrangement import Arrangement
from contracts.cases.samples import Samples
from contracts.cases.submissions import (
    CREATE_NAMED,
    UPDATE,
    named_identifiers,
    submit,
)
from contracts.checks import errors_array, workflow_errors
from contracts.checks.outcomes import Blocked, done, usable
from contracts.checks.workflow import Row
from contracts.exchanges.exchange import Exchange
from contracts.session.actor import Actor
from contracts.session.namespace import Namespace


class RecordLookup:
    """Looks for records of one realm, as the author.

    Raises (all methods):
        Untested: a setting is missing.
    """

    def __init__(self, author: Actor, arrange: Arrangement, samples: Samples, fresh: Namespace) -> None:
        self._author = author
        self._arrange = arrange
        self._samples = samples
        self._fresh = fresh

    def try_faulty(self, identifier: str) -> Exchange:
        """Send a faulty document as an update of a record; nothing comes of it."""
        exchange = submit(
            UPDATE, self._author, self._samples, identifier, self._samples.faulty_submission(identifier)
        )
        exchange.notes["identifier"] = identifier
        return exchange

    def try_creating(self, identifier: str) -> Exchange:
        """Send a faulty document to create under an identifier; nothing comes of it."""
        faulty = self._samples.faulty_submission(identifier)
        return submit(CREATE_NAMED, self._author, self._samples, identifier, faulty)

    def look_up(self, identifier: str) -> Exchange:
        """A valid update under an identifier of our own that should be free; the row of unknown ones says that it is.

        Raises:
            Blocked: updates are not refused for identifiers that nobody has used, or everything refused is kept,
                so nothing can be told; other clauses hold those findings.
        """
        found = submit(UPDATE, self._author, self._samples, identifier)
        if not workflow_errors.told(found, Row.UNKNOWN):
            self._arrange.once("unknown identifiers are refused", self._unknown_refused)
            self._arrange.once("what is refused is not kept", self._refused_not_kept)
        return found

    def _refused_not_kept(self) -> bool:
        identifier = self._fresh.uid()
        faulty = self._samples.faulty_submission(identifier)
        refused = submit(CREATE_NAMED, self._author, self._samples, identifier, faulty)
        found = submit(UPDATE, self._author, self._samples, identifier)
        if errors_array.turned_down(usable(refused)) and not workflow_errors.told(found, Row.UNKNOWN):
            raise Blocked(CREATE_NAMED, "keeps every record that it refuses for its content")
        return True

    def _unknown_refused(self) -> bool:
        exchange = submit(UPDATE, self._author, self._samples, self._fresh.uid())
        if not workflow_errors.told(exchange, Row.UNKNOWN):
            raise Blocked(UPDATE, "does not refuse identifiers that nobody has used")
        return True

    def knows(self, identifier: str) -> bool:
        """Whether the service knows a record under an identifier, by create or by update; nothing comes of either."""
        created = self.try_creating(identifier)
        return workflow_errors.told(created, Row.TAKEN, Row.LOCKED) or not workflow_errors.told(
            self.try_faulty(identifier), Row.UNKNOWN
        )

    def settles(self, identifier: str) -> bool:
        """Whether the service comes to know a record within a few seconds."""
        return self._arrange.eventually(lambda: self.knows(identifier))

    def comes_to_know(self, identifier: str) -> bool:
        """Whether the service comes to know a record under an identifier that its answer names."""
        self._fresh.claim(identifier)
        return self.settles(identifier)

    def given(self, exchange: Exchange, sent: Any) -> str:
        """The identifier that an accepted submission was given.

        Raises:
            Blocked: the answer names none that works.
        """
        for candidate in named_identifiers(done(exchange), sent):
            if self.comes_to_know(candidate):
                return candidate
        raise Blocked(exchange.operation or "", "the answer names no identifier that works")
