"""Reads `deviations/<target>.toml`: contradictions that are known and accepted, each until a day."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from contracts.errors import UsageError
from contracts.evidence.terms import Deviation
from contracts.gating.source import Keys, Source, called, read_source
from contracts.interface.catalogue import Catalogue
from contracts.interface.clauses import Clause, Level
from contracts.interface.description import Description
from contracts.interface.operations import ANY_REALM, WORKFLOW_REALMS
from contracts.target.model import PRODUCTION_REALMS
from contracts.target.source import suggestion

#: The only key at the top of the file: one table for each deviation.
ENTRY = "deviation"
PROFILES = ("smoke", "gate", "nightly", "full")
#: What each entry must say, with an example.
_REQUIRED = {
    "clause": '"draft-get-content"',
    "reason": '"…"',
    "owner": '"…"',
    "issue": '"https://…"',
    "expires": "2030-01-31",
}
_KEYS = (*_REQUIRED, "realms", "operation", "profile")


def read_deviations(
    path: Path, shown: str, catalogue: Catalogue, description: Description
) -> tuple[Deviation, ...]:
    """Read a file of deviations.

    Args:
        path: The TOML file.
        shown: The path as messages show it.
        catalogue: The clauses an entry may name.
        description: The operations an entry may name.

    Returns:
        The entries in the order of the file. One whose date has passed is read like any other.

    Raises:
        UsageError: one line with file, line, what is wrong and what to do.
    """
    source = read_source(path, shown, "deviations file")
    source.refuse_unknown((), source.tables, (ENTRY,))
    entries = source.tables.get(ENTRY, [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise source.fault(
            (ENTRY,),
            f"{ENTRY} must be a list of tables, not {called(entries)}; begin each entry with [[{ENTRY}]]",
        )
    found = tuple(
        _Entry(source, (ENTRY, number), entry, catalogue, description).read()
        for number, entry in enumerate(entries)
    )
    _refuse_doubles(found)
    return found


class _Entry:
    """One entry under reading."""

    def __init__(
        self,
        source: Source,
        keys: Keys,
        entry: dict[str, Any],
        catalogue: Catalogue,
        description: Description,
    ) -> None:
        self._source = source
        self._keys = keys
        self._entry = entry
        self._catalogue = catalogue
        self._description = description

    def read(self) -> Deviation:
        source, keys, entry = self._source, self._keys, self._entry
        source.refuse_unknown(keys, entry, _KEYS)
        for key, example in _REQUIRED.items():
            if key not in entry:
                raise source.fault(keys, f"the deviation lacks {key}; add {key} = {example}")
        clause = self._clause()
        return Deviation(
            clause=clause.id,
            realms=self._realms(clause),
            operation=self._operation(clause),
            reason=source.text_at((*keys, "reason"), entry["reason"], "…"),
            owner=source.text_at((*keys, "owner"), entry["owner"], "…"),
            issue=self._issue(),
            expires=source.day_at((*keys, "expires"), entry["expires"]),
            profile=self._profile(),
            file=source.shown,
            line=source.line(keys),
        )

    def _clause(self) -> Clause:
        keys = (*self._keys, "clause")
        name = self._source.text_at(keys, self._entry["clause"], "draft-get-content")
        clause = known_clause(self._source, keys, name, self._catalogue)
        if clause.level is Level.SILENT:
            raise self._source.fault(
                keys,
                f"the interface document is silent at '{name}', so nothing can contradict it; take the entry out",
            )
        return clause

    def _realms(self, clause: Clause) -> tuple[str, ...]:
        if "realms" not in self._entry:
            return clause.realms
        keys = (*self._keys, "realms")
        realms = self._source.texts_at(keys, self._entry["realms"], clause.realms[0])
        for realm in realms:
            known_realm(self._source, keys, realm, (*WORKFLOW_REALMS, ANY_REALM))
            if realm not in clause.realms:
                raise self._source.fault(
                    keys, f"'{clause.id}' is judged in {', '.join(clause.realms)}, not in {realm}", realm
                )
        return realms

    def _operation(self, clause: Clause) -> str | None:
        if "operation" not in self._entry:
            return None
        keys = (*self._keys, "operation")
        name = self._source.text_at(keys, self._entry["operation"], clause.operations[0])
        known_operation(self._source, keys, name, self._description)
        if name not in clause.operations:
            listed = ", ".join(clause.operations)
            raise self._source.fault(keys, f"'{clause.id}' concerns {listed}, not {name}")
        return name

    def _issue(self) -> str:
        keys = (*self._keys, "issue")
        link = self._source.text_at(keys, self._entry["issue"], "https://…")
        try:
            parts = urlsplit(link)
        except ValueError:
            parts = urlsplit("")
        if parts.scheme not in ("http", "https") or not parts.netloc or " " in link:
            raise self._source.fault(keys, f"issue is not a link: '{link}'; write the issue's https address")
        return link

    def _profile(self) -> str:
        keys = (*self._keys, "profile")
        name = self._source.text_at(keys, self._entry.get("profile", "gate"), "nightly")
        if name not in PROFILES:
            raise self._source.fault(keys, f"unknown profile '{name}'; {suggestion(name, PROFILES)}")
        return name


def known_clause(source: Source, keys: Keys, name: str, catalogue: Catalogue) -> Clause:
    """Return the clause of a name.

    Raises:
        UsageError: there is none; file, line and the nearest one there is.
    """
    try:
        return catalogue.clause(name)
    except UsageError as error:
        raise source.fault(keys, str(error), name) from None


def known_operation(source: Source, keys: Keys, name: str, description: Description) -> None:
    """Refuse an operation that the description does not have.

    Raises:
        UsageError: file, line and the nearest operation; for a method with a path, the operation that it is.
    """
    if name in description.operations:
        return
    method, _, path = name.partition(" ")
    match = description.match(method, path.strip()) if path else None
    advice = f"write '{match[0].id}'" if match else suggestion(name, description.operations)
    raise source.fault(keys, f"unknown operation '{name}'; {advice}", name)


def known_realm(source: Source, keys: Keys, name: str, known: Iterable[str]) -> None:
    """Refuse a realm that is none of the known ones, production realms with a word of their own.

    Raises:
        UsageError: file, line and what to write.
    """
    plain = name.strip().lower()
    if plain in PRODUCTION_REALMS:
        raise source.fault(keys, f"'{name}' is a production realm, which is refused; use {plain}-dev", name)
    if name not in list(known):
        raise source.fault(keys, f"unknown realm '{name}'; {suggestion(name, known)}", name)


def _refuse_doubles(found: tuple[Deviation, ...]) -> None:
    for number, later in enumerate(found):
        for earlier in found[:number]:
            shared = list(_shared(earlier, later))
            if shared:
                raise UsageError(
                    f"{later.place}: the deviation on '{later.clause}' in {', '.join(shared)} stands already "
                    f"at line {earlier.line}; keep one of them"
                )


def _shared(one: Deviation, other: Deviation) -> Iterator[str]:
    same = one.clause == other.clause and (
        one.operation is None or other.operation is None or one.operation == other.operation
    )
    return (realm for realm in one.realms if same and realm in other.realms)
