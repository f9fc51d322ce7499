"""Which services a proof tries, when a pass is false, and what it makes of its trials: outcomes and the report."""

from dataclasses import fields, replace
from itertools import combinations, islice
from typing import Any

import pytest

from registry_contracts.interface.catalogue import Level, load_catalogue
from registry_contracts.proving.false_passes import false_passes
from registry_contracts.proving.plan import calm_trials
from registry_contracts.proving.report import Floor, Report, Share
from registry_contracts.proving.services import AND, draw_services, drawable, together
from registry_contracts.proving.trials import FAITHFUL, Found, Kind, Outcome, Part, Result, Trial
from registry_contracts.sandbox.habits import Habits
from registry_contracts.sandbox.variants import ALL

#: Silent clauses that no second behaviour of a sandbox can show.
WITHOUT_VARIANT = {
    "attachment-size-unit",  # a target's settings name its limit in bytes
    "attachment-temporary-creation",  # no operation creates temporary files
    "version-policy",  # no operation shows a policy
    "rate-limits",  # a refusal for too many requests is environment: a network fault shows it
    "realm-production-at-development",  # the guard sends no request with a production realm
    "workflow-events",  # no operation shows an event
}
#: Variants that no test of a must or should would accuse: of their points no such clause speaks.
WITHOUT_CLAUSE = {
    "attachments-by-anybody",  # whose documents take files of whom
    "contacts-by-restricted",  # rights are told of the workflow alone
    "restricted-shut-out",
    "draft-any-schema",  # the schema of a draft
    "options-answered",  # a method that is not listed
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


def test_each_variant_is_spared_by_a_must_or_should_clause() -> None:
    spared = {name for clause in load_catalogue() for name in clause.spares}
    assert spared == ALL.keys() - WITHOUT_CLAUSE
    for clause in load_catalogue():
        assert len({*clause.spares}) == len(clause.spares), clause.id
        assert not clause.spares or (clause.level is not Level.SILENT and clause.untested is None), clause.id


def test_each_habit_is_turned_by_a_variant() -> None:
    turned = {name for variant in ALL.values() for name in variant.habits}
    assert {field.name for field in fields(Habits)} == turned


def test_in_a_long_draw_all_meet_that_go_together() -> None:
    services = [name.split(AND) for name in islice(draw_services(1), 150)]
    met = {frozenset(pair) for names in services for pair in combinations(names, 2)}
    fitting = {frozenset(pair) for pair in combinations(drawable(), 2) if together(*pair)}
    assert met <= fitting
    assert len(met) > 0.99 * len(fitting)


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
def test_a_pass_is_false_where_nothing_was_shown(clause: str, shown: dict[str, Any], vacuous: bool) -> None:
    counts = {"operations": shown, "messages": ["workflow-identifier-unknown"]}
    for verdict, wrong in (("pass", vacuous), ("inconclusive", False)):
        cells = {"abs-dev": {"verdict": verdict}}
        run = {"clauses": [{"id": clause, "level": "must", "realms": cells}]}
        assert bool(false_passes(run, counts)) is wrong


FAULT = Trial(Part.FIXED, Kind.FAULT, "a-fault", ("abs-dev",), 1, clauses=("uid-hyphen",), narrow=True)
DRAWN = replace(FAULT, part=Part.DRAWN, narrow=False)
SERVICE = replace(FAULT, kind=Kind.SERVICE, name="gzip+list-hal", clauses=())
NETWORK = replace(FAULT, part=Part.MANNERS, kind=Kind.NETWORK_FAULT, name="resets", clauses=())
BENEATH = replace(NETWORK, fault="a-fault", clauses=("uid-hyphen",))
CASE = "test_uid.py::test_hyphens[abs-dev]"
OWN = Found("uid-hyphen", True, CASE, "seen")
FOREIGN = replace(OWN, clause="list-top")
FLOOR = Floor(110, 120, (7, 8), "2026-11-29", "0123abc", "drawn")
SHOULD = replace(OWN, clause="list-title-sorted", must=False)


def found(trial: Trial = FAULT, **parts: Any) -> Result:
    return Result(
        trial, **{"findings": (OWN,), "found_by": (CASE,), "confirmed": True, "exit_code": 1, **parts}
    )


@pytest.mark.parametrize(
    ("trial", "parts", "outcome"),
    [
        (FAULT, {"found_by": (CASE,), "confirmed": True}, Outcome.FOUND),
        (FAULT, {"found_by": (CASE,), "confirmed": False}, Outcome.UNCONFIRMED),
        (FAULT, {"findings": (FOREIGN,), "exit_code": 1}, Outcome.ELSEWHERE),
        (replace(DRAWN, clauses=(SHOULD.clause,)), {"findings": (SHOULD,)}, Outcome.ADVISORY),
        (FAULT, {"altered": 3, "mattered": 0}, Outcome.UNALTERED),
        (FAULT, {"altered": 3, "mattered": 0, "findings": (OWN,), "found_by": (CASE,)}, Outcome.UNPROMISED),
        (FAULT, {"mattered": 3, "reasons": ("uid-hyphen: budget",)}, Outcome.INCONCLUSIVE),
        (FAULT, {"mattered": 3}, Outcome.NOT_SEEN),
        (FAULT, {"trouble": "took too long", "found_by": (CASE,)}, Outcome.TROUBLE),
        (SERVICE, {}, Outcome.PASS),
        (SERVICE, {"findings": (OWN,)}, Outcome.FALSE_ALARM),
        (replace(SERVICE, name=FAITHFUL), {"findings": (SHOULD,)}, Outcome.FALSE_ALARM),
        (SERVICE, {"false_passes": ("uid-hyphen: why",)}, Outcome.FALSE_PASS),
        (SERVICE, {"permanent": 31}, Outcome.TOO_MANY_LEFT),
        (SERVICE, {"unlisted": ("rc-somewhere-else",)}, Outcome.UNLISTED),
        (SERVICE, {"exit_code": 6}, Outcome.NOT_JUDGED),
        (replace(NETWORK, reachable=False), {"exit_code": 6}, Outcome.PASS),
        (replace(NETWORK, reachable=False), {"exit_code": 1}, Outcome.WRONG_END),
        (BENEATH, {"exit_code": 1, "found_by": (CASE,)}, Outcome.PASS),
        (BENEATH, {"exit_code": 1}, Outcome.WRONG_END),
        (replace(NETWORK, kind=Kind.CANARY), {"wrong": ("versions theirs: changed",)}, Outcome.CHANGED),
        (replace(NETWORK, kind=Kind.KILL), {"wrong": ("draft abs-dev rc-1",)}, Outcome.LEFT),
    ],
)
def test_a_trial_ends_in_one_outcome(trial: Trial, parts: dict[str, Any], outcome: Outcome) -> None:
    ended = Result(trial, **parts)
    assert ended.outcome is outcome
    assert ended.why


def report(*results: Result, **parts: Any) -> Report:
    return Report(results, "python -m registry_contracts.proving", 60.0, **parts)


def test_a_lost_fault_of_the_fixed_set_fails_the_proof_and_so_does_a_service_that_does_not_pass() -> None:
    for one, floor, code in (
        (Result(SERVICE), FLOOR, 0),
        (Result(FAULT, mattered=2), FLOOR, 1),
        (found(confirmed=False), FLOOR, 1),
        (Result(SERVICE, exit_code=6), FLOOR, 1),
        (Result(SERVICE, trouble="took too long"), FLOOR, 3),
        (Result(DRAWN, mattered=1), None, 1),
    ):
        assert report(*[found()] * 400, one, floor=floor).exit_code() == code


def test_a_draw_fails_below_what_draws_of_its_size_show() -> None:
    assert [round(each, 2) for each in Share(110, 120).interval] == [0.85, 0.95]
    for missed, code in ((0, 0), (1, 0), (8, 0), (10, 0), (11, 1)):
        results = [*[found(DRAWN)] * (60 - missed), *[Result(DRAWN, mattered=1)] * missed]
        assert report(*results, floor=FLOOR).exit_code() == code, missed


def test_a_drawn_fault_that_made_no_difference_is_told_apart_and_need_not_be_found() -> None:
    never, silent = Result(DRAWN, altered=0, mattered=0), Result(DRAWN, altered=4, mattered=0)
    told = report(found(DRAWN), never, silent, floor=FLOOR)
    assert (told.drawn, told.exit_code(), told.bad) == ((1, 1), 0, [])
    assert "1 and 1 others that made no difference" in next(filter(None, reversed([*told.closing_lines()])))
