"""Whether a mutated suite still proves itself; Cosmic Ray calls it in its copy of the checkout for each mutant.

Ends with 0 when every defect that should be found was found and nothing else was: the mutant survives. Ends with 1
when a defect lived or the faithful sandbox raised an alarm: the mutant is killed.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from benchmarks.mutation.reach import JUDGING, MODULE_LEVEL, Route, place
from contracts.evidence.outcomes import ExitCode
from contracts.proving.preloaded import load
from contracts.proving.side_by_side import SideBySide
from contracts.proving.trials import Kind, Trial, TrialResult, run_trial
from contracts.proving.watching import CaseIndex

#: Trials before the quiet run on the faithful sandbox, which takes as long as twenty of them.
_FIRST: Final = 12
#: Trials a mutant has to live through.
_MOST: Final = 48
_LONGEST_SECONDS: Final = 240.0


def main(arguments: Sequence[str]) -> int:
    """Check the mutant in the working folder.

    Args:
        arguments: What cases reach, as `reach` measured it, and the checkout that was copied.
    """
    told = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    changed = changed_place(Path.cwd(), Path(arguments[1]))
    chosen = chosen_trials([Route.read(route) for route in told], changed)
    trials = [*chosen[:_FIRST], _calm(), *chosen[_FIRST:]]
    index = CaseIndex()
    load(index)
    with tempfile.TemporaryDirectory() as folder:
        for result in _results(trials, index, Path(folder)):
            if result is None or noticed(result):
                name = result.trial.name if result else "a trial"
                sys.stdout.write(f"killed by {name}\n")
                return 1
    sys.stdout.write(f"{changed} survives {len(trials)} trials\n")
    return 0


def noticed(result: TrialResult) -> bool:
    """Whether a trial shows that something is wrong with the suite: it broke, missed a defect, or raised an alarm."""
    if result.trial.kind is Kind.DEFECT:
        return result.trouble is not None or not result.killed
    return result.trouble is not None or bool(result.findings) or result.exit_code != ExitCode.PASS


def changed_place(here: Path, original: Path) -> str:
    """Where the judging modules differ from the original; the baseline, which differs nowhere, is all of them."""
    for path in sorted((here / JUDGING).glob("*.py")):
        before = (original / JUDGING / path.name).read_text(encoding="utf-8").splitlines()
        after = path.read_text(encoding="utf-8").splitlines()
        if before != after:
            same = next((n for n, (old, new) in enumerate(zip(before, after, strict=False)) if old != new), 0)
            return place(original / JUDGING / path.name, same + 1)
    return MODULE_LEVEL


def chosen_trials(routes: Sequence[Route], changed: str) -> list[Trial]:
    """The cases, each with the defect it kills alone, that pass through the changed place.

    A change outside every function may matter to all that reach its module.
    """
    module, _, function = changed.partition(":")
    found = [
        route.trial
        for route in routes
        if (changed in route.reached if function else any(each.startswith(module) for each in route.reached))
    ]
    return found[:: max(1, len(found) // _MOST)][:_MOST]


def _calm() -> Trial:
    return Trial(Kind.PLAIN, "plain", "", 1, whole=True)


def _results(trials: Sequence[Trial], index: CaseIndex, folder: Path) -> Iterable[TrialResult | None]:
    def work(trial: Trial) -> int:
        answer = run_trial(trial, index, folder / trial.name)
        (folder / f"{trial.name}.json").write_text(answer.line(), encoding="utf-8")
        return 0

    queue: SideBySide[Trial] = SideBySide(work, 1, _LONGEST_SECONDS)
    for trial in trials:
        queue.add(trial)
    for ended in queue.results():
        path = folder / f"{ended.task.name}.json"
        yield TrialResult.read(path.read_text(encoding="utf-8")) if path.exists() else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
