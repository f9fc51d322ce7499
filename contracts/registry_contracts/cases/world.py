"""The world of a case: its author, records to send, fresh identifiers, and what can be arranged before a claim."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
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

#: Of the records of the settings that take attachments, those that cases share.
_KEPT_RECORDS = 4
#: Records that are submitted in a realm so that attachments have a document, where drafts take none.
_MOST_SUBMITTED = 30


def named_identifiers(answer: Response, sent: Any) -> list[str]:
    """Texts of an answer that may be the identifier of the record that was sent: its own first, then new ones.

    Args:
        sent: The JSON value that was sent; other texts that only come back from it are no candidates.
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
    """Marks of the records that took a submission, or that an attempt with contradictions had to do with.

    A refused submission leaves its record as it was; where the service just broke a promise, nothing is taken for
    granted.
    """
    for exchange in attempt.exchanges:
        if exchange.operation not in operations_with(family="workflow", identifier_parameter="identifier"):
            continue
        answer = exchange.response
        if attempt.keys or answer is None or exchange.fault or not errors_array.turned_down(answer):
            identifier = unquote(urlsplit(exchange.url).path.rsplit("/", 1)[-1])
            yield mark_of(exchange.realm, identifier)


#: What takes attachments: a draft, records of the settings, a submitted one, or, as far as is known, published ones.
_DRAFT, _NAMED, _SUBMITTED, _PUBLISHED = "draft", "named", "submitted", "published"

T = TypeVar("T")


@dataclass(frozen=True)
class _TakesFiles:
    """What takes attachments.

    Attributes:
        kind: one of the four.
        refused: the status with which a draft refuses them; None where it takes them.
        once_published: a record that is submitted takes them when its draft has become the published version.
    """

    kind: str
    refused: int | None = None
    once_published: bool = False


@dataclass(frozen=True)
class Draft:
    """A draft that was saved: its uid, the document as it was sent, and the exchange that saved it."""

    uid: str
    document: dict[str, Any]
    exchange: Exchange


class World:
    """What a case finds in its realm, and what it can arrange there.

    Args:
        author: Arranges what no other actor is named for (`by`).
        anew: Share no draft and no attachment with other cases, since a replay is made on fresh data: how often
            something was asked for before may be what made the difference. What stays for good is shared all the same.

    Raises (all methods):
        Blocked: an operation that the arrangement needs did not do its part.
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
        """An identifier of so many characters that was never used."""
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
        """Save a draft under a fresh identifier, or under `uid`; of the contact schema, or of `schema`.

        Args:
            plain: `uid` is one as the run makes them.
        """
        plain = (plain or uid is None) and document is None and schema is None and by in (None, self.author)
        uid = uid or self.uid()
        document = document if document is not None else self.samples.draft(uid)
        exchange = self.save(uid, document, schema=schema, by=by)
        # The first one may be refused for values that only the settings can tell.
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
        """Save a document as the draft of `uid`, accepted or not; arguments as for `draft`, parts as for `submit`."""
        query = {"schema": schema or self.samples.draft_schema}
        return (by or self.author).send("saveDraft", path={"uid": uid}, query=query, json=document, **parts)

    def submit(
        self,
        operation: str,
        identifier: str,
        json: Any = DEFAULT,
        *,
        schema: str | None = None,
        members: Mapping[str, str] = MappingProxyType({}),
        by: Actor | None = None,
        **parts: Any,
    ) -> Exchange:
        """Send a submission to the workflow, accepted or not.

        Args:
            operation: One of the three; create without an identifier in the path leaves it to the document's header.
            identifier: Of the record.
            json: In place of a valid submission under the identifier.
            schema: In place of the realm's own.
            members: Further members of a valid submission: batchId, additionalInfo.
            parts: Further parts of the request that differ: `token`, `realm`, `query`, `headers`.
        """
        path = {"schema": schema or self.samples.workflow_schema}
        if operation != "createWorkflowRecord":
            path["identifier"] = identifier
        if json is DEFAULT:
            json = self.samples.submission(identifier, **members)
        return (by or self.author).send(operation, path=path, json=json, **parts)

    def in_query(self) -> Mapping[str, Any]:
        """Parts of a submission that names the realm in its query; none where it is not read, a clause of its own."""
        parts = {"realm": None, "query": {"Realm": self.realm}}

        def look() -> bool:
            tried = self.try_creating(self.uid(), **parts)
            return not ended_in(tried, Row.REALM_MISSING, Row.REALM_UNKNOWN)

        return parts if self.once("realm from the query", look) else {}

    def try_creating(self, identifier: str, **parts: Any) -> Exchange:
        """Send a faulty document to create under an identifier, with `parts` as for `submit`; nothing comes of it."""
        faulty = self.samples.faulty_submission(identifier)
        return self.submit("createWorkflowRecordWithIdentifier", identifier, faulty, **parts)

    def document(self, uid: str | None = None, *, named: bool = False) -> str:
        """The uid of a new document that takes attachments; `uid` in place of a fresh one, for one that is kept.

        A draft, where drafts accept attachments, which is not shown. Otherwise a record of the setting
        `attachment_identifiers`, or else a submitted record, which is permanent.

        Args:
            named: It has to be under this very uid.

        Raises:
            Untested: it takes more such records than the settings name, or the plan of the run leaves over.
        """
        taking = self._what_takes_files()
        if taking.kind == _DRAFT:
            return self.draft(uid).uid
        if taking.kind == _NAMED:
            if named:
                raise Untested(
                    "drafts take no attachments, and records of the settings have uids of their own"
                )
            return self._unused_record(kept=uid is not None)
        if taking.kind == _PUBLISHED:
            neither = ", and neither drafts nor submitted records take attachments"
            raise missing(f"realm.{self.realm}.attachment_identifiers", neither)
        # The other half is room for what the document leaves open, and a service may take.
        most = min(_MOST_SUBMITTED, self._session.permanent_records.unplanned(self.realm) // 2)
        if self.take("submitted for files", most) is None:
            raise Untested(
                "attachments are taken by submitted records only, and no more than "
                f"{most} that stay for good are left over for them (setting pace.permanent_records)"
            )
        submitted = self.new_submission(uid)
        if taking.once_published:
            self.eventually(lambda: not self.author.draft_exists(submitted).answer.success)
        return submitted

    def refusal_of_files(self) -> int | None:
        """The status with which a draft refuses an attachment that another record takes; None where none does."""
        return self._what_takes_files().refused

    def _what_takes_files(self) -> _TakesFiles:
        """What takes attachments in this realm."""
        return self.once("what takes files", self._try_files)

    def _try_files(self) -> _TakesFiles:
        """Find out what accepts a file; if nothing does, the cases on attachments report it.

        Where the settings name no published record, one may take it.
        """
        for _ in range(2):  # one that takes a file the second time takes files
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
        """Whether a record takes a file; when what was submitted is more than a draft is not shown."""
        # Under a name of this run's: a record that is there may have files of earlier ones.
        name = f"{self.uid()}.txt"
        return self.eventually(lambda: usable(upload(self.author, identifier, name, b"first\n")).success)

    def _unused_record(self, *, kept: bool) -> str:
        """A record of the settings to which nothing is attached; the first ones are for cases that share them."""
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
        """Keep a draft that cases share until the end of the run."""
        self._session.shared_drafts.add(uid)

    def take(self, counter: str, most: int) -> int | None:
        """The next number of a counter of the realm that all workers share, from 0; None from `most` on."""
        number = self._session.shared.take(f"{counter}-{self.realm}")
        return number if number < most else None

    def shared_draft(self, word: str = "", uid: str | None = None, *, by: Actor | None = None) -> Draft:
        """A draft that cases read and never change.

        Args:
            word: Tells it from the ordinary one.
            uid: Under which it is saved when it is not there yet; fresh by default.
        """
        actor = by or self.author
        return self.shared(f"draft of {actor.role} {word}", lambda: self.kept_draft(uid=uid, by=actor))

    def kept_draft(self, word: str = "", uid: str | None = None, *, by: Actor | None = None) -> Draft:
        """Save a draft that stays until the end of the run."""
        return self.draft(self.kept_uid(word, uid), by=by, plain=uid is None)

    def kept_uid(self, word: str = "", uid: str | None = None) -> str:
        """A uid of a draft that is to stay until the end of the run; arguments as for `kept_draft`."""
        uid = uid or self.uid()
        uid = uid if not word else f"{self._session.namespace.prefix}{word}-{uid[-12:]}"
        self._session.shared_drafts.add(uid)
        return uid

    def shared_document(self) -> str:
        """The uid of the shared draft, or of another document where drafts take no attachments."""
        if self.refusal_of_files() is None:
            return self.shared_draft().uid
        return self.shared("document", self.document)

    def shared_attachment(self) -> Attachment:
        """An attachment that cases read and never change; where no answer tells its id, one without."""
        return self.shared(
            "attachment", lambda: attached(self.author, self.shared_document(), "note.txt", b"a note\n")
        )

    def contact(self) -> str:
        """The identifier of a contact record of the author's that can be updated; reused by runs."""
        identifier = self.once("contact", self._kept_contact)
        self._session.namespace.claim_minted(identifier)  # another worker may have got it from the service
        return identifier

    def _kept_contact(self) -> str:
        """A contact of the author's that can be updated; created where there is none yet.

        Raises:
            Blocked: it cannot be created, or not be updated under any name it was given.
            Untested: a setting is missing, or no answer tells the name of a contact that was created.
        """
        identifier = f"{SUITE_PREFIX}keep-{self.author.role}-contact-{self.realm}"
        record, query = self.samples.contact(identifier), {"schema": self.samples.contact_schema}
        if taken(self.update_contact(identifier, [record])):
            return identifier
        # It stays for good: where it cannot be updated, and so is of no use, no second one is created.
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
            raise Untested("no answer tells under which uid a contact that was created can be updated")
        cause = "a contact that was just created cannot be updated under any name it was given"
        raise Blocked("updateContact", cause)

    def update_contact(self, identifier: str, records: Iterable[dict[str, Any]] = ()) -> Exchange:
        """Update a contact with one record after the other until one is taken; the latest update.

        Args:
            records: Three sorts by default: where one is refused wrongly, which is a finding of its own, another may
                be taken.
        """
        contact, full = self.samples.contact, self.samples.full_contact
        path, query = {"uid": identifier}, {"schema": self.samples.contact_schema}
        for record in records or (contact(identifier), full(identifier), contact()):
            updated = self.author.send("updateContact", path=path, query=query, json=record)
            if taken(updated):
                break
        return updated

    def submission(self) -> str:
        """The identifier of a record that was submitted through the workflow; one for each realm and run."""

        def make() -> str:
            sent = self._submit(None)
            self.offer("exchange of the submission", sent)
            return str(sent.notes["identifier"])

        return self.once("submission", make)

    def submission_sent(self) -> Exchange | None:
        """The exchange that made this submission, for a case to judge; None where it was not taken, or not sent."""
        with suppress(Blocked, Untested):
            self.submission()
        sent: Exchange | None = self.offered("exchange of the submission")
        return sent

    def offer(self, name: str, value: object) -> None:
        """Leave something of this realm's for cases that can do with what another case has made."""
        self._session.shared.offer(f"{self.realm} {name}", value)

    def offered(self, name: str) -> Any:
        """What another case has left under a name; None for nothing."""
        return self._session.shared.offered(f"{self.realm} {name}")

    def disturbed(self, identifier: str) -> bool:
        """Whether a workflow record may not be as it was found, for what some case of the run sent to it."""
        return bool(self._session.shared.offered(mark_of(self.realm, identifier)))

    def new_submission(self, identifier: str | None = None) -> str:
        """The identifier of a record that is submitted through the workflow now; it stays for good."""
        return str(self._submit(identifier).notes["identifier"])

    def _submit(self, identifier: str | None) -> Exchange:
        identifier = identifier or self.uid()
        self._session.shared_drafts.add(identifier)
        if self._own is None:
            self._session.permanent_records.foresee(identifier)
        sent = self.submit("createWorkflowRecordWithIdentifier", identifier, query=())
        done(sent, "workflow-create-with-identifier-accepted")
        sent.notes["identifier"] = identifier
        return sent

    def temporary_file(self) -> str:
        """An unused temporary file id; each is given out once at a target, whichever worker and run asks."""
        name = next(self.temporary_files())
        self._session.used_up.note(self.realm, name)
        return name

    def temporary_files(self) -> Iterator[str]:
        """Ids of temporary files that no run is known to have used, each given out once in this one.

        Raises:
            Blocked: there is none behind those that were given.
            Untested: there is none at all.
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
                "persistTemporaryFile", f"{why}: earlier runs used them up, or none is taken; name unused ids"
            )
        raise Untested(f"setting {setting} has no unused id left", setting)

    def _unused_files(self) -> list[str]:
        used = self._session.used_up.of(self.realm)
        return [str(name) for name in self.samples.setting("temporary_files") if name not in used]

    def used_up(self, name: str, persisted: Exchange) -> bool:
        """Whether a temporary file was refused that an earlier run may have used up; any other is used up now."""
        if usable(persisted).refusal and not self._session.unused:
            return True
        self._session.used_up.note(self.realm, name)
        return False

    def eventually(self, look: Callable[[], bool]) -> bool:
        """Whether an effect shows within a few seconds; looks again while it does not."""
        return effects.until(look, bool, self._session.settle_seconds)

    def settled(self, ask: Callable[[], T], good: Callable[[T], bool]) -> T:
        """What is asked for; where it is not good, what it is once effects have had their few seconds to show."""
        if not good(first := ask()):
            effects.until(lambda: False, bool, self._session.settle_seconds)
            return ask()
        return first

    def until(self, ask: Callable[[], T], good: Callable[[T], bool]) -> T:
        """The latest of what is asked for, again for a few seconds until it is good."""
        return effects.until(ask, good, self._session.settle_seconds)

    def once(self, name: str, make: Callable[[], T]) -> T:
        """What cases of this realm arrange once in a run and use together, under a name of its own.

        Args:
            make: Gives something that can be pickled, for the other workers.
        """
        return self._session.shared.once(f"{self.realm} {name}", make)

    def shared(self, name: str, make: Callable[[], T]) -> T:
        """Drafts or attachments that cases of this realm share; a replay has its own. Arguments as for `once`."""
        if self._own is None:
            return self.once(name, make)
        if name not in self._own:
            self._own[name] = make()
        found: T = self._own[name]
        return found
