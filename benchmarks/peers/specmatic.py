"""Specmatic, the jar of its npm package, with generated requests bounded in number."""

import json
import shutil
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from junitparser import JUnitXml, TestSuite

from benchmarks.peers.descriptions import exact, of_realm
from benchmarks.peers.example_files import without_examples, write_examples
from benchmarks.peers.peer import Service, ToolBroke, numbered

COMBINATIONS = 3
#: A short run is over before the better compiler would pay.
_JAVA = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


class Specmatic:
    """Specmatic as an outside tool.

    Args:
        modules: the folder `node_modules` it was installed in.

    """

    name = "Specmatic"
    version = "2.55.1"
    configuration = (
        "the copy with exact statuses; a file for each example of the "
        f"description; generative tests, at most {COMBINATIONS} combinations; the token in the variable bearer; "
        "the jar, for the npm command ends with 0 on failures"
    )

    def __init__(self, modules: Path) -> None:
        self.jar = modules / "specmatic" / "specmatic.jar"

    def missing(self) -> str:
        """Java and the npm package are needed."""
        if shutil.which("java") is None:
            return "there is no java; install default-jre-headless"
        return "" if self.jar.is_file() else f"the npm package specmatic@{self.version} is not installed"

    def prepare(self, realm: str, folder: Path) -> None:
        """Write the derived description and the example files."""
        document = exact(of_realm(realm))
        (folder / "openapi.json").write_text(json.dumps(without_examples(document)), encoding="utf-8")
        write_examples(document, folder / "examples")

    def commands(self, service: Service, shared: Path, folder: Path) -> list[list[str]]:
        """Return its one command."""
        variables = [f"bearer={service.token}", "SPECMATIC_GENERATIVE_TESTS=true"]
        variables += [f"MAX_TEST_REQUEST_COMBINATIONS={COMBINATIONS}"]
        options = [f"--examples={shared / 'examples'}", f"--testBaseURL={service.base_url}"]
        options += [f"--junitReportDir={folder / 'junit'}"]
        return [
            [
                "env",
                *variables,
                "java",
                *_JAVA,
                "-jar",
                str(self.jar),
                "test",
                str(shared / "openapi.json"),
                *options,
            ]
        ]

    def read(self, folder: Path) -> frozenset[str]:
        """Read its JUnit files: the scenarios that failed, by their names."""
        reports = sorted((folder / "junit").glob("*.xml"))
        if not reports:
            raise ToolBroke("no JUnit file")
        return numbered(name for report in reports for name in _failed(JUnitXml.fromfile(str(report))))


def _failed(report: JUnitXml | TestSuite) -> Iterator[str]:
    for suite in [report] if isinstance(report, TestSuite) else report:
        for case in suite:
            if case.result and not case.is_skipped:
                yield shortened(str(case.name))


def shortened(name: str) -> str:
    """Return the scenario of a test's name: its first part, and a mark that stands for the whole.

    Args:
        name: `… > +ve  Scenario: METHOD PATH -> STATUS with the request from … where …`, often a thousand characters.

    """
    scenario = " ".join(name.rpartition(" > ")[2].split())
    mark = sha256(scenario.encode()).hexdigest()[:8]
    return f"{scenario.partition(' with ')[0]} [{mark}]"
