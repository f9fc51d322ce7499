"""Other people's records on a sandbox that keeps its data, and whether a run has changed any of them."""

from __future__ import annotations

import hashlib
import sqlite3
import tomllib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import requests

from contracts.target.model import DOCUMENT_REALMS

_PATIENCE_SECONDS: Final = 20.0
_TABLES: Final = {
    "versions": ("realm", "identifier", "state"),
    "locks": ("realm", "identifier"),
    "attachments": ("id",),
}
#: Names of people's own records that lie as close to the suite's as they can.
LOOKALIKES: Final = (
    "rc-report-2026-final",
    "rc-report2026finalver",
    "rc-aaaa-not-of-the-suite",
    "rc-abcdmadebyaperson0001",
    "rc-keepsakes-of-mine",
    "rc-keep_author-contact",
    "RC-keep-author-contact-abs-dev",
    "rc_keep-author-contact-abs-dev",
    "rcabcd000000000000000000",
    "sandbox-existing-abs-dev-7",
    "sandbox-existing-abs-dev0",
    "xrc-abcd0000000000000000",
    "1234567890",
    "-------------------------------",
)
_SHORTEST: Final = 11

Row = tuple[Any, ...]
Snapshot = dict[tuple[str, ...], str]


@dataclass(frozen=True)
class Change:
    """One row that is not what it was: `table` and key, and how it differs."""

    place: tuple[str, ...]
    how: str


class Neighbours:
    """Plants records of two accounts over the interface, and looks at the database from outside.

    Args:
        url: Base URL of a sandbox.
        data: Its data folder.
    """

    def __init__(self, url: str, data: Path) -> None:
        self._url = url
        self._data = data
        self._tokens: dict[str, str] = {}

    def plant(self) -> int:
        """Plant drafts with attachments, and contacts, in each realm; returns how many records."""
        self._tokens = {role: self._sign_in(role) for role in ("author", "other")}
        count = 0
        for realm in DOCUMENT_REALMS:
            for number, name in enumerate(LOOKALIKES):
                role = ("author", "other")[number % 2]
                count += self._plant(role, realm, name.ljust(_SHORTEST, "0"))
        return count

    def snapshot(self) -> Snapshot:
        """Every row of the database by table and key, as a digest of all its columns, files included."""
        database = f"file:{self._data / 'registry.sqlite'}?mode=ro"
        with closing(sqlite3.connect(database, uri=True)) as connection:
            connection.row_factory = sqlite3.Row
            return dict(self._rows(connection))

    def _rows(self, connection: sqlite3.Connection) -> Iterator[tuple[tuple[str, ...], str]]:
        for table, key in _TABLES.items():
            for row in connection.execute(f"SELECT * FROM {table}"):  # noqa: S608 - our own names
                digest = hashlib.sha256(repr(tuple(row)).encode("utf-8", "surrogatepass"))
                if table == "attachments":
                    digest.update(self._file(row["file_key"]))
                yield (table, *(str(row[name]) for name in key)), digest.hexdigest()

    def _file(self, key: str) -> bytes:
        found = next(self._data.rglob(key), None)
        return found.read_bytes() if found else b"(no file)"

    def _plant(self, role: str, realm: str, name: str) -> int:
        header = {"identifier": name, "schema": "contact", "languages": ["en"]}
        path = f"/api/v2013/documents/{name}"
        self._send(
            role, realm, "PUT", f"{path}/versions/draft?schema=contact", {"header": header, "firstName": role}
        )
        self._send(role, realm, "POST", f"{path}/attachments/mine.txt", raw=f"of the {role}".encode())
        contact = {
            "header": {**header, "identifier": f"{name}c"[-128:]},
            "firstName": role,
            "lastName": "Neighbour",
            "organization": {"en": "Next door"},
            "country": {"identifier": "ke"},
            "emails": [f"{role}@next.example"],
            "type": "person",
            "contactOrganization": {"identifier": f"organization-{realm}"},
        }
        self._send(role, realm, "POST", "/api/v2013/documents?schema=contact", contact)
        return 3

    def _send(
        self, role: str, realm: str, method: str, path: str, body: Any = None, raw: bytes | None = None
    ) -> None:
        answer = requests.request(
            method,
            self._url + path,
            json=body,
            data=raw,
            headers={"Authorization": f"Bearer {self._tokens[role]}", "Realm": realm},
            timeout=_PATIENCE_SECONDS,
        )
        answer.raise_for_status()

    def _sign_in(self, role: str) -> str:
        account = {"email": f"{role}@sandbox.test", "password": f"sandbox-{role}"}
        answer = requests.post(
            f"{self._url}/api/v2013/authentication/token", json=account, timeout=_PATIENCE_SECONDS
        )
        answer.raise_for_status()
        return str(answer.json()["authenticationToken"])


def changes(before: Snapshot, after: Snapshot, named: frozenset[str]) -> list[Change]:
    """What became of the rows that were there before a run, but for those of records that the settings name."""
    return [
        Change(place, "gone" if place not in after else "changed")
        for place, digest in before.items()
        if after.get(place) != digest and not named & set(place)
    ]


def named_records(settings: Path) -> frozenset[str]:
    """Identifiers that a settings file gives the suite to write to."""
    realms = tomllib.loads(settings.read_text(encoding="utf-8"))["realm"].values()
    keys = (
        "locked_identifier",
        "existing_identifier",
        "others_identifier",
        "published_identifier",
        "spare_identifiers",
    )
    values = [realm[key] for realm in realms for key in keys if key in realm]
    return frozenset(name for value in values for name in ([value] if isinstance(value, str) else value))
