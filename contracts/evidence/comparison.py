"""What a run is compared with, the accepted baseline and earlier runs, and the history that it is added to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.errors import UsageError
from contracts.evidence import run_history
from contracts.evidence.run_history import realms_of_operations
from contracts.history import baseline as baselines
from contracts.history import runs
from contracts.history.drift_report import Mode
from contracts.history.trends import past_of, write_past

#: Switches the history off.
OFF: Final = "off"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The baseline and the history of one run.

    Attributes:
        target: Name of the target.
        mode: What drift from the baseline does.
        baseline: File of accepted observations; it need not exist.
        history: The history file; None when it is switched off.
    """

    target: str
    mode: Mode
    baseline: Path
    history: Path | None

    @classmethod
    def of_options(
        cls, target: str, reports: Path, drift: str | None, baseline: str | None, history: str | None
    ) -> Comparison:
        """Read the options `--drift`, `--baseline` and `--history`; None for one that was not given.

        Raises:
            UsageError: an unknown mode, or a baseline that was named and is not there.
        """
        if drift is not None and drift not in list(Mode):
            raise UsageError(f"--drift takes {', '.join(Mode)}, not '{drift}'")
        mode = Mode(drift or Mode.WARN)
        path = Path(baseline) if baseline else baselines.path_of(target)
        if mode is not Mode.OFF and baselines.read(path, realms_of_operations()) is None and baseline:
            raise UsageError(f"there is no baseline {path}; `registry-contracts drift accept` writes one")
        default = Path(history) if history else reports / runs.FILE_NAME
        return cls(target, mode, path, None if history == OFF else default)

    def note_in(self, folder: Path) -> list[str]:
        """Write into a run folder what its reports compare with.

        Returns:
            A line for each damaged line of the history.

        Raises:
            UsageError: the baseline or the history cannot be read.
        """
        baselines.save_drift_settings(folder, self.mode, self.baseline, realms_of_operations())
        if self.history is None:
            return []
        history = runs.read(self.history)
        write_past(folder, past_of(history, self.target))
        return [f"{line}; passed over" for line in history.damaged]

    def add_to_history(self, folder: Path) -> None:
        """Add a judged run to the history.

        Raises:
            UsageError: the history cannot be written.
        """
        path = folder / run_history.FILE_NAME
        if self.history is None or not path.exists():
            return
        entry = runs.read_line(path.read_text("utf-8"))
        if isinstance(entry, runs.Entry):
            runs.append(self.history, entry)
