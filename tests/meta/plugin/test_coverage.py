"""The coverage of settings: what they let a run judge, and what one more setting would add."""

import pytest

from contracts.interface.catalogue import Clause, Level, load_catalogue
from contracts.plugin.forecast import Coverage
from contracts.settings.target import Account, RealmSettings, Secret, Target

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
