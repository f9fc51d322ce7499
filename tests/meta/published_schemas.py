"""Schemas of what machines read, made of the declarations.

`python -m tests.meta.published_schemas NAME` prints one; without a name it writes those that are published as files.
"""

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

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


def _journal() -> dict[str, Any]:
    schema = schema_of("One line of a journal: what one worker of a run did", *EVENTS.values())
    schema["anyOf"] = [
        {**shape, "properties": {"kind": {"const": kind}}, "required": ["kind"]}
        for kind, shape in zip(EVENTS, schema["anyOf"], strict=True)
    ]
    return schema


#: Name of a schema → what makes it.
SCHEMAS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "changes": lambda: schema_of(
        "What `drift --json` prints: how a run differs from the accepted baseline", tuple[Change, ...]
    ),
    "check": lambda: schema_of(
        "check.json: what traffic showed about the interface, from an archive or through the proxy", CheckFile
    ),
    "drift": lambda: schema_of("drift.json: what a run's observations were compared with", DriftSettings),
    "finding": lambda: schema_of("A finding with its exchanges", FindingFile),
    "history": lambda: schema_of("One line of a history: a run", Entry),
    "journal": _journal,
    "ledger": lambda: schema_of(
        "One line of a ledger: a write before it is sent, or what became of it", LedgerEntry
    ),
    "observations": lambda: schema_of(
        "What a run saw where the interface document is silent", ObservationsFile
    ),
    "past": lambda: schema_of("past.json: what earlier runs on the target said, as this run knew it", Past),
    "run": lambda: schema_of("run.json: the run as a whole, as its controller knows it", RunFacts),
    "trial": lambda: schema_of("One line of trials.jsonl: one trial of a proof", Result),
    "verdict": lambda: schema_of("The verdict of a run of the contract suite", VerdictFile),
}


def text_of(name: str) -> str:
    """A schema as a file holds it."""
    return json.dumps(SCHEMAS[name](), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        sys.stdout.write(text_of(name))
    for name in () if sys.argv[1:] else PUBLISHED:
        (FOLDER / f"{name}.schema.json").write_text(text_of(name), "utf-8")
