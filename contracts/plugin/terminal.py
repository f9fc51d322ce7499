"""What a person sees in the terminal: target and seed first, a letter for each verdict, the run's verdict last."""

from __future__ import annotations

from pathlib import Path

import pytest

from contracts.evidence.outcomes import ExitCode, Verdict
from contracts.plugin.closing import PLAN, TROUBLE, VERDICT
from contracts.plugin.controller import is_worker
from contracts.plugin.options import SELECTION, TARGET
from contracts.plugin.protocol import VERDICT as CASE_VERDICT

#: Verdicts that pytest has no word for.
_LETTERS = {
    Verdict.INCONCLUSIVE: ("inconclusive", "?"),
    Verdict.ADVISORY: ("advisory", "a"),
    Verdict.UNTESTED: ("untested", "u"),
    Verdict.OBSERVED: ("observed", "o"),
}
_COLOUR = {
    Verdict.INCONCLUSIVE: {"yellow": True},
    Verdict.ADVISORY: {"yellow": True},
    Verdict.UNTESTED: {"cyan": True},
}


def pytest_report_header(config: pytest.Config) -> str | None:
    """Target, profile and seed, so that any output can be reproduced."""
    if is_worker(config) or PLAN not in config.stash:
        return None
    selection, target = config.stash[SELECTION], config.stash[TARGET]
    name = f"{target.name} at {target.base_url}" if target else "the embedded sandbox"
    return f"contract: {name}, profile {selection.profile}, seed {selection.seed}"


def pytest_report_teststatus(
    report: pytest.TestReport | pytest.CollectReport,
) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
    """Give inconclusive, advisory, untested and observed cases their own names in the summary."""
    verdict = dict(getattr(report, "user_properties", ())).get(CASE_VERDICT)
    if verdict not in _LETTERS or report.failed or not _speaks(report):
        return None
    word, letter = _LETTERS[Verdict(verdict)]
    return word, letter, (word.upper(), _COLOUR.get(Verdict(verdict), {"green": True}))


def _speaks(report: pytest.TestReport | pytest.CollectReport) -> bool:
    """Whether this phase's report is the one that counts: the call, or a set-up that did not get so far."""
    return report.when == "call" or (report.when == "setup" and report.skipped)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """The verdict with its reason, the findings in a line each, and where the report stands."""
    if TROUBLE in config.stash:
        terminalreporter.section("contract")
        terminalreporter.write_line(
            f"verdict: error: {config.stash[TROUBLE]} (exit code {int(ExitCode.ERROR)})"
        )
    if VERDICT not in config.stash:
        return
    verdict = config.stash[VERDICT]
    terminalreporter.section("contract")
    for finding in verdict.findings:
        state = "" if finding.confirmed else " (unconfirmed)"
        terminalreporter.write_line(f"{finding.clause} · {finding.operation} · {finding.realm}{state}")
        terminalreporter.write_line(f"    expected {finding.expected}")
        terminalreporter.write_line(f"    seen     {finding.seen}")
    report = Path(config.stash[PLAN].folder) / "index.html"
    terminalreporter.write_line(f"report: {report}")
    terminalreporter.write_line(f"verdict: {verdict.sentence} (exit code {int(verdict.exit_code)})")
