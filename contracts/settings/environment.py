"""Settings that come from environment variables: credentials always, everything for a first try."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields

from contracts.errors import UsageError
from contracts.settings.guard import checked_base_url
from contracts.settings.target import ACCOUNT_ROLES, AUTHOR, Account, Kind, Secret, Target, about
from contracts.settings.toml_file import TomlFile

BASE_URL, EMAIL, PASSWORD = "REGISTRY_BASE_URL", "REGISTRY_EMAIL", "REGISTRY_PASSWORD"
_CONVENTIONAL = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+")


@dataclass(frozen=True)
class AccountVariables:
    """The names of the two environment variables that hold one role's credentials."""

    email_env: str | None = field(
        default=None, metadata=about(Kind.TEXT, "name of the variable that holds the account's e-mail")
    )
    password_env: str | None = field(
        default=None, metadata=about(Kind.TEXT, "name of the variable that holds its password")
    )


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
        UsageError: only some are set, or one cannot be used; it names the variable, never its value.

    """
    names = (BASE_URL, EMAIL, PASSWORD)
    missing = [name for name in names if not environ.get(name)]
    if len(missing) == len(names):
        return None
    if missing:
        raise UsageError(
            f"{_others(names, missing)} set, but not {' and '.join(missing)}; "
            "set all three environment variables, or name a target: --target sandbox is the embedded one"
        )
    base_url = _checked(BASE_URL, checked_base_url, environ)
    email = _checked(EMAIL, checked_email, environ)
    account = Account(AUTHOR, email, Secret(environ[PASSWORD]))
    return Target(name="environment", base_url=base_url, accounts={AUTHOR: account})


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


def _others(names: tuple[str, ...], missing: list[str]) -> str:
    return " and ".join(name for name in names if name not in missing)


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
            return f"{_shown(variable, role, item.name)} is not set"
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
