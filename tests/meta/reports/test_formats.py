"""The machine-readable formats: verdict.json and its schema, HAR, JUnit."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from junitparser import JUnitXml

from contracts.errors import UsageError
from contracts.file_formats import convert
from contracts.reports import verdict_json

SCHEMA = jsonschema_rs.Draft202012Validator(
    json.loads(Path(verdict_json.__file__).parent.joinpath("schemas/verdict.schema.json").read_text()),
    validate_formats=True,
)


def fits(content: Any) -> None:
    convert(content, verdict_json.VerdictFile, verdict_json.FILE_NAME)


@pytest.mark.usefixtures("verdict")
def test_verdict_json_says_all_that_the_design_asks_for(folder: Path) -> None:
    content = json.loads((folder / "verdict.json").read_text())
    jsonschema_rs.meta.validate(
        json.loads(Path(verdict_json.__file__).parent.joinpath("schemas/verdict.schema.json").read_text())
    )
    assert (content["verdict"], content["exit_code"], content["complete"]) == ("fail", 1, True)
    cells = {
        each["id"]: {realm: cell["verdict"] for realm, cell in each["realms"].items()}
        for each in content["clauses"]
    }
    assert cells == {
        "draft-get-content": {"abs-dev": "fail", "bch-dev": "pass"},
        "draft-delete-removes": {"abs-dev": "inconclusive", "bch-dev": "pass"},
        "errors-code": {"abs-dev": "advisory"},
        "draft-info-shape": {"abs-dev": "observed"},
        "workflow-locked-record": {"abs-dev": "untested"},
        "token-issued": {"any": "pass"},
    }
    assert content["findings"][0]["reproduce"]["command"] == "registry-contracts run --finding 0123456789"
    assert [len(content[each]) for each in ("residue", "leftovers", "observations")] == [1, 1, 1]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("exit_code",), 0),
        (("verdict",), "usage"),
        (("complete",), False),
        (("surprise",), 1),
        (("started",), "yesterday"),
        (("clauses", 0, "realms", "bch-dev", "held"), 0),
        (("clauses", 0, "realms", "abs-dev", "reason"), None),
        (("clauses", 0, "level"), "may"),
        (("findings", 0, "id"), "1"),
        (("findings", 0, "rate"), [1]),
        (("deviations",), [{}]),
    ],
)
@pytest.mark.usefixtures("verdict")
def test_the_schema_refuses_what_no_run_may_say(folder: Path, path: tuple[Any, ...], value: Any) -> None:
    content = json.loads((folder / "verdict.json").read_text())
    fits(content)
    place = content
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(UsageError, match=r"^verdict\.json: "):
        fits(content)
    assert not SCHEMA.is_valid(content)


@pytest.mark.usefixtures("verdict")
def test_a_verdict_of_the_first_format_is_still_read(folder: Path) -> None:
    content = json.loads((folder / "verdict.json").read_text())
    (cause,) = [each for each in content.pop("causes") if each["standing"] == "fail"]
    assert (cause["clause"], cause["realms"], cause["blocked_cases"]) == ("draft-get-content", ["abs-dev"], 1)
    assert cause["should"].startswith("draft-get-content holds.")
    fits(content | {"format": 1})
    assert SCHEMA.is_valid(content | {"format": 1})


@pytest.mark.usefixtures("verdict")
def test_junit_has_a_suite_per_realm_and_says_why_something_was_skipped(folder: Path) -> None:
    suites = {suite.name: suite for suite in JUnitXml.fromfile(str(folder / "junit.xml"))}
    here = suites["abs-dev"]
    assert list(suites) == ["abs-dev", "bch-dev", "any"]
    assert (here.tests, here.failures, here.errors, here.skipped) == (5, 1, 0, 2)
    skipped = [case_.result[0].message for case_ in here if case_.is_skipped]
    assert skipped[0].startswith("inconclusive: getDraft gives other content (blocked by finding ")
    assert skipped[1] == "untested: setting realm.abs-dev.locked_identifier is missing"
