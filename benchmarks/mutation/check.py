"""Whether a mutated suite still proves itself; Cosmic Ray calls it in its copy of the checkout for each mutant.

Ends with 0 when every defect that should be found was found and nothing else was: the mutant survives. Ends with 1
when a defect lived or the faithful sandbox raised an alarm: the mutant is killed.
"""

from __future__ import annotations

import ast
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from contracts.proving.preloaded import load
from contracts.proving.side_by_side import SideBySide
from contracts.proving.trials import Kind, Trial, TrialResult, run_trial
from contracts.proving.watching import CaseIndex

_JUDGING: Final = "contracts.judging."
#: Defects a mutant is shown, each on another clause as far as there are as many.
_MOST_DEFECTS: Final = 14
_LONGEST_SECONDS: Final = 60.0


def main(arguments: Sequence[str]) -> int:
    """Check the mutant in the working folder.

    Args:
        arguments: `proof.json`, and the checkout that was copied.
    """
    proof, original = json.loads(Path(arguments[0]).read_text(encoding="utf-8")), Path(arguments[1])
    here = Path.cwd()
    module = changed_module(here, original)
    trials = [*_chosen(proof, users(module, here)), _calm()]
    index = CaseIndex()
    load(index)
    with tempfile.TemporaryDirectory() as folder:
        for result in _results(trials, index, Path(folder)):
            if result is None or result.trouble or result.killed != (result.trial.kind is Kind.DEFECT):
                name = result.trial.name if result else "a trial"
                sys.stdout.write(f"killed by {name}\n")
                return 1
    sys.stdout.write(f"{module} survives {len(trials)} trials\n")
    return 0


def changed_module(here: Path, original: Path) -> str:
    """The judging module that differs from the original, by its name without the package."""
    for path in sorted((here / "contracts" / "judging").glob("*.py")):
        if path.read_bytes() != (original / "contracts" / "judging" / path.name).read_bytes():
            return path.stem
    return "claims"  # the baseline: nothing is changed yet


def users(module: str, here: Path) -> set[str]:
    """The files of cases that import a judging module, be it through another one, or through the machinery."""
    imports = {path.stem: _imported(path) for path in (here / "contracts" / "judging").glob("*.py")}
    machinery: set[str] = set()
    for folder in ("plugin", "generation"):
        for path in (here / "contracts" / folder).glob("*.py"):
            machinery |= _imported(path)
    reached = {
        path.name: _closure(_imported(path), imports)
        for path in (here / "tests" / "contract").rglob("test_*.py")
    }
    found = {name for name, modules in reached.items() if module in modules}
    return found if found and module not in machinery else set(reached)


def _imported(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    direct = {name.removeprefix(_JUDGING) for name in names if name.startswith(_JUDGING)}
    packages = [
        n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module == _JUDGING.rstrip(".")
    ]
    return direct | {alias.name for node in packages for alias in node.names}


def _closure(start: Iterable[str], imports: dict[str, set[str]]) -> set[str]:
    reached: set[str] = set()
    waiting = list(start)
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += imports.get(name, ())
    return reached


def _chosen(proof: dict[str, Any], files: set[str]) -> list[Trial]:
    """Defects that cases of these files kill at the first try, one of each clause first."""
    by_clause: dict[str, list[Trial]] = defaultdict(list)
    stems = {name.removeprefix("test_").removesuffix(".py") for name in files}
    for defect in proof["defects"]:
        seed = defect["seeds"][0]
        killers = [case for case in seed["cases"] if case.partition(":")[0] in stems]
        if killers and seed["profile"] == "gate" and len(seed["realms"]) == 1:
            trial = Trial(Kind.DEFECT, defect["name"], defect["clause"], seed["seed"])
            by_clause[defect["clause"]].append(trial)
    groups = [by_clause[clause] for clause in sorted(by_clause)]
    spread = groups[:: max(1, len(groups) // _MOST_DEFECTS)]
    ordered = [group[turn] for turn in range(_MOST_DEFECTS) for group in spread if turn < len(group)]
    return ordered[:_MOST_DEFECTS]


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
