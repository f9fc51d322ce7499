"""Observations where the interface document is silent, as flat facts, and their file `observations.json`.

The shape of an answer has one fact per member, such as `200 body.identifier: string`; a member that was sometimes
missing is `optional`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal

from registry_contracts.errors import UsageError
from registry_contracts.evidence.record import Observation, RunRecord
from registry_contracts.evidence.verdicts import RunVerdict
from registry_contracts.file_formats import (
    FileName,
    Format,
    Moment,
    Name,
    convert,
    parse,
    read_own,
    write_file,
)
from registry_contracts.history.drift import RealmDifference, between_realms
from registry_contracts.history.observed_facts import FAULT, OR, SEEN, Facts, Place, Value, merged_shapes

#: Members of an observation that holds the shape of an answer.
_SHAPE: Final = frozenset({"status", "type", "body"})


def facts_of(observations: Iterable[Observation]) -> Facts:
    """Return observations as facts, sorted; null is no fact."""
    noted: dict[Place, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    closed: set[tuple[Place, str]] = set()
    shapes: dict[Place, dict[str, list[Mapping[str, str]]]] = defaultdict(lambda: defaultdict(list))
    for observation in observations:
        place = Place(observation.clause, observation.operation or "", observation.realm)
        seen = observation.seen
        if isinstance(seen, dict) and set(seen) == _SHAPE and _is_shape(seen["body"]):
            shapes[place][text_of(seen["status"])].append(seen["body"])
            seen = {"status": seen["status"], f"{seen['status']} type": seen["type"] or "none"}
        for path, values, is_set in _flat(seen):
            noted[place][path] |= values
            closed |= {(place, path)} if is_set else set()
    facts: dict[Place, dict[str, Value]] = {
        place: {
            path: tuple(sorted(values)) if (place, path) in closed else OR.join(sorted(values))
            for path, values in of_place.items()
        }
        for place, of_place in noted.items()
    }
    for place, by_status in shapes.items():
        for status, bodies in by_status.items():
            facts[place] |= {f"{status} {path}": text for path, text in merged_shapes(bodies)}
    return {place: dict(sorted(values.items())) for place, values in sorted(facts.items()) if values}


def _is_shape(body: Any) -> bool:
    return isinstance(body, dict) and all(isinstance(kinds, str) for kinds in body.values())


def text_of(value: object) -> str:
    """Return a scalar as the text that facts hold: `201`, `true`, `header`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    # The text must not contain the separator of alternatives.
    return " ".join(str(value).split()).replace(OR, " / ")


def _flat(seen: Any, path: str = "") -> Iterator[tuple[str, set[str], bool]]:
    """Yield the facts of one observation: name, values, and whether these are a closed set."""
    if isinstance(seen, dict) and set(seen) == {"fault", "status"}:
        yield f"{FAULT}{seen['fault']}", {text_of(seen["status"])}, False
    elif isinstance(seen, dict):
        for name, value in seen.items():
            yield from _flat(value, f"{path}.{name}" if path else str(name))
    elif isinstance(seen, list | tuple):
        yield path or SEEN, {text_of(value) for value in seen if value is not None}, True
    elif seen is not None:
        yield path or SEEN, {text_of(seen)}, False


FILE_NAME: Final = "observations.json"
FORMAT: Final = 3


class PlaceFacts(Format, frozen=True):
    """What was seen of a clause on an operation in a realm: name of a fact → its value, or a closed set of values."""

    clause: Name
    operation: str
    realm: Name
    facts: Mapping[str, Value]


class ObservationsFile(Format, frozen=True, kw_only=True):
    """What a run saw where the interface document is silent; `complete` is false where evidence is missing."""

    format: Literal[3] = FORMAT
    target: FileName
    profile: str
    started: Moment
    observed: tuple[PlaceFacts, ...]
    realm_differences: tuple[RealmDifference, ...]
    complete: bool

    @property
    def facts(self) -> Facts:
        """The facts by their place."""
        return {Place(each.clause, each.operation, each.realm): dict(each.facts) for each in self.observed}


def write(record: RunRecord, verdict: RunVerdict, folder: Path) -> Path:
    """Write `observations.json` in a stable order, and return its path."""
    run, facts = record.run, facts_of(record.observations)
    content = ObservationsFile(
        target=run.target,
        profile=run.profile,
        started=run.started,
        observed=tuple(PlaceFacts(*place, values) for place, values in facts.items()),
        realm_differences=between_realms(facts),
        complete=not verdict.problems,
    )
    return write_file(folder / FILE_NAME, content, ObservationsFile)


def read(folder: Path) -> ObservationsFile:
    """Read the `observations.json` of a run folder."""
    path = folder / FILE_NAME
    again = f"`python -m registry_contracts.reports {folder}` makes it again"
    file = convert(parse(read_own(path, f"; {again}"), str(path)), ObservationsFile, str(path))
    if not file.complete:
        raise UsageError(f"{folder.name} is incomplete, so its observations are not reliable; run again")
    return file
