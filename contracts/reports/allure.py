"""`allure/`: results for Allure; and its report as one page: `python -m contracts.reports.allure RUN_FOLDER`.

Allure's pages load an analytics script; it is taken out, and a policy keeps the page from loading anything.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import uuid
import zipfile
import zlib
from collections.abc import Iterator
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from typing import Final

import attr
import click
from allure_commons.logger import AllureFileLogger
from allure_commons.model2 import Attachment, Label, Link, Parameter, Status, StatusDetails, TestResult
from allure_commons.types import LabelType, LinkType, Severity

from contracts.errors import SuiteError, UsageError
from contracts.evidence.findings import ConsumerScope
from contracts.evidence.record import Case, ExitCode, RunRecord, Verdict
from contracts.evidence.verdicts import RunVerdict
from contracts.exchanges.exchange import Exchange
from contracts.exchanges.transcript import heading, transcript
from contracts.interface.catalogue import Clause
from contracts.reports.finding_files import shown_exchanges
from contracts.safe_text import printable

FOLDER_NAME = "allure"
#: The results of a large run, in one file.
PACKED_NAME: Final = "allure.zip"
_STATUS = {
    Verdict.FAIL: Status.FAILED,
    Verdict.ERROR: Status.BROKEN,
    Verdict.INCONCLUSIVE: Status.SKIPPED,
    Verdict.UNTESTED: Status.SKIPPED,
    Verdict.ADVISORY: Status.PASSED,
    Verdict.DEVIATION: Status.SKIPPED,
    Verdict.OBSERVED: Status.PASSED,
    Verdict.PASS: Status.PASSED,
}
_SEVERITY = {"must": Severity.CRITICAL, "should": Severity.NORMAL, "silent": Severity.MINOR}
_ATTACHED_AT_MOST = 20


class _Logger(AllureFileLogger):
    """Allure's own writer of results, but each is encoded at once: piece by piece takes many times as long."""

    def _report_item(self, item: TestResult) -> None:
        data = attr.asdict(item, filter=lambda _, value: bool(value) or value is False)
        path = Path(self._report_dir) / item.file_pattern.format(prefix=uuid.uuid4())
        path.write_text(json.dumps(data, ensure_ascii=False), "utf-8")


def write(record: RunRecord, verdict: RunVerdict, folder: Path) -> Path:
    """Write the results of a run, in place of those of an earlier rendering, and return their folder."""
    target = folder / FOLDER_NAME
    (folder / PACKED_NAME).unlink(missing_ok=True)
    logger = _Logger(str(target), clean=True)  # type: ignore[no-untyped-call]
    clauses = {cell.clause.id: cell.clause for cell in verdict.cells}
    for case in record.cases:
        result = _result(record, verdict, case, clauses)
        if case.outcome is Verdict.FAIL:
            result.attachments = list(_attach(logger, record, verdict, case))
        logger.report_result(result)  # type: ignore[no-untyped-call]
    return target


def pack(run_folder: Path) -> None:
    """Put the results in a run folder, if there are any, into one archive in their place."""
    results = run_folder / FOLDER_NAME
    if not results.is_dir():
        return
    with zipfile.ZipFile(run_folder / PACKED_NAME, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(results.iterdir()):
            archive.write(path, path.name)
    shutil.rmtree(results)


def _results_of(run_folder: Path, scratch: Path) -> Path:
    """Return the folder of a run's results, unpacked below `scratch` where they are packed."""
    packed, unpacked = run_folder / PACKED_NAME, scratch / FOLDER_NAME
    if not packed.is_file():
        return run_folder / FOLDER_NAME
    try:
        with zipfile.ZipFile(packed) as archive:
            archive.extractall(unpacked)
    except (OSError, EOFError, zipfile.BadZipFile, zlib.error, RuntimeError) as error:
        raise UsageError(f"cannot unpack {packed}: {error}") from None
    return unpacked


def identities(case: Case) -> tuple[str, str]:
    """Return testCaseId and historyId of a case.

    The first is the same in every realm, so that Allure shows realms side by side; the second differs by
    realm, so that each realm keeps a history of its own.
    """
    name, bracket, parameters = case.id.partition("[")
    elsewhere = f"{name}{bracket}{parameters.replace(case.realm, '*', 1)}"
    test_case = _digest(elsewhere)
    return test_case, _digest(f"{test_case}|{case.realm}")


def variant(case: Case) -> str:
    """Return what tells a parametrised case from its siblings; the realm, which Allure shows by itself, left out."""
    parameters = case.id.partition("[")[2].removesuffix("]")
    before, _, after = parameters.partition(case.realm)
    return "-".join(part for part in (before.strip("-"), after.strip("-")) if part)


def _title(case: Case) -> str:
    return f"{case.name} ({variant(case)})" if variant(case) else case.name


def _result(record: RunRecord, verdict: RunVerdict, case: Case, clauses: dict[str, Clause]) -> TestResult:
    test_case, history = identities(case)
    start = _milliseconds(case.started or record.run.started)
    return TestResult(
        uuid=str(uuid.uuid5(uuid.NAMESPACE_URL, f"{record.run.started}|{case.worker}|{case.id}")),
        historyId=history,
        testCaseId=test_case,
        fullName=printable(case.id.partition("[")[0]),
        name=printable(_title(case)),
        description=printable(case.doc),
        # Accepted or not counted: skipped, as Allure's own known issues still count as failures.
        status=Status.SKIPPED if _toned_down(case, verdict) else _STATUS[case.outcome],
        statusDetails=_details(case, verdict),
        stage="finished",
        start=start,
        stop=start + round(case.seconds * 1000),
        # A normal parameter: excluded ones drop out of the history key, and the last realm would win.
        parameters=[Parameter(name="realm", value=case.realm)],
        labels=list(_labels(case, clauses, verdict)),
        links=list(_links(case, verdict)),
    )


def _toned_down(case: Case, verdict: RunVerdict) -> bool:
    contradicted = case.outcome in {Verdict.FAIL, Verdict.ADVISORY}
    return contradicted and verdict.scope_of(case) is not ConsumerScope.COUNTS


def _links(case: Case, verdict: RunVerdict) -> Iterator[Link]:
    entries = (finding.accepted for finding in verdict.findings_of(case) if finding.accepted)
    for entry in dict.fromkeys(entries):
        yield Link(type=LinkType.ISSUE, url=entry.issue, name=printable(entry.reason))


def _details(case: Case, verdict: RunVerdict) -> StatusDetails | None:
    mine = verdict.findings_of(case)
    reason = case.reason or (case.blocked_by.cause if case.blocked_by else "")
    if case.outcome is Verdict.PASS or case.outcome is Verdict.OBSERVED:
        return None
    message = (
        "; ".join(f"[{cause.id}] {cause.headline}" for cause in verdict.causes_of(case))
        or f"{case.outcome}: {reason}"
    )
    trace = "\n\n".join(
        f"{finding.clause} ({finding.operation})\nexpected: {finding.expected}\nseen: {finding.seen}\n"
        f"{finding.rate}\n{finding.command}"
        for finding in mine
    )
    flaky = any(finding.intermittent for finding in mine)
    accepted = any(finding.accepted for finding in mine)
    if _toned_down(case, verdict):
        message = f"{verdict.scope_of(case)}: {message}"
    return StatusDetails(message=printable(message), trace=printable(trace), flaky=flaky, known=accepted)


def _labels(case: Case, clauses: dict[str, Clause], verdict: RunVerdict) -> Iterator[Label]:
    clauses_known = [clauses[clause] for clause in case.clauses if clause in clauses]
    for family in dict.fromkeys(clause.family for clause in clauses_known):
        yield Label(name=LabelType.EPIC, value=family)
    for clause in case.clauses:
        yield Label(name=LabelType.FEATURE, value=printable(clause))
    # Names of our own, to filter and group by: a realm is an environment of the report.
    yield Label(name="realm", value=case.realm)
    for clause in case.clauses:
        yield Label(name="clause", value=printable(clause))
    for operation in case.operations:
        yield Label(name="operation", value=printable(operation))
    yield Label(name=LabelType.STORY, value=printable(case.name))
    yield Label(name=LabelType.PARENT_SUITE, value=case.realm)
    yield Label(name=LabelType.SUITE, value=printable(case.id.partition("::")[0]))
    for operation in case.operations:
        yield Label(name=LabelType.TAG, value=printable(operation))
    if _toned_down(case, verdict):
        yield Label(name=LabelType.TAG, value=str(verdict.scope_of(case)))
    levels = {str(clause.level) for clause in clauses_known}
    level = next((level for level in _SEVERITY if level in levels), None)
    if level is not None:
        yield Label(name=LabelType.SEVERITY, value=_SEVERITY[level].value)
    yield Label(name=LabelType.THREAD, value=case.worker)
    yield Label(name=LabelType.FRAMEWORK, value="registry-contracts")


def _attach(
    logger: AllureFileLogger, record: RunRecord, verdict: RunVerdict, case: Case
) -> Iterator[Attachment]:
    for exchange in _telling(record, verdict, case)[:_ATTACHED_AT_MOST]:
        source = f"{uuid.uuid5(uuid.NAMESPACE_URL, f'{case.id}|{exchange.id}')}-attachment.txt"
        logger.report_attached_data(transcript(exchange), source)  # type: ignore[no-untyped-call]
        yield Attachment(name=printable(heading(exchange)), source=source, type="text/plain")


def _telling(record: RunRecord, verdict: RunVerdict, case: Case) -> tuple[Exchange, ...]:
    """Return the exchanges that show the findings of a case; all of the case's when no finding names one."""
    findings = [finding for finding in verdict.findings if case.id in finding.cases]
    shown = {exchange.id: exchange for finding in findings for exchange in shown_exchanges(record, finding)}
    mine = tuple(exchange for exchange in shown.values() if exchange.case == case.id)
    return mine or tuple(shown.values()) or record.exchanges_of(case.id)


def _milliseconds(moment: str) -> int:
    return round(datetime.fromisoformat(moment).timestamp() * 1000)


def _digest(text: str) -> str:
    return hashlib.md5(text.encode("utf-8", "backslashreplace"), usedforsecurity=False).hexdigest()


PAGE_NAME: Final = "allure.html"
#: Runs that Allure keeps in its own history.
_LIMIT: Final = 20
_SECONDS: Final = 600
_ANALYTICS: Final = re.compile(
    r'<script\b[^>]*\bsrc="https://www\.googletagmanager\.com/[^"]*"[^>]*>\s*</script>\s*'
    r"<script>(?:(?!</script>).)*?\bgtag\((?:(?!</script>).)*?</script>\s*",
    re.DOTALL,
)
_TRACES: Final = ("googletagmanager", "google-analytics", "gtag(")
_FETCHED: Final = re.compile(
    r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=[\"']?(?:https?:)?//[^>]*>", re.I
)
_POLICY: Final = (
    '<meta http-equiv="Content-Security-Policy" content="default-src data: blob: \'unsafe-inline\' '
    "'unsafe-eval'; form-action 'none'\">"
)


def make_page(run_folder: Path, program: str, history: Path | None = None) -> Path:
    """Make Allure's report of a run.

    Args:
        run_folder: holds the results, `allure/` or `allure.zip`.
        program: Allure 3, by name or path.
        history: Allure's own history file; the run is added to it once.

    Returns:
        Path of `allure.html` in the run folder.

    Raises:
        UsageError: no results there, or Allure is not installed.
        SuiteError: Allure failed, or its page would still fetch something.
    """
    with tempfile.TemporaryDirectory() as scratch:
        folder, name = Path(scratch), run_folder.resolve().name
        results = _results_of(run_folder, folder)
        realms = realms_in(results)
        executable = shutil.which(program)
        if executable is None:
            raise UsageError(
                f"no program {program}: install Allure 3 (npm install allure), or run tox -e allure"
            )
        lines = folder / "history.jsonl"
        lines.write_text(_without(history, name), "utf-8")
        config = _configure(folder, name, realms, lines)
        page = _generate(executable, config, results.resolve(), folder / "report")
        target = run_folder / PAGE_NAME
        target.write_text(quiet(page.read_text("utf-8")), "utf-8")
        if history is not None:
            history.write_text(lines.read_text("utf-8"), "utf-8")
    return target


def realms_in(results: Path) -> list[str]:
    """Return the realms that the results name, sorted.

    Raises:
        UsageError: there are no results.
    """
    realms = set()
    for path in results.glob("*-result.json"):
        labels = json.loads(path.read_text("utf-8"))["labels"]
        realms |= {label["value"] for label in labels if label["name"] == "realm"}
    if not realms:
        raise UsageError(f"{results} holds no results of a run: render them with python -m contracts.reports")
    return sorted(realms)


def quiet(page: str) -> str:
    """Return a page of Allure without its analytics, under a policy that lets it load nothing.

    Raises:
        SuiteError: something that fetches is still there, so that Allure has changed.
    """
    stripped = _ANALYTICS.sub("", page)
    left = [trace for trace in _TRACES if trace in stripped]
    left += [match[0][:120] for match in _FETCHED.finditer(stripped)]
    if left:
        raise SuiteError(f"Allure's page would still fetch something ({left[0]}): this version is not known")
    if "<head>" not in stripped:
        raise SuiteError("Allure's page has no head: this version is not known")
    return stripped.replace("<head>", f"<head>\n    {_POLICY}", 1)


def _configure(folder: Path, name: str, realms: list[str], history: Path) -> Path:
    settings = {
        "name": name,
        "output": str(folder / "report"),
        "history": str(history),
        "limit": _LIMIT,
        "realms": realms,
    }
    template = files("contracts.reports").joinpath("templates/allurerc.mjs").read_text("utf-8")
    path = folder / "allurerc.mjs"
    path.write_text(template.replace("__SETTINGS__", json.dumps(settings, indent=2)), "utf-8")
    return path


def _without(history: Path | None, name: str) -> str:
    """Return a history without a run, which would count twice when it is rendered again."""
    if history is None or not history.is_file():
        return ""
    lines = history.read_text("utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if line.strip() and json.loads(line).get("name") != name)


def _generate(program: str, config: Path, results: Path, output: Path) -> Path:
    command = [program, "generate", "--config", str(config), str(results)]
    try:
        ended = subprocess.run(  # noqa: S603 - the program that the caller named
            command,
            cwd=config.parent,
            env={**os.environ, "ALLURE_NO_ANALYTICS": "1"},
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SuiteError(f"Allure did not run to its end: {error}") from error
    page = output / "index.html"
    if ended.returncode or not page.is_file():
        output_lines = (ended.stderr or ended.stdout).strip().splitlines() or ["it said nothing"]
        raise SuiteError(f"Allure made no report (exit code {ended.returncode}): {output_lines[-1]}")
    return page


@click.command()
@click.argument("run_folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--allure", "program", default="allure", show_default=True, help="The program, Allure 3.")
@click.option("--history", type=click.Path(path_type=Path, dir_okay=False), help="Allure's history file.")
@click.pass_context
def main(context: click.Context, run_folder: Path, program: str, history: Path | None) -> None:
    """Make `allure.html` in RUN_FOLDER from its results: one file that asks nothing of the network."""
    try:
        page = make_page(run_folder, program, history)
    except UsageError as error:
        click.echo(f"error: {error}", err=True)
        context.exit(ExitCode.USAGE)
    except SuiteError as error:
        click.echo(f"error: {error}", err=True)
        context.exit(ExitCode.ERROR)
    click.echo(f"{page} ({page.stat().st_size / 1_000_000:.1f} MB)")


if __name__ == "__main__":
    main(prog_name="python -m contracts.reports.allure")
