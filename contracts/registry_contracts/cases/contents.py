"""Contents that services tend to corrupt: texts in many scripts, odd structures, files. Nothing here sends requests.

The interface document does not show the body of a draft. Claims are safe for text in the documented fields of a
contact record; everything else here is for observation.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from registry_contracts.cases.sample_records import is_worded
from registry_contracts.checks.outcomes import Untested, missing

#: Plain text in several scripts, by language code, all in composed form (NFC).
SCRIPTS: Final[dict[str, str]] = {
    "en": "Quotes \" ' `, slashes / \\, braces {} [] <=>, 100 % & $ref; -- # ? ~ |",
    "fr": "L’été à Noël : cœur, façade, où, naïveté, « Çà et là »",
    "es": "¿Qué tal, señor Muñoz? ¡Año nuevo!",
    "ar": "السجل المشترك للوثائق ١٢٣ (abc) نهاية",
    "zh": "文件登记处 𠜎𠮷 繁體與简体",
    "ru": "Съешь ещё этих мягких французских булок, да выпей чаю",
}
#: Characters beyond the basic plane: each is two units to UTF-16 and four bytes to UTF-8.
BEYOND_THE_BASIC_PLANE: Final = "\U0001d49c 𐍈 🌍 👩\u200d🔬 🇰🇪 𠀋 end"

#: A byte order mark in UTF-8.
MARK: Final = b"\xef\xbb\xbf"

#: Text that a service may normalise, by what would be lost.
DELICATE: Final[dict[str, str]] = {
    "decomposed": "e\u0301 and \u00e9, A\u030a and \u00c5, o\u0323\u0302, \ufb01 and fi, \u2126 and \u03a9",
    "edges": "  two spaces before and after  ",
    "lines": "one\r\ntwo\nthree\rfour\tfive",
    "markup": "<b>bold</b> &amp; &#233; <script>x</script> <!-- c -->",
    "invisible": "soft\u00adhyphen, zero\u200bwidth, mark\ufeffinside, \u202eturned\u202c, line\u2028end",
    "controls": "bell \x07 escape \x1b delete \x7f last \uffff",
}


def reworded(document: dict[str, Any]) -> dict[str, Any]:
    """The members of a document that hold text (plain or by language), each with a word added."""
    texts = {name: value for name, value in document.items() if name != "header"}
    plain = {name: f"{value} (draft)" for name, value in texts.items() if isinstance(value, str)}
    return plain | {
        name: {language: f"{text} (draft)" for language, text in value.items()}
        for name, value in texts.items()
        if is_worded(value)
    }


def nested(depth: int) -> Any:
    """Objects in objects, `depth` deep."""
    value: Any = "the bottom"
    for level in range(depth):
        value = {f"level{level}": value}
    return value


_BLOCK: Final = 64 * 1024

#: Unusual file names, by what they try; the document does not say whether they are allowed.
UNUSUAL_NAMES: Final[dict[str, str]] = {
    "script and length": "na\u00efve 文件 \U0001f30d" + "n" * 150 + ".txt",
    "spaces, dots, reserved": "100%25 & more.. +; it's #1?.tar.gz",
}


#: What services lose at the start and end of a file: byte order mark, line ends, nulls, invalid text, white space.
START: Final = MARK + b"one\r\ntwo\nthree\rfour\0\xff\xfe{}<p>;\n"
END: Final = b"\0\n end \r\n \n"


def content(size: int, seed: int = 0) -> bytes:
    """`size` bytes of all values; no two blocks and no two seeds are alike."""
    return b"".join(Chunks(size, seed))


class Chunks:
    """The same bytes in pieces, sent without Content-Length (chunked)."""

    def __init__(self, size: int, seed: int = 0) -> None:
        self._size = size
        self._seed = seed

    def __length_hint__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[bytes]:
        pattern = bytes(range(256)) * (_BLOCK // 256)
        for number in range(0, self._size, _BLOCK):
            block = struct.pack(">QQ", number, self._seed) + pattern
            yield block[: min(_BLOCK, self._size - number)]


class Announced(Chunks):
    """The same bytes in pieces, sent with Content-Length."""

    def __len__(self) -> int:
        return self._size

    @property
    def digest(self) -> str:
        """SHA-256 of the bytes, in hexadecimal digits."""
        checksum = hashlib.sha256()
        for block in self:
            checksum.update(block)
        return checksum.hexdigest()


def png(red: int, green: int, blue: int, width: int = 96, height: int = 64) -> bytes:
    """A valid PNG picture: a coloured frame around a white field."""
    colour, white = bytes((red, green, blue)), b"\xff\xff\xff"
    edge = b"\x00" + colour * width
    side = b"\x00" + colour * (width // 4) + white * (width - 2 * (width // 4)) + colour * (width // 4)
    rows = edge * (height // 4) + side * (height - 2 * (height // 4)) + edge * (height // 4)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in parts)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


#: Two pictures whose previews cannot be confused.
RED: Final = png(200, 16, 16)
BLUE: Final = png(16, 16, 200, width=64, height=96)


#: 1 GB is 10⁹ or 2³⁰ bytes: the document does not say which.
ONE_GIGABYTE: Final = (10**9, 2**30)
#: Larger files are sent in the profile `full` only.
LARGEST_EVERYDAY: Final = 64 * 1024**2


@dataclass(frozen=True)
class Limit:
    """Sizes around the limit for created attachments, in bytes.

    Attributes:
        within: Somewhat below it.
        exact: The limit itself if the settings name it; the document does not define a gigabyte.
        above: The smallest size above every reading of it.
    """

    within: int
    exact: int | None
    above: int


def upload_limit(configured: int | None, *, everything: bool) -> Limit:
    """The limit of a target.

    Args:
        configured: The setting, in bytes.
        everything: Whether a gigabyte may be sent.
    """
    if configured is None and not everything:
        raise missing("attachments.size_limit_bytes", ", and 1 GB is sent in the profile full only")
    if configured is not None and configured > LARGEST_EVERYDAY and not everything:
        raise Untested(f"a file of {configured} bytes is sent in the profile full only")
    low, high = (configured, configured) if configured is not None else ONE_GIGABYTE
    return Limit(low - low // 50, configured, high + 1)


def exactly(limit: Limit) -> int:
    """The limit to the byte."""
    if limit.exact is None:
        raise missing("attachments.size_limit_bytes", ", and 1 GB may mean two sizes")
    return limit.exact
