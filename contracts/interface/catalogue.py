"""One clause of the catalogue, and how a file of clauses is read: strictly, naming the line of a mistake.

The clause catalogue: everything the interface document says or leaves open, as data with stable names.
"""

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, cached_property, lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import yaml

from contracts.errors import SuiteError, UsageError
from contracts.interface.description import Description, load_description
from contracts.interface.location import openapi_directory
from contracts.interface.operations import ANY_REALM, WORKFLOW_REALMS

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_ID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_LONGEST_ID = 60
_REFUSALS = range(400, 500)
_NEED = re.compile(r"(realm|account|attachments)\.[a-z_]+")
_FAULT = re.compile(
    r"((path|query|header)(\.[$\w-]+)?|body(\.[$\w-]+|\.\*)*):"
    r"(missing|wrong-kind|null|number|too-short|too-long|pattern|unknown-value|unknown-property|empty|malformed)"
)
_REQUIRED = ("id", "level", "operations", "source", "wording")
_TEXTS = ("id", "level", "wording", "title", "message", "untested")
_LISTS = ("operations", "faults", "needs", "realms")
_KEYS = (*_REQUIRED, "title", "faults", "needs", "realms", "message", "status", "untested")
#: Where sentences of the interface document stand, beside the description.
_SENTENCES = "sentences.yaml"


class Level(StrEnum):
    """How firmly the interface document states a clause (design 1), firmest first."""

    MUST = "must"
    SHOULD = "should"
    SILENT = "silent"


@dataclass(frozen=True, slots=True)
class Clause:
    """One statement of the interface document, or one point at which it is silent.

    Attributes:
        id: stable name, kebab-case.
        level: whether a contradiction fails a run, is reported as advice, or cannot exist.
        operations: operation ids the clause covers, never empty.
        source: heading of the interface document under which it stands, or "Common sense".
        wording: the clause in our own words.
        title: the wording in short, for the head of a finding; empty where it is short itself.
        quote: the sentences and table rows of the document that it rests on, word for word; empty where it is silent.
        faults: generated faults the clause speaks about, as ``<location>.<name>:<fault>``; a star stands for
            any one member or item.
        needs: settings (``realm.…``, ``attachments.…``) and accounts (``account.…``) without which it cannot
            be judged on a target. The account ``author`` is taken for granted.
        realms: development realms it is judged in, ``any`` where an operation knows no realm; those of its
            operations unless the entry names others.
        message: text the document gives for an answer, with ``${realm}`` where the realm's name stands.
        status: status the document gives for it.
        untested: why nothing tests it, where nothing can.
        file: name of the catalogue file.
        line: line of the entry in it, from 1.

    """

    id: str
    level: Level
    operations: tuple[str, ...]
    source: str
    wording: str
    title: str = ""
    quote: str = ""
    faults: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    realms: tuple[str, ...] = ()
    message: str | None = None
    status: int | None = None
    untested: str | None = None
    file: str = ""
    line: int = 0

    @property
    def family(self) -> str:
        """The clause family: the name of the file without its ending."""
        return self.file.removesuffix(".yaml")

    @property
    def place(self) -> str:
        """File and line of the entry, as error messages show it."""
        return f"{self.file}:{self.line}"

    def message_in(self, realm: str) -> str | None:
        """Return the text the document gives for an answer in a realm, or ``None`` where it gives none."""
        return self.message.replace("${realm}", realm) if self.message is not None else None


def matches(pattern: str, fault: str) -> bool:
    """Tell whether a fault of a clause covers a given one; a star covers one member or item."""
    if "*" not in pattern:
        return pattern == fault
    ours, theirs = _steps_of_pattern(pattern), _steps(fault)
    return len(ours) == len(theirs) and all(a in {"*", b} for a, b in zip(ours, theirs, strict=True))


def _steps(fault: str) -> list[str]:
    return fault.replace(":", ".").split(".")


_steps_of_pattern = lru_cache(maxsize=1024)(_steps)


def read_clauses(path: Path) -> Iterator[Clause]:
    """Read one file of the catalogue.

    Args:
        path: a YAML file holding a list of entries.

    Yields:
        Its clauses in order, with ``realms`` as written (empty where the entry names none).

    Raises:
        SuiteError: the file or an entry cannot be used; one line with file, line and what is wrong.

    """
    loader = _LOADER(_text(path))
    try:
        node = loader.get_single_node()
        if not isinstance(node, yaml.SequenceNode):
            raise SuiteError(f"{path.name}:1: is not a list of clauses; begin each with '- id:'")
        for entry in node.value:
            shown = f"{path.name}:{entry.start_mark.line + 1}"
            if not isinstance(entry, yaml.MappingNode):
                raise SuiteError(f"{shown}: a clause is a mapping; begin it with 'id:'")
            _refuse_repeated_keys(entry, path.name)
            values = loader.construct_document(entry)
            yield _clause(values, shown, path.name, entry.start_mark.line + 1)
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark
        raise SuiteError(
            f"{path.name}:{mark.line + 1 if mark else 1}: is not YAML: {fault.problem}"
        ) from fault
    finally:
        loader.dispose()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise SuiteError(f"{path.name}:1: cannot be read: {fault}") from fault


def _refuse_repeated_keys(entry: yaml.MappingNode, file: str) -> None:
    seen = set()
    for key, _ in entry.value:
        if not isinstance(key, yaml.ScalarNode):
            raise SuiteError(f"{file}:{key.start_mark.line + 1}: a key is not a word")
        if key.value in seen:
            raise SuiteError(f"{file}:{key.start_mark.line + 1}: the key {key.value!r} stands twice")
        seen.add(key.value)


def _clause(values: dict[str, Any], shown: str, file: str, line: int) -> Clause:
    for problem in _problems(values):
        raise SuiteError(f"{shown}: {problem}")
    for problem in _unknown_words(values):
        raise SuiteError(f"{shown}: {values['id']}: {problem}")
    lists = {key: tuple(values.get(key, ())) for key in _LISTS}
    sentences = [_sentences()[name] for name in _names_of_sentences(values["source"])]
    source = sentences[0][0] if sentences else values["source"]
    return Clause(
        id=values["id"],
        level=Level(values["level"]),
        source=source,
        wording=values["wording"],
        title=values.get("title", ""),
        quote=" … ".join(text for _, text in sentences),
        message=values.get("message"),
        status=values.get("status"),
        untested=values.get("untested"),
        file=file,
        line=line,
        **lists,
    )


def _names_of_sentences(source: str | list[str]) -> list[str]:
    """The names of the sentences that a clause rests on; a heading, which begins with a capital, names none."""
    names = [source] if isinstance(source, str) else source
    return [name for name in names if not name[:1].isupper()]


@cache
def _sentences() -> Mapping[str, tuple[str, str]]:
    """Sentences of the interface document by name, each with the heading under which it stands."""
    headings = yaml.load(_text(openapi_directory() / _SENTENCES), _LOADER)  # noqa: S506 - safe in either form
    return {name: (heading, text) for heading, named in headings.items() for name, text in named.items()}


def _problems(values: Mapping[str, Any]) -> Iterator[str]:
    """Say what is wrong with the keys and kinds of an entry."""
    for key in values:
        if key not in _KEYS:
            yield f"unknown key {key!r}; known are {', '.join(_KEYS)}"
    for key in _REQUIRED:
        if key not in values:
            yield f"the key {key!r} is missing"
    for key in _TEXTS:
        if key in values and not (isinstance(values[key], str) and values[key].strip()):
            yield f"{key} is not a text with something in it"
    for key in (*_LISTS, *(["source"] if not isinstance(values.get("source"), str) else [])):
        listed = values.get(key, ["-"])
        if not isinstance(listed, list) or not listed or not all(isinstance(text, str) for text in listed):
            yield f"{key} is not a list of texts with at least one in it"
        elif len(set(listed)) < len(listed):
            yield f"{key} names something twice"


def _unknown_words(values: Mapping[str, Any]) -> Iterator[str]:
    """Say which words of an entry with the right keys and kinds mean nothing."""
    if not _ID.fullmatch(values["id"]) or len(values["id"]) > _LONGEST_ID:
        yield f"the id is not kebab-case of at most {_LONGEST_ID} characters"
    if values["level"] not in list(Level):
        yield f"unknown level {values['level']!r}; use {', '.join(Level)}"
    for name in _names_of_sentences(values["source"]):
        if name not in _sentences():
            yield f"unknown source {name!r}; write a heading, or the name of a sentence in {_SENTENCES}"
    for fault in values.get("faults", ()):
        if not _FAULT.fullmatch(fault):
            yield f"unknown fault word {fault!r}; write <location>.<name>:<fault>, as in path.uid:too-short"
    for need in values.get("needs", ()):
        if not _NEED.fullmatch(need):
            yield f"unknown need {need!r}; write realm.<setting>, account.<role> or attachments.<setting>"
    status = values.get("status")
    if status is not None and not (type(status) is int and status in _REFUSALS):
        yield f"the status {status!r} is not a number from 400 to 499"


__all__ = ["Catalogue", "Clause", "Level", "load_catalogue"]

_FIRMNESS = list(Level)
#: The headers that concern an operation besides Realm, which the description lists where it applies.
_HEADERS = frozenset({"Accept", "Authorization", "Content-Type"})


class Catalogue:
    """The clauses in the order of the files, and the questions the suite asks of them.

    Args:
        clauses: clauses with distinct ids.

    """

    def __init__(self, clauses: Iterable[Clause]) -> None:
        self._clauses = {clause.id: clause for clause in clauses}

    def __iter__(self) -> Iterator[Clause]:
        return iter(self._clauses.values())

    def __len__(self) -> int:
        return len(self._clauses)

    def __contains__(self, clause_id: object) -> bool:
        return clause_id in self._clauses

    def clause(self, clause_id: str) -> Clause:
        """Return a clause by its id.

        Raises:
            UsageError: there is none; names the closest id there is.

        """
        try:
            return self._clauses[clause_id]
        except KeyError:
            close = difflib.get_close_matches(clause_id, self._clauses, n=1, cutoff=0.5)
            hint = f"did you mean {close[0]!r}?" if close else "docs/clauses.md lists them all"
            raise UsageError(f"unknown clause {clause_id!r}; {hint}") from None

    def by_operation(self, operation_id: str) -> tuple[Clause, ...]:
        """Return the clauses that cover an operation, in order; empty when there are none."""
        return tuple(clause for clause in self if operation_id in clause.operations)

    def for_fault(self, operation_id: str, fault: str) -> Clause | None:
        """Find the clause that speaks about a generated fault.

        Only a clause found here, and only at must or should, lets the fault be judged against the service.

        Args:
            fault: the fault as ``<location>.<name>:<fault>``, such as ``path.uid:too-short``; inner members
                after a dot, items by their number or a star.

        Returns:
            The most specific clause: exact before starred, then the one for the fewest operations, then the
            firmest. ``None`` when the document says nothing on it.

        """
        exact, starred = self._faults.get(operation_id, ({}, []))
        if fault in exact:
            return exact[fault]
        return next((clause for pattern, clause in starred if matches(pattern, fault)), None)

    @cached_property
    def must(self) -> tuple[Clause, ...]:
        """The clauses stated outright, in order."""
        return tuple(clause for clause in self if clause.level is Level.MUST)

    @cached_property
    def _faults(self) -> dict[str, tuple[dict[str, Clause], list[tuple[str, Clause]]]]:
        """By operation: the clause of each fault that is named outright, and patterns with stars, best first."""
        firmest = sorted(self, key=lambda clause: (len(clause.operations), _FIRMNESS.index(clause.level)))
        named: dict[str, tuple[dict[str, Clause], list[tuple[str, Clause]]]] = {}
        for clause in firmest:
            for operation, fault in product(clause.operations, clause.faults):
                exact, starred = named.setdefault(operation, ({}, []))
                if "*" in fault:
                    starred.append((fault, clause))
                else:
                    exact.setdefault(fault, clause)
        for _, starred in named.values():
            starred.sort(key=lambda pair: pair[0].count("*"))
        return named


def load_catalogue(folder: Path | None = None, description: Description | None = None) -> Catalogue:
    """Load the catalogue; with the suite's own description the same folder is read once per process.

    Args:
        folder: folder of the catalogue files (``*.yaml``, read in the order of their names); by default the
            folder ``clauses`` beside the description.
        description: description that knows the operations; by default the suite's own.

    Returns:
        The catalogue, with the realms of every clause filled in.

    Raises:
        SuiteError: the catalogue cannot be used; one line with file, line and what is wrong.

    """
    where = _own_folder() if folder is None else folder.resolve()
    return _load(where) if description is None else _read(where, description)


@cache
def _own_folder() -> Path:
    """Where the suite's own catalogue is; looked for once, as it is asked for with every request."""
    return (openapi_directory() / "clauses").resolve()


@lru_cache(maxsize=8)
def _load(folder: Path) -> Catalogue:
    return _read(folder, load_description())


def _read(folder: Path, description: Description) -> Catalogue:
    clauses: dict[str, Clause] = {}
    for path in sorted(folder.glob("*.yaml")):
        for clause in read_clauses(path):
            if clause.id in clauses:
                raise SuiteError(f"{clause.place}: {clause.id} stands already at {clauses[clause.id].place}")
            for problem in _foreign_words(clause, description):
                raise SuiteError(f"{clause.place}: {clause.id}: {problem}")
            clauses[clause.id] = replace(clause, realms=clause.realms or _realms_of(clause, description))
    if not clauses:
        raise SuiteError(f"{folder} holds no clause; each family has a file, such as uid.yaml")
    return Catalogue(clauses.values())


def _realms_of(clause: Clause, description: Description) -> tuple[str, ...]:
    realms = {realm for name in clause.operations for realm in description.operations[name].realms}
    return tuple(realm for realm in (ANY_REALM, *WORKFLOW_REALMS) if realm in realms)


def _foreign_words(clause: Clause, description: Description) -> Iterator[str]:
    """Say which operations, realms and parameters a clause names that the description does not know."""
    for name in clause.operations:
        if name not in description.operations:
            close = difflib.get_close_matches(name, description.operations, n=1)
            yield f"unknown operation {name!r}" + (f"; did you mean {close[0]!r}?" if close else "")
    for realm in clause.realms:
        if realm not in (ANY_REALM, *WORKFLOW_REALMS):
            yield f"unknown realm {realm!r}; use {', '.join((ANY_REALM, *WORKFLOW_REALMS))}"
    for fault in clause.faults:
        location, _, name = fault.partition(":")[0].partition(".")
        parameters = _parameters(clause, description, location)
        if location != "body" and name and name not in parameters:
            yield f"the fault {fault!r} names no {location} parameter of its operations"


def _parameters(clause: Clause, description: Description, location: str) -> set[str]:
    operations = [description.operations[name] for name in clause.operations]
    if location == "header":
        return set(_HEADERS) | (
            {"Realm"} if any(operation.takes_realm for operation in operations) else set()
        )
    listed = (
        operation.path_parameters if location == "path" else operation.query_parameters
        for operation in operations
    )
    return {name for names in listed for name in names}
