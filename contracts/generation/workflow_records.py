"""Records that workflow cases need: one that exists and takes updates, one to be used up, one that is locked.

Whether a record takes updates cannot be read, so it is tried with a faulty document, which changes nothing: an
answer about the content means that the record exists, is not locked and is the author's to update. A record with
nothing but a draft may or may not count as existing; one counts here only after the service has shown that it does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from contracts.generation.arrangement import Arrangement, done
from contracts.generation.samples import Samples
from contracts.generation.submissions import CREATE_NAMED, UPDATE, by_query, submit
from contracts.judging import content, rows
from contracts.judging.claims import usable
from contracts.judging.identity import named_identifiers
from contracts.judging.outcomes import Blocked, Untested
from contracts.judging.rows import Row
from contracts.session.actor import Actor
from contracts.session.exchange import Exchange
from contracts.session.namespace import Namespace
from contracts.target.model import DOCUMENT_REALMS

_CLOSED = (Row.UNKNOWN, Row.LOCKED, Row.MAY_NOT_UPDATE)


@dataclass
class _Held:
    """The standing record of a realm, as far as it is known."""

    identifier: str | None = None


class WorkflowRecords:
    """The records of one realm, seen by the author.

    Raises (all methods):
        Blocked: no record is in the state that the case needs.
        Untested: a setting is missing.
    """

    def __init__(self, author: Actor, arrange: Arrangement, samples: Samples, fresh: Namespace) -> None:
        self._author = author
        self._arrange = arrange
        self._samples = samples
        self._fresh = fresh

    def subject(self, operation: str) -> str:
        """An identifier that a request of this operation fits: a fresh one, or for updates a standing record."""
        return self.standing() if operation == UPDATE else self._fresh.uid()

    def standing(self) -> str:
        """A record that exists and is not locked, for requests that are refused; shared while it stays open."""
        held = self._arrange.once("standing record", _Held)
        if held.identifier is None or not self._open(held.identifier):
            held.identifier = self._find_standing()
        return held.identifier

    def _open(self, identifier: str) -> bool:
        tried = self.try_faulty(identifier)
        return content.turned_down(usable(tried)) and not rows.told(tried, *_CLOSED)

    def _find_standing(self) -> str:
        tried = self.faulty_update()
        if not content.turned_down(usable(tried)):
            raise Blocked(UPDATE, "takes a faulty document, so no record stays as it was")
        identifier = str(tried.notes["identifier"])
        self._arrange.keep(identifier)
        return identifier

    def faulty(self, operation: str) -> Exchange:
        """A faulty document sent to where only its content can be refused; the note `identifier` says where."""
        if operation == UPDATE:
            return self.faulty_update()
        identifier = self._fresh.uid()
        faulty = self._samples.faulty_submission(identifier)
        exchange = submit(operation, self._author, self._samples, identifier, faulty)
        exchange.notes["identifier"] = identifier
        return exchange

    def empty(self, operation: str) -> Exchange:
        """An empty document sent to where only its content can be refused."""
        identifier = self.subject(operation)
        return submit(operation, self._author, self._samples, identifier, {"document": {}})

    def faulty_update(self) -> Exchange:
        """A faulty document sent to a record that exists and is not locked; its note `identifier` names it."""
        for identifier, _ in self._offers(range(len(self._named()))):
            tried = self.try_faulty(identifier)
            if not rows.told(tried, *_CLOSED):
                return tried
        raise self._none()

    def spendable(self) -> str:
        """A record that exists and is not locked, to be used up by an accepted update.

        The first record of the settings comes last, since every other case lives on it.
        """
        named = self._named()
        number = self._arrange.take("existing", len(named) - 1)
        for identifier, drafted in self._offers([number + 1] if number is not None else [], last=named[:1]):
            tried = self.try_faulty(identifier)
            if not content.turned_down(usable(tried)):
                raise Blocked(UPDATE, "takes a faulty document, so no record stays as it was")
            # What nobody ever submitted cannot be locked for workflow: an answer that says so is for the case to judge.
            if not rows.told(tried, *_CLOSED) or (drafted and rows.told(tried, Row.LOCKED)):
                return identifier
        raise self._none()

    def try_faulty(self, identifier: str) -> Exchange:
        """Send a faulty document as an update of a record; nothing comes of it."""
        exchange = submit(
            UPDATE, self._author, self._samples, identifier, self._samples.faulty_submission(identifier)
        )
        exchange.notes["identifier"] = identifier
        return exchange

    def locked(self) -> str:
        """A record that is locked for workflow: the one of the settings, or a submission once its lock shows."""
        return self._arrange.once("locked record", self._locked)

    def _locked(self) -> str:
        try:
            return str(self._samples.setting("locked_identifier"))
        except Untested as missing:
            submitted = self._arrange.submission(self._author)
            if self._arrange.eventually(lambda: rows.told(self.try_faulty(submitted), Row.LOCKED)):
                return submitted
            raise Untested(f"{missing}, and a record just submitted shows no lock") from None

    def draft(self) -> str:
        """A document that has nothing but a draft of the realm's workflow schema."""
        uid = self._fresh.uid()
        document = self._samples.document(uid)
        return self._arrange.draft(self._author, uid, document, schema=self._samples.workflow_schema).uid

    def open_draft(self) -> str:
        """A record that takes updates and that nobody has sent a faulty document to, for looking at its draft.

        A draft alone serves where it counts as existing, which a second draft shows; else the standing record.
        """
        counts = self._arrange.once("a draft counts as existing", self._draft_counts)
        return self.draft() if counts else self.standing()

    def _draft_counts(self) -> bool:
        return not rows.told(self.try_faulty(self.draft()), *_CLOSED)

    def look_up(self, identifier: str) -> Exchange:
        """A valid update under an identifier of our own that should be free; the row of unknown ones says that it is.

        Raises:
            Blocked: updates are not refused for identifiers that nobody has used, or everything refused is kept,
                so nothing can be told; other clauses hold those findings.
        """
        found = submit(UPDATE, self._author, self._samples, identifier)
        if not rows.told(found, Row.UNKNOWN):
            self._arrange.once("unknown identifiers are refused", self._unknown_refused)
            self._arrange.once("what is refused is not kept", self._refused_not_kept)
        return found

    def _refused_not_kept(self) -> bool:
        refused = self.faulty(CREATE_NAMED)
        found = submit(UPDATE, self._author, self._samples, refused.notes["identifier"])
        if content.turned_down(usable(refused)) and not rows.told(found, Row.UNKNOWN):
            raise Blocked(CREATE_NAMED, "keeps every record that it refuses for its content")
        return True

    def _unknown_refused(self) -> bool:
        exchange = submit(UPDATE, self._author, self._samples, self._fresh.uid())
        if not rows.told(exchange, Row.UNKNOWN):
            raise Blocked(UPDATE, "does not refuse identifiers that nobody has used")
        return True

    def knows(self, identifier: str) -> bool:
        """Whether the service knows a record under an identifier, by create or by update; nothing comes of either."""
        faulty = self._samples.faulty_submission(identifier)
        created = submit(CREATE_NAMED, self._author, self._samples, identifier, faulty)
        return rows.told(created, Row.TAKEN, Row.LOCKED) or not rows.told(
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

    def ways(self, realm: str) -> Iterator[Mapping[str, Any]]:
        """Parts of a request for both ways to give the realm: the header, then the query alone.

        Raises:
            Blocked: the query is not read at all; the clause on it holds that finding.
        """
        yield {}
        self._arrange.once("realm from the query", lambda: self._query_read(realm))
        yield by_query(realm)

    def _query_read(self, realm: str) -> bool:
        identifier = self._fresh.uid()
        faulty = self._samples.faulty_submission(identifier)
        exchange = submit(CREATE_NAMED, self._author, self._samples, identifier, faulty, **by_query(realm))
        if rows.told(exchange, Row.REALM_MISSING, Row.REALM_UNKNOWN):
            raise Blocked(CREATE_NAMED, "does not take the realm from the query")
        return True

    def plain(self, row: Row, operation: str, send: Callable[[], Exchange], realm: str = "") -> None:
        """See to it, once for each operation, that a row is given where its condition is the only fault.

        Raises:
            Blocked: it is not; the row's own clause holds that finding.
        """
        self._arrange.once(f"the row of {row} by {operation}", lambda: rows.given_alone(send(), row, realm))

    def _named(self) -> list[str]:
        try:
            return list(self._samples.setting("existing_identifier"))
        except Untested:
            return []

    def _offers(self, numbers: Any, last: Any = ()) -> Iterator[tuple[str, bool]]:
        """Candidates, and whether one is a fresh draft: records of the settings, a draft, and the last resort."""
        named = self._named()
        yield from ((named[number], False) for number in numbers)
        if self._author.realm in DOCUMENT_REALMS:
            yield self.draft(), True
        yield from ((identifier, False) for identifier in last)

    def _none(self) -> Exception:
        if not self._named():
            return Untested(f"setting realm.{self._author.realm}.existing_identifier is missing")
        return Blocked(
            UPDATE, f"no record of realm.{self._author.realm}.existing_identifier exists and is not locked"
        )
