"""The terminal output of a run: target and seed first, a letter per verdict, the run's verdict last."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from contracts.evidence.findings import ConsumerScope, Finding
from contracts.evidence.record import ExitCode, Verdict
from contracts.evidence.verdicts import RunVerdict
from contracts.plugin.case_record import VERDICT_PROPERTY
from contracts.plugin.controller import is_worker
from contracts.plugin.options import SELECTION, TARGET
from contracts.plugin.run_memory import COMPLAINTS
from contracts.plugin.session_finish import PLAN, TROUBLE, VERDICT
from contracts.safe_text import many

#: Set by a command that tells the verdict itself, after everything else.
LAST_LINE = pytest.StashKey[Callable[[str], None]]()
#: Verdicts that pytest has no word for.
_LETTERS: Final[dict[str, tuple[str, str]]] = {
    Verdict.INCONCLUSIVE: ("inconclusive", "?"),
    Verdict.ADVISORY: ("advisory", "a"),
    Verdict.UNTESTED: ("untested", "u"),
    Verdict.OBSERVED: ("observed", "o"),
    ConsumerScope.DEVIATION: ("deviation", "d"),
    ConsumerScope.OUTSIDE: ("outside", "x"),
}
#: Must clauses that could not be judged are named up to this number.
_UNJUDGED_AT_MOST: Final = 20
_COLOUR: Final[dict[str, dict[str, bool]]] = {
    Verdict.INCONCLUSIVE: {"yellow": True},
    Verdict.ADVISORY: {"yellow": True},
    Verdict.UNTESTED: {"cyan": True},
    ConsumerScope.DEVIATION: {"yellow": True},
    ConsumerScope.OUTSIDE: {"cyan": True},
}


def pytest_report_header(config: pytest.Config) -> str | None:
    """Target, profile and seed, so that any output can be reproduced."""
    if is_worker(config) or PLAN not in config.stash:
        return None
    selection, target = config.stash[SELECTION], config.stash[TARGET]
    name = f"{target.name} at {target.base_url}" if target else "the embedded sandbox"
    parts = [f"contract: {name}, profile {selection.profile}, seed {selection.seed}"]
    terms = selection.terms
    parts += [f"shard {selection.shard}"] if selection.shard else []
    parts += [f"consumer {terms.consumer.file}"] if terms.consumer else []
    parts += (
        [f"{many(len(terms.deviations), 'deviation')} in {terms.deviations_file}"]
        if terms.deviations_file
        else []
    )
    return ", ".join(parts)


def pytest_report_teststatus(
    report: pytest.TestReport | pytest.CollectReport,
) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
    """Give inconclusive, advisory, untested and observed cases their own names in the summary."""
    verdict = dict(getattr(report, "user_properties", ())).get(VERDICT_PROPERTY)
    if verdict not in _LETTERS or report.failed or not _speaks(report):
        return None
    word, letter = _LETTERS[verdict]
    return word, letter, (word.upper(), _COLOUR.get(verdict, {"green": True}))


def _speaks(report: pytest.TestReport | pytest.CollectReport) -> bool:
    """Whether this phase's report is the one that counts: the call, or a set-up that did not get so far."""
    return report.when == "call" or (report.when == "setup" and report.skipped)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """The verdict with its reason, the findings in a line each, and where the report stands."""
    if TROUBLE in config.stash:
        terminalreporter.section("contract")
        _tell(terminalreporter, config, f"error: {config.stash[TROUBLE]} (exit code {int(ExitCode.ERROR)})")
    if VERDICT not in config.stash:
        return
    verdict = config.stash[VERDICT]
    terminalreporter.section("contract")
    for finding in verdict.findings:
        place = f"{finding.clause} · {finding.operation} · {finding.realm}"
        terminalreporter.write_line(f"{place}{_state(finding)}")
        terminalreporter.write_line(f"    expected {finding.expected}")
        terminalreporter.write_line(f"    seen     {finding.seen}")
    for line in _terms(verdict):
        terminalreporter.write_line(line)
    if verdict.weather and verdict.exit_code is not ExitCode.INCONCLUSIVE:
        terminalreporter.write_line(f"weather: {verdict.weather}")
    for complaint in config.stash.get(COMPLAINTS, []):
        terminalreporter.write_line(f"history: {complaint}")
    if verdict.drift.sentence:
        terminalreporter.write_line(f"drift: {verdict.drift.sentence}")
    folder = Path(config.stash[PLAN].folder)
    report = folder / "index.html"
    # A page that could not be written is named in the verdict; what there is besides stands in the folder.
    terminalreporter.write_line(f"report: {report if report.exists() else folder}")
    _tell(terminalreporter, config, f"{verdict.sentence} (exit code {int(verdict.exit_code)})")


def _tell(terminalreporter: pytest.TerminalReporter, config: pytest.Config, line: str) -> None:
    """Tell the verdict here, or to the command that wants it for its own last line."""
    if LAST_LINE in config.stash:
        config.stash[LAST_LINE](line)
    else:
        terminalreporter.write_line(f"verdict: {line}")


def _state(finding: Finding) -> str:
    parts = [] if finding.confirmed else ["unconfirmed"]
    parts += [] if finding.counted else ["outside the consumer, not counted"]
    if finding.accepted:
        parts.append(f"accepted until {finding.accepted.expires}, {finding.accepted.place}")
    if finding.methods:
        parts.append(f"used by {', '.join(finding.methods)}")
    return f" ({'; '.join(parts)})" if parts else ""


def _terms(verdict: RunVerdict) -> Iterator[str]:
    """What fails the run, what could not be judged, what is waived, and what is to be seen to besides."""
    yield from (f"change: {outcome.line}" for outcome in verdict.deviations if outcome.fails)
    unjudged = verdict.unjudged_lines if verdict.exit_code is ExitCode.INCONCLUSIVE else []
    yield from (f"unjudged: {line}" for line in unjudged[:_UNJUDGED_AT_MOST])
    more = len(unjudged) - _UNJUDGED_AT_MOST
    yield from ([f"unjudged: {more} more in the report"] if more > 0 else [])
    yield from (f"waived: {outcome.line}" for outcome in verdict.waivers if outcome.needed)
    yield from (f"warning: {note}" for note in verdict.notes)
