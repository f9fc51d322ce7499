"""Sequences that contradicted a promise, kept between runs in a Hypothesis example database and played first next time.

An entry is the sequence itself as JSON (`[["saveDraft", "A"], …]`), not the choices of a generator, so that it outlives
changes of the generator and of its library.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from hypothesis.database import DirectoryBasedExampleDatabase

from contracts.generation.model import OWNERS, Action, Step

#: Folder of the example database in the reports folder, beside the runs.
FOLDER: Final = "examples"
#: More are not played in one run.
_MOST = 6


class Saved:
    """Sequences saved for one realm of one target.

    Args:
        reports: Folder of the reports, the same in every run, or handed from run to run as an artifact.
        target: Name of the target: what contradicted one environment says nothing about another.
        scratch: Folder of this run alone that takes what is added. What was saved before stays as it is, so that two
            gates play the same; None to keep additions and removals for the next run.
    """

    def __init__(self, reports: Path, target: str, realm: str, scratch: Path | None = None) -> None:
        kept = DirectoryBasedExampleDatabase(reports / FOLDER)
        self._database = DirectoryBasedExampleDatabase(scratch / FOLDER) if scratch else kept
        self._known = kept
        self._key = f"stateful {target} {realm}".encode()

    def load(self) -> list[tuple[Step, ...]]:
        """The sequences, the shortest first, equal lengths in the order of their text."""
        entries = {*self._known.fetch(self._key), *self._database.fetch(self._key)}
        found = sorted(entries, key=lambda entry: (len(entry), entry))
        return [steps for entry in found if (steps := _read(entry))][:_MOST]

    def add(self, steps: Iterable[Step]) -> None:
        """Keep a sequence."""
        self._database.save(self._key, _written(steps))

    def remove(self, steps: Iterable[Step]) -> None:
        """Forget a sequence that does not contradict any more."""
        self._database.delete(self._key, _written(steps))


def _written(steps: Iterable[Step]) -> bytes:
    return json.dumps([[str(step.action), step.document] for step in steps]).encode()


def _read(entry: bytes) -> tuple[Step, ...]:
    """The sequence of an entry; an empty one for an entry that another version wrote."""
    try:
        steps = tuple(Step(Action(action), document) for action, document in json.loads(entry))
    except (ValueError, TypeError):
        return ()
    return steps if all(step.document in OWNERS for step in steps) else ()
