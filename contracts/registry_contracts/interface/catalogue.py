"""The clause catalogue: what the interface document says and leaves open, as clauses with stable ids.

No judgement belongs here. The clause files are the suite's own, so they are read strictly.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from functools import cache, cached_property, lru_cache
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any

import msgspec
import yaml
from msgspec import Meta

from registry_contracts.errors import SuiteError, UsageError, suggestion
from registry_contracts.interface.description import Description, load_description, read_yaml
from registry_contracts.interface.location import openapi_directory
from registry_contracts.interface.operations import ANY_REALM, WORKFLOW_REALMS

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
#: Sentences of the interface document by name; the file lies beside the description.
_SENTENCES = "sentences.yaml"

_Text = Annotated[str, Meta(min_length=1)]
_Id = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*\Z", max_length=60)]
_Fault = Annotated[
    str,
    Meta(
        pattern=r"^((path|query|header)(\.[$\w-]+)?|body(\.[$\w-]+|\.\*)*):"
        r"(missing|wrong-kind|null|number|too-short|too-long|pattern|unknown-value|unknown-property|empty|malformed)\Z"
    ),
]
_Need = Annotated[str, Meta(pattern=r"^(realm|account|attachments)\.[a-z_]+\Z")]
_Refusal = Annotated[int, Meta(ge=400, le=499)]


class Level(StrEnum):
    """How firmly the interface document states a clause, firmest first."""

    MUST = "must"
    SHOULD = "should"
    SILENT = "silent"


@dataclass(frozen=True, slots=True)
class Clause:
    """One statement of the interface document, or one point at which it is silent.

    `source` is the heading in the interface document, or "Common sense"; `quote` holds the sentences and table rows
    below it, word for word. `wording` is the clause in our own words, `title` its short form. `faults` lists the
    generated faults that the clause covers, as ``<location>.<name>:<fault>``; a star matches any one member or item.
    `needs` lists the settings (``realm.…``, ``attachments.…``) and further accounts (``account.…``) that a target
    must have. `otherwise` is the other reading of a should. `realms` are where the clause is judged, by default the
    realms of its operations. `message` and `status` are what the document gives for the answer, with ``${realm}``
    for the realm's name. `untested` says why no test is possible. `spares` names server variants that obey the
    document although a careless test of the clause would report them; the cases of the clause must not. For a should,
    such a variant may follow the other reading, and is reported as advisory only.
    """

    id: _Id
    level: Level
    operations: Annotated[tuple[str, ...], Meta(min_length=1)]
    source: _Text
    wording: _Text
    title: str = ""
    otherwise: str = ""
    quote: str = ""
    faults: tuple[_Fault, ...] = ()
    needs: tuple[_Need, ...] = ()
    realms: tuple[str, ...] = ()
    message: _Text | None = None
    status: _Refusal | None = None
    untested: _Text | None = None
    spares: tuple[_Id, ...] = ()
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
    """Whether a clause's fault pattern matches a fault; a star matches one member or item."""
    if "*" not in pattern:
        return pattern == fault
    ours, theirs = (text.replace(":", ".").split(".") for text in (pattern, fault))
    return len(ours) == len(theirs) and all(a in {"*", b} for a, b in zip(ours, theirs, strict=True))


#: Fields that an entry does not give.
_COMPUTED = {"quote", "file", "line"}
_KEYS = {item.name for item in fields(Clause)} - _COMPUTED


def _entries(path: Path) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield the entries of a file of clauses, each with its line from 1."""
    loader = _LOADER(path.read_text(encoding="utf-8"))
    node: Any = loader.get_single_node()
    for entry in node.value:
        yield loader.construct_document(entry), entry.start_mark.line + 1


def _clause(values: dict[str, Any], file: str, line: int, description: Description) -> Clause:
    """Read an entry.

    Raises:
        SuiteError: the entry is invalid; one line with file, line and reason.
    """
    shown = f"{file}:{line}: {values.get('id', 'a clause without an id')}"
    if unknown := values.keys() - _KEYS:
        raise SuiteError(f"{shown}: unknown key {min(unknown)!r}; known are {', '.join(sorted(_KEYS))}")
    named = values.get("source", ())
    # A heading, which begins with a capital, names no sentence.
    names = [each for each in ([named] if isinstance(named, str) else named) if not each[:1].isupper()]
    sentences = [_sentences()[each] for each in names]
    found: dict[str, Any] = {"source": sentences[0][0]} if sentences else {}
    found |= {"quote": " … ".join(text for _, text in sentences), "file": file, "line": line}
    try:
        clause = msgspec.convert(values | found, Clause)
    except msgspec.ValidationError as error:
        raise SuiteError(f"{shown}: {error}") from None
    if bool(clause.otherwise) is not (clause.level is Level.SHOULD):
        raise SuiteError(f"{shown}: a should, and no other level, needs 'otherwise': the other reading")
    if unknown := set(clause.operations) - description.operations.keys():
        raise SuiteError(f"{shown}: {suggestion(min(unknown), description.operations)}")
    return replace(clause, realms=clause.realms or _realms_of(clause, description))


@cache
def _sentences() -> Mapping[str, tuple[str, str]]:
    """Sentences of the interface document by name, each with the heading under which it stands."""
    headings = read_yaml(openapi_directory() / _SENTENCES, _SENTENCES)
    return {name: (heading, text) for heading, named in headings.items() for name, text in named.items()}


_FIRMNESS = list(Level)


class Catalogue:
    """The clauses in the order of the files, with lookups by id, operation and fault."""

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
            UsageError: the id is unknown; names the closest one.
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
        """Return the most specific clause on a generated fault; None where the document is silent on it.

        Fewer stars come first, then fewer operations, then the firmer level. Without a must or should found here, a
        fault is never judged against the service.

        Args:
            fault: Such as ``path.uid:too-short`` or ``body.emails.0:wrong-kind``.
        """
        ranked = [
            ((pattern.count("*"), len(clause.operations), _FIRMNESS.index(clause.level)), clause)
            for clause in self.by_operation(operation_id)
            for pattern in clause.faults
            if matches(pattern, fault)
        ]
        return min(ranked, key=itemgetter(0))[1] if ranked else None

    @cached_property
    def must(self) -> tuple[Clause, ...]:
        """The clauses stated outright, in order."""
        return tuple(clause for clause in self if clause.level is Level.MUST)


@lru_cache(maxsize=8)
def load_catalogue(folder: Path | None = None) -> Catalogue:
    """Load the catalogue from a folder of files, by default `clauses` beside the description; once per process.

    Raises:
        SuiteError: an entry is invalid; one line with file, line and reason.
    """
    folder = folder or openapi_directory() / "clauses"
    clauses: dict[str, Clause] = {}
    for path in sorted(folder.glob("*.yaml")):
        for values, line in _entries(path):
            clause = _clause(values, path.name, line, load_description())
            if clause.id in clauses:
                raise SuiteError(
                    f"{clause.place}: the id {clause.id} is already used at {clauses[clause.id].place}"
                )
            clauses[clause.id] = clause
    return Catalogue(clauses.values())


def _realms_of(clause: Clause, description: Description) -> tuple[str, ...]:
    realms = {realm for name in clause.operations for realm in description.operations[name].realms}
    return tuple(realm for realm in (ANY_REALM, *WORKFLOW_REALMS) if realm in realms)
