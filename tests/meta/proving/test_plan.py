"""Which services a proof tries, and when a pass is false."""

from dataclasses import fields
from itertools import combinations
from typing import Any

import pytest

from registry_contracts.interface.catalogue import Level, load_catalogue
from registry_contracts.proving.false_passes import false_passes
from registry_contracts.proving.plan import calm_trials
from registry_contracts.proving.services import AND, cover, silences, together
from registry_contracts.proving.trials import FAITHFUL
from registry_contracts.sandbox.habits import Habits
from registry_contracts.sandbox.variants import ALL, CONTRADICTORY

#: Silent clauses that no second behaviour of a sandbox can show.
WITHOUT_VARIANT = {
    "attachment-size-unit",  # a target's settings name its limit in bytes
    "attachment-temporary-creation",  # no operation creates temporary files
    "version-policy",  # no operation shows a policy
    "rate-limits",  # a refusal for too many requests is environment: a network fault shows it
    "realm-production-at-development",  # the guard sends no request with a production realm
    "workflow-events",  # no operation shows an event
}


def test_what_must_stay_silent_is_the_faithful_service_everywhere_and_each_variant() -> None:
    trials = list(calm_trials(7))
    faithful = {(trial.profile, trial.realms[0]) for trial in trials if trial.name == FAITHFUL}
    assert faithful == {("gate", realm) for realm in ("abs-dev", "bch-dev", "chm-dev", "ort-dev")}
    assert {name for trial in trials for name in trial.name.split(AND)} == {FAITHFUL, *ALL}


def test_every_silent_clause_has_a_variant_or_a_reason() -> None:
    silent = {clause.id for clause in load_catalogue() if clause.level is Level.SILENT}
    filled = {point for variant in ALL.values() for point in variant.silent}
    # A point without a clause is told in words.
    assert {point for point in filled if " " not in point} == silent - WITHOUT_VARIANT


def test_each_habit_is_turned_by_a_variant() -> None:
    turned = {name for variant in ALL.values() for name in variant.habits}
    assert {field.name for field in fields(Habits)} == turned


def test_in_the_whole_cover_all_meet_that_go_together() -> None:
    met = {frozenset(pair) for row in cover(1) for pair in combinations(row, 2)}
    silence_of = {name: silence for silence, names in silences().items() for name in names}
    pairs = [pair for pair in combinations(silence_of, 2) if silence_of[pair[0]] != silence_of[pair[1]]]
    assert met == {frozenset(pair) for pair in pairs if together(*pair)}
    assert not met & set(CONTRADICTORY)


@pytest.mark.parametrize(
    ("clause", "shown", "vacuous"),
    [
        ("workflow-created-exists", {"createWorkflowRecordWithIdentifier": {"refusal": 9}}, True),
        ("workflow-created-exists", {"createWorkflowRecordWithIdentifier": {"success": 1}}, False),
        ("errors-array", {"createContact": {"success": 2}}, True),
        ("errors-array", {"createContact": {"errors": 1}}, False),
        ("uid-too-short", {}, True),
        ("no-server-error", {}, False),
        ("workflow-identifier-unknown", {"updateWorkflowRecord": {"refusal": 1}}, False),
        ("workflow-locked-record", {"updateWorkflowRecord": {"refusal": 1}}, True),
    ],
)
def test_a_pass_is_false_where_the_service_did_not_show_what_it_is_about(
    clause: str, shown: dict[str, Any], vacuous: bool
) -> None:
    counts = {"operations": shown, "messages": ["workflow-identifier-unknown"]}
    for verdict, wrong in (("pass", vacuous), ("inconclusive", False)):
        cells = {"abs-dev": {"verdict": verdict}}
        run = {"clauses": [{"id": clause, "level": "must", "realms": cells}]}
        assert bool(false_passes(run, counts)) is wrong
