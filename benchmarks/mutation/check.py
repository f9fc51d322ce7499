"""Whether a mutated suite still proves itself; Cosmic Ray calls it in its copy of the checkout for each mutant.

Ends with 0 when every defect that should be found was found and nothing else was: the mutant survives. Ends with 1
when a defect lived, when the faithful sandbox or a combination of variants raised an alarm, or when the judging
modules' own tests fail: the mutant is killed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from benchmarks.mutation.places import JUDGING, MODULE_LEVEL, OWN_TESTS, place
from benchmarks.mutation.reach import Route
from contracts.cases.generated_faults import make_all
from contracts.proving.matrix import PLAIN, alarming
from contracts.proving.processes import SideBySide, preload
from contracts.proving.trials import CaseIndex, ProofTrial, TrialKind, TrialResult, run_trial

#: Trials before the quiet run on the faithful sandbox, which takes as long as ten of them.
_FIRST: Final = 12
#: Trials a mutant has to live through before it meets the variants.
_MOST: Final = 32
_LONGEST_SECONDS: Final = 240.0
#: A trial waits about as long as it works.
_JOBS: Final = 2
#: The combinations of variants that have most in them.
_COMBINATIONS: Final = ("all-different", "as-different-again", "lenient", "own-readings")


def main(arguments: Sequence[str]) -> int:
    """Check the mutant in the working folder.

    Args:
        arguments: What cases reach, as `reach` measured it, and the checkout that was copied.
    """
    told = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    changed = changed_place(Path.cwd(), Path(arguments[1]))
    chosen = chosen_trials([Route.read(route) for route in told], changed)
    index = CaseIndex()
    preload(index)
    make_all()
    by = (
        _noticing([*chosen[:_FIRST], _quiet(PLAIN), *chosen[_FIRST:]], index)
        or _failing_tests()
        or _noticing([_quiet(name) for name in _COMBINATIONS], index)
    )
    sys.stdout.write(f"killed by {by}\n" if by else f"{changed} survives\n")
    return int(by is not None)


def _noticing(trials: Sequence[ProofTrial], index: CaseIndex) -> str | None:
    """The name of the first trial that shows that something is wrong with the suite."""
    with tempfile.TemporaryDirectory() as folder:
        for trial, result in _results(trials, index, Path(folder)):
            if result is None or noticed(result):
                return trial.name
    return None


def _failing_tests() -> str | None:
    command = [sys.executable, "-m", "pytest", "-q", "-x", OWN_TESTS]
    return OWN_TESTS if subprocess.run(command, check=False).returncode else None


def noticed(result: TrialResult) -> bool:
    """Whether a trial shows that something is wrong with the suite: it broke, missed a defect, or raised an alarm."""
    if result.trial.kind is TrialKind.DEFECT:
        return result.trouble is not None or not result.killed
    return result.trouble is not None or alarming(result)


def changed_place(here: Path, original: Path) -> str:
    """Where the judging modules differ from the original; the baseline, which differs nowhere, is all of them."""
    for path in sorted((here / JUDGING).glob("*.py")):
        before = (original / JUDGING / path.name).read_text(encoding="utf-8").splitlines()
        after = path.read_text(encoding="utf-8").splitlines()
        if before != after:
            same = next((n for n, (old, new) in enumerate(zip(before, after, strict=False)) if old != new), 0)
            return place(original / JUDGING / path.name, same + 1)
    return MODULE_LEVEL


def chosen_trials(routes: Sequence[Route], changed: str) -> list[ProofTrial]:
    """The cases, each with the defect it kills alone, that pass through the changed place.

    A change outside every function may matter to all that reach its module.
    """
    anywhere = changed.rpartition(":")[2] == MODULE_LEVEL
    found = [
        route.trial
        for route in routes
        if (any(each.startswith(changed) for each in route.reached) if anywhere else changed in route.reached)
    ]
    return found[:: max(1, len(found) // _MOST)][:_MOST]


def _quiet(name: str) -> ProofTrial:
    return ProofTrial(TrialKind.PLAIN if name == PLAIN else TrialKind.VARIANT, name, "", 1, whole=True)


def _results(
    trials: Sequence[ProofTrial], index: CaseIndex, folder: Path
) -> Iterator[tuple[ProofTrial, TrialResult | None]]:
    """Run trials in this order, and say of each what came of it; None where it gave no result."""

    def work(numbered: tuple[int, ProofTrial]) -> int:
        number, trial = numbered
        answer = run_trial(trial, index, folder / str(number))
        (folder / f"{number}.json").write_text(answer.line(), encoding="utf-8")
        return 0

    queue: SideBySide[tuple[int, ProofTrial]] = SideBySide(work, _JOBS, _LONGEST_SECONDS)
    for numbered in enumerate(trials):
        queue.add(numbered)
    for ended in queue.results():
        number, trial = ended.task
        path = folder / f"{number}.json"
        yield trial, TrialResult.read(path.read_text(encoding="utf-8")) if path.exists() else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
