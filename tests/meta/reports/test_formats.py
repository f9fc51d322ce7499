"""What machines read: verdict.json and its schema, JUnit, annotations of a build server."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from junitparser import JUnitXml

from registry_contracts.errors import UsageError
from registry_contracts.evidence.terms import Terms
from registry_contracts.evidence.verdicts import RunVerdict
from registry_contracts.file_formats import convert
from registry_contracts.reports import build_server, verdict_json
from registry_contracts.reports.build_server import annotation_lines
from tests.meta.evidence.sample_records import Story, consumer, deviation, waiver

SCHEMA_FILE = Path(verdict_json.__file__).parent / "schemas" / "verdict.schema.json"
SCHEMA = jsonschema_rs.Draft202012Validator(json.loads(SCHEMA_FILE.read_text()), validate_formats=True)


@pytest.fixture(scope="module")
def content(rendered: Path) -> Any:
    """The answer of the made-up run for machines."""
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
