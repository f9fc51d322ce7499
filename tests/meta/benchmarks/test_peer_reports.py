"""What other tools report is read as they wrote it; the samples were saved from real runs and cut short."""

import shutil
from pathlib import Path

import pytest

from benchmarks.peers.peer import Peer, ToolBroke, numbered
from benchmarks.peers.portman import Portman
from benchmarks.peers.respect import Respect
from benchmarks.peers.schemathesis_cli import SchemathesisCli, told
from benchmarks.peers.specmatic import Specmatic, shortened

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
