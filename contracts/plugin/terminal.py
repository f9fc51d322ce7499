"""The terminal output of a run beside pytest's own: target and seed first, the run's findings and verdict last."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from contracts.evidence.findings import ConsumerScope
from contracts.evidence.record import ExitCode, Verdict
from contracts.evidence.verdicts import RunVerdict
from contracts.interface.operations import in_realms
from contracts.plugin.attempts import VERDICT_PROPERTY
from contracts.plugin.controller import is_worker
from contracts.plugin.finding_again import command_of
from contracts.plugin.plan import SELECTION, TARGET
from contracts.plugin.session_finish import COMPLAINTS, PLAN, TROUBLE, VERDICT
from contracts.reports.build_server import annotate
from contracts.reports.cards import lines_of
from contracts.safe_text import cut, many, one_line, plain_line

#: Set by a command that tells the verdict itself, after everything else.
LAST_LINE = pytest.StashKey[Callable[[str], None]]()
#: Word, letter and colour of each verdict that pytest has no word for.
_WORDS: Final[dict[str, tuple[str, str, str]]] = {
    Verdict.INCONCLUSIVE: ("inconclusive", "?", "yellow"),
    Verdict.ADVISORY: ("advisory", "a", "yellow"),
    Verdict.UNTESTED: ("untested", "u", "cyan"),
    Verdict.OBSERVED: ("observed", "o", "green"),
    ConsumerScope.DEVIATION: ("deviation", "d", "yellow"),
    ConsumerScope.OUTSIDE: ("outside", "x", "cyan"),
}
#: Of a finding's words; all of them stand in the report.
_LONGEST_LINE: Final = 2000
#: Of the reason why something was not judged.
_LONGEST: Final = 300
#: Must clauses that could not be judged are named up to this number.
_UNJUDGED_AT_MOST: Final = 20
#: Clauses that a run was asked for by name, and that are told one by one.
_CLAUSES_AT_MOST: Final = 20


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Keep the paths of files back: the cases of one file stand apart where some are in `smoke`, which runs first."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and PLAN in session.config.stash and session.config.get_verbosity() <= 0:
        reporter.showfspath = False


def pytest_report_header(config: pytest.Config) -> str | None:
    """Target, profile and seed, so that any output can be reproduced."""
    if is_worker(config) or not (PLAN in config.stash or config.getoption("--plan")):
        return None
    selection, target = config.stash[SELECTION], config.stash[TARGET]
    name = target.in_words if target else "the embedded sandbox"
    parts = [f"contract: {name}, profile {selection.profile}, seed {selection.seed}"]
    terms = selection.terms
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
    # The phase that counts: the call, or a set-up that did not get so far.
    speaks = report.when == "call" or (report.when == "setup" and report.skipped)
    if verdict not in _WORDS or report.failed or not speaks:
        return None
    word, letter, colour = _WORDS[verdict]
    return word, letter, (word.upper(), {colour: True})


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None, object, object]:
    """Tell the verdict with its reason, the findings in a line each, and where the report stands, behind pytest's own.

    Said even where pytest itself broke: it leaves its own summary out then.
    """
    result = yield
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    stash = session.config.stash
    if reporter is not None and not is_worker(session.config) and (TROUBLE in stash or VERDICT in stash):
        reporter.section("contract")
        if TROUBLE in stash:
            _tell(reporter, session.config, f"error: {stash[TROUBLE]} (exit code {int(ExitCode.ERROR)})")
        else:
            _tell_verdict(reporter, session.config, stash[VERDICT])
    return result


def _tell_verdict(reporter: pytest.TerminalReporter, config: pytest.Config, verdict: RunVerdict) -> None:
    folder = Path(config.stash[PLAN].folder)
    for styled in lines_of(verdict, command_of(config), folder):
        markup = {styled.colour: True} if styled.colour else {}
        reporter.write_line(one_line(styled.text), bold=styled.bold, **markup)
    for line in _asked_for(verdict, config.stash[SELECTION].clauses):
        reporter.write_line(one_line(line))
    for line in terms_lines(verdict):
        reporter.write_line(line)
    if verdict.environment_faults and verdict.exit_code is not ExitCode.INCONCLUSIVE:
        reporter.write_line(f"environment: {plain_line(verdict.environment_faults, _LONGEST_LINE)}")
    for trouble in config.stash.get(COMPLAINTS, []):
        reporter.write_line(f"history: {plain_line(trouble, _LONGEST_LINE)}")
    if verdict.drift.sentence:
        reporter.write_line(f"drift: {plain_line(verdict.drift.sentence, _LONGEST_LINE)}")
    report = folder / "index.html"
    # A page that could not be written is named in the verdict; what there is besides stands in the folder.
    reporter.write_line(f"report: {report if report.exists() else folder}")
    annotate(verdict)
    _tell(reporter, config, verdict.line)


def _tell(reporter: pytest.TerminalReporter, config: pytest.Config, line: str) -> None:
    """Tell the verdict here, or to the command that wants it for its own last line."""
    if LAST_LINE in config.stash:
        config.stash[LAST_LINE](plain_line(line, _LONGEST_LINE))
    else:
        # Behind what pytest says last of all, of a run that it was told to end.
        config.add_cleanup(partial(reporter.write_line, f"verdict: {plain_line(line, _LONGEST_LINE)}"))


def _asked_for(verdict: RunVerdict, clauses: Iterable[str]) -> Iterator[str]:
    """How each clause fared that the run was asked for by name, in which realms."""
    for name in list(dict.fromkeys(clauses))[:_CLAUSES_AT_MOST]:
        cells = [cell for cell in verdict.cells if cell.clause.id == name]
        realms: dict[tuple[str, str], list[str]] = {}
        for cell in cells:
            why = cell.reason if cell.verdict in {Verdict.INCONCLUSIVE, Verdict.UNTESTED} else None
            realms.setdefault((str(cell.verdict), cut(why or "", _LONGEST)), []).append(cell.realm)
        outcomes = [
            f"{word} {in_realms(of)}{f' ({why})' if why else ''}" for (word, why), of in realms.items()
        ]
        yield f"{name}: {'; '.join(outcomes) or 'in no realm of this run'}"


def terms_lines(verdict: RunVerdict) -> Iterator[str]:
    """What fails the run, what could not be judged, what is waived, and what is to be seen to besides."""
    yield from (f"change: {outcome.line}" for outcome in verdict.deviations if outcome.fails)
    inconclusive = verdict.exit_code is ExitCode.INCONCLUSIVE
    yield from (f"not judged: {cut(group.line, _LONGEST)}" for group in verdict.not_judged if inconclusive)
    unjudged = verdict.unjudged_lines if inconclusive else []
    yield from (f"unjudged: {line}" for line in unjudged[:_UNJUDGED_AT_MOST])
    more = len(unjudged) - _UNJUDGED_AT_MOST
    yield from ([f"unjudged: {more} more in the report"] if more > 0 else [])
    yield from (f"waived: {outcome.line}" for outcome in verdict.waivers if outcome.needed)
    yield from (f"warning: {note}" for note in verdict.notes)
