"""The terms of a run: what a consumer uses and waives, which deviations are accepted; reads their files.

Errors in these files raise a `UsageError` of one line, with file, line, what is wrong and what to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, cast

from msgspec import Meta
from msgspec.structs import replace

from registry_contracts.errors import UsageError, suggestion
from registry_contracts.file_formats import Format, Keys, Name, TomlFile, is_file, one_of, read_toml_file
from registry_contracts.interface.catalogue import Clause, Level, load_catalogue
from registry_contracts.interface.description import load_description
from registry_contracts.interface.operations import ANY_REALM, WORKFLOW_REALMS
from registry_contracts.interface.profiles import Profile
from registry_contracts.settings.settings_reader import TARGETS_FOLDER as TARGETS
from registry_contracts.settings.settings_reader import refuse_unknown_realm
from registry_contracts.settings.target import Several, Text


class Deviation(Format, frozen=True):
    """A contradiction that is accepted on one target until a day.

    `realms` is never empty once read; `operation` None means every operation of the clause. `profile` is the first
    profile that shows the contradiction. `file` and `line` say where the entry starts.
    """

    clause: Text
    reason: Text
    owner: Text
    issue: Annotated[str, Meta(pattern=r"^https?://[^\s/]", description="an https address")]
    expires: Annotated[date, Meta(description="a date such as 2030-01-31")]
    realms: Several = ()
    operation: Text | None = None
    profile: Annotated[str, one_of(*Profile)] = "gate"
    file: str = ""
    line: int = 0

    @property
    def place(self) -> str:
        """File and line of the entry, as messages show it."""
        return f"{self.file}:{self.line}"

    def concerns(self, clause: str, realm: str, operation: str | None) -> bool:
        """Tell whether this entry is about a contradiction."""
        return clause == self.clause and realm in self.realms and self.operation in {None, operation}


class Waiver(Format, frozen=True):
    """A must clause that need not be judged for a consumer, and why."""

    clause: Name
    reason: Name
    file: Name
    line: Annotated[int, Meta(ge=1)]


@dataclass(frozen=True, slots=True)
class Consumer:
    """What an SDK or another client uses of the interface; without a file, all of it.

    Empty `operations`, `clauses` or `realms` mean no limit. `methods` maps each method of the SDK to the operations
    that it calls; these are also in `operations`.
    """

    file: str = ""
    operations: tuple[str, ...] = ()
    methods: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    clauses: tuple[str, ...] = ()
    realms: tuple[str, ...] = ()
    waivers: tuple[Waiver, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is a consumer file."""
        return bool(self.file)

    def uses(self, operation: str | None) -> bool:
        """Tell whether the consumer calls an operation; None, the service as a whole, always counts."""
        return operation is None or not self.operations or operation in self.operations

    def counts(self, clause: str, realm: str, operation: str | None) -> bool:
        """Tell whether a contradiction matters to the consumer."""
        return (
            self.uses(operation)
            and (not self.clauses or clause in self.clauses)
            and (not self.realms or realm in (*self.realms, ANY_REALM))
        )

    def covers(self, clause: Clause, realm: str) -> bool:
        """Tell whether the verdict on a clause in a realm matters to the consumer."""
        return any(self.counts(clause.id, realm, operation) for operation in clause.operations)


@dataclass(frozen=True, slots=True)
class Terms:
    """Consumer and deviations of one run; `deviations_file` is None if there is none."""

    consumer: Consumer = Consumer()
    deviations: tuple[Deviation, ...] = ()
    deviations_file: str | None = None

    @property
    def waived(self) -> dict[str, str]:
        """The reasons of waivers, by clause id."""
        return {waiver.clause: waiver.reason for waiver in self.consumer.waivers}

    def accepted(self, clause: str, realm: str, operation: str | None, day: date) -> Deviation | None:
        """Return the entry that accepts a contradiction on `day`, or None."""
        entries = (entry for entry in self.deviations if entry.concerns(clause, realm, operation))
        return next((entry for entry in entries if entry.expires >= day), None)

    def entry(self, place: str | None) -> Deviation | None:
        """Return the deviation at a file and line, or None."""
        return next((entry for entry in self.deviations if entry.place == place), None)

    def methods_of(self, operations: Iterable[str | None]) -> tuple[str, ...]:
        """Return the consumer's methods that call one of the operations, each once."""
        used, methods = set(operations), self.consumer.methods
        return tuple(name for name, called in methods.items() if not used.isdisjoint(called))


#: The only key at the top of the file: one table for each deviation.
ENTRY = "deviation"
_GUIDE = "docs/gate.md"


def read_deviations(path: Path, shown: str) -> tuple[Deviation, ...]:
    """Read a file of deviations, in its order, expired ones included."""
    source = _read(path, shown, "deviations file")
    source.refuse_unknown((), source.tables, (ENTRY,))
    entries = source.tables.get(ENTRY, [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise source.fault((ENTRY,), f"{ENTRY} must be a list of tables; begin each entry with [[{ENTRY}]]")
    accepted = tuple(_entry(source, (ENTRY, number), entry) for number, entry in enumerate(entries))
    for earlier, later in combinations(accepted, 2):
        _refuse_double(earlier, later)
    return accepted


def _read(path: Path, shown: str, what: str) -> TomlFile:
    if not is_file(path):
        raise UsageError(f"no {what} '{shown}': name an existing TOML file")
    return read_toml_file(path, shown, _GUIDE)


def _entry(source: TomlFile, keys: Keys, entry: dict[str, Any]) -> Deviation:
    read = source.read(keys, Deviation, entry)
    clause = _clause(source, (*keys, "clause"), read.clause)
    if clause.level is Level.SILENT:
        silent = f"the interface document is silent at '{clause.id}', so nothing can contradict it"
        raise source.fault((*keys, "clause"), f"{silent}; remove the entry")
    for realm in read.realms:
        refuse_unknown_realm(source, (*keys, "realms"), realm, (*WORKFLOW_REALMS, ANY_REALM))
        if realm not in clause.realms:
            judged = f"'{clause.id}' is judged in {', '.join(clause.realms)}, not in {realm}"
            raise source.fault((*keys, "realms"), judged, realm)
    if read.operation is not None:
        _refuse_unknown_operations(source, (*keys, "operation"), [read.operation])
        if read.operation not in clause.operations:
            concerned = f"'{clause.id}' concerns {', '.join(clause.operations)}, not {read.operation}"
            raise source.fault((*keys, "operation"), concerned)
    return replace(read, realms=read.realms or clause.realms, file=source.shown, line=source.line(keys))


def _clause(source: TomlFile, keys: Keys, name: str) -> Clause:
    try:
        return load_catalogue().clause(name)
    except UsageError as error:
        raise source.fault(keys, str(error), name) from None


def _refuse_unknown_operations(source: TomlFile, keys: Keys, names: Iterable[str]) -> None:
    description = load_description()
    for name in names:
        if name not in description.operations:
            method, _, path = name.partition(" ")
            match = description.match(method, path.strip()) if path else None
            advice = f"write '{match[0].id}'" if match else suggestion(name, description.operations)
            raise source.fault(keys, f"unknown operation '{name}'; {advice}", name)


def _refuse_double(earlier: Deviation, later: Deviation) -> None:
    alike = None in (earlier.operation, later.operation) or earlier.operation == later.operation
    shared = [realm for realm in earlier.realms if realm in later.realms]
    if earlier.clause == later.clause and alike and shared:
        stands = f"stands already at line {earlier.line}; keep one of them"
        raise UsageError(f"{later.place}: the deviation on '{later.clause}' in {', '.join(shared)} {stands}")


@dataclass(frozen=True)
class _ConsumerTable:
    """The keys of a consumer file; TOML reads dotted names of methods as nested tables."""

    operations: Several = ()
    methods: Mapping[str, Any] = field(default_factory=dict)
    clauses: Several = ()
    realms: Several = ()
    waivers: Mapping[str, Any] = field(default_factory=dict)


def read_consumer(path: Path, shown: str) -> Consumer:
    """Read a consumer file."""
    source = _read(path, shown, "consumer file")
    read = source.read((), _ConsumerTable)
    if not source.tables:
        raise source.fault((), 'the consumer file is empty; begin with operations = ["createToken", …]')
    _refuse_unknown_operations(source, ("operations",), read.operations)
    methods = dict(_methods(source, read.methods))
    used = {*read.operations, *(operation for operations in methods.values() for operation in operations)}
    operations = tuple(name for name in load_description().operations if name in used)
    for realm in read.realms:
        refuse_unknown_realm(source, ("realms",), realm, WORKFLOW_REALMS)
    for name in operations if read.realms else ():
        has = load_description().operations[name].realms
        if has != (ANY_REALM,) and not set(has) & set(read.realms):
            # No case would judge it.
            only = f"{name} is offered in {', '.join(has)} only; name one of them, or remove it"
            raise source.fault(("realms",), only)
    for name in read.clauses:
        clause = _clause(source, ("clauses",), name)
        if operations and not set(clause.operations) & set(operations):
            unused = f"'{name}' concerns {', '.join(clause.operations)}, which the consumer does not use"
            advice = "add one of them to operations, or remove the clause"
            raise source.fault(("clauses",), f"{unused}; {advice}", name)
    waivers = tuple(_waivers(source, read.waivers))
    return Consumer(source.shown, operations, methods, read.clauses, read.realms, waivers)


def _methods(
    source: TomlFile, table: Mapping[str, Any], above: tuple[str, ...] = ()
) -> Iterator[tuple[str, tuple[str, ...]]]:
    for name, value in table.items():
        steps = (*above, name)
        if isinstance(value, dict) and value:
            yield from _methods(source, value, steps)
        else:
            keys = ("methods", *steps)
            operations = source.value(keys, value, cast(Any, Several))
            _refuse_unknown_operations(source, keys, operations)
            yield ".".join(steps), operations


def _waivers(source: TomlFile, table: Mapping[str, Any]) -> Iterator[Waiver]:
    for name, reason in table.items():
        keys = ("waivers", name)
        _clause(source, keys, name)
        if not isinstance(reason, str) or not reason.strip():
            raise source.fault(
                keys, f"the waiver of '{name}' has no reason; write {name} = \"why the SDK can do without\""
            )
        yield Waiver(name, reason.strip(), source.shown, source.line(keys))


#: Folder with a file of deviations for each target.
FOLDER = "deviations"


def load_terms(
    consumer: str | None, deviations: str | None, target: str | None, name: str, search: Path
) -> Terms:
    """Read the consumer file and the target's deviations.

    Args:
        deviations: Path of the deviations file, or None: `deviations/<name>.toml` below the current folder, else
            beside the settings file, else none.
        target: The settings file or name that the person gave; `name` is the target's own.
        search: The current folder.
    """
    used = read_consumer(search / consumer, consumer) if consumer is not None else Consumer()
    file = search / deviations if deviations is not None else None
    file = file or next((path for path in _places(target, name, search) if is_file(path)), None)
    if file is None:
        return Terms(used)
    shown = deviations or str(file.relative_to(search) if file.is_relative_to(search) else file)
    return Terms(used, read_deviations(file, shown), shown)


def _places(target: str | None, name: str, search: Path) -> Iterator[Path]:
    file = Path(FOLDER) / f"{name}.toml"
    yield search / file
    if target is not None and is_file(search / target):
        beside = (search / target).parent
        yield beside.parent / file if beside.name == TARGETS else beside / file
