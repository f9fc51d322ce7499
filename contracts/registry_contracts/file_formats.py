"""File formats: each JSON file of ours is declared once, as a type; TOML files keep the line of everything.

A declaration is a `Format` (closed: a member that it does not name is a mistake), an `OpenFormat` (later versions may
add members) or a dataclass; `msgspec` checks data against it and makes its JSON Schema. Files are read, written and
published through it. TOML files are what people write (settings, consumers, deviations): every message about one names
file and line, so that a person can act on it.
"""

from __future__ import annotations

import ast
import errno
import gzip
import json
import os
import re
import tomllib
import zlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from inspect import cleandoc
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, TypeVar

import msgspec
from msgspec import Meta

from registry_contracts.errors import SuiteError, UsageError, suggestion
from registry_contracts.safe_text import json_text

Shape = TypeVar("Shape")

Name = Annotated[str, Meta(min_length=1)]
#: Numbers beyond these are none that anything was counted or measured to.
Count = Annotated[int, Meta(ge=0, le=2**53)]
Seconds = Annotated[float, Meta(ge=0, le=1e9)]
#: Texts of which none stands twice; the order of a list that people wrote is kept.
Names = Annotated[tuple[Name, ...], Meta(extra_json_schema={"uniqueItems": True})]
#: The end of a text in a pattern; `$` would let a line feed stand behind it.
_END: Final = r"(?![\s\S])"
_MOMENT: Final = (
    r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]+)?"
    rf"([Zz]|[+-][0-2][0-9]:[0-5][0-9]){_END}"
)
#: A moment with its offset from UTC (RFC 3339), kept as the text it is.
Moment = Annotated[str, Meta(pattern=_MOMENT, extra_json_schema={"format": "date-time"})]
#: Numbers of a clock are seeds, too.
LARGEST_SEED: Final = 2**63 - 1
Seed = Annotated[int, Meta(ge=0, le=LARGEST_SEED)] | None
_UNSEEN: Final = r"\x00-\x1f\x7f-\x9f\u2028\u2029"
_FILE_NAME: Final = rf"^[^/\\{_UNSEEN}]+{_END}"
#: A name that becomes part of a path: no separators, nothing that cannot be seen.
FileName = Annotated[str, Meta(pattern=_FILE_NAME)]
_ADDRESS: Final = rf"^(?:https?://[^\s{_UNSEEN}]+)?{_END}"
#: The address of a target; empty where it is not known.
Address = Annotated[str, Meta(pattern=_ADDRESS)]


def one_of(*words: str) -> Meta:
    """Return the constraint that a text is one of some words."""
    return Meta(pattern=f"^(?:{'|'.join(words)}){_END}", extra_json_schema={"enum": [*words]})


#: How a run can end: its verdict in words, and the exit code that says the same.
EXIT_CODES: Final[Mapping[str, int]] = MappingProxyType(
    {"pass": 0, "fail": 1, "interrupted": 2, "error": 3, "usage": 4, "nothing tested": 5, "inconclusive": 6}
)
RunWord = Annotated[str, one_of(*EXIT_CODES)]
RunExitCode = Annotated[int, Meta(extra_json_schema={"enum": sorted(EXIT_CODES.values())})]
Level = Annotated[str, one_of("must", "should", "silent")]


def check_moment(text: str) -> None:
    """Refuse a moment that no calendar has.

    Raises:
        ValueError: it is one.
    """
    try:
        datetime.fromisoformat(text).astimezone(UTC)
    except OverflowError:
        raise ValueError("no calendar has this day") from None


def same_outcome(verdict: str, exit_code: int) -> None:
    """Refuse a verdict and an exit code that do not say the same.

    Raises:
        ValueError: they do not.
    """
    if EXIT_CODES.get(verdict) != exit_code:
        raise ValueError(f"verdict '{verdict}' and exit code {exit_code} do not say the same")


_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_PATTERN: Final = re.compile(r"^Expected `str` matching regex (?P<quoted>.*)$", re.DOTALL)
_MISSING: Final = re.compile("^Object missing required field")
_PLACE: Final = re.compile(r"^(?P<why>.*?) - at (?P<place>`.*)$", re.DOTALL)


class Format(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A closed declaration; `__post_init__` checks what types cannot say."""


class OpenFormat(msgspec.Struct, frozen=True):
    """A declaration of a file whose later versions may add members."""


#: What nests deeper is read by no program that calls itself for each level.
_DEEPEST: Final = 200
#: Reading a longer number takes time out of all proportion.
_MOST_DIGITS: Final = 4000


def whole_number(digits: str) -> int | float:
    """Return a whole number of JSON; one of thousands of digits is infinite, as one with an exponent beyond all is."""
    return int(digits) if len(digits) <= _MOST_DIGITS else float(digits)


def json_value(text: str | bytes) -> Any:
    """Return the JSON value of a text from outside, numbers of any length included.

    Raises:
        ValueError: it is no JSON.
        RecursionError: it nests too deep to be read.
    """
    return json.loads(text, parse_int=whole_number)


def parse(text: str | bytes, shown: str) -> Any:
    """Return the JSON value of a text; `shown` names where it stands in messages.

    Raises:
        UsageError: it is no JSON, or nests too deep to be read.
    """
    try:
        value = json.loads(text, parse_constant=_no_constant, parse_int=whole_number)
        deep = _nests_deep(value)
    except RecursionError:
        deep = True
    except ValueError as error:
        raise UsageError(f"{shown}: is not JSON: {error}") from None
    if deep:
        raise UsageError(f"{shown}: nests too deep")
    return value


def _nests_deep(value: Any) -> bool:
    level = [value]
    for _ in range(_DEEPEST):
        level = [part for each in level for part in _parts(each)]
        if not level:
            return False
    return True


def _parts(value: Any) -> Collection[Any]:
    """What stands in a list or an object of JSON; nothing stands in a scalar."""
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def convert(value: Any, shape: type[Shape], shown: str) -> Shape:
    """Return a JSON value as its declaration.

    Raises:
        UsageError: it does not fit; one line with `shown`, the place in it and what stands there.
    """
    try:
        return msgspec.convert(value, shape)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise UsageError(f"{shown}: {mismatch(error)}") from None


def mismatch(error: Exception) -> str:
    """Say why data does not fit its declaration, the place first: `cells.x: Expected int, got str`."""
    match = _PLACE.match(str(error))
    why, place = (match["why"], match["place"]) if match else (str(error), "")
    if pattern := _PATTERN.search(why):
        why = _worded(ast.literal_eval(pattern["quoted"]))
    why = _MISSING.sub("lacks", why).replace("`", "")
    place = place.replace("`", "").removeprefix("$").removeprefix(".")
    return f"{place}: {why}" if place else why


def _worded(pattern: str) -> str:
    if pattern == _MOMENT:
        return "not a moment (ISO 8601, with its offset from UTC)"
    if pattern == _FILE_NAME:
        return "not a name (it holds a slash, a backslash or what cannot be seen)"
    if pattern == _ADDRESS:
        return "not an http or https address"
    words = re.fullmatch(r"\^\(\?:(.*)\)" + re.escape(_END), pattern)
    return f"Expected one of {words[1].replace('|', ', ')}" if words else f"Expected text like {pattern}"


#: How the name of a file ends that is packed by gzip.
PACKED: Final = ".gz"
#: Bytes that a file may hold, unpacked; the traffic of a nightly run takes some hundred million.
LARGEST: Final = 2_000_000_000


def is_file(path: Path) -> bool:
    """Tell whether a path is a regular file; a pipe or device is not, it would be read without end."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        # No path at all: too long for the system, a zero byte, a folder that may not be entered.
        return False


def own_folder(folder: Path) -> Path:
    """Return the folder of a kept run, which may come from another machine: no link in it leads out of it.

    Raises:
        UsageError: one does; reading or writing it would reach other files.
    """
    root = os.path.realpath(folder)
    for place, folders, files in os.walk(root):
        for path in (Path(place, name) for name in (*folders, *files)):
            if path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(root):
                raise UsageError(f"{path}: is a link that leads out of the run's folder; take it away")
    return folder


def read_bytes(path: Path, largest: int = LARGEST) -> bytes:
    """Return the content of a file of any origin; one whose name ends with `.gz` is unpacked.

    Args:
        largest: Bytes that it may hold, unpacked.

    Raises:
        FileNotFoundError: there is none.
        OSError: it cannot be read or unpacked, is too large, or is a pipe or a device, which would be read without end.
    """
    if path.exists() and not is_file(path):
        raise OSError(errno.EINVAL, "it is no regular file")
    if path.stat().st_size > largest:
        raise OSError(errno.EFBIG, f"it holds more than {largest:,} bytes")
    return _unpacked(path, largest) if path.name.lower().endswith(PACKED) else path.read_bytes()


def _unpacked(path: Path, largest: int) -> bytes:
    try:
        with gzip.open(path) as file:
            content = file.read(largest + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise OSError(errno.EINVAL, f"its packed bytes are damaged ({error})") from None
    if len(content) > largest:
        raise OSError(errno.EFBIG, f"it unpacks to more than {largest:,} bytes")
    return content


def pack_file(path: Path) -> Path:
    """Replace a file by one of the same name and `.gz` that holds it compressed, and return that one."""
    packed = path.with_name(path.name + PACKED)
    # Without a moment and a name in it, the same content is the same file.
    packed.write_bytes(gzip.compress(path.read_bytes(), compresslevel=6, mtime=0))
    path.unlink()
    return packed


def read_file(path: Path, shape: type[Shape]) -> Shape:
    """Read a JSON file.

    Raises:
        FileNotFoundError: there is none.
        UsageError: it cannot be read, is no JSON, or does not fit; one line with its path.
    """
    try:
        content = read_bytes(path)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    return convert(parse(content, str(path)), shape, str(path))


def plain(value: Any) -> Any:
    """Return a declared value as JSON's own kinds; members stand in the order of their declaration."""
    return msgspec.to_builtins(value)


def checked(value: Any, shape: type, name: str) -> Any:
    """Return a declared value as plain data that can be read as it was declared; `name` is the file's, for the message.

    Raises:
        SuiteError: it does not fit: a mistake of the suite.
    """
    content = plain(value)
    try:
        msgspec.convert(content, shape)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise SuiteError(f"{name} does not fit its declaration: {mismatch(error)}") from None
    return content


def write_file(path: Path, value: Any, shape: type) -> Path:
    """Write a declared value as a JSON file for people and machines, and return its path.

    Raises:
        SuiteError: it does not fit its declaration.
    """
    content = checked(value, shape, path.name)
    path.write_text(json_text(content, indent=2) + "\n", "utf-8")
    return path


def schema_of(title: str, shape: Any) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a declared file, as far as types say what it holds."""
    (top,), parts = msgspec.json.schema_components([shape], ref_template="#/$defs/{name}")
    for part in parts.values():
        # Python 3.13 takes the indentation out of docstrings, earlier ones do not.
        part["description"] = cleandoc(part["description"])
    return {"$schema": _DIALECT, "title": title, **top, "$defs": dict(sorted(parts.items()))}


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")


#: Bytes that a file which people write may hold; a terabyte without content takes no room on a disk.
_LARGEST_TOML: Final = 64 * 1024**2
#: Where something stands: names of tables and keys, numbers of entries in a list of tables, outermost first.
Keys = tuple[str | int, ...]
#: Members of a declaration that say where an entry stands, and are no keys of it.
_OF_THE_ENTRY: Final = ("file", "line")


@dataclass(frozen=True)
class TomlFile:
    """One TOML file, read and parsed.

    Args:
        path: Where it was read; paths inside it are relative to its folder.
        shown: The same path as messages show it.
        text: Its content, with plain line feeds.
        tables: The parsed content.
        guide: The document that a message about a value of the wrong kind names.
    """

    path: Path
    shown: str
    text: str
    tables: dict[str, Any]
    guide: str

    def read(self, keys: Keys, shape: type[Shape], table: Mapping[str, Any] | None = None) -> Shape:
        """Return a table, by default the one at `keys` or an empty one, as what declares it.

        Raises:
            UsageError: it is no table, or a key or a value does not fit; one line that never holds the value.
        """
        table = self.read_table(*keys) if table is None else table
        declared: Any = msgspec.inspect.type_info(shape)
        names = [each.encode_name for each in declared.fields if each.encode_name not in _OF_THE_ENTRY]
        self.refuse_unknown(keys, table, names)
        return self.value(keys, table, shape)

    def value(self, keys: Keys, value: Any, shape: type[Shape]) -> Shape:
        """Return the value at `keys` as its declaration.

        Raises:
            UsageError: it does not fit.
        """
        try:
            return msgspec.convert(value, shape, dec_hook=_made_of_text)
        except (msgspec.ValidationError, UnicodeEncodeError) as error:
            at = _PLACE.match(str(error))
            # The first step below has a line of its own.
            name = re.split(r"[.\[`]", at["place"].removeprefix("`$").removeprefix("."))[0] if at else ""
            words = kinds_in_words(shape).get(name)
            why = f"{name or keys[-1]} must be {words}" if words else mismatch(error)
            raise self.fault((*keys, name), f"{why}; see {self.guide}") from None

    def read_table(self, *keys: str | int) -> dict[str, Any]:
        """Return the table at `keys`, empty where there is none.

        Raises:
            UsageError: something else stands there.
        """
        table: dict[str, Any] = self.tables
        for number, key in enumerate(keys, start=1):
            table = table.get(str(key), {})
            if not isinstance(table, dict):
                name = ".".join(map(str, keys[:number]))
                raise self.fault(keys[:number], f"{name} must be a table; write [{name}] and keys below it")
        return table

    @cached_property
    def _lines(self) -> Mapping[Keys, int]:
        """The line, counted from 1, in which each key stands first."""
        lines: dict[Keys, int] = {}
        above: Keys = ()
        for number, line in enumerate(self.text.split("\n"), start=1):
            header = line.lstrip().startswith("[")
            try:
                parsed = tomllib.loads(line if header else f"{line.partition('=')[0]} = 0")
            except tomllib.TOMLDecodeError:
                continue  # a part of a value
            keys, value = _only_keys(parsed)
            if value == [{}]:
                keys = (*keys, sum(place[:-1] == keys for place in lines))
            above = keys if header else above
            place = keys if header else (*above, *keys)
            for length in range(1, len(place) + 1):
                lines.setdefault(place[:length], number)
        return lines

    def line(self, keys: Keys, word: str | None = None) -> int:
        """Return the line of a key, or of a word in its value; of what it stands in when the file lacks the key."""
        known = (keys[:length] for length in range(len(keys), 0, -1))
        first = next((self._lines[place] for place in known if place in self._lines), 1)
        end = min((line for line in self._lines.values() if line > first), default=None)
        lines = self.text.split("\n")[first - 1 : end and end - 1]
        quoted = (f'"{word}"', f"'{word}'")
        hits = (number for number, line in enumerate(lines, first) if any(text in line for text in quoted))
        return next(hits, first) if word is not None else first

    def fault(self, keys: Keys, message: str, word: str | None = None) -> UsageError:
        """Return the error about what stands at `keys`: file, line, then `message`."""
        return UsageError(f"{self.shown}:{self.line(keys, word)}: {message}")

    def refuse_unknown(self, keys: Keys, table: Mapping[str, Any], known: Collection[str]) -> None:
        """Refuse a table with a key that means nothing.

        Raises:
            UsageError: the first such key, with the nearest known one.
        """
        for key in table:
            if key not in known:
                raise self.unknown((*keys, key), suggestion(key, known))

    def unknown(self, keys: Keys, advice: str) -> UsageError:
        """Return the error about a key that means nothing where it stands."""
        names = [name for name in keys[:-1] if isinstance(name, str)]
        place = f" in [{'.'.join(names)}]" if names else ""
        return self.fault(keys, f"unknown key {keys[-1]!r}{place}; {advice}")


def kinds_in_words(shape: Any) -> dict[str, str]:
    """Return the description of each member's type by its name; of a type without members its own, without name."""
    declared: Any = msgspec.inspect.type_info(shape)
    types = {each.encode_name: each.type for each in getattr(declared, "fields", ())} or {"": declared}
    kinds = {name: getattr(kind, "types", (kind,)) for name, kind in types.items()}
    described = {
        name: [each for each in parts if isinstance(each, msgspec.inspect.Metadata)]
        for name, parts in kinds.items()
    }
    return {
        name: str((parts[0].extra_json_schema or {}).get("description", ""))
        for name, parts in described.items()
        if parts
    }


def _made_of_text(kind: type, value: Any) -> Any:
    """Make a value of a type that TOML does not know, such as a path."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError("Expected text")
    return kind(value)


def _only_keys(parsed: Mapping[str, Any]) -> tuple[Keys, Any]:
    """The names in a table that holds one value, outermost first, and that value."""
    keys: Keys = ()
    value: Any = parsed
    while isinstance(value, Mapping) and value:
        ((key, value),) = value.items()
        keys = (*keys, key)
    return keys, value


def read_toml_file(path: Path, shown: str, guide: str = "docs/live.md") -> TomlFile:
    """Read and parse a TOML file; messages call it `shown`, and name a document as their `guide`.

    Raises:
        UsageError: it is no readable file, not UTF-8 or not TOML; one line that names the place.
    """
    text = read_text(path, shown)
    try:
        return TomlFile(path, shown, text, tomllib.loads(text), guide)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(_toml_fault(shown, text, str(error))) from None
    except (RecursionError, ValueError):
        # Valid grammar that the reader cannot hold: thousands of nested brackets, or of digits.
        raise UsageError(f"{shown}: too deep or too long to read as TOML; shorten the values") from None


def read_text(path: Path, shown: str) -> str:
    """Return the content of a UTF-8 file, with or without byte order mark, with plain line feeds.

    Raises:
        UsageError: not there, a folder, a device, not readable, or not UTF-8.

    """
    if not is_file(path):
        raise UsageError(f"{shown}: is no file that can be read; name the settings file itself")
    try:
        raw = read_bytes(path, _LARGEST_TOML)
        return raw.decode("utf-8-sig").replace("\r\n", "\n")
    except OSError as error:
        raise UsageError(f"{shown}: cannot be read: {error.strerror}; check its permissions") from None
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{shown}:{line}: is not UTF-8 text; save the file as UTF-8") from None


def _toml_fault(shown: str, text: str, message: str) -> str:
    what, _, place = message.rpartition(" (at ")
    place = place.rstrip(")")
    if place.startswith("line "):
        line, _, column = place.removeprefix("line ").partition(", column ")
        return f"{shown}:{line}: is not TOML at column {column}: {what}; correct this line"
    return f"{shown}:{text.count(chr(10)) + 1}: is not TOML at the end of the file: {what}; complete the line"
