"""The world of a case: its author, records to send, fresh identifiers, and arrangements to make before a claim."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from registry_contracts.cases import effects
from registry_contracts.cases.attachment_ids import Attachment, attached, upload
from registry_contracts.cases.list_pages import attachments_of
from registry_contracts.cases.sample_records import Samples
from registry_contracts.checks import errors_array
from registry_contracts.checks.outcomes import Attempt, Blocked, Untested, done, missing, taken, usable
from registry_contracts.checks.workflow import Row, ended_in
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Exchange, Response
from registry_contracts.interface.description import operations_with
from registry_contracts.interface.operations import is_valid_uid
from registry_contracts.session.actor import DEFAULT, Actor
from registry_contracts.session.namespace import SUITE_PREFIX, Namespace
from registry_contracts.session.session import Session

#: How many of the settings' records for attachments the cases share.
_KEPT_RECORDS = 4
#: Records to submit in a realm as documents for attachments, if drafts accept none.
_MOST_SUBMITTED = 30


def named_identifiers(answer: Response, sent: Any) -> list[str]:
    """Texts of an answer that may be the identifier of the sent record: its own first, then new ones.

    Args:
        sent: The JSON value that was sent; its other texts are no candidates.
    """
    own = readers.own_identifier(sent)
    echoed = {value for value in readers.values(sent) if isinstance(value, str)} - {own}
    texts = [value for value in readers.values(answer.json) if isinstance(value, str)]
    places = unquote(answer.headers.get("location", "").partition("?")[0]).split("/")
    found = [text for text in (*texts, *reversed(places)) if is_valid_uid(text) and text not in echoed]
    first = [own] if own is not None and own in found else []
    return list(dict.fromkeys([*first, *found]))


def mark_of(realm: str, identifier: str) -> str:
    """The mark that a record of a realm was disturbed."""
    return f"disturbed {realm} {identifier}"


def disturbed(attempt: Attempt) -> Iterator[str]:
    """Marks of the records that an attempt may have changed: by accepted submissions, or by any if it contradicts.

    A refused submission should leave its record unchanged; after a contradiction, that is not assumed.
    """
    for exchange in attempt.exchanges:
        if exchange.operation not in operations_with(family="workflow", identifier_parameter="identifier"):
            continue
        answer = exchange.response
        if attempt.keys or answer is None or exchange.fault or not errors_array.turned_down(answer):
            identifier = unquote(urlsplit(exchange.url).path.rsplit("/", 1)[-1])
            yield mark_of(exchange.realm, identifier)


#: What accepts attachments: a draft, records of the settings, a submitted record, or perhaps published ones.
_DRAFT, _NAMED, _SUBMITTED, _PUBLISHED = "draft", "named", "submitted", "published"

T = TypeVar("T")


@dataclass(frozen=True)
class _TakesFiles:
    """What accepts attachments.

    Attributes:
        kind: One of the four.
        refused: The status with which a draft refuses them; None if it accepts them.
        once_published: A submitted record accepts them once its draft has become the published version.
    """

    kind: str
    refused: int | None = None
    once_published: bool = False


@dataclass(frozen=True)
class Draft:
    """A saved draft: its uid, the document as sent, and the exchange that saved it."""

    uid: str
    document: dict[str, Any]
    exchange: Exchange


class World:
    """What a case finds in its realm, and what it can arrange there.

    Args:
        author: Makes the arrangements unless `by` names another actor.
        anew: Share no draft and no attachment with other cases: a replay needs fresh data, since earlier requests
            may have caused the result. Permanent records are shared anyway.

    Raises (all methods):
        Blocked: an operation that the arrangement needs failed.
    """

    def __init__(self, session: Session, author: Actor, samples: Samples, *, anew: bool = False) -> None:
        self.author = author
        self.samples = samples
        self.realm = author.realm
        self._session = session
        self._own: dict[str, Any] | None = {} if anew else None

    @property
    def fresh(self) -> Namespace:
        """Identifiers of the run's namespace."""
        return self._session.namespace

    def uid(self, length: int = 24) -> str:
        """A fresh identifier of this length."""
        return self._session.namespace.uid(length)

    def draft(
        self,
        uid: str | None = None,
        document: dict[str, Any] | None = None,
        schema: str | None = None,
        *,
        by: Actor | None = None,
        plain: bool = False,
    ) -> Draft:
        """Save a draft under a fresh identifier or `uid`, with the contact schema or `schema`.

        Args:
            plain: `uid` is an ordinary identifier of the run.
        """
        plain = (plain or uid is None) and document is None and schema is None and by in (None, self.author)
        uid = uid or self.uid()
        document = document if document is not None else self.samples.draft(uid)
        exchange = self.save(uid, document, schema=schema, by=by)
        # The first one may be refused for values that only the settings can provide.
        known = plain and self.offered("plain draft") is not None
        done(exchange, "draft-save-creates" if known else "")
        if plain and not known:
            self.offer("plain draft", value=True)
        return Draft(uid, document, exchange)

    def save(
        self,
        uid: str,
        document: dict[str, Any],
        *,
        schema: str | None = None,
        by: Actor | None = None,
        **parts: Any,
    ) -> Exchange:
        """Save a document as the draft of `uid` without requiring acceptance; `parts` as for `submit`."""
        query = {"schema": schema or self.samples.draft_schema}
        return (by or self.author).send("saveDraft", path={"uid": uid}, query=query, json=document, **parts)

    def submit(
        self,
        operation: str,
        identifier: str,
        json: Any = DEFAULT,
        *,
        schema: str | None = None,
        by: Actor | None = None,
        **parts: Any,
    ) -> Exchange:
        """Send a submission to the workflow, accepted or not.

        Args:
            operation: One of the three; if the path has no identifier, it is only in the document's header.
            identifier: Of the record.
            json: Replaces the valid submission.
            schema: Replaces the realm's own.
            parts: Other parts of the request to change: `token`, `realm`, `query`, `headers`.
        """
        path = {"schema": schema or self.samples.workflow_schema}
        if operation != "createWorkflowRecord":
            path["identifier"] = identifier
        if json is DEFAULT:
            json = self.samples.submission(identifier)
        return (by or self.author).send(operation, path=path, json=json, **parts)

    def reads_realm_from_query(self) -> bool:
        """Whether the service reads the realm of a submission from its query."""

        def look() -> bool:
            tried = self.try_creating(self.uid(), realm=None, query={"Realm": self.realm})
            return not ended_in(tried, Row.REALM_MISSING, Row.REALM_UNKNOWN)

        return self.once("realm from the query", look)

    def try_creating(self, identifier: str, **parts: Any) -> Exchange:
        """Send a faulty document as a create under an identifier; it creates nothing. `parts` as for `submit`."""
        faulty = self.samples.faulty_submission(identifier)
        return self.submit("createWorkflowRecordWithIdentifier", identifier, faulty, **parts)

    def document(self, uid: str | None = None, *, named: bool = False) -> str:
        """The uid of a new document that accepts attachments; `uid` for a kept one.

        A draft if drafts accept attachments, which the document does not say. Otherwise a record of the setting
        `attachment_identifiers`, or else a submitted record, which is permanent.

        Args:
            named: The document must have exactly this uid.

        Raises:
            Untested: the settings name too few records, or the plan of the run leaves too few.
        """
        taking = self._what_takes_files()
        if taking.kind == _DRAFT:
            draft = self.draft(uid)
            if uid in self._session.shared_drafts:
                self.note_kept(draft)
            return draft.uid
        if taking.kind == _NAMED:
            if named:
                raise Untested(
                    "drafts accept no attachments, and records of the settings have their own uids"
                )
            return self._unused_record(kept=uid is not None)
        if taking.kind == _PUBLISHED:
            neither = ", and neither drafts nor submitted records accept attachments"
            raise missing(f"realm.{self.realm}.attachment_identifiers", neither)
        # The other half is a reserve for requests that the document leaves open and a service may accept.
        most = min(_MOST_SUBMITTED, self._session.permanent_records.unplanned(self.realm) // 2)
        if self.take("submitted for files", most) is None:
            raise Untested(
                "only submitted records accept attachments, and no more than "
                f"{most} permanent records are left for them (setting pace.permanent_records)"
            )
        submitted = self.new_submission(uid)
        if taking.once_published:
            self.eventually(lambda: not self.author.draft_exists(submitted).answer.success)
        return submitted

    def refusal_of_files(self) -> int | None:
        """The status with which drafts refuse attachments that other records accept; else None."""
        return self._what_takes_files().refused

    def _what_takes_files(self) -> _TakesFiles:
        """What accepts attachments in this realm."""
        return self.once("what takes files", self._try_files)

    def _try_files(self) -> _TakesFiles:
        """Find out what accepts a file; if nothing does, the cases on attachments report it.

        If the settings name no published record, assume that one might.
        """
        for _ in range(2):  # a second try is enough
            tried = usable(upload(self.author, self.kept_draft().uid, "first.txt", b"first\n"))
            if not tried.refusal:
                return _TakesFiles(_DRAFT)
        if self.samples.tells("attachment_identifiers"):
            return _TakesFiles(_NAMED, tried.status)
        others: dict[str, Callable[[], str]] = {
            _SUBMITTED: self.submission,
            _PUBLISHED: lambda: str(self.samples.setting("published_identifier")[0]),
        }
        for kind, record in others.items():
            with suppress(Blocked, Untested):
                if self._takes_file(identifier := record()):
                    published = not self.author.draft_exists(identifier).answer.success
                    return _TakesFiles(kind, tried.status, once_published=published)
        known = self.samples.tells("published_identifier")
        return _TakesFiles(_DRAFT) if known else _TakesFiles(_PUBLISHED, tried.status)

    def _takes_file(self, identifier: str) -> bool:
        """Whether a record accepts a file within a few seconds; a submission may be processed some time later."""
        # A name of this run, since an existing record may have files of earlier runs.
        name = f"{self.uid()}.txt"
        return self.eventually(lambda: usable(upload(self.author, identifier, name, b"first\n")).success)

    def _unused_record(self, *, kept: bool) -> str:
        """A record of the settings without attachments; the first ones are for shared use."""
        given = self.samples.setting("attachment_identifiers")
        shares = [("records for files", given[_KEPT_RECORDS:])]
        if kept:
            shares.insert(0, ("kept records for files", given[:_KEPT_RECORDS]))
        for counter, records in shares:
            while (number := self.take(counter, len(records))) is not None:
                if attachments_of(self.author, records[number]).page().size <= 0:
                    return str(records[number])
        raise Untested(f"setting realm.{self.realm}.attachment_identifiers has no unused record left")

    def keep(self, uid: str) -> None:
        """Keep a shared draft until the end of the run."""
        self._session.shared_drafts.add(uid)

    def take(self, counter: str, most: int) -> int | None:
        """The next number, from 0, of a realm's counter that all workers share; None from `most` on."""
        number = self._session.shared.take(f"{counter}-{self.realm}")
        return number if number < most else None

    def shared_draft(self, *, by: Actor | None = None) -> Draft:
        """A draft that cases read and never change."""
        actor = by or self.author
        return self.shared(f"draft of {actor.role}", lambda: self.kept_draft(by=actor))

    def kept_draft(self, word: str = "", *, by: Actor | None = None) -> Draft:
        """Save a draft that stays until the end of the run; for `word` see `kept_uid`."""
        draft = self.draft(self.kept_uid(word), by=by, plain=True)
        self.note_kept(draft, by)
        return draft

    def note_kept(self, kept: Draft | Attachment, by: Actor | None = None) -> None:
        """Note what no case changes, for the census at the end of the run; `by` saved it."""
        if self._own is None:
            self.note("kept", ((by or self.author).role, kept))

    def kept(self) -> list[tuple[str, Draft | Attachment]]:
        """What no case has changed, with the role of the account that saved it; nothing for a replay."""
        return [] if self._own is not None else self.noted("kept")

    def kept_uid(self, word: str = "", uid: str | None = None) -> str:
        """A uid for a draft that stays until the end of the run: fresh, or `uid`; `word` stands in a fresh one."""
        uid = uid or self.uid()
        uid = uid if not word else f"{self._session.namespace.prefix}{word}-{uid[-12:]}"
        self._session.shared_drafts.add(uid)
        return uid

    def shared_document(self) -> str:
        """The uid of the shared draft, or of another document if drafts accept no attachments."""
        if self.refusal_of_files() is None:
            return self.shared_draft().uid
        return self.shared("document", self.document)

    def shared_attachment(self) -> Attachment:
        """An attachment that cases read and never change; without id if no answer holds one."""

        def make() -> Attachment:
            attachment = attached(self.author, self.shared_document(), "note.txt", b"a note\n")
            if self.refusal_of_files() is None:  # what becomes of a submitted record is not shown
                self.note_kept(attachment)
            return attachment

        return self.shared("attachment", make)

    def contact(self) -> str:
        """The identifier of an updatable contact record of the author; reused by later runs."""
        identifier = self.once("contact", self._kept_contact)
        self._session.namespace.claim_minted(identifier)  # another worker may have got it from the service
        return identifier

    def _kept_contact(self) -> str:
        """An updatable contact of the author; created if there is none yet.

        Raises:
            Blocked: it cannot be created, or cannot be updated under any identifier in the answer.
            Untested: a setting is missing, or no answer holds the identifier of the created contact.
        """
        identifier = f"{SUITE_PREFIX}keep-{self.author.role}-contact-{self.realm}"
        record, query = self.samples.contact(identifier), {"schema": self.samples.contact_schema}
        if taken(self.update_contact(identifier, [record])):
            return identifier
        # A contact is permanent: if it cannot be updated, do not create a second one.
        created: Exchange | None = self.offered("exchange of the contact")
        if created is None:
            created = self.author.send("createContact", query=query, json=record)
            if taken(created):
                self.offer("exchange of the contact", created)
        names = named_identifiers(usable(created), record)
        for candidate in dict.fromkeys([identifier, *names]):
            self.fresh.claim_minted(candidate)
            if taken(self.update_contact(candidate)):
                return candidate
        if not taken(created):
            raise Blocked("createContact", f"answered {created.answer.quote()}")
        if not names:
            raise Untested("no answer holds the uid under which a created contact can be updated")
        cause = "a contact that was just created cannot be updated under any identifier in the answer"
        raise Blocked("updateContact", cause)

    def update_contact(self, identifier: str, records: Iterable[dict[str, Any]] = ()) -> Exchange:
        """Update a contact with one record after another until one is accepted; return the last exchange.

        Args:
            records: By default three kinds: if one is wrongly refused, which other cases report, another may be
                accepted.
        """
        contact, full = self.samples.contact, self.samples.full_contact
        path, query = {"uid": identifier}, {"schema": self.samples.contact_schema}
        for record in records or (contact(identifier), full(identifier), contact()):
            updated = self.author.send("updateContact", path=path, query=query, json=record)
            if taken(updated):
                break
        return updated

    def submission(self) -> str:
        """The identifier of a submitted record; one for each realm and run."""

        def make() -> str:
            sent = self._submit(None)
            self.offer("exchange of the submission", sent)
            return str(sent.notes["identifier"])

        return self.once("submission", make)

    def submission_sent(self) -> Exchange | None:
        """The exchange of this submission, for a case to judge; None if it was not accepted or not sent."""
        with suppress(Blocked, Untested):
            self.submission()
        sent: Exchange | None = self.offered("exchange of the submission")
        return sent

    def offer(self, name: str, value: object) -> None:
        """Offer something of this realm to cases that can use what another case made."""
        self._session.shared.offer(f"{self.realm} {name}", value)

    def note(self, name: str, value: object) -> None:
        """Add a value to a list of this realm, for all workers."""
        with self._session.shared.held(f"{self.realm} {name}", list[object]) as noted:
            noted.append(value)

    def noted(self, name: str) -> list[Any]:
        """The values of such a list, in their order."""
        return self.offered(name) or []

    def offered(self, name: str) -> Any:
        """What another case offered under a name; None for nothing."""
        return self._session.shared.offered(f"{self.realm} {name}")

    def disturbed(self, identifier: str) -> bool:
        """Whether some case of the run may have changed a workflow record."""
        return bool(self._session.shared.offered(mark_of(self.realm, identifier)))

    def new_submission(self, identifier: str | None = None) -> str:
        """Submit a new, permanent record and return its identifier."""
        return str(self._submit(identifier).notes["identifier"])

    def _submit(self, identifier: str | None) -> Exchange:
        identifier = identifier or self.uid()
        self._session.shared_drafts.add(identifier)
        if self._own is None:
            self._session.permanent_records.foresee(identifier)
        sent = self.submit("createWorkflowRecordWithIdentifier", identifier)
        done(sent, "workflow-create-with-identifier-accepted")
        sent.notes["identifier"] = identifier
        return sent

    def temporary_file(self) -> str:
        """An unused temporary file id; each is handed out once at a target, across workers and runs."""
        name = next(self.temporary_files())
        self._session.used_up.note(self.realm, name)
        return name

    def temporary_files(self) -> Iterator[str]:
        """Ids of temporary files that no run is known to have used, each handed out once.

        Raises:
            Blocked: the caller has tried all that were left.
            Untested: none was left.
        """
        setting = f"realm.{self.realm}.temporary_files"
        offered = self._session.shared.once(f"temporary files {self.realm}", self._unused_files)
        given = 0
        while (taken := self._session.shared.take(f"temporary-{self.realm}")) < len(offered):
            yield offered[taken]
            given += 1
        if given:
            why = f"each id that was left in the setting {setting} was refused, {given} of them"
            raise Blocked(
                "persistTemporaryFile",
                f"{why}: earlier runs used them up, or none is accepted; name unused ids",
            )
        raise Untested(f"setting {setting} has no unused id left", setting)

    def _unused_files(self) -> list[str]:
        used = self._session.used_up.of(self.realm)
        return [str(name) for name in self.samples.setting("temporary_files") if name not in used]

    def used_up(self, name: str, persisted: Exchange) -> bool:
        """Whether a refused temporary file may have been used up by an earlier run; if not, mark it as used."""
        if usable(persisted).refusal and not self._session.target.is_sandbox:
            return True
        self._session.used_up.note(self.realm, name)
        return False

    def eventually(self, look: Callable[[], bool]) -> bool:
        """Whether an effect shows within a few seconds; polls until then."""
        return effects.until(look, bool, self._session.settle_seconds)

    def until(self, ask: Callable[[], T], good: Callable[[T], bool]) -> T:
        """Poll `ask` for a few seconds until its result is good; return the last result."""
        return effects.until(ask, good, self._session.settle_seconds)

    def once(self, name: str, make: Callable[[], T]) -> T:
        """Make something once for all cases of this realm in a run, by a unique name.

        Args:
            make: Returns a picklable value, for the other workers.
        """
        return self._session.shared.once(f"{self.realm} {name}", make)

    def shared(self, name: str, make: Callable[[], T]) -> T:
        """Like `once`, for drafts and attachments; a replay makes its own."""
        if self._own is None:
            return self.once(name, make)
        if name not in self._own:
            self._own[name] = make()
        found: T = self._own[name]
        return found
