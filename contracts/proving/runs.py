"""One run of the suite against one altered sandbox, in a process of its own, and the options of these commands."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NoReturn

import click

from contracts.errors import RegistryContractsError, SuiteError, UsageError
from contracts.file_formats import plain
from contracts.interface.location import python_command
from contracts.reports import verdict_json

_USAGE: Final = 4
_ERROR: Final = 3


def seeds_of(text: str) -> list[int]:
    """Return the seeds of `1,2,3`.

    Raises:
        UsageError: one of them is no whole number.
    """
    try:
        return [int(seed) for seed in text.split(",")]
    except ValueError:
        raise UsageError(f"--seeds must be whole numbers separated by commas, not '{text}'") from None


def end_with(command: click.Command, name: str) -> NoReturn:
    """Run a command and exit with its code.

    Args:
        name: What a line of trouble begins with.
    """
    try:
        sys.exit(int(command.main(standalone_mode=False) or 0))
    except click.ClickException as error:
        _complain(name, error.format_message(), _USAGE)
    except UsageError as error:
        _complain(name, str(error), _USAGE)
    except RegistryContractsError as error:
        _complain(name, str(error), _ERROR)


def _complain(name: str, text: str, code: int) -> NoReturn:
    click.echo(f"{name}: {text}", err=True)
    sys.exit(code)


#: A run that takes longer hangs: many times what the slowest variant needs.
LONGEST_RUN_SECONDS = 3600.0
_VERDICT_FILE = "verdict.json"


@dataclass(frozen=True)
class RunOutcome:
    """What came of one run.

    Attributes:
        verdict: The run's one word, such as `pass` or `fail`.
        exit_code: Of design section 3.
        findings: As `verdict.json` holds them.
        inconclusive: Must clauses that could not be judged: `clause in realm: reason`.
        advisory: Clauses and realms whose verdict is advisory.
        requests: Sent to the sandbox.
        seconds: Of the whole process, from start to end.
        folder: The run's folder in the reports.
        said: The last lines the process wrote.
        retries: Requests that were repeated because of the environment.
        faults: What the environment did, and how often.
    """

    verdict: str
    exit_code: int
    findings: tuple[dict[str, Any], ...]
    inconclusive: tuple[str, ...]
    advisory: tuple[str, ...]
    requests: int
    seconds: float
    folder: Path
    said: str = ""
    retries: int = 0
    faults: Mapping[str, int] = field(default_factory=dict)


def run_altered(
    arguments: Sequence[str],
    profile: str,
    seed: int,
    *,
    clauses: Sequence[str] = (),
    reports: Path,
    extra: Sequence[str] = (),
) -> RunOutcome:
    """Run the suite against an embedded sandbox that is started with more options.

    Args:
        arguments: Options of the sandbox, such as `--variant list-docs` or `--defect draft-lost`.
        profile: How far the run goes.
        seed: Seed of generated data.
        clauses: Judge only these; empty for all.
        reports: Folder for the evidence; should hold no other run that is going on, for the run's folder is found
            by looking.
        extra: More options of `registry-contracts run`.

    Raises:
        SuiteError: the run left no verdict; the message holds its last words.
    """
    reports.mkdir(parents=True, exist_ok=True)
    command = [*python_command(), "run", "--profile", profile, "--seed", str(seed)]
    command += ["--reports", str(reports), f"--sandbox-arguments={shlex.join(arguments)}"]
    command += [f"--clause={clause}" for clause in clauses]
    started = time.monotonic()
    # The first line counts: a run on another target than the embedded sandbox would prove nothing.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("REGISTRY_")}
    done = subprocess.run(  # noqa: S603 - our own interpreter and options, no shell
        [*command, *extra, "-q", "--no-header"],
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST_RUN_SECONDS,
        env=environment,
    )
    seconds = time.monotonic() - started
    said = "\n".join(done.stdout.splitlines()[-12:])
    return read_outcome(_verdict_file(reports, done), done.returncode, seconds, said)


def _verdict_file(reports: Path, done: subprocess.CompletedProcess[str]) -> Path:
    found = sorted(path for path in reports.glob(f"*/{_VERDICT_FILE}") if not path.parent.is_symlink())
    if not found:
        words = " | ".join([*done.stdout.splitlines(), *done.stderr.splitlines()][-3:])
        raise SuiteError(f"the run ended with {done.returncode} and left no verdict; its last words: {words}")
    return found[-1]


def read_outcome(path: Path, exit_code: int, seconds: float, said: str = "") -> RunOutcome:
    """Read what came of a run from its `verdict.json`.

    Args:
        exit_code: Of its process.
        seconds: That it took.
        said: The last lines it wrote.
    """
    content = plain(verdict_json.read(path))
    cells = [
        (clause, realm, cell) for clause in content["clauses"] for realm, cell in clause["realms"].items()
    ]
    return RunOutcome(
        verdict=content["verdict"],
        exit_code=exit_code,
        findings=tuple(content["findings"]),
        inconclusive=tuple(
            f"{clause['id']} in {realm}: {cell.get('reason', '')}"
            for clause, realm, cell in cells
            if cell["verdict"] == "inconclusive" and clause["level"] == "must"
        ),
        advisory=tuple(
            f"{clause['id']} in {realm}" for clause, realm, cell in cells if cell["verdict"] == "advisory"
        ),
        requests=content["environment"]["requests"],
        seconds=seconds,
        folder=path.parent,
        said=said,
        retries=content["environment"]["retries"],
        faults=content["environment"]["faults"],
    )
