"""Attachments that a case creates, and how their ids are found out.

The document shows neither the answer to a created attachment nor the fields of a listed one. An attachment's
identifier is the whole number that makes a check or a download under the file's name succeed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote

from registry_contracts.cases.effects import until
from registry_contracts.cases.list_pages import Record, attachments_of
from registry_contracts.checks.outcomes import Blocked, Untested, done, usable
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.session.actor import Actor

_MOST_GUESSES = 6
_OTHERWISE = 2
_PIECE = 10_000

#: Why nothing is asked of an attachment by its id.
UNTOLD = (
    "where the id of an attachment is told is not shown: neither the answer to an upload nor the list holds a "
    "number under which the file is found"
)


@dataclass(frozen=True)
class Attachment:
    """An attachment that was created, with the id that makes follow-up calls work; None where no answer tells it."""

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


def upload(actor: Actor, uid: str, filename: str, content: bytes, *, chunked: bool = False) -> Exchange:
    """Send a file as an attachment of a document; `chunked`: without announcing its length."""
    pieces = [content[at : at + _PIECE] for at in range(0, len(content), _PIECE)]
    path = {"uid": uid, "filename": filename}
    return actor.send("createAttachment", path=path, body=pieces if chunked else content)


def attach(
    actor: Actor, uid: str, filename: str, content: bytes, *, chunked: bool = False, promise: str = ""
) -> Attachment:
    """Create an attachment and find out its id; `chunked` as for `upload`, `promise` as for `done`."""
    created = upload(actor, uid, filename, content, chunked=chunked)
    done(created, promise)
    return found(actor, Attachment(uid, 0, filename, content), created, len(content))


def attached(actor: Actor, uid: str, filename: str, content: bytes) -> Attachment:
    """As `attach`; where no answer tells its id, it is there all the same, and lists show it."""
    try:
        return attach(actor, uid, filename, content)
    except Untested:
        return Attachment(uid, None, filename, content)


def found(
    actor: Actor, sought: Attachment, created: Exchange, size: int, patience: float | None = None
) -> Attachment:
    """An attachment that was created, with its id; a list that names it may be a moment late.

    Args:
        sought: The attachment without its id, and without content where that is too large to hold.
        size: Bytes of the file.
        patience: Seconds to look for it; as long as effects may take on the target by default.

    Raises:
        Blocked: the list lacks it, or no number is an id under which it is found though the answer tells an id.
        Untested: neither the answer nor the list, which names it or named an earlier one, tells an id: where one is
            told is not shown.
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
    if until(look, bool, 0 if known_untold else actor.settle_seconds if patience is None else patience):
        return made[0]
    if (records or known_untold) and not list(_told(created, size, _OTHERWISE)):
        if patience is None:  # for an ordinary name: the next one need not be looked for as long
            actor.shared.offer(untold, value=True)
        raise Untested(UNTOLD)
    raise Blocked(
        "createAttachment", f"no number in the answers is an id under which {sought.filename} is found"
    )


def works(actor: Actor, attachment: Attachment) -> bool:
    """Whether an attachment is found under its id: by the exists check, or else by a download of its bytes."""
    if usable(actor.attachment_exists(attachment.path)).success:
        return True
    if not attachment.content:
        return False
    answer = usable(actor.get_attachment(attachment.path))
    return answer.success and answer.content == attachment.content


def _guesses(
    actor: Actor, sought: Attachment, created: Exchange, size: int, records: list[Record]
) -> Iterator[int]:
    """Numbers that may be the id of an attachment; `records` takes up those of the list that name it."""
    yield from _told(created, size)
    for record in attachments_of(actor, sought.uid).walk():
        if names_file(record, sought.filename):
            records.append(record)
            yield from ids_in(record, size)


def _told(created: Exchange, size: int, rank: int | None = None) -> Iterator[int]:
    """Numbers in the answer to an upload that may be its id; `rank` leaves those from this rank on out."""
    answer = created.answer
    ranked = readers.ranked_integers(answer.json)
    named = [number for place, number in ranked if rank is None or place < rank]
    yield from (number for number in ids_in(answer.json, size) if number in named)
    in_location = re.search(r"/attachments/(\d{1,18})(?:/|$)", answer.headers.get("location", ""))
    if in_location:
        yield int(in_location[1])


def ids_in(record: Any, size: int) -> list[int]:
    """Numbers of a record that may be its id, the likeliest first; `size` is that of the file, in bytes."""
    ranked = readers.ranked_integers(record)
    likely = [number for rank, number in ranked if rank < _OTHERWISE or number != size]
    return list(dict.fromkeys(likely))[:_MOST_GUESSES]


def names_file(record: Record, filename: str) -> bool:
    """Whether a text of a record is a file's name, or an address in it has the name as a whole segment of its path.

    A longer segment may be that of the file's preview, and does not count.
    """
    texts = [value for value in readers.values(record) if isinstance(value, str)]
    in_address = re.compile(rf"/{re.escape(filename)}(?![^/?#])")
    return any(text == filename or in_address.search(unquote(text)) for text in texts)


def lists(record: Record, attachment: Attachment) -> bool:
    """Whether a record of a list is that of an attachment: by its file's name, or by its id under an id's name."""
    return names_file(record, attachment.filename) or attachment.id in named_ids(record)


def named_ids(record: Record) -> list[int]:
    """Numbers of a record that stand under an id's name."""
    return [number for rank, number in readers.ranked_integers(record) if rank < _OTHERWISE]
