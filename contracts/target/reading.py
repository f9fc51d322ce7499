"""From a settings file to a target: every table and key is known, every value of its kind."""

from collections.abc import Iterable, Mapping
from dataclasses import Field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from contracts.errors import UsageError
from contracts.target.address import checked_base_url
from contracts.target.environment import AccountVariables, read_accounts
from contracts.target.model import (
    ACCOUNT_ROLES,
    DEVELOPMENT_REALMS,
    PRODUCTION_REALMS,
    AttachmentSettings,
    Kind,
    Pace,
    RealmSettings,
    Target,
    TlsSettings,
)
from contracts.target.source import Keys, SettingsFile, read_settings_file, suggestion
from contracts.target.values import checked

Group = TypeVar("Group", Pace, RealmSettings, AttachmentSettings, TlsSettings, AccountVariables)

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
    source = read_settings_file(path, shown or str(path))
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


def _base_url(source: SettingsFile) -> str:
    text = checked(source, ("base_url",), Kind.TEXT, _required(source, "base_url", "https://…"))
    try:
        return checked_base_url(text)
    except ValueError as error:
        raise source.fault(("base_url",), f"base_url {error}") from None


def _kind(source: SettingsFile) -> str:
    kind = checked(source, ("kind",), Kind.TEXT, _required(source, "kind", "development"))
    if kind != "development":
        raise source.fault(
            ("kind",), 'kind is not "development": the suite writes, so it refuses every other environment'
        )
    return str(kind)


def _required(source: SettingsFile, key: str, example: str) -> Any:
    if key not in source.tables:
        raise source.fault((key,), f'{key} is missing; add {key} = "{example}" above the first table')
    return source.tables[key]


def _realms(source: SettingsFile) -> tuple[str, ...]:
    if "realms" not in source.tables:
        return DEVELOPMENT_REALMS
    realms: tuple[str, ...] = checked(source, ("realms",), Kind.TEXTS, source.tables["realms"])
    for name in realms:
        _check_realm(source, ("realms",), name)
    if not realms:
        raise source.fault(
            ("realms",), f"realms is empty; name at least one of {', '.join(DEVELOPMENT_REALMS)}"
        )
    return realms


def _check_realm(source: SettingsFile, keys: Keys, name: str) -> None:
    if name.strip().lower() in PRODUCTION_REALMS:
        raise source.fault(
            keys, f"{name!r} is a production realm, which is refused; use {name.strip().lower()}-dev"
        )
    if name not in DEVELOPMENT_REALMS:
        raise source.fault(keys, f"unknown realm {name!r}; {suggestion(name, DEVELOPMENT_REALMS)}")


def _realm_settings(source: SettingsFile) -> dict[str, RealmSettings]:
    tables = _table(source, ("realm",))
    for name in tables:
        _check_realm(source, ("realm", name), name)
    return {name: _group(source, ("realm", name), RealmSettings) for name in tables}


def _account_variables(source: SettingsFile) -> dict[str, AccountVariables]:
    tables = _table(source, ("accounts",))
    for role in tables:
        if role not in ACCOUNT_ROLES:
            raise source.fault(
                ("accounts", role), f"unknown role {role!r}; {suggestion(role, ACCOUNT_ROLES)}"
            )
        _refuse_secrets(source, role)
    return {role: _group(source, ("accounts", role), AccountVariables) for role in tables}


def _refuse_secrets(source: SettingsFile, role: str) -> None:
    keys = ("accounts", role)
    for key in ("email", "password"):
        if key in _table(source, keys):
            raise source.fault(
                (*keys, key),
                f"{'.'.join(keys)}.{key} does not belong in a file; put it in an environment variable "
                f'and name that: {key}_env = "REGISTRY_{role.upper()}_{key.upper()}"',
            )


def _group(source: SettingsFile, keys: Keys, group: type[Group]) -> Group:
    """Read one table into the dataclass that declares its settings."""
    table = _table(source, keys)
    declared: dict[str, Field[Any]] = {item.name: item for item in fields(group)}
    _refuse_unknown(source, keys, table, declared)
    values = {
        key: checked(source, (*keys, key), declared[key].metadata["kind"], value)
        for key, value in table.items()
    }
    return group(**values)


def _table(source: SettingsFile, keys: Keys) -> dict[str, Any]:
    """Return the table at `keys`, empty when the file has none."""
    table: Any = source.tables
    for key in keys:
        table = table.get(key, {})
    if not isinstance(table, dict):
        raise source.fault(
            keys, f"{'.'.join(keys)} must be a table; write [{'.'.join(keys)}] and keys below it"
        )
    return table


def _refuse_unknown(source: SettingsFile, keys: Keys, table: Mapping[str, Any], known: Iterable[str]) -> None:
    for key in table:
        if key not in known:
            raise _unknown(source, keys, key, known)


def _unknown(source: SettingsFile, keys: Keys, key: str, known: Iterable[str]) -> UsageError:
    place = f" in [{'.'.join(keys)}]" if keys else ""
    advice = suggestion(key, known)
    if keys and key in ("base_url", "kind", "realms"):
        # TOML gives a key to the table above it, a common slip.
        advice = "it belongs above the first table"
    return source.fault((*keys, key), f"unknown key {key!r}{place}; {advice}")
