"""Reads a settings file into a target: every table and key is known, every value is of the kind that is declared."""

import json
import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import Field, fields, replace
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from contracts.errors import UsageError
from contracts.settings.environment import AccountVariables, read_accounts
from contracts.settings.guard import checked_base_url, refuse_production_realm
from contracts.settings.target import (
    ACCOUNT_ROLES,
    DEVELOPMENT_REALMS,
    AttachmentSettings,
    Kind,
    Pace,
    RealmSettings,
    Target,
    TlsSettings,
)
from contracts.settings.toml_file import (
    Keys,
    TomlFile,
    called,
    is_file,
    read_text,
    read_toml_file,
    suggestion,
)

#: Where a setting stands: names of tables and its key, outermost first.
Names = tuple[str, ...]

# The interface document's prose rule; its printed pattern has a doubled backslash and shuts out the hyphen.
IDENTIFIER = re.compile(r"[A-Za-z0-9_-]{11,128}")
_IDENTIFIER_RULE = "11 to 128 letters, digits, hyphens or underscores"


def checked(source: TomlFile, keys: Names, kind: Kind, value: Any) -> Any:
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


def _refuse(source: TomlFile, keys: Names, message: str) -> NoReturn:
    raise source.fault(keys, f"{'.'.join(keys)} {message}")


def _wrong_kind(source: TomlFile, keys: Names, kind: Kind, value: Any) -> NoReturn:
    hint = f"; write {keys[-1]} = {_EXAMPLES[kind]}"
    _refuse(source, keys, f"must be {kind.value}, not {called(value)}{hint}")


def _text(source: TomlFile, keys: Names, kind: Kind, value: Any) -> str:
    if not isinstance(value, str):
        _wrong_kind(source, keys, kind, value)
    if not value.strip():
        _refuse(source, keys, "is empty; give it a value or take the line out")
    return value


def _texts(source: TomlFile, keys: Names, kind: Kind, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        _wrong_kind(source, keys, kind, value)
    texts = tuple(_text(source, keys, kind, item) for item in value)
    if len(set(texts)) < len(texts):
        _refuse(source, keys, "lists one value twice; take the double out")
    return texts


def _identifier(source: TomlFile, keys: Names, kind: Kind, value: Any) -> str:
    text = _text(source, keys, kind, value)
    if not IDENTIFIER.fullmatch(text):
        _refuse(source, keys, f"does not follow the identifier rule; use {_IDENTIFIER_RULE}")
    return text


def _identifiers(source: TomlFile, keys: Names, kind: Kind, value: Any) -> tuple[str, ...]:
    return tuple(_identifier(source, keys, kind, text) for text in _texts(source, keys, kind, value))


def _one_or_more(source: TomlFile, keys: Names, kind: Kind, value: Any) -> tuple[str, ...]:
    return _identifiers(source, keys, kind, [value] if isinstance(value, str) else value)


def _number(source: TomlFile, keys: Names, kind: Kind, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        _wrong_kind(source, keys, kind, value)
    if not 0 < value < math.inf:
        _refuse(source, keys, f"must be {kind.value}; write {keys[-1]} = {_EXAMPLES[kind]}")
    return float(value)


def _rate(source: TomlFile, keys: Names, kind: Kind, value: Any) -> float | None:
    return None if value == math.inf else _number(source, keys, kind, value)


def _whole(source: TomlFile, keys: Names, kind: Kind, value: Any) -> int:
    if isinstance(value, float):
        _refuse(source, keys, f"must be {kind.value}; write {keys[-1]} = {_EXAMPLES[kind]}")
    _number(source, keys, kind, value)
    return int(value)


def _file(source: TomlFile, keys: Names, kind: Kind, value: Any) -> Path:
    name = _text(source, keys, kind, value)
    path = source.path.parent / name
    if not is_file(path):
        _refuse(source, keys, f"names no file: {name!r}; the path is relative to the settings file")
    return path


def _json_file(source: TomlFile, keys: Names, kind: Kind, value: Any) -> dict[str, Any]:
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


_READERS: dict[Kind, Callable[[TomlFile, Names, Kind, Any], Any]] = {
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


Group = TypeVar("Group", Pace, RealmSettings, AttachmentSettings, TlsSettings, AccountVariables)

#: Names that people write below a table by mistake.
_TOP_ONLY = ("base_url", "kind", "realms")
TOP_KEYS = ("base_url", "kind", "realms", "pace", "accounts", "realm", "attachments", "tls")


def read_target(path: Path, environ: Mapping[str, str], shown: str | None = None) -> Target:
    """Return the target that a settings file describes.

    Args:
        path: the TOML file; its stem becomes the target's name.
        environ: environment variables, for the accounts' credentials.
        shown: what messages call the file; its path by default.

    Raises:
        UsageError: one line with file, line, what is wrong and what to do.

    """
    source = read_toml_file(path, shown or str(path))
    _refuse_unknown(source, (), source.tables, TOP_KEYS)
    # Tables first: a key that slipped below one explains why another seems to be missing.
    target = Target(
        pace=_group(source, ("pace",), Pace),
        realm=_realm_settings(source),
        attachments=_group(source, ("attachments",), AttachmentSettings),
        tls=_group(source, ("tls",), TlsSettings),
        realms=_realms(source),
        kind=_kind(source),
        base_url=_base_url(source),
        name=path.stem,
    )
    accounts, absent = read_accounts(source, _account_variables(source), environ)
    return replace(target, accounts=accounts, absent=absent)


def _base_url(source: TomlFile) -> str:
    text = checked(source, ("base_url",), Kind.TEXT, _required(source, "base_url", "https://…"))
    try:
        return checked_base_url(text)
    except ValueError as error:
        raise source.fault(("base_url",), f"base_url {error}") from None


def _kind(source: TomlFile) -> str:
    kind = checked(source, ("kind",), Kind.TEXT, _required(source, "kind", "development"))
    if kind != "development":
        raise source.fault(
            ("kind",), 'kind is not "development": the suite writes, so it refuses every other environment'
        )
    return str(kind)


def _required(source: TomlFile, key: str, example: str) -> Any:
    if key not in source.tables:
        raise source.fault((key,), f'{key} is missing; add {key} = "{example}" above the first table')
    return source.tables[key]


def _realms(source: TomlFile) -> tuple[str, ...]:
    if "realms" not in source.tables:
        return DEVELOPMENT_REALMS
    realms: tuple[str, ...] = checked(source, ("realms",), Kind.TEXTS, source.tables["realms"])
    for name in realms:
        refuse_unknown_realm(source, ("realms",), name)
    if not realms:
        raise source.fault(
            ("realms",), f"realms is empty; name at least one of {', '.join(DEVELOPMENT_REALMS)}"
        )
    return realms


def refuse_unknown_realm(
    source: TomlFile, keys: Keys, name: str, known: Collection[str] = DEVELOPMENT_REALMS
) -> None:
    """Refuse a realm that is none of the known ones, production realms with words of their own.

    Raises:
        UsageError: file, line and what to write.
    """
    try:
        refuse_production_realm(name)
    except UsageError as error:
        raise source.fault(keys, str(error), name) from None
    if name not in known:
        raise source.fault(keys, f"unknown realm {name!r}; {suggestion(name, known)}", name)


def _realm_settings(source: TomlFile) -> dict[str, RealmSettings]:
    tables = _table(source, ("realm",))
    for name in tables:
        refuse_unknown_realm(source, ("realm", name), name)
    return {name: _group(source, ("realm", name), RealmSettings) for name in tables}


def _account_variables(source: TomlFile) -> dict[str, AccountVariables]:
    tables = _table(source, ("accounts",))
    for role in tables:
        if role not in ACCOUNT_ROLES:
            raise source.fault(
                ("accounts", role), f"unknown role {role!r}; {suggestion(role, ACCOUNT_ROLES)}"
            )
        _refuse_secrets(source, role)
    return {role: _group(source, ("accounts", role), AccountVariables) for role in tables}


def _refuse_secrets(source: TomlFile, role: str) -> None:
    keys = ("accounts", role)
    for key in ("email", "password"):
        if key in _table(source, keys):
            raise source.fault(
                (*keys, key),
                f"{'.'.join(keys)}.{key} does not belong in a file; put it in an environment variable "
                f'and name that: {key}_env = "REGISTRY_{role.upper()}_{key.upper()}"',
            )


def _group(source: TomlFile, keys: Names, group: type[Group]) -> Group:
    """Read one table into the dataclass that declares its settings."""
    table = _table(source, keys)
    declared: dict[str, Field[Any]] = {item.name: item for item in fields(group)}
    _refuse_unknown(source, keys, table, declared)
    values = {
        key: checked(source, (*keys, key), declared[key].metadata["kind"], value)
        for key, value in table.items()
    }
    return group(**values)


def _table(source: TomlFile, keys: Names) -> dict[str, Any]:
    """Return the table at `keys`, empty when the file has none."""
    table: Any = source.tables
    for key in keys:
        table = table.get(key, {})
    if not isinstance(table, dict):
        raise source.fault(
            keys, f"{'.'.join(keys)} must be a table; write [{'.'.join(keys)}] and keys below it"
        )
    return table


def _refuse_unknown(source: TomlFile, keys: Names, table: Mapping[str, Any], known: Collection[str]) -> None:
    for key in table if keys else ():
        if key in _TOP_ONLY and key not in known:
            # TOML gives a key to the table above it, a common slip.
            raise source.unknown((*keys, key), "it belongs above the first table")
    source.refuse_unknown(keys, table, known)
