"""No false alarm: the suite passes on a service that fills the silences of the document in another way.

One combination and two clauses here; the proof runs whole gates on every combination.
"""

from pathlib import Path

from contracts.proving.runs import run_altered

REPORTS = (
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
)


def test_a_combination_of_variants_raises_no_alarm(tmp_path: Path) -> None:
    clauses = ["attachment-download-same", "workflow-identifier-returned"]
    done = run_altered(
        ["--variant", "linked"],
        "gate",
        1,
        clauses=clauses,
        reports=tmp_path,
        extra=["--realm=abs-dev"],
    )
    assert (done.verdict, done.exit_code, done.findings, done.inconclusive) == ("pass", 0, (), ()), done.said
    assert done.requests > 10


def test_a_nightly_run_writes_every_report_on_a_service_that_keeps_half_a_pair(tmp_path: Path) -> None:
    saving = [f"--operation={operation}" for operation in ("saveDraft",)]
    done = run_altered(
        ["--variant", "half-pairs-kept"], "nightly", 1, reports=tmp_path, extra=["--realm=abs-dev", *saving]
    )
    assert (done.verdict, done.exit_code, done.findings) == ("pass", 0, ()), done.said
    assert {path.name for path in done.folder.iterdir()} >= {*REPORTS}
    assert "oddTexts" in (done.folder / "observations.json").read_text("utf-8")
