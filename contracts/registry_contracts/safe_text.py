"""Shortens long texts, and makes text from outside safe for terminals, logs and files.

Every package may import this module; it imports none of them.
"""

from __future__ import annotations

import io
import json
import math
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, TextIO


def cut(text: str, most: int) -> str:
    """Return a text of at most `most` characters; one that was longer ends in `…`."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


# Control characters except tab and newline, lone surrogates, marks of direction (which reorder text), other line ends,
# and the two characters that XML forbids.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
# Beginnings of commands for job runners: at the beginning of a line (GitHub), or anywhere in it (Azure).
_RUNNER_COMMAND = re.compile(r"^(\s*):(?=:)|#(?=#(?:vso)?\[)", re.MULTILINE)
# Colours and weights, which our own lines use; not styles that hide text.
_STYLE = re.compile(r"(\x1b\[(?:(?:0?[0-47]|[2-4]\d|9\d|10\d)(?:;(?=\d)|(?=m)))*m)")
_BREAK = re.compile(r"\r?\n(?! {4})")
_SURROGATE = re.compile("[\ud800-\udfff]")
_BACKTICKS = re.compile("`+")


def printable(text: str) -> str:
    r"""Return the text with every invisible character as its escape, such as `\x1b`."""
    # Most texts are printable, and `isprintable` is faster than the pattern.
    return text if text.isprintable() else _UNPRINTABLE.sub(_escape, text.replace("\r\n", "\n"))


def displayed(text: str) -> str:
    r"""Return text that is safe for a terminal and for the log of a job: only colours keep their effect.

    Every line of output passes through here. Other control characters become JSON escapes (`\u001b`), so that JSON in
    the output stays valid.
    """
    pieces = _STYLE.split(text.replace("\r\n", "\n"))
    pieces[::2] = [_UNPRINTABLE.sub(_json_escape, piece) for piece in pieces[::2]]
    return _RUNNER_COMMAND.sub(_without_command, "".join(pieces))


class SafeOutput(io.TextIOWrapper):
    """Standard output or error that passes all text through `displayed`.

    If its reader stops, as `| head` does, further output is discarded and the command continues.

    Args:
        stream: The underlying stream.

    Attributes:
        expendable: Other write errors, such as a full disk, also discard the output; otherwise they are raised.
    """

    expendable = False

    def __init__(self, stream: TextIO) -> None:
        super().__init__(
            stream.buffer,
            encoding=stream.encoding,
            errors="backslashreplace",
            line_buffering=True,
            write_through=True,
        )

    def write(self, text: str) -> int:
        """Write a text, made safe."""
        try:
            super().write(displayed(text))
        except OSError as error:
            if not (self.expendable or isinstance(error, BrokenPipeError)):
                raise
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
        return len(text)

    def write_command(self, text: str) -> int:
        """Write a text unchanged, as a command for the runner of a job."""
        return super().write(text)


def tell_runner(stream: TextIO, command: str) -> None:
    """Write a command for the runner of a job; texts in it must already be escaped.

    Args:
        stream: Standard output.
        command: In one line.
    """
    write = stream.write_command if isinstance(stream, SafeOutput) else stream.write
    write(f"{printable(command)}\n")


def encodable(value: Any) -> Any:
    """Return a JSON value with lone surrogates replaced by their escapes, also in members and items."""
    if isinstance(value, str):
        return _SURROGATE.sub(_escape, value)
    if isinstance(value, Mapping):
        return {encodable(key): encodable(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [encodable(item) for item in value]
    return value


def finite(value: Any) -> Any:
    """Return a JSON value with infinite numbers and NaN, which JSON lacks, as texts."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {key: finite(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return value


def json_text(value: Any, indent: int | None = None) -> str:
    """Return a JSON value as text that can be encoded anywhere: lone surrogates become escapes."""
    write = json.JSONEncoder(indent=indent, ensure_ascii=False, allow_nan=False).encode
    try:
        text = write(value)
    except ValueError:
        text = write(finite(value))
    return _SURROGATE.sub(_escape, text)


def fenced(text: str, language: str = "") -> str:
    """Return a Markdown code block that no text can close from within."""
    longest = max((len(ticks) for ticks in _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{printable(text)}\n{fence}"


def plain_line(text: str, limit: int = 160) -> str:
    """Return a text on one line, at most `limit` characters, without control characters."""
    return cut(" ".join(printable(text).split()), limit)


#: Longest line with which a command ends in an error, in characters.
_LONGEST_COMPLAINT = 2000


def complaint(error: Exception | str) -> str:
    """Return the text of an error as the last line of a command."""
    return plain_line(str(error), _LONGEST_COMPLAINT)


def one_line(text: str) -> str:
    r"""Return a line with indented continuations; any other line break, which is from outside, becomes `\n`."""
    return _BREAK.sub(r"\\n", text)


def inline(text: str, limit: int = 300) -> str:
    """Return a text as one line of Markdown that is safe in a table cell, cut to `limit` characters."""
    return re.sub(r"([\\`*_\[\]<>|~#&])", r"\\\1", plain_line(text, limit))


#: Items of a list that a message names.
_NAMED = 3


def listed(items: Iterable[str], separator: str = ", ") -> str:
    """Return the first three items, and how many more there are."""
    names = list(items)
    more = len(names) - _NAMED
    return separator.join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def many(number: int, noun: str) -> str:
    """Return a number with its noun: `1 case`, `2,000 cases`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _escape(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")


def _json_escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def _without_command(match: re.Match[str]) -> str:
    return f"{match[1]}\\u003a" if match[0].endswith(":") else "\\u0023"
