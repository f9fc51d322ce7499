"""Reports as a whole: repeatable, silent on the environment, plain about what is not whole; what machines read."""

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import jsonschema_rs
import pytest
from junitparser import JUnitXml

from registry_contracts.errors import UsageError
from registry_contracts.evidence.journal import journal_path
from registry_contracts.evidence.run_folder import collect
from registry_contracts.evidence.terms import Terms
from registry_contracts.evidence.verdicts import RunVerdict
from registry_contracts.file_formats import convert
from registry_contracts.reports import build_server, verdict_json, writers
from registry_contracts.reports.build_server import annotation_lines
from registry_contracts.reports.writers import WRITERS, write_all
from registry_contracts.traffic.archive import read_har
from tests.meta.evidence.sample_records import Story, consumer, deviation, waiver
from tests.meta.reports.sample_runs import CATALOGUE, IN_ENVIRONMENT, build_run, second_worker


def texts(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.name.startswith("journal-") and path.name != "run.json":
            yield path.name, path.read_bytes().decode("utf-8", "strict")


def test_the_same_journals_give_the_same_reports(folder: Path, verdict: RunVerdict) -> None:
    first = dict(texts(folder))
    assert write_all(folder, catalogue=CATALOGUE) == verdict
    assert dict(texts(folder)) == first
    assert not [name for name, text in first.items() if IN_ENVIRONMENT in text]
    # Whatever a service answers, what is written is what readers of it take.
    assert verdict.unwritten == ()
    for name, text in first.items():
        if name.endswith((".json", ".har")):
            json.loads(text, parse_constant=lambda constant: pytest.fail(f"{constant} is no JSON"))


def cut(folder: Path) -> None:
    path = journal_path(folder, "gw1")
    path.write_bytes(path.read_bytes()[:-30])


def killed(folder: Path) -> None:
    facts = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**facts, "finished": None}))


@pytest.mark.parametrize("spoil", [cut, killed])
def test_a_run_that_is_not_whole_is_called_so_everywhere(folder: Path, spoil: Callable[[Path], None]) -> None:
    spoil(folder)
    assert write_all(folder, catalogue=CATALOGUE).exit_code == 1
    page = (folder / "index.html").read_text("utf-8")
    assert ("must not be relied on" if spoil is cut else "<title>INVALID REPORT, fail") in page
    summary = (folder / "summary.md").read_text("utf-8")
    assert ("incomplete" if spoil is cut else "This report is invalid") in summary
    assert json.loads((folder / "verdict.json").read_text())["complete"] is False
    assert ET.parse(folder / "junit.xml").find(".//testsuite[@name='the run itself']//error") is not None  # noqa: S314


def test_a_large_folder_is_packed(folder: Path, verdict: RunVerdict, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not writers.pack(folder)
    before = collect(folder)
    traffic = read_har(folder / "traffic.har", "plain").exchanges
    size = sum(path.lstat().st_blocks * 512 for path in folder.rglob("*"))
    monkeypatch.setattr(writers, "LARGEST_FOLDER", size)
    assert not writers.pack(folder)
    monkeypatch.setattr(writers, "LARGEST_FOLDER", size - 1)
    assert writers.pack(folder)
    plain = {"traffic.har", "journal-gw0.jsonl", "journal-gw1.jsonl"}
    assert not plain & {path.name for path in folder.iterdir()}
    assert collect(folder) == before
    assert read_har(folder / "traffic.har.gz", "packed").exchanges == traffic
    assert write_all(folder, catalogue=CATALOGUE) == verdict
    path = folder / "journal-gw0.jsonl.gz"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(UsageError, match=r"journal-gw0\.jsonl\.gz: its packed bytes are damaged"):
        collect(folder)


def test_a_broken_writer_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Mock(side_effect=OSError(28, "No space left on device"))
    monkeypatch.setattr(writers, "WRITERS", {**WRITERS, "html": (broken, "index.html")})
    clauses = ["draft-get-content", "draft-delete-removes"]
    run = build_run(tmp_path / "run", second_worker, clauses=clauses, realms=["bch-dev"])
    verdict = write_all(run, catalogue=CATALOGUE)
    (line,) = verdict.unwritten
    assert line.startswith("index.html could not be written: OSError: ")
    assert (verdict.exit_code, line in verdict.sentence, "\n" in verdict.sentence) == (3, True, False)
    written = {path.name for path in run.iterdir()}
    assert {"verdict.json", "junit.xml", "traffic.har", "summary.md", "history-entry.json"} <= written
    answer = json.loads((run / "verdict.json").read_text())
    assert (answer["verdict"], answer["exit_code"], line in answer["reason"]) == ("error", 3, True)
    assert (tmp_path / "latest").resolve() == run.resolve()


SCHEMA_FILE = Path(verdict_json.__file__).parent / "schemas" / "verdict.schema.json"
SCHEMA = jsonschema_rs.Draft202012Validator(json.loads(SCHEMA_FILE.read_text()), validate_formats=True)


@pytest.fixture(scope="module")
def content(rendered: Path) -> Any:
    return json.loads((rendered / "verdict.json").read_text())


def test_the_published_schema_takes_what_is_written_and_nothing_else(content: Any) -> None:
    jsonschema_rs.meta.validate(json.loads(SCHEMA_FILE.read_text()))
    assert SCHEMA.is_valid(content)
    assert not SCHEMA.is_valid({**content, "surprise": 1})
    # Beyond what a schema can say.
    with pytest.raises(UsageError, match=r"^verdict\.json: "):
        convert({**content, "exit_code": 0}, verdict_json.VerdictFile, verdict_json.FILE_NAME)


def test_junit_has_a_suite_per_realm_and_says_why_something_was_skipped(rendered: Path) -> None:
    suites = {suite.name: suite for suite in JUnitXml.fromfile(str(rendered / "junit.xml"))}
    here = suites["abs-dev"]
    assert list(suites) == ["abs-dev", "bch-dev", "any", "drift"]
    assert (here.tests, here.failures, here.errors, here.skipped) == (5, 1, 0, 2)
    skipped = [case_.result[0].message for case_ in here if case_.is_skipped]
    assert skipped[0].startswith("inconclusive: getDraft gives other content (blocked by finding ")
    assert skipped[1] == "untested: setting realm.abs-dev.locked_identifier is missing"


COMMAND = re.compile(
    r"::(error|warning|notice) file=(?P<file>[^:,]+),line=(?P<line>\d+),title=(?P<title>[^:,]*(?:%3A|%2C)[^:,]*)::.+"
)


def test_an_annotation_for_each_finding_cannot_be_made_into_another_command(verdict: RunVerdict) -> None:
    lines = list(annotation_lines(verdict))
    assert len(lines) == len(verdict.causes) > 1
    first = "::error file=openapi/clauses/draft.yaml,line=1,title=draft-get-content%3A getDraft"
    assert lines[0].startswith(first)
    for line in lines:
        assert COMMAND.fullmatch(line), line
        assert not any(ord(character) < 32 for character in line)


def test_every_term_is_named_to_machines(story: Story, tmp_path: Path) -> None:
    """An accepted contradiction, one outside the consumer, a waiver, and a stale entry."""
    story.holds("draft-save-creates", "workflow-locked-record")
    story.contradicts("draft-get-content")
    story.contradicts("workflow-locked-record")
    story.case("uid-too-short", "abs-dev", "inconclusive", held=0, reason="no answer")
    used = consumer("getDraft", "saveDraft", waivers=(waiver("uid-too-short"),))
    terms = Terms(used, (deviation(), deviation("draft-save-creates", line=17)), "deviations/dev.toml")
    record, verdict = story.record(terms), story.verdict(terms)
    for each in (verdict_json, build_server):
        each.write(record, verdict, tmp_path)
    content = json.loads((tmp_path / "verdict.json").read_text("utf-8"))
    courses = [(each["course"], each["fails"], each["line"]) for each in content["deviations"]]
    assert courses == [("happens", False, 7), ("gone", True, 17)]
    assert content["waived"] == {"uid-too-short": "the SDK never sends it"}
    suites = {suite.name: list(suite) for suite in JUnitXml.fromfile(str(tmp_path / "junit.xml"))}
    kinds = {case.result[0].type for case in suites["abs-dev"] if case.result}
    assert kinds == {"deviation", "outside", "inconclusive"}
    (stale,) = [case.result[0] for case in suites["deviations"] if case.result]
    assert (stale.type, "deviations/dev.toml:17" in stale.message) == ("gone", True)
