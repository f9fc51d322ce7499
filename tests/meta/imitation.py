"""Services that are drawn, and sandboxes that are set up like them by what a run observed: the drift between the two.

`python -m tests.meta.imitation --services 10 --seed 1` runs the gate in one realm on each service and on its imitation,
and prints a table: knobs of the service, knobs that were set, changes.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from contracts.evidence.observations import FILE_NAME, read_observations
from contracts.evidence.record import ExitCode
from contracts.history.drift import change_lines, compare
from contracts.history.observed_facts import Change, read_facts
from contracts.manual.imitation import imitate
from contracts.proving.drawn_services import draw_services
from contracts.proving.processes import ForkedSandbox, fork, output_to, preload, run_suite
from contracts.proving.trials import AND, CaseIndex, Watch, contact_taken


def observe(options: Sequence[str], contact: dict[str, Any], folder: Path, realm: str, seed: int) -> Path:
    """Run the gate in one realm on a sandbox, in a fork of this process, and return what it observed.

    Args:
        contact: Members of a contact that the service takes, as settings of a live one name them.
    """
    words = [f"--seed={seed}", f"--realm={realm}", "--history=off", "--drift=off", f"--reports={folder}"]

    def run() -> int:
        with (folder / "output.txt").open("w", encoding="utf-8") as said, output_to(said.fileno()):
            sandbox = ForkedSandbox(options)
            try:
                formats = ("observations", "verdict")
                return run_suite(words, [], [Watch(sandbox, stop=False, formats=formats, contact=contact)])
            finally:
                sandbox.stop()

    folder.mkdir(parents=True)
    _, status = os.waitpid(fork(run), 0)
    # On a busy machine tokens that live briefly run out, and a few clauses are not judged: the others are.
    if os.waitstatus_to_exitcode(status) not in (ExitCode.PASS, ExitCode.INCONCLUSIVE):
        said = (folder / "output.txt").read_text("utf-8").splitlines()[-12:]
        raise SystemExit("\n".join([" ".join(options), *said]))
    return folder / "latest" / FILE_NAME


def imitated(service: list[str], folder: Path, realm: str, seed: int) -> tuple[int, tuple[Change, ...]]:
    """How many options make the imitation of a service, and how the imitation's run differs from the service's."""
    contact = contact_taken(AND.join(service))
    seen = observe([f"--variant={name}" for name in service], contact, folder / "service", realm, seed)
    options = imitate(seen).options
    (folder / "service.txt").write_text("\n".join(service), "utf-8")
    (folder / "imitation.txt").write_text("\n".join(options), "utf-8")
    again = observe(options, contact, folder / "imitation", realm, seed)
    known, now = (read_facts(read_observations(path)) for path in (seen, again))
    return len(options), compare(known, now)


def main() -> int:
    """Print the table; 1 where any imitation drifts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--services", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--realm", default="abs-dev")
    parser.add_argument("--only", type=int, nargs="*", help="numbers of services; by default all")
    parser.add_argument("--keep", type=Path, help="folder for what was observed; by default none is kept")
    given = parser.parse_args()
    preload(CaseIndex())
    drifting = 0
    for number, service in enumerate(draw_services(given.services, given.seed), start=1):
        if given.only and number not in given.only:
            continue
        names = service.split(AND)
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary) / str(number)
            options, changes = imitated(names, folder, given.realm, given.seed)
            if given.keep:
                shutil.copytree(folder, given.keep / str(number), symlinks=True, dirs_exist_ok=True)
        drifting += bool(changes)
        sys.stdout.write(
            f"{number:>3}  {len(names):>3} knobs  {options:>3} options  {len(changes):>3} changes\n"
        )
        for line in change_lines(changes):
            sys.stdout.write(f"     {line}\n")
        sys.stdout.flush()
    return int(drifting > 0)


if __name__ == "__main__":
    sys.exit(main())
