"""Whatever stands in a file that a command reads, it is read, or refused in one line that names it."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import tomlkit
import yaml
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from contracts.errors import RegistryContractsError
from contracts.evidence import observations, terms
from contracts.evidence.run_folder import collect
from contracts.exchanges import har
from contracts.history import baseline, runs
from contracts.manual.check import CheckOptions, check_archive
from contracts.reports import verdict_json
from contracts.session import ledger
from contracts.settings.settings_reader import load_target

VARIABLES = {"REGISTRY_EMAIL": "a@b.test", "REGISTRY_PASSWORD": "not-a-password"}
LEDGER = {"number": 1, "operation": "saveDraft", "what": "draft", "realm": "abs-dev", "role": "author"}
DEVIATION = {"clause": "draft-get-content", "realms": ["abs-dev"], "reason": "known", "owner": "someone"}
CONTACT = {"contact_schema": "contact", "country_terms": ["ca"], "spare_identifiers": ["rc-spare-record"]}
SETTINGS = {
    "base_url": "http://127.0.0.1:9",
    "kind": "development",
    "realms": ["abs-dev"],
    "pace": {"requests_per_second": 20, "concurrency": 8},
    "accounts": {"author": {"email_env": "REGISTRY_EMAIL", "password_env": "REGISTRY_PASSWORD"}},
    "realm": {"abs-dev": CONTACT},
    "attachments": {"size_limit_bytes": 1000000},
    "names": {"realm_header": "X-Realm", "query": {"$top": "limit"}},
}
TEXTS = st.sampled_from(["", "x", "../../x", "\ud800", "\x1b[2J\x00", "::error::forged", "\u202e\u2028"])
#: Any JSON value, odd texts and numbers beyond all measure included.
ANYTHING: SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.sampled_from([-1, 0, 0.5, 10**30, 10**4000]) | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
LEFT_OUT = object()


@st.composite
def altered(draw: st.DrawFn, values: SearchStrategy[Any]) -> Any:
    """A value of which one part is another value, is left out, or has a member more."""
    value = draw(values)
    place = draw(st.sampled_from(list(places(value))))
    return put(value, place, draw(st.just(LEFT_OUT) | ANYTHING))


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield place
    if isinstance(value, dict):
        yield (*place, "further")
    steps = (
        value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    )
    for step, inner in steps:
        yield from places(inner, (*place, step))


def put(value: Any, place: tuple[Any, ...], new: Any) -> Any:
    if not place:
        return None if new is LEFT_OUT else new
    step, *rest = place
    if isinstance(value, list):
        inner = [put(value[step], tuple(rest), new)] if rest or new is not LEFT_OUT else []
        return [*value[:step], *inner, *value[step + 1 :]]
    kept = {name: member for name, member in value.items() if name != step}
    return kept if not rest and new is LEFT_OUT else {**kept, step: put(value.get(step), tuple(rest), new)}


@dataclass(frozen=True)
class File:
    """A file by its name in a run folder, where a sample of it stands unless `sample` gives one, and what reads it."""

    name: str
    read: Callable[[Path], object]
    sample: Any = None

    @property
    def has_lines(self) -> bool:
        """Whether each of its lines is a value; of these the first is altered."""
        return self.name in ("history-entry.json", "journal-gw0.jsonl")


FILES = [
    File("verdict.json", verdict_json.read),
    File("observations.json", lambda path: observations.read(path.parent).facts),
    File("run.json", lambda path: collect(path.parent)),
    File("drift.json", lambda path: baseline.load_drift_settings(path.parent)),
    File("past.json", lambda path: runs.read_past(path.parent)),
    File("history-entry.json", lambda path: runs.past_of(runs.read(path), "x", "gate")),
    File("journal-gw0.jsonl", lambda path: collect(path.parent)),
    File(
        "ledger.jsonl", lambda path: ledger.read_entries([path]), LEDGER | {"at": "2026-01-01T00:00:00+00:00"}
    ),
    File("baseline.yaml", baseline.read),
    File(
        "traffic.har",
        lambda path: (har.read_har(path, str(path)), check_archive(path, str(path), CheckOptions())),
    ),
    File("x.toml", lambda path: load_target(str(path), VARIABLES, path.parent), SETTINGS),
    File(
        "deviations.toml",
        lambda path: terms.read_deviations(path, str(path)),
        {"deviation": [DEVIATION | {"issue": "https://tracker.test/1", "expires": date(2999, 1, 1)}]},
    ),
    File(
        "consumer.toml",
        lambda path: terms.read_consumer(path, str(path)),
        {"operations": ["getDraft"], "realms": ["abs-dev"], "clauses": ["draft-get-content"]},
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


def values_in(path: Path, file: File) -> list[Any]:
    """What stands in a file, or in each line of it."""
    if file.sample is not None:
        return [file.sample]
    text = path.read_text("utf-8")
    if path.suffix == ".yaml":
        return [yaml.safe_load(text)]
    return [json.loads(line) for line in (text.splitlines() if file.has_lines else [text])]


def without_nothing(value: Any) -> Any:
    """The value without null, which TOML has no word for."""
    if isinstance(value, dict):
        return {name: without_nothing(member) for name, member in value.items() if member is not None}
    return [without_nothing(item) for item in value if item is not None] if isinstance(value, list) else value


def write(path: Path, *values: Any) -> None:
    """Write values as what the name of the file says."""
    if path.suffix == ".toml":
        text = tomlkit.dumps(without_nothing(values[0])) if isinstance(values[0], dict) else f"{values[0]}"
    elif path.suffix == ".yaml":
        text = yaml.safe_dump(values[0])
    else:
        text = "\n".join(map(json.dumps, values))
    path.write_text(text, "utf-8", "surrogatepass")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
@settings(max_examples=40, derandomize=True, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_what_stands_in_a_file_is_read_or_refused_in_one_line(
    rendered: Path, folder: Path, file: File, data: st.DataObject
) -> None:
    path, usual = folder / file.name, values_in(rendered / file.name, file)
    write(path, *usual)
    file.read(path)
    write(path, data.draw(altered(st.sampled_from(usual))), *usual[1:])
    try:
        file.read(path)
    except RegistryContractsError as error:
        refused = str(error)
        assert "\n" not in refused
        assert folder.name in refused or path.name in refused
