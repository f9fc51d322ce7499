"""What a run says that it will send and can judge: from the cases as they are, without sending anything."""

from pathlib import Path
from typing import Any

import pytest

from contracts.cases.marks import Profile
from contracts.interface.catalogue import Clause, Level, load_catalogue
from contracts.interface.clause_table import known_cases
from contracts.plugin.forecast import Coverage, Forecast, PlannedCase, measured, without_realm
from contracts.settings.target import Account, Pace, RealmSettings, Secret, Target
from tests.meta.program import RunCommand

CASE = "scenario/test_attachment_size.py::test_a_file_within_the_limit_is_taken[abs-dev]"
#: Of the cases, so many may be newer or older than the figures.
TOLERATED = 0.05


def forecast(*cases: PlannedCase, profile: Profile = Profile.GATE, **settings: Any) -> Forecast:
    target = Target("service", "https://service.test", realms=("abs-dev",), **settings)
    unreached = {("draft-get-content", "abs-dev"): "out of the profile smoke"}
    return Forecast(
        cases,
        target,
        load_catalogue(),
        records={"abs-dev": 3},
        unreached=unreached,
        budget=500,
        profile=profile,
    )


def test_the_figures_are_those_of_the_cases() -> None:
    named = {case.partition("[")[0] for case in measured(Profile.FULL)}
    known = {case.partition("[")[0] for cases in known_cases().values() for case in cases}
    differ = named ^ known
    assert len(differ) <= TOLERATED * len(known), sorted(differ)


def test_a_later_profile_is_forecast_by_its_own_figures() -> None:
    drawn = "property/test_description.py::test_drawn_inputs_are_answered_as_described[*-listDrafts]"
    gate, night = (sum(measured(profile)[drawn].values()) for profile in (Profile.GATE, Profile.NIGHTLY))
    case = PlannedCase(drawn.replace("*", "abs-dev"), "abs-dev", ("draft-get-content",))
    assert forecast(case).requests == gate
    assert forecast(case, profile=Profile.NIGHTLY).requests == night > gate


def test_where_one_realm_is_judged_nothing_is_dealt_out_among_realms() -> None:
    dealt = "property/test_generated_faults.py::test_single_faults_are_turned_down[*-updateContact]"
    shared, whole = (sum(measured(alone=alone)[dealt].values()) for alone in (False, True))
    assert whole > 1.5 * shared


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
    text = "\n".join(planned.lines())
    assert "about 1,200, 2.0 minutes at 10 a second; the run stops at 500" in text
    assert "3 permanent records (3 in abs-dev), at most 20 a realm" in text
    assert "out of the profile smoke\n      draft-get-content" in text
    assert "setting realm.<realm>.locked_identifier is missing" in text
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


REALMS = ("abs-dev", "bch-dev")
AUTHOR = {"author": Account("author", "author@example.test", Secret("correct-horse"))}


def a_clause(name: str, *needs: str, untested: str | None = None) -> Clause:
    return Clause(
        name, Level.MUST, ("op",), "Heading", "Words.", needs=needs, realms=REALMS, untested=untested
    )


def a_target(**realm: RealmSettings) -> Target:
    settings = {name.replace("_", "-"): value for name, value in realm.items()}
    return Target("t", "https://host.example", realms=REALMS, accounts=AUTHOR, realm=settings)


def test_a_clause_is_judged_where_its_settings_are_known() -> None:
    needy = a_clause("needy", "realm.locked_identifier")
    coverage = Coverage([needy], a_target(abs_dev=RealmSettings(locked_identifier="locked-record")))
    assert coverage.judged_cells == (("needy", "abs-dev"),)
    assert coverage.judged == coverage.clauses == ("needy",)
    assert coverage.cells == (("needy", "abs-dev"), ("needy", "bch-dev"))


def test_what_nothing_can_test_and_realms_that_are_not_judged_do_not_count() -> None:
    elsewhere = Clause("elsewhere", Level.MUST, ("op",), "Heading", "Words.", realms=("chm-dev",))
    coverage = Coverage([a_clause("never", untested="a reason"), elsewhere], a_target())
    assert coverage.clauses == ()


def test_unlocks_name_the_most_useful_setting_first_and_count_each_clause_once() -> None:
    clauses = [
        a_clause("one", "realm.locked_identifier"),
        a_clause("two", "realm.locked_identifier"),
        a_clause("three", "realm.locked_identifier", "account.nau"),
        a_clause("four", "attachments.size_limit_bytes"),
    ]
    first, *others = Coverage(clauses, a_target()).unlocks()
    assert (first.setting, first.realms) == ("realm.<realm>.locked_identifier", REALMS)
    assert (first.clauses, first.cells, first.helps) == (("one", "two"), 4, 1)
    gains = [(other.setting, other.clauses, other.cells) for other in others]
    assert gains == [("accounts.nau", ("three",), 2), ("attachments.size_limit_bytes", ("four",), 2)]


@pytest.mark.parametrize("level", [Level.MUST, Level.SHOULD])
def test_with_every_setting_of_the_list_nothing_is_lacking(level: Level) -> None:
    clauses = [clause for clause in load_catalogue() if clause.level is level]
    coverage = Coverage(clauses, Target("t", "https://host.example", accounts=AUTHOR))
    unlocked = sum(unlock.cells for unlock in coverage.unlocks())
    assert len(coverage.judged_cells) + unlocked == len(coverage.cells) > 100
    assert all(unlock.meaning for unlock in coverage.unlocks())
