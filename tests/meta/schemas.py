"""Which schema each machine-readable file of a run keeps, and where one of them does not."""

import json
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs

from tests.meta.published_schemas import SCHEMAS as MAKERS

#: Files of a run folder, and of the reports, by the schema that they, or each of their lines, keep.
SCHEMAS = {
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
def validator(name: str) -> jsonschema_rs.Draft202012Validator:
    """The validator of a schema, made of its declaration."""
    return jsonschema_rs.Draft202012Validator(MAKERS[name](), validate_formats=True)


def mistakes(name: str, values: Iterable[Any]) -> list[str]:
    """Where values do not keep a schema."""
    return [
        f"{name}: {list(error.instance_path)}: {error.message}"
        for value in values
        for error in validator(name).iter_errors(value)
    ]


def misfits(folder: Path) -> list[str]:
    """What in a run folder keeps no schema, or is machine-readable and has none."""
    return [line for path in sorted(folder.rglob("*")) if path.is_file() for line in _misfits(folder, path)]


def _misfits(folder: Path, path: Path) -> Iterator[str]:
    place = path.relative_to(folder)
    if path.suffix not in (".json", ".jsonl", ".har", ".xml") or any(place.match(each) for each in FOREIGN):
        return
    name = next((schema for pattern, schema in SCHEMAS.items() if place.match(pattern)), None)
    if name is None:
        yield f"{place} has no schema"
        return
    text = path.read_text("utf-8")
    values = (
        map(json.loads, filter(None, text.splitlines())) if path.suffix == ".jsonl" else [json.loads(text)]
    )
    yield from (f"{place}: {line}" for line in mistakes(name, values))
