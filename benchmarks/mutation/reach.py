"""Which statements of the judging modules a case runs when it finds a defect: weakened, it may miss it."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from coverage import Coverage

from benchmarks.mutation.places import JUDGING, place
from contracts.cases.marks import Profile
from contracts.proving.matrix import trials_for_case
from contracts.proving.processes import SideBySide, preload
from contracts.proving.trials import CaseIndex, ProofTrial, TrialKind, run_trial, stage_of_case
from contracts.sandbox.defects import ALL as DEFECTS
from contracts.sandbox.defects import load as defect_named

#: Defects that a case is tried on when the proof does not say which it kills.
_TRIES: Final = 2
_LONGEST_SECONDS: Final = 240.0
#: Slower ones wait for time limits; nothing is judged meanwhile.
_QUICK_SECONDS: Final = 5.0
#: The stage at which a case that killed nothing in one realm is tried in all of them.
_EVERYWHERE: Final = stage_of_case(Profile.GATE)

Places = frozenset[str]


class Recorder:
    """Notes each statement of the judging modules that is run in this process.

    Args:
        folder: That of the judging modules.
    """

    def __init__(self, folder: Path) -> None:
        self._coverage = Coverage(data_file=None, include=[f"{folder}/*"], config_file=False)

    def start(self) -> None:
        """Look at every line from now on, in this thread and in those to come."""
        self._coverage.start()

    def places(self) -> Places:
        """What was run, as `place` names it."""
        self._coverage.stop()
        data = self._coverage.get_data()
        return frozenset(
            place(Path(name), line) for name in data.measured_files() for line in data.lines(name) or ()
        )


@dataclass(frozen=True)
class Route:
    """A case that finds a defect by itself.

    Attributes:
        trial: The case alone against the defect.
        reached: The statements it runs, as `place` names them.
    """

    trial: ProofTrial
    reached: Places

    def as_data(self) -> dict[str, Any]:
        """Plain data, which `read` reads."""
        trial = self.trial
        told = {"defect": trial.name, "clause": trial.clause, "seed": trial.seed, "stage": trial.stage}
        return {**told, "case": trial.only, "reached": sorted(self.reached)}

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> Route:
        """Read what `as_data` gave."""
        words = (told["defect"], told["clause"], told["seed"], told["stage"])
        return cls(ProofTrial(TrialKind.DEFECT, *words, only=told["case"]), frozenset(told["reached"]))


def measure(proof: Mapping[str, Any], folder: Path, jobs: int) -> list[Route]:
    """Run each case alone against a defect that it kills, and note where it goes.

    Args:
        proof: The content of `proof.json`.
        folder: For what the trials leave while they run.
    """
    index = CaseIndex()
    preload(index)

    def work(numbered: tuple[int, ProofTrial]) -> int:
        number, trial = numbered
        recorder = Recorder(Path.cwd() / JUDGING)
        recorder.start()
        result = run_trial(trial, index, folder / str(number))
        if result.killed:
            route = Route(trial, recorder.places())
            (folder / f"{number}.json").write_text(json.dumps(route.as_data()), encoding="utf-8")
        return 0

    queue: SideBySide[tuple[int, ProofTrial]] = SideBySide(work, jobs, _LONGEST_SECONDS)
    for numbered in enumerate(trials(proof, index)):
        queue.add(numbered)
    routes = []
    for ended in queue.results():
        number, trial = ended.task
        path = folder / f"{number}.json"
        if path.exists():
            routes.append(Route.read(json.loads(path.read_text(encoding="utf-8"))))
        elif trial.stage == 0:
            queue.add((number, trial.further(_EVERYWHERE)))
    return routes


def trials(proof: Mapping[str, Any], index: CaseIndex) -> Iterator[ProofTrial]:
    """Each case alone, on a defect that the proof saw it kill, or else on the likeliest ones of its clauses."""
    slow = {each["name"] for each in proof["defects"] if not _quick(each["seeds"][0])}
    killed: dict[str, list[str]] = defaultdict(list)
    for case in proof["cases"]:
        killed[case["name"]] += case["kills"]
    for defect in proof["defects"]:
        for case in defect["seeds"][0]["cases"]:
            killed[case].append(defect["name"])
    there = {defect.name for defect in DEFECTS}  # a proof may be older than the suite
    for name, facts in sorted(index.cases.items()):
        known = [defect for defect in killed[name] if defect in there and defect not in slow][:1]
        likely = [trial.name for trial in trials_for_case(name, facts, 1) if trial.name not in slow][:_TRIES]
        # One realm is enough for most of what the gate takes in.
        stage = 0 if Profile.GATE.includes(Profile(facts.profile)) else stage_of_case(facts.profile)
        for defect in known or likely:
            yield ProofTrial(TrialKind.DEFECT, defect, defect_named(defect).clause, 1, stage, only=name)


def _quick(seed: Mapping[str, Any]) -> bool:
    """Whether a defect was found at the first try without waiting for time limits."""
    return (
        bool(seed["killed"]) and seed["profile"] == "gate" and seed["seconds_to_the_finding"] < _QUICK_SECONDS
    )


def main() -> None:
    """Measure in the working folder: `proof.json`, where to write, how many side by side."""
    proof, target, jobs = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    folder = target.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    routes = measure(json.loads(proof.read_text(encoding="utf-8")), folder, jobs)
    target.write_text(json.dumps([route.as_data() for route in routes], indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
