"""Findings for build servers: GitHub's annotations, JUnit as Jenkins takes it."""

import io
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from contracts.evidence.verdicts import RunVerdict
from contracts.reports.build_server import annotate, annotation_lines
from contracts.safe_text import SafeOutput

COMMAND = re.compile(
    r"::(error|warning|notice) file=(?P<file>[^:,]+),line=(?P<line>\d+),title=(?P<title>[^:,]*(?:%3A|%2C)[^:,]*)::.+"
)
#: Attributes that the schema of Jenkins' xUnit plugin (junit-10.xsd) knows, by element.
JENKINS = {
    "testsuites": {"name", "time", "tests", "failures", "errors"},
    "testsuite": {"name", "tests", "failures", "errors", "group", "time", "skipped", "timestamp", "hostname"}
    | {"id", "package", "file", "log", "url"},
    "testcase": {"name", "time", "classname", "group"},
    "properties": set(),
    "property": {"name", "value"},
    "failure": {"type", "message"},
    "error": {"type", "message"},
    "skipped": {"type", "message"},
    "system-out": set(),
}


def test_an_annotation_for_each_finding_cannot_be_made_into_another_command(verdict: RunVerdict) -> None:
    lines = list(annotation_lines(verdict))
    assert len(lines) == len(verdict.causes) > 1
    assert lines[0].startswith(
        "::error file=openapi/clauses/draft.yaml,line=1,title=draft-get-content%3A getDraft"
    )
    for line in lines:
        assert COMMAND.fullmatch(line), line
        assert not any(ord(character) < 32 for character in line)


def test_annotations_are_for_the_runner_of_github_alone(
    verdict: RunVerdict, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They pass through the output that takes commands out of everything else."""
    written = io.BytesIO()
    stream = io.TextIOWrapper(written, encoding="utf-8")
    monkeypatch.setattr(sys, "stdout", SafeOutput(stream))
    monkeypatch.setenv("GITHUB_ACTIONS", "false")
    annotate(verdict)
    assert written.getvalue() == b""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    sys.stdout.write("::error::of a service\n")
    annotate(verdict)
    lines = written.getvalue().decode("utf-8").splitlines()
    assert [line for line in lines if line.startswith("::")] == list(annotation_lines(verdict))
    assert lines[0] == "\\u003a:error::of a service"


def test_junit_has_no_attribute_that_jenkins_does_not_know(rendered: Path) -> None:
    elements = list(ET.parse(rendered / "junit.xml").iter())  # noqa: S314 - our own file
    assert {element.tag for element in elements} >= {
        "testsuites",
        "testsuite",
        "testcase",
        "skipped",
        "failure",
    }
    for element in elements:
        assert element.attrib.keys() <= JENKINS[element.tag], element.tag
        assert element.tag != "testsuite" or {"name", "tests", "failures", "errors"} <= element.attrib.keys()
