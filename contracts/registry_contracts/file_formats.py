"""File formats: declarations of our JSON files, and TOML files with line numbers for messages.

Each JSON file is declared once, as a type: a `Format` (unknown members are errors), an `OpenFormat` (later versions may
add members) or a dataclass. `msgspec` checks data against it and makes its JSON Schema. People write TOML files
(settings, consumers, deviations), so every message about one names file and line.
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
from typing import Annotated, Any, Final, TypeVar

import msgspec
from msgspec import Meta

from registry_contracts.errors import ExitCode, SuiteError, UsageError, suggestion
from registry_contracts.safe_text import json_text

Shape = TypeVar("Shape")

Name = Annotated[str, Meta(min_length=1)]
#: Counts and durations up to limits that no real value reaches.
Count = Annotated[int, Meta(ge=0, le=2**53)]
Seconds = Annotated[float, Meta(ge=0, le=1e9)]
#: Unique texts, in their order in the file.
Names = Annotated[tuple[Name, ...], Meta(extra_json_schema={"uniqueItems": True})]
#: The end of a text in a pattern; `$` would allow a line feed before the end.
_END: Final = r"(?![\s\S])"
_MOMENT: Final = (
    r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]+)?"
    rf"([Zz]|[+-][0-2][0-9]:[0-5][0-9]){_END}"
)
#: A moment with its offset from UTC (RFC 3339), as text.
Moment = Annotated[str, Meta(pattern=_MOMENT, extra_json_schema={"format": "date-time"})]
#: Large enough for clock values as seeds.
LARGEST_SEED: Final = 2**63 - 1
Seed = Annotated[int, Meta(ge=0, le=LARGEST_SEED)] | None
_UNSEEN: Final = r"\x00-\x1f\x7f-\x9f\u2028\u2029"
_FILE_NAME: Final = rf"^[^/\\{_UNSEEN}]+{_END}"
#: A name that becomes part of a path: no separators, no invisible characters.
FileName = Annotated[str, Meta(pattern=_FILE_NAME)]
_ADDRESS: Final = rf"^(?:https?://[^\s{_UNSEEN}]+)?{_END}"
#: The address of a target; empty where it is not known.
Address = Annotated[str, Meta(pattern=_ADDRESS)]


def one_of(*words: str) -> Meta:
    """Return the constraint that a text is one of `words`."""
    return Meta(pattern=f"^(?:{'|'.join(words)}){_END}", extra_json_schema={"enum": [*words]})


RunWord = Annotated[str, one_of(*(code.word for code in ExitCode))]
RunExitCode = Annotated[int, Meta(extra_json_schema={"enum": [int(code) for code in ExitCode]})]
Level = Annotated[str, one_of("must", "should", "silent")]


def check_moment(text: str) -> None:
    """Refuse an impossible moment.

    Raises:
        ValueError: no calendar has it.
    """
    try:
        datetime.fromisoformat(text).astimezone(UTC)
    except OverflowError:
        raise ValueError("no calendar has this day") from None


def same_outcome(verdict: str, exit_code: int) -> None:
    """Refuse a verdict and an exit code that do not match.

    Raises:
        ValueError: they do not match.
    """
    if verdict not in {code.word for code in ExitCode if code == exit_code}:
        raise ValueError(f"verdict '{verdict}' and exit code {exit_code} do not say the same")


_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_PATTERN: Final = re.compile(r"^Expected `str` matching regex (?P<quoted>.*)$", re.DOTALL)
_MISSING: Final = re.compile("^Object missing required field")
_PLACE: Final = re.compile(r"^(?P<why>.*?) - at (?P<place>`.*)$", re.DOTALL)


class Format(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A closed declaration; `__post_init__` checks what types cannot say."""


class OpenFormat(msgspec.Struct, frozen=True):
    """A declaration of a file whose later versions may add members."""


#: Deepest nesting, since readers are recursive.
_DEEPEST: Final = 200
#: Longest number that is read exactly, since longer ones take too much time.
_MOST_DIGITS: Final = 4000


def whole_number(digits: str) -> int | float:
    """Return an integer of JSON; one with thousands of digits becomes infinity."""
    return int(digits) if len(digits) <= _MOST_DIGITS else float(digits)


def json_value(text: str | bytes) -> Any:
    """Return the JSON value of a text from outside, with numbers of any length.

    Raises:
        ValueError: it is not JSON.
        RecursionError: it nests too deep.
    """
    return json.loads(text, parse_int=whole_number)


def parse(text: str | bytes, shown: str) -> Any:
    """Return the JSON value of a text; `shown` names its place in messages.

    Raises:
        UsageError: it is not JSON, or nests too deep.
    """
    try:
        value = json.loads(text, parse_constant=_no_constant, parse_int=whole_number)
        deep = nests_deeper(value, _DEEPEST)
    except RecursionError:
        deep = True
    except ValueError as error:
        raise UsageError(f"{shown}: is not JSON: {error}") from None
    if deep:
        raise UsageError(f"{shown}: nests too deep")
    return value


def nests_deeper(value: Any, levels: int) -> bool:
    """Tell whether a JSON value has values below so many levels."""
    level = [value]
    for _ in range(levels):
        level = [part for each in level for part in parts(each)]
        if not level:
            return False
    return True


def parts(value: Any) -> Collection[Any]:
    """The items of a list, or the values of an object; a scalar has none."""
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def convert(value: Any, shape: type[Shape], shown: str) -> Shape:
    """Return a JSON value as an object of its declared type.

    Raises:
        UsageError: it does not fit; one line with `shown`, the place in it and the reason.
    """
    try:
        return msgspec.convert(value, shape)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise UsageError(f"{shown}: {mismatch(error)}") from None


def mismatch(error: Exception) -> str:
    """Return why data does not fit its declaration, after the place: `cells.x: Expected int, got str`."""
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
        return "not a name (it holds a slash, a backslash or an invisible character)"
    if pattern == _ADDRESS:
        return "not an http or https address"
    words = re.fullmatch(r"\^\(\?:(.*)\)" + re.escape(_END), pattern)
    return f"Expected one of {words[1].replace('|', ', ')}" if words else f"Expected text like {pattern}"


#: Ending of the name of a gzip file.
PACKED: Final = ".gz"
#: Largest size of an unpacked file, in bytes; the traffic of a nightly run has some hundred million.
LARGEST: Final = 2_000_000_000


def is_file(path: Path) -> bool:
    """Tell whether a path is a regular file; a pipe or device, which may never end, is not."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        # Not a usable path: too long, with a zero byte, or in a folder without permission.
        return False


def own_folder(folder: Path) -> Path:
    """Return the folder of a kept run, which may come from another machine, after checking its links.

    Raises:
        UsageError: a link leads out of it, so that reading or writing would reach other files.
    """
    root = os.path.realpath(folder)
    for place, folders, files in os.walk(root):
        for path in (Path(place, name) for name in (*folders, *files)):
            if path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(root):
                raise UsageError(f"{path}: is a link that leads out of the run's folder; remove it")
    return folder


def read_bytes(path: Path, largest: int = LARGEST) -> bytes:
    """Return the content of a file of any origin; `.gz` files are unpacked.

    Args:
        largest: Largest unpacked size in bytes.

    Raises:
        FileNotFoundError: it does not exist.
        OSError: it cannot be read or unpacked, is too large, or is a pipe or a device.
    """
    if path.exists() and not is_file(path):
        raise OSError(errno.EINVAL, "it is not a regular file")
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
    """Replace a file by its gzip file, and return the path of that."""
    packed = path.with_name(path.name + PACKED)
    # Without time and name inside, the same content gives the same file.
    packed.write_bytes(gzip.compress(path.read_bytes(), compresslevel=6, mtime=0))
    path.unlink()
    return packed


def read_own(path: Path, advice: str = "") -> bytes:
    """Return the content of a file that the suite wrote.

    Args:
        advice: Completes the message "… is absent" where it does not exist.

    Raises:
        UsageError: it does not exist, or cannot be read; one line with its path.
    """
    try:
        return read_bytes(path)
    except FileNotFoundError:
        raise UsageError(f"{path} is absent{advice}") from None
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None


def read_file(path: Path, shape: type[Shape]) -> Shape:
    """Read a JSON file as an object of its declared type.

    Raises:
        UsageError: it does not exist, cannot be read, is not JSON, or does not fit; one line with its path.
    """
    return convert(parse(read_own(path), str(path)), shape, str(path))


def plain(value: Any) -> Any:
    """Return a declared value as plain JSON types, with members in the order of their declaration."""
    return msgspec.to_builtins(value)


def checked(value: Any, shape: type, name: str) -> Any:
    """Return a declared value as plain data, after checking it against its type; `name` is the file's, for the message.

    Raises:
        SuiteError: it does not fit, which is a mistake of the suite.
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
    """Return the JSON Schema (draft 2020-12) of a declared file, as far as types express its format."""
    (top,), parts = msgspec.json.schema_components([shape], ref_template="#/$defs/{name}")
    for part in parts.values():
        # Python before 3.13 leaves the indentation in docstrings.
        part["description"] = cleandoc(part["description"])
    return {"$schema": _DIALECT, "title": title, **top, "$defs": dict(sorted(parts.items()))}


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")


#: Largest size of a TOML file, in bytes; a sparse file can claim a terabyte.
_LARGEST_TOML: Final = 64 * 1024**2
#: A place in a file: names of tables and keys, numbers of entries in a list of tables, outermost first.
Keys = tuple[str | int, ...]
#: Members of a declaration that hold the place of an entry, and are not among its keys.
_OF_THE_ENTRY: Final = ("file", "line")


@dataclass(frozen=True)
class TomlFile:
    """One TOML file, read and parsed.

    Args:
        path: Its path; paths inside it are relative to its folder.
        shown: The path in messages.
        text: Its content, with plain line feeds.
        tables: The parsed content.
        guide: The document that messages about wrong values name.
    """

    path: Path
    shown: str
    text: str
    tables: dict[str, Any]
    guide: str

    def read(self, keys: Keys, shape: type[Shape], table: Mapping[str, Any] | None = None) -> Shape:
        """Return a table, by default the one at `keys` or an empty one, as an object of its declared type.

        Raises:
            UsageError: it is not a table, or a key or a value does not fit; one line that never quotes the value.
        """
        table = self.read_table(*keys) if table is None else table
        declared: Any = msgspec.inspect.type_info(shape)
        names = [each.encode_name for each in declared.fields if each.encode_name not in _OF_THE_ENTRY]
        self.refuse_unknown(keys, table, names)
        return self.value(keys, table, shape)

    def value(self, keys: Keys, value: Any, shape: type[Shape]) -> Shape:
        """Return the value at `keys` as an object of its declared type.

        Raises:
            UsageError: it does not fit.
        """
        try:
            return msgspec.convert(value, shape, dec_hook=_made_of_text)
        except (msgspec.ValidationError, UnicodeEncodeError) as error:
            at = _PLACE.match(str(error))
            # Only the first step of the place has its own line.
            name = re.split(r"[.\[`]", at["place"].removeprefix("`$").removeprefix("."))[0] if at else ""
            words = kinds_in_words(shape).get(name)
            why = f"{name or keys[-1]} must be {words}" if words else mismatch(error)
            raise self.fault((*keys, name), f"{why}; see {self.guide}") from None

    def read_table(self, *keys: str | int) -> dict[str, Any]:
        """Return the table at `keys`, or an empty one.

        Raises:
            UsageError: something else is there.
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
        """The first line of each key, counted from 1."""
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
        """Return the line of a key, or of a word in its value; if the file lacks the key, the line of its table."""
        known = (keys[:length] for length in range(len(keys), 0, -1))
        first = next((self._lines[place] for place in known if place in self._lines), 1)
        end = min((line for line in self._lines.values() if line > first), default=None)
        lines = self.text.split("\n")[first - 1 : end and end - 1]
        quoted = (f'"{word}"', f"'{word}'")
        hits = (number for number, line in enumerate(lines, first) if any(text in line for text in quoted))
        return next(hits, first) if word is not None else first

    def fault(self, keys: Keys, message: str, word: str | None = None) -> UsageError:
        """Return an error about the place `keys`: file, line, then `message`."""
        return UsageError(f"{self.shown}:{self.line(keys, word)}: {message}")

    def refuse_unknown(self, keys: Keys, table: Mapping[str, Any], known: Collection[str]) -> None:
        """Refuse a table with an unknown key.

        Raises:
            UsageError: names the first unknown key, with the nearest known one.
        """
        for key in table:
            if key not in known:
                raise self.unknown((*keys, key), suggestion(key, known))

    def unknown(self, keys: Keys, advice: str) -> UsageError:
        """Return the error about an unknown key."""
        names = [name for name in keys[:-1] if isinstance(name, str)]
        place = f" in [{'.'.join(names)}]" if names else ""
        return self.fault(keys, f"unknown key {keys[-1]!r}{place}; {advice}")


def kinds_in_words(shape: Any) -> dict[str, str]:
    """Return the descriptions of members' types by name; for a type without members its own, under an empty name."""
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


def read_toml_file(path: Path, shown: str, guide: str = "docs/settings.md") -> TomlFile:
    """Read and parse a TOML file; messages name it as `shown`, and the document `guide`.

    Raises:
        UsageError: it is not readable, not UTF-8 or not TOML; one line that names the place.
    """
    text = read_text(path, shown)
    try:
        return TomlFile(path, shown, text, tomllib.loads(text), guide)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(_toml_fault(shown, text, str(error))) from None
    except (RecursionError, ValueError):
        # Valid TOML beyond the reader's limits: thousands of nested brackets, or of digits.
        raise UsageError(f"{shown}: too deep or too long to read as TOML; shorten the values") from None


def read_text(path: Path, shown: str) -> str:
    """Return the content of a UTF-8 file, with or without byte order mark, with plain line feeds.

    Raises:
        UsageError: it does not exist, is a folder or a device, is not readable, or not UTF-8.
    """
    if not is_file(path):
        raise UsageError(f"{shown}: is not a file that can be read; name the file itself")
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
