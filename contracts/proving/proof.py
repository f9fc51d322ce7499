"""One proof from the question to the reports: loads the suite, runs the trials, shows progress, writes the matrix."""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click

from contracts.evidence.outcomes import ExitCode
from contracts.plugin.facts import versions
from contracts.proving.matrix import Matrix, matrix
from contracts.proving.preloaded import load
from contracts.proving.proof_json import as_data
from contracts.proving.proof_page import render
from contracts.proving.proof_plan import Part, Proof, chosen_defects
from contracts.proving.proof_run import Prover
from contracts.proving.proof_text import closing_lines, markdown, put_between
from contracts.proving.trials import Kind, TrialResult
from contracts.proving.watching import CaseIndex

_SAID_EVERY_SECONDS: Final = 15.0


@dataclass(frozen=True)
class Asked:
    """What the command was asked for; see `Proof` for the first six.

    Attributes:
        jobs: Trials side by side.
        reports: Folder of the proof.
        docs: Document that takes the tables, or None.
    """

    seeds: tuple[int, ...]
    defects: tuple[str, ...]
    clauses: tuple[str, ...]
    parts: tuple[str, ...]
    whole: bool
    to_the_end: bool
    jobs: int
    reports: Path
    docs: Path | None


def carry_out(asked: Asked) -> int:
    """Prove what is asked, and write the reports.

    Returns:
        0 the proof holds, 1 it does not, 3 a trial says nothing.

    Raises:
        UsageError: an unknown name, or a folder or document that cannot be written.
        KeyboardInterrupt: stopped by hand; the next proof goes on from there.
    """
    parts = tuple(Part(part) for part in asked.parts)
    proof = Proof(asked.seeds, asked.defects, asked.clauses, parts, asked.whole, asked.to_the_end)
    chosen_defects(proof)  # a name that does not exist is said before anything is loaded
    index = CaseIndex()
    load(index)
    started, clock = datetime.now(UTC), time.monotonic()
    results = Prover(index, asked.reports, asked.jobs, _Progress()).prove(proof)
    found = matrix(results, index.cases if Part.CASES in parts else {})
    facts = {
        "command": _command(asked),
        "started": started.isoformat(),
        "seconds": round(time.monotonic() - clock, 1),
        "seeds": list(asked.seeds),
        "jobs": asked.jobs,
        "cores": os.cpu_count(),
        "versions": versions(),
    }
    page = _write(found, facts, asked)
    for line in closing_lines(found):
        click.echo(line)
    click.echo(f"report: {page}")
    if found.troubles:
        return ExitCode.ERROR
    return ExitCode.PASS if found.holds else ExitCode.FAIL


def _write(found: Matrix, facts: dict[str, Any], asked: Asked) -> Path:
    data = as_data(found, facts)
    (asked.reports / "proof.json").write_text(
        json.dumps(data, indent=1, ensure_ascii=False), encoding="utf-8"
    )
    page = asked.reports / "index.html"
    page.write_text(render(data), encoding="utf-8")
    if asked.docs is not None:
        put_between(asked.docs, "proof", markdown(found, facts))
    return page


def _command(asked: Asked) -> str:
    words = ["registry-contracts prove", f"--seeds {','.join(map(str, asked.seeds))}", f"--jobs {asked.jobs}"]
    words += [f"--defect {name}" for name in asked.defects] + [f"--clause {name}" for name in asked.clauses]
    words += [f"--part {part}" for part in asked.parts] if len(asked.parts) < len(Part) else []
    words += ["--whole"] * asked.whole + ["--to-the-end"] * asked.to_the_end
    return " ".join(words)


class _Progress:
    """Says how far the proof is: rewritten in a terminal, a line now and then elsewhere."""

    def __init__(self) -> None:
        self._done = 0
        self._alive: set[tuple[str, int]] = set()
        self._started = time.monotonic()
        self._said = self._started

    def __call__(self, result: TrialResult, left: int) -> None:
        """Take in one result."""
        self._done += 1
        trial = result.trial
        if trial.kind is Kind.DEFECT and trial.only is None:
            (self._alive.discard if result.killed else self._alive.add)((trial.name, trial.seed))
        now, shown = time.monotonic(), sys.stderr.isatty()
        if not shown and now - self._said < _SAID_EVERY_SECONDS and left:
            return
        self._said = now
        minutes = (now - self._started) / self._done * left / 60
        text = f"{self._done} trials done, {left} to come, {len(self._alive)} alive; about {minutes:.0f} min left"
        sys.stderr.write(f"\r\x1b[K{text}" if shown else f"{text}\n")
        if shown and not left:
            sys.stderr.write("\n")
        sys.stderr.flush()
