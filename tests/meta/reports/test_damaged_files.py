"""Whatever stands in a file that a command reads, it is read, or refused in one line that names it."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from registry_contracts.errors import RegistryContractsError
from registry_contracts.evidence import run_comparison, terms
from registry_contracts.evidence.run_folder import collect
from registry_contracts.file_formats import read_file
from registry_contracts.history import baseline, runs
from registry_contracts.reports.verdict_json import VerdictFile
from registry_contracts.session import ledger
from registry_contracts.settings.settings_reader import load_target
from registry_contracts.traffic.archive import read_har
from registry_contracts.traffic.check import check_archive
from registry_contracts.traffic.report import TrafficReport
from tests.meta.samples import account_variables
from tests.meta.sandbox_client import settings_of

#: Name of a file → what reads it.
FILES: dict[str, Callable[[Path], object]] = {
    "verdict.json": lambda path: read_file(path, VerdictFile),
    "observations.json": lambda path: run_comparison.read_observations(path.parent).facts,
    "run.json": lambda path: collect(path.parent),
    "drift.json": lambda path: baseline.load_drift_settings(path.parent),
    "past.json": lambda path: runs.read_past(path.parent),
    "history-entry.json": lambda path: runs.past_of(runs.read(path), "x", "gate"),
    "journal-gw0.jsonl": lambda path: collect(path.parent),
    "ledger.jsonl": lambda path: ledger.read_entries([path]),
    "baseline.yaml": baseline.read,
    "traffic.har": lambda path: (read_har(path, str(path)), check_archive(path, str(path), TrafficReport())),
    "settings.toml": lambda path: load_target(str(path), account_variables(), path.parent),
    "deviations.toml": lambda path: terms.read_deviations(path, str(path)),
    "consumer.toml": lambda path: terms.read_consumer(path, str(path)),
}
#: What these do not understand they pass over, as a line that was cut off must not cost the others.
TOLERANT = {"history-entry.json", "ledger.jsonl"}
#: Of the files that are no part of a run folder.
SAMPLES = {
    "ledger.jsonl": '{"number": 1, "operation": "saveDraft", "what": "draft", "realm": "abs-dev", '
    '"role": "author", "at": "2026-01-01T00:00:00+00:00"}',
    "deviations.toml": '[[deviation]]\nclause = "draft-get-content"\nrealms = ["abs-dev"]\nreason = "known"\n'
    'owner = "someone"\nissue = "https://tracker.test/1"\nexpires = 2999-01-01\n',
    "consumer.toml": 'operations = ["getDraft"]\nrealms = ["abs-dev"]\nclauses = ["draft-get-content"]\n',
}
#: A key or a value as JSON, YAML and TOML write it; of a list or an object, one that holds no other.
PART = re.compile(r"""\{[^{}\[\]]*\}|\[[^{}\[\]]*\]|"(?:[^"\\]|\\.)*"|'[^']*'|\b[\w.+:-]+\b""")
#: What takes its place: any other value, odd texts and numbers beyond all measure included, or nothing.
ODD = ["null", "true", "-1", "0.5", "1" + "0" * 4000, "[]", "{}", "[[[]]]", '{"x": null}', '"\\ud800"', ""]
ODD += [json.dumps(text) for text in ("", "x", "../../x", "\x1b[2J\x00", "::error::forged", "\u202e\u2028")]
TIMES = 60


@pytest.fixture
def folder(rendered: Path, tmp_path: Path) -> Path:
    """A run folder of its own with all reports."""
    made = tmp_path / "20260101-000000-altered"
    made.mkdir()
    for path in rendered.iterdir():
        if path.is_file():
            (made / path.name).write_bytes(path.read_bytes())
    settings_of("http://127.0.0.1:9", made, "settings")
    return made


@pytest.mark.parametrize("name", FILES)
def test_what_stands_in_a_file_is_read_or_refused_in_one_line(folder: Path, name: str) -> None:
    path, random = folder / name, Random(name)  # noqa: S311 - the same each time
    usual = SAMPLES.get(name) or path.read_text("utf-8")
    path.write_text(usual, "utf-8")
    FILES[name](path)
    parts, refused = list(PART.finditer(usual)), []
    for _ in range(TIMES):
        part = random.choice(parts)
        path.write_text(usual[: part.start()] + random.choice(ODD) + usual[part.end() :], "utf-8")
        try:
            FILES[name](path)
        except RegistryContractsError as error:
            refused.append(str(error))
    assert bool(refused) is (name not in TOLERANT)
    assert [line for line in refused if "\n" in line or not (folder.name in line or name in line)] == []
