"""Lets Hypothesis draw the examples of a property, shrink a failing one and replay it first in the next run.

A property has a budget of requests: nothing is sent beyond it, and no example is sent twice. The exchanges of a
failing example are evidence. The smallest one comes last, where a finding takes it from, and is replayed on fresh
data before it counts.
"""

from __future__ import annotations

import hashlib
import math
import warnings
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Generic, TypeVar

import hypothesis
import hypothesis.errors
from hypothesis import HealthCheck, Phase
from hypothesis.database import (
    DirectoryBasedExampleDatabase,
    ExampleDatabase,
    MultiplexedDatabase,
    ReadOnlyDatabase,
)
from hypothesis.strategies import SearchStrategy

from registry_contracts.checks.outcomes import OBSTACLES, Attempt, Blocked, Contradiction, Untested
from registry_contracts.errors import EnvironmentFault, SuiteError
from registry_contracts.exchanges.readers import Ambiguous

T = TypeVar("T")

#: Folder of the example database in the reports' folder, beside the runs.
FOLDER: Final = "examples"
#: Requests for shrinking, as a multiple of those for one example.
_SHRINKING: Final = 12
#: How many times as many requests a nightly run may send for a property.
_NIGHTLY: Final = 8


def example_database(reports: Path, scope: str, scratch: Path | None) -> ExampleDatabase:
    """Return the database of failing examples of one property.

    Args:
        reports: Folder of the reports: the same in every run, or passed between runs as an artifact.
        scope: Target, realm and property; each scope has its own examples.
        scratch: Folder of this run only for new examples, so that two gate runs send the same; None keeps them.
    """
    name = f"{zlib.crc32(scope.encode()):08x}"
    kept = DirectoryBasedExampleDatabase(reports / FOLDER / name)
    if scratch is None:
        return kept
    return MultiplexedDatabase(DirectoryBasedExampleDatabase(scratch / FOLDER / name), ReadOnlyDatabase(kept))


class _Found(Exception):
    """Signals Hypothesis that an example fails; the contradiction is already noted."""


@dataclass
class _Judged(Generic[T]):
    """State of the judged examples.

    Attributes:
        failing: Digest → whether the example contradicts a MUST.
        smallest: The last failing example; Hypothesis tries ever smaller ones.
        obstacle: The obstacle of the first example that could not be judged.
        limit: Number of requests in the attempt after which no more examples are sent.
    """

    failing: dict[bytes, bool]
    smallest: tuple[T, Contradiction] | None = None
    obstacle: Blocked | Ambiguous | EnvironmentFault | Untested | SuiteError | None = None
    limit: float = math.inf


class Properties:
    """Judges properties for one attempt at a case; the fixture `properties`.

    Args:
        seed: The same seed draws the same examples.
        database: See the attribute.
        thorough: Whether this is a nightly run, which may send more requests.
        brief: Draw nothing for properties that have fixed first examples.

    Attributes:
        database: Stores failing examples.
        share: Budget as a multiple of a gate run's.
    """

    def __init__(
        self, attempt: Attempt, seed: int, database: ExampleDatabase, *, thorough: bool, brief: bool = False
    ) -> None:
        self._attempt = attempt
        self.database = database
        self._brief = brief
        self.seed = seed
        self.share = _NIGHTLY if thorough else 1

    def hold(
        self,
        examples: SearchStrategy[T] | None,
        judge: Callable[[T], None],
        *,
        requests: int,
        each: int,
        first: Sequence[T] = (),
    ) -> None:
        """Judge drawn examples by a function that makes claims about each.

        Args:
            examples: The strategy; None draws nothing.
            judge: Sends the example on fresh data and makes claims about the answers.
            requests: Maximum in a gate run until one fails, `first` included; the last example may exceed it.
            each: About how many requests one example costs.
            first: Examples to judge before any others.

        Raises:
            Contradiction: a MUST was contradicted; the evidence is that of the smallest failing example.
            Blocked, Ambiguous: an example could not be judged, and none contradicted anything.
            EnvironmentFault: the environment gave no answer. Untested: a setting is missing.
            SuiteError: a mistake in the case, which Hypothesis would misread as flaky results.
        """
        limit = self._sent + requests * self.share
        judged: _Judged[T] = _Judged({})
        smaller = _SHRINKING * each

        def holds(example: T) -> None:
            if self._contradicts(example, judge, judged, smaller):
                raise _Found

        with suppress(_Found):
            for example in first:
                holds(example)
        if judged.smallest is None:
            judged.limit = min(judged.limit, limit)
        # A failing example is always shrunk.
        drawn = not (self._brief and first)
        if examples is not None and (drawn or judged.smallest is not None):
            self._draw(examples, holds, max(1, int(judged.limit - self._sent) // each))
        if judged.smallest is not None:
            example, found = judged.smallest
            self._play_again(example, judge, found)
            raise found
        if judged.obstacle is not None:
            raise judged.obstacle

    def _draw(self, examples: SearchStrategy[T], holds: Callable[[T], None], most: int) -> None:
        """Let Hypothesis judge earlier failing examples and up to `most` others."""
        drawn = hypothesis.settings(
            max_examples=most,
            phases=(Phase.reuse, Phase.generate, Phase.shrink),
            database=self.database,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
            print_blob=False,
        )
        # Keep this order: a seed removes the database from the settings it wraps.
        test = drawn(hypothesis.seed(self.seed)(hypothesis.given(examples)(holds)))
        with suppress(_Found), warnings.catch_warnings():
            # A long failing text is a finding; a warning about its length adds nothing.
            warnings.filterwarnings(
                "ignore", "Generating overly large repr", hypothesis.errors.HypothesisWarning
            )
            test()

    @property
    def _sent(self) -> int:
        return len(self._attempt.exchanges)

    def _contradicts(self, example: T, judge: Callable[[T], None], judged: _Judged[T], smaller: int) -> bool:
        """Whether an example contradicts a MUST; False if the budget is used up.

        Args:
            smaller: Requests that Hypothesis may send to shrink it.
        """
        key = hashlib.sha256(repr(example).encode("utf-8", "surrogatepass")).digest()
        if key in judged.failing or self._sent >= judged.limit:
            return judged.failing.get(key, False)
        try:
            judge(example)
        except Contradiction as found:
            if judged.smallest is None:
                judged.limit = self._sent + smaller
            judged.smallest = (example, found)
            judged.failing[key] = True
            return True
        except (Blocked, Ambiguous) as obstacle:
            judged.obstacle = judged.obstacle or obstacle
        except (EnvironmentFault, Untested, SuiteError) as obstacle:
            judged.obstacle, judged.limit = obstacle, 0
        judged.failing[key] = False
        return False

    def _play_again(self, example: T, judge: Callable[[T], None], found: Contradiction) -> None:
        """Replay the smallest failing example on fresh data and move its evidence to the end.

        If it does not fail again, or an obstacle or environment fault occurs, the whole case must be replayed: earlier
        requests may matter.
        """
        attempt, evidence, key = self._attempt, self._attempt.evidence, found.evidence.key

        def again() -> set[tuple[str, str]]:
            try:
                judge(example)
            except Contradiction as contradiction:
                return {contradiction.evidence.key}
            return set()

        with suppress(*OBSTACLES):
            if not attempt.clouded:
                attempt.look_again({key}, again)
        if attempt.clouded or key in attempt.dismissed:
            attempt.confirmed.pop(key, None)
        evidence.remove(found.evidence)
        evidence.append(found.evidence)
