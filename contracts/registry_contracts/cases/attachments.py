"""Claims about attachments: downloads, thumbnails, uploads and lists."""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from registry_contracts.cases import contents
from registry_contracts.cases.attachment_ids import (
    Attachment,
    attach,
    found,
    ids_in,
    lists,
    named_ids,
    names_file,
    upload,
    works,
)
from registry_contracts.cases.comparison import claim_accepted_for_each
from registry_contracts.cases.list_pages import Page, Record, Search, attachments_of, identifiers_in
from registry_contracts.cases.shared_documents import (
    SharedDocument,
    document_for_uploads,
    need_own_list,
    second_document,
    shared_document,
)
from registry_contracts.cases.world import World
from registry_contracts.checks.claims import Claim, Expect
from registry_contracts.checks.outcomes import OBSTACLES, Blocked, Untested, done, require, usable
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Exchange, in_utf8
from registry_contracts.exchanges.readers import Ambiguous
from registry_contracts.session.actor import Actor

#: Words in the fault when a service refuses an upload before reading it all and drops the connection.
_CUT_SHORT = ("closed", "reset", "broke")
_ERRORS = 400
#: Success statuses of a preview that is not ready yet (RFC 9110, 15.3.3), or of none.
WITHOUT_PREVIEW: Final = (202, 204)
_MOST_NAMES = 4
#: Bytes of a file to quote from the first difference.
_BYTES_SHOWN = 12
#: Names of members that hold a file name, and characters that no file name holds.
_CALLED_A_NAME = re.compile("(?:file|original|display)?_?name|file|title", re.IGNORECASE)
_NO_NAME = re.compile("[:@]")


def claim_same_bytes(claim: Claim, world: World, attachment: Attachment, by: Actor | None = None) -> None:
    """Claim that a download (by default as the author) returns exactly the bytes that were sent."""
    exchange = (by or world.author).get_attachment(attachment.path)
    answer = usable(exchange)
    sent, got = attachment.content, answer.content
    same = got == sent and (answer.success or (answer.absent and not sent))
    recoded = in_utf8(answer, files=True)
    if not same and answer.success and recoded.content == sent:
        raise Ambiguous(
            f"the file came in {recoded.charset}, as its Content-Type says: same text, different bytes"
        )
    seen = f"{len(got)} bytes, {_first_difference(sent, got)}" if answer.success else answer.quote()
    claim.holds(same, exchange, expected=f"the {len(sent)} bytes of {attachment.filename}", seen=seen)


def _first_difference(sent: bytes, got: bytes) -> str:
    pairs = enumerate(zip(sent, got, strict=False))
    at = next((at for at, (here, there) in pairs if here != there), min(len(sent), len(got)))
    came, went = (content[at : at + _BYTES_SHOWN] or "nothing" for content in (got, sent))
    return f"at byte {at} {came!r} where {went!r} was sent"


def claim_each_kept(expect: Expect, world: World, first: Attachment, files: Mapping[str, bytes]) -> list[str]:
    """Claim that a document accepts more files after its first one and returns each with its bytes.

    The document does not say how many files it accepts: it may refuse the last ones.

    Returns:
        The names of all accepted files.
    """
    uid = first.uid
    sent = {name: upload(world.author, uid, name, content) for name, content in files.items()}
    while sent and not usable(sent[last := next(reversed(sent))]).success:
        del sent[last]
    for name, created in sent.items():
        expect("attachment-create-accepted").accepted(created)
        made = found(world.author, Attachment(uid, 0, name, files[name]), created, len(files[name]))
        claim_same_bytes(expect("attachment-several", "getAttachment"), world, made)
    claim_same_bytes(expect("attachment-several", "getAttachment"), world, first)
    claim_listed(expect("attachment-several", "listAttachments"), world, first)
    return [first.filename, *sent]


def claim_listed(
    claim: Claim,
    world: World,
    sought: Attachment | None,
    *,
    uid: str = "",
    by: Actor | None = None,
) -> None:
    """Claim that a document lists an attachment, after a few seconds at most.

    An answer that is no list contradicts the clause too.

    Args:
        sought: None for any attachment of the document `uid`.
        by: Reads the list; by default the author.

    Raises:
        Untested: the list cannot be read to its end.
    """
    listed = attachments_of(by or world.author, sought.uid if sought else uid)
    name = sought.filename if sought else "the attachment"

    def held(page: Page) -> bool:
        return any(lists(record, sought) for record in page.records or ()) if sought else page.size > 0

    first = listed.page()
    if first.records is None and not first.not_found:
        claim.accepted(first.exchange)
        claim.meets("list", first.exchange)
    read = itertools.chain([first], itertools.repeat(None))

    def look() -> Search | Blocked:
        try:
            return listed.search_for(held, first=next(read))
        except Blocked as obstacle:
            return obstacle

    search = world.until(look, lambda search: isinstance(search, Search) and search.found)
    if isinstance(search, Blocked):
        raise Untested(str(search))
    search.claim(claim, f"{name} in the list", there=True)


def claim_own_only(claim: Claim, world: World, own: SharedDocument, other: SharedDocument) -> None:
    """Claim that a document lists no attachment of another one; it may list other things, for example previews."""
    page = attachments_of(world.author, own.uid).page()
    require(page.size >= 0, "listAttachments", f"the answer is no list: {page.seen}")
    names, ids = {file.filename for file in own.attachments}, {file.id for file in own.attachments}
    theirs = {file.id for file in other.attachments}
    uid = re.compile(rf"{re.escape(world.fresh.prefix)}[\w-]*")

    def foreign(record: Record) -> bool:
        """Whether a record names another document of the run or a file of the other document."""
        # A truncated text may end in the middle of the document's own uid.
        if not all(map(own.uid.startswith, uid.findall(str(record)))):
            return True
        if any(names_file(record, file.filename) for file in other.attachments if file.filename not in names):
            return True
        numbers = set(named_ids(record))
        # If both documents number their files alike, a number does not identify the document.
        return ids.isdisjoint(theirs) and not numbers.isdisjoint(theirs) and numbers.isdisjoint(ids)

    page.claim(claim, not any(map(foreign, page.records or ())), sorted(names))


def claim_taken(claim: Claim, world: World, filename: str, content: bytes) -> Exchange:
    """Claim that a file is accepted: by the shared document, or else by one without attachments.

    Returns:
        The accepted upload.

    Raises:
        Blocked: only a document without attachments accepts it; another clause covers that.
    """
    created = upload(world.author, document_for_uploads(world), filename, content)
    if usable(created).success:
        claim.accepted(created)
        return created
    claim.accepted(upload(world.author, world.document(), filename, content))
    raise Blocked("createAttachment", f"a document with attachments answered {created.answer.quote()}")


def claim_large(claims: tuple[Claim, Claim, Claim], world: World, filename: str, size: int) -> Attachment:
    """Claim that the shared document accepts a file within the limit, finds it and returns it whole.

    Args:
        claims: For the upload, the exists check and the download.
        size: Size in bytes.
    """
    taken, there, same = claims
    body = contents.Announced(size)
    sought = Attachment(document_for_uploads(world), 0, filename, b"")
    path = {"uid": sought.uid, "filename": filename}
    created = world.author.send("createAttachment", path=path, body=body)
    small = partial(upload, world.author, sought.uid, f"small-{filename}", b"small\n")
    claim_accepted_for_each(created, (taken, small))
    attachment = _found_large(there, world, sought, created, size)
    got = world.author.get_attachment(attachment.path, summed=True)
    whole, seen = got.answer.body.digest == body.digest, f"{got.answer.status} with other bytes"
    expected = f"the {size} bytes that were sent"
    same.holds(got.answer.success and whole, got, expected=expected, seen=seen)
    return attachment


def _found_large(there: Claim, world: World, sought: Attachment, created: Exchange, size: int) -> Attachment:
    """A large file with its id; if no id is found, claim that the exists check finds every id that downloads."""
    try:
        return found(world.author, sought, created, size)
    except Blocked:
        answers = [created.answer.json, *(attachments_of(world.author, sought.uid).page().records or ())]
        for number in dict.fromkeys(number for each in answers for number in ids_in(each, size)):
            path = replace(sought, id=number).path
            got = world.author.get_attachment(path, summed=True)
            if usable(got).success and got.answer.body.size == size:
                there.accepted(world.author.attachment_exists(path))
        raise


def claim_each_of_two_served(claim: Claim, world: World, name: str) -> None:
    """Attach two files under one name; claim that the later one is served, and each under its own id.

    The document does not say whether a second file of the same name is accepted, replaces the first or is renamed.
    So a file that no id serves is not judged, nor is the earlier file unless the list shows both.
    """
    uid, files = document_for_uploads(world), (b"the earlier file\n", b"the later file, which is longer\n")
    sent = [upload(world.author, uid, name, content) for content in files]
    if not all(usable(each).success for each in sent):
        return
    served: list[Exchange] = []

    def right() -> bool:
        records = [record for record in attachments_of(world.author, uid).walk() if names_file(record, name)]
        both = len(records) > 1
        told = [each.answer.json for each in sent]
        guesses = [number for each in (*told, *records) for number in ids_in(each, -1)[:2]]
        numbers = dict.fromkeys(guesses if both else ids_in(told[1], -1)[:1])
        downloads = [
            world.author.get_attachment(Attachment(uid, number, name, b"").path) for number in numbers
        ]
        served[:] = [each for each in downloads if usable(each).success]
        seen = {each.answer.content for each in served}
        return files[1] in seen and (files[0] in seen or not both or len(served) < 2)

    held = world.eventually(right)
    if served:
        expected = "the later file, and each of two under its own id"
        claim.holds(held, *sent, *served, expected=expected, seen="other bytes")


def claim_nothing_attached(claim: Claim, world: World, uid: str, *before: Exchange) -> None:
    """Claim that a document still has no attachment, however the service reports an empty list.

    Raises:
        Blocked: documents list the attachments of others, so the list proves nothing.
    """
    page = attachments_of(world.author, uid).page()
    if page.size > 0:
        need_own_list(world)
    if page.size < 0 and not page.not_found:
        _tells_emptiness_so(world, page)
    claim.holds(page.size <= 0, *before, page.exchange, expected="no attachment", seen=page.seen)


def _tells_emptiness_so(world: World, page: Page) -> None:
    """Require the status that the list of a document without attachments gets."""
    empty = world.once(
        "answer of an empty list",
        lambda: attachments_of(world.author, world.document()).page().exchange.status,
    )
    alike = page.exchange.answer.refusal and page.exchange.status == empty
    require(alike, "listAttachments", f"the answer is no list: {page.exchange.answer.quote()}")


def need_presence(world: World) -> bool:
    """Require that the exists check finds a picture of the shared document."""
    return done(world.author.attachment_exists(shared_document(world).pictures[0].path)).success


def need_preview(world: World) -> bool:
    """Require that a picture of the shared document has a thumbnail."""
    return done(preview(world, shared_document(world).pictures[0])).success


def claim_none_listed(claim: Claim, world: World, uid: str, answers: Sequence[Exchange]) -> None:
    """Claim that none of these answers lists a record of the document `uid`."""
    records = attachments_of(world.author, uid).needed(1)
    own = set().union(*map(identifiers_in, records))
    for exchange in answers:
        # A record may hold values that change with each answer, so its identifiers count, else the whole record.
        there = Page(exchange).records or ()
        given = [record for record in there if record in records or identifiers_in(record) & own]
        claim.holds(not given, exchange, expected=f"nothing of {uid}")


def turned_away(exchange: Exchange) -> bool:
    """Whether an upload above the limit failed: with an error status, or with a dropped connection."""
    exchange.error_due = True
    if exchange.fault is not None:
        exchange.own = any(word in exchange.fault for word in _CUT_SHORT)
        return exchange.own
    return exchange.answer.status >= _ERRORS


def manner(exchange: Exchange) -> str:
    """How an upload was refused: the connection fault or the status."""
    return exchange.fault or str(exchange.answer.status)


def preview(world: World, attachment: Attachment) -> Exchange:
    """Ask for a thumbnail until it is ready."""
    latest = world.until(
        lambda: world.author.get_attachment_thumbnail(attachment.path),
        lambda got: got.answer.success and got.answer.status not in WITHOUT_PREVIEW,
    )
    if latest.answer.hollow_page:
        latest.own = _own_page(world, attachment)
    return latest


#: Content too large (RFC 9110, 15.5.14).
_TOO_LARGE: Final = 413
#: Key of the temporary file that was refused for its size, shared by the realm's cases.
_TOO_LARGE_FILE: Final = "temporary file that is too large"


def persist(
    expect: Expect, world: World, uid: str, before: Callable[[dict[str, str]], object] | None = None
) -> tuple[dict[str, str], Exchange]:
    """Persist a temporary file; tries the next one if a file is refused that an earlier run may have used up.

    Args:
        before: Called once with the path parameters of the first file.

    Returns:
        The last path parameters, and the exchange.

    Raises:
        Blocked: all remaining files are refused.
        Untested: no file is left.
    """
    refused = world.offered(_TOO_LARGE_FILE)
    for name in itertools.chain([refused] if refused else [], world.temporary_files()):
        path = {"uid": uid, "tempFileId": name}
        if before is not None:
            before(path)
            before = None
        kept = world.author.send("persistTemporaryFile", path=path)
        too_large = usable(kept).status == _TOO_LARGE
        if too_large:  # the file still exists, and only it can show this again
            world.offer(_TOO_LARGE_FILE, name)
        expect("attachment-persist-no-limit").holds(not too_large, kept, expected="persisted: no limit")
        if not world.used_up(name, kept):
            break
    return path, kept


def claim_not_persisted(expect: Expect, world: World, anonymous: Actor, path: Mapping[str, str]) -> None:
    """Claim that a temporary file is refused without a token, and with URL-unsafe characters around its identifier."""
    refused = anonymous.send("persistTemporaryFile", path=path)
    claim = expect("attachment-persist-needs-token")
    claim.refused(refused)
    claim_nothing_attached(claim, world, path["uid"], refused)
    unsafe = {"uid": world.document(), "tempFileId": f"<{path['tempFileId']} é>|"}
    sent = world.author.send("persistTemporaryFile", path=unsafe)
    with contextlib.suppress(*OBSTACLES):  # a gateway may answer this address
        expect("attachment-temporary-characters").refused(sent)


def claim_persisted_without_headers(expect: Expect, world: World, kept: Exchange, realm: str) -> None:
    """Claim that a temporary file was not refused because a header is missing that its operation does not list."""

    def with_header(header: Mapping[str, str]) -> Exchange:
        path = {"uid": world.document(), "tempFileId": world.temporary_file()}
        return world.author.send("persistTemporaryFile", path=path, headers=header)

    headers = {
        "realm-attachments-without": {"Realm": realm},
        "content-type-not-needed": {"Content-Type": "application/octet-stream"},
    }
    with contextlib.suppress(Blocked):  # refused for another reason
        claims = {expect(name, "persistTemporaryFile"): header for name, header in headers.items()}
        reasons = ((claim, partial(with_header, header)) for claim, header in claims.items())
        claim_accepted_for_each(kept, *reasons)


def claim_persisted_listed(expect: Expect, world: World, uid: str, kept: Exchange) -> Attachment:
    """Claim that a temporary file was persisted and is listed; return the attachment."""
    expect("attachment-persist-listed", "persistTemporaryFile").accepted(kept)
    claim_listed(expect("attachment-persist-listed", "listAttachments"), world, None, uid=uid)
    return persisted(world, uid, kept)


def claim_another_persisted(expect: Expect, world: World, before: Attachment) -> None:
    """Claim that a second temporary file, if there is one, becomes an attachment with different bytes."""
    uid = world.document()
    try:
        _, kept = persist(expect, world, uid)
    except Untested:
        return  # no second file; other cases judge the first
    paths = before.path, claim_persisted_listed(expect, world, uid, kept).path
    got = [world.author.get_attachment(path) for path in paths]
    first, second = (usable(download).content for download in got)
    expect("attachment-persist-own-bytes", "getAttachment").holds(
        first != second, *got, expected="two files with bytes of their own", seen="the same bytes twice"
    )


def _own_page(world: World, attachment: Attachment) -> bool:
    """Whether the service itself sends HTML as a thumbnail: it does so again, and the file downloads correctly."""
    file = world.author.get_attachment(attachment.path).answer
    again = world.author.get_attachment_thumbnail(attachment.path).answer
    return file.success and file.content == attachment.content and again.hollow_page


def persisted(world: World, uid: str, exchange: Exchange) -> Attachment:
    """The only attachment of a document, made from a temporary file of unknown name.

    If no download works, it is read from the members that hold the id and name of an uploaded file.

    Raises:
        Untested: no number and name in the answers lead to it.
    """
    records = attachments_of(world.author, uid).needed(1)
    bodies = [exchange.answer.json, *records]
    numbers = dict.fromkeys(number for record in bodies for number in ids_in(record, -1))
    tried = [Attachment(uid, number, name, b"") for name in _file_names(bodies) for number in numbers]

    def served() -> Attachment | None:
        return next((file for file in tried if works(world.author, file) or _downloads(world, file)), None)

    file = world.until(served, lambda file: file is not None)
    file = file or next(_told_like_an_upload(world, uid, records), None)
    if file is None:
        raise Untested("no number and name in the answers lead to the attachment that was persisted")
    return file


def _told_like_an_upload(world: World, uid: str, records: Sequence[Record]) -> Iterator[Attachment]:
    """Attachments read from the members that hold the id and name of an uploaded file."""
    uploaded = second_document(world).attachments[0]
    listed = attachments_of(world.author, uploaded.uid).page().records or ()
    told = [pair for each in listed if lists(each, uploaded) for pair in readers.named_members(each)]
    called = [
        {name for name, value in told if str(value) == wanted}
        for wanted in (str(uploaded.id), uploaded.filename)
    ]
    for record in records:
        members = list(readers.named_members(record))
        numbers, names = ([str(value) for name, value in members if name in each] for each in called)
        if numbers and names and numbers[0].isdecimal():
            yield Attachment(uid, int(numbers[0]), names[0], b"")


def _downloads(world: World, attachment: Attachment) -> bool:
    return usable(world.author.get_attachment(attachment.path)).success


def _file_names(bodies: Sequence[Any]) -> list[str]:
    """Texts of records that may be a file name, the likeliest first."""
    members = [
        (name, text)
        for record in bodies
        if isinstance(record, dict)
        for name, text in readers.named_members(record)
        if isinstance(text, str) and text
    ]
    called = [text for name, text in members if _CALLED_A_NAME.fullmatch(name)]
    ends = [text.rpartition("/")[2] for text in readers.values([*bodies]) if isinstance(text, str)]
    alike = [text for text in ends if "." in text[1:-1] and not _NO_NAME.search(text)]
    return list(dict.fromkeys([*called, *alike]))[:_MOST_NAMES]


def claim_kept_if_taken(
    claim: Claim,
    world: World,
    uid: str,
    name: str,
    content: bytes,
    headers: Mapping[str, str | None] | None = None,
) -> str:
    """What happens to a file that may be refused: `refused …`, `renamed`, or `kept`, with a claim about its bytes."""
    path = {"uid": uid, "filename": name}
    created = world.author.send("createAttachment", path=path, body=content, headers=dict(headers or {}))
    if not usable(created).success:
        return f"refused with {created.answer.status}"
    try:
        attachment = found(world.author, Attachment(uid, 0, name, content), created, len(content))
    except (Blocked, Untested):
        return "renamed"
    claim_same_bytes(claim, world, attachment)
    return "kept"


def draft_with_file(world: World) -> Attachment:
    """Attach a file to a new draft."""
    if world.refusal_of_files() is not None:
        raise Untested("drafts accept no attachments")
    uid, promise = world.draft().uid, "attachment-create-accepted"
    return attach(world.author, uid, "note.txt", b"a note\n", promise=promise)
