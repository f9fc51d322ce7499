"""Other tools on the same defects: what they are given, how they are run, and how their reports are read."""

import json
import re
import shutil
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from benchmarks.peers.campaign import Step, carry_out, planned
from benchmarks.peers.classes import CLAUSE_RULES, DEFECT_RULES, Need, classed, need_of
from benchmarks.peers.descriptions import ANONYMOUS, SUCCESS, exact, of_realm, operations
from benchmarks.peers.example_files import without_examples, write_examples
from benchmarks.peers.measuring import Ours, sign_in
from benchmarks.peers.peer import Measured, Peer, ToolBroke, numbered, run
from benchmarks.peers.portman import Portman
from benchmarks.peers.report import Conditions, put_table, write
from benchmarks.peers.respect import Respect
from benchmarks.peers.results import DEFECT, FAITHFUL, VARIANT, Record, Run, stand
from benchmarks.peers.sample import draw
from benchmarks.peers.schemathesis_cli import SchemathesisCli, told
from benchmarks.peers.serving import CountedSandbox
from benchmarks.peers.specmatic import Specmatic, shortened
from contracts.errors import SuiteError
from contracts.interface.catalogue import Level, load_catalogue
from contracts.interface.description import load_description
from contracts.sandbox.defects import ALL, Defect

CATALOGUE = load_catalogue()
MUST = [defect for defect in ALL if CATALOGUE.clause(defect.clause).level is Level.MUST]
CLASSED = classed(CATALOGUE)


def test_every_defect_of_a_must_clause_has_exactly_one_class() -> None:
    assert sorted(each.name for defects in CLASSED.values() for each in defects) == [
        each.name for each in MUST
    ]


def test_every_rule_is_needed() -> None:
    """A pattern that fits nothing is a rule about nothing."""
    names, clauses = {each.name for each in MUST}, {each.clause for each in MUST}
    idle = [
        pattern
        for words, rules in ((names, DEFECT_RULES), (clauses, CLAUSE_RULES))
        for _, patterns in rules
        for pattern in patterns
        if not any(fnmatchcase(word, pattern) for word in words)
    ]
    assert idle == []


@pytest.mark.parametrize(
    ("name", "need"),
    [
        ("contact-create-without-type", Need.DESCRIPTION),
        ("uid-accepts-ten", Need.DESCRIPTION),
        ("get-draft-without-token", Need.DESCRIPTION),
        ("draft-text-mangled", Need.CONTENT),
        ("workflow-anonymous-message", Need.CONTENT),
        ("draft-update-lost", Need.CALLS),
        ("list-edge-repeated", Need.CALLS),
        ("draft-create-lost-in-chm", Need.ACCOUNTS),
        ("token-password-of-anyone", Need.ACCOUNTS),
        ("workflow-create-rights-message", Need.ACCOUNTS),
    ],
)
def test_the_class_is_the_last_thing_needed(name: str, need: Need) -> None:
    assert name in {each.name for each in CLASSED[need]}


def test_a_defect_without_a_rule_is_an_error() -> None:
    unruled = Defect("nothing-like-it", "draft-get-content", (), "", lambda _: None)
    assert need_of(unruled, CATALOGUE) is Need.CONTENT
    with pytest.raises(SuiteError, match="has no class"):
        need_of(Defect("nothing-like-it", "uid-percent-encoding", (), "", lambda _: None), CATALOGUE)


def test_the_sample_has_each_clause_once_and_does_not_depend_on_the_order() -> None:
    sample = draw(CLASSED, 10)
    turned = draw({need: defects[::-1] for need, defects in CLASSED.items()}, 10)
    assert sample == turned
    for defects in sample.values():
        assert len({each.clause for each in defects}) == len(defects) == 10


def test_a_wider_sample_holds_the_narrower_one() -> None:
    narrow, wide = draw(CLASSED, 5), draw(CLASSED, 8)
    assert all(wide[need][:5] == narrow[need] for need in Need)


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    return of_realm("bch-dev")


@pytest.fixture(scope="module")
def copied(described: dict[str, Any]) -> dict[str, Any]:
    return exact(described)


def test_a_realm_has_all_operations_and_the_token(described: dict[str, Any]) -> None:
    assert {operation["operationId"] for _, _, operation in operations(described)} == set(SUCCESS)
    assert set(SUCCESS) == set(load_description().operations)


def test_the_realm_without_documents_has_the_workflow_and_the_token() -> None:
    names = {operation["operationId"] for _, _, operation in operations(exact(of_realm("ort-dev")))}
    assert "createToken" in names
    assert "updateWorkflowRecord" in names
    assert "saveDraft" not in names


def test_the_copy_has_exact_statuses_only(copied: dict[str, Any]) -> None:
    for _, _, operation in operations(copied):
        assert all(re.fullmatch("[24][0-9]{2}", status) for status in operation["responses"])
        answered = [status for status in operation["responses"] if status.startswith("2")]
        assert answered == [str(SUCCESS[operation["operationId"]])]


def test_the_copy_asks_for_the_realm_in_the_header_alone(copied: dict[str, Any]) -> None:
    realms = [
        (parameter["in"], parameter["required"])
        for _, _, operation in operations(copied)
        for parameter in operation["parameters"]
        if parameter["name"] == "Realm"
    ]
    assert set(realms) == {("header", True)}


def test_the_copy_leaves_the_description_alone(described: dict[str, Any]) -> None:
    before = json.dumps(described)
    exact(described)
    assert json.dumps(described) == before


def test_each_operation_gets_an_example_file(copied: dict[str, Any], tmp_path: Path) -> None:
    write_examples(copied, tmp_path)
    saved = json.loads((tmp_path / "saveDraft.json").read_text(encoding="utf-8"))
    assert {path.stem for path in tmp_path.iterdir()} == {*SUCCESS, f"createContact-{ANONYMOUS}"}
    assert saved["http-request"]["path"].endswith("/example-draft-bch-dev/versions/draft")
    assert saved["http-request"]["headers"]["Realm"] == "bch-dev"
    assert saved["http-response"]["status"] == 201


def test_no_example_is_left_beside_the_files(copied: dict[str, Any]) -> None:
    stripped = without_examples(copied)
    for _, _, operation in operations(stripped):
        assert not any("example" in key for parameter in operation["parameters"] for key in parameter)
        for content in operation.get("requestBody", {}).get("content", {}).values():
            assert not any("example" in key for key in content)


def test_a_new_contact_may_leave_its_identifier_to_the_service(
    copied: dict[str, Any], tmp_path: Path
) -> None:
    write_examples(copied, tmp_path)
    named, anonymous = (
        json.loads((tmp_path / f"createContact{mark}.json").read_text(encoding="utf-8"))["http-request"][
            "body"
        ]
        for mark in ("", f"-{ANONYMOUS}")
    )
    assert named["header"]["identifier"] == "example-contact-bch-dev"
    assert {**named, "header": {**named["header"], "identifier": None}} == {
        **anonymous,
        "header": {**anonymous["header"], "identifier": None},
    }
    assert "identifier" not in anonymous["header"]


SAMPLES = Path(__file__).with_name("samples")
NOWHERE = Path("no-modules")
PLACES: dict[str, tuple[Peer, str]] = {
    "schemathesis.xml": (SchemathesisCli(), "junit.xml"),
    "specmatic.xml": (Specmatic(NOWHERE), "junit/TEST-junit-jupiter.xml"),
    "respect.json": (Respect(NOWHERE), "report.json"),
    "newman.json": (Portman(NOWHERE), "report.json"),
}


def read(sample: str, folder: Path) -> frozenset[str]:
    """Put a saved report where the tool leaves it, and read it."""
    peer, place = PLACES[sample]
    (folder / place).parent.mkdir(exist_ok=True)
    shutil.copy(SAMPLES / sample, folder / place)
    return peer.read(folder)


def test_schemathesis_failures_are_known_by_operation_check_and_component(tmp_path: Path) -> None:
    put = "PUT /api/v2023/documents/schemas/{schema}/{identifier}"
    assert read("schemathesis.xml", tmp_path) == {
        "POST /api/v2013/documents/{uid}/attachments/{filename}: ST201 Schema-violating request accepted "
        "(Invalid component: Missing request body)",
        f"{put}: ST202 Schema-valid request rejected",
        f"{put}: ST203 Missing required header accepted "
        "(Got 403 when missing required 'Authorization' header, expected 401)",
    }


def test_specmatic_failures_are_known_by_scenario(tmp_path: Path) -> None:
    found = read("specmatic.xml", tmp_path)
    assert len(found) == 2
    assert {each.partition(" [")[0] for each in found} == {
        "+ve Scenario: PUT /api/v2013/documents/(uid:Uid) -> 200"
    }


def test_respect_failures_are_known_by_step_and_check(tmp_path: Path) -> None:
    assert read("respect.json", tmp_path) == {
        "head-api-v2013-documents-{uid}-versions-draft-step: success criteria check"
    }


def test_newman_failures_are_known_by_request_and_assertion(tmp_path: Path) -> None:
    assert (
        "Tell whether a document has a draft: [HEAD]::/api/v2013/documents/:uid/versions/draft "
        "- Status code is 2xx"
    ) in read("newman.json", tmp_path)
    assert len(read("newman.json", tmp_path)) == 3


@pytest.mark.parametrize("peer", [peer for peer, _ in PLACES.values()], ids=lambda peer: peer.name)
def test_a_tool_that_left_no_report_is_broken_not_silent(peer: Peer, tmp_path: Path) -> None:
    with pytest.raises(ToolBroke):
        peer.read(tmp_path)


@pytest.mark.parametrize(
    "peer", [Specmatic(NOWHERE), Respect(NOWHERE), Portman(NOWHERE)], ids=lambda p: p.name
)
def test_a_tool_that_is_not_installed_says_so(peer: Peer) -> None:
    assert "install" in peer.missing()


def test_several_checks_of_one_schemathesis_failure_are_told_apart() -> None:
    text = "- ST101 Server error\n\n- ST301 Undocumented status\n\n    Received: 500\n"
    assert list(told(text)) == ["ST101 Server error", "ST301 Undocumented status"]


def test_the_second_failure_of_a_kind_is_one_more() -> None:
    assert numbered(["a", "b", "a"]) == {"a", "b", "a #2"}


def test_scenarios_that_differ_far_behind_stay_apart() -> None:
    first = shortened("Tests > +ve  Scenario: GET /x -> 200 with the request where a")
    second = shortened("Tests > +ve  Scenario: GET /x -> 200 with the request where b")
    assert first != second
    assert first.startswith("+ve Scenario: GET /x -> 200 [")


def ran(
    kind: str, name: str, *failures: str, realm: str = "abs-dev", tool: str = "tool", trouble: str = ""
) -> Run:
    return Run(tool, kind, name, realm, failures, 10, 2.0, trouble)


def test_a_failure_that_the_faithful_sandbox_brings_up_too_is_no_kill() -> None:
    standing = stand([ran(FAITHFUL, "1", "a"), ran(FAITHFUL, "2", "b"), ran(DEFECT, "d", "a", "b")])
    assert standing.kills(["d"]) == 0
    assert standing.alarms["abs-dev"] == {"a", "b"}


def test_a_failure_beyond_those_is_a_kill() -> None:
    standing = stand([ran(FAITHFUL, "1", "a"), ran(DEFECT, "d", "a", "c")])
    assert standing.killed["d"] == ("c",)
    assert standing.kills(["d"]) == 1


def test_the_faithful_runs_of_another_realm_say_nothing() -> None:
    standing = stand([ran(FAITHFUL, "1", "a", realm="bch-dev"), ran(DEFECT, "d", "a")])
    assert standing.kills(["d"]) == 1


def test_a_failure_on_a_variant_is_a_false_alarm() -> None:
    standing = stand([ran(FAITHFUL, "1", "a"), ran(VARIANT, "v", "a", "x"), ran(VARIANT, "w", "a")])
    assert standing.variants == {"v": ("x",), "w": ()}


def test_a_run_that_broke_is_told_and_is_no_kill() -> None:
    standing = stand([ran(FAITHFUL, "1"), ran(DEFECT, "d", trouble="stopped after 180 s")])
    assert standing.kills(["d"]) == 0
    assert standing.troubles == {"d": "stopped after 180 s"}


def test_a_measurement_goes_on_where_it_stopped(tmp_path: Path) -> None:
    first = Record(tmp_path / "runs.jsonl", resume=False)
    first.add(ran(DEFECT, "d", "a"))
    again = Record(tmp_path / "runs.jsonl", resume=True)
    assert ("tool", DEFECT, "d", "abs-dev") in again
    assert again.runs == first.runs
    assert Record(tmp_path / "runs.jsonl", resume=False).runs == []


class Absent:
    """A tool that is not installed."""

    name, version, configuration, confirms = "absent", "1", "none", False

    def missing(self) -> str:
        return "the package absent@1 is not installed"

    def measure(self, arguments: Sequence[str], realm: str) -> Measured:
        raise AssertionError(f"nothing is run here: {arguments} in {realm}")

    def command(self) -> str:
        return "absent URL"


class Present(Absent):
    """A tool that is."""

    name = "present"

    def missing(self) -> str:
        return ""


def test_the_tables_tell_kills_alarms_and_what_was_not_measured(tmp_path: Path) -> None:
    sample = draw(classed(load_catalogue()), 1)
    defect = sample[Need.DESCRIPTION][0].name
    runs = [
        ran(FAITHFUL, "1", "alarm", tool="present"),
        ran(VARIANT, "strict", "alarm", "another", tool="present"),
        ran(DEFECT, defect, "alarm", "seen", tool="present"),
        *(ran(kind, name, tool=Ours.name) for kind, name in ((FAITHFUL, "1"), (DEFECT, defect))),
    ]
    conditions = Conditions(datetime(2026, 11, 21, tzinfo=UTC), 1, 2, picked=False)
    write(tmp_path, tmp_path / "peers.md", conditions, [Ours("0"), Present(), Absent()], sample, runs)
    text = (tmp_path / "peers.md").read_text(encoding="utf-8")
    assert "| present 1 | 1 | 0 | 0 | 0 | 1 | 1 | 1 of 1 | 10 | 2.0 |" in text
    assert "| absent 1 | not measured: the package absent@1 is not installed" in text
    assert f"- `{defect}`, present: seen" in text
    results = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert results["summary"]["present"]["killed"]["description"] == {"killed": 1, "of": 1}
    assert "absent" not in results["summary"]
    other = tmp_path / "proof.md"
    other.write_text("# Proof\n<!-- begin peers -->\n<!-- end peers -->\nMore.\n", encoding="utf-8")
    put_table(other, conditions, [Ours("0"), Present(), Absent()], sample, runs)
    kept = other.read_text(encoding="utf-8")
    assert "| present 1 | 1 | 0 | 0 | 0 | 1 | 1 | 1 of 1 | 10 | 2.0 |" in kept
    assert kept.startswith("# Proof\n")
    assert kept.endswith("\nMore.\n")


class Wavering(Present):
    """A tool that reports something else each time, and one failure every time.

    Args:
        confirms: as a tool says it.

    """

    def __init__(self, confirms: bool) -> None:
        self.confirms = confirms
        self.asked: list[tuple[str, ...]] = []

    def measure(self, arguments: Sequence[str], realm: str) -> Measured:
        self.asked.append((*arguments, realm))
        return Measured(frozenset({"steady", f"chance {len(self.asked)}"}), 5, 1.0)


def carried_out(tool: Wavering, folder: Path, steps: list[Step]) -> list[Run]:
    record = Record(folder / "runs.jsonl", resume=False)
    carry_out(tool, steps, record, lambda _: None)
    return record.runs


def test_only_what_is_seen_twice_counts(tmp_path: Path) -> None:
    tool = Wavering(confirms=False)
    (only,) = carried_out(tool, tmp_path, [Step(DEFECT, "d", "abs-dev", ("--defect", "d"))])
    assert only.failures == ("steady",)
    assert tool.asked == [("--defect", "d", "abs-dev")] * 2


def test_the_faithful_sandbox_is_asked_once_and_all_of_it_counts(tmp_path: Path) -> None:
    tool = Wavering(confirms=False)
    first, second = carried_out(
        tool, tmp_path, [Step(FAITHFUL, "1", "abs-dev"), Step(FAITHFUL, "2", "abs-dev")]
    )
    assert len(tool.asked) == 2
    assert set(first.failures) | set(second.failures) == {"steady", "chance 1", "chance 2"}


def test_a_tool_that_confirms_is_taken_at_its_word(tmp_path: Path) -> None:
    tool = Wavering(confirms=True)
    (only,) = carried_out(tool, tmp_path, [Step(DEFECT, "d", "abs-dev", ("--defect", "d"))])
    assert len(tool.asked) == 1
    assert len(only.failures) == 2


def test_the_faithful_sandbox_comes_first_in_every_realm_that_is_used() -> None:
    steps = planned(draw(classed(load_catalogue()), 10), variants=True)
    faithful = [step for step in steps if step.kind == FAITHFUL]
    assert steps[: len(faithful)] == faithful
    assert {step.realm for step in faithful} == {step.realm for step in steps}
    assert sum(step.kind == DEFECT for step in steps) == 40


def test_requests_are_counted_and_a_token_is_had(tmp_path: Path) -> None:
    with CountedSandbox([], tmp_path / "count.txt") as sandbox:
        assert sign_in(sandbox.base_url) != "no-token"
        urlopen(f"{sandbox.base_url}/openapi.json", timeout=30).close()  # noqa: S310 - our own loopback server
    assert sandbox.requests == 2


def test_a_sandbox_that_issues_no_token_leaves_the_tool_with_a_word(tmp_path: Path) -> None:
    with CountedSandbox(["--defect", "token-empty"], tmp_path / "count.txt") as sandbox:
        assert sign_in(sandbox.base_url) == "no-token"


def test_a_tool_that_does_not_end_is_stopped(tmp_path: Path) -> None:
    with pytest.raises(ToolBroke, match=r"stopped after 0\.2 s"):
        run([sys.executable, "-c", "import signal; signal.pause()"], tmp_path, 0.2)


def test_a_tool_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ToolBroke, match="cannot be started"):
        run(["no-such-tool-anywhere"], tmp_path, 5.0)


def test_what_a_tool_says_is_kept(tmp_path: Path) -> None:
    run([sys.executable, "-c", "print('said'); raise SystemExit(1)"], tmp_path, 60.0)
    assert "said" in (tmp_path / "said.txt").read_text(encoding="utf-8")
