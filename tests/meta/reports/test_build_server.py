"""Findings for build servers: GitHub's annotations, JUnit as Jenkins takes it."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

from contracts.evidence.verdicts import RunVerdict
from contracts.reports.build_server import annotation_lines

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
