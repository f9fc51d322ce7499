"""The Schemathesis command line, with the examples and links of the description and a token."""

import json
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from junitparser import Error, Failure, JUnitXml, TestCase, TestSuite

from benchmarks.peers.descriptions import NARROWED, of_realm
from benchmarks.peers.peer import Service, ToolBroke

EXAMPLES = 30
FUZZED = 10
_SETTINGS = f"""\
continue-on-failure = true
request-timeout = 10.0
[phases.coverage.extra-data-sources]
responses = false
[phases.coverage.checks]
positive_data_acceptance.enabled = false
[phases.fuzzing.generation]
max-examples = {FUZZED}
[phases.stateful.generation]
max-examples = {EXAMPLES}
[phases.fuzzing.checks]
positive_data_acceptance.enabled = false
[phases.stateful.checks]
positive_data_acceptance.enabled = false
"""
_KEPT = ("Invalid component:", "Undocumented", "Missing", "Got ")
_HEAD = "- ST"


class SchemathesisCli:
    """Schemathesis as an outside tool.

    Args:
        seed: of generated data.

    """

    name = "Schemathesis"
    configuration = (
        f"{NARROWED}; its links; all phases, fuzzing with {FUZZED} and stateful with {EXAMPLES} examples (of "
        "100), coverage with the values of the examples; it goes on after a failure; "
        "positive_data_acceptance judges the examples only, since a valid text need be no valid term"
    )

    def __init__(self, seed: int = 1) -> None:
        self.seed = seed
        self.version = version("schemathesis")

    def missing(self) -> str:
        """Nothing: it is one of our own dependencies."""
        return ""

    def prepare(self, realm: str, folder: Path) -> None:
        """Write the description of the realm and the settings."""
        (folder / "openapi.json").write_text(json.dumps(of_realm(realm)), encoding="utf-8")
        (folder / "settings.toml").write_text(_SETTINGS, encoding="utf-8")

    def commands(self, service: Service, shared: Path, folder: Path) -> list[list[str]]:
        """Return its one command."""
        program = [str(Path(sys.executable).with_name("st")), "--config-file", str(shared / "settings.toml")]
        options = ["--url", service.base_url, "--header", f"Authorization: Bearer {service.token}"]
        options += [
            "--max-examples",
            str(EXAMPLES),
            "--seed",
            str(self.seed),
            "--generation-database",
            "none",
        ]
        options += ["--report", "junit", "--report-junit-path", str(folder / "junit.xml")]
        return [[*program, "run", str(shared / "openapi.json"), *options]]

    def read(self, folder: Path) -> frozenset[str]:
        """Read its JUnit file: operation, title of the check and what part of the request it was about."""
        report = folder / "junit.xml"
        if not report.is_file():
            raise ToolBroke("no JUnit file")
        return frozenset(_signatures(JUnitXml.fromfile(str(report))))


def _signatures(report: JUnitXml | TestSuite) -> Iterator[str]:
    for suite in [report] if isinstance(report, TestSuite) else report:
        for case in suite:
            yield from _of_case(case)


def _of_case(case: TestCase) -> Iterator[str]:
    for result in case.result:
        if isinstance(result, Error):
            yield f"{case.name}: error: {(result.message or 'without words').splitlines()[0]}"
        elif isinstance(result, Failure):
            for signature in told(result.text or ""):
                yield f"{case.name}: {signature}"


def told(text: str) -> Iterator[str]:
    """Read the failures out of the text of one JUnit failure.

    Args:
        text: holds, for each failed check, a line `- CODE Title` and lines that explain it.

    Yields:
        The title, and the first explaining line where it says the same in every run.

    """
    title, explained = "", ""
    for line in (each.strip() for each in text.splitlines()):
        if line.startswith(_HEAD):
            if title:
                yield title + explained
            title, explained = line.removeprefix("- "), ""
        elif title and not explained and line.startswith(_KEPT):
            explained = f" ({line})"
    if title:
        yield title + explained
