"""What was measured: runs on disk as they end, and what they say together."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.peers.classes import Need

FAITHFUL, VARIANT, DEFECT = "faithful", "variant", "defect"


@dataclass(frozen=True)
class Run:
    """One measured run.

    Attributes:
        tool: its name.
        kind: of sandbox: `faithful`, `variant` or `defect`.
        name: of the variant or defect; the number of the run on the faithful sandbox.
        realm: the one it was pointed at.
        failures: signatures, sorted.
        requests: sent.
        seconds: taken.
        trouble: why there is nothing to read, or not all.

    """

    tool: str
    kind: str
    name: str
    realm: str
    failures: tuple[str, ...]
    requests: int
    seconds: float
    trouble: str = ""

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What makes it the same run when a measurement goes on."""
        return self.tool, self.kind, self.name, self.realm


class Record:
    """The runs of a measurement, each written to a file of JSON lines as soon as it is over.

    Args:
        path: the file.
        resume: keep what the file holds, instead of beginning anew.

    """

    def __init__(self, path: Path, resume: bool) -> None:
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        if not resume:
            path.unlink(missing_ok=True)
        self.runs: list[Run] = []
        if path.is_file():
            for line in path.read_text(encoding="utf-8").splitlines():
                values = json.loads(line)
                self.runs.append(Run(**{**values, "failures": tuple(values["failures"])}))
        self._keys = {run.key for run in self.runs}

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def add(self, run: Run) -> None:
        """Keep a run."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(run), ensure_ascii=False) + "\n")
        self.runs.append(run)
        self._keys.add(run.key)

    def alarms(self, tool: str, realm: str) -> frozenset[str]:
        """Return everything a tool reported on the faithful sandbox of a realm."""
        runs = (run for run in self.runs if (run.tool, run.kind, run.realm) == (tool, FAITHFUL, realm))
        return frozenset(failure for run in runs for failure in run.failures)


@dataclass(frozen=True)
class Standing:
    """What the runs of one tool say.

    Attributes:
        alarms: signatures reported on the faithful sandbox, by realm.
        killed: for each defect measured, the signatures it brought up beyond those alarms.
        variants: for each variant, the signatures beyond them: all false.
        troubles: for each defect that could not be measured, why.
        requests: median of a run on a defect.
        seconds: median of a run on a defect.

    """

    alarms: Mapping[str, frozenset[str]]
    killed: Mapping[str, tuple[str, ...]]
    variants: Mapping[str, tuple[str, ...]]
    troubles: Mapping[str, str]
    requests: float
    seconds: float

    def kills(self, names: Iterable[str]) -> int:
        """Count the defects among those given that were killed."""
        return sum(bool(self.killed.get(name)) for name in names)


def stand(runs: Sequence[Run]) -> Standing:
    """Judge the runs of one tool: a defect is killed by a failure that the faithful sandbox never brought up.

    Args:
        runs: all of one tool; those on the faithful sandbox cover every realm used.

    """
    alarms: dict[str, frozenset[str]] = {}
    for run in runs:
        if run.kind == FAITHFUL:
            alarms[run.realm] = alarms.get(run.realm, frozenset()) | set(run.failures)
    fresh = {
        (run.kind, run.name): tuple(sorted(set(run.failures) - alarms.get(run.realm, frozenset())))
        for run in runs
        if run.kind != FAITHFUL
    }
    broken = [run for run in runs if run.kind == DEFECT]
    return Standing(
        alarms=alarms,
        killed={name: found for (kind, name), found in fresh.items() if kind == DEFECT},
        variants={name: found for (kind, name), found in fresh.items() if kind == VARIANT},
        troubles={run.name: run.trouble for run in broken if run.trouble},
        requests=median(run.requests for run in broken) if broken else 0,
        seconds=median(run.seconds for run in broken) if broken else 0,
    )


def summary(standings: Mapping[str, Standing], sample: Mapping[Need, Sequence[str]]) -> dict[str, Any]:
    """Return the figures by tool and class, as the results file holds them."""
    return {
        tool: {
            "killed": {
                need.value: {"killed": standing.kills(names), "of": len(names)}
                for need, names in sample.items()
            },
            "false_alarms_faithful": {realm: len(found) for realm, found in standing.alarms.items()},
            "variants_with_false_alarms": sum(bool(found) for found in standing.variants.values()),
            "variants": len(standing.variants),
            "median_requests": standing.requests,
            "median_seconds": round(standing.seconds, 1),
            "not_measured": dict(standing.troubles),
        }
        for tool, standing in standings.items()
    }
