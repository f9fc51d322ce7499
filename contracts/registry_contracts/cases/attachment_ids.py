"""Attachments that a case creates, and how the suite finds out their ids.

The document shows neither the answer to an upload nor the fields of a listed attachment. The suite tries whole
numbers from these answers: the id is the one with which a check or a download under the file's name succeeds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import unquote

from registry_contracts.cases.effects import until
from registry_contracts.cases.list_pages import Record, attachments_of
from registry_contracts.checks.outcomes import Blocked, Untested, done, usable
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.session.actor import Actor

_MOST_GUESSES = 6
_OTHERWISE = 2
#: Names that any system keeps; a service may well give a file with another one a name of its own.
PLAIN_NAME: Final = re.compile(r"[\w.-]+", re.ASCII)

#: Why a case cannot use the id of an attachment.
UNTOLD = (
    "the document does not say where a service reports the id of an attachment: neither the answer to an upload "
    "nor the list holds a number under which the file is found"
)


@dataclass(frozen=True)
class Attachment:
    """A created attachment; `id` works in follow-up calls and is None if no answer holds it."""

    uid: str
    id: int | None
    filename: str
    content: bytes

    @property
    def path(self) -> dict[str, str]:
        """Its path parameters."""
        if self.id is None:
            raise Untested(UNTOLD)
        return {"uid": self.uid, "attachmentId": str(self.id), "filename": self.filename}


def upload(actor: Actor, uid: str, filename: str, content: bytes) -> Exchange:
    """Upload a file to a document."""
    return actor.send("createAttachment", path={"uid": uid, "filename": filename}, body=content)


def attach(actor: Actor, uid: str, filename: str, content: bytes, *, promise: str = "") -> Attachment:
    """Create an attachment and find its id; for `promise` see `done`."""
    created = upload(actor, uid, filename, content)
    done(created, promise)
    return found(actor, Attachment(uid, 0, filename, content), created, len(content))


def attached(actor: Actor, uid: str, filename: str, content: bytes) -> Attachment:
    """Like `attach`, but an attachment whose id no answer holds is returned too: lists still show it."""
    try:
        return attach(actor, uid, filename, content)
    except Untested:
        return Attachment(uid, None, filename, content)


def found(actor: Actor, sought: Attachment, created: Exchange, size: int) -> Attachment:
    """The created attachment with its id; waits, since the list may show it a moment later.

    Args:
        sought: The attachment without its id, and without content if that is too large to keep.
        size: Size of the file in bytes.

    Raises:
        Blocked: the list lacks it, or the answer holds an id but the file is found under no number.
        Untested: the list names the file (or named an earlier one), but neither the list nor the answer holds an id.
            The document does not say where to find one.
    """
    tried: set[int] = set()
    made: list[Attachment] = []
    records: list[Record] = []

    def look() -> bool:
        records[:] = []
        for number in _guesses(actor, sought, created, size, records):
            attachment = replace(sought, id=number)
            if number not in tried and works(actor, attachment):
                made.append(attachment)
                return True
            tried.add(number)
        return False

    untold = f"{actor.realm} tells no id of an attachment"
    known_untold = actor.shared.offered(untold)
    if until(look, bool, 0 if known_untold else actor.settle_seconds):
        return made[0]
    if (records or known_untold) and not list(_told(created, size, _OTHERWISE)):
        if PLAIN_NAME.fullmatch(sought.filename):  # the next search need not wait as long
            actor.shared.offer(untold, value=True)
        raise Untested(UNTOLD)
    raise Blocked(
        "createAttachment", f"no number in the answers is an id under which {sought.filename} is found"
    )


def works(actor: Actor, attachment: Attachment) -> bool:
    """Whether the exists check finds an attachment under its id, or else a download returns its bytes."""
    if usable(actor.attachment_exists(attachment.path)).success:
        return True
    if not attachment.content:
        return False
    answer = usable(actor.get_attachment(attachment.path))
    return answer.success and answer.content == attachment.content


def _guesses(
    actor: Actor, sought: Attachment, created: Exchange, size: int, records: list[Record]
) -> Iterator[int]:
    """Numbers that may be the id of an attachment; adds the listed records that name it to `records`."""
    yield from _told(created, size)
    for record in attachments_of(actor, sought.uid).walk():
        if names_file(record, sought.filename):
            records.append(record)
            yield from ids_in(record, size)


def _told(created: Exchange, size: int, rank: int | None = None) -> Iterator[int]:
    """Numbers in the answer to an upload that may be its id, only those with a rank below `rank`."""
    answer = created.answer
    ranked = readers.ranked_integers(answer.json)
    named = [number for place, number in ranked if rank is None or place < rank]
    yield from (number for number in ids_in(answer.json, size) if number in named)
    in_location = re.search(r"/attachments/(\d{1,18})(?:/|$)", answer.headers.get("location", ""))
    if in_location:
        yield int(in_location[1])


def ids_in(record: Any, size: int) -> list[int]:
    """Numbers of a record that may be its id, the likeliest first; `size`: size of the file in bytes."""
    ranked = readers.ranked_integers(record)
    likely = [number for rank, number in ranked if rank < _OTHERWISE or number != size]
    return list(dict.fromkeys(likely))[:_MOST_GUESSES]


def names_file(record: Record, filename: str) -> bool:
    """Whether a text of a record is the file's name, or a URL in it with the name as a whole path segment.

    A longer segment does not count: it may belong to the file's preview.
    """
    texts = [value for value in readers.values(record) if isinstance(value, str)]
    in_address = re.compile(rf"/{re.escape(filename)}(?![^/?#])")
    return any(text == filename or in_address.search(unquote(text)) for text in texts)


def lists(record: Record, attachment: Attachment) -> bool:
    """Whether a listed record is this attachment: by its file name, or by its id in a member named like an id."""
    return names_file(record, attachment.filename) or attachment.id in named_ids(record)


def named_ids(record: Record) -> list[int]:
    """Numbers of a record in members named like an id."""
    return [number for rank, number in readers.ranked_integers(record) if rank < _OTHERWISE]
