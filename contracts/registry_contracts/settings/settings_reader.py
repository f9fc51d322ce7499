"""Reads a target's settings: from a TOML file, a name in `targets/`, or environment variables.

Errors name file and line, and production is refused. Credentials come only from environment variables.
"""

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import MISSING, dataclass, replace
from pathlib import Path
from typing import Any, Final, NoReturn, cast

from registry_contracts.errors import UsageError, suggestion
from registry_contracts.file_formats import (
    FileName,
    Keys,
    TomlFile,
    convert,
    is_file,
    parse,
    read_text,
    read_toml_file,
)
from registry_contracts.interface.description import load_description
from registry_contracts.settings.guard import checked_base_url, refuse_production, refuse_production_realm
from registry_contracts.settings.target import (
    ACCOUNT_ROLES,
    AUTHOR,
    COLLECTIONS,
    DEVELOPMENT_REALMS,
    OF_ONE_REALM,
    PRODUCTION_REALMS,
    SANDBOX,
    Account,
    AttachmentSettings,
    Pace,
    RealmSettings,
    Secret,
    ServiceNames,
    Several,
    Target,
    Text,
    TlsSettings,
    setting,
)

BASE_URL, EMAIL, PASSWORD = "REGISTRY_BASE_URL", "REGISTRY_EMAIL", "REGISTRY_PASSWORD"
#: The variables that together name a target if no option does.
TARGET_VARIABLES: Final = (BASE_URL, EMAIL, PASSWORD)
TARGETS_FOLDER: Final = "targets"
_CONVENTIONAL: Final = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+")


@dataclass(frozen=True)
class AccountVariables:
    """The names of the two environment variables that hold one role's credentials."""

    email_env: Text = setting("name of the variable that holds the account's e-mail", default=MISSING)
    password_env: Text = setting("name of the variable that holds its password", default=MISSING)


#: Names that people write below a table by mistake.
_TOP_ONLY: Final = ("base_url", "kind", "realms")
TOP_KEYS: Final = (*_TOP_ONLY, "pace", "accounts", "realm", "attachments", "tls", "names")
#: The target of the settings file `sandbox.toml`.
_BY_HAND: Final = "sandbox-by-hand"
#: A realm as a header may carry it; a comma would part two values.
_HEADER_VALUE: Final = re.compile(r"[!-+\--~]+")
#: RFC 9110, 5.6.2.
_TOKEN: Final = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)
#: Headers that cannot carry the realm under another name: the documented one, and those with a meaning of their own.
_HEADERS: Final = frozenset(
    {"realm", "accept", "authorization", "connection", "content-encoding", "content-length", "content-type"}
    | {"cookie", "host", "range", "transfer-encoding", "user-agent"}
)


def load_target(name_or_path: str | None, environ: Mapping[str, str], search: Path) -> Target | None:
    """Return the chosen target, or None for the embedded sandbox.

    Args:
        name_or_path: A TOML file or the name of one in `targets/`, both below `search`; `sandbox`; an address, with
            its account in the variables; or None for a target in the three `REGISTRY_…` variables.

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


def refuse_sandbox_arguments(target: Target | None, arguments: object) -> None:
    """Refuse options for the embedded sandbox beside another target."""
    if target is not None and arguments:
        raise UsageError(
            f"--sandbox-arguments are for the embedded sandbox, and the target is {target.in_words}; leave one of them "
            "out"
        )


def settings_file(name_or_path: str, search: Path) -> Path | None:
    """Find the settings file of a target by its path or its name in `targets/`; None if there is none."""
    named = f"{name_or_path}.toml" if _is_name(name_or_path) else name_or_path
    return next(filter(is_file, (search / name_or_path, search / TARGETS_FOLDER / named)), None)


def _is_name(name_or_path: str) -> bool:
    return "/" not in name_or_path and "\\" not in name_or_path and not name_or_path.endswith(".toml")


def _no_such_target(name: str, search: Path) -> NoReturn:
    names = sorted(path.stem for path in (search / TARGETS_FOLDER).glob("*.toml"))
    where = f"holds {', '.join(names)}" if names else "holds no settings file"
    raise UsageError(f"no target {name!r}: {TARGETS_FOLDER}/ {where}; {suggestion(name, [*names, SANDBOX])}")


def _target_from_environment(environ: Mapping[str, str], address: str | None) -> Target | None:
    """Read a target from the three `REGISTRY_…` variables, or from an address and the other two; None if unset."""
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
    """Return an e-mail without surrounding white space; the `ValueError` of an invalid one does not repeat it."""
    email = text.strip()
    if "@" not in email or " " in email or not email.isprintable():
        raise ValueError("holds no e-mail address; set it to the account's address")
    return email


def read_target(path: Path, environ: Mapping[str, str], shown: str | None = None) -> Target:
    """Return the target that a settings file, `shown` in messages, describes; its stem becomes the target's name.

    Raises:
        UsageError: one line with file, line, what is wrong and what to do.
    """
    source = read_toml_file(path, shown or str(path))
    source.refuse_unknown((), source.tables, TOP_KEYS)
    # Tables first: a top-level key below a table explains why that key seems to be missing.
    for name, table in source.tables.items():
        for key in table if isinstance(table, dict) else ():
            if key in _TOP_ONLY:
                # TOML gives a key to the table above it, a common slip.
                raise source.unknown((name, key), "it belongs above the first table")
    pace = source.read(("pace",), Pace)
    target = Target(
        pace=pace if pace.requests_per_second != math.inf else replace(pace, requests_per_second=None),
        realm=_realm_settings(source),
        attachments=source.read(("attachments",), AttachmentSettings),
        tls=_tls(source),
        names=_service_names(source),
        realms=_realms(source),
        kind=_required(source, "kind", "development"),
        base_url=_required(source, "base_url", "https://…"),
        # A sandbox that a person serves is not the embedded one, which ends with its run.
        name=_BY_HAND
        if path.stem == SANDBOX
        else convert(path.stem, FileName, f"the name of {shown or path}"),
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
    return source.value((key,), source.tables[key], Text)


def _realms(source: TomlFile) -> tuple[str, ...]:
    realms = source.value(("realms",), source.tables.get("realms", DEVELOPMENT_REALMS), cast(Any, Several))
    for name in realms:
        refuse_unknown_realm(source, ("realms",), name)
    return tuple(dict.fromkeys(realms))


def refuse_unknown_realm(
    source: TomlFile, keys: Keys, name: str, known: Collection[str] = DEVELOPMENT_REALMS
) -> None:
    """Refuse an unknown realm; a production realm has a message of its own."""
    _refuse_production_realm(source, keys, name)
    if name not in known:
        raise source.fault(keys, f"unknown realm {name!r}; {suggestion(name, known)}", name)


def _refuse_production_realm(source: TomlFile, keys: Keys, name: str) -> None:
    try:
        refuse_production_realm(name)
    except UsageError as error:
        raise source.fault(keys, str(error), name) from None


def _realm_settings(source: TomlFile) -> dict[str, RealmSettings]:
    """Read the settings of each realm: `[realm]` holds for all realms, and a realm's own table takes precedence."""
    written = source.read_table("realm")
    known = {*DEVELOPMENT_REALMS, *PRODUCTION_REALMS}
    named = [name for name, value in written.items() if isinstance(value, dict) or name in known]
    for name in named:
        refuse_unknown_realm(source, ("realm", name), name)
    common = {name: value for name, value in written.items() if name not in named}
    for name in common.keys() & OF_ONE_REALM:
        why = f"belongs to one realm; write it below [realm.{DEVELOPMENT_REALMS[0]}]"
        _refuse(source, ("realm", name), why)
    shared = _prepared(source, ("realm",), common)
    source.read(("realm",), RealmSettings, shared)
    settings = {}
    for name in DEVELOPMENT_REALMS if shared else named:
        own = _prepared(source, ("realm", name), source.read_table("realm", name))
        settings[name] = source.read(("realm", name), RealmSettings, shared | own)
    _check_spellings(source, {name: given.sent_as for name, given in settings.items() if given.sent_as})
    return settings


def _check_spellings(source: TomlFile, sent: Mapping[str, str]) -> None:
    for name, spelling in sent.items():
        keys = ("realm", name, "sent_as")
        if not _HEADER_VALUE.fullmatch(spelling):
            why = "cannot stand in a header; use ASCII letters, digits and signs, without space or comma"
            _refuse(source, keys, why)
        _refuse_production_realm(source, keys, spelling)
        if list(sent.values()).count(spelling) > 1 or spelling in set(DEVELOPMENT_REALMS) - {name}:
            _refuse(source, keys, f"is also the name of another realm: {spelling!r}")


def _service_names(source: TomlFile) -> ServiceNames:
    """Read the target's own names, each for a name in the interface document."""
    names = source.read(("names",), ServiceNames)
    if names.scheme and not _TOKEN.fullmatch(names.scheme):
        _refuse(source, ("names", "scheme"), 'is not a scheme; write one word, such as scheme = "Token"')
    header = names.realm_header
    if header and (not _TOKEN.fullmatch(header) or header.lower() in _HEADERS):
        why = 'cannot carry the realm; write a header such as "X-Realm", or remove the line'
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
    """Return role → account for roles with credentials, and role → reason for the others.

    The author's variables are `REGISTRY_EMAIL` and `REGISTRY_PASSWORD`, unless the file names others.
    """
    accounts: dict[str, Account] = {}
    absent: dict[str, str] = {}
    for role in dict.fromkeys((AUTHOR, *source.read_table("accounts"))):
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
    """Return the names of a role's two variables, by setting."""
    keys = ("accounts", role)
    if role == AUTHOR and role not in source.tables.get("accounts", {}):
        return {"email_env": EMAIL, "password_env": PASSWORD}
    table = source.read_table("accounts").get(role)
    for key in ("email", "password"):
        if isinstance(table, dict) and key in table:
            instead = f'{key}_env = "REGISTRY_{role.upper()}_{key.upper()}"'
            why = f"does not belong in a file; put it in an environment variable, and name the variable: {instead}"
            _refuse(source, (*keys, key), why)
    return vars(source.read(keys, AccountVariables))


def _unset(role: str, key: str, variable: str, environ: Mapping[str, str]) -> str | None:
    """Return a message that a variable of a role is not set; None if it is set."""
    if environ.get(variable):
        return None
    return f"{_shown(role, key, variable)} {'is set, but empty' if variable in environ else 'is not set'}"


def _shown(role: str, key: str, variable: str) -> str:
    # The file may hold the password itself instead of the variable's name, so an unusual name is not repeated.
    if _CONVENTIONAL.fullmatch(variable):
        return f"environment variable {variable}"
    return f"the environment variable that accounts.{role}.{key} names"


def _prepared(source: TomlFile, keys: Keys, table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a realm's table with documents loaded, single identifiers as lists, and no duplicates in lists."""
    read = dict(table)
    for name, value in table.items():
        if name.endswith("_document") and isinstance(value, str):
            read[name] = _document(source, (*keys, name), _file(source, (*keys, name), value))
        elif name.endswith(("_identifier", "_identifiers")) and isinstance(value, str):
            read[name] = [value] if getattr(RealmSettings, name, None) == () else value
        elif isinstance(value, list):
            read[name] = [*dict.fromkeys(value)] if all(isinstance(item, str) for item in value) else value
    return read


def _tls(source: TomlFile) -> TlsSettings:
    settings = source.read(("tls",), TlsSettings)
    given = {name: path for name, path in vars(settings).items() if path is not None}
    return replace(settings, **{name: _file(source, ("tls", name), path) for name, path in given.items()})


def _file(source: TomlFile, keys: Keys, name: str | Path) -> Path:
    path = source.path.parent / name
    if not is_file(path):
        _refuse(source, keys, f"names no file: '{name}'; the path is relative to the settings file")
    return path


def _refuse(source: TomlFile, keys: Keys, message: str) -> NoReturn:
    raise source.fault(keys, f"{'.'.join(map(str, keys))} {message}")


def _document(source: TomlFile, keys: Keys, path: Path) -> dict[str, Any]:
    """Load the JSON object in a file that a setting names."""
    try:
        document = parse(read_text(path, path.name), path.name)
    except UsageError as error:
        _refuse(source, keys, f"cannot be used: {error}")
    if not isinstance(document, dict) or not isinstance(document.get("header", {}), dict):
        why = "must hold one JSON object; its header, if any, must be an object too"
        _refuse(source, keys, f"{why}: {path.name}")
    return document
