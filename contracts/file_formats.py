"""File formats: each JSON file of ours is declared once, as a type, and read, written and published through it.

A declaration is a `Format` (closed: a member that it does not name is a mistake), an `OpenFormat` (later versions may
add members) or a dataclass; `msgspec` checks data against it and makes its JSON Schema.
"""

from __future__ import annotations

import ast
import errno
import gzip
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Final, TypeVar

import jsonschema_rs
import msgspec
from msgspec import Meta

from contracts.errors import SuiteError, UsageError

Shape = TypeVar("Shape")

Name = Annotated[str, Meta(min_length=1)]
Count = Annotated[int, Meta(ge=0)]
Seconds = Annotated[float, Meta(ge=0)]
#: Texts of which none stands twice; the order of a list that people wrote is kept.
Names = Annotated[tuple[Name, ...], Meta(extra_json_schema={"uniqueItems": True})]
_MOMENT: Final = (
    r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?"
    r"([Zz]|[+-][0-2]\d:[0-5]\d)$"
)
#: A moment with its offset from UTC (RFC 3339), kept as the text it is.
Moment = Annotated[str, Meta(pattern=_MOMENT, extra_json_schema={"format": "date-time"})]
Seed = int | str | None
_FILE_NAME: Final = r"^[^/\\\x00-\x1f\x7f]+(?![\s\S])"
#: A name that becomes part of a path: no separators, nothing that cannot be seen.
FileName = Annotated[str, Meta(pattern=_FILE_NAME)]


def one_of(*words: str) -> Meta:
    """Return the constraint that a text is one of some words."""
    return Meta(pattern=f"^(?:{'|'.join(words)})$", extra_json_schema={"enum": [*words]})


#: How a run can end: its verdict in words, and the exit code that says the same.
EXIT_CODES: Final[Mapping[str, int]] = MappingProxyType(
    {"pass": 0, "fail": 1, "interrupted": 2, "error": 3, "nothing tested": 5, "inconclusive": 6}
)
RunWord = Annotated[str, one_of(*EXIT_CODES)]
RunExitCode = Annotated[int, Meta(extra_json_schema={"enum": sorted(EXIT_CODES.values())})]
Level = Annotated[str, one_of("must", "should", "silent")]


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
    """A closed declaration.

    `rules` are keywords of JSON Schema for what types cannot say; `__post_init__` checks the same.
    """

    rules: ClassVar[Mapping[str, Any]] = {}


class OpenFormat(msgspec.Struct, frozen=True):
    """A declaration of a file whose later versions may add members."""

    rules: ClassVar[Mapping[str, Any]] = {}


def parse(text: str | bytes, shown: str) -> Any:
    """Return the JSON value of a text; `shown` names where it stands in messages.

    Raises:
        UsageError: it is no JSON, or nests too deep to be read.
    """
    try:
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise UsageError(f"{shown}: nests too deep") from None
    except ValueError as error:
        raise UsageError(f"{shown}: is not JSON: {error}") from None


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
    words = re.fullmatch(r"\^\(\?:(.*)\)\$", pattern)
    return f"Expected one of {words[1].replace('|', ', ')}" if words else f"Expected text like {pattern}"


#: How the name of a file ends that is packed by gzip.
PACKED: Final = ".gz"
#: Bytes that a file may hold, unpacked; the traffic of a nightly run takes some hundred million.
_LARGEST: Final = 2_000_000_000


def is_file(path: Path) -> bool:
    """Tell whether a path is a regular file; a pipe or device is not, it would be read without end."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        # No path at all: too long for the system, a zero byte, a folder that may not be entered.
        return False


def read_bytes(path: Path, largest: int = _LARGEST) -> bytes:
    """Return the content of a file, whoever made it; one whose name ends with `.gz` is unpacked.

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
    return _with_lists(msgspec.to_builtins(value))


def _with_lists(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _with_lists(member) for name, member in value.items()}
    return [_with_lists(item) for item in value] if isinstance(value, list | tuple) else value


def checked(value: Any, shape: type, name: str) -> Any:
    """Return a declared value as plain data that fits its schema; `name` is the file's, for the message.

    Raises:
        SuiteError: it does not fit: a mistake of the suite.
    """
    content = plain(value)
    for error in _validator(shape).iter_errors(content):
        place = "/".join(str(part) for part in error.instance_path) or "the top"
        raise SuiteError(f"{name} does not fit its schema at {place}: {error.message}")
    return content


@cache
def _validator(shape: type) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(schema_of(shape.__name__, shape), validate_formats=True)


def write_file(path: Path, value: Any, shape: type) -> Path:
    """Write a declared value as a JSON file for people and machines, and return its path.

    Raises:
        SuiteError: it does not fit its declaration.
        UnicodeEncodeError: a text in it has no form in UTF-8.
    """
    content = checked(value, shape, path.name)
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", "utf-8")
    return path


def required_members(shape: type) -> frozenset[str]:
    """Return the names of the members that data must have to fit a struct or a dataclass."""
    declared: Any = msgspec.inspect.type_info(shape)
    return frozenset(field.encode_name for field in declared.fields if field.required)


def schema_of(title: str, *shapes: Any) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a file that keeps one of some declarations, with all their rules."""
    tops, parts = msgspec.json.schema_components(shapes, ref_template="#/$defs/{name}")
    for declared in {declaration for shape in shapes for declaration in _declarations(shape)}:
        if declared.__name__ in parts:
            parts[declared.__name__].update(getattr(declared, "rules", {}))
    top = tops[0] if len(tops) == 1 else {"anyOf": list(tops)}
    return {"$schema": _DIALECT, "title": title, **top, "$defs": dict(sorted(parts.items()))}


def _declarations(shape: Any) -> Iterator[type]:
    """Yield every struct and dataclass in a declaration, each once."""
    seen: list[type] = []

    def walk(part: msgspec.inspect.Type) -> None:
        declared = getattr(part, "cls", None)
        if isinstance(declared, type) and declared not in seen:
            seen.append(declared)
        elif isinstance(declared, type):
            return
        for inner in _parts(part):
            walk(inner)

    walk(msgspec.inspect.type_info(shape))
    yield from seen


def _parts(part: msgspec.inspect.Type) -> Iterator[msgspec.inspect.Type]:
    for name in ("types", "item_types"):
        yield from getattr(part, name, ())
    for name in ("type", "item_type", "key_type", "value_type"):
        inner = getattr(part, name, None)
        if isinstance(inner, msgspec.inspect.Type):
            yield inner
    for field in getattr(part, "fields", ()):
        yield field.type


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")
