"""Whatever stands in a file that a command reads, it is read, or refused in one line that names it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import tomlkit
import yaml
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from contracts.errors import RegistryContractsError
from contracts.evidence import observations, terms
from contracts.evidence.record import RunFacts
from contracts.evidence.run_folder import collect
from contracts.exchanges import har
from contracts.history import baseline, runs
from contracts.manual.check import CheckOptions, check_archive
from contracts.reports import verdict_json
from contracts.session import ledger
from contracts.settings.settings_reader import load_target
from tests.meta.declared_values import altered, fitting

VARIABLES = {"REGISTRY_EMAIL": "a@b.test", "REGISTRY_PASSWORD": "not-a-password"}
MOMENT = "2026-01-01T00:00:00+00:00"
LEDGER = {"number": 1, "operation": "saveDraft", "what": "draft", "realm": "abs-dev", "role": "author"}
DEVIATION = {"clause": "draft-get-content", "realms": ["abs-dev"], "reason": "known", "owner": "someone"}
SETTINGS = {
    "base_url": "http://127.0.0.1:9",
    "kind": "development",
    "realms": ["abs-dev"],
    "pace": {"requests_per_second": 20, "concurrency": 8},
    "accounts": {"author": {"email_env": "REGISTRY_EMAIL", "password_env": "REGISTRY_PASSWORD"}},
    "realm": {
        "abs-dev": {
            "contact_schema": "contact",
            "country_terms": ["ca"],
            "spare_identifiers": ["rc-spare-record"],
        }
    },
    "attachments": {"size_limit_bytes": 1000000},
    "names": {"realm_header": "X-Realm", "query": {"$top": "limit"}},
}


@dataclass(frozen=True)
class File:
    """A file, and what reads it.

    Attributes:
        name: Its name in a run folder, where a sample of it stands unless `sample` gives one.
        read: Reads it, given its path.
        shapes: Its declarations, where it has some that are as wide as the file.
        lines: It is a line of JSON lines.
    """

    name: str
    read: Callable[[Path], object]
    shapes: tuple[Any, ...] = ()
    sample: Any = None
    lines: bool = False


def _facts_of(path: Path) -> object:
    return observations.read(path.parent).facts


def _history(path: Path) -> object:
    return runs.past_of(runs.read(path), "x", "gate")


def _check(path: Path) -> object:
    return har.read_har(path, str(path)), check_archive(path, str(path), CheckOptions())


FILES = [
    File("verdict.json", verdict_json.read, (verdict_json.VerdictFile,)),
    File("observations.json", _facts_of, (observations.ObservationsFile,)),
    File("run.json", lambda path: collect(path.parent), (RunFacts,)),
    File("drift.json", lambda path: baseline.load_drift_settings(path.parent), (baseline.DriftSettings,)),
    File("past.json", lambda path: runs.read_past(path.parent), (runs.Past,)),
    File("history-entry.json", _history, (runs.Entry,), lines=True),
    File("journal-gw0.jsonl", lambda path: collect(path.parent), lines=True),
    File(
        "ledger.jsonl",
        lambda path: ledger.read_entries([path]),
        (ledger.Entry,),
        LEDGER | {"at": MOMENT},
        lines=True,
    ),
    File("baseline.yaml", baseline.read),
    File("traffic.har", _check),
    File("x.toml", lambda path: load_target(str(path), VARIABLES, path.parent), sample=SETTINGS),
    File(
        "deviations.toml",
        lambda path: terms.read_deviations(path, str(path)),
        sample={"deviation": [DEVIATION | {"issue": "https://tracker.test/1", "expires": date(2999, 1, 1)}]},
    ),
    File(
        "consumer.toml",
        lambda path: terms.read_consumer(path, str(path)),
        sample={"operations": ["getDraft"], "realms": ["abs-dev"], "clauses": ["draft-get-content"]},
    ),
]


@pytest.fixture
def folder(rendered: Path, tmp_path: Path) -> Path:
    """A run folder of its own with all reports."""
    made = tmp_path / "20260101-000000-altered"
    made.mkdir()
    for path in rendered.iterdir():
        if path.is_file():
            (made / path.name).write_bytes(path.read_bytes())
    return made


def lines_in(path: Path, file: File) -> list[str]:
    """The lines of a file of JSON lines; a whole file is one."""
    text = path.read_text("utf-8")
    return text.splitlines() if file.lines else [text]


def values_of(file: File, path: Path) -> st.SearchStrategy[Any]:
    """What may stand in a file, or in a line of it."""
    if file.sample is not None:
        samples = [file.sample]
    elif path.suffix == ".yaml":
        samples = [yaml.safe_load(path.read_text("utf-8"))]
    else:
        samples = [json.loads(line) for line in lines_in(path, file)]
    usual = st.sampled_from(samples)
    if not file.shapes:
        return altered(usual)
    return altered(usual) | fitting(*file.shapes) | altered(fitting(*file.shapes))


def without_nothing(value: Any) -> Any:
    """The value without null, which TOML has no word for."""
    if isinstance(value, dict):
        return {name: without_nothing(member) for name, member in value.items() if member is not None}
    return [without_nothing(item) for item in value if item is not None] if isinstance(value, list) else value


def write(path: Path, value: Any, others: list[str]) -> None:
    """Write a value as what the name of the file says, the first of several lines."""
    if path.suffix == ".toml":
        text = tomlkit.dumps(without_nothing(value)) if isinstance(value, dict) else f"{value}"
    elif path.suffix == ".yaml":
        text = yaml.safe_dump(value)
    else:
        text = "\n".join([json.dumps(value), *others])
    path.write_text(text, "utf-8", "surrogatepass")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
@settings(max_examples=40, derandomize=True, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_what_stands_in_a_file_is_read_or_refused_in_one_line(
    folder: Path, file: File, data: st.DataObject
) -> None:
    path = folder / file.name
    kept = path.with_name(f"kept-{path.name}")
    if path.exists() and not kept.exists():
        path.rename(kept)
    others = lines_in(kept, file)[1:] if file.lines and kept.exists() else []
    write(path, data.draw(values_of(file, kept)), others)
    refused = complaint(file, path)
    assert "\n" not in refused
    assert not refused or folder.name in refused or path.name in refused


def complaint(file: File, path: Path) -> str:
    """Why a file cannot be used; empty when it can."""
    try:
        file.read(path)
    except RegistryContractsError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_the_files_that_are_altered_are_read_as_they_are(folder: Path, file: File) -> None:
    path = folder / file.name
    if file.sample is not None:
        write(path, file.sample, [])
    file.read(path)
