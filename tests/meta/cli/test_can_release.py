"""`can-release`: each thing that could mislead an answer from memory, with the exit code that it has to end with."""

import json
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from contracts.evidence.findings import Standing
from contracts.evidence.record import Verdict
from contracts.evidence.verdicts import DeviationState
from contracts.reports.verdict_json import ShardEntry
from tests.meta.program import Ended, RunCommand
from tests.meta.sample_nights import Night, changed, consumer_of, deviation

NOW = datetime.now(UTC).replace(microsecond=0)
HERE = ("abs-dev",)
CONTENT = ("draft-get-content", "abs-dev")
SDK = 'operations = ["getDraft", "saveDraft"]\nrealms = ["abs-dev"]\n'
LOST = {CONTENT: "200 {}"}
NEXT_YEAR = f"{NOW:%Y}".replace(f"{NOW:%Y}", str(NOW.year + 1)) + "-01-31"


def night(hours: float = 6, **more: Any) -> Night:
    return Night(NOW - timedelta(hours=hours), **{"realms": HERE, **more})


def accepted(expires: str = NEXT_YEAR, **more: Any) -> Any:
    return deviation(*CONTENT, expires=expires, **more)


def at_times(run: Night) -> Night:
    """Make the finding of a run one that came and went."""
    finding = msgspec.structs.replace(run.verdict().findings[0], intermittent=True, rate=(1, 3))
    return night(30, red=LOST, more={"findings": (finding,)})


STUCK = {CONTENT: (Verdict.INCONCLUSIVE, "the gateway answered for it")}
WANTING = {CONTENT: (Verdict.UNTESTED, "setting realm.abs-dev.existing_identifier is missing")}
OTHERS = {("contact-mandatory-email", "abs-dev"): "201"}

#: What is planted · the runs · more words of the command · the exit code · a part of what is said.
TABLE: list[tuple[str, list[Night], str, int, str]] = [
    ("a whole night", [night()], "", 0, "of sdk.toml held in 1 realm, judged 6."),
    ("a contradiction", [night(red=LOST)], "", 1, "draft-get-content (getDraft); affects client.get"),
    ("one that the SDK does not use", [night(red={("token-body-kind", "any"): "201"})], "", 0, "not counted"),
    ("too old", [night(37)], "", 6, "h old, 36.0 h are allowed"),
    ("too old by minutes", [night(0.5)], "--max-age 20m", 6, "min old, 20 min are allowed"),
    ("old, and allowed", [night(37)], "--max-age 2d", 0, "h ago at most"),
    ("a target that nothing knows", [night(target="staging")], "", 4, "no settings file and no kept run of a target 'dev'; known: staging"),  # noqa: E501
    ("other realms", [night(realms=("bch-dev",))], "", 6, "no run to rest on in abs-dev; the latest run"),
    ("an older format", [night(more={"format": 1, "causes": ()})], "", 0, "has an older format"),
    ("interrupted, an older one whole", [night(9), night(2, more={"verdict": "interrupted", "exit_code": 2, "interrupted": True})], "", 0, "it was interrupted"),  # noqa: E501
    ("interrupted alone", [night(more={"verdict": "interrupted", "exit_code": 2, "interrupted": True})], "", 6, "it was interrupted"),  # noqa: E501
    ("interrupted after a finding", [night(9), night(2, red=LOST, more={"verdict": "interrupted", "exit_code": 2})], "", 1, "draft-get-content"),  # noqa: E501
    ("not whole", [night(more={"verdict": "error", "exit_code": 3, "complete": False, "problems": ("the journal ends",)})], "", 6, "the journal ends"),  # noqa: E501
    ("a shard", [night(more={"shard": ShardEntry(1, 2, None)})], "", 6, "is shard 1 of 2"),
    ("inconclusive where it matters", [night(cells=STUCK)], "", 6, "the gateway answered for it"),
    ("untested for want of a setting", [night(cells=WANTING)], "", 6, "existing_identifier is missing"),
    ("a selection of clauses", [night(more={"command": "pytest --clause=draft-get-content"})], "", 6, "it judged a selection"),  # noqa: E501
    ("cases left out", [night(more={"command": "pytest -k draft"})], "", 6, "cases were left out (-k)"),
    ("a smoke run", [night(profile="smoke")], "", 6, "its profile is smoke"),
    ("limited to another SDK", [night(more={"consumer": consumer_of("getDraft")})], "", 6, "limited to other.toml"),
    ("limited to a wider SDK", [night(more={"consumer": consumer_of("getDraft", "saveDraft", "deleteDraft")})], "", 0, "held"),  # noqa: E501
    ("a sandbox under the target's name", [night(base_url="http://127.0.0.1:8080")], "", 6, "it went to this machine"),
    ("that address, and meant", [night(base_url="http://127.0.0.1:8080")], "--base-url http://127.0.0.1:8080", 0, "held"),  # noqa: E501
    ("another target of that name", [night(base_url="https://other.example.test")], "--base-url https://registry.example.test", 6, "it went to https://other.example.test"),  # noqa: E501
    ("two addresses of that name", [night(), night(5, base_url="https://other.example.test")], "", 4, "name the one that is meant with --base-url"),  # noqa: E501
    ("a run from the future", [night(-3)], "", 6, "begins in the future"),
    ("mended since", [night(30, red=LOST), night(6)], "", 0, "held"),
    ("a shallower run sees nothing", [night(30, red=LOST), night(6, profile="gate")], "", 6, "runs disagree on draft-get-content"),  # noqa: E501
    ("contradicted at times", [at_times(night(30, red=LOST)), night(6)], "", 6, "1 of 3 replays"),
    ("a later run of a part contradicts", [night(6), night(2, red=LOST, profile="smoke")], "", 1, "draft-get-content"),
    ("accepted", [night(red=LOST, accepted=[accepted()])], "", 0, "1 accepted or waived"),
    ("accepted, and run out since", [night(red=LOST, accepted=[accepted(f"{NOW - timedelta(days=1):%F}")])], "", 1, "ran out on"),  # noqa: E501
    ("accepted, and gone", [night(accepted=[accepted(course=DeviationState.GONE, happens_in=(), gone_in=HERE, fails=True)])], "", 1, "take the entry out"),  # noqa: E501
    ("failed by drift", [night(drift=[changed("draft-get-status", "getDraft", "200", "204", "abs-dev")], more={"verdict": "fail", "exit_code": 1})], "", 1, "drift, status changed"),  # noqa: E501
    ("an age that is none", [night()], "--max-age soon", 4, "--max-age takes a number"),
]  # fmt: skip


@pytest.fixture
def sdk(run_command: RunCommand) -> Callable[..., Ended]:
    Path("sdk.toml").write_text(SDK + '[methods]\n"client.get" = ["getDraft"]\n', "utf-8")

    def ask(runs: list[Night], *words: str) -> Ended:
        for run in runs:
            run.write(Path("reports"))
        return run_command("can-release", "--target", "dev", "--consumer", "sdk.toml", *words)

    return ask


@pytest.mark.parametrize(
    ("runs", "words", "code", "message"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_the_answer_and_its_reason(
    sdk: Callable[..., Ended], runs: list[Night], words: str, code: int, message: str
) -> None:
    ended = sdk(runs, *words.split())
    assert ended.code == code, ended.out + ended.err
    assert message in " ".join((ended.out + ended.err).split())
    if code != 4:
        assert f"(exit code {code}, target: dev" in ended.last


def test_no_run_on_a_target_that_has_settings(sdk: Callable[..., Ended]) -> None:
    Path("targets").mkdir()
    Path("targets/dev.toml").write_text('base_url = "https://registry.example.test"\n', "utf-8")
    ended = sdk([night(target="staging")])
    assert (ended.code, "no kept run on 'dev'; there are runs on staging" in ended.last) == (6, True)


def test_a_realm_of_its_own_for_each_run_makes_one_answer(run_command: RunCommand) -> None:
    for hours, realm in ((6, "abs-dev"), (5, "bch-dev")):
        night(hours, realms=(realm,)).write(Path("reports"))
    ended = run_command("can-release", "--target", "dev", "--realm", "abs-dev", "--realm", "bch-dev")
    assert ended.code == 0, ended.out
    assert ended.out.count("rests on: ") == 2
    assert "not asked about: chm-dev, ort-dev" in ended.out
    whole = run_command("can-release", "--target", "dev")
    assert (whole.code, "no run to rest on in chm-dev, ort-dev" in whole.last) == (6, True)


def test_an_artifact_is_enough_and_the_answer_can_be_read_by_machines(
    sdk: Callable[..., Ended], tmp_path: Path
) -> None:
    folder = night(red=LOST, accepted=[accepted()]).write(tmp_path / "night")
    with zipfile.ZipFile("nightly.zip", "w") as archive:
        archive.write(folder / "verdict.json", f"contract-nightly-abs-dev/{folder.name}/verdict.json")
    ended = sdk([], "--json", "nightly.zip")
    assert ended.code == 0, ended.err
    given = json.loads(ended.out)
    assert given["verdict"] == "pass"
    assert [each["run"] for each in given["rests_on"]] == [folder.name]
    assert given["accepted"][0].startswith("draft-get-content (")


def test_an_artifact_with_damaged_bytes_is_one_line_and_exit_code_4(
    sdk: Callable[..., Ended], tmp_path: Path
) -> None:
    folder = night().write(tmp_path / "night")
    with zipfile.ZipFile("nightly.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(folder / "verdict.json", f"{folder.name}/verdict.json")
    packed = Path("nightly.zip").read_bytes()
    Path("nightly.zip").write_bytes(packed[:200] + bytes(range(256)) + packed[456:])
    ended = sdk([], "nightly.zip")
    assert (ended.code, "cannot read nightly.zip" in ended.err) == (4, True), ended.err
    assert ended.err.count("\n") == 1


def test_a_file_of_deviations_decides_as_it_does_for_a_gate(sdk: Callable[..., Ended]) -> None:
    Path("deviations").mkdir()
    Path("deviations/dev.toml").write_text("", "utf-8")
    ended = sdk([night(red=LOST, accepted=[accepted()])])
    assert (ended.code, "draft-get-content" in ended.last) == (1, True)
    assert night(red=LOST).verdict().findings[0].standing is Standing.FAIL


def test_a_damaged_verdict_that_may_be_the_latest_leaves_no_pass(sdk: Callable[..., Ended]) -> None:
    for name in ("20200101-000000-dev", f"{NOW:%Y%m%d-%H%M%S}-dev"):
        broken = Path("reports", name, "verdict.json")
        broken.parent.mkdir(parents=True)
        broken.write_text('{"format": 2, "verdict": ', "utf-8")
    ended = sdk([night()])
    assert (ended.code, f"{NOW:%Y%m%d-%H%M%S}-dev cannot be read" in ended.last) == (6, True)
    assert "20200101" not in ended.last
