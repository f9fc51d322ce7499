"""Every value of every file is replaced by every other kind: a reader takes the file, or refuses it.

The commands in `files` try each field, with a part of these values that is drawn, since each costs them more.
"""

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from contracts.errors import UsageError
from contracts.evidence import observations, record, run_folder, terms
from contracts.evidence.run_comparison import realms_of_operations
from contracts.exchanges import har
from contracts.file_formats import read_file
from contracts.history import baseline, runs
from contracts.interface.catalogue import load_catalogue
from contracts.interface.description import load_description
from contracts.reports.verdict_json import VerdictFile
from contracts.session import draft_cleanup, ledger
from contracts.settings.settings_reader import load_target
from tests.meta.hostile.altered_files import texts
from tests.meta.hostile.files import EVERYTHING, GROUP, NOWHERE, copied, line_of
from tests.meta.hostile.probe import probe

Reader = Callable[[Path], Any]


def _target(path: Path) -> Any:
    return load_target(str(path.with_name("x.toml")), NOWHERE, path.parent)


def _deviations(path: Path) -> Any:
    return terms.read_deviations(path, path.name, load_catalogue(), load_description())


def _consumer(path: Path) -> Any:
    return terms.read_consumer(path, path.name, load_catalogue(), load_description())


def _drift_settings(path: Path) -> Any:
    return baseline.load_drift_settings(path.parent, realms_of_operations())


#: The reader of each file that a command reads.
READERS: dict[str, Reader] = {
    "check: a HAR": lambda path: har.read_har(path, path.name),
    "list findings: verdict.json": lambda path: read_file(path, VerdictFile),
    "drift show: observations.json": observations.read_observations,
    "list red: history.jsonl": runs.read,
    "gate --from: run.json": lambda path: run_folder.read_run_facts(path.parent),
    "sweep: the ledger of a run that was killed": ledger.read_ledger,
    "doctor: settings of a target": _target,
    "doctor: a sample document": _target,
    "gate --from --deviations: accepted deviations": _deviations,
    "gate --from --consumer: a consumer file": _consumer,
    "drift show: a baseline": lambda path: baseline.read(path, realms_of_operations()),
    "sweep: run.json": lambda path: run_folder.read_run_facts(path.parent),
    "sweep: swept.json": lambda path: read_file(path, draft_cleanup.SweptFile),
    "contracts.reports: past.json": lambda path: runs.read_past(path.parent),
    "contracts.reports: drift.json": _drift_settings,
    **{name: record.read_journal for name in EVERYTHING if name.endswith("in a journal")},
}


def _read_all(folder: Path, name: str, read: Reader) -> str:
    altered = EVERYTHING[name]
    place = copied(folder, altered.sample)
    path = altered.file(place)
    ends: Counter[str] = Counter()
    for _, text in texts(path, line_of(path, altered)):
        path.write_text(text(), "utf-8", "surrogatepass")
        try:
            read(path)
            ends["read"] += 1
        except UsageError:  # which every command ends with in one line
            ends["refused"] += 1
    return f"{ends['read']} values read, {ends['refused']} refused"


for name, read in READERS.items():
    probe(GROUP, f"{name}: read, every value")(partial(_read_all, name=name, read=read))
