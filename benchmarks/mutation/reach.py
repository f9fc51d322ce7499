"""Which functions of the judging modules the trial of a defect passes through: those can be weakened for it to live."""

from __future__ import annotations

import ast
import json
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any, Final

from contracts.proving.preloaded import load
from contracts.proving.side_by_side import SideBySide
from contracts.proving.trials import Kind, Trial, run_trial
from contracts.proving.watching import CaseIndex

JUDGING: Final = Path("contracts") / "judging"
#: Trials to look at for each clause; more add little, and each takes about two seconds.
_PER_CLAUSE: Final = 2
_LONGEST_SECONDS: Final = 240.0
#: Slower ones wait for time limits; nothing is judged meanwhile.
_QUICK_SECONDS: Final = 5.0
#: Where a line stands that is in no function: it has run before any trial.
MODULE_LEVEL: Final = ""

Places = frozenset[str]


class Recorder:
    """Notes each function of the judging modules that is called in this process.

    Args:
        folder: That of the judging modules.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self._seen: set[Any] = set()

    def start(self) -> None:
        """Look at every call from now on, in this thread and in those to come."""
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def places(self) -> Places:
        """What was called, as `place` names it."""
        sys.setprofile(None)
        inside = [code for code in self._seen if code.co_filename.startswith(self._folder)]
        return frozenset(place(Path(code.co_filename), code.co_firstlineno) for code in inside)

    def _note(self, frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            self._seen.add(frame.f_code)


def place(path: Path, line: int) -> str:
    """Name what a line belongs to: the module, and the outermost function or method around it.

    Args:
        line: From 1; that of a decorator belongs to what it decorates.
    """
    names = [name for name, first, last in _functions(path) if first <= line <= last]
    return f"{path.stem}:{names[0] if names else MODULE_LEVEL}"


def _functions(path: Path) -> Iterator[tuple[str, int, int]]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body:
        for inner in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                first = min([inner.lineno, *(each.lineno for each in inner.decorator_list)])
                owner = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
                yield f"{owner}{inner.name}", first, inner.end_lineno or inner.lineno


def measure(proof: dict[str, Any], folder: Path, jobs: int) -> dict[str, list[str]]:
    """Run the trials of defects that were killed at the first try, and note where each went.

    Args:
        proof: The content of `proof.json`.
        folder: For what the trials leave while they run.

    Returns:
        Defect → the places it reached.
    """
    index = CaseIndex()
    load(index)

    def work(trial: Trial) -> int:
        recorder = Recorder(Path.cwd() / JUDGING)
        recorder.start()
        result = run_trial(trial, index, folder / trial.name)
        reached = sorted(recorder.places()) if result.killed else []
        (folder / f"{trial.name}.json").write_text(json.dumps(reached), encoding="utf-8")
        return 0

    queue: SideBySide[Trial] = SideBySide(work, jobs, _LONGEST_SECONDS)
    for trial in _trials(proof):
        queue.add(trial)
    files = ((ended.task.name, folder / f"{ended.task.name}.json") for ended in queue.results())
    return {name: json.loads(path.read_text(encoding="utf-8")) for name, path in files if path.exists()}


def _trials(proof: dict[str, Any]) -> Iterator[Trial]:
    taken: Counter[str] = Counter()
    for defect in proof["defects"]:
        seed = defect["seeds"][0]
        quick = (
            seed["killed"] and seed["profile"] == "gate" and seed["seconds_to_the_finding"] < _QUICK_SECONDS
        )
        if quick and taken[defect["clause"]] < _PER_CLAUSE:
            taken[defect["clause"]] += 1
            yield Trial(Kind.DEFECT, defect["name"], defect["clause"], seed["seed"])


def main() -> None:
    """Measure in the working folder: `proof.json`, where to write, how many side by side."""
    proof, target, jobs = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    folder = target.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    reached = measure(json.loads(proof.read_text(encoding="utf-8")), folder, jobs)
    target.write_text(json.dumps(reached, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
