"""Checks of sequences: what an exchange has to show because of an earlier one, in recorded or passing traffic.

Trackers follow sign-ins, drafts, attachments and submissions, and say which check of the table is due. On a service
that others use too, another client may have written in between, so a contradiction carries the record it was seen on.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final, Generic, TypeVar

from contracts.checks import errors_array
from contracts.checks.definition import NONE, Arguments, Check
from contracts.checks.documents import (
    CONTENT_GONE,
    DOCUMENT,
    GONE,
    LIST_WITHOUT,
    LISTED,
    SAME_BYTES,
    digest_of,
)
from contracts.checks.http import ACCEPTANCE, TURNED_DOWN
from contracts.checks.outcomes import Blocked, CheckOutcome, Result
from contracts.checks.sign_in import TOKEN_TAKEN, token_in
from contracts.checks.workflow import RECORD_FOUND
from contracts.errors import EnvironmentFault
from contracts.exchanges import readers
from contracts.exchanges.exchange import Exchange, Response, read_timestamp
from contracts.exchanges.readers import Ambiguous
from contracts.exchanges.redaction import SHORTEST_TOKEN, credential
from contracts.exchanges.request_facts import Credentials, RequestFacts
from contracts.interface.catalogue import load_catalogue
from contracts.interface.operations import PERMANENT_KINDS
from contracts.settings.target import Pace

#: How many records are followed at a time; the one that was quiet longest goes first.
FOLLOWED: Final = 2000
#: How long a change may take to show in a list where no target says otherwise, in seconds.
SETTLE_SECONDS: Final = Pace().settle_seconds

State = TypeVar("State")


@dataclass(frozen=True)
class Step:
    """An exchange with everything a sequence needs of it.

    Attributes:
        answer: Of the service; None where the environment gave none.
        site: Scheme and host; what is said about one service says nothing about another.
        realm: As the request names it, empty for none.
        who: The account of the request, or its token; None where unknown.
        right: The request keeps the interface as far as it shows, and its answer is known as a whole.
    """

    exchange: Exchange
    facts: RequestFacts
    answer: Response | None
    site: str
    realm: str
    who: str | None
    right: bool

    @property
    def operation(self) -> str:
        """Its operationId."""
        return self.facts.operation.id

    @property
    def path(self) -> Mapping[str, str]:
        """Values of its placeholders."""
        return self.facts.path

    @property
    def judged(self) -> Response | None:
        """Its answer where the exchange can contradict an earlier one; None where it cannot."""
        return self.answer if self.right and not self.exchange.overlapped else None

    @property
    def sent(self) -> Any:
        """The request's body as JSON; None when it is not known, or none."""
        return self.exchange.request_body.json

    @property
    def taken(self) -> bool:
        """Whether the service took the request: 2xx, and no errors array."""
        answer = self.answer
        return answer is not None and 200 <= answer.status < 300 and not self._turned_down(answer)

    @property
    def refused(self) -> bool:
        """Whether the service refused it for what it is about, and not for who asks or how often."""
        answer = self.answer
        if answer is None or answer.page or answer.status in (401, 403, 407, 408, 429):
            return False
        return answer.refusal or self._turned_down(answer)

    @property
    def vague(self) -> bool:
        """Whether its effect is unknown."""
        answered = self.taken or (self.answer is not None and self.answer.refusal)
        return not answered or self.exchange.overlapped

    def _turned_down(self, answer: Response) -> bool:
        try:
            return errors_array.turned_down(answer)
        except Ambiguous:
            return True


@dataclass(frozen=True)
class SequenceCheck:
    """A check of the table that is due because of an earlier exchange.

    Attributes:
        subject: The record it is about.
        because_of: The number of the earlier exchange.
        settled: Whether what happened there has had its time to show; before that the check can only hold.
    """

    clause: str
    check: Check
    subject: str
    because_of: int
    expected: str = ""
    arguments: Arguments = field(default_factory=dict)
    settled: bool = True

    def judge(self, step: Step) -> Result | None:
        """Run it on the later exchange; None where its answer cannot be judged, or came too early."""
        clause = load_catalogue().clause(self.clause)
        try:
            result = self.check.judge(clause, step.operation, step.exchange, self.arguments, self.expected)
        except (Ambiguous, Blocked, EnvironmentFault):
            return None
        return result if self.settled or result.outcome is CheckOutcome.HELD else None


class RecentRecords(Generic[State]):
    """What is known about records, the last ones that were spoken of.

    Args:
        most: How many are kept.
    """

    def __init__(self, most: int = FOLLOWED) -> None:
        self._states: OrderedDict[tuple[str, ...], State] = OrderedDict()
        self._most = most

    def get(self, key: tuple[str, ...]) -> State | None:
        """What is known about a record; None for nothing."""
        if key in self._states:
            self._states.move_to_end(key)
        return self._states.get(key)

    def put(self, key: tuple[str, ...], state: State) -> None:
        """Remember something about a record."""
        self._states[key] = state
        self._states.move_to_end(key)
        while len(self._states) > self._most:
            self._states.popitem(last=False)

    def forget(self, key: tuple[str, ...]) -> None:
        """Know nothing about a record any more."""
        self._states.pop(key, None)

    def items(self) -> list[tuple[tuple[str, ...], State]]:
        """Everything that is known."""
        return list(self._states.items())


#: How long before its expiration a token is good for sure, whatever the clocks say.
_MARGIN: Final = timedelta(minutes=2)
_SHORTEST_SECRET: Final = 8


@dataclass(frozen=True)
class _Issued:
    account: str
    entry: int
    good_until: datetime | None


class SignIns:
    """Follows tokens; keeps digests of them, and for echoes the secrets themselves, in memory only."""

    def __init__(self) -> None:
        self._issued: RecentRecords[_Issued] = RecentRecords(500)
        self._secrets: RecentRecords[str] = RecentRecords(500)
        self._credentials: RecentRecords[bool] = RecentRecords(500)

    def knows(self, secret: str) -> bool:
        """Whether a text is a token that was issued here, or a password that signed an account in."""
        return self._secrets.get((secret,)) is not None

    def signed_in_before(self, exchange: Exchange) -> bool:
        """Whether the same e-mail and password got a token from the same service earlier."""
        email, password = _credentials_in(exchange.request_body.json)
        if email is None or password is None:
            return False
        return self._credentials.get(_credentials_key(exchange.url, email, password)) is not None

    def who(self, exchange: Exchange) -> str | None:
        """The account of a request where its sign-in was seen, else its token; None where unknown."""
        token = credential(exchange)
        if token is None:
            return None
        issued = self._issued.get((site_of(exchange.url), _digest(token)))
        return f"account {issued.account}" if issued else f"token {_digest(token)}"

    def learn(self, exchange: Exchange) -> None:
        """Learn from an answer to signing in, before it is judged."""
        sent, response = exchange.request_body.json, exchange.response
        token = token_in(response) if response is not None and response.status < 300 else None
        email, password = _credentials_in(sent)
        if response is None or token is None or len(token) < SHORTEST_TOKEN or email is None:
            return
        until = read_timestamp(str(response.json.get("expiration")))
        good = until - _MARGIN if until is not None else None
        account = _digest(email.strip().lower())
        self._issued.put((site_of(exchange.url), _digest(token)), _Issued(account, exchange.number, good))
        self._secrets.put((token,), token)
        if password is not None:
            self._credentials.put(_credentials_key(exchange.url, email, password), state=True)
        # A password that is part of the e-mail may well be told.
        if password is not None and len(password) >= _SHORTEST_SECRET and password not in email:
            self._secrets.put((password,), password)

    def due(self, step: Step) -> Iterator[SequenceCheck]:
        """A token that ought to be good is taken."""
        token, started = credential(step.exchange), step.exchange.started
        issued = self._issued.get((step.site, _digest(token))) if token is not None else None
        if issued is None or issued.good_until is None or started is None or not step.right:
            return
        made_up = step.facts.credentials is Credentials.MADE_UP
        if started >= issued.good_until or made_up or step.answer is None:
            return
        away = TOKEN_TAKEN.contradiction(step.answer, realm=step.realm) is not None
        if step.taken or away:
            yield SequenceCheck(
                "token-opens-protected",
                TOKEN_TAKEN,
                issued.account,
                issued.entry,
                "the token is taken: it was issued before and has not expired",
                {"realm": step.realm},
            )


def _credentials_in(sent: Any) -> tuple[str | None, str | None]:
    """E-mail and password of the body of a sign-in; None for what is no text."""
    given = (sent.get("email"), sent.get("password")) if isinstance(sent, dict) else (None, None)
    email, password = (text if isinstance(text, str) else None for text in given)
    return email, password


def _credentials_key(url: str, email: str, password: str) -> tuple[str, str, str]:
    return site_of(url), _digest(email), _digest(password)


def site_of(url: str) -> str:
    """Scheme and host of an address, in small letters."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}".lower()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


@dataclass(frozen=True)
class _Draft:
    """What is known of a draft: there since a save, or gone since a deletion.

    Attributes:
        at: When that ended.
        content: What was saved; for one that is gone, what was there. None when unknown.
    """

    there: bool
    entry: int
    at: datetime | None
    who: str
    content: Any


class DraftTracker:
    """Follows drafts.

    Args:
        settle_seconds: How long a change may take to show in a list.
    """

    def __init__(self, settle_seconds: float = SETTLE_SECONDS) -> None:
        self._settle = settle_seconds
        self._drafts: RecentRecords[_Draft] = RecentRecords()

    def due(self, step: Step) -> Iterator[SequenceCheck]:
        """The checks that are due on the next step of the traffic."""
        operation = step.facts.operation
        name = operation.identifier_parameter
        if operation.stores == "contact" and name is None:
            self._created(step)
        elif name is not None and operation.stores in PERMANENT_KINDS:
            self._drafts.forget(_draft_key(step, step.path[name]))
        elif operation.family == "draft" and not operation.safe:
            self._written(step)
        elif step.judged is not None and step.who is not None:
            if operation.needs == "draft" and (step.taken or step.refused):
                yield from self._read(step)
            elif step.operation == "listDrafts" and step.taken and _records(step.judged) is not None:
                yield from self._listed(step)

    def _created(self, step: Step) -> None:
        """A contact may be created under the identifier in its header."""
        for value in readers.values(step.sent):
            if isinstance(value, str):
                self._drafts.forget(_draft_key(step, value))

    def _written(self, step: Step) -> None:
        key = _draft_key(step, step.path["uid"])
        if step.vague or (step.taken and step.who is None):
            self._drafts.forget(key)
        elif step.taken:
            before = self._drafts.get(key)
            saved = step.facts.operation.stores == "draft"
            was = before.content if before and before.there else None
            content = (step.sent if step.right else None) if saved else was
            entry, ended = step.exchange.number, step.exchange.ended
            self._drafts.put(key, _Draft(saved, entry, ended, str(step.who), content))

    def _read(self, step: Step) -> Iterator[SequenceCheck]:
        uid = step.path["uid"]
        draft = self._drafts.get(_draft_key(step, uid))
        if draft is None or draft.who != step.who:
            return
        readable = isinstance(draft.content, dict)
        if draft.there:
            exact = step.operation == "getDraft" and step.taken and readable
            check, arguments = (DOCUMENT, {"document": draft.content}) if exact else (ACCEPTANCE, NONE)
            expected = "the draft as it was saved" if exact else "the draft that was saved before"
            clause = step.facts.operation.clauses.right_request
            yield SequenceCheck(clause, check, uid, draft.entry, expected, arguments)
        elif step.operation == "draftExists":
            expected = "no draft, since it was deleted"
            yield SequenceCheck("draft-delete-removes", GONE, uid, draft.entry, expected)
        elif step.operation == "getDraft" and readable:
            expected, arguments = "not the content of the draft that was deleted", {"document": draft.content}
            yield SequenceCheck(
                "draft-delete-content-gone", CONTENT_GONE, uid, draft.entry, expected, arguments
            )

    def _listed(self, step: Step) -> Iterator[SequenceCheck]:
        personal = dict(step.facts.query).get("collection") == "my"
        for (site, realm, uid), draft in self._drafts.items():
            if (site, realm) != (step.site, step.realm):
                continue
            arguments = {"identifier": uid}
            if not draft.there and draft.who == step.who:
                expected = f"a list without {uid}, whose draft was deleted"
                settled = _settled(step, draft.at, self._settle)
                yield SequenceCheck(
                    "list-deleted-gone", LIST_WITHOUT, uid, draft.entry, expected, arguments, settled
                )
            elif draft.there and personal and _other_accounts(draft.who, str(step.who)):
                expected = f"a personal list without {uid}, the draft of another account"
                yield SequenceCheck(
                    "list-my-without-others", LIST_WITHOUT, uid, draft.entry, expected, arguments
                )


def _records(answer: Response) -> list[dict[str, Any]] | None:
    try:
        return readers.records(answer)
    except Ambiguous:
        return None


def _settled(step: Step, changed: datetime | None, seconds: float) -> bool:
    """Whether a change that ended then has had its time to show in the list of a step."""
    started = step.exchange.started
    return started is not None and changed is not None and (started - changed).total_seconds() >= seconds


def _other_accounts(one: str, other: str) -> bool:
    """Whether two are different accounts for sure; two tokens may be of the same one."""
    return one != other and one.startswith("account ") and other.startswith("account ")


def _draft_key(step: Step, uid: str) -> tuple[str, str, str]:
    return step.site, step.realm, uid


#: A list this long may be a page of a longer one.
_PAGE: Final = 10
#: Ranks of numbers that stand where an id does.
_NAMED_ID: Final = 2
_OF_ONE: Final = frozenset({"attachmentExists", "getAttachment"})


@dataclass(frozen=True)
class _Upload:
    """One accepted upload.

    Attributes:
        number: The attachment's; None where the answer does not tell it for sure.
        numbers: Whole numbers in its answer.
        digest: Of its bytes; None when they are not known.
        at: When it ended.
    """

    name: str
    number: int | None
    numbers: frozenset[int]
    digest: str | None
    size: int
    entry: int
    at: datetime | None
    who: str | None


@dataclass(frozen=True)
class _Attachments:
    """What is known of a document's attachments.

    Attributes:
        empty: Number of the exchange that listed none, when nothing was added since.
        muddled: Something unknown may have been added.
    """

    uploads: tuple[_Upload, ...] = field(default=())
    empty: int | None = None
    muddled: bool = False


class AttachmentTracker:
    """Follows the attachments of documents.

    Args:
        settle_seconds: How long a change may take to show in a list.
    """

    def __init__(self, settle_seconds: float = SETTLE_SECONDS) -> None:
        self._settle = settle_seconds
        self._documents: RecentRecords[_Attachments] = RecentRecords()

    def due(self, step: Step) -> Iterator[SequenceCheck]:
        """The checks that are due on the next step of the traffic."""
        operation = step.facts.operation
        if operation.family != "attachment":
            return
        key = (step.site, step.path["uid"])
        files = self._documents.get(key) or _Attachments()
        answer = step.judged
        if operation.stores:
            self._documents.put(key, _with_upload(step, files))
        elif answer is not None and step.operation == "listAttachments" and step.taken:
            yield from self._listed(step, answer, files, key)
        elif answer is not None and step.operation in _OF_ONE:
            yield from self._own(step, answer, files)
            yield from self._foreign(step, files, key)

    def _own(self, step: Step, answer: Response, files: _Attachments) -> Iterator[SequenceCheck]:
        upload = _upload_meant(step, files)
        if upload is None:
            return
        subject, whole = f"{step.path['uid']}/{upload.name}", not step.exchange.request_headers.get("Range")
        if step.operation == "attachmentExists" and (step.taken or step.refused):
            expected = f"{upload.name}, created before"
            yield SequenceCheck("attachment-exists-present", ACCEPTANCE, subject, upload.entry, expected)
        elif step.operation == "getAttachment" and upload.digest and answer.status == 200 and whole:
            arguments = {"size": upload.size, "digest": upload.digest}
            yield SequenceCheck(
                "attachment-download-same", SAME_BYTES, subject, upload.entry, arguments=arguments
            )

    def _foreign(self, step: Step, files: _Attachments, key: tuple[str, str]) -> Iterator[SequenceCheck]:
        """An attachment of one document under another one that was seen to have none."""
        if files.empty is None or files.uploads or files.muddled or not (step.taken or step.refused):
            return
        for other, document in self._documents.items():
            upload = _upload_meant(step, document) if other[0] == key[0] and other != key else None
            if upload is not None:
                verb = "exists" if step.operation == "attachmentExists" else "get"
                expected = f"not found: {upload.name} belongs to {other[1]}"
                yield SequenceCheck(f"attachment-{verb}-other-document", GONE, key[1], upload.entry, expected)
                return

    def _listed(
        self, step: Step, answer: Response, files: _Attachments, key: tuple[str, str]
    ) -> Iterator[SequenceCheck]:
        records = _records(answer)
        if records is None or step.facts.query or len(records) >= _PAGE:
            return
        if not records and not files.uploads and not files.muddled:
            self._documents.put(key, replace(files, empty=step.exchange.number))
        for upload in files.uploads:
            if upload.who == step.who and step.who is not None:
                yield SequenceCheck(
                    "attachment-create-listed",
                    LISTED,
                    f"{key[1]}/{upload.name}",
                    upload.entry,
                    f"a list with {upload.name}, created before",
                    {"filename": upload.name, "numbers": sorted(upload.numbers)},
                    _settled(step, upload.at, self._settle),
                )


def _upload_meant(step: Step, files: _Attachments) -> _Upload | None:
    """The one upload that a request means for sure: by its name, and by the number that its answer gave it."""
    number, name = step.path.get("attachmentId", ""), step.path.get("filename")
    if not (number.isascii() and number.isdigit() and len(number) < 19):
        return None
    uploads = [upload for upload in files.uploads if upload.name == name]
    return uploads[0] if len(uploads) == 1 and int(number) == uploads[0].number else None


def _with_upload(step: Step, files: _Attachments) -> _Attachments:
    answer, exchange = step.answer, step.exchange
    if answer is not None and answer.refusal and not exchange.overlapped:
        return files
    unclear = not step.taken or exchange.overlapped or step.operation == "persistTemporaryFile"
    if answer is None or unclear:
        return replace(files, muddled=True, empty=None)
    body, packed = exchange.request_body, bool(exchange.request_headers.get("Content-Encoding"))
    numbers = {number for rank, number in readers.ranked_integers(answer.json) if rank < _NAMED_ID}
    upload = _Upload(
        step.path["filename"],
        numbers.pop() if len(numbers) == 1 else None,
        frozenset(readers.integers(answer.json)) if answer.json is not None else frozenset(),
        digest_of(body.content) if body.whole and not packed else None,
        body.size,
        exchange.number,
        exchange.ended,
        step.who,
    )
    return replace(files, uploads=(*files.uploads, upload), empty=None)


_CREATE: Final = "createWorkflowRecordWithIdentifier"
_UPDATE: Final = "updateWorkflowRecord"


class RecordTracker:
    """Follows identifiers that were submitted."""

    def __init__(self) -> None:
        #: Number of the exchange that created a record.
        self._created: RecentRecords[int] = RecentRecords()

    def due(self, step: Step) -> Iterator[SequenceCheck]:
        """The checks that are due on the next step of the traffic."""
        if step.operation == "deleteDraft":
            # Whether a record is still there without its draft is not shown.
            self._created.forget((step.site, step.realm, step.path["uid"]))
        if step.operation not in (_CREATE, _UPDATE):
            return
        identifier = step.path["identifier"]
        key = (step.site, step.realm, identifier)
        before = self._created.get(key)
        answer = step.judged if before is not None else None
        if before is not None and answer is not None:
            if step.operation == _CREATE and (step.taken or answer.refusal):
                expected = f"refused: {identifier} was created before"
                yield SequenceCheck("workflow-created-exists", TURNED_DOWN, identifier, before, expected)
            elif step.operation == _UPDATE and (step.taken or step.refused):
                expected = f"an update finds {identifier}, which was created before"
                yield SequenceCheck(
                    "workflow-created-known",
                    RECORD_FOUND,
                    identifier,
                    before,
                    expected,
                )
        if step.operation == _CREATE and step.taken and not step.exchange.overlapped:
            self._created.put(key, step.exchange.number)


class Sequences:
    """Follows traffic, and runs the checks that are due.

    Args:
        sign_ins: Knows which account a request is of.
        settle_seconds: How long a change may take to show in a list.
    """

    def __init__(self, sign_ins: SignIns, settle_seconds: float = SETTLE_SECONDS) -> None:
        self._trackers: tuple[Callable[[Step], Iterator[SequenceCheck]], ...] = (
            DraftTracker(settle_seconds).due,
            AttachmentTracker(settle_seconds).due,
            RecordTracker().due,
            sign_ins.due,
        )

    def take(self, step: Step) -> Iterator[tuple[SequenceCheck, Result]]:
        """The results of the checks that are due on the next exchange, each with its check."""
        for tracker in self._trackers:
            for due in tracker(step):
                result = due.judge(step)
                if result is not None:
                    yield due, result
