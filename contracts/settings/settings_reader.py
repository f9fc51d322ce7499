"""Reads a target's settings: from a TOML file, a name in `targets/`, or environment variables.

Everything that cannot be used is named with file and line; production is refused. Credentials always come from
environment variables.
"""

import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import Field, dataclass, fields, replace
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar

import msgspec

from contracts.errors import UsageError, suggestion
from contracts.file_formats import Keys, TomlFile, called, is_file, read_text, read_toml_file
from contracts.interface.description import load_description
from contracts.settings.guard import checked_base_url, refuse_production, refuse_production_realm
from contracts.settings.target import (
    ACCOUNT_ROLES,
    AUTHOR,
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
_CONVENTIONAL = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+")


@dataclass(frozen=True)
class AccountVariables:
    """The names of the two environment variables that hold one role's credentials."""

    email_env: str | None = setting(Kind.TEXT, "name of the variable that holds the account's e-mail")
    password_env: str | None = setting(Kind.TEXT, "name of the variable that holds its password")


DEFAULT_AUTHOR = AccountVariables(EMAIL, PASSWORD)


def read_accounts(
    source: TomlFile, variables: Mapping[str, AccountVariables], environ: Mapping[str, str]
) -> tuple[dict[str, Account], dict[str, str]]:
    """Return role → account for every role whose credentials are set, and role → reason for the others.

    The author is needed for nearly everything; when the file names no variables for it, they are
    `REGISTRY_EMAIL` and `REGISTRY_PASSWORD`.

    Raises:
        UsageError: the author's credentials are not set, or an account names only one variable.

    """
    accounts, absent = {}, {}
    for role in ACCOUNT_ROLES:
        named = variables.get(role, DEFAULT_AUTHOR if role == AUTHOR else None)
        if named is None:
            continue
        reason = _unset(source, role, named, environ)
        if reason is None:
            accounts[role] = _account(source, role, named, environ)
        elif role == AUTHOR:
            raise source.fault(
                ("accounts", role), f"the author has no credentials: {reason}; set it before the run"
            )
        else:
            absent[role] = reason
    return accounts, absent


def target_from_environment(environ: Mapping[str, str]) -> Target | None:
    """Return the target of the three `REGISTRY_…` variables, or None when none of them is set.

    Raises:
        UsageError: only some are set, one is set but empty, or one cannot be used; it names the variable, never its
            value.

    """
    missing = [name for name in TARGET_VARIABLES if not environ.get(name)]
    if not any(name in environ for name in TARGET_VARIABLES):
        return None
    if missing:
        raise UsageError(f"{_incomplete(missing, environ)}; {_COMPLETE_OR_TARGET}")
    return _with_author(_checked(BASE_URL, checked_base_url, environ), environ)


def target_at(address: str, environ: Mapping[str, str]) -> Target:
    """Return the target at an address, with the account of `REGISTRY_EMAIL` and `REGISTRY_PASSWORD`.

    Raises:
        UsageError: the address cannot be used, or one of the variables is not set, empty or no e-mail.

    """
    missing = [name for name in (EMAIL, PASSWORD) if not environ.get(name)]
    if missing:
        raise UsageError(
            f"an address needs an account: set {' and '.join(missing)}, or name a settings file with --target"
        )
    try:
        base_url = checked_base_url(address.strip())
    except ValueError as error:
        raise UsageError(f"the address of the target {error}") from None
    return _with_author(base_url, environ)


def _with_author(base_url: str, environ: Mapping[str, str]) -> Target:
    """The target of the variables' one account."""
    account = Account(AUTHOR, _checked(EMAIL, checked_email, environ), Secret(environ[PASSWORD]))
    return Target(name="environment", base_url=base_url, accounts={AUTHOR: account})


_COMPLETE_OR_TARGET: Final = (
    "set all three environment variables, or name a target: --target sandbox is the embedded one"
)


def _incomplete(missing: list[str], environ: Mapping[str, str]) -> str:
    """Say which variables are not set, or empty: secrets that a pipeline does not have arrive so."""
    empty = [name for name in missing if name in environ]
    if empty:
        return f"{' and '.join(empty)} set, but empty"
    others = [name for name in TARGET_VARIABLES if name not in missing]
    return f"{' and '.join(others)} set, but not {' and '.join(missing)}"


def checked_email(text: str) -> str:
    """Return an account e-mail without surrounding white space.

    Raises:
        ValueError: it has no `@` or has white space inside; the text is not repeated.

    """
    email = text.strip()
    if "@" not in email or " " in email or not email.isprintable():
        raise ValueError("holds no e-mail address; set it to the account's address")
    return email


def _checked(name: str, check: Callable[[str], str], environ: Mapping[str, str]) -> str:
    try:
        return check(environ[name].strip())
    except ValueError as error:
        raise UsageError(f"environment variable {name} {error}") from None


def _unset(source: TomlFile, role: str, named: AccountVariables, environ: Mapping[str, str]) -> str | None:
    """Say which of a role's variables is not set, or None when both are."""
    for item in fields(named):
        variable = getattr(named, item.name)
        if variable is None:
            raise source.fault(
                ("accounts", role),
                f"accounts.{role}.{item.name} is missing; name both variables",
            )
        if not environ.get(variable):
            how = "is set, but empty" if variable in environ else "is not set"
            return f"{_shown(variable, role, item.name)} {how}"
    return None


def _shown(variable: str, role: str, key: str) -> str:
    # The password itself may stand where its variable's name belongs: it is not repeated.
    if _CONVENTIONAL.fullmatch(variable):
        return f"environment variable {variable}"
    return f"the environment variable that accounts.{role}.{key} names"


def _account(source: TomlFile, role: str, named: AccountVariables, environ: Mapping[str, str]) -> Account:
    email, password = environ[str(named.email_env)], environ[str(named.password_env)]
    try:
        return Account(role, checked_email(email), Secret(password))
    except ValueError as error:
        shown = _shown(str(named.email_env), role, "email_env")
        raise source.fault(("accounts", role, "email_env"), f"{shown} {error}") from None


#: Where a setting stands: names of tables and its key, outermost first.
Names = tuple[str, ...]

# The interface document's prose rule; its printed pattern has a doubled backslash and shuts out the hyphen.
IDENTIFIER = re.compile(r"[A-Za-z0-9_-]{11,128}")
_SLOWEST_RATE = 1 / 3600
_IDENTIFIER_RULE = "11 to 128 letters, digits, hyphens or underscores"


#: What a setting of each kind is, and how one is written.
_SHAPES: Final[Mapping[Kind, tuple[Any, str]]] = {
    Kind.TEXT: (str, '"…"'),
    Kind.TEXTS: (tuple[str, ...], '["…"]'),
    Kind.IDENTIFIER: (str, '"…"'),
    Kind.IDENTIFIERS: (tuple[str, ...], '["…"]'),
    Kind.IDENTIFIER_OR_IDENTIFIERS: (tuple[str, ...], '"…"'),
    Kind.NUMBER: (float, "30"),
    Kind.RATE: (float, "20"),
    Kind.WHOLE: (int, "8"),
    Kind.JSON_FILE: (str, '"….json"'),
    Kind.FILE: (str, '"….pem"'),
    Kind.NAMES: (dict[str, str], '{ my = "…" }'),
}
_OF_IDENTIFIERS: Final = (Kind.IDENTIFIER, Kind.IDENTIFIERS, Kind.IDENTIFIER_OR_IDENTIFIERS)


def checked(source: TomlFile, keys: Names, kind: Kind, value: Any) -> Any:
    """Return a setting as the model holds it, or refuse it.

    Args:
        source: The file it stands in; paths are relative to its folder.
        value: As the TOML reader gave it.

    Raises:
        UsageError: one line with file, line, what is wrong and what to do; it never repeats the value.
    """
    shape, example = _SHAPES[kind]
    one_of_several = kind is Kind.IDENTIFIER_OR_IDENTIFIERS and isinstance(value, str)
    must = f"must be {kind.value}"
    try:
        read = msgspec.convert([value] if one_of_several else value, shape)
    except msgspec.ValidationError:
        _refuse(source, keys, f"{must}, not {called(value)}; write {keys[-1]} = {example}")
    if isinstance(read, int | float):
        if kind is Kind.RATE and read == math.inf:
            return None
        if not 0 < read < math.inf:
            _refuse(source, keys, f"{must}; write {keys[-1]} = {example}")
        if kind is Kind.RATE and read < _SLOWEST_RATE:
            _refuse(source, keys, "would let less than one request an hour go out")
        return read
    _check_texts(source, keys, kind, [read] if isinstance(read, str) else [*_texts(read)])
    if kind in (Kind.FILE, Kind.JSON_FILE):
        path = source.path.parent / read
        if not is_file(path):
            _refuse(source, keys, f"names no file: {read!r}; the path is relative to the settings file")
        return path if kind is Kind.FILE else _document(source, keys, path)
    return read


def _texts(value: Mapping[str, str] | tuple[str, ...]) -> Iterable[str]:
    return value.values() if isinstance(value, Mapping) else value


def _check_texts(source: TomlFile, keys: Names, kind: Kind, texts: list[str]) -> None:
    if not all(text.strip() for text in texts):
        _refuse(source, keys, "is empty; give it a value or take the line out")
    if kind in _OF_IDENTIFIERS and not all(map(IDENTIFIER.fullmatch, texts)):
        _refuse(source, keys, f"does not follow the identifier rule; use {_IDENTIFIER_RULE}")
    if kind is not Kind.NAMES and len(set(texts)) < len(texts):
        _refuse(source, keys, "lists one value twice; take the double out")


def _refuse(source: TomlFile, keys: Names, message: str) -> NoReturn:
    raise source.fault(keys, f"{'.'.join(keys)} {message}")


def _document(source: TomlFile, keys: Names, path: Path) -> dict[str, Any]:
    """The JSON object in a file that a setting names."""
    try:
        document = json.loads(read_text(path, path.name), parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        place = f"{path.name} line {error.lineno} column {error.colno}"
        _refuse(source, keys, f"is not JSON: {place}: {error.msg}; correct that file")
    except (ValueError, RecursionError):
        why = f"{path.name} holds a value that JSON has no word for"
        _refuse(source, keys, f"is not JSON: {why}; correct that file")
    except UsageError as error:
        _refuse(source, keys, f"cannot be used: {error}")
    if not isinstance(document, dict):
        _refuse(source, keys, f"must hold one JSON object: {path.name}; put the record's fields in braces")
    if not isinstance(document.get("header", {}), dict):
        why = f"has a header that is no JSON object: {path.name}"
        _refuse(source, keys, f"{why}; the suite fills in its identifier")
    return document


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


Group = TypeVar("Group", Pace, RealmSettings, AttachmentSettings, TlsSettings, AccountVariables, ServiceNames)

#: Names that people write below a table by mistake.
_TOP_ONLY = ("base_url", "kind", "realms")
TOP_KEYS = ("base_url", "kind", "realms", "pace", "accounts", "realm", "attachments", "tls", "names")


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
        names=_service_names(source),
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
    """The settings of each realm: what stands in `[realm]` holds for all of them, a realm's own table goes first."""
    written = _table(source, ("realm",))
    known = {*DEVELOPMENT_REALMS, *PRODUCTION_REALMS}
    named = [name for name, value in written.items() if isinstance(value, dict) or name in known]
    for name in named:
        refuse_unknown_realm(source, ("realm", name), name)
    common = {name: value for name, value in written.items() if name not in named}
    for name in common.keys() & OF_ONE_REALM:
        _refuse(
            source, ("realm", name), f"belongs to one realm; write it below [realm.{DEVELOPMENT_REALMS[0]}]"
        )
    shared = _values(source, ("realm",), common, RealmSettings)
    settings = {
        name: RealmSettings(
            **shared | _values(source, ("realm", name), _table(source, ("realm", name)), RealmSettings)
        )
        for name in (DEVELOPMENT_REALMS if shared else named)
    }
    sent = {name: given.sent_as for name, given in settings.items() if given.sent_as}
    for name, spelling in sent.items():
        keys = ("realm", name, "sent_as")
        if not _HEADER_VALUE.fullmatch(spelling):
            _refuse(
                source,
                keys,
                "cannot stand in a header; use ASCII letters, digits and signs, no space or comma",
            )
        try:
            refuse_production_realm(spelling)
        except UsageError as error:
            raise source.fault(keys, str(error), spelling) from None
        if list(sent.values()).count(spelling) > 1 or spelling in set(DEVELOPMENT_REALMS) - {name}:
            _refuse(source, keys, f"is the name of another realm, too: {spelling!r}")
    return settings


#: A realm as a header may carry it; a comma would part two values.
_HEADER_VALUE: Final = re.compile(r"[!-+\--~]+")
#: RFC 9110, 5.6.2.
_TOKEN: Final = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)
_COLLECTIONS: Final = ("my", "mydrafts")
#: Headers that have a meaning of their own, and the documented one.
_HEADERS: Final = frozenset(
    {"realm", "accept", "authorization", "connection", "content-encoding", "content-length", "content-type"}
    | {"cookie", "host", "range", "transfer-encoding", "user-agent"}
)


def _service_names(source: TomlFile) -> ServiceNames:
    """The names of a target that differ from the document, each for one that the document has."""
    names = _group(source, ("names",), ServiceNames)
    if names.scheme and not _TOKEN.fullmatch(names.scheme):
        _refuse(source, ("names", "scheme"), 'is no scheme; write one word such as scheme = "Token"')
    header = names.realm_header
    if header and (not _TOKEN.fullmatch(header) or header.lower() in _HEADERS):
        _refuse(
            source,
            ("names", "realm_header"),
            'is no header for a realm; write one such as "X-Realm", or no line',
        )
    queries = {
        parameter for one in load_description().operations.values() for parameter in one.query_parameters
    }
    for group, given, known in (
        ("query", names.query, sorted(queries)),
        ("collections", names.collections, _COLLECTIONS),
    ):
        for name in given:
            if name not in known:
                keys = ("names", group, name)
                raise source.fault(
                    keys, f"the document has no {name!r} there; {suggestion(name, known)}", name
                )
    return names


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
    return group(**_values(source, keys, _table(source, keys), group))


def _values(source: TomlFile, keys: Names, table: Mapping[str, Any], group: type[Group]) -> dict[str, Any]:
    """Read the settings that a table gives, as their dataclass declares them."""
    declared: dict[str, Field[Any]] = {item.name: item for item in fields(group)}
    _refuse_unknown(source, keys, table, declared)
    return {
        key: checked(source, (*keys, key), declared[key].metadata["kind"], value)
        for key, value in table.items()
    }


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


TARGETS_FOLDER = "targets"


def load_target(name_or_path: str | None, environ: Mapping[str, str], search: Path) -> Target | None:
    """Return the target to aim at, or None for the embedded sandbox.

    Args:
        name_or_path: a TOML file, the name of one in `targets/`, `sandbox`, an address (then the variables
            `REGISTRY_EMAIL` and `REGISTRY_PASSWORD` hold the account), or None when nothing was asked for: then
            the variables `REGISTRY_BASE_URL`, `REGISTRY_EMAIL` and `REGISTRY_PASSWORD` decide.
        environ: environment variables.
        search: the current folder; `targets/` and relative paths are looked up there.

    Returns:
        A target that is safe to write to, or None: use the embedded sandbox.

    Raises:
        UsageError: one line that says where, what is wrong and what to do; production is refused here too.

    """
    if name_or_path == SANDBOX:
        return None
    if name_or_path is None:
        target = target_from_environment(environ)
    elif "://" in name_or_path:
        target = target_at(name_or_path, environ)
    else:
        path = _locate(name_or_path, search)
        target = read_target(path, environ, _shown_path(path, search))
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


def _locate(name_or_path: str, search: Path) -> Path:
    found = settings_file(name_or_path, search)
    if found is None and _is_name(name_or_path):
        return _no_such_target(name_or_path, search)
    return found or search / name_or_path


def _shown_path(path: Path, search: Path) -> str:
    """Return the path as a person in the current folder would write it."""
    return str(path.relative_to(search) if path.is_relative_to(search) else path)


def _no_such_target(name: str, search: Path) -> Path:
    names = sorted(path.stem for path in (search / TARGETS_FOLDER).glob("*.toml"))
    where = (
        f"{TARGETS_FOLDER}/ holds {', '.join(names)}"
        if names
        else f"there is no settings file in {TARGETS_FOLDER}/"
    )
    advice = suggestion(name, [*names, SANDBOX])
    if advice.startswith("known"):
        advice = "name one of these, a settings file, or sandbox"
    raise UsageError(f"no target {name!r}: {where}; {advice}")
