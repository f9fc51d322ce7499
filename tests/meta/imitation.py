"""Services that are drawn, and sandboxes that are set up like them by what a run observed: the drift between the two.

`python -m tests.meta.imitation --services 10 --seed 1` runs the gate in one realm (or in those of `--realm`) on each
service and on its imitation, and prints a table: knobs of the service, knobs that were set, changes.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contracts.evidence.observations import FILE_NAME, read_observations
from contracts.evidence.record import ExitCode
from contracts.history.drift import change_lines, compare
from contracts.history.observed_facts import Change, Place, read_facts
from contracts.manual.sandbox_setup import imitate
from contracts.proving.drawn import draw_services
from contracts.proving.processes import ForkedSandbox, fork, output_to, preload, run_suite
from contracts.proving.trials import AND, CaseIndex, Watch, settings_needed


def observe(
    options: Sequence[str], settings: dict[str, Any], folder: Path, realms: Sequence[str], seed: int
) -> tuple[int, Path]:
    """Run the gate in a few realms on a sandbox, in a fork of this process.

    Args:
        settings: What the service needs in the settings of each realm, by name.

    Returns:
        Its exit code, and what it observed.
    """
    words = [f"--seed={seed}", "--history=off", "--drift=off", f"--reports={folder}"]
    words += [f"--realm={realm}" for realm in realms]

    def run() -> int:
        with (folder / "output.txt").open("w", encoding="utf-8") as output, output_to(output.fileno()):
            sandbox = ForkedSandbox(options)
            try:
                formats = ("observations", "verdict")
                return run_suite(words, [], [Watch(sandbox, stop=False, formats=formats, settings=settings)])
            finally:
                sandbox.stop()

    folder.mkdir(parents=True)
    _, status = os.waitpid(fork(run), 0)
    code = os.waitstatus_to_exitcode(status)
    # Of a few services some clauses cannot be judged, such as where tokens live for a moment only; that none of them
    # breaks a promise is what `python -m contracts.proving --part drawn` shows.
    if code not in (ExitCode.PASS, ExitCode.INCONCLUSIVE, ExitCode.FAIL):
        output = (folder / "output.txt").read_text("utf-8").splitlines()[-12:]
        raise SystemExit("\n".join([" ".join(options), *output]))
    return code, folder / "latest" / FILE_NAME


@dataclass(frozen=True)
class Imitated:
    """How a run against an imitation went: options, changes, exit codes of the two runs, places seen by one alone."""

    options: int
    changes: tuple[Change, ...]
    codes: tuple[int, int]
    apart: tuple[Place, ...]

    @property
    def drifts(self) -> bool:
        """Whether it is another service; runs that end alike and see the same places can be compared."""
        return bool(self.changes or self.apart) or self.codes[0] != self.codes[1]

    def lines(self) -> Iterator[str]:
        """What differs, for people."""
        if self.codes[0] != self.codes[1]:
            yield f"exit code {self.codes[0]}, now {self.codes[1]}"
        yield from (f"seen by one alone: {place.clause} {place.operation}" for place in self.apart)
        yield from change_lines(self.changes)


def imitated(service: list[str], folder: Path, realms: Sequence[str], seed: int) -> Imitated:
    """Observe a service, set up a sandbox like it, and compare a run against that with the first."""
    settings = settings_needed(AND.join(service))
    code, seen = observe(
        [f"--variant={name}" for name in service], settings, folder / "service", realms, seed
    )
    options = imitate(seen).options
    (folder / "service.txt").write_text("\n".join(service), "utf-8")
    (folder / "imitation.txt").write_text("\n".join(options), "utf-8")
    second, again = observe(options, settings, folder / "imitation", realms, seed)
    known, now = (read_facts(read_observations(path)) for path in (seen, again))
    apart = tuple(sorted(known.keys() ^ now.keys()))
    return Imitated(len(options), compare(known, now), (code, second), apart)


def main() -> int:
    """Print the table; 1 where any imitation drifts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--services", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--realm", nargs="+", default=["abs-dev"], help="realms of the gate")
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
            made = imitated(names, folder, given.realm, given.seed)
            if given.keep:
                kept = given.keep / str(number)
                shutil.rmtree(kept, ignore_errors=True)
                shutil.copytree(folder, kept, symlinks=True)
        drifting += made.drifts
        sys.stdout.write(
            f"{number:>3}  {len(names):>3} knobs  {made.options:>3} options  {len(made.changes):>3} changes  "
            f"{'drift' if made.drifts else 'the same'}\n"
        )
        for line in made.lines():
            sys.stdout.write(f"     {line}\n")
        sys.stdout.flush()
    return int(drifting > 0)


if __name__ == "__main__":
    sys.exit(main())
