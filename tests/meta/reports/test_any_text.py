"""Whatever text JSON can carry, every report can be written; a report that cannot be costs no other."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.evidence.journal import Journal
from contracts.history.baseline import save_drift_settings
from contracts.history.drift import Mode
from contracts.history.observed_facts import shape_of
from contracts.reports import writers
from contracts.reports.writers import WRITERS, write_all
from tests.meta.journal_events import message, write_ending, write_exchange, write_finding
from tests.meta.reports.sample_runs import CATALOGUE, body, build_run, case

CASE = "scenario/test_any.py::test_any[abs-dev]"
FACTS = {"clauses": ["draft-save-answer"], "realms": ["abs-dev"]}
UID = "rc-0123456789abc"
NASTY = [
    "\ud800",
    "\udc00\ud800",
    "\x00",
    "\x1b[2J\x07\x7f\x85",
    "\u2028\u2029",
    "\u202eabc\u2066",
    "\ufffe\uffff",
    "]]>&lt;</script><!--",
    "NaN",
    "=1+1",
    "😀",
]
TEXTS = st.one_of(st.sampled_from(NASTY), st.text(st.characters(), max_size=12))
VALUES = st.recursive(
    TEXTS | st.sampled_from([10**4000, -(10**400), 1e308, 0, True, None]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
TOKENS = ["NaN", "-Infinity", "1e400", "9" * 5000, "[" * 5000, '{"a": NaN}', '{"a": 1, "a": "\\ud800"}']


@given(st.lists(VALUES, min_size=1, max_size=4), st.sampled_from(TOKENS))
@settings(max_examples=15)
def test_every_writer_writes_whatever_a_service_answers(
    tmp_path_factory: pytest.TempPathFactory, values: list[Any], token: str
) -> None:
    folder = build_run(
        tmp_path_factory.mktemp("any") / "reports" / "run", {"gw0": answering(values, token)}, **FACTS
    )
    save_drift_settings(folder, Mode.WARN, folder / "baseline.yaml")
    verdict = write_all(folder)
    assert verdict.unwritten == ()
    for path in folder.rglob("*"):
        if path.is_file():
            text = path.read_bytes().decode("utf-8", "strict")
            if path.suffix in (".json", ".har") and path.name != "run.json":
                json.loads(text, parse_constant=refuse)
    ET.parse(folder / "junit.xml")  # noqa: S314 - our own
    content = json.loads((folder / "observations.json").read_text("utf-8"))
    assert any(each["operation"] == "saveDraft" for each in content["observed"])


def answering(values: list[Any], token: str) -> Callable[[Journal], None]:
    """A worker whose saves were answered with these values, as a finding and an observation tell too."""

    def work(journal: Journal) -> None:
        texts = [*map(json.dumps, values), token]
        keys = [answered(journal, text) for text in texts]
        place = {"clause": "draft-save-answer", "realm": "abs-dev", "case": CASE}
        for value in values:
            shown = {"status": 201, "type": "application/json", "body": shape_of(value)}
            for seen in (value, shown):
                journal.write("observation", **place, operation="saveDraft", seen=seen)
        seen = "".join(str(value)[:200] for value in values)
        found: dict[str, Any] = {"operation": "saveDraft", "expected": seen, "seen": seen, "rate": [1, 1]}
        write_finding(journal, **place, **found, exchanges=keys, curl=[f"curl -d {seen}"])
        ended: dict[str, Any] = {"operations": ["saveDraft"], "outcome": "observed", "requests": len(texts)}
        write_ending(journal, **place, **ended, name=seen or "a case", doc=seen, reason=seen)

    return work


def answered(journal: Journal, text: str) -> str:
    headers = ["Content-Type", "application/json"]
    url = f"http://127.0.0.1/api/v2013/documents/{UID}/versions/draft?schema=contact"
    sent = message(body(None, text), headers, method="PUT", url=url)
    received = message(body(None, text), headers, status=201, reason="Created")
    return write_exchange(journal, CASE, operation="saveDraft", request=sent, response=received)


def refuse(name: str) -> None:
    raise AssertionError(f"{name} is no JSON")


def test_a_writer_that_breaks_costs_no_other_and_is_named(
    folder: Path, made_up: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, error in enumerate(
        (OSError(28, "No space left on device"), UnicodeError("half"), KeyError("x"))
    ):
        run = passing(folder.parent / f"run-{number}")
        breaking(monkeypatch, "html", error)
        verdict = write_all(run, catalogue=made_up.catalogue)
        assert verdict.exit_code == 3
        (line,) = verdict.unwritten
        assert line.startswith(f"index.html could not be written: {type(error).__name__}: ")
        assert line in verdict.sentence
        assert "\n" not in verdict.sentence
        assert not (run / "index.html").exists()
        written = {path.name for path in run.iterdir()}
        assert written >= {
            "verdict.json",
            "junit.xml",
            "traffic.har",
            "summary.md",
            "history-entry.json",
        }
        answer = json.loads((run / "verdict.json").read_text())
        assert (answer["verdict"], answer["exit_code"]) == ("error", 3)
        assert line in answer["reason"]
        assert "error" in (run / "summary.md").read_text("utf-8")
        assert (folder.parent / "latest").resolve() == run.resolve()


def breaking(monkeypatch: pytest.MonkeyPatch, name: str, error: Exception) -> None:
    def broken(*_: object) -> Path:
        raise error

    monkeypatch.setattr(writers, "WRITERS", MappingProxyType({**WRITERS, name: broken}))


def passing(run: Path) -> Path:
    return build_run(run, {"gw0": passing_worker}, clauses=[CATALOGUE[0].id], realms=["bch-dev"])


def passing_worker(journal: Journal) -> None:
    case(journal, CATALOGUE[0], "bch-dev", "pass", held=5)
