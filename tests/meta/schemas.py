"""The schemas of what machines read, made of the declarations, and where a file of a run does not keep its own.

`python -m tests.meta.schemas NAME` prints one; without a name it writes those that are published as files.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs

from contracts.evidence.journal import EVENTS
from contracts.evidence.observations import ObservationsFile
from contracts.evidence.record import RunFacts
from contracts.file_formats import schema_of
from contracts.history.baseline import DriftSettings
from contracts.history.observed_facts import Change
from contracts.history.runs import Entry, Past
from contracts.manual.check import CheckFile
from contracts.proving.trials import Result
from contracts.reports.finding_files import FindingFile
from contracts.reports.verdict_json import VerdictFile
from contracts.session.ledger import Entry as LedgerEntry

FOLDER = Path(__file__).parents[2] / "contracts" / "reports" / "schemas"
#: What others read often enough that it is kept as a file.
PUBLISHED = ("check", "verdict")
#: Name of a schema → its title and what it is made of.
SHAPES: Mapping[str, tuple[str, tuple[Any, ...]]] = {
    "changes": (
        "What `drift --json` prints: how a run differs from the accepted baseline",
        (tuple[Change, ...],),
    ),
    "check": (
        "check.json: what traffic showed about the interface, from an archive or through the proxy",
        (CheckFile,),
    ),
    "drift": ("drift.json: what a run's observations were compared with", (DriftSettings,)),
    "finding": ("A finding with its exchanges", (FindingFile,)),
    "history": ("One line of a history: a run", (Entry,)),
    "journal": ("One line of a journal: what one worker of a run did", tuple(EVENTS.values())),
    "ledger": ("One line of a ledger: a write before it is sent, or what became of it", (LedgerEntry,)),
    "observations": ("What a run saw where the interface document is silent", (ObservationsFile,)),
    "past": ("past.json: what earlier runs on the target said, as this run knew it", (Past,)),
    "run": ("run.json: the run as a whole, as its controller knows it", (RunFacts,)),
    "trial": ("One line of trials.jsonl: one trial of a proof", (Result,)),
    "verdict": ("The verdict of a run of the contract suite", (VerdictFile,)),
}
#: Files of a run folder, and of the reports, by the schema that they, or each of their lines, keep.
FILES = {
    "verdict.json": "verdict",
    "observations.json": "observations",
    "drift.json": "drift",
    "past.json": "past",
    "history-entry.json": "history",
    "history.jsonl": "history",
    "run.json": "run",
    "ledger.jsonl": "ledger",
    "journal-*.jsonl": "journal",
    "findings/*.json": "finding",
}
#: Files in formats of other tools.
FOREIGN = ("traffic.har", "junit.xml", "allure/*")


@cache
def schema(name: str) -> dict[str, Any]:
    """A schema, made of its declarations."""
    title, shapes = SHAPES[name]
    made = schema_of(title, *shapes)
    if name == "journal":
        made["anyOf"] = [
            {**shape, "properties": {"kind": {"const": kind}}, "required": ["kind"]}
            for kind, shape in zip(EVENTS, made["anyOf"], strict=True)
        ]
    return made


def text_of(name: str) -> str:
    """A schema as a file holds it."""
    return json.dumps(schema(name), indent=2, ensure_ascii=False) + "\n"


def mistakes(name: str, values: Iterable[Any]) -> list[str]:
    """Where values do not keep a schema."""
    validator = jsonschema_rs.Draft202012Validator(schema(name), validate_formats=True)
    return [
        f"{name}: {list(error.instance_path)}: {error.message}"
        for value in values
        for error in validator.iter_errors(value)
    ]


def misfits(folder: Path) -> list[str]:
    """What in a run folder keeps no schema, or is machine-readable and has none."""
    return [line for path in sorted(folder.rglob("*")) if path.is_file() for line in _misfits(folder, path)]


def _misfits(folder: Path, path: Path) -> Iterator[str]:
    place = path.relative_to(folder)
    if path.suffix not in (".json", ".jsonl", ".har", ".xml") or any(place.match(each) for each in FOREIGN):
        return
    name = next((schema for pattern, schema in FILES.items() if place.match(pattern)), None)
    if name is None:
        yield f"{place} has no schema"
        return
    text = path.read_text("utf-8")
    values = (
        map(json.loads, filter(None, text.splitlines())) if path.suffix == ".jsonl" else [json.loads(text)]
    )
    yield from (f"{place}: {line}" for line in mistakes(name, values))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        sys.stdout.write(text_of(name))
    for name in () if sys.argv[1:] else PUBLISHED:
        (FOLDER / f"{name}.schema.json").write_text(text_of(name), "utf-8")
