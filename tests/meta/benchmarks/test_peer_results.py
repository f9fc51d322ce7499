"""What counts as a kill, and how it is told."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.peers.campaign import Step, carry_out, planned
from benchmarks.peers.classes import Need, classed
from benchmarks.peers.measuring import Ours
from benchmarks.peers.peer import Measured
from benchmarks.peers.report import Conditions, put_table, write
from benchmarks.peers.results import DEFECT, FAITHFUL, VARIANT, Record, Run, stand
from benchmarks.peers.sample import draw
from contracts.interface.catalogue import load_catalogue


def run(
    kind: str, name: str, *failures: str, realm: str = "abs-dev", tool: str = "tool", trouble: str = ""
) -> Run:
    return Run(tool, kind, name, realm, failures, 10, 2.0, trouble)


def test_a_failure_that_the_faithful_sandbox_brings_up_too_is_no_kill() -> None:
    standing = stand([run(FAITHFUL, "1", "a"), run(FAITHFUL, "2", "b"), run(DEFECT, "d", "a", "b")])
    assert standing.kills(["d"]) == 0
    assert standing.alarms["abs-dev"] == {"a", "b"}


def test_a_failure_beyond_those_is_a_kill() -> None:
    standing = stand([run(FAITHFUL, "1", "a"), run(DEFECT, "d", "a", "c")])
    assert standing.killed["d"] == ("c",)
    assert standing.kills(["d"]) == 1


def test_the_faithful_runs_of_another_realm_say_nothing() -> None:
    standing = stand([run(FAITHFUL, "1", "a", realm="bch-dev"), run(DEFECT, "d", "a")])
    assert standing.kills(["d"]) == 1


def test_a_failure_on_a_variant_is_a_false_alarm() -> None:
    standing = stand([run(FAITHFUL, "1", "a"), run(VARIANT, "v", "a", "x"), run(VARIANT, "w", "a")])
    assert standing.variants == {"v": ("x",), "w": ()}


def test_a_run_that_broke_is_told_and_is_no_kill() -> None:
    standing = stand([run(FAITHFUL, "1"), run(DEFECT, "d", trouble="stopped after 180 s")])
    assert standing.kills(["d"]) == 0
    assert standing.troubles == {"d": "stopped after 180 s"}


def test_a_measurement_goes_on_where_it_stopped(tmp_path: Path) -> None:
    first = Record(tmp_path / "runs.jsonl", resume=False)
    first.add(run(DEFECT, "d", "a"))
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
        run(FAITHFUL, "1", "alarm", tool="present"),
        run(VARIANT, "strict", "alarm", "another", tool="present"),
        run(DEFECT, defect, "alarm", "seen", tool="present"),
        *(run(kind, name, tool=Ours.name) for kind, name in ((FAITHFUL, "1"), (DEFECT, defect))),
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
