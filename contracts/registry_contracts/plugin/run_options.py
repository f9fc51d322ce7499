"""The options of a run, declared once: pytest's options and those of the commands are made from this declaration."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class RunOption:
    """One option of a run; a switch has no value.

    Attributes:
        flag: With the leading dashes.
        metavar: The value's name in the help.
        default: Value if pytest is not given the option; commands pass on only options that were given.
    """

    flag: str
    metavar: str
    help: str
    default: str | None = None
    repeatable: bool = False
    integer: bool = False
    switch: bool = False

    def for_pytest(self) -> dict[str, Any]:
        """Keyword arguments of `pytest.OptionGroup.addoption`."""
        if self.switch:
            return {"action": "store_true", "help": self.help}
        kind: dict[str, Any] = {"action": "append", "default": []} if self.repeatable else {}
        kind |= {"type": int} if self.integer else {}
        return {"metavar": self.metavar, "help": self.help, "default": self.default} | kind


TARGET = RunOption(
    "--target", "FILE|NAME", "Target settings; by default REGISTRY_… variables, or the sandbox."
)
REALM = RunOption("--realm", "REALM", "Judge only this realm; may be repeated.", repeatable=True)
CONSUMER = RunOption(
    "--consumer",
    "FILE",
    "Judge only what an SDK uses, as a consumer file names it; by default the whole interface.",
)
DEVIATIONS = RunOption(
    "--deviations", "FILE", "Accepted contradictions; by default deviations/<target>.toml."
)
WAIT = RunOption(
    "--wait",
    "SECONDS",
    "How long to wait for a target that is starting, while its gateway answers for it; 30 by default.",
    "30",
    integer=True,
)
PLAN = RunOption(
    "--plan",
    "",
    "Print the requests, duration, permanent records and untested clauses to expect; send nothing.",
    switch=True,
)
PROFILE = RunOption("--profile", "NAME", "smoke, gate (default), nightly or full.")
CLAUSE = RunOption("--clause", "ID", "Judge only this clause; may be repeated.", repeatable=True)
OPERATION = RunOption("--operation", "ID", "Only this operation; may be repeated.", repeatable=True)
FINDING = RunOption(
    "--finding",
    "ID",
    "Only the case that saw this finding of an earlier run, with its target, realm and seed.",
)
SEED = RunOption("--seed", "N", "Seed of generated data; fixed by default in smoke and gate.", integer=True)
SANDBOX_ARGUMENTS = RunOption(
    "--sandbox-arguments",
    "TEXT",
    'More options for the embedded sandbox, as in "--fault list-top-one-more".',
    "",
)
REPORTS = RunOption("--reports", "DIR", "Folder for the evidence; by default 'reports'.", "reports")
KEEP = RunOption(
    "--keep",
    "N",
    "Run folders to keep in the reports; older ones that left no draft are removed; 30 by default, 0 keeps all.",
    "30",
    integer=True,
)
UNPACKED = RunOption(
    "--unpacked",
    "",
    "Leave journals and traffic as they are, where they make the folder larger than 10 MB.",
    switch=True,
)
DRIFT = RunOption("--drift", "MODE", "Drift from the baseline: warn (default), fail or off.", "warn")
BASELINE = RunOption("--baseline", "FILE", "Accepted observations; by default baselines/<target>.yaml.")
HISTORY = RunOption("--history", "FILE", "History of runs; by default in the reports.")
NO_HISTORY = RunOption("--no-history", "", "Compare with no history, and add nothing to one.", switch=True)

#: pytest's settings file for runs that a command starts.
RUN_SETTINGS: Final = Path(__file__).with_name("run.ini")
#: By topic, in the order of the help.
JUDGING: Final = (TARGET, REALM, CONSUMER, DEVIATIONS, WAIT, PLAN)
SELECTION: Final = (PROFILE, CLAUSE, OPERATION, FINDING, SEED)
COMPARISON: Final = (DRIFT, BASELINE, HISTORY, NO_HISTORY)
RUN_OPTIONS: Final = (*JUDGING, *SELECTION, SANDBOX_ARGUMENTS, REPORTS, KEEP, UNPACKED, *COMPARISON)
