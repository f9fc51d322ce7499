"""Records that workflow cases need: one that accepts updates, one to use up, one that is locked; and requests on them.

No operation says whether a record accepts updates. So the suite sends a faulty document, which changes nothing: an
answer about the content means that the record exists, is not locked, and that the author may update it. A record with
only a draft counts as existing only if the service has shown that it does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, Final

from registry_contracts.cases.submissions import CREATE_NAMED, IN_USE, LONGEST_BATCH, UPDATE
from registry_contracts.cases.world import World, named_identifiers
from registry_contracts.checks import errors_array
from registry_contracts.checks.claims import Claim
from registry_contracts.checks.outcomes import (
    Attempt,
    Blocked,
    Untested,
    done,
    missing,
    taken,
    usable,
)
from registry_contracts.checks.workflow import Row, ended_in
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.session.actor import Actor
from registry_contracts.settings.target import DOCUMENT_REALMS

#: Rows that mean that a record accepts no update.
_CLOSED: Final = (Row.UNKNOWN, Row.LOCKED, Row.MAY_NOT_UPDATE)
#: Records to use one after another, as cases close them.
_MOST_STANDING = 8
#: Records that accepted faulty documents may use up in the search; the cases about faulty documents need some too.
_MOST_USED_UP = 2


class WorkflowRecords:
    """The author's records in one realm: from the settings, from a draft, or from other cases.

    Args:
        attempt: The attempt at the case; a replay uses nothing that another case made.

    Raises (all methods):
        Blocked: no record is in the state that the case needs.
    """

    def __init__(self, world: World, attempt: Attempt | None = None) -> None:
        self._world = world
        self._attempt = attempt

    # -- looking for records

    def try_faulty(self, identifier: str) -> Exchange:
        """Send a faulty document as an update of a record; it changes nothing."""
        exchange = self._world.submit(UPDATE, identifier, self._world.samples.faulty_submission(identifier))
        exchange.notes["identifier"] = identifier
        return exchange

    def keeps_refused_taken(self) -> bool:
        """Whether the identifier of a record that was refused for its document stays in use."""

        def look() -> bool:
            identifier = self._world.uid()
            self._world.try_creating(identifier)
            return ended_in(self._world.try_creating(identifier), Row.TAKEN)

        return self._world.once("refused identifiers stay taken", look)

    def knows(self, identifier: str) -> bool:
        """Whether the service knows a record under an identifier, by a faulty update or create; neither changes it."""
        if not ended_in(self.try_faulty(identifier), Row.UNKNOWN):
            return True
        # If refused records take up identifiers, an earlier attempt to create may have done so.
        taken_already = ended_in(self._world.try_creating(identifier), *IN_USE)
        return taken_already and not self.keeps_refused_taken()

    def settles(self, identifier: str) -> bool:
        """Whether the service knows a record within a few seconds."""
        return self._world.eventually(lambda: self.knows(identifier))

    def comes_to_know(self, identifiers: Iterable[str]) -> str | None:
        """The first of these identifiers under which the service knows a record within a few seconds."""
        candidates = list(identifiers)
        for candidate in candidates:
            self._world.fresh.claim_minted(candidate)
        return self._world.until(
            lambda: next(filter(self.knows, candidates), None),
            lambda known: known is not None or not candidates,
        )

    def given(self, exchange: Exchange, sent: Any) -> str:
        """The identifier of an accepted submission."""
        known = self.comes_to_know(named_identifiers(done(exchange), sent))
        if known is None:
            raise Blocked(exchange.operation or "", "the answer names no identifier that works")
        return known

    def claim_nothing_came_of(self, claim: Claim, identifier: str, refused: Exchange) -> None:
        """Claim that a refused submission locked no record, and left a fresh identifier free.

        Whether the identifier of a refused document becomes free is not said; nor is it claimed of another create if
        the service keeps the identifiers of refused records.

        Args:
            identifier: In the path; for creates without one in the path, in the header.
        """
        if refused.operation == UPDATE:
            claim.meets("identifier-not-locked", self.try_faulty(identifier), because_of=(refused,))
            return
        found = self._world.try_creating(identifier)
        claim.meets("identifier-not-locked", found, because_of=(refused,))
        of_content = bool(readers.errors(usable(refused)))
        if not of_content and not (ended_in(found, Row.TAKEN) and self.keeps_refused_taken()):
            claim.meets("identifier-not-in-use", found, because_of=(refused,))

    # -- records that exist

    def standing(self) -> str:
        """An existing record that is not locked, for requests that are refused; shared while it stays open."""
        used_up = 0
        for turn in range(_MOST_STANDING):
            identifier = self._world.once(f"standing record {turn}", self._find_standing)
            if identifier is None:
                used_up += 1
                if used_up == _MOST_USED_UP:
                    raise Blocked(UPDATE, "accepts a faulty document, so no record stays unchanged")
            elif not self._world.disturbed(identifier) or self._open(identifier):
                return identifier
        raise self._none()

    def published(self) -> str:
        """The first published record of the settings, if a faulty update of it is refused only for its content."""
        identifier = str(self._world.samples.setting("published_identifier")[0])
        if not self._open(identifier):
            raise Untested(
                "updates of the published record of the settings are refused for other reasons than content"
            )
        return identifier

    def _open(self, identifier: str) -> bool:
        tried = self.try_faulty(identifier)
        return errors_array.turned_down(usable(tried)) and not ended_in(tried, *_CLOSED)

    def _find_standing(self) -> str | None:
        """A record that refuses a faulty document; None if it accepted it, which may be permanent."""
        tried = self.faulty_update()
        if not errors_array.turned_down(usable(tried)):
            return None
        identifier = str(tried.notes["identifier"])
        self._world.keep(identifier)
        return identifier

    def faulty_update(self) -> Exchange:
        """Send a faulty document to an existing record that is not locked; the note `identifier` names it."""
        for identifier, _ in self._offers(self._named()):
            tried = self.try_faulty(identifier)
            if not ended_in(tried, *_CLOSED):
                return tried
        raise self._none()

    def _next_named(self) -> list[str]:
        """The next record of the settings, except the first, which all other cases use."""
        named = self._named()
        number = self._world.take("existing", len(named) - 1)
        return [] if number is None else [named[number + 1]]

    def spendable(self) -> str:
        """An existing record that is not locked, to use up by an accepted update."""
        for identifier, drafted in self._offers(self._next_named(), last=self._named()[:1]):
            tried = self.try_faulty(identifier)
            if not errors_array.turned_down(usable(tried)):
                raise Blocked(UPDATE, "accepts a faulty document, so no record stays unchanged")
            # A record that was never submitted cannot be locked: if the answer says so, the case judges it.
            if not ended_in(tried, *_CLOSED) or (drafted and ended_in(tried, Row.LOCKED)):
                return identifier
        raise self._none()

    def spare(self) -> list[str]:
        """One more record to use up, if the settings name enough."""
        return [record for record in self._next_named() if not ended_in(self.try_faulty(record), *_CLOSED)]

    def locked(self) -> str:
        """A locked record: the one of the settings, or a submission that shows its lock."""
        return self._world.once("locked record", self._locked)

    def _locked(self) -> str:
        try:
            named = str(self._world.samples.setting("locked_identifier"))
        except Untested as lacking:
            submitted = self._world.submission()
            if self._world.eventually(lambda: self._shows_lock(submitted)):
                return submitted
            raise Untested(
                f"{lacking}, and a record just submitted shows no lock", *lacking.settings
            ) from None
        if not self._shows_lock(named):
            self._not_out_of_date(named)
        return named

    def _shows_lock(self, identifier: str) -> bool:
        return ended_in(self.try_faulty(identifier), Row.LOCKED)

    def _not_out_of_date(self, named: str) -> None:
        """Check whether the record of the settings is to blame for showing no lock, and not the service.

        The record is to blame if a submission shows its lock, or if a create finds its identifier free.
        """
        about_the_record = False
        with suppress(Untested, Blocked):
            submitted = self._world.submission()
            about_the_record = self._world.eventually(lambda: self._shows_lock(submitted))
        tried = self.try_faulty(named)
        gone = ended_in(tried, Row.UNKNOWN)
        if gone and not about_the_record:
            created = self._world.try_creating(named)
            in_use = ended_in(created, Row.TAKEN, Row.LOCKED)
            about_the_record = errors_array.turned_down(usable(created)) and not in_use
        if about_the_record and not ended_in(tried, Row.LOCKED):
            raise Untested(
                f"setting realm.{self._world.realm}.locked_identifier names a record that "
                f"{'is gone' if gone else 'is not locked'}: {tried.answer.quote()}"
            )

    def draft(self) -> str:
        """A document with only a draft of the realm's workflow schema."""
        uid = self._world.uid()
        document = self._world.samples.document(uid)
        return self._world.draft(uid, document, schema=self._world.samples.workflow_schema).uid

    def open_draft(self) -> str:
        """A record that accepts updates, for reads of its draft; if possible no faulty document was sent to it.

        A draft alone is used if it counts as existing, which another draft shows; else the standing record.
        """
        counts = self._world.once("a draft counts as existing", self._draft_counts)
        return self.draft() if counts else self.standing()

    def _draft_counts(self) -> bool:
        return not ended_in(self.try_faulty(self.draft()), *_CLOSED)

    def _named(self) -> list[str]:
        try:
            return list(self._world.samples.setting("existing_identifier"))
        except Untested:
            return []

    def _offers(self, first: Iterable[str], last: Iterable[str] = ()) -> Iterator[tuple[str, bool]]:
        """Candidates, each with whether it is a fresh draft: records of the settings, a draft, the last resort."""
        yield from ((identifier, False) for identifier in first)
        if self._world.realm in DOCUMENT_REALMS:
            yield self.draft(), True
        yield from ((identifier, False) for identifier in last)

    def _none(self) -> Exception:
        if not self._named():
            return missing(f"realm.{self._world.realm}.existing_identifier")
        return Blocked(
            UPDATE,
            f"no record of realm.{self._world.realm}.existing_identifier exists and is not locked",
        )

    # -- requests on them

    @property
    def _replays(self) -> bool:
        return self._attempt is not None and self._attempt.number > 1

    def subject(self, operation: str) -> str:
        """An identifier for a request of this operation: a fresh one, or for updates a standing record.

        A valid submission is sent first, if possible: a service may treat its first submissions differently.
        """
        # Other cases judge that submission.
        self._world.once("a submission before", lambda: self._world.submission_sent() is not None)
        return self.standing() if operation == UPDATE else self._world.uid()

    def unused(self) -> str:
        """An identifier under which no record exists."""
        return self._world.uid()

    def send(self, operation: str, actor: Actor | None = None, **parts: Any) -> Exchange:
        """Send a submission that is valid except for `parts`; its note `identifier` names the record."""
        identifier = self.subject(operation)
        sent = self._world.submit(operation, identifier, by=actor, **parts)
        sent.notes["identifier"] = identifier
        return sent

    def faulty(self, operation: str) -> Exchange:
        """Send a faulty document so that only its content can be refused; the note `identifier` names the record."""
        if operation == UPDATE:
            return self.faulty_update()
        identifier = self.subject(operation)
        faulty = self._world.samples.faulty_submission(identifier)
        exchange = self._world.submit(operation, identifier, faulty)
        exchange.notes["identifier"] = identifier
        return exchange

    def lacking(self, operation: str) -> list[Exchange]:
        """The refusal of a document with only a header, sent so that only its content can be refused.

        Returns:
            Empty if the schema requires no members. Also empty except for creation under an identifier: a record
            accepted by the other two operations could not be told from those of other cases.
        """
        if operation != CREATE_NAMED:
            return []
        identifier = self.subject(operation)
        bare = self._world.samples.bare_submission(identifier)
        exchange = self._world.submit(operation, identifier, bare)
        return [exchange] if errors_array.turned_down(usable(exchange)) else []

    def lacking_mandatory(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record of another schema, checked to lack a member that the workflow's schema requires."""
        mandatory = self._world.once("mandatory for the workflow", self._mandatory)
        if not mandatory - record.keys():
            raise Untested("no member is known that the workflow's schema requires and a contact lacks")
        return record

    def _mandatory(self) -> frozenset[str]:
        """Members of the workflow's document that were reported missing when all were left out."""
        listed = [errors_array.elements(usable(refused)) for refused in self.lacking(CREATE_NAMED)]
        missing = {path for elements in listed for code, path in elements if code == errors_array.MANDATORY}
        members = self._world.samples.document("").keys()
        return frozenset(
            name for name in members if any(errors_array.names_field(path, name) for path in missing)
        )

    def claim_draft_replaced(
        self, claims: Callable[[str], Claim], identifier: str, before: dict[str, Any], update: Exchange
    ) -> None:
        """Claim that a draft no longer shows its old content after an update was accepted.

        The document does not say whether it then shows anything, nor whether reads show workflow drafts.

        Args:
            before: Members that differ from the update; if empty, no claim is made.
        """
        if self._world.realm not in DOCUMENT_REALMS:
            return  # no operation reads drafts there
        claim = claims("workflow-update-replaces-draft")
        if not before:
            claim.untested("no draft of the record with other texts could be saved before the update")
            return

        def stale(read: Exchange) -> bool:
            return readers.holds_document(usable(read), before)

        read = self._world.until(
            lambda: self._world.author.get_draft(identifier), lambda read: not stale(read)
        )
        kept = stale(read)
        if (kept and self._shows_drafts()) or (read.answer.success and not kept):
            seen = f"that of the draft before it: {read.answer.quote()}"
            claim.holds(not kept, update, read, expected="the document of the update", seen=seen)
        else:
            claim.untested(f"the document does not say that drafts show submissions: {read.answer.quote()}")

    def _shows_drafts(self) -> bool:
        """Whether draft reads show a submission; the document does not say so."""
        identifier = self.submitted()
        read = self._world.author.get_draft(identifier)
        return readers.holds_document(usable(read), self._world.samples.document(identifier))

    def created(self) -> Exchange:
        """A valid document sent to a free identifier, which its note `identifier` names.

        Uses the realm's shared submission if it was accepted; a replay sends a new one.
        """
        sent = None if self._replays else self._world.submission_sent()
        if sent is not None and self._attempt is not None:
            self._attempt.exchanges.append(sent)
            return sent
        identifier = self._world.uid()
        sent = self._world.submit(CREATE_NAMED, identifier)
        sent.notes["identifier"] = identifier
        return sent

    def offer(self, name: str, value: str, sent: Exchange) -> None:
        """Offer an accepted record, or the batchId it was submitted with, to other cases.

        Args:
            name: `submitted`, `submitted too` or `batch`.
        """
        if taken(sent):
            self._world.offer(name, value)

    def submitted(self, name: str = "submitted") -> str:
        """An accepted submission: another case's, or else a new one, which is permanent."""
        left = None if self._replays else self._world.offered(name)
        return str(left or self._world.new_submission())

    def batch(self) -> str:
        """A batchId of the maximum length: that of earlier records, or else a fresh one."""
        return str(self._world.offered("batch") or self._world.fresh.uid(LONGEST_BATCH))
