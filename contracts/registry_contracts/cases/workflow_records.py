"""Records that workflow cases need: one that takes updates, one to be used up, one locked; and requests on them.

Whether a record takes updates cannot be read, so it is tried with a faulty document, which changes nothing: an
answer about the content means that the record exists, is not locked and is the author's to update. A record with
nothing but a draft may or may not count as existing; one counts here only after the service has shown that it does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

from registry_contracts.cases.submissions import (
    CREATE_NAMED,
    IN_USE,
    LONGEST_BATCH,
    UPDATE,
)
from registry_contracts.cases.world import World, named_identifiers
from registry_contracts.checks import errors_array
from registry_contracts.checks.claims import Claim
from registry_contracts.checks.outcomes import (
    Attempt,
    Blocked,
    Untested,
    done,
    missing,
    require,
    taken,
    usable,
)
from registry_contracts.checks.workflow import Row, ended_in, require_row
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.session.actor import Actor
from registry_contracts.settings.target import DOCUMENT_REALMS

#: Rows that say of a record that it takes no update.
_CLOSED: Final = (Row.UNKNOWN, Row.LOCKED, Row.MAY_NOT_UPDATE)
#: Where a submission gives the realm.
BY_HEADER: Final = "header"
WAYS: Final = (BY_HEADER, "query")
#: Records that are taken into use one after the other, when cases close them.
_MOST_STANDING = 8
#: Records that a faulty document may use up in looking for one that stands; the cases about faulty documents need some.
_MOST_USED_UP = 2


class WorkflowRecords:
    """The records of one realm, seen by the author: in the settings, in a draft, or from other cases.

    Args:
        attempt: The attempt at the case; in a replay nothing that another case has made will do.

    Raises (all methods):
        Blocked: no record is in the state that the case needs.
    """

    def __init__(self, world: World, attempt: Attempt | None = None) -> None:
        self._world = world
        self._attempt = attempt

    # -- looking for records

    def try_faulty(self, identifier: str) -> Exchange:
        """Send a faulty document as an update of a record; nothing comes of it."""
        exchange = self._world.submit(UPDATE, identifier, self._world.samples.faulty_submission(identifier))
        exchange.notes["identifier"] = identifier
        return exchange

    def keeps_refused_taken(self) -> bool:
        """Whether the identifier of any record that was refused for its document stays taken."""

        def look() -> bool:
            identifier = self._world.uid()
            self._world.try_creating(identifier)
            return ended_in(self._world.try_creating(identifier), *IN_USE)

        return self._world.once("refused identifiers stay taken", look)

    def _look_up(self, identifier: str) -> Exchange:
        """A valid update under an identifier of our own that should be free; the row of unknown ones says that it is.

        Raises:
            Blocked: updates are not refused for identifiers that were never used, or everything refused is kept,
                so nothing can be told; other clauses hold those findings.
        """

        def unknown(identifier: str) -> bool:
            return ended_in(self._world.submit(UPDATE, identifier), Row.UNKNOWN)

        def not_kept() -> bool:
            refused = self._world.try_creating(other := self._world.uid())
            return unknown(other) or not errors_array.turned_down(usable(refused))

        # Once for all cases and before anything else: where an update creates, each look leaves a record for good.
        known = self._world.once("unknown identifiers are refused", lambda: unknown(self._world.uid()))
        require(known, UPDATE, "does not refuse identifiers that were never used")
        found = self._world.submit(UPDATE, identifier)
        if not ended_in(found, Row.UNKNOWN):
            kept_out = self._world.once("what is refused is not kept", not_kept)
            require(kept_out, CREATE_NAMED, "keeps every record that it refuses for its content")
        return found

    def knows(self, identifier: str) -> bool:
        """Whether the service knows a record under an identifier, by create or by update; nothing comes of either."""
        if not ended_in(self.try_faulty(identifier), Row.UNKNOWN):
            return True
        # Last time's attempt to create may itself have taken the identifier, where refused records do.
        taken_already = ended_in(self._world.try_creating(identifier), *IN_USE)
        return taken_already and not self.keeps_refused_taken()

    def settles(self, identifier: str) -> bool:
        """Whether the service comes to know a record within a few seconds."""
        return self._world.eventually(lambda: self.knows(identifier))

    def comes_to_know(self, identifiers: Iterable[str]) -> str | None:
        """The identifier, of those that an answer names, under which the service comes to know a record."""
        candidates = list(identifiers)
        for candidate in candidates:
            self._world.fresh.claim_minted(candidate)
        return self._world.until(
            lambda: next(filter(self.knows, candidates), None),
            lambda known: known is not None or not candidates,
        )

    def given(self, exchange: Exchange, sent: Any) -> str:
        """The identifier that an accepted submission was given."""
        known = self.comes_to_know(named_identifiers(done(exchange), sent))
        if known is None:
            raise Blocked(exchange.operation or "", "the answer names no identifier that works")
        return known

    def claim_nothing_came_of(self, claim: Claim, identifier: str, *refused: Exchange) -> None:
        """Claim that refused submissions left a fresh identifier free, or a record that existed open for updates.

        Args:
            identifier: In the path of all of them, or for creates without one in the header.
        """
        if refused[-1].method == "POST":
            claim.meets("identifier-free", self._look_up(identifier), because_of=(refused[-1],))
            return
        found = self.try_faulty(identifier)
        claim.meets("identifier-not-locked", found, because_of=(refused[-1],))

    def claim_identifier_free(self, claim: Claim, identifier: str, *refused: Exchange) -> None:
        """Claim that creating under the identifier of refused creates is not refused because it is in use.

        An update may see nothing under an identifier that is taken all the same. Other operations leave nothing to
        claim, nor does a service that keeps the identifier of every refused record: that it becomes free is not said.
        """
        if refused[-1].operation != CREATE_NAMED:
            return
        found = self._world.try_creating(identifier)
        if not (ended_in(found, *IN_USE) and self.keeps_refused_taken()):
            claim.meets("identifier-not-in-use", found, because_of=(refused[-1],))

    # -- records that exist

    def standing(self) -> str:
        """A record that exists and is not locked, for requests that are refused; shared while it stays open."""
        used_up = 0
        for turn in range(_MOST_STANDING):
            identifier = self._world.once(f"standing record {turn}", self._find_standing)
            if identifier is None:
                used_up += 1
                if used_up == _MOST_USED_UP:
                    raise Blocked(UPDATE, "takes a faulty document, so no record stays as it was")
            elif not self._world.disturbed(identifier) or self._open(identifier):
                return identifier
        raise self._none()

    def published(self) -> str:
        """The first published record of the settings, which updates know: a faulty document is refused for itself."""
        identifier = str(self._world.samples.setting("published_identifier")[0])
        if not self._open(identifier):
            raise Untested("updates refuse the published record of the settings for more than its content")
        return identifier

    def _open(self, identifier: str) -> bool:
        tried = self.try_faulty(identifier)
        return errors_array.turned_down(usable(tried)) and not ended_in(tried, *_CLOSED)

    def _find_standing(self) -> str | None:
        """A record that takes no faulty document; None for one that took it, and may be there for good."""
        tried = self.faulty_update()
        if not errors_array.turned_down(usable(tried)):
            return None
        identifier = str(tried.notes["identifier"])
        self._world.keep(identifier)
        return identifier

    def faulty_update(self) -> Exchange:
        """A faulty document sent to a record that exists and is not locked; its note `identifier` names it."""
        for identifier, _ in self._offers(self._named()):
            tried = self.try_faulty(identifier)
            if not ended_in(tried, *_CLOSED):
                return tried
        raise self._none()

    def _next_named(self) -> list[str]:
        """The next record of the settings, but for the first one, which every other case lives on."""
        named = self._named()
        number = self._world.take("existing", len(named) - 1)
        return [] if number is None else [named[number + 1]]

    def spendable(self) -> str:
        """A record that exists and is not locked, to be used up by an accepted update."""
        for identifier, drafted in self._offers(self._next_named(), last=self._named()[:1]):
            tried = self.try_faulty(identifier)
            if not errors_array.turned_down(usable(tried)):
                raise Blocked(UPDATE, "takes a faulty document, so no record stays as it was")
            # A record that was never submitted cannot be locked: an answer that says so is for the case to judge.
            if not ended_in(tried, *_CLOSED) or (drafted and ended_in(tried, Row.LOCKED)):
                return identifier
        raise self._none()

    def spare(self) -> list[str]:
        """One more record to be used up, where the settings name enough of them."""
        return [record for record in self._next_named() if not ended_in(self.try_faulty(record), *_CLOSED)]

    def locked(self) -> str:
        """A record that is locked for workflow: the one of the settings, or a submission once its lock shows."""
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
        """See whether the record of the settings shows no lock because of the record, and not of the service.

        Of the record, where a submission shows its lock, or where creating under its identifier finds it free.
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
        """A document that has nothing but a draft of the realm's workflow schema."""
        uid = self._world.uid()
        document = self._world.samples.document(uid)
        return self._world.draft(uid, document, schema=self._world.samples.workflow_schema).uid

    def open_draft(self) -> str:
        """A record that takes updates and was sent no faulty document, for looking at its draft.

        A draft alone serves where it counts as existing, which a second draft shows; else the standing record.
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
        """Candidates, and whether one is a fresh draft: records of the settings, a draft, and the last resort."""
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
        """An identifier that a request of this operation fits: a fresh one, or for updates a standing record.

        The service has taken a valid submission before, where it takes any: it may look at its first ones alone.
        """
        # Where it can be tried, other cases judge it.
        self._world.once("a submission before", lambda: self._world.submission_sent() is not None)
        return self.standing() if operation == UPDATE else self._world.uid()

    def unused(self) -> str:
        """An identifier under which no record exists."""
        return self._world.uid()

    def send(self, operation: str, actor: Actor | None = None, **parts: Any) -> Exchange:
        """A submission with nothing wrong but what `parts` say; its note `identifier` names the record."""
        identifier = self.subject(operation)
        sent = self._world.submit(operation, identifier, by=actor, **parts)
        sent.notes["identifier"] = identifier
        return sent

    def faulty(self, operation: str) -> Exchange:
        """A faulty document sent to where only its content can be refused; the note `identifier` says where."""
        if operation == UPDATE:
            return self.faulty_update()
        identifier = self.subject(operation)
        faulty = self._world.samples.faulty_submission(identifier)
        exchange = self._world.submit(operation, identifier, faulty)
        exchange.notes["identifier"] = identifier
        return exchange

    def lacking(self, operation: str) -> list[Exchange]:
        """The refusal of a document that lacks every member but its header, sent to where only that can be refused.

        Returns:
            Nothing where its schema asks for none of them, and nothing but for creation under an identifier: what is
            accepted by the other two could not be told from the records of other cases.
        """
        if operation != CREATE_NAMED:
            return []
        identifier = self.subject(operation)
        bare = self._world.samples.bare_submission(identifier)
        exchange = self._world.submit(operation, identifier, bare)
        return [exchange] if errors_array.turned_down(usable(exchange)) else []

    def lacking_mandatory(self, record: dict[str, Any]) -> dict[str, Any]:
        """A record of another sort, which lacks a member that the workflow's schema makes mandatory."""
        mandatory = self._world.once("mandatory for the workflow", self._mandatory)
        if not mandatory - record.keys():
            raise Untested("what the workflow's schema makes mandatory, and a contact lacks, is not known")
        return record

    def _mandatory(self) -> frozenset[str]:
        """Members of the workflow's document that were reported missing when all were."""
        listed = [errors_array.elements(usable(refused)) for refused in self.lacking(CREATE_NAMED)]
        missing = {path for elements in listed for code, path in elements if code == errors_array.MANDATORY}
        members = self._world.samples.document("").keys()
        return frozenset(
            name for name in members if any(errors_array.names_field(path, name) for path in missing)
        )

    def claim_draft_replaced(
        self, claims: Callable[[str], Claim], identifier: str, before: dict[str, Any], update: Exchange
    ) -> None:
        """Claim that a draft does not go on showing what it held before an update was accepted.

        Whether it shows anything then is not shown, nor whether the drafts of the workflow are those that are read.

        Args:
            before: Members that differ from those of the update; none for no claim.
        """
        if self._world.realm not in DOCUMENT_REALMS:
            return  # nothing reads drafts there
        claim = claims("workflow-update-replaces-draft")
        if not before:
            claim.untested(
                "no draft of the record could be saved before the update, or none with other texts"
            )
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
            claim.untested(f"whether submissions are read as drafts is not shown: {read.answer.quote()}")

    def _shows_drafts(self) -> bool:
        """Whether the draft of a submission is where drafts are read, which is not shown."""
        identifier = self.submitted()
        read = self._world.author.get_draft(identifier)
        return readers.holds_document(usable(read), self._world.samples.document(identifier))

    def created(self) -> Exchange:
        """A valid document sent to a free identifier, which its note `identifier` names.

        The submission that the cases of a realm share serves, where it was accepted, and a new one in a replay.
        """
        sent = None if self._replays else self._world.submission_sent()
        if sent is not None and self._attempt is not None:
            self._attempt.exchanges.append(sent)
            return sent
        identifier = self._world.uid()
        # As plain as the shared one, whatever the case is tried in: without what may be left out.
        sent = self._world.submit(CREATE_NAMED, identifier, query=())
        sent.notes["identifier"] = identifier
        return sent

    def offer(self, name: str, value: str, sent: Exchange) -> None:
        """Leave a record, or the batchId that it was submitted with, for other cases, if it was accepted.

        Args:
            name: `submitted`, `submitted too` or `batch`.
        """
        if taken(sent):
            self._world.offer(name, value)

    def submitted(self, name: str = "submitted") -> str:
        """A record that was submitted and accepted: another case's, or else a new one, which stays for good."""
        left = None if self._replays else self._world.offered(name)
        return str(left or self._world.new_submission())

    def batch(self) -> str:
        """A batchId of the permitted length: that of records submitted before, or else a fresh one."""
        return str(self._world.offered("batch") or self._world.fresh.uid(LONGEST_BATCH))

    def parts_of(self, way: str) -> Iterator[Mapping[str, Any]]:
        """Parts of a request that gives the realm in one way.

        That with the realm in the query is one of a batch, which changes no row. Whether the service reads the query
        is a clause of its own: where it does not, the rows are told by the header alone, and this raises Blocked.
        """
        if way == BY_HEADER:
            yield {"query": ()}
            return
        by_query = self._world.in_query()
        require(bool(by_query), CREATE_NAMED, "does not read the realm from the query")
        yield {**by_query, "members": {"batchId": self._world.fresh.uid(LONGEST_BATCH)}}

    def need_row(
        self, row: Row, operation: str, actor: Actor, identifier: str = "", named: str = "", **parts: Any
    ) -> None:
        """See once for each operation that a submission with one fault ends in the row of that fault.

        Args:
            identifier: Of the record; one that fits the operation by default.
            named: The realm that the row's message names.
            parts: The fault, as for `submit`.
        """

        def look() -> None:
            record = identifier or self.subject(operation)
            require_row(self._world.submit(operation, record, by=actor, **parts), row, named)

        self._world.once(f"the row of {row} by {operation}", look)
