"""The runner of variants: one run of the suite for each, a table, and an exit code that tells of a false alarm."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from contracts.errors import SuiteError, UsageError
from contracts.proving import variants
from contracts.proving.processes import RunOutcome, run_altered

FINDING = {
    "clause": "list-answers",
    "realm": "abs-dev",
    "operation": "listDrafts",
    "expected": "a list",
    "seen": "500",
    "standing": "fail",
}


def outcome(verdict: str = "pass", **parts: Any) -> RunOutcome:
    whole = {
        "exit_code": {"pass": 0, "fail": 1}.get(verdict, 6),
        "findings": (),
        "inconclusive": (),
        "advisory": (),
        "requests": 12,
        "seconds": 1.5,
        "folder": Path("somewhere"),
    }
    return RunOutcome(verdict, **{**whole, **parts})


@pytest.fixture
def proving(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a caller of the command that runs nothing: `outcomes` gives what comes of a variant."""

    def call(outcomes: dict[str, RunOutcome], *arguments: str) -> Any:
        def run(name: str, *_: Any) -> RunOutcome:
            return outcomes.get(name, outcome())

        monkeypatch.setattr(variants, "_run", run)
        return CliRunner().invoke(variants.command, arguments, standalone_mode=False)

    return call


@pytest.mark.usefixtures("forked_runs")
def test_a_run_against_a_variant_leaves_its_verdict(tmp_path: Path) -> None:
    extra = ["--realm=abs-dev"]
    done = run_altered(
        ["--variant", "list-docs"], "smoke", 1, clauses=["list-answers"], reports=tmp_path, extra=extra
    )
    assert (done.verdict, done.exit_code, done.findings, done.inconclusive) == ("pass", 0, (), ())
    assert done.requests > 0
    assert (done.folder / "verdict.json").exists()
    traffic = (done.folder / "traffic.har").read_text(encoding="utf-8")
    assert "numFound" in traffic


def test_a_run_that_cannot_start_says_why(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="did you mean 'list-docs'"):
        run_altered(["--variant", "list-doc"], "smoke", 1, reports=tmp_path)


def test_all_variants_passing_is_a_pass(proving: Any) -> None:
    result = proving({}, "--variant", "list-docs", "--variant", "plain", "--seeds", "1,2")
    assert result.return_value == 0
    assert "4 of 4 runs pass" in result.output


def test_a_false_alarm_is_shown_and_fails(proving: Any) -> None:
    result = proving({"list-docs": outcome("fail", findings=(FINDING,))}, "--variant", "list-docs")
    assert result.return_value == 1
    assert "fail: list-answers abs-dev listDrafts: a list | '500'" in result.output


def test_an_inconclusive_run_is_no_pass(proving: Any) -> None:
    blocked = outcome("inconclusive", inconclusive=("list-answers in abs-dev: blocked",))
    result = proving({"list-docs": blocked}, "--variant", "list-docs")
    assert result.return_value == 1
    assert "inconclusive: list-answers in abs-dev: blocked" in result.output


def test_without_names_every_variant_and_combination_runs(proving: Any) -> None:
    assert f"{len(variants._selected(()))} of" in proving({}).output
    assert variants._selected(())[0] == variants.PLAIN


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(("--variant", "list-doc"), "did you mean 'list-docs'"), (("--seeds", "one"), "--seeds must be")],
)
def test_what_cannot_be_run_is_a_usage_error(proving: Any, arguments: tuple[str, ...], said: str) -> None:
    result = proving({}, *arguments)
    assert isinstance(result.exception, UsageError)
    assert said in str(result.exception)
