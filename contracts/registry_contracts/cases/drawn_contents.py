"""Draft contents and files drawn by Hypothesis, with claims that accepted ones come back unchanged.

A draft's content has several parts. If a service refuses the whole, the parts are sent separately: the document
does not promise to accept undocumented values. One exchange tests many values.
"""

from __future__ import annotations

import gzip
import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from registry_contracts.cases import contents
from registry_contracts.cases.attachment_ids import Attachment, attach, found, upload
from registry_contracts.cases.attachments import claim_same_bytes
from registry_contracts.cases.contents import BEYOND_THE_BASIC_PLANE, DELICATE, SCRIPTS, nested
from registry_contracts.cases.properties import Properties
from registry_contracts.cases.sample_records import LOCALISED_FIELDS
from registry_contracts.cases.shared_documents import document_for_uploads
from registry_contracts.cases.world import World
from registry_contracts.checks.claims import Expect
from registry_contracts.checks.outcomes import Blocked, Untested, done, taken, usable
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Exchange

#: The clauses that promise that the parts of a content come back.
DOCUMENTED, SCRIPT, EXACT, MADE_UP = (
    "draft-get-content",
    "draft-text-kept",
    "draft-text-exact",
    "draft-values-kept",
)
_UPDATES, _REPLACES = "draft-save-updates", "draft-save-replaces"
CLAUSES: Final = (
    *(DOCUMENTED, SCRIPT, EXACT, MADE_UP),
    *(_UPDATES, _REPLACES, "draft-delete-content-gone"),
)
#: Documented fields by part; each holds a text, or a text for one language.
_TEXTS: Final[Mapping[str, tuple[str, ...]]] = {
    DOCUMENTED: ("firstName", "middleName", "department", "postalCode"),
    SCRIPT: ("lastName", "organization", "city"),
    EXACT: ("designation", "relevantInformation", "address", "state"),
}
#: The member with made-up values.
_EXTRA: Final = "additional"
#: A text with words before any markup, so that cleaning leaves some of it.
_WORDS: Final = re.compile(r"[^<]*[A-Za-z]{2}")

#: Values that services tend to corrupt: some service loses, rounds or normalises each of them.
_NUMBERS: Final = (
    0,
    -1,
    17,
    2**31,
    2**53 - 1,
    2**53 + 1,
    -(2**63),
    0.1,
    -1.5,
    1e-7,
    1e21,
    1.7976931348623157e308,
)
_EMPTY: Final[tuple[Any, ...]] = (None, "", [], {}, [[], [{}], [None], ""], [None, 0, False, ""])
_LISTS: Final[tuple[Any, ...]] = ([3, 1, 2, 3, 1], list(range(12)), ["single"], [[[[[[1]]]]]])
_LIKE_OTHERS: Final = (
    *("00505", "true", "null", "1e5", "2026-01-31", "False", '{"a": [1, "b"]}', "<b>R&amp;D</b>"),
    *("aGVsbG8gd29ybGQ=", "https://example.org/a?b=c&d", "someone@example.org"),
)
#: A text in sixty languages with two-letter names.
_LANGUAGES: Final = {f"{first}{last}": f"in {first}{last}" for first in "aefrz" for last in "abcdefghijkl"}
_DEEP: Final[tuple[Any, ...]] = (nested(12), {"a": {"b": {"c": {"d": {"e": [{"f": 1}]}}}}})
_VALUES: Final[tuple[Any, ...]] = (*_NUMBERS, True, False, *_EMPTY, *_LISTS, *_LIKE_OTHERS, *_DEEP)
#: Names of members that services read as paths, operators or numbers, or that differ in letter case only.
_KEYS: Final = (
    "with.dot",
    "$dollar",
    "with space",
    "_underscore",
    "Capital",
    "capital",
    "1",
    "ключ",
    "a-b",
    "",
)


@dataclass(frozen=True)
class Content:
    """What a draft holds in addition to an ordinary record.

    Attributes:
        parts: Members of the record, by the clause that promises that they come back.
        short: The ordinary record has only its mandatory fields.
    """

    parts: tuple[tuple[str, tuple[tuple[str, Any], ...]], ...]
    short: bool = False

    @property
    def clauses(self) -> list[str]:
        """The clauses of its parts."""
        return [clause for clause, _ in self.parts]

    def only(self, clauses: Sequence[str]) -> dict[str, dict[str, Any]]:
        """The parts under these clauses."""
        return {clause: dict(members) for clause, members in self.parts if clause in clauses}


def long_text(length: int) -> str:
    """A text of this length without repetitions."""
    return "".join(f"{number:05d} x" for number in range(length // 7 + 1))[: length - 1] + "."


def _plain_text() -> SearchStrategy[str]:
    """Text that any `string` field may hold: letters, digits and signs, or a long one."""
    short = st.text(alphabet=string.ascii_letters + string.digits + " '\\/-", min_size=1, max_size=60)
    lengths = st.sampled_from((51, 300, 4_097, 5_000, 66_000))
    plain = st.one_of(short.map(lambda text: f"x{text}x"), lengths.map(long_text))
    return plain.filter(lambda text: "  " not in text)


def _text(longest: int) -> SearchStrategy[str]:
    """Any text without the null character, which some databases cannot store; another case sends it."""
    return st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0"), max_size=longest)


def _json_values() -> SearchStrategy[Any]:
    finite = st.floats(allow_nan=False, allow_infinity=False)
    leaves = st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**63), finite, _text(12))
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_text(8), inner, max_size=3),
        max_leaves=8,
    )


def drawn_content() -> SearchStrategy[Content]:
    """Contents with plain texts, any texts and made-up values; a script for each text in other letters."""
    return st.builds(
        content_of,
        st.tuples(*[_plain_text()] * len(_TEXTS[DOCUMENTED])),
        st.tuples(*[st.sampled_from((*SCRIPTS.values(), BEYOND_THE_BASIC_PLANE))] * len(_TEXTS[SCRIPT])),
        st.tuples(*[_text(40)] * len(_TEXTS[EXACT])),
        st.lists(st.sampled_from(("+254 2", "+254 9", "020")), min_size=1, max_size=14),
        st.one_of(st.none(), st.dictionaries(_text(10), _json_values(), max_size=8)),
        st.booleans(),
    )


def content_of(
    documented: Sequence[str],
    script: Sequence[str],
    delicate: Sequence[str],
    phones: list[str],
    extra: dict[str, Any] | None,
    short: bool,
) -> Content:
    """Build a content from texts for each kind of field, a list of phones and made-up members."""
    drawn = {DOCUMENTED: documented, SCRIPT: script, EXACT: delicate}
    parts = {
        clause: [(name, _field(name, text)) for name, text in zip(_TEXTS[clause], texts, strict=True)]
        for clause, texts in drawn.items()
    }
    parts[DOCUMENTED].append(("phones", phones))
    if extra:
        parts[MADE_UP] = [(_EXTRA, extra)]
    return Content(tuple((clause, tuple(members)) for clause, members in parts.items()), short)


def _field(name: str, text: str) -> Any:
    return {"en": text} if name in LOCALISED_FIELDS else text


def _everything(longest: int, *, short: bool) -> Content:
    """All fragile values at once, with a text of `longest` characters and a list of up to 300 more phones."""
    scripts = " ".join((str(longest), *SCRIPTS.values(), BEYOND_THE_BASIC_PLANE))
    values = {f"m{number}": value for number, value in enumerate(_VALUES)} | dict.fromkeys(_KEYS, longest)
    return content_of(
        (long_text(longest), f"O'Neill \\ McKenzie, de la CRUZ {longest}", long_text(longest // 27), "00505"),
        (scripts, SCRIPTS["en"], BEYOND_THE_BASIC_PLANE),
        tuple(DELICATE.values())[: len(_TEXTS[EXACT])],
        [f"+254 {number % 7}" for number in range(12)]
        + [f"+254 20 {number}" for number in range(min(longest, 300))],
        values | {"texts": [*DELICATE.values(), scripts, "\uff26\uff55\uff4c\uff4c"], "text": _LANGUAGES},
        short,
    )


def many(number: int) -> tuple[Content, ...]:
    """A number of small contents, each with all fragile values."""
    return tuple(_everything(100 + at, short=at % 2 == 1) for at in range(number))


#: Two small contents and one above 128 KiB, where services may store a draft differently; for a nightly run, one
#: above 2 MiB, which services may not read in one piece.
EVERYTHING: Final = (*many(2), _everything(135_000, short=False))
LARGEST: Final = (*many(1), _everything(2**21, short=False))


def largest(properties: Properties) -> Content:
    """The largest content that a run sends."""
    return (LARGEST if properties.share > 1 else EVERYTHING)[-1]


@dataclass
class _Succession:
    """The contents that are saved one after another under one uid.

    Attributes:
        taken: Accepted documents, the latest one last.
        left_out: Parts that were refused when sent alone.
    """

    uid: str
    taken: list[dict[str, Any]] = field(default_factory=list)
    left_out: set[str] = field(default_factory=set)


class DrawnDrafts:
    """Saves drawn contents as drafts and claims that they come back.

    Attributes:
        taken: For each part's clause, whether the part was accepted, alone or with others.
    """

    def __init__(self, world: World, expect: Expect) -> None:
        self._world = world
        self._claim = expect
        self.taken: dict[str, bool] = {}

    def claim_come_back(self, example: tuple[Content, ...]) -> None:
        """Claim that each saved content comes back and replaces the one before it."""
        if not self._world.samples.drafts_are_contacts:
            raise Untested("the draft of setting draft_document has other fields than those that are drawn")
        own = _Succession(self._world.fresh.uid())
        for content in example:
            self._save(own, content)
        if own.taken:
            self._claim_removed(own.uid, own.taken[-1])

    def _claim_removed(self, uid: str, document: dict[str, Any]) -> None:
        """Claim that a draft of any size is not returned after its deletion."""
        deleted = self._world.author.delete_draft(uid)
        done(deleted)
        read = self._world.author.get_draft(uid)
        kept = readers.holds_document(usable(read), document)
        self._claim("draft-delete-content-gone", "getDraft").holds(
            not kept, deleted, read, expected="nothing of the draft", seen="the draft as it was saved"
        )

    def _save(self, succession: _Succession, content: Content) -> None:
        """Save a content whole; if it is refused, save its parts one by one, except for those refused before."""
        due = [clause for clause in content.clauses if clause not in succession.left_out]
        if not due or self._saved(succession, content, due) or len(due) == 1:
            return
        for clause in due:
            if not self._saved(succession, content, [clause]):
                succession.left_out.add(clause)

    def _saved(self, succession: _Succession, content: Content, clauses: Sequence[str]) -> bool:
        """Save these parts of a content, and judge the draft; whether they were accepted."""
        uid = succession.uid
        parts = content.only(clauses)
        members = {name: value for part in parts.values() for name, value in part.items()}
        record = self._world.samples.short_draft if content.short else self._world.samples.draft
        document = record(uid, **members)
        sent = self._world.save(uid, document)
        if not taken(sent):
            self.taken |= {clauses[0]: False} if len(clauses) == 1 else {}
            return False
        self.taken = dict.fromkeys(clauses, True) | self.taken
        self._judge(self._world.author.get_draft(uid), sent, parts, document, succession.taken)
        succession.taken.append(document)
        return True

    def _judge(
        self,
        read: Exchange,
        sent: Exchange,
        parts: dict[str, dict[str, Any]],
        document: dict[str, Any],
        before: Sequence[dict[str, Any]],
    ) -> None:
        if before:
            self._claim_replaced(sent, read, document, before)
        parted = {name for clause, members in parts.items() if clause != DOCUMENTED for name in members}
        ordinary = {name: value for name, value in document.items() if name not in {"header", *parted}}
        for clause, members in (parts | {DOCUMENTED: ordinary}).items():
            self._claim(clause, "getDraft").shows(read, members)
        self._claim_not_lost(read, document, parts.get(EXACT, {}))

    def _claim_not_lost(self, read: Exchange, document: dict[str, Any], members: Mapping[str, Any]) -> None:
        """Claim that something comes back of each member with words: a text may be cleaned, but not lost."""
        copies = readers.copies(read.answer, {"lastName": document["lastName"]})
        worded = [name for name, value in members.items() if any(map(_WORDS.match, _texts_in(value)))]
        lost = [name for name in worded if not any(_texts_in(copy.get(name)) for copy in copies)]
        if copies and worded:
            expected, seen = "something of each text that was saved", f"nothing of {', '.join(lost)}"
            self._claim(DOCUMENTED, "getDraft").holds(not lost, read, expected=expected, seen=seen)

    def _claim_replaced(
        self, sent: Exchange, read: Exchange, document: dict[str, Any], before: Sequence[dict[str, Any]]
    ) -> None:
        others = [each for each in before if not readers.includes(document, readers.content_of(each))]
        if others:
            # Two contents may differ only in parts that no MUST protects; an answer may also show earlier versions.
            kept = {name: value for name, value in document.items() if name not in {*_TEXTS[EXACT], _EXTRA}}
            current = readers.holds_document(usable(read), kept)
            stale = not current and any(readers.holds_document(read.answer, each) for each in others)
            updates, expected = self._claim(_UPDATES, "getDraft"), "the later content"
            updates.holds(not stale, sent, read, expected=expected, seen="one from before")
        gone = [name for name in before[-1] if name not in document]
        left = readers.left_over(read.answer, {"lastName": document["lastName"]}, gone)
        expected, seen = f"no {', '.join(gone)} any more", f"still there: {sorted(left)}"
        self._claim(_REPLACES, "getDraft").holds(not left, sent, read, expected=expected, seen=seen)


def _texts_in(value: Any) -> list[str]:
    """The texts in a member's value that are not blank."""
    return [text for text in readers.values(value) if isinstance(text, str) and text.strip()]


def successions() -> SearchStrategy[tuple[Content, ...]]:
    """One to three contents to save one after another under one uid."""
    return st.lists(drawn_content(), min_size=1, max_size=3).map(tuple)


#: File types that services treat differently: as text, data, pictures or plain bytes.
KINDS: Final = (".txt", ".json", ".xml", ".csv", ".html", ".pdf", ".png", ".bin")
#: Usual block sizes in bytes.
_BLOCKS: Final = (1024, 4096, 8192, 65_536)


@dataclass(frozen=True)
class File:
    """A file: the extension of its name, and its bytes.

    Attributes:
        size: Length of the body, which holds every byte value and no two equal blocks.
        start, end: Bytes before and after the body.
    """

    kind: str
    start: bytes = b""
    size: int = 0
    end: bytes = b""

    @property
    def content(self) -> bytes:
        """All its bytes."""
        return self.start + contents.content(self.size, seed=sum(self.kind.encode())) + self.end


def files() -> SearchStrategy[File]:
    """Files of any type: any bytes around a body that is empty or within one byte of a block size."""
    edges = st.builds(int.__add__, st.sampled_from(_BLOCKS), st.integers(-1, 1))
    start = st.one_of(st.sampled_from((b"", contents.MARK)), st.binary(max_size=60))
    end = st.one_of(st.sampled_from((b"", b" ", b"\n", b"\r\n", b"\0", b"\x1a")), st.binary(max_size=20))
    return st.builds(File, st.sampled_from(KINDS), start, st.one_of(st.just(0), edges), end)


#: Files that services may cut, unpack or rewrite; one has an extension in capitals.
_PLAIN: Final = {
    "one null": File(".TXT", b"before\0behind\n\0\0"),
    "data": File(".json", b'{ "b" : 1.0,\r\n  "a" : [ 2 ] }\n'),
    "markup": File(".xml", b"<?xml version='1.0'?>\n<a  b = 'c' ></a>\n"),
    "packed": File(".gz", gzip.compress(b"packed\n", mtime=0)),
}
#: One file of each type with everything fragile: byte order mark, line ends, nulls, invalid text, white space at its
#: end, and more bytes than are read at once: whole blocks of any size, a byte more, or a byte less.
FIRST: Final = _PLAIN | {
    kind: File(
        kind,
        contents.START,
        2 * max(_BLOCKS) + number % 3 - 1 - len(contents.START) - len(contents.END),
        contents.END,
    )
    for number, kind in enumerate(KINDS, start=1)
}


def many_files(world: World, number: int) -> dict[str, bytes]:
    """Names and contents of small files: with all fragile bytes if the service accepts one, else plain texts."""
    rich = [File(".bin", contents.START, _BLOCKS[1] + at, contents.END).content for at in range(number)]
    if taken(upload(world.author, world.document(), "probe.bin", rich[0])):
        return {f"{at}.bin": content for at, content in enumerate(rich)}
    return {f"{at}.txt": f"file {at}\n".encode() for at in range(number)}


class DrawnFiles:
    """Attaches drawn files to a shared document."""

    def __init__(self, world: World, expect: Expect) -> None:
        self._world = world
        self._uid = document_for_uploads(world)
        self._claim = expect

    def claim_comes_back(self, file: File) -> None:
        """Claim that an accepted file comes back as it was sent; the document does not say which types are accepted."""
        name, content = f"{self._world.fresh.uid()}-Report-B{file.kind}", file.content
        created = upload(self._world.author, self._uid, name, content)
        if not taken(created):
            return
        made = self._attached(created, name, content)
        claim_same_bytes(self._claim("attachment-download-same", "getAttachment"), self._world, made)

    def _attached(self, created: Exchange, name: str, content: bytes) -> Attachment:
        """The file under its name; if it is not found, claim that it is not stored under the name in lower case."""
        kept = self._claim("attachment-name-kept", "attachmentExists")
        try:
            made = found(self._world.author, Attachment(self._uid, 0, name, content), created, len(content))
        except Blocked:
            small = attach(self._world.author, self._uid, name.lower(), content)
            kept.holds(False, created, expected=f"the file under {name}", seen=f"one under {small.filename}")
            raise
        kept.holds(True, created, expected=f"the file under {name}", seen="it is there")
        return made
