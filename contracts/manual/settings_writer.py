"""Writes a commented settings file of a target, with its sample documents beside it."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import tomlkit
from tomlkit.items import Table

from contracts.errors import UsageError
from contracts.manual.recorded_settings import Value
from contracts.settings.target import ACCOUNT_ROLES, DOCUMENT_REALMS, RealmSettings

SAMPLES: Final = "samples"
_NAME: Final = re.compile(r"[A-Za-z0-9][\w.-]*")
_HEAD: Final = (
    "Written by `registry-contracts init`. docs/live.md explains every key; `registry-contracts doctor --target NAME`",
    "says which setting would let a run judge more. Secrets never stand in this file: accounts name variables.",
)
_ROLES: Final = {
    "author": "may create and update records in every realm above",
    "restricted": "can sign in, may neither create nor update",
    "nau": "holds the NAU role",
    "other": "a second author, who owns the record named by others_identifier",
}


@dataclass(frozen=True)
class TargetSettings:
    """What a settings file is to hold.

    Attributes:
        name: Of the target, and of the file without its ending.
        base_url: Empty where it is not known; the line then has to be filled in.
        variables: Role → names of the variables of its e-mail and its password.
        realm: Realm → setting → value, with the request that showed it; 0 where it was given.
        remarks: Lines at the top of the file.
        scheme: What stands before a token in place of Bearer; empty for Bearer.
    """

    name: str
    base_url: str
    realms: tuple[str, ...]
    variables: Mapping[str, tuple[str, str]]
    realm: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    scheme: str = ""


def default_variables(role: str) -> tuple[str, str]:
    """The names of the variables of a role's e-mail and password, unless a person names others."""
    middle = "" if role == ACCOUNT_ROLES[0] else f"{role.upper()}_"
    return f"REGISTRY_{middle}EMAIL", f"REGISTRY_{middle}PASSWORD"


def settings_path(name: str, folder: Path) -> Path:
    """Where the settings file of a target stands.

    Args:
        folder: The folder of the settings files.

    Raises:
        UsageError: the name is no file name.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(f"'{name}' is no name for a target; use letters, digits, hyphens and dots")
    return folder / f"{name.removesuffix('.toml')}.toml"


def write_settings(settings: TargetSettings, path: Path, *, replace: bool) -> list[Path]:
    """Write the settings file and its samples; nothing is left half-written.

    Returns:
        What was written, the settings file last.

    Raises:
        UsageError: it is there already and is not to be replaced, or cannot be written.
    """
    if path.exists() and not replace:
        raise UsageError(f"{path} is there already; --force replaces it, another name keeps it")
    samples = dict(_samples(settings))
    written = [path.parent / SAMPLES / name for name in samples]
    try:
        for place, content in zip(written, samples.values(), strict=True):
            _write_whole(place, content)
        _write_whole(path, tomlkit.dumps(_document(settings)))
    except OSError as error:
        raise UsageError(f"cannot write to '{path.parent}': {error.strerror}") from None
    return [*written, path]


def _write_whole(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, fresh = tempfile.mkstemp(dir=path.parent, suffix=".new")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    Path(fresh).replace(path)


def _sample_name(settings: TargetSettings, realm: str, setting: str) -> str:
    return f"{settings.name.removesuffix('.toml')}-{realm}-{setting.removesuffix('_document')}.json"


def _samples(settings: TargetSettings) -> Iterator[tuple[str, str]]:
    for realm, known in settings.realm.items():
        for setting, shown in known.items():
            if isinstance(shown.value, dict):
                content = json.dumps(shown.value, indent=2, ensure_ascii=False) + "\n"
                yield _sample_name(settings, realm, setting), content


def _document(settings: TargetSettings) -> tomlkit.TOMLDocument:
    document = tomlkit.document()
    for line in (*_HEAD, *settings.remarks):
        document.add(tomlkit.comment(line))
    document.add(tomlkit.nl())
    document.add("base_url", _commented(settings.base_url, "the address before /api/v2013"))
    document.add("kind", _commented("development", "the only kind the suite writes to"))
    document.add("realms", tomlkit.item(list(settings.realms)))
    document.add(tomlkit.nl())
    document.add("accounts", _accounts(settings))
    realms = tomlkit.table(is_super_table=True)
    for realm in settings.realms:
        realms.add(realm, _realm(settings, realm))
    document.add("realm", realms)
    if settings.scheme:
        document.add("names", {"scheme": settings.scheme})
    return document


def _commented(value: str, comment: str) -> Any:
    item = tomlkit.item(value)
    item.comment(comment)
    return item


def _accounts(settings: TargetSettings) -> Table:
    accounts = tomlkit.table(is_super_table=True)
    for role in ACCOUNT_ROLES:
        table = tomlkit.table()
        table.comment(_ROLES[role])
        email, password = settings.variables.get(role, default_variables(role))
        table.add("email_env", email)
        table.add("password_env", password)
        table.add(tomlkit.nl())
        accounts.add(role, table)
    return accounts


def _realm(settings: TargetSettings, realm: str) -> Table:
    """One realm's table: what is known, and the other settings as comments to be filled in."""
    table, known = tomlkit.table(), settings.realm.get(realm, {})
    for setting, shown in known.items():
        value = shown.value
        if isinstance(value, dict):
            value = f"{SAMPLES}/{_sample_name(settings, realm, setting)}"
        item = tomlkit.item(list(value) if isinstance(value, tuple) else value)
        if shown.request:
            item.comment(f"request {shown.request} of the recording")
        table.add(setting, item)
    for name, described in RealmSettings.__dataclass_fields__.items():
        drafts_only = realm not in DOCUMENT_REALMS and name.startswith(
            ("contact", "country", "spare", "temporary")
        )
        if name not in known and not drafts_only:
            table.add(tomlkit.comment(f"{name} = …  {described.metadata['meaning']}"))
    table.add(tomlkit.nl())
    return table
