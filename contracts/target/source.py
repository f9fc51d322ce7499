"""A settings file as text and as tables, with the line of every key for messages a person can act on."""

import difflib
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contracts.errors import UsageError

Keys = tuple[str, ...]


@dataclass(frozen=True)
class SettingsFile:
    """One TOML file, read and parsed.

    Args:
        path: where it was read; paths inside it are relative to its folder.
        shown: the same path as messages show it.
        text: its content, with plain line feeds.
        tables: the parsed content.

    """

    path: Path
    shown: str
    text: str
    tables: dict[str, Any]

    def fault(self, keys: Keys, message: str) -> UsageError:
        """Return the error about the setting at `keys` (outermost first): file, line, then `message`."""
        return UsageError(f"{self.shown}:{line_of(self.text, keys)}: {message}")


def read_settings_file(path: Path, shown: str) -> SettingsFile:
    """Read and parse a settings file; messages call it `shown`.

    Raises:
        UsageError: it is no readable file, not UTF-8 or not TOML; one line that names the place.

    """
    text = read_text(path, shown)
    try:
        return SettingsFile(path, shown, text, tomllib.loads(text))
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
        raw = path.read_bytes()
        return raw.decode("utf-8-sig").replace("\r\n", "\n")
    except OSError as error:
        raise UsageError(f"{shown}: cannot be read: {error.strerror}; check its permissions") from None
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{shown}:{line}: is not UTF-8 text; save the file as UTF-8") from None


def is_file(path: Path) -> bool:
    """Tell whether a path is a regular file; a pipe or device is not, it would be read without end."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        # No path at all: too long for the system, a zero byte, a folder that may not be entered.
        return False


def line_of(text: str, keys: Keys) -> int:
    """Return the line, counted from 1, on which the setting at `keys` starts; 1 when it is not in the text.

    The standard reader keeps no positions, but it can be asked: a statement ends where the text up to there
    parses, so the setting starts right after the last good line before the one that brings it in.
    """
    lines = text.split("\n")
    start = 1
    for count in range(1, len(lines) + 1):
        try:
            tables = tomllib.loads("\n".join(lines[:count]))
        except tomllib.TOMLDecodeError:
            continue
        if _holds(tables, keys):
            return start
        start = count + 1
    return 1


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return a clause for a message: the near miss to `word` when there is one, else every known word."""
    names = list(known)
    lowered = {name.lower(): name for name in names}
    close = difflib.get_close_matches(word.strip().lower().replace("_", "-"), lowered, n=1, cutoff=0.6)
    close = close or difflib.get_close_matches(word.strip().lower(), lowered, n=1, cutoff=0.6)
    return f"did you mean '{lowered[close[0]]}'?" if close else f"known: {', '.join(names)}"


def _holds(tables: Any, keys: Keys) -> bool:
    for key in keys:
        if not isinstance(tables, dict) or key not in tables:
            return False
        tables = tables[key]
    return True


def _toml_fault(shown: str, text: str, message: str) -> str:
    what, _, place = message.rpartition(" (at ")
    place = place.rstrip(")")
    if place.startswith("line "):
        line, _, column = place.removeprefix("line ").partition(", column ")
        return f"{shown}:{line}: is not TOML at column {column}: {what}; correct this line"
    return f"{shown}:{text.count(chr(10)) + 1}: is not TOML at the end of the file: {what}; complete the line"
