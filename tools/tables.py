"""The tables in documents, and the schemas that others read often enough to be kept as files, from the code.

`python -m tools.tables` writes clauses.md, settings.md, maintain/network-faults.md, maintain/proof.md (faults)
and the schemas; a test tells when that is due.
"""

import itertools
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any

from registry_contracts.file_formats import kinds_in_words, schema_of
from registry_contracts.interface.catalogue import Clause, Level, load_catalogue
from registry_contracts.interface.known_cases import known_cases
from registry_contracts.reports.verdict_json import VerdictFile
from registry_contracts.sandbox.faults.population import population
from registry_contracts.sandbox.weather import ALL as WEATHERS
from registry_contracts.settings.settings_reader import AccountVariables
from registry_contracts.settings.target import (
    AttachmentSettings,
    Pace,
    RealmSettings,
    ServiceNames,
    TlsSettings,
)
from registry_contracts.traffic.report import CheckFile

DOCS = Path(__file__).parents[1] / "docs"
_GROUPS: tuple[tuple[str, type], ...] = (
    ("[pace]", Pace),
    ("[accounts.ROLE]", AccountVariables),
    ("[realm.REALM]", RealmSettings),
    ("[attachments]", AttachmentSettings),
    ("[tls]", TlsSettings),
    ("[names]", ServiceNames),
)


_MANY_OPERATIONS = 6


def clause_tables() -> str:
    """The number of clauses by family and level, then a table of each family with the cases of every clause."""
    return "\n".join(_clause_lines())


def _clause_lines() -> Iterator[str]:
    families = {name: list(of) for name, of in itertools.groupby(load_catalogue(), lambda each: each.family)}
    cases = known_cases()
    yield "| family | must | should | silent | must or should that names variants to spare |"
    yield "|---|---:|---:|---:|---:|"
    named = {f"[{name}](#{name})": clauses for name, clauses in families.items()}
    for name, clauses in (named | {f"all {len(load_catalogue())}": list(load_catalogue())}).items():
        numbers = [sum(clause.level is level for clause in clauses) for level in Level]
        numbers.append(sum(bool(clause.spares) for clause in clauses))
        yield f"| {name} | {' | '.join(map(str, numbers))} |"
    for name, clauses in families.items():
        yield f"\n## {name.capitalize()}\n"
        yield "| clause | level | what it says | stands under | operations | cases | spares |"
        yield "|---|---|---|---|---|---|---|"
        yield from (_clause_row(clause, cases.get(clause.id, ())) for clause in clauses)


def _clause_row(clause: Clause, cases: tuple[str, ...]) -> str:
    given = [str(clause.status)] if clause.status else []
    said = ", ".join([*given, *([f"`{clause.message}`"] if clause.message else [])])
    many = len(clause.operations) > _MANY_OPERATIONS
    cells = (
        f"`{clause.id}`",
        f"**{clause.level}**" if clause.level is Level.MUST else clause.level,
        clause.wording + (f" ({said})" if said else ""),
        clause.source,
        f"{len(clause.operations)} operations" if many else ", ".join(clause.operations),
        "<br>".join(f"`{name}`" for name in cases)
        or clause.untested
        or ("none" if clause.level is not Level.SILENT else ""),
        "<br>".join(f"`{name}`" for name in clause.spares),
    )
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def settings_tables() -> str:
    """Return one Markdown table per group of settings: key, kind with default, meaning."""
    return "\n\n".join(_table(title, group) for title, group in _GROUPS)


def _table(title: str, group: type) -> str:
    kinds = kinds_in_words(group)
    rows = [
        f"| `{each.name}` | {_shorter(kinds[each.name])}{_default(each)} | {each.metadata['meaning']} |"
        for each in fields(group)
    ]
    return "\n".join([f"`{title}`", "", "| key | kind | meaning |", "|---|---|---|", *rows])


def _shorter(kind: str) -> str:
    """Without the rule of an identifier, which settings.md says once."""
    return re.sub(r" \(11 [^)]*\)", "", kind)


def _default(item: Field[Any]) -> str:
    empty = item.default in (None, (), "", MISSING) or item.default_factory is not MISSING
    return "" if empty else f"; {item.default:g} by default"


def population_table() -> str:
    """The fault catalogue by family of clauses: faults, how many break a must clause, clauses and operations."""
    faults = [(load_catalogue().clause(fault.breaks[0]).family, fault) for fault in population().values()]
    lines = ["| family | faults | of a MUST | clauses | operations |", "|---|---:|---:|---:|---:|"]
    for family in (*sorted({family for family, _ in faults}), "all"):
        members = [fault for own, fault in faults if family in (own, "all")]
        musts = sum(fault.level is Level.MUST for fault in members)
        clauses = {clause for fault in members for clause in fault.breaks}
        operations = {operation for fault in members for operation in fault.at}
        lines.append(f"| {family} | {len(members)} | {musts} | {len(clauses)} | {len(operations)} |")
    return "\n".join(lines)


def network_faults_table() -> str:
    """How a run over the faithful service ends with each network fault."""
    rows = ["| a run over the faithful service | with the network faults |", "|---|---|"]
    for end, passable in (("inconclusive", False), ("pass", True)):
        names = ", ".join(f"`{each.name}`" for each in WEATHERS.values() if each.passable is passable)
        rows.append(f"| {end} | {names} |")
    return "\n".join(rows)


def put_between(path: Path, name: str, text: str) -> None:
    """Put a text between the comments `<!-- begin NAME -->` and `<!-- end NAME -->` of a document."""
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    before, _, rest = path.read_text("utf-8").partition(begin)
    _, closed, after = rest.partition(end)
    if not closed:
        raise ValueError(f"{path} lacks '{begin}' or '{end}'")
    path.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}", "utf-8")


#: Document, mark in it, and what makes the table between its marks.
TABLES: tuple[tuple[str, str, Callable[[], str]], ...] = (
    ("clauses.md", "clauses", clause_tables),
    ("settings.md", "settings", settings_tables),
    ("maintain/network-faults.md", "network faults", network_faults_table),
    ("maintain/proof.md", "population", population_table),
)

SCHEMAS = Path(__file__).parents[1] / "contracts" / "registry_contracts" / "reports" / "schemas"
#: Name of a schema → its title and what it is made of.
PUBLISHED = {
    "check": (
        "check.json: what traffic showed about the interface, from an archive or through the proxy",
        CheckFile,
    ),
    "verdict": ("The verdict of a run of the contract suite", VerdictFile),
}


def schema_text(name: str) -> str:
    """A schema as a file holds it."""
    return json.dumps(schema_of(*PUBLISHED[name]), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for name, mark, table in TABLES:
        put_between(DOCS / name, mark, table())
    for name in PUBLISHED:
        (SCHEMAS / f"{name}.schema.json").write_text(schema_text(name), "utf-8")
