"""Faults: the population that the description and the catalogue make, its fixed set, and draws."""

from __future__ import annotations

from collections import Counter

import pytest

from registry_contracts.interface.catalogue import Level, load_catalogue
from registry_contracts.interface.description import load_description
from registry_contracts.interface.profiles import Profile
from registry_contracts.sandbox.faults import population
from registry_contracts.sandbox.faults.conditions import ALWAYS, CONDITIONS, conditions_of
from registry_contracts.sandbox.faults.messages import Memory, Request


def test_every_clause_is_broken_by_a_fault_and_a_must_by_one_that_breaks_it_alone() -> None:
    catalogue, operations = load_catalogue(), load_description().operations
    faults = population.population().values()
    for fault in faults:
        assert set(fault.at) <= operations.keys(), fault.name
        assert all(catalogue.clause(clause).level is not Level.SILENT for clause in fault.breaks), fault.name
    broken = {clause for fault in faults for clause in fault.breaks}
    alone = {fault.breaks[0] for fault in faults if fault.alone}
    claimed = {c.id: c.level for c in catalogue if c.level is not Level.SILENT and c.untested is None}
    musts = {clause for clause, level in claimed.items() if level is Level.MUST}
    assert claimed.keys() - broken == population.UNBREAKABLE.keys() & claimed.keys()
    assert musts - alone - population.UNBREAKABLE.keys() == population.NEVER_ALONE.keys()
    fixed = Counter(fault.breaks for fault in population.fixed_set())
    assert fixed.keys() == {(clause,) for clause in alone}
    assert max(fixed.values()) <= 4


def test_a_row_is_found_by_its_name_with_size_and_condition() -> None:
    for wide in (False, True):
        for fault in population.draw(2000, 1, level=None, wide=wide):
            assert population.load(fault.name) == fault
            assert fault.sentence.endswith((".", ")."))
            assert fault.realms
            assert wide or fault.profile is Profile.GATE


def test_a_wide_draw_holds_every_condition_and_sizes_that_only_a_nightly_run_reaches() -> None:
    drawn = [fault for seed in range(8) for fault in population.draw(2000, seed, wide=True)]
    met = {condition.name for fault in drawn for condition, _ in conditions_of(fault.when)}
    assert met >= {condition.name for condition in CONDITIONS.values() if condition.wide}
    assert {len(conditions_of(fault.when)) for fault in drawn} == {1, 2}
    assert {fault.profile for fault in drawn if fault.size} == {Profile.GATE, Profile.NIGHTLY}
    assert all(fault.size or fault.when != ALWAYS for fault in drawn)


def test_a_draw_takes_all_families_evenly_and_is_the_same_for_the_same_seed() -> None:
    drawn = population.draw(40, 3)
    assert drawn == population.draw(40, 3) != population.draw(40, 4)
    assert len(set(drawn)) == len(drawn)
    families = Counter(load_catalogue().clause(fault.breaks[0]).family for fault in drawn)
    assert set(families.values()) == {4}


@pytest.mark.parametrize(("query", "sent"), [("abs-dev", "abs-dev"), ("東京", None), ("", None)])
def test_what_a_fault_asks_more_names_the_realm_where_a_header_can(query: str, sent: str | None) -> None:
    operation = load_description().operations["saveDraft"]
    request = Request(operation, {"uid": "x"}, (("Realm", query),), Memory(0), Request.ask)
    assert request.for_operation("getDraft").text("realm") == sent
