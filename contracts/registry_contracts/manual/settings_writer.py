"""Writes a target's settings file with its sample documents."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from registry_contracts.errors import UsageError
from registry_contracts.manual.recorded_settings import RecordedSettings
from registry_contracts.safe_text import json_text
from registry_contracts.session.shared_state import write_whole
from registry_contracts.settings.target import (
    ACCOUNT_ROLES,
    OF_ONE_REALM,
    RealmSettings,
)

SAMPLES: Final = "samples"
_SETTINGS: Final = RealmSettings.__dataclass_fields__
_NAME: Final = re.compile(r"[A-Za-z0-9][\w.-]*")
_HEAD: Final = (
    "Written by `registry-contracts init`. docs/settings.md explains every key; `registry-contracts doctor --target",
    "NAME` names settings that let a run judge more. Write no secrets in this file: accounts name variables.",
)
_ROLES: Final = {
    "author": "may create and update records in every realm above",
    "restricted": "can sign in, may neither create nor update",
    "nau": "holds the NAU role",
    "other": "a second author, who owns the record named by others_identifier",
}


def default_variables(role: str) -> tuple[str, str]:
    """Return the default names of the variables of a role's e-mail and password."""
    middle = "" if role == ACCOUNT_ROLES[0] else f"{role.upper()}_"
    return f"REGISTRY_{middle}EMAIL", f"REGISTRY_{middle}PASSWORD"


def settings_path(name: str, folder: Path) -> Path:
    """Return the path of a target's settings file.

    Raises:
        UsageError: the name has other characters than letters, digits, hyphens, underscores and dots.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(f"'{name}' cannot name a target; use letters, digits, hyphens and dots")
    return folder / f"{name.removesuffix('.toml')}.toml"


def write_settings(
    path: Path, base_url: str, realms: tuple[str, ...], learned: RecordedSettings
) -> list[Path]:
    """Write the settings file and its samples, each whole or not at all.

    Args:
        base_url: Empty if unknown; a person then fills the line in.

    Returns:
        The written files, the settings file last.

    Raises:
        UsageError: a file cannot be written.
    """
    writer = _Writer(path.stem, base_url, realms, learned)
    samples = {path.parent / SAMPLES / name: text for name, text in writer.samples()}
    # Recorded documents are not committed unless a person decides so.
    unseen = {path.parent / SAMPLES / ".gitignore": "*\n"} if samples else {}
    texts = {**unseen, **samples, path: writer.text}
    try:
        for folder in {place.parent for place in texts}:
            folder.mkdir(parents=True, exist_ok=True)
        for place, text in texts.items():
            write_whole(place, text.encode())
    except OSError as error:
        raise UsageError(
            f"cannot write to '{path.parent}': {error.strerror}; run it in a writable folder"
        ) from None
    return list(texts)


class _Writer:
    """Makes a settings file: known settings, once if equal in every realm; the others as commented examples."""

    def __init__(self, name: str, base_url: str, realms: tuple[str, ...], learned: RecordedSettings) -> None:
        self._name, self._base_url, self._realms, self._learned = name, base_url, realms, learned
        first, *others = (learned.realms.get(realm, {}) for realm in realms)
        #: Settings that several realms share with the same value.
        self._common = {
            name: value
            for name, value in first.items()
            if others and all(value == other.get(name) for other in others)
        }
        self._own = {
            realm: {name: value for name, value in given.items() if name not in self._common}
            for realm, given in learned.realms.items()
        }

    def samples(self) -> Iterator[tuple[str, str]]:
        """Yield names and texts of the sample documents."""
        for realm, given in {**self._own, "": self._common}.items():
            for setting, value in given.items():
                if isinstance(value, dict):
                    yield (
                        self._sample_name(realm, setting),
                        json.dumps(value, indent=2, ensure_ascii=False) + "\n",
                    )

    def _sample_name(self, realm: str, setting: str) -> str:
        parts = self._name, realm, setting.removesuffix("_document")
        return f"{'-'.join(filter(None, parts))}.json"

    @property
    def text(self) -> str:
        """The text of the settings file."""
        lines = [f"# {line}" for line in (*_HEAD, *self._learned.notes)]
        lines += ["", f"base_url = {_toml(self._base_url)} # the address before /api/v2013"]
        lines += ['kind = "development" # the only kind the suite writes to']
        lines += [f"realms = {_toml(self._realms)}"]
        for role in ACCOUNT_ROLES:
            email, password = map(_toml, default_variables(role))
            lines += ["", f"[accounts.{role}] # {_ROLES[role]}"]
            lines += [f"email_env = {email}", f"password_env = {password}"]
        lines += ["", "[realm] # for all realms; a realm's own table goes first"]
        lines += [*self._given("", self._common), *self._examples(_SETTINGS.keys() - set(OF_ONE_REALM))]
        lines += ["# Of one realm, below its own table:", *self._examples(OF_ONE_REALM)]
        for realm in self._realms:
            lines += ["", f"[realm.{realm}]", *self._given(realm, self._own.get(realm, {}))]
        names = [f"{name} = {_toml(value)}" for name, value in asdict(self._learned.names).items() if value]
        return "\n".join([*lines, *(["", "[names]", *names] if names else [])]) + "\n"

    def _given(self, realm: str, given: Mapping[str, Any]) -> Iterator[str]:
        for setting, value in given.items():
            file = f"{SAMPLES}/{self._sample_name(realm, setting)}"
            yield f"{setting} = {_toml(file if isinstance(value, dict) else value)}"

    def _examples(self, names: Collection[str]) -> Iterator[str]:
        """Yield a comment for each setting that no realm has, with an example and its meaning."""
        for name in (name for name in _SETTINGS if name in names):
            if not any(name in given for given in self._learned.realms.values()):
                described = _SETTINGS[name].metadata
                yield f"# {name} = {_toml(described['example'])} # {described['meaning']}"


def _toml(value: Any) -> str:
    """Write a text or a list of texts as TOML, which differs from JSON in one character."""
    return json_text(value).replace("\x7f", "\\u007f")
