"""Checks of a sequence of exchanges: sign-ins, drafts, attachments and submissions of recorded or passing traffic.

On a service that others use too, another client may have written in between. So a contradiction between exchanges is a
remark at first, and a fault when it was seen on several records, or when no other client can have written.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final, Generic, TypeVar

from contracts.checks import errors_array
from contracts.checks.requests import Credentials, RequestFacts
from contracts.checks.workflow import Row, tells
from contracts.exchanges import readers
from contracts.exchanges.exchange import Exchange, Response, read_timestamp
from contracts.exchanges.readers import Ambiguous
from contracts.exchanges.redaction import SHORTEST_TOKEN, credential
from contracts.interface.catalogue import Catalogue, Level
from contracts.interface.description import operations_with
from contracts.interface.operations import PERMANENT_KINDS
from contracts.manual.traffic_findings import Side, Standing, TrafficFinding

#: How many documents are followed at a time; the one that was quiet longest goes first.
FOLLOWED: Final = 2000
#: So many different records with the same contradiction are no accident of another client's writing.
ENOUGH: Final = 3

State = TypeVar("State")


@dataclass(frozen=True)
class Step:
    """An exchange with everything a sequence needs of it.

    Attributes:
        answer: Of the service; None where the environment gave none.
        site: Scheme and host; what is said about one service says nothing about another.
        realm: As the request names it, empty for none.
        who: The account of the request, or its token; None where nobody can tell.
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
        """Whether nobody can tell what it did."""
        return (
            not (self.taken or (self.answer is not None and self.answer.refusal)) or self.exchange.overlapped
        )

    def _turned_down(self, answer: Response) -> bool:
        try:
            return errors_array.turned_down(answer)
        except Ambiguous:
            return True


@dataclass(frozen=True)
class Suspicion:
    """A contradiction between exchanges.

    Attributes:
        subject: The record it was seen on.
        because_of: Number of the exchange that the later one contradicts.
        holds: False for the assertion that was reached and held.
    """

    clause: str
    subject: str
    expected: str
    seen: str
    because_of: int
    holds: bool = False


Trail = Callable[[Step], Iterator[Suspicion]]


class Followed(Generic[State]):
    """What is known about records, the last ones that were spoken of."""

    def __init__(self, most: int = FOLLOWED) -> None:
        self._known: OrderedDict[tuple[str, ...], State] = OrderedDict()
        self._most = most

    def get(self, key: tuple[str, ...]) -> State | None:
        """What is known about a record; None for nothing."""
        if key in self._known:
            self._known.move_to_end(key)
        return self._known.get(key)

    def put(self, key: tuple[str, ...], state: State) -> None:
        """Remember something about a record."""
        self._known[key] = state
        self._known.move_to_end(key)
        while len(self._known) > self._most:
            self._known.popitem(last=False)

    def forget(self, key: tuple[str, ...]) -> None:
        """Know nothing about a record any more."""
        self._known.pop(key, None)

    def items(self) -> list[tuple[tuple[str, ...], State]]:
        """Everything that is known."""
        return list(self._known.items())


#: How long before its expiration a token is good for sure, whatever the clocks say.
_MARGIN: Final = timedelta(minutes=2)
_TOKEN: Final = "authenticationToken"  # noqa: S105 - a member's name
_SHORTEST_SECRET: Final = 8


@dataclass(frozen=True)
class _Issued:
    account: str
    entry: int
    good_until: datetime | None


class SignIns:
    """Follows tokens; keeps digests of them, and for echoes the secrets themselves, in memory only."""

    def __init__(self) -> None:
        self._issued: Followed[_Issued] = Followed(500)
        self._secrets: Followed[str] = Followed(500)

    def knows(self, secret: str) -> bool:
        """Whether a text is a token that was issued here, or a password that signed an account in."""
        return self._secrets.get((secret,)) is not None

    def who(self, exchange: Exchange) -> str | None:
        """The account of a request where its sign-in was seen, else its token; None where nobody can tell."""
        token = credential(exchange)
        if token is None:
            return None
        issued = self._issued.get((site_of(exchange.url), _digest(token)))
        return f"account {issued.account}" if issued else f"token {_digest(token)}"

    def learn(self, exchange: Exchange) -> None:
        """Learn from an answer to signing in, before it is judged."""
        sent, response = exchange.request_body.json, exchange.response
        answered = response.json if response is not None and 200 <= response.status < 300 else None
        if not isinstance(sent, dict) or not isinstance(answered, dict):
            return
        email, password, token = sent.get("email"), sent.get("password"), answered.get(_TOKEN)
        if not isinstance(token, str) or len(token) < SHORTEST_TOKEN or not isinstance(email, str):
            return
        until = read_timestamp(str(answered.get("expiration")))
        good = until - _MARGIN if until is not None else None
        account = _digest(email.strip().lower())
        self._issued.put((site_of(exchange.url), _digest(token)), _Issued(account, exchange.number, good))
        self._secrets.put((token,), token)
        # A password that is part of the e-mail may well be told.
        if isinstance(password, str) and len(password) >= _SHORTEST_SECRET and password not in email:
            self._secrets.put((password,), password)

    def take(self, step: Step) -> Iterator[Suspicion]:
        """Say whether a token that ought to be good is taken for none."""
        token = credential(step.exchange)
        issued = self._issued.get((step.site, _digest(token))) if token is not None else None
        if (
            issued is None
            or issued.good_until is None
            or step.answer is None
            or step.exchange.started is None
        ):
            return
        made_up = step.facts.credentials is Credentials.MADE_UP
        if step.exchange.started >= issued.good_until or made_up or not step.right:
            return
        turned_away = step.answer.status == 401 or tells(step.answer, Row.ANONYMOUS, step.realm)
        if turned_away or step.taken:
            yield Suspicion(
                "token-opens-protected",
                issued.account,
                "the token is taken: it was issued before and has not expired",
                step.answer.quote(),
                issued.entry,
                not turned_away,
            )


def site_of(url: str) -> str:
    """Scheme and host of an address, in small letters."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}".lower()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


_PRESENT: Final = {
    "draftExists": "draft-exists-present",
    "getDraft": "draft-get-content",
    "getDraftInfo": "draft-info-present",
}


@dataclass(frozen=True)
class _Draft:
    """What is known of a draft: there since a save, or gone since a deletion.

    Attributes:
        content: What was saved; for one that is gone, what was there. None when nobody knows.
    """

    there: bool
    entry: int
    who: str
    content: Any


class DraftTrail:
    """Follows drafts."""

    def __init__(self) -> None:
        self._drafts: Followed[_Draft] = Followed()

    def take(self, step: Step) -> Iterator[Suspicion]:
        """Take the next step of the traffic, and say what it shows."""
        if step.operation == "createContact":
            self._created(step)
        elif (
            name := step.facts.operation.identifier_parameter
        ) and step.facts.operation.stores in PERMANENT_KINDS:
            self._drafts.forget(_key(step, step.facts.path[name]))
        elif step.facts.operation.family == "draft" and not step.facts.operation.safe:
            self._written(step)
        elif step.right and step.answer is not None and step.who is not None and not step.exchange.overlapped:
            if step.operation in operations_with(needs="draft", safe=True):
                yield from self._read(step, step.answer)
            elif step.operation == "listDrafts" and step.taken:
                yield from self._listed(step, step.answer)

    def _created(self, step: Step) -> None:
        """A contact may be created under the identifier in its header."""
        for value in readers.values(step.sent):
            if isinstance(value, str):
                self._drafts.forget(_key(step, value))

    def _written(self, step: Step) -> None:
        key = _key(step, step.facts.path["uid"])
        if step.vague or (step.taken and step.who is None):
            self._drafts.forget(key)
        elif step.taken:
            before = self._drafts.get(key)
            saved = step.operation == "saveDraft"
            was = before.content if before and before.there else None
            content = (step.sent if step.right else None) if saved else was
            self._drafts.put(key, _Draft(saved, step.exchange.number, str(step.who), content))

    def _read(self, step: Step, answer: Response) -> Iterator[Suspicion]:
        uid = step.facts.path["uid"]
        known = self._drafts.get(_key(step, uid))
        if known is None or known.who != step.who or not (step.taken or step.refused):
            return
        if known.there:
            yield self._there(step, answer, known, uid)
        elif step.operation == "draftExists":
            said = "no draft, since it was deleted"
            yield _suspicion("draft-delete-removes", uid, said, answer, known, holds=not step.taken)
        elif step.operation == "getDraft" and isinstance(known.content, dict):
            given = step.taken and readers.holds_document(answer, known.content)
            said = "not the content of the draft that was deleted"
            yield _suspicion("draft-delete-content-gone", uid, said, answer, known, holds=not given)

    def _there(self, step: Step, answer: Response, known: _Draft, uid: str) -> Suspicion:
        clause = _PRESENT[step.operation]
        said = "the draft that was saved before"
        if step.operation != "getDraft" or not step.taken or not isinstance(known.content, dict):
            return _suspicion(clause, uid, said, answer, known, holds=step.taken)
        same = readers.holds_document(answer, known.content)
        seen = answer.quote() if same else readers.difference(answer, known.content)
        return Suspicion(clause, uid, "the draft as it was saved", seen, known.entry, same)

    def _listed(self, step: Step, answer: Response) -> Iterator[Suspicion]:
        try:
            records = readers.records(answer)
        except Ambiguous:
            return
        collection = dict(step.facts.query).get("collection")
        for key, draft in self._drafts.items():
            site, realm, uid = key
            if (site, realm) != (step.site, step.realm) or records is None:
                continue
            named = any(readers.names(record, uid) for record in records)
            if not draft.there and draft.who == step.who:
                said = f"a list without {uid}, whose draft was deleted"
                yield Suspicion("list-deleted-gone", uid, said, f"it names {uid}", draft.entry, not named)
            elif draft.there and named and collection == "my" and _others(draft.who, str(step.who)):
                said = "a personal list without the drafts of other accounts"
                yield Suspicion(
                    "list-my-without-others", uid, said, f"it names {uid}, saved by another", draft.entry
                )


def _others(one: str, other: str) -> bool:
    """Whether two are different accounts for sure; two tokens may be of the same one."""
    return one != other and one.startswith("account ") and other.startswith("account ")


def _key(step: Step, uid: str) -> tuple[str, str, str]:
    return step.site, step.realm, uid


def _suspicion(
    clause: str, uid: str, expected: str, answer: Response, known: _Draft, *, holds: bool
) -> Suspicion:
    return Suspicion(clause, uid, expected, answer.quote(), known.entry, holds)


#: A list this long may be a page of a longer one.
_PAGE: Final = 10


@dataclass(frozen=True)
class _Upload:
    """One accepted upload.

    Attributes:
        ids: Whole numbers in its answer; one of them may be the attachment's.
        digest: Of its bytes; None when they are not known.
    """

    name: str
    ids: frozenset[int]
    digest: str | None
    size: int
    entry: int
    who: str | None


@dataclass(frozen=True)
class _Document:
    """What is known of a document's attachments.

    Attributes:
        empty: Number of the exchange that listed none, when nothing was added since.
        muddled: Something may have been added that nobody here knows.
    """

    uploads: tuple[_Upload, ...] = field(default=())
    empty: int | None = None
    muddled: bool = False


class AttachmentTrail:
    """Follows the attachments of documents."""

    def __init__(self) -> None:
        self._documents: Followed[_Document] = Followed()

    def take(self, step: Step) -> Iterator[Suspicion]:
        """Take the next step of the traffic, and say what it shows."""
        if step.facts.operation.family != "attachment":
            return
        key = (step.site, step.facts.path["uid"])
        known = self._documents.get(key) or _Document()
        if step.facts.operation.stores:
            self._documents.put(key, _after(step, known))
        elif step.right and step.answer is not None and not step.exchange.overlapped:
            if step.operation == "listAttachments" and step.taken:
                yield from self._listed(step, step.answer, known, key)
            elif step.facts.operation.answers == "file":
                yield from self._own(step, step.answer, known)
                yield from self._foreign(step, step.answer, known, key)

    def _own(self, step: Step, answer: Response, known: _Document) -> Iterator[Suspicion]:
        upload = _meant(step, known)
        if upload is None or step.operation == "getAttachmentThumbnail":
            return
        subject, name = f"{step.facts.path['uid']}/{upload.name}", upload.name
        if step.operation == "attachmentExists":
            if step.taken or step.refused:
                yield Suspicion(
                    "attachment-exists-present",
                    subject,
                    f"{name}, created before",
                    answer.quote(),
                    upload.entry,
                    step.taken,
                )
        elif (
            upload.digest is not None
            and answer.status == 200
            and step.exchange.request_headers.get("Range") is None
        ):
            same = hashlib.sha256(answer.content).hexdigest() == upload.digest
            seen = f"{len(answer.content)} bytes, {'the same' if same else 'others than were sent'}"
            expected = f"the {upload.size} bytes that were sent"
            yield Suspicion("attachment-download-same", subject, expected, seen, upload.entry, same)

    def _foreign(
        self, step: Step, answer: Response, known: _Document, key: tuple[str, str]
    ) -> Iterator[Suspicion]:
        """An attachment of one document under another one that was seen to have none."""
        if (
            known.empty is None
            or known.uploads
            or known.muddled
            or step.operation == "getAttachmentThumbnail"
        ):
            return
        for other, document in self._documents.items():
            upload = _meant(step, document) if other[0] == key[0] and other != key else None
            if upload is not None and (step.taken or step.refused):
                clause = "attachment-exists-other-document"
                clause = clause if step.operation == "attachmentExists" else "attachment-get-other-document"
                expected = f"not found: {upload.name} belongs to {other[1]}"
                yield Suspicion(clause, key[1], expected, answer.quote(), upload.entry, not step.taken)
                return

    def _listed(
        self, step: Step, answer: Response, known: _Document, key: tuple[str, str]
    ) -> Iterator[Suspicion]:
        try:
            records = readers.records(answer)
        except Ambiguous:
            return
        if records is None or step.facts.query or len(records) >= _PAGE:
            return
        if not records and not known.uploads and not known.muddled:
            self._documents.put(key, replace(known, empty=step.exchange.number))
        found, numbers = answer.text, set(readers.integers(answer.json))
        for upload in known.uploads:
            named = upload.name in found or bool(upload.ids & numbers)
            if upload.who == step.who and step.who is not None:
                yield Suspicion(
                    "attachment-create-listed",
                    f"{key[1]}/{upload.name}",
                    f"a list with {upload.name}, created before",
                    f"{len(records)} attachments without it",
                    upload.entry,
                    named,
                )


def _meant(step: Step, known: _Document) -> _Upload | None:
    """The one upload that a request means for sure: by its name, and by a number of its answer."""
    number, name = step.facts.path.get("attachmentId", ""), step.facts.path.get("filename")
    if not (number.isascii() and number.isdigit() and len(number) < 19):
        return None
    found = [each for each in known.uploads if each.name == name]
    return found[0] if len(found) == 1 and int(number) in found[0].ids else None


def _after(step: Step, known: _Document) -> _Document:
    answer = step.answer
    if answer is not None and answer.refusal and not step.exchange.overlapped:
        return known
    if (
        not step.taken
        or answer is None
        or step.operation == "persistTemporaryFile"
        or step.exchange.overlapped
    ):
        return replace(known, muddled=True, empty=None)
    ids = frozenset(readers.integers(answer.json)) if answer.json is not None else frozenset[int]()
    upload = _Upload(
        step.facts.path["filename"],
        ids,
        _digest_of_upload(step.exchange),
        step.exchange.request_body.size,
        step.exchange.number,
        step.who,
    )
    return replace(known, uploads=(*known.uploads, upload), empty=None)


def _digest_of_upload(exchange: Exchange) -> str | None:
    body, packed = exchange.request_body, bool(exchange.request_headers.get("Content-Encoding"))
    return hashlib.sha256(body.content).hexdigest() if body.whole and not packed else None


_CREATE: Final = "createWorkflowRecordWithIdentifier"
_UPDATE: Final = "updateWorkflowRecord"


class RecordTrail:
    """Follows identifiers that were submitted."""

    def __init__(self) -> None:
        #: Number of the exchange that created a record.
        self._created: Followed[int] = Followed()

    def take(self, step: Step) -> Iterator[Suspicion]:
        """Take the next step of the traffic, and say what it shows."""
        if step.operation == "deleteDraft":
            # Whether a record is still there without its draft is not shown.
            self._created.forget((step.site, step.realm, step.facts.path["uid"]))
        if step.operation not in (_CREATE, _UPDATE):
            return
        identifier = step.facts.path["identifier"]
        key = (step.site, step.realm, identifier)
        before = self._created.get(key)
        if before is not None and step.right and step.answer is not None and not step.exchange.overlapped:
            if step.operation == _CREATE and (step.taken or step.answer.refusal):
                said = f"refused: {identifier} was created before"
                yield Suspicion(
                    "workflow-created-exists", identifier, said, step.answer.quote(), before, not step.taken
                )
            elif step.operation == _UPDATE and (step.taken or step.refused):
                unknown = tells(step.answer, Row.UNKNOWN, step.realm)
                said = f"an update finds {identifier}, which was created before"
                yield Suspicion(
                    "workflow-created-known", identifier, said, step.answer.quote(), before, not unknown
                )
        if step.operation == _CREATE and step.taken and not step.exchange.overlapped:
            self._created.put(key, step.exchange.number)


_LONGEST: Final = 600


class Sequences:
    """Follows traffic.

    Args:
        sign_ins: Knows who is who.
        alone: Nobody else writes to the service meanwhile.
    """

    def __init__(self, catalogue: Catalogue, sign_ins: SignIns, *, alone: bool) -> None:
        self._catalogue = catalogue
        self._alone = alone
        self._trails = (DraftTrail().take, AttachmentTrail().take, RecordTrail().take, sign_ins.take)
        self._seen: dict[tuple[str, str, str], set[str]] = defaultdict(set)

    def take(self, step: Step) -> tuple[list[TrafficFinding], list[str]]:
        """Take the next exchange.

        Returns:
            What it contradicts, and the clauses that an assertion was reached for and held.
        """
        found, held = [], []
        for suspicion in self._suspicions(step):
            if suspicion.holds:
                held.append(suspicion.clause)
            else:
                found.append(self._finding(step, suspicion))
        return found, held

    def _suspicions(self, step: Step) -> Iterator[Suspicion]:
        for trail in self._trails:
            yield from trail(step)

    def _finding(self, step: Step, suspicion: Suspicion) -> TrafficFinding:
        clause = self._catalogue.clause(suspicion.clause)
        subjects = self._seen[clause.id, step.operation, step.realm]
        if len(subjects) < ENOUGH:
            subjects.add(suspicion.subject)
        sure = self._alone or len(subjects) >= ENOUGH
        firm = Standing.FAULT if clause.level is Level.MUST else Standing.ADVICE
        return TrafficFinding(
            side=Side.ANSWER,
            standing=firm if sure else Standing.REMARK,
            clause=clause.id,
            level=str(clause.level),
            fault=None,
            operation=step.operation,
            realm=step.realm or "any",
            expected=suspicion.expected,
            seen=suspicion.seen[:_LONGEST],
            entry=step.exchange.number,
            because_of=suspicion.because_of,
        )
