"""One proof: trials side by side, each result on disk as it comes, progress, and the reports."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import click

from contracts.cases.generated_faults import make_all
from contracts.cases.marks import Profile
from contracts.errors import UsageError
from contracts.evidence.record import ExitCode
from contracts.interface.location import cases_directory, openapi_directory
from contracts.plugin.session_finish import versions
from contracts.proving.drawn_proof import DrawnOptions, carry_out_drawn, check_names
from contracts.proving.matrix import (
    Matrix,
    Proof,
    ProofPart,
    as_data,
    chosen_defects,
    closing_lines,
    first_trials,
    idle_cases,
    markdown,
    matrix,
    next_stage,
    put_between,
    render,
    trials_for_case,
    waits,
)
from contracts.proving.ordering import staleness
from contracts.proving.processes import Ended, SideBySide, preload
from contracts.proving.trials import CaseIndex, ProofTrial, TrialKind, TrialResult, realms_of, run_trial

STATE_FILE: Final = "trials.jsonl"
#: Many times what the slowest trial takes alone; the slowest wait for time limits of thirty seconds.
LONGEST_TRIAL_SECONDS: Final = 600.0
#: A case that killed none of so many defects of its clauses will kill none.
_MOST_TRIALS_PER_CASE: Final = 30
#: With so many it pays to make generated faults once for all.
_MANY_TRIALS: Final = 50

_FINISHED: Final = '"finished"'

Tell = Callable[[TrialResult, int], None]


class ProofState:
    """The results of a proof so far, on disk.

    Args:
        path: The file; a state of another proof, of another suite or of a finished proof is begun anew.
        proof: What is asked for.
    """

    def __init__(self, path: Path, proof: Proof) -> None:
        self._head = json.dumps({"suite": fingerprint(), "proof": asdict(proof)})
        lines = path.read_text(encoding="utf-8").split("\n") if path.exists() else []
        # The last piece is what a killed proof was about to write, or empty.
        goes_on = bool(lines) and lines[0] == self._head and not any(line == _FINISHED for line in lines)
        results = map(TrialResult.read, lines[1:-1]) if goes_on else ()
        # A trial in trouble said nothing; it is tried again.
        self.before = {result.trial: result for result in results if result.trouble is None}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            kept = [self._head, *(result.line() for result in self.before.values())]
            path.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")
            self._file = path.open("a", encoding="utf-8")
        except OSError as error:
            raise UsageError(f"cannot write the proof to '{path}': {error.strerror}") from None

    def keep(self, result: TrialResult) -> None:
        """Put a result on disk."""
        self._file.write(result.line() + "\n")
        self._file.flush()

    def outdated(self) -> bool:
        """Whether the suite is not the one that the proof began with: its trials would mix the two."""
        return bool(json.loads(self._head)["suite"] != fingerprint())

    def finish(self) -> None:
        """Say that the proof is whole; the next one begins anew."""
        self._file.write(_FINISHED + "\n")
        self.close()

    def close(self) -> None:
        """Leave the proof to be gone on with."""
        self._file.close()


def fingerprint() -> str:
    """A digest of all that decides a proof: the suite, the sandbox, the cases and the description."""
    digest = sha256()
    package = Path(__file__).parents[1]
    for folder in (package, cases_directory(), openapi_directory()):
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".py", ".yaml", ".toml", ".json", ".ini"):
                digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


class Prover:
    """Runs the trials of a proof.

    Args:
        folder: For the state, and for what explains a trial in trouble.
        jobs: Trials side by side.
        tell: Called with each new result and the number of trials that are known to follow.
    """

    def __init__(self, index: CaseIndex, folder: Path, jobs: int, tell: Tell) -> None:
        self._index = index
        self._folder = folder
        self._jobs = jobs
        self._tell = tell

    def prove(self, proof: Proof) -> list[TrialResult]:
        """Run every trial of a proof.

        Returns:
            All results, those of an interrupted earlier go included.

        Raises:
            UsageError: nothing to prove, the folder cannot be written, or the suite was changed on the way.
        """
        trials = first_trials(proof)
        if len(trials) > _MANY_TRIALS:
            make_all()
        state = ProofState(self._folder / STATE_FILE, proof)
        try:
            results = list(self._follow(trials, next_stage, state))
            if ProofPart.CASES in proof.parts:
                results += self._cases(proof.seeds[0], results, state)
        except BaseException:
            state.close()
            raise
        state.finish()
        return results

    def _cases(self, seed: int, results: list[TrialResult], state: ProofState) -> Iterator[TrialResult]:
        """Try each case that killed nothing on one defect of its clauses after the other."""
        plans = {
            name: iter(trials_for_case(name, facts, seed)[:_MOST_TRIALS_PER_CASE])
            for name, facts in idle_cases(self._index, results).items()
        }

        def another(result: TrialResult) -> ProofTrial | None:
            return None if result.killed else next(plans[result.trial.only or ""], None)

        firsts = [trial for plan in plans.values() if (trial := next(plan, None)) is not None]
        return self._follow(firsts, another, state)

    def _follow(
        self, trials: list[ProofTrial], further: Callable[[TrialResult], ProofTrial | None], state: ProofState
    ) -> Iterator[TrialResult]:
        """Run trials and those that follow from each; what an earlier go has done is not done again."""
        queue = SideBySide(self._work, self._jobs, LONGEST_TRIAL_SECONDS, waits)
        for trial in trials:
            step: ProofTrial | None = trial
            while step is not None and step in state.before:
                yield state.before[step]
                step = further(state.before[step])
            if step is not None:
                queue.add(step)
        for ended in queue.results():
            result = _result(ended, self._folder)
            if result.trouble and state.outdated():
                raise UsageError("the suite was changed while it was being proven; begin the proof again")
            state.keep(result)
            follows = further(result)
            if follows is not None:
                queue.add(follows)
            self._tell(result, queue.left)
            yield result

    def _work(self, trial: ProofTrial) -> int:
        answer = run_trial(trial, self._index, self._folder / _name(trial))
        _answer_file(self._folder, trial).write_text(answer.line(), encoding="utf-8")
        return 0


def _result(ended: Ended[ProofTrial], folder: Path) -> TrialResult:
    path = _answer_file(folder, ended.task)
    if path.exists():
        text = path.read_text(encoding="utf-8")
        path.unlink()
        return TrialResult.read(text)
    why = "took too long" if ended.late else f"ended with {ended.code} and no result; see {_name(ended.task)}"
    return TrialResult.nothing(ended.task, realms_of(ended.task), ended.seconds, why)


def _answer_file(folder: Path, trial: ProofTrial) -> Path:
    return folder / f"{_name(trial)}.json"


def _name(trial: ProofTrial) -> str:
    """A short name for the files of a trial."""
    case = f"-{sha256(trial.only.encode()).hexdigest()[:8]}" if trial.only else ""
    return f"{trial.name}-{trial.seed}-{trial.stage}{case}"


_SAID_EVERY_SECONDS: Final = 15.0


@dataclass(frozen=True)
class ProofOptions:
    """What the command was asked for; see `Proof` for the first six.

    Attributes:
        jobs: Trials side by side.
        docs: Document that takes the tables, or None.
        drawn: What to draw; None for nothing.
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
    drawn: DrawnOptions | None = None


def carry_out(options: ProofOptions) -> int:
    """Prove what is asked, and write the reports.

    Returns:
        0 the proof holds, 1 it does not, 3 a trial says nothing.

    Raises:
        UsageError: an unknown name, or a folder or document that cannot be written.
        KeyboardInterrupt: stopped by hand; the next proof goes on from there.
    """
    parts = tuple(ProofPart(part) for part in options.parts)
    proof = Proof(options.seeds, options.defects, options.clauses, parts, options.whole, options.to_the_end)
    # A name that does not exist is said before anything is loaded.
    if parts:
        chosen_defects(proof)
    if options.drawn is not None:
        check_names(options.drawn)
    index = CaseIndex()
    preload(index)
    _tell_stale_order(index, options.drawn)
    code = _prove(options, proof, index) if parts else ExitCode.PASS
    if options.drawn is not None:
        drawn = carry_out_drawn(
            options.drawn,
            _drawn_command(options.drawn),
            options.reports,
            options.jobs,
            options.docs,
            index.cases.values(),
        )
        code = next(one for one in (ExitCode.FAIL, ExitCode.ERROR, ExitCode.PASS) if one in (code, drawn))
    return code


def _tell_stale_order(index: CaseIndex, drawn: DrawnOptions | None) -> None:
    """Say that the order of cases does not fit the cases, unless this proof writes it."""
    of_gate = [facts.key for facts in index.cases.values() if Profile.GATE.includes(Profile(facts.profile))]
    stale = staleness(of_gate)
    if stale and (drawn is None or drawn.order is None):
        click.echo(f"the order of cases is out of date: {stale}")


def _prove(options: ProofOptions, proof: Proof, index: CaseIndex) -> int:
    started = datetime.now(UTC)
    results = Prover(index, options.reports, options.jobs, _Progress()).prove(proof)
    kill_matrix = matrix(results, index.cases if ProofPart.CASES in proof.parts else {})
    facts = {
        "command": _command(options),
        "started": started.isoformat(),
        # Of all trials, also those of an earlier go, which this one need not run again.
        "seconds": round(sum(result.seconds for result in results), 1),
        "seeds": list(options.seeds),
        "jobs": options.jobs,
        "cores": os.cpu_count(),
        "versions": versions(),
    }
    page = _write(kill_matrix, facts, options)
    for line in closing_lines(kill_matrix):
        click.echo(line)
    click.echo(f"report: {page}")
    if kill_matrix.troubles:
        return ExitCode.ERROR
    return ExitCode.PASS if kill_matrix.holds else ExitCode.FAIL


def _write(kill_matrix: Matrix, facts: dict[str, Any], options: ProofOptions) -> Path:
    data = as_data(kill_matrix, facts)
    (options.reports / "proof.json").write_text(
        json.dumps(data, indent=1, ensure_ascii=False), encoding="utf-8"
    )
    page = options.reports / "index.html"
    page.write_text(render(data), encoding="utf-8")
    if options.docs is not None:
        put_between(options.docs, "proof", markdown(kill_matrix, facts))
    return page


def _command(given: ProofOptions) -> str:
    words = [
        "python -m contracts.proving",
        f"--seeds {','.join(map(str, given.seeds))}",
        f"--jobs {given.jobs}",
    ]
    words += [f"--defect {name}" for name in given.defects] + [f"--clause {name}" for name in given.clauses]
    words += [f"--part {part}" for part in given.parts] if len(given.parts) < len(ProofPart) else []
    words += ["--whole"] * given.whole + ["--to-the-end"] * given.to_the_end
    return " ".join(words)


def _drawn_command(drawn: DrawnOptions) -> str:
    words = ["python -m contracts.proving --part drawn"]
    words += [f"--fault {name}" for name in drawn.names] + [f"--service {name}" for name in drawn.variants]
    if len(words) == 1:
        words += [f"--faults {drawn.faults}", f"--services {drawn.services}"]
        words += [f"--family {name}" for name in drawn.families]
    words += [f"--drawn-realm {drawn.realm}"] if drawn.realm else []
    words += ["--to-the-end"] * drawn.whole + ["--smoke"] * drawn.smoke
    words += ["--all-realms"] * drawn.everywhere
    words += [f"--found {drawn.found}"] if drawn.found else []
    words += [f"--order {drawn.order}"] if drawn.order else []
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
        if trial.kind is TrialKind.DEFECT and trial.only is None:
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
