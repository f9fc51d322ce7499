"""A copy of the checkout in which Cosmic Ray may change files, and a session of it with a sample of mutants."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import WorkerOutcome, WorkResult

from benchmarks.mutation.places import JUDGING

CHECKOUT: Final = Path(__file__).parents[2]
#: What decides whether a contradiction is seen.
MUTATED: Final = JUDGING.as_posix()
_COPIED: Final = (
    *("contracts", "openapi", "tests/contract", "tests/meta"),
    *("benchmarks", "conftest.py", "pyproject.toml", "README.md", "registry_contracts.py"),
)
#: What weakens a check: a condition turned round, dropped, or joined the other way; a loop that never runs.
_WEAKENING: Final = frozenset(
    f"core/{name}"
    for name in (
        "AddNot",
        "ReplaceAndWithOr",
        "ReplaceOrWithAnd",
        "ReplaceTrueWithFalse",
        "ReplaceFalseWithTrue",
        "ReplaceUnaryOperator_Delete_Not",
        "ZeroIterationForLoop",
        *(f"ReplaceComparisonOperator_{pair}" for pair in ("Eq_NotEq", "NotEq_Eq", "Is_IsNot", "IsNot_Is")),
        *(f"ReplaceComparisonOperator_{pair}" for pair in ("Lt_GtE", "GtE_Lt", "LtE_Gt", "Gt_LtE")),
    )
)
_CONFIG: Final = """[cosmic-ray]
module-path = "{mutated}"
timeout = {timeout}
excluded-modules = []
test-command = "{check}"

[cosmic-ray.distributor]
name = "local"
"""
#: A mutant may make the suite wait for what never comes.
_TIMEOUT_SECONDS: Final = 1200.0


class Bench:
    """One copy of the checkout with one session.

    Args:
        folder: Where the copy goes; must not exist.
        reach: What `benchmarks.mutation.reach` found.
    """

    def __init__(self, folder: Path, reach: Path) -> None:
        self.folder = folder
        for name in _COPIED:
            source, target = CHECKOUT / name, folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(source, target, ignore=_bytecode) if source.is_dir() else shutil.copy(
                source, target
            )
        module = [sys.executable, "-m", "benchmarks.mutation.check"]
        self._check = [*module, str(reach.resolve()), str(CHECKOUT)]
        config = _CONFIG.format(mutated=MUTATED, timeout=_TIMEOUT_SECONDS, check=" ".join(self._check))
        self._config = folder / "mutation.toml"
        self._config.write_text(config, encoding="utf-8")
        self.session = folder / "session.sqlite"
        self._call("init", str(self._config), str(self.session))

    def sample(self, number: int, seed: int, part: int, parts: int) -> int:
        """Leave a part of a random sample of the mutants to be tried.

        Args:
            number: Size of the whole sample.
            part, parts: Which part this bench takes, from 0, and of how many.

        Returns:
            How many mutants there are to sample from.
        """
        with use_db(str(self.session), WorkDB.Mode.open) as base:
            items = sorted(base.pending_work_items, key=_place)
            real = [item for item in items if _weakens(item)]
            chosen = random.Random(seed).sample(real, min(number, len(real)))  # noqa: S311 - a sample, no secret
            kept = {item.job_id for item in chosen[part::parts]}
            dropped = [item.job_id for item in items if item.job_id not in kept]
            base.set_multiple_results(dropped, WorkResult(worker_outcome=WorkerOutcome.SKIPPED))
        return len(real)

    def start(self) -> subprocess.Popen[bytes]:
        """Try the mutants, in a process group of its own; ends when all were tried."""
        words = self._words("exec", str(self._config), str(self.session))
        return subprocess.Popen(words, cwd=self.folder, start_new_session=True)

    def quiet(self) -> bool:
        """Whether the unchanged suite passes the check; otherwise every mutant would seem to be noticed."""
        return subprocess.run(self._check, cwd=self.folder, check=False).returncode == 0

    def tried(self) -> list[dict[str, Any]]:
        """The mutants tried so far: module, line, operator, outcome, diff and what the check said."""
        with use_db(str(self.session), WorkDB.Mode.open) as base:
            return [
                {
                    "module": Path(item.mutations[0].module_path).name,
                    "line": item.mutations[0].start_pos[0],
                    "operator": item.mutations[0].operator_name.removeprefix("core/"),
                    "outcome": str(result.test_outcome.value) if result.test_outcome else "untried",
                    "said": (result.output or "").strip()[-200:],
                    "diff": result.diff or "",
                }
                for item, result in base.completed_work_items
                if result.worker_outcome is not WorkerOutcome.SKIPPED
            ]

    def _call(self, *words: str) -> None:
        subprocess.run(self._words(*words), cwd=self.folder, check=True)

    @staticmethod
    def _words(*words: str) -> list[str]:
        return [sys.executable, "-m", "cosmic_ray.cli", *words]


def _weakens(item: Any) -> bool:
    return item.mutations[0].operator_name in _WEAKENING


def _place(item: Any) -> tuple[str, tuple[int, int], str, int]:
    mutation = item.mutations[0]
    return str(mutation.module_path), tuple(mutation.start_pos), mutation.operator_name, mutation.occurrence


def _bytecode(_folder: str, names: list[str]) -> set[str]:
    return {name for name in names if name == "__pycache__"}
