"""Portman, which makes a Postman collection of the description, and Newman, which runs it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.peers.descriptions import exact, of_realm
from benchmarks.peers.peer import Service, ToolBroke, numbered, run

NEWMAN_VERSION = "6.2.2"
_EVERY = "*::/*"
_OPEN = ("createToken", "attachmentExists", "getAttachment", "getAttachmentThumbnail")
_GENERATION_SECONDS = 300.0
_CREATING = ("createContact", "createWorkflowRecordWithIdentifier")
#: A fault must not be refused because the example was created before.
_FRESH: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = (
    ({"openApiOperation": _EVERY, "excludeForOperations": list(_CREATING)}, {}),
    (
        {"openApiOperationId": _CREATING[0]},
        {"overwrites": [{"overwriteRequestBody": [{"key": "header.identifier", "value": "{{$guid}}"}]}]},
    ),
    (
        {"openApiOperationId": _CREATING[1]},
        {"overwrites": [{"overwriteRequestPathVariables": [{"key": "identifier", "value": "{{$guid}}"}]}]},
    ),
)
_REFUSED = (
    "pm.test('the request is refused', function () { pm.expect(pm.response.code).to.be.within(400, 499); });"
)


class Portman:
    """Portman and Newman as one outside tool.

    Args:
        modules: the folder `node_modules` they were installed in.

    """

    name = "Portman and Newman"
    version = f"1.33.0 and {NEWMAN_VERSION}"
    configuration = (
        "the copy with exact statuses; all contract tests for every operation; variations with a wrong token for "
        "every operation that needs one; all fuzzing of bodies, query parameters and headers, each variation to "
        "be refused with 4xx, new records under fresh identifiers"
    )

    def __init__(self, modules: Path) -> None:
        self.bin = modules / ".bin"
        self.tslib = modules / "tslib"

    def missing(self) -> str:
        """Three npm packages are needed; tslib is missing from Portman's own dependencies."""
        if (self.bin / "portman").exists() and (self.bin / "newman").exists() and self.tslib.is_dir():
            return ""
        return (
            f"the npm packages @apideck/portman@1.33.0, newman@{NEWMAN_VERSION} and tslib are not installed"
        )

    def prepare(self, realm: str, folder: Path) -> None:
        """Write the derived description and the settings, and make the collection.

        Raises:
            ToolBroke: no collection came of it.

        """
        document = exact(of_realm(realm))
        (folder / "openapi.json").write_text(json.dumps(document), encoding="utf-8")
        (folder / "settings.json").write_text(json.dumps(settings(), indent=1), encoding="utf-8")
        (folder / "collection.json").unlink(missing_ok=True)
        command = [str(self.bin / "portman"), "-l", "openapi.json", "-c", "settings.json"]
        run([*command, "-o", "collection.json"], folder, _GENERATION_SECONDS)
        if not (folder / "collection.json").is_file():
            raise ToolBroke("portman made no collection")

    def commands(self, service: Service, shared: Path, folder: Path) -> list[list[str]]:
        """Return the command of Newman; the collection is made once for all runs."""
        options = ["--env-var", f"bearerToken={service.token}", "--env-var", f"baseUrl={service.base_url}"]
        options += ["--timeout-request", "10000", "--ignore-redirects", "--reporters", "json"]
        options += ["--reporter-json-export", str(folder / "report.json")]
        return [[str(self.bin / "newman"), "run", str(shared / "collection.json"), *options]]

    def read(self, folder: Path) -> frozenset[str]:
        """Read Newman's JSON file: request and assertion."""
        try:
            content = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ToolBroke("no JSON report") from error
        return numbered(_signatures(content))


def settings() -> dict[str, Any]:
    """Return Portman's settings, as `configuration` describes them."""
    tests = ("statusSuccess", "contentType", "jsonBody", "schemaValidation", "headersPresent")
    refused = {"extendTests": [{"tests": [_REFUSED], "append": True}]}
    fields = (
        "requiredFields",
        "minimumNumberFields",
        "maximumNumberFields",
        "minLengthFields",
        "maxLengthFields",
    )
    fuzz = [{name: {"enabled": True} for name in fields}]
    places = ("requestBody", "requestQueryParams", "requestHeaders")
    faults = [dict.fromkeys(places, fuzz)]
    wrong = [{"overwriteRequestSecurity": {"bearer": {"token": "a-token-nobody-issued"}}}]
    return {
        "version": 1.0,
        "tests": {
            "contractTests": [{"openApiOperation": _EVERY, **{name: {"enabled": True} for name in tests}}],
            "variationTests": [
                {
                    "openApiOperation": _EVERY,
                    "excludeForOperations": list(_OPEN),
                    "variations": [{"name": "Wrong token", "overwrites": wrong, "tests": refused}],
                },
                *(
                    {**where, "variations": [{"name": "Fault", "tests": refused, "fuzzing": faults, **own}]}
                    for where, own in _FRESH
                ),
            ],
        },
        "globals": {"securityOverwrites": {"bearer": {"token": "{{bearerToken}}"}}},
    }


def _signatures(content: dict[str, Any]) -> Iterator[str]:
    for failure in content["run"]["failures"]:
        request = failure.get("source", {}).get("name", "")
        error = failure["error"]
        yield f"{request}: {error.get('test') or error.get('name')}"
