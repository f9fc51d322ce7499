"""No false alarm: a nightly run passes on a service that fills the silences of the document in another way.

One combination and one case here; the proof runs whole runs on every combination.
"""

from contracts.proving.processes import read_outcome
from tests.meta.program import Program

REPORTS = {
    "verdict.json",
    "index.html",
    "findings",
    "junit.xml",
    "traffic.har",
    "allure",
    "observations.json",
    "questions.md",
    "summary.md",
    "history-entry.json",
}


def test_a_variant_raises_no_alarm_and_every_report_is_written(program: Program) -> None:
    words = [
        "--profile=nightly",
        "--seed=1",
        "--realm=abs-dev",
        "--sandbox-arguments=--variant half-pairs-kept",
    ]
    ended = program("run", *words, "-k", "odd_records", "--operation=saveDraft")
    folder = (program.folder / "reports" / "latest").resolve()
    done = read_outcome(folder / "verdict.json", ended.code, 0.0)
    assert (done.verdict, done.exit_code, done.findings, done.inconclusive) == ("pass", 0, (), ()), ended.out
    assert done.requests > 10
    assert {path.name for path in folder.iterdir()} >= REPORTS
    assert "oddTexts" in (folder / "observations.json").read_text("utf-8")


def test_an_order_that_is_passed_over_shows_among_items_that_are_others_in_each_answer(
    program: Program,
) -> None:
    altered = "--variant list-items-volatile --defect list-order-ignored"
    words = ["--seed=1", "--realm=abs-dev", "--clause=list-orderby-heeded", f"--sandbox-arguments={altered}"]
    ended = program("run", *words)
    done = read_outcome(program.folder / "reports" / "latest" / "verdict.json", ended.code, 0.0)
    assert (done.exit_code, [finding["clause"] for finding in done.findings]) == (
        1,
        ["list-orderby-heeded"],
    ), ended.out
