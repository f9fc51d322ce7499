"""The steps of a sequence, each sent and compared with the model: drafts, lists, attachments, submissions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from contracts.cases import state_model
from contracts.cases.arrangement import Attachment, lists, names_file
from contracts.cases.drafts import accepted_with_errors
from contracts.cases.list_pages import Page, Record, drafts_of
from contracts.cases.state_model import SUBMITTED, Change, Document, File, RunningSequence
from contracts.cases.submissions import CREATE_NAMED, UPDATE, submit
from contracts.checks.errors_array import turned_down
from contracts.checks.outcomes import Blocked, done, taken, usable
from contracts.exchanges import readers
from contracts.exchanges.exchange import Response
from contracts.session.actor import Actor

_CURRENT = ("draft-info-current", "getDraftInfo")
_CREATES = ("draft-save-creates", "saveDraft")


def save(sequence: RunningSequence, document: Document) -> None:
    """Save the next content under the document's uid.

    Raises:
        Blocked: the save is answered with errors.
    """
    sequence.versions += 1
    version = sequence.versions
    sent = state_model.content(sequence.context.samples, document.uid, version)
    exchange, answer = sequence.send(
        sequence.owner(document),
        "saveDraft",
        path={"uid": document.uid},
        query={"schema": sequence.context.samples.draft_schema},
        json=sent,
    )
    if accepted_with_errors(exchange):
        raise Blocked("saveDraft", f"answers a save with errors: {answer.quote()}")
    if document.version is None and document.deleted:
        key = ("draft-save-after-delete", "saveDraft")
        sequence.should(key, answer.success, document, expected="accepted (2xx)", seen=answer.quote())
        if not answer.success:
            sequence.renew(document.name)
            return
    else:
        clause = "draft-save-creates" if document.version is None else "draft-save-updates"
        sequence.accepts(exchange, (clause, "saveDraft"))
    document.save(version, {name: value for name, value in sent.items() if name != "header"}, answer.json)
    sequence.neighbours(document, Change.NEIGHBOUR_SAVED)


def delete(sequence: RunningSequence, document: Document) -> None:
    """Delete the draft; where there is none, whatever is answered, nothing changes."""
    exchange, answer = sequence.send(sequence.owner(document), "deleteDraft", path={"uid": document.uid})
    if document.version is None:
        return
    if not answer.success and document.files:
        sequence.renew(document.name)  # whether a document with attachments can lose its draft is not shown
        return
    sequence.accepts(exchange, ("draft-delete-removes", "deleteDraft"))
    document.delete()
    sequence.neighbours(document, Change.NEIGHBOUR_DELETED)


def read(sequence: RunningSequence, document: Document) -> None:
    """Read the draft: the content of the last save, or none of any."""
    _, answer = sequence.send(sequence.owner(document), "getDraft", path={"uid": document.uid})
    if document.saved is None:
        _absent(sequence, document, answer)
        return
    shown = document.shown_as(answer.text) if answer.success else []
    holds = answer.success and readers.holds_document(answer, document.saved)
    key = (
        document.suspect()
        if answer.success or not _never_stored(sequence, document, "draftExists")
        else _CREATES
    )
    if holds:
        sequence.must(key, True, expected="", seen="")
        old = [version for version in shown if version != document.version]
        _replaced(sequence, document, old)
        document.since = []
        return
    others = [
        f"the content of {other.name}"
        for other in sequence.documents.values()
        if other is not document and other.shown_as(answer.text)
    ]
    held = [f"v{version}" for version in shown if version != document.version] + others
    seen = ", ".join(held) or (
        readers.difference(answer, document.saved) if answer.success else answer.quote()
    )
    sequence.must(key, False, expected=f"v{document.version}", seen=seen)


def _replaced(sequence: RunningSequence, document: Document, old: list[int]) -> None:
    if len(document.contents) > 1:
        seen = ", ".join(f"members of v{version}" for version in old)
        key = ("draft-save-replaces", "saveDraft")
        sequence.should(key, not old, document, expected=f"v{document.version} alone", seen=seen)


def _absent(sequence: RunningSequence, document: Document, answer: Response) -> None:
    """There is no draft to be read: none was saved, it was deleted, or what was sent was refused."""
    shown = document.shown_as(answer.text) if answer.success else []
    if document.gone and Change.REFUSED_CREATE not in document.since:
        seen = ", ".join(f"v{version}" for version in shown)
        key = ("draft-delete-content-gone", "getDraft")
        sequence.must(key, not shown, expected="nothing of the deleted draft", seen=seen)
    key = ("draft-get-absent", "getDraft")
    sequence.should(key, answer.refusal, document, expected="refused (4xx)", seen=answer.quote())


def _never_stored(sequence: RunningSequence, document: Document, otherwise: str) -> bool:
    """Whether a draft that was not found is not found otherwise either, and nothing but its first save can be why."""
    if not {*document.since} <= {Change.CREATED, Change.NEIGHBOUR_SAVED} or document.updated:
        return False
    _, answer = sequence.send(sequence.owner(document), otherwise, path={"uid": document.uid})
    return Change.CREATED in document.since and not answer.success


def _not_read(sequence: RunningSequence, document: Document) -> bool:
    """Whether reading says that the draft is not there."""
    _, answer = sequence.send(sequence.owner(document), "getDraft", path={"uid": document.uid})
    return answer.refusal


def exists(sequence: RunningSequence, document: Document) -> None:
    """Check whether the draft exists."""
    _, answer = sequence.send(sequence.owner(document), "draftExists", path={"uid": document.uid})
    if document.version is not None:
        suspect = document.suspect()
        key = ("draft-exists-present", "draftExists") if suspect[1] == "getDraft" else suspect
        key = _CREATES if not answer.success and _never_stored(sequence, document, "getDraft") else key
        sequence.must(key, answer.success, expected="the draft exists", seen=answer.quote())
        return
    key = ("draft-exists-absent", "draftExists")
    if document.deleted:
        check_is_wrong = answer.success and _not_read(sequence, document)
        key = ("draft-delete-removes", "draftExists" if check_is_wrong else "deleteDraft")
    if Change.REFUSED_CREATE in document.since and Change.DELETED not in document.since:
        key = ("workflow-order-validation-before-save", "createWorkflowRecordWithIdentifier")
    seen = f"{answer.status}, the draft exists"
    sequence.must(key, not answer.success, expected="no draft", seen=seen)
    document.since = []
    document.gone = document.deleted


def info(sequence: RunningSequence, document: Document) -> None:
    """Ask for the info of the draft."""
    _, answer = sequence.send(sequence.owner(document), "getDraftInfo", path={"uid": document.uid})
    if document.version is None:
        key = ("draft-info-absent", "getDraftInfo")
        sequence.should(key, answer.refusal, document, expected="refused (4xx)", seen=answer.quote())
        return
    present = answer.success and bool(answer.json if answer.json is not None else answer.content.strip())
    sequence.must(
        ("draft-info-present", "getDraftInfo"), present, expected="some metadata", seen=answer.quote()
    )
    _current(sequence, document, answer)


def _current(sequence: RunningSequence, document: Document, answer: Response) -> None:
    """Info after a later save does not show as it was what the service itself has reported as changed."""
    latest = answer

    def current() -> bool:
        nonlocal latest
        _, latest = sequence.send(sequence.owner(document), "getDraftInfo", path={"uid": document.uid})
        return not _stale(document, latest)

    if _stale(document, answer) and not sequence.context.settled(_CURRENT, document.uid):
        sequence.context.eventually(current)
    stale = _stale(document, latest)
    if document.reported.moved() or stale:
        seen = "; ".join(stale)
        sequence.should(_CURRENT, not stale, document, expected=f"info of v{document.version}", seen=seen)
    document.reported.info_now = latest.json if isinstance(latest.json, dict) else {}


def _stale(document: Document, answer: Response) -> list[str]:
    info = answer.json if isinstance(answer.json, dict) else {}
    members = [f"{name} still is {info[name]!r}" for name in document.reported.stale(info)]
    shown = document.shown_as(answer.text)
    if shown and document.version not in shown:
        members.append(f"it shows v{max(shown)}")
    return members


def foreign_save(sequence: RunningSequence, document: Document) -> None:
    """Another account saves under the uid: refused, so without effect; or accepted, and then it reads what it saved."""
    other_actor = sequence.other_actor(document)
    if other_actor is None:
        return
    sequence.versions += 1
    sent = state_model.content(sequence.context.samples, document.uid, sequence.versions)
    query = {"schema": sequence.context.samples.draft_schema}
    path, saved = {"uid": document.uid}, readers.content_of(sent)
    exchange, answer = sequence.send(other_actor, "saveDraft", path=path, query=query, json=sent)
    document.contents[sequence.versions] = saved
    if answer.refusal:
        return
    _, shown = sequence.send(other_actor, "getDraft", path=path)
    if taken(exchange) and shown.success:
        whole = readers.holds_document(shown, saved)
        sequence.must(
            ("draft-save-updates", "getDraft"),
            whole,
            expected=f"v{sequence.versions}, which this account saved",
            seen="" if whole else readers.difference(shown, saved),
        )
    sequence.renew(document.name)


def foreign_delete(sequence: RunningSequence, document: Document) -> None:
    """Another account deletes the draft: refused, so without effect; or accepted, and what follows is not shown."""
    other_actor = sequence.other_actor(document)
    if other_actor is None:
        return
    _, answer = sequence.send(other_actor, "deleteDraft", path={"uid": document.uid})
    if not answer.refusal:
        sequence.renew(document.name)


#: Pages that are read before a list counts as too long to tell what is not in it.
_MOST_PAGES = 30


@dataclass(frozen=True)
class Promise:
    """What a collection promises: clauses for the caller's drafts, for deleted ones, for those of other accounts."""

    collection: str
    mine: str
    mine_is_must: bool
    theirs: str
    theirs_is_must: bool
    gone: str = "list-deleted-gone"


@dataclass
class Expected:
    """Documents that a list has to hold and those that it must not, by clause."""

    held: list[Document] = field(default_factory=list)
    gone: list[Document] = field(default_factory=list)
    theirs: list[Document] = field(default_factory=list)

    @property
    def uids(self) -> list[str]:
        """Uids of all of them."""
        return [document.uid for document in (*self.held, *self.gone, *self.theirs)]

    def agrees(self, named: set[str]) -> bool:
        """Whether a list that names these uids is as expected."""
        must_not = (*self.gone, *self.theirs)
        return all(document.uid in named for document in self.held) and not any(
            document.uid in named for document in must_not
        )


_MY = Promise("my", "list-my-has-mine", False, "list-my-without-others", True)
_MYDRAFTS = Promise("mydrafts", "list-mydrafts-has-mine", True, "list-mydrafts-without-others", False)


def my(sequence: RunningSequence, document: Document) -> None:
    """List the collection `my` of the document's owner."""
    _list(sequence, document, _MY)


def mydrafts(sequence: RunningSequence, document: Document) -> None:
    """List the collection `mydrafts` of the document's owner."""
    _list(sequence, document, _MYDRAFTS)


def _list(sequence: RunningSequence, document: Document, promise: Promise) -> None:
    actor = sequence.owner(document)
    expected = _expected(sequence, document.owner, promise)
    named: set[str] = set()

    def agrees() -> bool:
        nonlocal named
        named = _named(sequence, actor, promise.collection, expected)
        return expected.agrees(named)

    if not agrees():
        sequence.context.eventually(agrees)
    _judge(sequence, promise.mine, promise.mine_is_must, expected.held, named, wanted=True)
    _judge(sequence, promise.gone, True, expected.gone, named, wanted=False)
    _judge(sequence, promise.theirs, promise.theirs_is_must, expected.theirs, named, wanted=False)


def _expected(sequence: RunningSequence, role: str, promise: Promise) -> Expected:
    """What the list is judged by; shoulds that were contradicted often enough are not waited for any more."""
    documents = [document for document in sequence.documents.values() if document.name != SUBMITTED]
    mine = [document for document in documents if document.owner == role]
    theirs = [document for document in documents if document.owner != role]

    def due(clause: str, is_must: bool, among: list[Document]) -> list[Document]:
        there = [document for document in among if document.version is not None]
        return [
            document
            for document in there
            if is_must or not sequence.context.settled((clause, "listDrafts"), document.uid)
        ]

    return Expected(
        held=due(promise.mine, promise.mine_is_must, mine),
        gone=[document for document in mine if document.gone and document.version is None],
        theirs=due(promise.theirs, promise.theirs_is_must, theirs),
    )


def _judge(
    sequence: RunningSequence,
    clause: str,
    is_must: bool,
    documents: Iterable[Document],
    named: set[str],
    *,
    wanted: bool,
) -> None:
    key = (clause, "listDrafts")
    for document in documents:
        holds = (document.uid in named) is wanted
        expected = f"{document.name} {'in' if wanted else 'not in'} the list"
        seen = f"{document.name} is {'not ' if wanted else ''}listed"
        if is_must:
            sequence.must(key, holds, expected=expected, seen=seen)
        else:
            sequence.should(key, holds, document, expected=expected, seen=seen)


def _named(sequence: RunningSequence, actor: Actor, collection: str, expected: Expected) -> set[str]:
    """Which of the expected uids a list names; read page by page until those it has to hold are found.

    Raises:
        Blocked: the list is refused, is no list, or cannot be read to its end.
    """
    lister, named, at = drafts_of(actor, collection), set[str](), 0
    wanted, last = {document.uid for document in expected.held}, None
    for number in range(_MOST_PAGES):
        page = _page(sequence, lister.page(skip=at) if number else lister.page())
        named |= {uid for uid in expected.uids if page.names(uid)}
        if wanted <= named or page.size == 0:
            return named
        if page.records == last:
            raise Blocked("listDrafts", "the list cannot be read to its end: $skip gives the same page again")
        at, last = at + page.size, page.records
    raise Blocked("listDrafts", f"the list goes on after {_MOST_PAGES} pages, so that absence cannot be told")


def _page(sequence: RunningSequence, page: Page) -> Page:
    sequence.exchanges.append(page.exchange)
    done(page.exchange)
    if page.size < 0:
        raise Blocked("listDrafts", f"the answer is no list: {page.exchange.answer.quote()}")
    return page


_OUTLIVES = "attachment-outlives-save"


def attach(sequence: RunningSequence, document: Document) -> None:
    """Create one more attachment of a document that has a draft."""
    sequence.context.attachments -= 1
    number = sum(len(document.files) for document in sequence.documents.values()) + 1
    name = f"{document.uid[-8:]}-{number}.txt"
    content = f"file {number} of {document.uid}\n".encode() * number
    before = len(sequence.context.attempt.exchanges)
    attachment = sequence.context.arrange.attachment(sequence.owner(document), document.uid, name, content)
    sequence.exchanges += sequence.context.attempt.exchanges[before:]
    for kept in sequence.documents.values():
        for file in kept.files:
            file.neighbour_since = True
    document.files.append(File(attachment.path, content))


def download(sequence: RunningSequence, document: Document) -> None:
    """Download every attachment of a document: each gives its own bytes.

    Raises:
        Blocked: a download redirects to nowhere.
    """
    for file in document.files:
        _, answer = sequence.send(sequence.owner(document), "getAttachment", path=file.path)
        if 300 <= answer.status < 400:
            raise Blocked("getAttachment", f"answered {answer.status}, a redirect that leads nowhere")
        if not answer.success and file.saved_since:
            key = (_OUTLIVES, "getAttachment")
            sequence.should(key, False, document, expected=f"{file.name} still there", seen=answer.quote())
            document.files.remove(file)
            return
        clause = "attachment-several" if file.neighbour_since else "attachment-download-same"
        seen = _bytes_seen(sequence, answer.content) if answer.success else answer.quote()
        sequence.must(
            (clause, "getAttachment"),
            answer.success and answer.content == file.content,
            expected=f"the bytes of {file.name}",
            seen=seen,
        )
        if file.saved_since:
            sequence.should((_OUTLIVES, "getAttachment"), True, document, expected="", seen="")
        file.saved_since = file.neighbour_since = False


def _bytes_seen(sequence: RunningSequence, content: bytes) -> str:
    files = (file for document in sequence.documents.values() for file in document.files)
    owner = next((file for file in files if file.content == content), None)
    return f"the bytes of {owner.name}" if owner else f"{len(content)} other bytes"


def listed(sequence: RunningSequence, document: Document) -> None:
    """List the attachments of a document: all of its own, none of another's."""
    records: list[Record] = []

    def look() -> bool:
        exchange, answer = sequence.send(
            sequence.owner(document), "listAttachments", path={"uid": document.uid}
        )
        if not usable(exchange).success:
            raise Blocked("listAttachments", f"answered {answer.quote()}")
        listed_now = readers.records(answer)
        if listed_now is None:
            raise Blocked("listAttachments", f"the answer is no list: {answer.quote()}")
        records[:] = listed_now
        return all(there(file) for file in document.files if not file.saved_since)

    def there(file: File) -> bool:
        sought = Attachment(document.uid, file.id, file.name, file.content)
        return any(lists(record, sought) for record in records)

    if not look():
        sequence.context.eventually(look)
    for file in document.files:
        seen = f"{file.name} (id {file.id}) is not listed"
        if file.saved_since:
            continue  # whether it outlived the save is for a download to tell first
        if file.resaved:
            key = (_OUTLIVES, "listAttachments")
            sequence.should(key, there(file), document, expected=f"{file.name} listed", seen=seen)
            continue
        clause = "attachment-several" if len(document.files) > 1 else "attachment-create-listed"
        sequence.must((clause, "listAttachments"), there(file), expected=f"{file.name} listed", seen=seen)
    strange = [
        file.name
        for other in sequence.documents.values()
        for file in other.files
        if other is not document and any(names_file(record, file.name) for record in records)
    ]
    key = ("attachment-list-own-only", "listAttachments")
    sequence.must(key, not strange, expected=f"files of {document.name} alone", seen=", ".join(strange))


def submit_faulty(sequence: RunningSequence, document: Document) -> None:
    """Create where there is no draft, update where there is one; both have to be refused.

    Raises:
        Blocked: the faulty document is taken, which is a finding of other cases.
    """
    actor, samples = sequence.owner(document), sequence.context.samples
    update = document.version is not None or document.name == SUBMITTED
    faulty = samples.faulty_submission(document.uid)
    exchange = submit(UPDATE if update else CREATE_NAMED, actor, samples, document.uid, faulty)
    sequence.exchanges.append(exchange)
    if not turned_down(usable(exchange)):
        sequence.renew(document.name)
        raise Blocked(exchange.operation or "", f"took a faulty document: {exchange.answer.quote()}")
    if document.name == SUBMITTED:
        _nothing_stored(sequence, document, faulty["document"])
        return
    document.since.append(Change.REFUSED_UPDATE if update else Change.REFUSED_CREATE)


def _nothing_stored(sequence: RunningSequence, document: Document, faulty: dict[str, Any]) -> None:
    """The draft of a submitted record may have moved on with its workflow, but it never holds what was refused."""
    _, answer = sequence.send(sequence.owner(document), "getDraft", path={"uid": document.uid})
    spoilt = {name: value for name, value in faulty.items() if name != "header"}
    stored = answer.success and readers.holds_document(answer, spoilt)
    key = ("workflow-refused-update-keeps-draft", UPDATE)
    sequence.must(key, not stored, expected="nothing of the refused document", seen="the refused document")
