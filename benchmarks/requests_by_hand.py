"""What a finding gives to paste: whether its script and its replay show a drawn fault again.

`python -m benchmarks.requests_by_hand` draws faults that are always there, judges the clauses of each in one realm,
and tries the first finding: its script against a sandbox with the fault and against one without, and its replay.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import click

from benchmarks.commands import PROGRAM
from contracts.proving.drawn import DrawnTrial, fault_trials

#: A fault that shows now and then cannot be shown by a single request.
_LASTING: Final = re.compile(r"/(always|in-[a-z-]+)$")
_CLAUSES_AT_MOST: Final = 6
_SECONDS: Final = 300
_BASH: Final = [shutil.which("bash") or "/bin/bash"]
_READY_SECONDS: Final = 30
_SERVED: Final = re.compile(
    r"^#   registry-contracts (?P<words>sandbox --port (?P<port>\d+).*)$", re.MULTILINE
)
_CHANGING: Final = re.compile(r'20\d\d-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)?|"authenticationToken": ?"[^"]*"')
_HEADER: Final = re.compile(r"^[\w-]+: .*\n", re.MULTILINE)


@click.command()
@click.option("--faults", default=20, show_default=True, help="How many faults to draw.")
@click.option("--seed", default=1, show_default=True, help="Seed of the draw.")
def main(faults: int, seed: int) -> None:
    """Try what the findings of drawn faults give to paste."""
    shown = replayed = found = 0
    drawn = (trial for trial in fault_trials(10 * faults, seed) if _LASTING.search(trial.name))
    with tempfile.TemporaryDirectory() as folder:
        for number, trial in zip(range(faults), drawn, strict=False):
            run = _judged(trial, Path(folder) / str(number))
            scripts = _of_causes(run) if run else []
            if run is None or not scripts:
                click.echo(f"no finding           {trial.name}")
                continue
            found += 1
            by_hand, again = _differs(scripts[0]), _replays(scripts[0])
            shown, replayed = shown + by_hand, replayed + again
            words = f"{'shown' if by_hand else 'NOT SHOWN'}, {'replayed' if again else 'NOT REPLAYED'}"
            click.echo(f"{words:<20} {trial.name}")
    click.echo(f"{found} findings: the script shows {shown}, replay {replayed}")


def _judged(trial: DrawnTrial, reports: Path) -> Path | None:
    """The folder of a run that judges the clauses of a fault."""
    words = [
        *PROGRAM,
        "run",
        "--seed",
        "1",
        "--realm",
        trial.realm,
        "--history",
        "off",
        "--reports",
        str(reports),
    ]
    words += [f"--sandbox-arguments=--fault {trial.name}"]
    words += [word for clause in tuple(trial.clauses)[:_CLAUSES_AT_MOST] for word in ("--clause", clause)]
    subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL, timeout=_SECONDS, check=False)
    return next((path for path in reports.glob("2*") if (path / "verdict.json").exists()), None)


def _of_causes(run: Path) -> list[Path]:
    """The scripts of a run's findings, in their order."""
    causes = json.loads((run / "verdict.json").read_text("utf-8"))["causes"]
    paths = [run / "findings" / f"{cause['findings'][0]}.sh" for cause in causes]
    return [path for path in paths if path.exists()]


def _differs(script: Path) -> bool:
    """Whether a sandbox with the fault answers a script otherwise than a faithful one."""
    served = _SERVED.search(script.read_text("utf-8"))
    if served is None:
        return False
    answers = []
    for words in (shlex.split(served["words"]), ["sandbox", "--port", served["port"]]):
        with _sandbox(words, int(served["port"])):
            done = subprocess.run([*_BASH, str(script)], capture_output=True, timeout=_SECONDS, check=False)
            text = done.stdout.decode("utf-8", "replace").replace("\r", "")
            answers.append(_CHANGING.sub("", _HEADER.sub("", text)))
    return answers[0] != answers[1]


@contextmanager
def _sandbox(words: list[str], port: int) -> Iterator[None]:
    server = subprocess.Popen([*PROGRAM, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + _READY_SECONDS
        while time.monotonic() < deadline:
            with suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/docs", timeout=1).close()
                break
            time.sleep(0.1)
        yield
    finally:
        server.terminate()
        server.wait()


def _replays(script: Path) -> bool:
    """Whether the command that a finding gives ends with 1: it is reproduced."""
    page = script.with_suffix(".md").read_text("utf-8")
    line = re.search(r"^registry-contracts (replay .*)$", page, re.MULTILINE)
    if line is None:
        return False
    words = [*PROGRAM, *shlex.split(line[1])]
    return subprocess.run(words, capture_output=True, timeout=_SECONDS, check=False).returncode == 1


if __name__ == "__main__":
    main()
