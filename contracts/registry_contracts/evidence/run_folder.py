"""Run folders: makes and prunes them, and reads them into a record without gaps or duplicates.

Damaged files raise a `UsageError` of one line that names the file.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path
from typing import Any, Final

from msgspec import structs

from registry_contracts.errors import UsageError
from registry_contracts.evidence.coverage_level import coverage_level
from registry_contracts.evidence.journal import Event, is_closed, journal_path, journals_in, read_journal
from registry_contracts.evidence.record import Case, RunFacts, RunRecord, Verdict
from registry_contracts.exchanges.exchange import NO_TIME
from registry_contracts.file_formats import convert, own_folder, parse, read_file, read_own
from registry_contracts.safe_text import encodable, many
from registry_contracts.session.ledger import RUN_FILE

_NO_NAME: Final = re.compile(r"[^\w.-]+")


def new_folder(
    reports: Path, kind: str, purpose: str = "write a report to", at: datetime | None = None
) -> Path:
    """Make a folder in `reports`, named by the moment and its kind, with a number if the name is taken.

    `purpose` completes the error message "cannot <purpose> <reports>".
    """
    # The name of a target may come from another person's file; it must not lead out of the folder.
    base = f"{at or datetime.now(UTC):%Y%m%d-%H%M%S}-{_NO_NAME.sub('-', kind)}"
    names = chain([base], (f"{base}-{number}" for number in count(2)))
    try:
        reports.mkdir(parents=True, exist_ok=True)
        folder = next(filter(_made, (reports / name for name in names)))
        if not os.access(folder, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        why = f"cannot {purpose} '{reports}': {error.strerror}; choose another with --reports"
        raise UsageError(why) from None
    return folder


def remove_folder(folder: Path) -> None:
    """Remove a folder that is not needed after all, and the folder of the reports if that is then empty."""
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):
        folder.parent.rmdir()


def _made(folder: Path) -> bool:
    with suppress(FileExistsError):
        folder.mkdir()
        return True
    return False


#: Name of the link to the last run, beside the run folders.
LATEST: Final = "latest"


def set_folder_aside(reports: Path) -> Path | None:
    """Rename a folder called `latest` and return its new path; None if there is none.

    Tools that follow links make such folders. It would be taken for the newest run, but somebody may need its content.
    """
    latest = reports / LATEST
    if latest.is_symlink() or not latest.is_dir():
        return None
    names = (reports / f"{LATEST}-{number}" for number in count(2))
    return latest.rename(next(path for path in names if not path.exists()))


def point_latest(run_folder: Path) -> Path:
    """Let `latest`, beside the run folder, lead to it: as a link, or as a text file if there are no links.

    Raises:
        OSError: neither can be made; `latest` is then removed, since it may lead to an older run.
    """
    name = run_folder.resolve().name
    latest = run_folder.resolve().parent / LATEST
    fresh = latest.with_name(f".{LATEST}-{os.getpid()}")
    try:
        set_folder_aside(latest.parent)
        fresh.unlink(missing_ok=True)
        try:
            fresh.symlink_to(name, target_is_directory=True)
        except OSError:
            fresh.write_text(name + "\n", "utf-8")
        return fresh.replace(latest)
    except OSError:
        forget_latest(latest.parent)
        raise


def forget_latest(reports: Path) -> None:
    """Remove `latest`, so that it does not lead to an older run."""
    with suppress(OSError):
        set_folder_aside(reports)
        (reports / LATEST).unlink(missing_ok=True)


#: Names of run folders begin with their moment.
BEGUN: Final = re.compile(r"\d{8}-\d{6}-.")


def prune(reports: Path, keep: int) -> list[Path]:
    """Remove all but the latest `keep` run folders (0 keeps all), and return those removed.

    A run that is still running, was killed, or left drafts stays: `sweep` needs its ledger.
    """
    folders = sorted(path for path in reports.glob("*/") if BEGUN.match(path.name) and not path.is_symlink())
    removed = []
    for folder in folders[:-keep] if keep else []:
        if _is_done_with(folder):
            shutil.rmtree(folder, ignore_errors=True)
            removed.append(folder)
    return removed


def _is_done_with(folder: Path) -> bool:
    try:
        facts = read_file(folder / RUN_FILE, dict[str, Any])
    except UsageError:
        return False
    return bool(facts.get("finished")) and facts.get("left") == 0


def _broken_off(run: RunFacts, worker: str, events: list[Event], ended: Container[str]) -> Iterator[Case]:
    """Yield the cases that a worker began and no worker ended."""
    stopped = run.interrupted and is_closed(events)
    outcome = Verdict.INCONCLUSIVE if stopped else Verdict.ERROR
    reason = (
        "the run was interrupted during this case"
        if stopped
        else f"worker {worker} ended in the middle of this case"
    )
    for begun in _of_kind(events, "begin"):
        if begun.id not in ended:
            yield Case(**structs.asdict(begun), outcome=outcome, reason=reason, worker=worker)


def _of_kind(events: Iterable[Event], kind: str) -> tuple[Any, ...]:
    return tuple(event.value for event in events if event.kind == kind)


def collect(run_folder: Path) -> RunRecord:
    """Read the record of a run.

    `problems` names what is incomplete (a journal without its end, no closing record). A case in which a worker died
    has the outcome `error`.
    """
    run = read_run_facts(run_folder)
    journals = {worker: _journal(run_folder, run, worker) for worker in run.expected_workers}
    _refuse_foreign(run_folder, run, journals)
    cases = tuple(_cases(run, journals))
    crashed = _harmless_crashes(run, journals, cases)
    events = [event for journal in journals.values() for event in journal]
    exchanges = [each.exchange() for each in _of_kind(events, "exchange")]
    exchanges.sort(key=lambda exchange: exchange.started or NO_TIME)
    return RunRecord(
        run=run,
        cases=cases,
        findings=_of_kind(events, "finding"),
        observations=_of_kind(events, "observation"),
        exchanges={exchange.id: exchange for exchange in exchanges},
        faults=_of_kind(events, "fault"),
        residue=_of_kind(events, "residue"),
        leftovers=_of_kind(events, "leftover"),
        untested=_of_kind(events, "untested"),
        problems=tuple(_problems(run, journals, crashed, len(cases))),
        narrowed=_of_kind(events, "narrowed"),
        crashes=tuple(f"worker {worker} died; others did its remaining cases" for worker in crashed),
        coverage_level=coverage_level(exchanges),
    )


def _journal(run_folder: Path, run: RunFacts, worker: str) -> list[Event]:
    """A worker's journal; empty if the run says that the worker died before it began one."""
    path = journal_path(run_folder, worker)
    excused = run.finished is None or worker in run.without_journal
    return [] if excused and not path.exists() else read_journal(path)


def read_run_facts(run_folder: Path) -> RunFacts:
    """Read `run.json`."""
    path = own_folder(run_folder) / RUN_FILE
    text = read_own(path, ": not a run folder, or the run was killed")
    return convert(encodable(parse(text, str(path))), RunFacts, str(path))


def _refuse_foreign(run_folder: Path, run: RunFacts, journals: dict[str, list[Event]]) -> None:
    expected = {journal_path(run_folder, worker) for worker in run.expected_workers}
    for path in journals_in(run_folder):
        if path not in expected:
            raise UsageError(f"{path} does not belong to this run: run.json names no such worker")
    for worker, (start, *_) in ((worker, events) for worker, events in journals.items() if events):
        path = journal_path(run_folder, worker)
        if start.value.worker != worker:
            raise UsageError(f"{path} is the journal of worker {start.value.worker}, not {worker}")
        if start.value.version != run.versions.get("suite"):
            version = start.value.version
            raise UsageError(f"{path} was written by version {version} of the suite, the run by another")
        if start.value.run != run.token:
            raise UsageError(f"{path} does not belong to this run: it names another")


def _problems(
    run: RunFacts, journals: dict[str, list[Event]], harmless: Container[str], cases: int
) -> Iterator[str]:
    if run.finished is None:
        yield "the run has no closing record: it was killed, or it is still going on"
    elif run.planned is not None and cases < run.planned and not (run.interrupted or run.breaker):
        yield f"{many(run.planned - cases, 'case')} of {run.planned} never began"
    for worker, events in journals.items():
        if worker in harmless:
            continue
        if not events:
            yield f"worker {worker} died before it began a case; the others' results follow"
        elif not is_closed(events):
            ended = any(event.kind == "end" for event in events)
            cause = (
                "its closing line counts other events than it holds" if ended else "it has no closing line"
            )
            yield f"the journal of worker {worker} is incomplete: {cause}"


def _harmless_crashes(
    run: RunFacts, journals: Mapping[str, list[Event]], cases: Iterable[Case]
) -> tuple[str, ...]:
    """Return the workers that died without loss.

    A worker writes each case to its journal before it goes on. So nothing is lost if all planned cases are there, and
    none broke off with the worker.
    """
    ended = list(cases)
    broken_off = {case.worker for case in ended if case.outcome is Verdict.ERROR and not case.attempts}
    if run.finished is None or run.planned != len(ended):
        return ()
    died = (worker for worker in run.died if worker not in broken_off)
    return tuple(worker for worker in died if not is_closed(journals.get(worker, [])))


def _cases(run: RunFacts, journals: dict[str, list[Event]]) -> Iterator[Case]:
    ended = {case.id for events in journals.values() for case in _of_kind(events, "case")}
    for worker, events in journals.items():
        yield from (structs.replace(case, worker=worker) for case in _of_kind(events, "case"))
        for case in _broken_off(run, worker, events, ended):
            ended.add(case.id)
            yield case
