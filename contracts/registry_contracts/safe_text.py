"""Long texts made short, and text from outside made safe for terminals, logs and files.

It stands below all packages, those that may import no other included.
"""

from __future__ import annotations

import io
import json
import math
import os
import re
from collections.abc import Mapping
from typing import Any, TextIO


def cut(text: str, most: int) -> str:
    """Return a text of at most `most` characters; one that was longer ends in `…`."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


# Control characters but tab and newline, lone surrogates, marks of direction (which reorder what a reader sees), other
# ends of lines, and the two that no XML may hold.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
# What commands of job runners begin with: at the beginning of a line (GitHub), or anywhere in it (Azure).
_RUNNER_COMMAND = re.compile(r"^(\s*):(?=:)|#(?=#(?:vso)?\[)", re.MULTILINE)
# Colours and weights, as our own lines have; not those that hide what is written.
_STYLE = re.compile(r"(\x1b\[(?:(?:0?[0-47]|[2-4]\d|9\d|10\d)(?:;(?=\d)|(?=m)))*m)")
_BREAK = re.compile(r"\r?\n(?! {4})")
_SURROGATE = re.compile("[\ud800-\udfff]")
_BACKTICKS = re.compile("`+")


def printable(text: str) -> str:
    r"""Return the text with every character that could not be seen written as its escape, like `\x1b`."""
    # Most texts hold nothing of the kind, and Python knows that faster than the pattern.
    return text if text.isprintable() else _UNPRINTABLE.sub(_escape, text.replace("\r\n", "\n"))


def displayed(text: str) -> str:
    r"""Return what may be written to a terminal or to the log of a job: nothing in it is obeyed but colours.

    Every line of output passes through here. What would be obeyed stands as an escape (`\u001b`), which JSON reads as
    the character, so that JSON stays what it is.
    """
    pieces = _STYLE.split(text.replace("\r\n", "\n"))
    pieces[::2] = [_UNPRINTABLE.sub(_json_escape, piece) for piece in pieces[::2]]
    return _RUNNER_COMMAND.sub(_without_command, "".join(pieces))


class SafeOutput(io.TextIOWrapper):
    """Standard output or error on which everything is `displayed`.

    Its reader may have seen enough, as behind `| head`: what is not taken goes nowhere, and the command to its own end.

    Args:
        stream: Where it goes.

    Attributes:
        expendable: What nothing takes, as a full disk, goes nowhere as well; otherwise that is an error.
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
        """Write a text as it may be shown."""
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
        """Write a text as it is, for the runner of a job to obey."""
        return super().write(text)


def tell_runner(stream: TextIO, command: str) -> None:
    """Write a command that the runner of a job is meant to obey; what it quotes has to be escaped already.

    Args:
        stream: Standard output.
        command: In one line.
    """
    write = stream.write_command if isinstance(stream, SafeOutput) else stream.write
    write(f"{printable(command)}\n")


def encodable(value: Any) -> Any:
    """Return a JSON value with lone surrogates written as their escapes, members and items included."""
    if isinstance(value, str):
        return _SURROGATE.sub(_escape, value)
    if isinstance(value, Mapping):
        return {encodable(key): encodable(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [encodable(item) for item in value]
    return value


def finite(value: Any) -> Any:
    """Return a JSON value with numbers beyond all measure, which JSON has no word for, as texts."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {key: finite(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return value


def json_text(value: Any, indent: int | None = None) -> str:
    """Return a JSON value as text that any file and terminal takes; a lone surrogate stands in it as JSON's escape."""
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
    """Return a text on one line, at most `limit` characters, without any that a terminal would obey."""
    return cut(" ".join(printable(text).split()), limit)


#: Characters of the one line that says why a command cannot go on.
_LONGEST_COMPLAINT = 2000


def complaint(error: Exception | str) -> str:
    """Return the text of an error as the one line that a command ends with."""
    return plain_line(str(error), _LONGEST_COMPLAINT)


def one_line(text: str) -> str:
    r"""Return a line, its continuations indented: any other line break, brought in from outside, stands as `\n`."""
    return _BREAK.sub(r"\\n", text)


def inline(text: str, limit: int = 300) -> str:
    """Return one line of Markdown, safe in a table cell, at most `limit` characters of the text."""
    return re.sub(r"([\\`*_\[\]<>|~#&])", r"\\\1", plain_line(text, limit))


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
