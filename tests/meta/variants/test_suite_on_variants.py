"""No false alarm: the suite passes on services that fill every silence of the document in another way.

A few combinations and few clauses here; `python -m contracts.proving.variants` runs them all.
"""

from pathlib import Path

import pytest

from contracts.proving.runs import run_altered

#: Combinations that differ most from the sandbox and from one another, each with clauses of its own in the gate.
CHOSEN = {
    "all-different": ("draft-get-content", "list-mydrafts-has-mine", "attachment-create-listed"),
    "linked": ("attachment-download-same", "list-skip-beyond", "workflow-identifier-returned"),
    "resources": ("attachment-exists-other-document", "contact-mandatory-emails", "errors-array"),
    "easy-going": ("list-pages-cover", "list-skip-beyond", "attachment-persist-listed"),
    "taciturn": ("attachment-several", "draft-delete-removes"),
}
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


@pytest.mark.parametrize("name", CHOSEN)
def test_a_combination_of_variants_raises_no_alarm(name: str, tmp_path: Path) -> None:
    done = run_altered(
        ["--variant", name], "gate", 1, clauses=CHOSEN[name], reports=tmp_path, extra=["--realm=abs-dev"]
    )
    assert (done.verdict, done.exit_code, done.findings, done.inconclusive) == ("pass", 0, (), ()), done.said
    assert done.requests > 20


def test_a_nightly_run_writes_every_report_on_a_service_that_keeps_half_a_pair(tmp_path: Path) -> None:
    saving = [f"--operation={operation}" for operation in ("saveDraft", "getDraftInfo", "listDrafts")]
    done = run_altered(
        ["--variant", "half-pairs-kept"], "nightly", 1, reports=tmp_path, extra=["--realm=abs-dev", *saving]
    )
    assert (done.verdict, done.exit_code, done.findings) == ("pass", 0, ()), done.said
    assert {path.name for path in done.folder.iterdir()} >= {*REPORTS}
    assert "oddTexts" in (done.folder / "observations.json").read_text("utf-8")
