"""The reference model: what the interface document promises of a request, given the earlier exchanges.

It follows drafts, submitted records, attachments and tokens, and learns from exchanges in order, of a run or of
recorded traffic. Where the document is silent, it assumes nothing: who owns a draft that two accounts have saved, which
draft a submission leaves, whether a lock ends. It forgets what an unclear answer may have changed. On a shared service
another client may have written in between, so a contradiction names its record.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, Final

from registry_contracts.checks.definition import Arguments, Check
from registry_contracts.checks.documents import (
    CONTENT_GONE,
    DOCUMENT,
    GONE,
    LIST_WITHOUT,
    LISTED,
    METADATA,
    SAME_BYTES,
    digest_of,
)
from registry_contracts.checks.http import ACCEPTANCE, TURNED_DOWN
from registry_contracts.checks.workflow import RECORD_FOUND
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Exchange, Response
from registry_contracts.exchanges.readers import Ambiguous
from registry_contracts.exchanges.request_facts import read_request
from registry_contracts.interface.operations import PERMANENT_KINDS
from registry_contracts.model.factors import ABSENT, CREATE_NAMED, DELETED, READS, UPDATE, covering
from registry_contracts.model.steps import ACCOUNT, SETTLE_SECONDS, RecentRecords, Step, Tokens, Told, told

#: Numbers with a lower rank are in members named like an id.
_NAMED_ID: Final = 2
_PLAIN_NAME: Final = re.compile(r"[\w.-]{1,100}", re.ASCII)


@dataclass(frozen=True)
class Promise:
    """The refusal that is promised of a request.

    Attributes:
        clause: The clause by which it is refused; empty if no refusal is promised.
        exact: There is no other reason for a refusal, so the clause's message is due.
        content: Of a draft: what a read must not return.
    """

    clause: str = ""
    exact: bool = False
    content: Any = None


@dataclass(frozen=True)
class Draft:
    """What is known of a draft.

    Attributes:
        there: True after a save, False after a deletion or if never saved, None if unknown.
        entry, at: Number of the exchange of the last save or deletion, and when it ended; 0 if it was never saved.
        who: The account that wrote it last.
        content: What was saved; for a deleted one, its last content. None if unknown.
        updated: The last save was not the first.
        looked: Number of the exchange that last showed it as promised, or of a later write.
        refused: A faulty submission of it was refused since.
        contested: Several accounts have written it; the document does not say who owns it and who may read it.
        elsewhere: It exists only in another realm.
    """

    there: bool | None
    entry: int = 0
    at: datetime | None = None
    who: str = ""
    content: Any = None
    updated: bool = False
    looked: int = 0
    refused: bool = False
    contested: bool = False
    elsewhere: bool = False


@dataclass(frozen=True)
class Upload:
    """What is known of an accepted upload.

    Attributes:
        number: The attachment's id; None if the answer does not clearly hold it.
        numbers: All whole numbers in the answer.
        digest: Of its bytes; None if unknown.
        entry, at: Number of the exchange, and when it ended.
    """

    name: str
    number: int | None
    numbers: frozenset[int]
    digest: str | None
    size: int
    entry: int
    at: datetime | None
    who: str | None


class Reference:
    """The promised state of a service.

    Args:
        owns: Whether only this run can have written under a uid, so that a draft not saved there is absent.
        settle_seconds: Seconds until a change must show in a list.
    """

    def __init__(
        self, owns: Callable[[str], bool] = lambda _: False, settle_seconds: float = SETTLE_SECONDS
    ) -> None:
        self._owns = owns
        self._settle = settle_seconds
        self.tokens = Tokens()
        #: Number of the exchange that created a record, by service, realm and identifier.
        self._submissions: RecentRecords[int] = RecentRecords()
        #: By service and uid.
        self._uploads: RecentRecords[tuple[Upload, ...]] = RecentRecords()
        #: Service → the longest list of attachments without options so far.
        self._longest: Counter[str] = Counter()
        #: By service, realm and uid.
        self._drafts: RecentRecords[Draft] = RecentRecords()
        #: Operations that have shown an existing draft at least once.
        self._shown_by: set[str] = set()

    def of(self, realm: str, who: str) -> list[str]:
        """Uids of an account's existing drafts in a run that no other account has written."""
        return [
            uid
            for (_, at, uid), each in self._drafts.items()
            if at == realm and each.there and each.who == ACCOUNT + who and not each.contested
        ]

    # -- what is promised of a future request

    def promised(
        self, operation: str, realm: str, uid: str = "", *, reason: str = "", may: bool = False
    ) -> Promise:
        """The refusal that the document promises of a request of a run.

        Args:
            realm, uid: Of the draft or record; no uid if the operation has none.
            reason: The clause by which its values have it refused, in any state; empty for none.
            may: The document does not say whether it is accepted with its values.
        """
        draft = self._known(("", realm, uid))
        state = _refused_for_state(operation, draft)
        refused = reason or state
        content = draft.content if draft and refused and operation == "getDraft" else None
        return Promise(refused, exact=bool(reason) != bool(state) and not may, content=content)

    def _known(self, key: tuple[str, ...]) -> Draft | None:
        """What is known of a draft; None if others may have written it."""
        known, (*_, uid) = self._drafts.get(key), key
        if known is not None or not self._owns(uid):
            return known
        others = (each for (*_, other), each in self._drafts.items() if other == uid and each.there)
        elsewhere = next(others, None)
        return replace(elsewhere, there=False, elsewhere=True) if elsewhere else Draft(there=False)

    # -- what an exchange shows

    def learn(self, exchange: Exchange, number: int = 0) -> list[Told]:
        """Like `take`, for the next exchange of a run; nothing if it is outside the interface."""
        facts = read_request(exchange)
        if facts is None:
            return []
        return self.take(Step(replace(exchange, number=number), facts, ACCOUNT + exchange.role))

    def take(self, step: Step) -> list[Told]:
        """What the next exchange shows because of earlier ones; updates the model."""
        return [*self._of_record(step), *self.tokens.take(step)]

    def _of_record(self, step: Step) -> Iterable[Told]:
        operation = step.facts.operation
        name = operation.identifier_parameter
        if operation.family == "attachment":
            return self._of_files(step)
        if operation.stores == "contact" and name is None:
            self._created(step)
        elif name is not None and operation.stores in PERMANENT_KINDS:
            key = _key(step, step.path[name])
            self._submitted(step, key)
            return self._of_submission(step, key) if operation.family == "workflow" else ()
        elif operation.family == "draft" and not operation.safe:
            self._written(step, _key(step, step.path["uid"]))
        elif step.judged is not None and step.who is not None:
            if operation.needs == "draft" and (step.taken or step.refused):
                return self._read(step, _key(step, step.path["uid"]))
            if step.operation == "listDrafts" and step.taken and _records_in(step.judged) is not None:
                return self._listed(step)
        return ()

    def _forget(self, key: tuple[str, ...], *, contested: bool = False) -> None:
        """Note that it is unknown whether the draft exists; who wrote it remains known."""
        before = self._drafts.get(key)
        if before is not None or self._owns(key[-1]):
            before = before or Draft(there=None)
            contested = contested or before.contested
            self._drafts[key] = replace(before, there=None, refused=False, contested=contested)

    def _created(self, step: Step) -> None:
        """Forget the drafts under all texts of a contact: it may be created under the identifier in its header."""
        for value in readers.values(step.exchange.request_body.json):
            if isinstance(value, str):
                self._forget(_key(step, value))

    def _submitted(self, step: Step, key: tuple[str, ...]) -> None:
        """Forget the draft, unless an errors array refuses the submission, which ends it before the draft is saved."""
        answer, workflow = step.judged, step.facts.operation.family == "workflow"
        known = self._known(key)
        if not (workflow and answer is not None and step.refused and readers.errors(answer)):
            self._forget(key)
        elif known is not None and not known.elsewhere:
            self._drafts[key] = replace(known, refused=True)

    def _written(self, step: Step, key: tuple[str, ...]) -> None:
        if step.facts.operation.removes:
            # The document does not say whether a record exists without its draft.
            self._submissions.pop(key, None)
        before, saved = self._drafts.get(key), step.facts.operation.stores == "draft"
        another = before is not None and before.who not in ("", step.who)
        contested = another or (before is not None and before.contested)
        whose_left = not saved and contested and before is not None and before.there is not False
        if step.vague or (step.taken and (step.who is None or whose_left)):
            self._forget(key, contested=contested)
            return
        if not step.taken or step.who is None:
            return
        sent = _without_nulls(step.exchange.request_body.json) if step.right else None
        content = sent if saved else before.content if before else None
        number, ended = step.exchange.number, step.exchange.ended
        again = saved and before is not None and bool(before.there)
        self._drafts[key] = Draft(
            saved, number, ended, step.who, content, again, number, contested=saved and contested
        )

    def _read(self, step: Step, key: tuple[str, ...]) -> Iterator[Told]:
        draft, uid = self._known(key), key[-1]
        if draft is None or draft.who not in ("", step.who):
            return
        if draft.contested and draft.there and not step.taken:
            return
        promised = _held_to(step, draft)
        if promised is None:
            return
        clause, check, expected, arguments = promised
        blame = self._blame(key, draft, step.operation)
        for each in told(step, clause, check, uid, draft.entry, expected, **arguments):
            if each.held:
                self._shown_by |= {step.operation} if draft.there else set()
                if key in self._drafts:
                    self._drafts[key] = replace(draft, looked=step.exchange.number, refused=False)
            if each.held or blame is None:
                yield each
            if blame is not None:  # a good read also passes the clause that a bad one would fail
                yield each._replace(result=replace(each.result, clause=blame[0], operation=blame[1]))

    def _blame(self, key: tuple[str, ...], draft: Draft, by: str) -> tuple[str, str] | None:
        """Clause and operation that a wrong draft contradicts, by what happened since it was last seen as promised."""
        updated = ("draft-save-updates", "getDraft") if draft.updated and by == "getDraft" else None
        if draft.there and draft.looked == draft.entry:
            return updated
        if draft.refused:
            kept, order = "workflow-refused-update-keeps-draft", "workflow-order-validation-before-save"
            return (kept, UPDATE) if draft.there else (order, CREATE_NAMED)
        if not draft.there or by not in self._shown_by:
            return updated  # an operation that has shown no draft yet is itself at fault
        others = self._drafts.items()
        later = {one.there for at, one in others if one.entry > draft.looked and at[:-1] == key[:-1]}
        since = later - {None}
        if False in since:
            return "draft-delete-spares-others", "deleteDraft"
        return ("draft-save-spares-others", "saveDraft") if since else updated

    def _listed(self, step: Step) -> Iterator[Told]:
        personal = dict(step.facts.query).get("collection") == "my"
        for (site, realm, uid), draft in self._drafts.items():
            if (site, realm) != (step.site, step.realm) or not draft.entry:
                continue
            others = personal and not draft.contested and _other_accounts(draft.who, str(step.who))
            gone = partial(
                told, step, check=LIST_WITHOUT, subject=uid, because_of=draft.entry, identifier=uid
            )
            if draft.there is False and draft.who == step.who:
                expected = f"a list without {uid}, whose draft was deleted"
                shown = gone(clause="list-deleted-gone", expected=expected)
                yield from self._patiently(step, draft.at, shown)
            elif draft.there and others:
                expected = f"a personal list without {uid}, the draft of another account"
                yield from gone(clause="list-my-without-others", expected=expected)

    def _patiently(self, step: Step, changed: datetime | None, shown: Iterator[Told]) -> Iterator[Told]:
        """What a list shows of a change, without contradictions while the change need not show yet."""
        settled = step.settled(changed, self._settle)
        return (each for each in shown if each.held or settled)

    def _of_submission(self, step: Step, key: tuple[str, ...]) -> Iterator[Told]:
        """Check that a record that was created exists, and note a new one."""
        before, answer, uid = self._submissions.get(key), step.judged, key[-1]
        if before is not None and answer is not None:
            if step.operation == CREATE_NAMED and (step.taken or answer.refusal):
                expected = f"refused: {uid} was created before"
                yield from told(step, "workflow-created-exists", TURNED_DOWN, uid, before, expected)
            elif step.operation == UPDATE and (step.taken or step.refused):
                expected = f"an update finds {uid}, which was created before"
                yield from told(step, "workflow-created-known", RECORD_FOUND, uid, before, expected)
        if step.operation == CREATE_NAMED and step.taken and not step.exchange.overlapped:
            self._submissions[key] = step.exchange.number

    def _of_files(self, step: Step) -> Iterator[Told]:
        """Check that uploads are there as they were sent, and note a new one."""
        key = (step.site, step.path["uid"])
        uploads, answer = self._uploads.get(key) or (), step.judged
        if step.facts.operation.stores:
            self._uploads[key] = (*uploads, *_uploaded(step))
        elif answer is not None and step.operation == "listAttachments" and step.taken:
            yield from self._files_listed(step, answer, uploads)
        elif answer is not None:
            yield from _of_one_file(step, answer, _upload_meant(step, uploads))

    def _files_listed(self, step: Step, answer: Response, uploads: Iterable[Upload]) -> Iterator[Told]:
        """Check that a complete list without options holds the uploads.

        A list without options may be a page of unknown length; it is complete if it is empty or shorter than an
        earlier one.
        """
        records = _records_in(answer)
        if records is None or step.facts.query:
            return
        longest = self._longest[step.site]
        self._longest[step.site] = max(longest, len(records))
        if step.who is None or (records and len(records) >= longest):
            return
        for upload in uploads:
            if upload.who == step.who:
                name, subject = upload.name, f"{step.path['uid']}/{upload.name}"
                compared = {"filename": name, "numbers": sorted(upload.numbers)}
                expected, clause = f"a list with {name}, created before", "attachment-create-listed"
                shown = told(step, clause, LISTED, subject, upload.entry, expected, **compared)
                yield from self._patiently(step, upload.at, shown)


def _of_one_file(step: Step, answer: Response, upload: Upload | None) -> Iterator[Told]:
    """Check that an upload exists and has the bytes that were sent."""
    if upload is None:
        return
    subject, whole = f"{step.path['uid']}/{upload.name}", not step.exchange.request_headers.get("Range")
    if step.operation == "attachmentExists" and (step.taken or step.refused):
        expected = f"{upload.name}, created before"
        yield from told(step, "attachment-exists-present", ACCEPTANCE, subject, upload.entry, expected)
    elif step.operation == "getAttachment" and upload.digest and answer.status == 200 and whole:
        clause, size, digest = "attachment-download-same", upload.size, upload.digest
        yield from told(step, clause, SAME_BYTES, subject, upload.entry, size=size, digest=digest)


def _upload_meant(step: Step, uploads: Iterable[Upload]) -> Upload | None:
    """The one upload that a request clearly means: by its name and the id in the upload's answer."""
    number, name = step.path.get("attachmentId", ""), step.path.get("filename")
    named = [upload for upload in uploads if upload.name == name]
    own = named[0].number if len(named) == 1 else None
    return named[0] if own is not None and number == str(own) else None


def _uploaded(step: Step) -> Iterator[Upload]:
    """The attachment that a request has surely created, under a name that is allowed everywhere."""
    answer, exchange, name = step.answer, step.exchange, step.path.get("filename", "")
    if answer is None or not step.taken or exchange.overlapped or not _PLAIN_NAME.fullmatch(name):
        return
    body, packed = exchange.request_body, bool(exchange.request_headers.get("Content-Encoding"))
    numbers = {number for rank, number in readers.ranked_integers(answer.json) if rank < _NAMED_ID}
    yield Upload(
        name,
        numbers.pop() if len(numbers) == 1 else None,
        frozenset(readers.integers(answer.json)) if answer.json is not None else frozenset(),
        digest_of(body.content) if body.whole and not packed else None,
        body.size,
        exchange.number,
        exchange.ended,
        step.who,
    )


def _records_in(answer: Response) -> list[dict[str, Any]] | None:
    """The records of a list; None if the answer is no list or ambiguous."""
    try:
        return readers.records(answer)
    except Ambiguous:
        return None


def _refused_for_state(operation: str, draft: Draft | None) -> str:
    """The clause by which a read of an absent draft is refused; empty if it is not."""
    if operation not in READS or draft is None or draft.there is not False:
        return ""
    if draft.elsewhere:
        return "realm-drafts-apart"
    return covering(DELETED if draft.entry else ABSENT, operation)


def _held_to(step: Step, draft: Draft) -> tuple[str, Check, str, Arguments] | None:
    """How to judge a read of a draft: clause, check, expected answer and arguments."""
    if draft.there is None or draft.elsewhere:
        return None
    read = isinstance(draft.content, dict) and step.operation == "getDraft"
    if not draft.there:
        return _held_to_absence(step, draft) if step.operation == "draftExists" or read else None
    clause = step.facts.operation.clauses.right_request
    if read and step.taken:
        return clause, DOCUMENT, "the draft as it was saved", {"document": draft.content}
    if step.operation == "getDraftInfo" and step.taken:
        return clause, METADATA, "metadata of the draft that was saved before", {}
    return clause, ACCEPTANCE, "the draft that was saved before", {}


def _held_to_absence(step: Step, draft: Draft) -> tuple[str, Check, str, Arguments]:
    """Like `_held_to` for an absent draft: its absence, or the content of a deleted one."""
    if step.operation == "getDraft":
        expected = "not the content of the draft that was deleted"
        return "draft-delete-content-gone", CONTENT_GONE, expected, {"document": draft.content}
    if draft.entry:
        return "draft-delete-removes", GONE, "no draft, since it was deleted", {}
    return "draft-exists-absent", GONE, "no draft, since none was saved", {}


def _without_nulls(value: Any) -> Any:
    """The value without null members: the document does not say whether these are kept."""
    if isinstance(value, dict):
        return {name: _without_nulls(member) for name, member in value.items() if member is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def _other_accounts(one: str, other: str) -> bool:
    """Whether two names are surely different accounts; two tokens may belong to one account."""
    return one != other and one.startswith(ACCOUNT) and other.startswith(ACCOUNT)


def _key(step: Step, uid: str) -> tuple[str, str, str]:
    return step.site, step.realm, uid
