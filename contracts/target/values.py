"""Checks one value of a settings file against the kind its setting declares."""

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from contracts.errors import UsageError
from contracts.target.model import Kind
from contracts.target.source import Keys, SettingsFile, is_file, read_text

# The interface document's prose rule; its printed pattern has a doubled backslash and shuts out the hyphen.
IDENTIFIER = re.compile(r"[A-Za-z0-9_-]{11,128}")
_IDENTIFIER_RULE = "11 to 128 letters, digits, hyphens or underscores"


def checked(source: SettingsFile, keys: Keys, kind: Kind, value: Any) -> Any:
    """Return `value` as the model holds it, or refuse it.

    Args:
        source: the file it stands in; paths are relative to its folder.
        keys: where it stands, outermost first.
        kind: what the setting declares.
        value: as the TOML reader gave it.

    Returns:
        A text, tuple of texts, number, JSON object or path, according to `kind`.

    Raises:
        UsageError: one line with file, line, what is wrong and what to do; it never repeats the value.

    """
    return _READERS[kind](source, keys, kind, value)


def _refuse(source: SettingsFile, keys: Keys, message: str) -> NoReturn:
    raise source.fault(keys, f"{'.'.join(keys)} {message}")


def _wrong_kind(source: SettingsFile, keys: Keys, kind: Kind, value: Any) -> NoReturn:
    hint = f"; write {keys[-1]} = {_EXAMPLES[kind]}"
    _refuse(source, keys, f"must be {kind.value}, not {_called(value)}{hint}")


def _called(value: Any) -> str:
    """Say what a TOML value is, in words, without showing it."""
    names = {
        bool: "true or false",
        str: "a text",
        int: "a number",
        float: "a number",
        list: "a list",
        dict: "a table",
    }
    return names.get(type(value), "a date or time")


def _text(source: SettingsFile, keys: Keys, kind: Kind, value: Any) -> str:
    if not isinstance(value, str):
        _wrong_kind(source, keys, kind, value)
    if not value.strip():
        _refuse(source, keys, "is empty; give it a value or take the line out")
    return value


def _texts(source: SettingsFile, keys: Keys, kind: Kind, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        _wrong_kind(source, keys, kind, value)
    texts = tuple(_text(source, keys, kind, item) for item in value)
    if len(set(texts)) < len(texts):
        _refuse(source, keys, "lists one value twice; take the double out")
    return texts


def _identifier(source: SettingsFile, keys: Keys, kind: Kind, value: Any) -> str:
    text = _text(source, keys, kind, value)
    if not IDENTIFIER.fullmatch(text):
        _refuse(source, keys, f"does not follow the identifier rule; use {_IDENTIFIER_RULE}")
    return text


def _identifiers(source: SettingsFile, keys: Keys, kind: Kind, value: Any) -> tuple[str, ...]:
    return tuple(_identifier(source, keys, kind, text) for text in _texts(source, keys, kind, value))


def _one_or_more(source: SettingsFile, keys: Keys, kind: Kind, value: Any) -> tuple[str, ...]:
    return _identifiers(source, keys, kind, [value] if isinstance(value, str) else value)


def _number(source: SettingsFile, keys: Keys, kind: Kind, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        _wrong_kind(source, keys, kind, value)
    if not 0 < value < math.inf:
        _refuse(source, keys, f"must be {kind.value}; write {keys[-1]} = {_EXAMPLES[kind]}")
    return float(value)


def _rate(source: SettingsFile, keys: Keys, kind: Kind, value: Any) -> float | None:
    return None if value == math.inf else _number(source, keys, kind, value)


def _whole(source: SettingsFile, keys: Keys, kind: Kind, value: Any) -> int:
    if isinstance(value, float):
        _refuse(source, keys, f"must be {kind.value}; write {keys[-1]} = {_EXAMPLES[kind]}")
    _number(source, keys, kind, value)
    return int(value)


def _file(source: SettingsFile, keys: Keys, kind: Kind, value: Any) -> Path:
    name = _text(source, keys, kind, value)
    path = source.path.parent / name
    if not is_file(path):
        _refuse(source, keys, f"names no file: {name!r}; the path is relative to the settings file")
    return path


def _json_file(source: SettingsFile, keys: Keys, kind: Kind, value: Any) -> dict[str, Any]:
    path = _file(source, keys, kind, value)
    try:
        document = json.loads(read_text(path, path.name), parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        place = f"{path.name} line {error.lineno} column {error.colno}"
        _refuse(source, keys, f"is not JSON: {place}: {error.msg}; correct that file")
    except (ValueError, RecursionError):
        _refuse(
            source,
            keys,
            f"is not JSON: {path.name} holds a value that JSON has no word for; correct that file",
        )
    except UsageError as error:
        _refuse(source, keys, f"cannot be used: {error}")
    if not isinstance(document, dict):
        _refuse(source, keys, f"must hold one JSON object: {path.name}; put the record's fields in braces")
    if not isinstance(document.get("header", {}), dict):
        _refuse(
            source,
            keys,
            f"has a header that is no JSON object: {path.name}; the suite fills in its identifier",
        )
    return document


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


_READERS: dict[Kind, Callable[[SettingsFile, Keys, Kind, Any], Any]] = {
    Kind.TEXT: _text,
    Kind.TEXTS: _texts,
    Kind.IDENTIFIER: _identifier,
    Kind.IDENTIFIERS: _identifiers,
    Kind.IDENTIFIER_OR_IDENTIFIERS: _one_or_more,
    Kind.NUMBER: _number,
    Kind.RATE: _rate,
    Kind.WHOLE: _whole,
    Kind.JSON_FILE: _json_file,
    Kind.FILE: _file,
}

_EXAMPLES = {
    Kind.TEXT: '"…"',
    Kind.TEXTS: '["…"]',
    Kind.IDENTIFIER: '"…"',
    Kind.IDENTIFIERS: '["…"]',
    Kind.IDENTIFIER_OR_IDENTIFIERS: '"…"',
    Kind.NUMBER: "30",
    Kind.RATE: "20",
    Kind.WHOLE: "8",
    Kind.JSON_FILE: '"….json"',
    Kind.FILE: '"….pem"',
}
