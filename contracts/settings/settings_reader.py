"""Reads a target's settings: from a TOML file, a name in `targets/`, or environment variables.

Everything that cannot be used is named with file and line; production is refused. Credentials always come from
environment variables.
"""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar

import msgspec

from contracts.errors import UsageError, suggestion
from contracts.file_formats import Keys, TomlFile, is_file, read_text, read_toml_file
from contracts.interface.description import load_description
from contracts.settings.guard import checked_base_url, refuse_production, refuse_production_realm
from contracts.settings.target import (
    ACCOUNT_ROLES,
    AUTHOR,
    COLLECTIONS,
    DEVELOPMENT_REALMS,
    OF_ONE_REALM,
    PRODUCTION_REALMS,
    SANDBOX,
    Account,
    AttachmentSettings,
    Kind,
    Pace,
    RealmSettings,
    Secret,
    ServiceNames,
    Target,
    TlsSettings,
    setting,
)

BASE_URL, EMAIL, PASSWORD = "REGISTRY_BASE_URL", "REGISTRY_EMAIL", "REGISTRY_PASSWORD"
#: The variables that together name a target where no option does.
TARGET_VARIABLES: Final = (BASE_URL, EMAIL, PASSWORD)
TARGETS_FOLDER: Final = "targets"
_CONVENTIONAL: Final = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+")


@dataclass(frozen=True)
class AccountVariables:
    """The names of the two environment variables that hold one role's credentials."""

    email_env: str | None = setting(Kind.TEXT, "name of the variable that holds the account's e-mail")
    password_env: str | None = setting(Kind.TEXT, "name of the variable that holds its password")


#: Where a setting stands: names of tables and its key, outermost first.
Names = tuple[str, ...]
Group = TypeVar("Group", Pace, RealmSettings, AttachmentSettings, TlsSettings, AccountVariables, ServiceNames)

#: Names that people write below a table by mistake.
_TOP_ONLY: Final = ("base_url", "kind", "realms")
TOP_KEYS: Final = (*_TOP_ONLY, "pace", "accounts", "realm", "attachments", "tls", "names")
#: A realm as a header may carry it; a comma would part two values.
_HEADER_VALUE: Final = re.compile(r"[!-+\--~]+")
#: RFC 9110, 5.6.2.
_TOKEN: Final = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)
#: Headers that have a meaning of their own, and the documented one.
_HEADERS: Final = frozenset(
    {"realm", "accept", "authorization", "connection", "content-encoding", "content-length", "content-type"}
    | {"cookie", "host", "range", "transfer-encoding", "user-agent"}
)


def load_target(name_or_path: str | None, environ: Mapping[str, str], search: Path) -> Target | None:
    """Return the target to aim at, or None for the embedded sandbox.

    Args:
        name_or_path: a TOML file, the name of one in `targets/`, `sandbox`, an address (then the variables
            `REGISTRY_EMAIL` and `REGISTRY_PASSWORD` hold the account), or None when nothing was asked for: then
            the variables `REGISTRY_BASE_URL`, `REGISTRY_EMAIL` and `REGISTRY_PASSWORD` decide.
        search: the current folder; `targets/` and relative paths are looked up there.

    Raises:
        UsageError: one line that says where, what is wrong and what to do; production is refused here too.
    """
    if name_or_path == SANDBOX:
        return None
    if name_or_path is None or "://" in name_or_path:
        target = _target_from_environment(environ, name_or_path)
    else:
        path = settings_file(name_or_path, search)
        if path is None and _is_name(name_or_path):
            _no_such_target(name_or_path, search)
        path = path or search / name_or_path
        shown = path.relative_to(search) if path.is_relative_to(search) else path
        target = read_target(path, environ, str(shown))
    if target is not None:
        refuse_production(target)
    return target


def settings_file(name_or_path: str, search: Path) -> Path | None:
    """The settings file of a target, by its path or its name in `targets/`; None where there is none.

    Raises:
        UsageError: it is empty, as an unset variable in a script is, which must not turn into a green run.
    """
    if not name_or_path.strip():
        raise UsageError("--target is empty; name a settings file or target, or leave the option out")
    named = f"{name_or_path}.toml" if _is_name(name_or_path) else name_or_path
    return next(filter(is_file, (search / name_or_path, search / TARGETS_FOLDER / named)), None)


def _is_name(name_or_path: str) -> bool:
    return "/" not in name_or_path and "\\" not in name_or_path and not name_or_path.endswith(".toml")


def _no_such_target(name: str, search: Path) -> NoReturn:
    names = sorted(path.stem for path in (search / TARGETS_FOLDER).glob("*.toml"))
    where = f"holds {', '.join(names)}" if names else "holds no settings file"
    raise UsageError(f"no target {name!r}: {TARGETS_FOLDER}/ {where}; {suggestion(name, [*names, SANDBOX])}")


def _target_from_environment(environ: Mapping[str, str], address: str | None) -> Target | None:
    """The target of the three `REGISTRY_…` variables, or None when none of them is set.

    Args:
        address: in place of the first variable; then the account has to be there.
    """
    if address is None and not any(name in environ for name in TARGET_VARIABLES):
        return None
    given = {name: environ.get(name, "").strip() for name in TARGET_VARIABLES}
    given |= {} if address is None else {BASE_URL: address.strip()}
    missing = " and ".join(name for name, value in given.items() if not value)
    if missing:
        advice = "set it, or name a target: --target sandbox is the embedded one"
        raise UsageError(f"environment variables not set, or empty: {missing}; {advice}")
    what = f"environment variable {EMAIL}"
    try:
        account = Account(AUTHOR, _checked_email(given[EMAIL]), Secret(environ[PASSWORD]))
        what = "the address of the target" if address else f"environment variable {BASE_URL}"
        return Target("environment", checked_base_url(given[BASE_URL]), accounts={AUTHOR: account})
    except ValueError as error:
        raise UsageError(f"{what} {error}") from None


def _checked_email(text: str) -> str:
    """An account's e-mail without white space around; raises `ValueError` for what is none, and does not repeat it."""
    email = text.strip()
    if "@" not in email or " " in email or not email.isprintable():
        raise ValueError("holds no e-mail address; set it to the account's address")
    return email


def read_target(path: Path, environ: Mapping[str, str], shown: str | None = None) -> Target:
    """Return the target that a settings file describes; its stem becomes the target's name.

    Args:
        shown: what messages call the file; its path by default.

    Raises:
        UsageError: one line with file, line, what is wrong and what to do.
    """
    source = read_toml_file(path, shown or str(path))
    source.refuse_unknown((), source.tables, TOP_KEYS)
    # Tables first: a key that slipped below one explains why another seems to be missing.
    target = Target(
        pace=_group(source, ("pace",), Pace),
        realm=_realm_settings(source),
        attachments=_group(source, ("attachments",), AttachmentSettings),
        tls=_group(source, ("tls",), TlsSettings),
        names=_service_names(source),
        realms=_realms(source),
        kind=_required(source, "kind", "development"),
        base_url=_required(source, "base_url", "https://…"),
        name=path.stem,
    )
    if target.kind != "development":
        why = 'kind is not "development": the suite writes, so it refuses every other environment'
        raise source.fault(("kind",), why)
    try:
        target = replace(target, base_url=checked_base_url(target.base_url))
    except ValueError as error:
        raise source.fault(("base_url",), f"base_url {error}") from None
    accounts, absent = _accounts(source, environ)
    return replace(target, accounts=accounts, absent=absent)


def _required(source: TomlFile, key: str, example: str) -> str:
    if key not in source.tables:
        raise source.fault((key,), f'{key} is missing; add {key} = "{example}" above the first table')
    return str(_checked(source, (key,), Kind.TEXT, source.tables[key]))


def _realms(source: TomlFile) -> tuple[str, ...]:
    if "realms" not in source.tables:
        return DEVELOPMENT_REALMS
    realms: tuple[str, ...] = _checked(source, ("realms",), Kind.TEXTS, source.tables["realms"])
    for name in realms:
        refuse_unknown_realm(source, ("realms",), name)
    if not realms:
        why = f"realms is empty; name at least one of {', '.join(DEVELOPMENT_REALMS)}"
        raise source.fault(("realms",), why)
    return realms


def refuse_unknown_realm(
    source: TomlFile, keys: Keys, name: str, known: Collection[str] = DEVELOPMENT_REALMS
) -> None:
    """Refuse a realm that is none of the known ones, production realms with words of their own."""
    _refuse_production_realm(source, keys, name)
    if name not in known:
        raise source.fault(keys, f"unknown realm {name!r}; {suggestion(name, known)}", name)


def _refuse_production_realm(source: TomlFile, keys: Keys, name: str) -> None:
    try:
        refuse_production_realm(name)
    except UsageError as error:
        raise source.fault(keys, str(error), name) from None


def _realm_settings(source: TomlFile) -> dict[str, RealmSettings]:
    """The settings of each realm: what stands in `[realm]` holds for all of them, a realm's own table goes first."""
    written = _table(source, ("realm",))
    known = {*DEVELOPMENT_REALMS, *PRODUCTION_REALMS}
    named = [name for name, value in written.items() if isinstance(value, dict) or name in known]
    for name in named:
        refuse_unknown_realm(source, ("realm", name), name)
    common = {name: value for name, value in written.items() if name not in named}
    for name in common.keys() & OF_ONE_REALM:
        why = f"belongs to one realm; write it below [realm.{DEVELOPMENT_REALMS[0]}]"
        _refuse(source, ("realm", name), why)
    shared = _values(source, ("realm",), common, RealmSettings)
    settings = {}
    for name in DEVELOPMENT_REALMS if shared else named:
        own = _values(source, ("realm", name), _table(source, ("realm", name)), RealmSettings)
        settings[name] = RealmSettings(**shared | own)
    _check_spellings(source, {name: given.sent_as for name, given in settings.items() if given.sent_as})
    return settings


def _check_spellings(source: TomlFile, sent: Mapping[str, str]) -> None:
    for name, spelling in sent.items():
        keys = ("realm", name, "sent_as")
        if not _HEADER_VALUE.fullmatch(spelling):
            why = "cannot stand in a header; use ASCII letters, digits and signs, no space or comma"
            _refuse(source, keys, why)
        _refuse_production_realm(source, keys, spelling)
        if list(sent.values()).count(spelling) > 1 or spelling in set(DEVELOPMENT_REALMS) - {name}:
            _refuse(source, keys, f"is the name of another realm, too: {spelling!r}")


def _service_names(source: TomlFile) -> ServiceNames:
    """The names of a target that differ from the document, each for one that the document has."""
    names = _group(source, ("names",), ServiceNames)
    if names.scheme and not _TOKEN.fullmatch(names.scheme):
        _refuse(source, ("names", "scheme"), 'is no scheme; write one word such as scheme = "Token"')
    header = names.realm_header
    if header and (not _TOKEN.fullmatch(header) or header.lower() in _HEADERS):
        why = 'is no header for a realm; write one such as "X-Realm", or no line'
        _refuse(source, ("names", "realm_header"), why)
    operations = load_description().operations.values()
    queries = sorted({parameter for one in operations for parameter in one.query_parameters})
    for group, known in (("query", queries), ("collections", COLLECTIONS)):
        for name in getattr(names, group):
            if name not in known:
                why = f"the document has no {name!r} there; {suggestion(name, known)}"
                raise source.fault(("names", group, name), why, name)
    return names


def _accounts(source: TomlFile, environ: Mapping[str, str]) -> tuple[dict[str, Account], dict[str, str]]:
    """Role → account for every role whose credentials are set, and role → reason for the others.

    When the file names no variables for the author, they are `REGISTRY_EMAIL` and `REGISTRY_PASSWORD`.
    """
    accounts: dict[str, Account] = {}
    absent: dict[str, str] = {}
    for role in dict.fromkeys((AUTHOR, *_table(source, ("accounts",)))):
        keys = ("accounts", role)
        if role not in ACCOUNT_ROLES:
            raise source.fault(keys, f"unknown role {role!r}; {suggestion(role, ACCOUNT_ROLES)}")
        named = _variables(source, role)
        reason = next(filter(None, (_unset(role, *each, environ) for each in named.items())), None)
        if reason is None:
            email, password = (environ[variable] for variable in named.values())
            try:
                accounts[role] = Account(role, _checked_email(email), Secret(password))
            except ValueError as error:
                why = f"{_shown(role, 'email_env', named['email_env'])} {error}"
                raise source.fault((*keys, "email_env"), why) from None
        elif role == AUTHOR:
            raise source.fault(keys, f"the author has no credentials: {reason}; set it before the run")
        else:
            absent[role] = reason
    return accounts, absent


def _variables(source: TomlFile, role: str) -> dict[str, str]:
    """The names of the two variables of a role, by the setting that names them."""
    keys = ("accounts", role)
    if role == AUTHOR and role not in source.tables.get("accounts", {}):
        return {"email_env": EMAIL, "password_env": PASSWORD}
    table = _table(source, keys)
    for key in ("email", "password"):
        if key in table:
            instead = f'{key}_env = "REGISTRY_{role.upper()}_{key.upper()}"'
            why = f"does not belong in a file; put it in an environment variable and name that: {instead}"
            _refuse(source, (*keys, key), why)
    named = vars(_group(source, keys, AccountVariables))
    for key, variable in named.items():
        if variable is None:
            raise source.fault(keys, f"accounts.{role}.{key} is missing; name both variables")
    return named


def _unset(role: str, key: str, variable: str, environ: Mapping[str, str]) -> str | None:
    """Say that a variable of a role is not set, or None when it is."""
    if environ.get(variable):
        return None
    return f"{_shown(role, key, variable)} {'is set, but empty' if variable in environ else 'is not set'}"


def _shown(role: str, key: str, variable: str) -> str:
    # The password itself may stand where its variable's name belongs: it is not repeated.
    if _CONVENTIONAL.fullmatch(variable):
        return f"environment variable {variable}"
    return f"the environment variable that accounts.{role}.{key} names"


def _group(source: TomlFile, keys: Names, group: type[Group]) -> Group:
    """Read one table into the dataclass that declares its settings."""
    return group(**_values(source, keys, _table(source, keys), group))


def _values(source: TomlFile, keys: Names, table: Mapping[str, Any], group: type[Group]) -> dict[str, Any]:
    """Read the settings that a table gives, as their dataclass declares them."""
    kinds = {item.name: item.metadata["kind"] for item in fields(group)}
    for key in table:
        if key in _TOP_ONLY and key not in kinds:
            # TOML gives a key to the table above it, a common slip.
            raise source.unknown((*keys, key), "it belongs above the first table")
    source.refuse_unknown(keys, table, kinds)
    return {key: _checked(source, (*keys, key), kinds[key], value) for key, value in table.items()}


def _table(source: TomlFile, keys: Names) -> dict[str, Any]:
    """Return the table at `keys`, empty when the file has none."""
    table: Any = source.tables
    for key in keys:
        table = table.get(key, {})
    if not isinstance(table, dict):
        name = ".".join(keys)
        raise source.fault(keys, f"{name} must be a table; write [{name}] and keys below it")
    return table


def _checked(source: TomlFile, keys: Names, kind: Kind, value: Any) -> Any:
    """Return a setting as the model holds it; one line without its value refuses what is of another kind."""
    alone = kind is Kind.IDENTIFIER_OR_IDENTIFIERS and isinstance(value, str)
    try:
        read = msgspec.convert([value] if alone else value, kind.shape)
    except msgspec.ValidationError:
        _refuse(source, keys, f"must be {kind.words}; write {keys[-1]} = {kind.example}")
    if isinstance(read, tuple) and len(set(read)) < len(read):
        _refuse(source, keys, "lists one value twice; take the double out")
    if kind is Kind.RATE and read == float("inf"):
        return None
    if kind not in (Kind.FILE, Kind.JSON_FILE):
        return read
    path = source.path.parent / read
    if not is_file(path):
        _refuse(source, keys, f"names no file: {read!r}; the path is relative to the settings file")
    return path if kind is Kind.FILE else _document(source, keys, path)


def _refuse(source: TomlFile, keys: Names, message: str) -> NoReturn:
    raise source.fault(keys, f"{'.'.join(keys)} {message}")


def _document(source: TomlFile, keys: Names, path: Path) -> dict[str, Any]:
    """The JSON object in a file that a setting names."""
    try:
        document = json.loads(read_text(path, path.name), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        _refuse(source, keys, f"is not JSON: {path.name}: {error}; correct that file")
    except UsageError as error:
        _refuse(source, keys, f"cannot be used: {error}")
    if not isinstance(document, dict) or not isinstance(document.get("header", {}), dict):
        why = "must hold one JSON object, whose header is an object too, if there is one"
        _refuse(source, keys, f"{why}: {path.name}")
    return document


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")
