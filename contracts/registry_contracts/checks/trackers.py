"""Follows sign-ins, attachments and submissions in traffic and runs the checks that are due."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from registry_contracts.checks.documents import LISTED, SAME_BYTES, digest_of
from registry_contracts.checks.http import ACCEPTANCE, TURNED_DOWN
from registry_contracts.checks.sequences import (
    ACCOUNT,
    CREATE,
    SETTLE_SECONDS,
    UPDATE,
    RecentRecords,
    Step,
    Told,
    records_in,
    settled,
    site_of,
    told,
)
from registry_contracts.checks.sign_in import TOKEN_TAKEN, token_in
from registry_contracts.checks.workflow import RECORD_FOUND
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Exchange, Response, read_timestamp
from registry_contracts.exchanges.redaction import SHORTEST_TOKEN, credential

#: A token is surely valid until this long before its expiration, even if clocks differ.
_MARGIN: Final = timedelta(minutes=2)
_SHORTEST_SECRET: Final = 8


@dataclass(frozen=True)
class _Issued:
    account: str
    entry: int
    good_until: datetime | None


class SignIns:
    """Follows tokens; keeps their digests, and the secrets themselves to detect echoes, in memory only."""

    def __init__(self) -> None:
        self._issued: RecentRecords[_Issued] = RecentRecords()
        #: Single secrets, and e-mails with the passwords that signed them in.
        self._known: RecentRecords[bool] = RecentRecords()

    def knows(self, secret: str) -> bool:
        """Whether a text is a token that was issued in this traffic, or a password that signed an account in."""
        return (secret,) in self._known

    def signed_in_before(self, exchange: Exchange) -> bool:
        """Whether the same e-mail and password got a token from the same service earlier."""
        return _credentials_key(exchange) in self._known

    def who(self, exchange: Exchange) -> str | None:
        """The account of a request if its sign-in was seen, else its token; None if unknown."""
        token = credential(exchange)
        if token is None:
            return None
        issued = self._issued.get((site_of(exchange.url), _digest(token)))
        return ACCOUNT + issued.account if issued else f"token {_digest(token)}"

    def learn(self, exchange: Exchange) -> None:
        """Learn from an answer to signing in, before it is judged."""
        sent, response = exchange.request_body.json, exchange.response
        token = token_in(response) if response is not None and response.status < 300 else None
        email, password = _credentials_in(sent)
        if response is None or token is None or len(token) < SHORTEST_TOKEN or email is None:
            return
        until = read_timestamp(str(response.json.get("expiration")))
        good = until - _MARGIN if until is not None else None
        account, site = _digest(email.strip().lower()), site_of(exchange.url)
        for key, earlier in list(self._issued.items()):
            if key[0] == site and earlier.account == account:
                # The document does not say whether a token stays valid after another one was issued.
                self._issued[key] = replace(earlier, good_until=None)
        self._issued[site, _digest(token)] = _Issued(account, exchange.number, good)
        self._known[(token,)] = True
        if password is not None:
            self._known[_credentials_key(exchange)] = True
        # If the password is part of the e-mail, an answer may hold it.
        if password is not None and len(password) >= _SHORTEST_SECRET and password not in email:
            self._known[(password,)] = True

    def take(self, step: Step) -> Iterator[Told]:
        """Check that a token that should be valid is accepted."""
        token, started = credential(step.exchange), step.exchange.started
        issued = self._issued.get((step.site, _digest(token))) if token is not None else None
        if issued is None or issued.good_until is None or started is None or not step.right:
            return
        made_up = step.facts.made_up
        # The document does not say whether other spellings of the scheme are accepted.
        as_written = (step.exchange.request_headers.get("Authorization") or "").startswith("Bearer ")
        if started >= issued.good_until or made_up or step.answer is None or not as_written:
            return
        away = TOKEN_TAKEN.contradiction(step.answer, realm=step.realm) is not None
        if step.taken or away:
            expected = "the token is accepted: it was issued before and has not expired"
            clause, realm = "token-opens-protected", step.realm
            yield from told(step, clause, TOKEN_TAKEN, issued.account, issued.entry, expected, realm=realm)


def _credentials_in(sent: Any) -> tuple[str | None, str | None]:
    """E-mail and password in the body of a sign-in; None if not a text."""
    given = (sent.get("email"), sent.get("password")) if isinstance(sent, dict) else (None, None)
    email, password = (text if isinstance(text, str) else None for text in given)
    return email, password


def _credentials_key(exchange: Exchange) -> tuple[str, ...]:
    """A key of the service, e-mail and password; without e-mail or password it matches no sign-in."""
    email, password = _credentials_in(exchange.request_body.json)
    return site_of(exchange.url), *(_digest(text) for text in (email, password) if text is not None)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


#: Numbers with a lower rank are in members named like an id.
_NAMED_ID: Final = 2
_PLAIN_NAME: Final = re.compile(r"[\w.-]{1,100}", re.ASCII)
_OF_ONE: Final = frozenset({"attachmentExists", "getAttachment"})


@dataclass(frozen=True)
class _Upload:
    """One accepted upload.

    Attributes:
        number: The attachment's id; None if the answer does not clearly hold it.
        numbers: All whole numbers in the answer.
        digest: Of its bytes; None if unknown.
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


class AttachmentTracker:
    """Follows the attachments of documents.

    Args:
        settle_seconds: Seconds until a change must show in a list.
    """

    def __init__(self, settle_seconds: float = SETTLE_SECONDS) -> None:
        self._settle = settle_seconds
        self._uploads: RecentRecords[tuple[_Upload, ...]] = RecentRecords()
        #: Site → the longest list of attachments without options so far.
        self._longest: Counter[str] = Counter()

    def take(self, step: Step) -> Iterator[Told]:
        """What the next step of the traffic shows."""
        operation = step.facts.operation
        if operation.family != "attachment":
            return
        key = (step.site, step.path["uid"])
        uploads, answer = self._uploads.get(key) or (), step.judged
        if operation.stores:
            self._uploads[key] = (*uploads, *_uploaded(step))
        elif answer is not None and step.operation == "listAttachments" and step.taken:
            yield from self._listed(step, answer, uploads)
        elif answer is not None and step.operation in _OF_ONE:
            yield from self._own(step, answer, uploads)

    def _own(self, step: Step, answer: Response, uploads: Sequence[_Upload]) -> Iterator[Told]:
        upload = _upload_meant(step, uploads)
        if upload is None:
            return
        subject, whole = f"{step.path['uid']}/{upload.name}", not step.exchange.request_headers.get("Range")
        if step.operation == "attachmentExists" and (step.taken or step.refused):
            expected = f"{upload.name}, created before"
            yield from told(step, "attachment-exists-present", ACCEPTANCE, subject, upload.entry, expected)
        elif step.operation == "getAttachment" and upload.digest and answer.status == 200 and whole:
            clause, size, digest = "attachment-download-same", upload.size, upload.digest
            yield from told(step, clause, SAME_BYTES, subject, upload.entry, size=size, digest=digest)

    def _listed(self, step: Step, answer: Response, uploads: Sequence[_Upload]) -> Iterator[Told]:
        """Check that a complete list without options holds the uploads.

        Such a list may be a page of unknown length; it is complete if it is empty or shorter than an earlier one.
        """
        records = records_in(answer)
        if records is None or step.facts.query:
            return
        longest = self._longest[step.site]
        self._longest[step.site] = max(longest, len(records))
        whole = not records or len(records) < longest
        mine = [upload for upload in uploads if whole and upload.who == step.who and step.who is not None]
        for upload in mine:
            name, subject = upload.name, f"{step.path['uid']}/{upload.name}"
            compared = {"filename": name, "numbers": sorted(upload.numbers)}
            expected = f"a list with {name}, created before"
            listed = told(
                step, "attachment-create-listed", LISTED, subject, upload.entry, expected, **compared
            )
            for each in listed:
                if each.held or settled(step, upload.at, self._settle):
                    yield each


def _upload_meant(step: Step, uploads: Sequence[_Upload]) -> _Upload | None:
    """The one upload that a request clearly means: by its name and the id in the upload's answer."""
    number, name = step.path.get("attachmentId", ""), step.path.get("filename")
    if not (number.isascii() and number.isdigit() and len(number) < 19):
        return None
    named = [upload for upload in uploads if upload.name == name]
    return named[0] if len(named) == 1 and int(number) == named[0].number else None


def _uploaded(step: Step) -> Iterator[_Upload]:
    """The attachment that a request has surely created, under a name that is allowed everywhere."""
    answer, exchange = step.answer, step.exchange
    unclear = not step.taken or exchange.overlapped or step.operation == "persistTemporaryFile"
    if answer is None or unclear or not _PLAIN_NAME.fullmatch(step.path["filename"]):
        return
    body, packed = exchange.request_body, bool(exchange.request_headers.get("Content-Encoding"))
    numbers = {number for rank, number in readers.ranked_integers(answer.json) if rank < _NAMED_ID}
    yield _Upload(
        step.path["filename"],
        numbers.pop() if len(numbers) == 1 else None,
        frozenset(readers.integers(answer.json)) if answer.json is not None else frozenset(),
        digest_of(body.content) if body.whole and not packed else None,
        body.size,
        exchange.number,
        exchange.ended,
        step.who,
    )


class RecordTracker:
    """Follows identifiers that were submitted."""

    def __init__(self) -> None:
        #: Number of the exchange that created a record.
        self._created: RecentRecords[int] = RecentRecords()

    def take(self, step: Step) -> Iterator[Told]:
        """What the next step of the traffic shows."""
        if step.operation == "deleteDraft":
            # The document does not say whether a record exists without its draft.
            self._created.pop((step.site, step.realm, step.path["uid"]), None)
        if step.operation not in (CREATE, UPDATE):
            return
        identifier = step.path["identifier"]
        key = (step.site, step.realm, identifier)
        before = self._created.get(key)
        answer = step.judged if before is not None else None
        if before is not None and answer is not None:
            if step.operation == CREATE and (step.taken or answer.refusal):
                expected = f"refused: {identifier} was created before"
                yield from told(step, "workflow-created-exists", TURNED_DOWN, identifier, before, expected)
            elif step.operation == UPDATE and (step.taken or step.refused):
                expected = f"an update finds {identifier}, which was created before"
                yield from told(step, "workflow-created-known", RECORD_FOUND, identifier, before, expected)
        if step.operation == CREATE and step.taken and not step.exchange.overlapped:
            self._created[key] = step.exchange.number
