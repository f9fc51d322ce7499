"""What a run says that it will send: from the cases of the checkout as they are, and without sending anything."""

import ast
from pathlib import Path
from typing import Any

import pytest

from contracts.interface.catalogue import load_catalogue
from contracts.interface.clause_table import known_cases
from contracts.plugin.forecast import Forecast, PlannedCase, measured, without_realm
from contracts.settings.target import Pace, RealmSettings, Target
from tests.meta.program import RunCommand

CASES = Path(__file__).parents[2] / "contract"
CASE = "scenario/test_attachment_size.py::test_a_file_within_the_limit_is_taken[abs-dev]"
#: Of the cases, so many may be newer or older than the figures.
TOLERATED = 0.05


def forecast(*cases: PlannedCase, **settings: Any) -> Forecast:
    target = Target("service", "https://service.test", realms=("abs-dev",), **settings)
    unreached = {("draft-get-content", "abs-dev"): "out of the profile smoke"}
    return Forecast(cases, target, load_catalogue(), records={"abs-dev": 3}, unreached=unreached, budget=500)


def test_the_figures_are_those_of_the_cases() -> None:
    named = {case.partition("[")[0] for case in measured()}
    known = {case.partition("[")[0] for cases in known_cases().values() for case in cases}
    differ = (named ^ known) - cases_of_the_night()
    assert len(differ) <= TOLERATED * len(known), sorted(differ)


def cases_of_the_night() -> set[str]:
    """The cases whose decorators name a later profile than gate, which is the one that was measured."""
    later = ("'nightly'", "'full'")
    return {
        f"{path.relative_to(CASES)}::{node.name}"
        for path in CASES.rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef)
        and any(word in ast.unparse(decorator) for decorator in node.decorator_list for word in later)
    }


def test_a_realm_stands_for_all() -> None:
    assert (
        without_realm("scenario/test_a.py::test_b[abs-dev-getDraft]")
        == "scenario/test_a.py::test_b[*-getDraft]"
    )


def test_requests_minutes_and_what_stays_are_told() -> None:
    case = PlannedCase("scenario/new.py::test_new[abs-dev]", "abs-dev", ("draft-get-content",))
    planned = forecast(*[case] * 400, pace=Pace(requests_per_second=10.0))
    assert planned.requests == 1200
    assert planned.minutes == pytest.approx(2.0)
    told = "\n".join(planned.lines())
    assert "about 1,200, 2.0 minutes at 10 a second; the run stops at 500" in told
    assert "3 permanent records (3 in abs-dev), at most 12 a realm" in told
    assert "out of the profile smoke\n      draft-get-content" in told
    assert "setting realm.<realm>.locked_identifier is missing" in told
    assert "3 permanent records" in planned.summary


@pytest.mark.parametrize(("clause", "sent"), [("contact-mandatory-type", 0), ("draft-get-content", 3)])
def test_what_lacks_a_setting_sends_nothing_unless_a_stand_in_serves(clause: str, sent: int) -> None:
    assert forecast(PlannedCase("scenario/new.py::test_new[abs-dev]", "abs-dev", (clause,))).requests == sent


def test_large_files_are_counted() -> None:
    known = {"abs-dev": RealmSettings(contact_schema="contact")}
    planned = forecast(PlannedCase(CASE, "abs-dev", ("draft-get-content",)), realm=known)
    assert "over 1 MB     1 file\n" in "\n".join(planned.lines())


def test_a_plan_sends_nothing_and_leaves_no_folder(
    run_command: RunCommand, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in {"BASE_URL": "http://127.0.0.1:9", "EMAIL": "a@b.test", "PASSWORD": "wrong"}.items():
        monkeypatch.setenv(f"REGISTRY_{name}", value)
    ended = run_command("run", "--plan", "--realm=abs-dev", "--workers=2", f"--reports={tmp_path / 'none'}")
    assert ended.code == 0, ended
    assert "environment at http://127.0.0.1:9, profile gate" in ended.out
    assert "Nothing was sent." in ended.out
    assert not (tmp_path / "none").exists()
