"""Services that are drawn, and sandboxes that are set up like them by what a run observed: the drift between the two.

`python -m tests.meta.imitation --services 10 --seed 1` runs the gate in one realm on each service and on its imitation,
and prints a table: knobs of the service, knobs that were set, changes.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from contracts.evidence.observations import FILE_NAME, read_observations
from contracts.history.drift import change_lines, compare
from contracts.history.observed_facts import Change, read_facts
from contracts.manual.imitation import imitate
from contracts.proving.drawn_services import draw_services
from contracts.proving.trials import AND


def observe(options: list[str], folder: Path, realm: str, seed: int) -> Path:
    """Run the gate in one realm on a sandbox, and return what it observed."""
    arguments = f"--sandbox-arguments={' '.join(options)}"
    words = [
        "run",
        f"--seed={seed}",
        f"--realm={realm}",
        "--history=off",
        "--drift=off",
        f"--reports={folder}",
    ]
    program = Path(sys.executable).with_name("registry-contracts")
    subprocess.run([program, *words, arguments], check=True, stdout=subprocess.DEVNULL)
    return folder / "latest" / FILE_NAME


def imitated(service: list[str], folder: Path, realm: str, seed: int) -> tuple[int, tuple[Change, ...]]:
    """How many options make the imitation of a service, and how the imitation's run differs from the service's."""
    seen = observe([f"--variant={name}" for name in service], folder / "service", realm, seed)
    options = imitate(seen).options
    again = observe(list(options), folder / "imitation", realm, seed)
    known, now = (read_facts(read_observations(path)) for path in (seen, again))
    return len(options), compare(known, now)


def main() -> int:
    """Print the table; 1 where any imitation drifts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--services", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--realm", default="abs-dev")
    given = parser.parse_args()
    drifting = 0
    for number, service in enumerate(draw_services(given.services, given.seed), start=1):
        with tempfile.TemporaryDirectory() as folder:
            names = service.split(AND)
            options, changes = imitated(names, Path(folder), given.realm, given.seed)
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
