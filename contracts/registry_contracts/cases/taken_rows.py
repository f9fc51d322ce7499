"""Rows of the factor table that nothing refuses: what is taken is there, whole, and gone once it is deleted.

If the document does not say whether a value is accepted, a request that is accepted must still be stored as sent.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final

from registry_contracts.cases import attachments, contents, drafts, list_pages, lists, submissions
from registry_contracts.cases.attachment_ids import PLAIN_NAME, Attachment, found, names_file
from registry_contracts.cases.contact_requests import claim_accepted
from registry_contracts.cases.identifiers import percent_encoding
from registry_contracts.cases.neighbours import DRAFT_OF
from registry_contracts.cases.rows import ROLES, Rows, RowTrials, file_name, form_of, identifier_of, written
from registry_contracts.cases.world import Draft
from registry_contracts.checks.claims import Expect
from registry_contracts.checks.http import ACCEPTANCE, TAKEN
from registry_contracts.checks.outcomes import (
    Blocked,
    Contradiction,
    Untested,
    taken,
    usable,
)
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.interface.description import load_description
from registry_contracts.model import dictionary, factors
from registry_contracts.model.rows import ENCODED, Row
from registry_contracts.session.actor import Actor

DRAFT_CLAUSES: Final = (
    *("draft-save-creates", "draft-save-updates", "draft-get-content", "draft-text-kept", "draft-text-exact"),
    *("draft-exists-present", "draft-info-present", "draft-delete-removes"),
)
FILE_CLAUSES: Final = (
    *("attachment-create-accepted", "attachment-download-same"),
    *("attachment-create-listed", "attachment-exists-present", "attachment-thumbnail-image"),
    *("attachment-list-pages-cover", "attachment-several", "attachment-list-own-only"),
)
#: A question for a list → its clause; other cases judge the plain list.
_OF_QUESTIONS: Final = {
    "": "",
    "list_top": "list-top",
    "list_page": "list-pages-cover",
    "list_my": "list-my-answers",
    "list_mydrafts": "list-mydrafts-has-mine",
}
#: The contacts of rows have the mandatory fields only.
_OF_SHORT_CONTACTS: Final = {
    "createContact": "contact-create-accepted",
    "updateContact": "contact-update-accepted",
}
LIST_CLAUSES: Final = tuple(filter(None, _OF_QUESTIONS.values()))
SUBMISSION_CLAUSES: Final = (
    *("workflow-create-accepted", "workflow-create-with-identifier-accepted", "workflow-update-accepted"),
    *("workflow-identifier-kept", "workflow-identifier-returned", "workflow-created-exists"),
    "draft-get-content",
)
#: If one of these reads fails for every draft or file, other cases report it, and rows ignore it.
_LOOKS: Final = (
    "draft-exists-present",
    "draft-info-present",
    "draft-delete-removes",
    "attachment-exists-present",
)
#: What a later save makes shorter.
_LONGER: Final = [f"+254 20 387 305{number}" for number in range(6)]
_ANOTHER_NAME: Final = "whether a service gives a file with an unusual name another one is not shown"
#: The files of rows that lists have named, with their documents.
_FILES: Final = "files of rows"
#: Offered to all rows once a list has named a file by its name.
_NAMED_IN_LISTS: Final = "lists of files name them"
_FOR_THE_ACCOUNT: Final = (401, 403)
#: An account alone never explains that something is not accepted: rights are not shown.
_OF_ACCEPTANCE: Final = (ACCEPTANCE.id, TAKEN.id)


class TakenRows(RowTrials):
    """The rows of one realm that nothing refuses."""

    def claim(self, row: Row) -> None:
        """Send a row, and claim that what was taken is there.

        Raises:
            Contradiction: it is not, with the smallest combination of values that shows it.
            Blocked: another row has shown that what is sent with plain values alone is not there either.
            Untested: it was not taken, which the document leaves open.
        """
        self._anew = self._attempt.replay
        tried = self._try(row)
        evidence = next((each for each in tried.evidence if factors.is_must(each.clause)), None)
        if evidence is None:
            self._attempt.held.update(tried.held)
            for each in tried.evidence:
                self._attempt.note(each)
            return
        least = self._least(row, evidence)
        if not least.beside and evidence.clause in _LOOKS:
            self._attempt.held.update(tried.held)
            return
        if not least.beside and (row.beside or self._contradicts(least, evidence)):
            self._plain_fails(evidence, f"not {evidence.expected}")
        if least.beside and evidence.check in _OF_ACCEPTANCE and [*least.beside] == least.callers:
            raise Untested(f"what {evidence.operation} grants this account is not shown")
        where = f", where {least.words}" if least.beside else ""
        found = replace(evidence, check="", expected=evidence.expected + where)
        self._attempt.note(found)
        raise Contradiction(found)

    def _judge(self, row: Row, expect: Expect) -> None:
        by = self._actors(role) if (role := ROLES.get(row.of("", *ROLES))) else self._world.author
        (self._draft if row.operation == "saveDraft" else self._file)(row, expect, by)

    def _draft(self, row: Row, expect: Expect, by: Actor) -> None:
        beside = self._save_beside(row, by) if form_of(row) != "ordinary" else None
        uid, document = self._saved(row, expect, by)
        read, check, info = by.get_draft(uid), by.draft_exists(uid), by.get_draft_info(uid)
        _need_rights(row, read, check, info)
        reads = [read]
        if address := _address(row, uid):  # which may be refused
            reads.append(by.send("getDraft", path={"uid": uid}, **address))
        for clause, members in _promised(row, document).items():
            for each in reads[: 1 + usable(reads[-1]).success]:
                expect(clause, "getDraft").shows(each, members)
        expect("draft-exists-present").accepted(check)
        expect("draft-info-present").accepted(info)
        expect("draft-info-present").meets("metadata", info)
        deleted = by.delete_draft(uid, **address)
        if address and not usable(deleted).success:
            deleted = by.delete_draft(uid)
        _need_rights(row, deleted)
        expect("draft-delete-removes", "deleteDraft").accepted(deleted)
        removed = expect("draft-delete-removes", "deleteDraft")
        drafts.claim_no_draft(removed, self._world, [uid], deleted, by=by)
        if beside:
            read = by.get_draft(beside.uid)
            _need_rights(row, read)
            kept = _promised(row, beside.document)["draft-get-content"]
            same, expected = readers.holds_document(usable(read), kept), "the draft beside it as it was saved"
            claim = expect("draft-get-content", "getDraft")
            claim.holds(same, beside.exchange, deleted, read, expected=expected)

    def _save_beside(self, row: Row, by: Actor) -> Draft | None:
        """Another draft of the same account, which must stay; None if the service does not take it."""
        uid = self._world.uid()
        document = self._content(row, uid)
        saved = self._world.save(uid, document, by=by)
        return Draft(uid, document, saved) if taken(saved) else None

    def _saved(self, row: Row, expect: Expect, by: Actor) -> tuple[str, dict[str, Any]]:
        """Save the draft of a row, a second time where the row says so: its uid, and the document that was taken."""
        world, uid, again = self._world, identifier_of(row, self._world.fresh), "saved" in row.names
        if again:
            first = world.save(uid, world.samples.draft(uid, phones=_LONGER), by=by)
            self._claim_saved(row, expect, "draft-save-creates", first)
        document, query = self._content(row, uid), {"schema": world.samples.draft_schema}
        charset = {"Content-Type": "application/json; charset=utf-8"} if "charset" in row.names else {}
        path, body, parts = {"uid": uid}, written(row, document), _address(row, uid)
        saved = by.send("saveDraft", path=path, query=query, body=body, headers=charset, **parts)
        self._claim_saved(row, expect, "draft-save-updates" if again else "draft-save-creates", saved)
        return uid, document

    def _claim_saved(self, row: Row, expect: Expect, clause: str, saved: Exchange) -> None:
        """Claim that a save was taken, if the document does not leave it open."""
        if not taken(saved):
            self._need_taken(row, expect, saved)
            claim_accepted(expect(clause, "saveDraft"), saved, self._world.samples)

    def _content(self, row: Row, uid: str) -> dict[str, Any]:
        """A document to save, with the content of a row and two texts that no other document has."""
        samples, mark = self._world.samples, self._world.uid()[-6:]
        own = {"firstName": f"Wangari {mark}", "city": {"en": f"Nairobi {mark}"}}
        if "mandatory_fields" in row.names:
            return samples.short_draft(uid, firstName=own["firstName"])
        texts = {name: value for _, name, value in _texts(row)}
        if texts and not samples.drafts_are_contacts:
            raise Untested("the draft of setting draft_document has other fields than those with the texts")
        return samples.draft(uid, **own | texts)

    def _need_taken(self, row: Row, expect: Expect, sent: Exchange) -> None:
        """Require that a request was taken, where the document leaves open whether it is.

        If it was not, what has to be taken of the row is sent and judged alone.
        """
        if taken(sent) or row.sure == row:
            return
        if row.sure.beside:
            self._judge(row.sure, expect)
        raise Untested(f"{sent.operation} was not taken where {row.words}, which the document leaves open")

    def _file(self, row: Row, expect: Expect, by: Actor) -> None:
        world = self._world
        if world.refusal_of_files() is not None:
            raise Untested("drafts accept no attachments")
        uid, saved = self._document(row, by)
        self._need_taken(row, expect, saved)
        name, content, created = _upload(row, by, uid, world.uid(16))
        if not taken(created):
            self._need_taken(row, expect, created)
            expect("attachment-create-accepted").accepted(created)
        if row.callers:
            _need_rights(row, by.list_attachments(uid))
        made, plain = Attachment(uid, None, name, content), PLAIN_NAME.fullmatch(name)
        try:
            made = found(by, made, created, len(content))
        except (Blocked, Untested):
            if not plain:
                self._claim_one_more(row, expect, by)
                raise Untested(_ANOTHER_NAME) from None
        check = self._attempt.exchanges[-1]
        if plain:
            listed = expect("attachment-create-listed", "listAttachments")
            attachments.claim_listed(listed, world, made, by=by)
            self._claim_list_of_files(expect, made, by)
        else:
            self._claim_earlier_listed(expect, uid, by)
        if made.id is None:
            return
        same = expect("attachment-download-same", "getAttachment")
        attachments.claim_same_bytes(same, world, made, by=by)
        if check.operation != "attachmentExists":  # the file was found by its download
            check = by.attachment_exists(made.path)
        expect("attachment-exists-present").accepted(check)
        if "picture" in row.names and not row.callers:
            self._preview(expect, made)

    def _claim_one_more(self, row: Row, expect: Expect, by: Actor) -> None:
        """Claim that a document of its own lists one file more after an upload was taken, whatever its name there."""
        self._anew = True
        uid, _ = self._document(row, by)
        listed = list_pages.attachments_of(by, uid)
        with suppress(Blocked):  # the list cannot be read to its end
            before = len([*listed.walk()])
            *_, created = _upload(row, by, uid, self._world.uid(16))
            if taken(created):
                more = self._world.eventually(lambda: len([*listed.walk()]) > before)
                claim, expected = expect("attachment-create-listed", "listAttachments"), "one more file"
                claim.holds(more, created, self._attempt.exchanges[-1], expected=expected)

    def _claim_list_of_files(self, expect: Expect, made: Attachment, by: Actor) -> None:
        """Claim that the list that was read last names a file once, and the earlier files of the document too."""
        listed = self._attempt.exchanges[-1]
        entries = readers.records(usable(listed)) if listed.operation == "listAttachments" else None
        known = (made.filename, *self._earlier(made.uid))
        naming = [each for each in entries or () if any(names_file(each, name) for name in known)]
        once = expect("attachment-list-pages-cover")
        once.holds(not list_pages.repeated(naming), listed, expected="each file once")
        if naming:
            self._world.offer(_NAMED_IN_LISTS, value=True)
        others = [name for uid, name in self._world.noted(_FILES) if uid != made.uid]
        foreign = [name for name in others if any(names_file(each, name) for each in entries or ())]
        own_only, seen = expect("attachment-list-own-only"), f"also {', '.join(foreign)}"
        own_only.holds(not foreign, listed, expected="no file of another document", seen=seen)
        self._claim_earlier_listed(expect, made.uid, by, entries)
        self._world.note(_FILES, (made.uid, made.filename))

    def _earlier(self, uid: str) -> list[str]:
        """The names of a document's files that rows have noted."""
        return [name for document, name in self._world.noted(_FILES) if document == uid]

    def _claim_earlier_listed(
        self, expect: Expect, uid: str, by: Actor, entries: Iterable[list_pages.Record] | None = None
    ) -> None:
        """Claim that a document lists its earlier files; `entries` are those of a list that was read just now.

        What an entry tells of its file is not shown: nothing is claimed before a list has named a file.
        """
        earlier = self._earlier(uid) if self._world.offered(_NAMED_IN_LISTS) else []
        if earlier and entries is None:
            entries = list_pages.attachments_of(by, uid).page().records
        for name in earlier:
            if not any(names_file(each, name) for each in entries or ()):
                several = expect("attachment-several", "listAttachments")
                attachments.claim_listed(several, self._world, Attachment(uid, None, name, b""), by=by)

    def _document(self, row: Row, by: Actor) -> tuple[str, Exchange]:
        """A document with files, and its save; rows of an account and a form of identifier share it at first."""
        world = self._world

        def make() -> tuple[str, Exchange]:
            uid = identifier_of(row, world.fresh)
            if not self._anew:
                world.keep(uid)
            saved = world.save(uid, world.samples.draft(uid), by=by)
            for _ in range(2 if self._anew else 1):  # two make a list of three, as in shared documents
                name = f"{world.uid(16)}.txt"
                if taken(by.send("createAttachment", path={"uid": uid, "filename": name}, body=b"earlier\n")):
                    world.note(_FILES, (uid, name))
            return uid, saved

        name = f"document for files of rows, {by.role} {form_of(row)}"
        return make() if self._anew else world.shared(name, make)

    def _preview(self, expect: Expect, made: Attachment) -> None:
        """Claim that the preview of a picture is an image; which names have one is not shown."""
        preview = attachments.preview(self._world, made)
        if usable(preview).success and preview.status not in attachments.WITHOUT_PREVIEW:
            expect("attachment-thumbnail-image", "getAttachmentThumbnail").meets("image", preview)


@dataclass(eq=False, repr=False)
class AcceptedRows(TakenRows, Rows):
    """The rows of submissions, contacts and lists that nothing refuses: each is accepted, and a submission is there."""

    #: The texts of the draft that stands before an update.
    _before: dict[str, Any] = field(default_factory=dict, init=False)

    def _judge(self, row: Row, expect: Expect) -> None:
        operation = row.operation
        if operation == "listDrafts":
            self._claim_list(row, expect, self._send(row).exchange)
            return
        spares = operation in (factors.CREATE_NAMED, factors.UPDATE, "updateContact")
        near = drafts.saved_beside(self._world) if spares else None
        sent = self._send(row)
        exchange, described = sent.exchange, load_description().operations[operation]
        self._need_taken(row, expect, exchange)
        clause = _OF_SHORT_CONTACTS.get(operation, described.clauses.right_request)
        claim_accepted(expect(clause, operation), exchange, self._world.samples)
        if operation in (factors.CREATE_NAMED, factors.UPDATE):
            expect("workflow-identifier-kept", operation).carries(exchange, sent.uid)
        if operation == factors.CREATE:
            told, whole = expect("workflow-identifier-returned"), not usable(exchange).flaw
            told.holds(whole, exchange, expected="an answer that can be read")
            submissions.claim_told(told, exchange, exchange.request_body.json)
        if operation == factors.CREATE_NAMED:
            self._records.settles(sent.uid)
            again = self._world.submit(operation, sent.uid)
            expect("workflow-created-exists").meets("identifier-in-use", again, because_of=(exchange,))
        if operation == factors.UPDATE:
            self._records.claim_draft_replaced(expect, sent.uid, self._before, exchange)
        if near:
            drafts.claim_left_alone(expect("draft-get-content", "getDraft"), self._world, near, exchange)

    def _claim_list(self, row: Row, expect: Expect, exchange: Exchange) -> None:
        """Claim that a list has no more entries than were asked for, and names no draft of the run twice."""
        answer = usable(exchange)
        entries = readers.records(answer) if answer.success else None
        if entries is None:
            self._claim_page_given(row, expect, exchange)
            raise Untested(f"what {row.words} lists is told by no list: {answer.quote()}")
        if top := exchange.notes["top"]:
            expect("list-top").meets("items-at-most", exchange, items=int(top))
        if "list_mydrafts" in row.names and row.callers:
            self._claim_has_mine(row, expect)
        own = [each for each in entries if self._world.fresh.prefix in json.dumps(each)]
        expected = "no entry twice"
        expect("list-pages-cover").holds(not list_pages.repeated(own), exchange, expected=expected)

    def _claim_page_given(self, row: Row, expect: Expect, exchange: Exchange) -> None:
        """Claim that a list can be read as JSON, and that an account that is given the list is given a page of it."""
        answer, clause = usable(exchange), _OF_QUESTIONS[row.of("", *_OF_QUESTIONS)]
        if exchange.notes["top"] and row.callers and answer.status in _FOR_THE_ACCOUNT:
            if usable(self._caller(row)[0].list_drafts()).success:
                expect(clause).accepted(exchange)
        elif clause and answer.success and answer.flaw:
            expect(clause).holds(False, exchange, expected="a list")

    def _claim_has_mine(self, row: Row, expect: Expect) -> None:
        """Claim that the collection mydrafts of another account holds its drafts, if it may save one."""
        by = self._caller(row)[0]
        try:
            mine = self._world.draft(by=by)
        except Blocked:
            return
        lister = list_pages.drafts_of(by, "mydrafts")
        earlier = self._world.offered(DRAFT_OF.format(by.role))
        there = earlier and usable(by.draft_exists(earlier)).success
        for uid in (mine.uid, earlier) if there else (mine.uid,):
            lists.claim_listed(expect("list-mydrafts-has-mine"), self._world, lister, uid)

    def _record(self, row: Row, state: str) -> str:
        """As for rows that are refused; what is updated is used up."""
        if row.operation != factors.UPDATE:
            return super()._record(row, state)
        try:
            uid = self._records.spendable()
        except Blocked as none:
            raise Untested(str(none)) from None  # the scenario of updates had the first of them
        self._before = drafts.save_reworded(self._world, uid)
        return uid


def _need_rights(row: Row, *sent: Exchange) -> None:
    """Require that no other account than the author is refused for its rights, which are not shown."""
    if row.callers and any(usable(each).status in _FOR_THE_ACCOUNT for each in sent):
        raise Untested(f"what is granted to an account where {row.words} is not shown")


def _upload(row: Row, by: Actor, uid: str, mark: str) -> tuple[str, bytes, Exchange]:
    """Send the file of a row, whose name holds a mark: its name, its bytes and the exchange."""
    name, content = file_name(row, mark), _content_of(row, mark)
    if "picture" in row.names:
        name = name.replace(".txt", ".png").replace(".TXT", ".PNG")
    body = [content[:7], content[7:]] if "chunked" in row.names else content
    path = {"uid": uid, "filename": name}
    return name, content, by.send("createAttachment", path=path, body=body, **_address(row, uid))


def _address(row: Row, uid: str) -> dict[str, Any]:
    """The part of a request that spells its uid as a row says."""
    return {"address": percent_encoding(uid)} if ENCODED in row.names else {}


def _texts(row: Row) -> Iterator[tuple[str, str, object]]:
    """Members with the troublesome texts of a row: the clause that promises each back, its name and value."""
    if "accents_only" in row.names:
        yield "draft-text-kept", "lastName", dictionary.ACCENTS
    for turn in range(len(dictionary.TEXTS)):
        if f"texts_{turn}" in row.names:
            yield from dictionary.members(turn)


def _promised(row: Row, document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The members of a document that are to come back, by the clause that promises it."""
    promised = {"draft-get-content": dict(document)}
    for clause, name, value in _texts(row):
        del promised["draft-get-content"][name]
        promised.setdefault(clause, {})[name] = value
    return promised


def _content_of(row: Row, mark: str) -> bytes:
    """The bytes of a row's file, which no other file has; `mark` is a text of its own."""
    files = {
        "words": f"some words of {mark}\n".encode(),
        "file_empty": b"",
        "all_bytes": contents.content(300) + mark.encode(),
        "like_json": f'{{ "b" : 1.0,\r\n  "a" : [ "{mark}" ] }}\n'.encode(),
        "picture": contents.png(*mark[-3:].encode()),
    }
    return files[row.of(*files)]
