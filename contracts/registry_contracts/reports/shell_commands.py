"""The next commands for a finding, and the options of a run's command."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Final

from registry_contracts.evidence.findings import Finding

#: Options of a run that name its target and its reports.
_WHERE: Final = ("--target", "--sandbox-arguments", "--reports")


@dataclass(frozen=True, slots=True)
class NextCommand:
    """A command line to paste; `does` says what it does."""

    name: str
    does: str
    line: str


def own_commands(run_command: str, finding: Finding) -> tuple[NextCommand, ...]:
    """Return this program's commands about a finding; they work in the folder where its run was started."""
    where = where_of(run_command)
    # The command names the target: files of a kept run must not decide where a password is sent.
    given = [f"{name}={where[name]}" for name in ("--target", "--reports") if name in where]
    explain = ["registry-contracts", "explain", finding.clause]
    again = ["registry-contracts", "run", "--finding", finding.id, *given]
    return (
        NextCommand("explain", "Show the clause and its last verdicts", shlex.join(explain)),
        NextCommand("again", "Run its case again, with its target, realm and seed", shlex.join(again)),
    )


def where_of(command: str) -> dict[str, str]:
    """The values of --target, --sandbox-arguments and --reports in a run's command; none if it cannot be split."""
    try:
        words = shlex.split(command)
    except ValueError:
        return {}
    given = {}
    for word, after in zip(words, [*words[1:], ""], strict=True):
        name, sign, value = word.partition("=")
        if name in _WHERE:
            given[name] = value if sign else after
    return given
