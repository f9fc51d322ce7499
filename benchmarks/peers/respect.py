"""Redocly Respect, with the workflow it generates from the description."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.peers.descriptions import exact, of_realm
from benchmarks.peers.peer import Service, ToolBroke, numbered, run

_QUIET = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}
_GENERATION_SECONDS = 300.0


class Respect:
    """Respect as an outside tool.

    Args:
        modules: the folder `node_modules` it was installed in.

    """

    name = "Redocly Respect"
    version = "2.77.0"
    configuration = (
        "the copy with exact statuses; the workflow that generate-arazzo makes of it, unchanged: one step for each "
        "operation with its first example; the token as the input bearer"
    )

    def __init__(self, modules: Path) -> None:
        self.program = modules / ".bin" / "redocly"

    def missing(self) -> str:
        """The npm package is needed."""
        return (
            "" if self.program.exists() else f"the npm package @redocly/cli@{self.version} is not installed"
        )

    def prepare(self, realm: str, folder: Path) -> None:
        """Write the derived description and generate the workflow.

        Raises:
            ToolBroke: no workflow came of it.

        """
        (folder / "openapi.json").write_text(json.dumps(exact(of_realm(realm))), encoding="utf-8")
        (folder / "workflow.yaml").unlink(missing_ok=True)
        command = [str(self.program), "generate-arazzo", "openapi.json", "-o", "workflow.yaml"]
        run(command, folder, _GENERATION_SECONDS, _QUIET)
        if not (folder / "workflow.yaml").is_file():
            raise ToolBroke("generate-arazzo made no workflow")

    def commands(self, service: Service, shared: Path, folder: Path) -> list[list[str]]:
        """Return its one command."""
        variables = [f"{name}={value}" for name, value in _QUIET.items()]
        options = ["-S", f"openapi={service.base_url}", "--input", f"bearer={service.token}"]
        options += ["--max-fetch-timeout", "10000", "-J", str(folder / "report.json")]
        return [["env", *variables, str(self.program), "respect", str(shared / "workflow.yaml"), *options]]

    def read(self, folder: Path) -> frozenset[str]:
        """Read its JSON file: the step and the name of the check."""
        try:
            content = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ToolBroke("no JSON report") from error
        return numbered(_signatures(content))


def _signatures(content: dict[str, Any]) -> Iterator[str]:
    for file in content["files"].values():
        for workflow in file["executedWorkflows"]:
            for step in workflow["executedSteps"]:
                for check in step.get("checks", ()):
                    if not check["passed"]:
                        yield f"{step['stepId']}: {check['name']}"
