"""TOML files that people write (settings, consumers, deviations), with the line of everything in them.

Every message about such a file names file and line, so that a person can act on it.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NoReturn

from contracts.errors import UsageError, suggestion
from contracts.file_formats import is_file, read_bytes

#: Bytes that a file which people write may hold; a terabyte without content takes no room on a disk.
_LARGEST: Final = 64 * 1024**2
#: A statement of several lines, a list or a long text, ends in a line with one of these.
_CLOSING = ("]", '"""', "'''")
#: Where something stands: names of tables and keys, numbers of entries in a list of tables, outermost first.
Keys = tuple[str | int, ...]


@dataclass(frozen=True)
class TomlFile:
    """One TOML file, read and parsed.

    Args:
        path: Where it was read; paths inside it are relative to its folder.
        shown: The same path as messages show it.
        text: Its content, with plain line feeds.
        tables: The parsed content.
    """

    path: Path
    shown: str
    text: str
    tables: dict[str, Any]

    @cached_property
    def _lines(self) -> Mapping[Keys, tuple[int, int]]:
        """First and last line, counted from 1, of the statement that brings a key in."""
        lines: dict[Keys, tuple[int, int]] = {}
        for keys, place in _keys_with_lines(self.text):
            lines.setdefault(keys, place)
        return lines

    def line(self, keys: Keys, word: str | None = None) -> int:
        """Return the line of a key, or of a word in its value; of what it stands in when the file lacks the key."""
        for length in range(len(keys), 0, -1):
            if keys[:length] in self._lines:
                first, last = self._lines[keys[:length]]
                return self._line_of_word(first, last, word)
        return 1

    def _line_of_word(self, first: int, last: int, word: str | None) -> int:
        lines = self.text.split("\n")[first - 1 : last]
        quoted = (f'"{word}"', f"'{word}'")
        found = (number for number, line in enumerate(lines, first) if any(text in line for text in quoted))
        return next(found, first) if word is not None else first

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

    def text_at(self, keys: Keys, value: Any, example: str) -> str:
        """Return a value that must be a text with something in it.

        Raises:
            UsageError: it is something else, or empty.
        """
        if not isinstance(value, str):
            self._wrong_kind(keys, value, "a text", f'write {_key(keys)} = "{example}"')
        if not value.strip():
            raise self.fault(keys, f'{keys[-1]} is empty; write {_key(keys)} = "{example}"')
        return value.strip()

    def texts_at(self, keys: Keys, value: Any, example: str) -> tuple[str, ...]:
        """Return a value that must be a list of distinct texts, at least one.

        Raises:
            UsageError: it is something else.
        """
        advice = f'write {_key(keys)} = ["{example}"]'
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self._wrong_kind(keys, value, "a list of texts", advice)
        if not value:
            raise self.fault(keys, f"{keys[-1]} is empty; {advice} or take the line out")
        for item, times in Counter(value).items():
            if times > 1:
                raise self.fault(keys, f"{keys[-1]} lists '{item}' twice; take the double out", item)
        return tuple(value)

    def day_at(self, keys: Keys, value: Any) -> date:
        """Return a value that must be a day.

        Raises:
            UsageError: it is something else.
        """
        if isinstance(value, datetime) or not isinstance(value, date):
            self._wrong_kind(keys, value, "a date", f"write {_key(keys)} = 2030-01-31, without quotes")
        return value

    def table_at(self, keys: Keys, value: Any) -> dict[str, Any]:
        """Return a value that must be a table.

        Raises:
            UsageError: it is something else.
        """
        if not isinstance(value, dict):
            self._wrong_kind(keys, value, "a table", f"write [{keys[-1]}] and keys below it")
        return value

    def _wrong_kind(self, keys: Keys, value: Any, kind: str, advice: str) -> NoReturn:
        raise self.fault(keys, f"{keys[-1]} must be {kind}, not {called(value)}; {advice}")


def called(value: Any) -> str:
    """Say what a TOML value is, in words."""
    if isinstance(value, list):
        odd = [item for item in value if not isinstance(item, str)]
        return f"a list with {called(odd[0])} in it" if odd else "a list"
    kinds = {bool: "true or false", str: "a text", int: "a number", float: "a number", dict: "a table"}
    moments = {datetime: "a date with a time", date: "a date", time: "a time"}
    return {**kinds, **moments}[type(value)]


def read_toml_file(path: Path, shown: str) -> TomlFile:
    """Read and parse a TOML file; messages call it `shown`.

    Raises:
        UsageError: it is no readable file, not UTF-8 or not TOML; one line that names the place.
    """
    text = read_text(path, shown)
    try:
        return TomlFile(path, shown, text, tomllib.loads(text))
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
        raw = read_bytes(path, _LARGEST)
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


def _keys_with_lines(text: str) -> Iterator[tuple[Keys, tuple[int, int]]]:
    """Yield every key with its lines: TOML is a row of statements, each of which parses alone."""
    above: Keys = ()
    entries: dict[Keys, int] = {}
    for first, last, chunk, parsed in _statements(text):
        header = chunk.lstrip().startswith("[")
        for keys, is_entry in _places(parsed):
            place = _inside(keys, entries) if header else (*above, *keys)
            if is_entry and header:
                yield keys, (first, last)
                place = (*keys, entries.get(keys, -1) + 1)
                entries[keys] = int(place[-1])
            if header:
                above = place
            yield place, (first, last)


def _inside(keys: Keys, entries: Mapping[Keys, int]) -> Keys:
    """Put the number of the entry in, where a header speaks of something inside the last one."""
    length = next((length for length in range(1, len(keys)) if keys[:length] in entries), 0)
    return (*keys[:length], entries[keys[:length]], *keys[length:]) if length else keys


def _statements(text: str) -> Iterator[tuple[int, int, str, dict[str, Any]]]:
    lines, start = text.split("\n"), 0
    for end in range(1, len(lines) + 1):
        if end - start > 1 and not any(mark in lines[end - 1] for mark in _CLOSING):
            continue  # a long list is not parsed anew with each of its lines
        chunk = "\n".join(lines[start:end])
        try:
            parsed = tomllib.loads(chunk)
        except tomllib.TOMLDecodeError:
            continue
        if parsed:
            yield start + 1, end, chunk, parsed
        start = end


def _places(parsed: Mapping[str, Any], above: Keys = ()) -> Iterator[tuple[Keys, bool]]:
    """Yield the keys of one statement, outer ones first, and whether each is an entry of a list of tables."""
    for key, value in parsed.items():
        keys = (*above, key)
        yield keys, value == [{}]
        if isinstance(value, dict):
            yield from _places(value, keys)


def _key(keys: Keys) -> str:
    """The key as it is written in the file."""
    name = str(keys[-1])
    return name if name.replace("-", "").replace("_", "").isalnum() else f'"{name}"'
