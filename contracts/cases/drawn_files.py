"""Files that Hypothesis draws, by their kind and their bytes, and claims that those which are taken come back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from contracts.cases import contents
from contracts.cases.arrangement import Arrangement, Attachment, attach, found, upload
from contracts.cases.attachments import document_for_uploads, downloads
from contracts.checks.claims import Claims
from contracts.checks.outcomes import Blocked, usable
from contracts.exchanges.exchange import Exchange
from contracts.session.actor import Actor
from contracts.session.namespace import Namespace

#: Kinds that services store in ways of their own: as text, as data, as pictures, or as they are.
KINDS: Final = (".txt", ".json", ".xml", ".csv", ".html", ".pdf", ".png", ".bin")
#: Where services cut files into blocks, in bytes.
_BLOCKS: Final = (1024, 4096, 8192, 65_536)


@dataclass(frozen=True)
class File:
    """A file: the ending of its name, and bytes around a body.

    Attributes:
        size: Bytes of a body in which every value comes up and no two blocks are the same.
        start, end: What stands around it.
    """

    kind: str
    start: bytes = b""
    size: int = 0
    end: bytes = b""

    @property
    def content(self) -> bytes:
        """All its bytes."""
        return self.start + contents.content(self.size, seed=len(self.kind)) + self.end


def files() -> SearchStrategy[File]:
    """Files of any kind: small ones of any bytes, and such as end at the edge of a block."""
    edges = st.builds(int.__add__, st.sampled_from(_BLOCKS), st.integers(-1, 1))
    start = st.one_of(st.sampled_from((b"", contents.MARK)), st.binary(max_size=60))
    end = st.one_of(st.sampled_from((b"", b" ", b"\n", b"\r\n", b"\0", b"\x1a")), st.binary(max_size=20))
    return st.builds(File, st.sampled_from(KINDS), start, st.one_of(st.just(0), edges), end)


_START: Final = contents.MARK + b"one\r\ntwo\nthree\rfour\0\xff\xfe{}<p>;\n"
_END: Final = b"\0\n end \r\n\n "
#: Files that are taken for text or for data, and cut or written anew.
_PLAIN: Final = {
    "one null": File(".txt", b"before\0behind\n"),
    "data": File(".json", b'{ "b" : 1.0,\r\n  "a" : [ 2 ] }\n'),
    "markup": File(".xml", b"<?xml version='1.0'?>\n<a  b = 'c' ></a>\n"),
}
#: One file of each kind with everything in it that is lost anywhere: a mark, line ends, nulls, invalid text, white
#: space at its end, and more bytes than are read at once: whole blocks of any size, a byte more, or a byte less.
FIRST: Final = _PLAIN | {
    kind: File(kind, _START, 2 * max(_BLOCKS) + number % 3 - 1 - len(_START) - len(_END), _END)
    for number, kind in enumerate(KINDS, start=1)
}


class DrawnFiles:
    """Attaches drawn files to a shared document."""

    def __init__(self, actor: Actor, arrange: Arrangement, fresh: Namespace, claim: Claims) -> None:
        self._actor = actor
        self._uid = document_for_uploads(arrange, actor)
        self._fresh = fresh
        self._claim = claim

    def comes_back(self, file: File) -> None:
        """Claim that a file which was taken comes back as it was sent; whether every kind is taken is not shown.

        Raises:
            Contradiction: a must was contradicted.
            Blocked: it is not found again, nor is one of another name.
        """
        name, content = f"{self._fresh.uid()}-Report-B{file.kind}", file.content
        created = upload(self._actor, self._uid, name, content)
        if usable(created).refusal:
            return
        made = self._attached(created, name, content)
        downloads(self._claim("attachment-download-same", "getAttachment"), self._actor, made)

    def _attached(self, created: Exchange, name: str, content: bytes) -> Attachment:
        """The file under its name; where it is not found, a claim that files in small letters are not either."""
        kept = self._claim("attachment-name-kept", "attachmentExists")
        try:
            made = found(self._actor, Attachment(self._uid, 0, name, content), created, len(content))
        except Blocked:
            small = attach(self._actor, self._uid, f"{self._fresh.uid()}.txt", b"small letters\n")
            kept.holds(False, created, expected=f"the file under {name}", seen=f"one under {small.filename}")
            raise
        kept.holds(True, created, expected=f"the file under {name}", seen="it is there")
        return made
