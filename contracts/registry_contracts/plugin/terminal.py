"""The terminal output of a run beside pytest's own: target and seed first, the run's findings and verdict last."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from functools import partial
from typing import Final

import pytest

from registry_contracts.errors import ExitCode
from registry_contracts.evidence.findings import ConsumerScope
from registry_contracts.evidence.record import Verdict
from registry_contracts.evidence.verdicts import RunVerdict
from registry_contracts.exchanges.redaction import is_ordinary
from registry_contracts.interface.operations import in_realms
from registry_contracts.plugin.case import is_case
from registry_contracts.plugin.collection import forecast
from registry_contracts.plugin.finding_again import command_of
from registry_contracts.plugin.plan import SELECTION
from registry_contracts.plugin.protocol import verdict_of
from registry_contracts.plugin.run import RUN, Run, write_lines
from registry_contracts.reports.build_server import annotate
from registry_contracts.reports.cards import lines_of
from registry_contracts.safe_text import cut, many, one_line, plain_line
from registry_contracts.settings.target import Target

#: The first word of the last line, before the verdict.
LAST_WORD = pytest.StashKey[str]()
#: Word, letter and colour of each verdict that pytest does not know.
_WORDS: Final[dict[str, tuple[str, str, str]]] = {
    Verdict.INCONCLUSIVE: ("inconclusive", "?", "yellow"),
    Verdict.ADVISORY: ("advisory", "a", "yellow"),
    Verdict.UNTESTED: ("untested", "u", "cyan"),
    Verdict.OBSERVED: ("observed", "o", "green"),
    ConsumerScope.DEVIATION: ("deviation", "d", "yellow"),
    ConsumerScope.OUTSIDE: ("outside", "x", "cyan"),
}
#: Longest line, and longest reason why something was not judged, in characters; the report has the full texts.
_LONGEST_LINE: Final = 2000
_LONGEST: Final = 300
#: How many clauses are listed one by one: of those not judged, and of those selected by name.
_AT_MOST: Final = 20


def pytest_report_header(config: pytest.Config) -> list[str] | None:
    """Target, profile and seed, so that any output can be reproduced."""
    if RUN not in config.stash and not config.getoption("--plan"):
        return None
    selection = config.stash[SELECTION]
    target, terms = selection.settings, selection.terms
    name = target.in_words if target else "the embedded sandbox"
    parts = [f"contract: {name}, profile {selection.profile}, seed {selection.seed}"]
    parts += [f"consumer {terms.consumer.file}"] if terms.consumer else []
    deviations = f"{many(len(terms.deviations), 'deviation')} in {terms.deviations_file}"
    first = ", ".join([*parts, *([deviations] if terms.deviations_file else [])])
    return [first, *_ordinary_passwords(target)]


def _ordinary_passwords(target: Target | None) -> Iterator[str]:
    """A warning about passwords that reports cannot redact everywhere."""
    accounts = target.accounts.items() if target else ()
    if roles := [role for role, account in accounts if is_ordinary(account.password.reveal())]:
        yield (
            f"warning: the password of {', '.join(roles)} is an ordinary word, which addresses and texts hold too; "
            "only sign-ins are redacted: choose another password"
        )


def pytest_report_teststatus(
    report: pytest.TestReport | pytest.CollectReport,
) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
    """Give inconclusive, advisory, untested and observed cases their own names in the summary."""
    verdict = verdict_of(report)
    # The phase that counts: the call, or a set-up that was skipped.
    counts = report.when == "call" or (report.when == "setup" and report.skipped)
    if verdict not in _WORDS or report.failed or not counts:
        return None
    word, letter, colour = _WORDS[verdict]
    return word, letter, (word.upper(), {colour: True})


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """With `--plan`, print the forecast instead of running the cases."""
    config = session.config
    if not config.getoption("--plan") or session.testsfailed or not any(map(is_case, session.items)):
        return None
    write_lines(config, ["", *forecast(config, session.items).lines(), "Nothing was sent."])
    return True


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None, object, object]:
    """After pytest's output, print the findings, one line each, the path of the report, and the verdict.

    Also after an internal error of pytest, which then prints no summary of its own.
    """
    result = yield
    run = session.config.stash.get(RUN, None)
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and run is not None and run.over:
        reporter.section("contract")
        if run.trouble is None and run.verdict is not None:
            _write_verdict(reporter, run, run.verdict)
        else:
            _write_last(reporter, run.config, f"error: {run.trouble} (exit code {int(ExitCode.ERROR)})")
    return result


def _write_verdict(reporter: pytest.TerminalReporter, run: Run, verdict: RunVerdict) -> None:
    for styled in lines_of(verdict, command_of(run.config), run.folder):
        markup = {styled.colour: True} if styled.colour else {}
        reporter.write_line(one_line(styled.text), bold=styled.bold, **markup)
    lines = () if run.unbegun else (*_asked_for(verdict, run.worker.selection.clauses), *terms_lines(verdict))
    for line in lines:
        reporter.write_line(one_line(line))
    faults = verdict.environment_faults if verdict.exit_code is not ExitCode.INCONCLUSIVE else ""
    drift = None if run.unbegun else verdict.drift.sentence
    further = [("environment", faults), *(("history", line) for line in run.complaints), ("drift", drift)]
    for what, words in further:
        if words:
            reporter.write_line(f"{what}: {plain_line(words, _LONGEST_LINE)}")
    page = run.folder / "index.html"
    # If the page could not be written, the verdict says so, and the folder holds the other reports.
    reporter.write_line(f"report: {page if page.exists() else run.folder}")
    annotate(verdict)
    _write_last(reporter, run.config, verdict.line)


def _write_last(reporter: pytest.TerminalReporter, config: pytest.Config, line: str) -> None:
    """Write a line after pytest's last one, which an interrupted run prints very late."""
    text = f"{config.stash.get(LAST_WORD, 'verdict')}: {plain_line(line, _LONGEST_LINE)}"
    config.add_cleanup(partial(reporter.write_line, text))


def _asked_for(verdict: RunVerdict, clauses: Iterable[str]) -> Iterator[str]:
    """The verdicts of each clause that was selected by name, with its realms."""
    for name in list(dict.fromkeys(clauses))[:_AT_MOST]:
        realms: dict[tuple[str, str], list[str]] = {}
        for cell in (cell for cell in verdict.cells if cell.clause.id == name):
            why = cell.reason if cell.verdict in {Verdict.INCONCLUSIVE, Verdict.UNTESTED} else None
            realms.setdefault((str(cell.verdict), cut(why or "", _LONGEST)), []).append(cell.realm)
        outcomes = [
            f"{word} {in_realms(of)}{f' ({why})' if why else ''}" for (word, why), of in realms.items()
        ]
        yield f"{name}: {'; '.join(outcomes) or 'in no realm of this run'}"


def terms_lines(verdict: RunVerdict) -> Iterator[str]:
    """Lines on deviations that fail the run, clauses that could not be judged, waivers, and warnings."""
    yield from (f"change: {outcome.sentence}" for outcome in verdict.deviations if outcome.fails)
    if verdict.exit_code is ExitCode.INCONCLUSIVE:
        yield from (f"not judged: {cut(group.line, _LONGEST)}" for group in verdict.not_judged)
        yield from (f"unjudged: {line}" for line in verdict.unjudged_lines[:_AT_MOST])
        more = len(verdict.unjudged_lines) - _AT_MOST
        yield from ([f"unjudged: {more} more in the report"] if more > 0 else [])
    yield from (f"waived: {outcome.sentence}" for outcome in verdict.waivers if outcome.needed)
    yield from (f"warning: {note}" for note in verdict.notes)
