"""Faults: the population that the description and the catalogue make, its fixed set, and draws."""

from __future__ import annotations

from collections import Counter

import pytest

from registry_contracts.errors import UsageError
from registry_contracts.interface.catalogue import Level, load_catalogue
from registry_contracts.interface.description import load_description
from registry_contracts.model import factors
from registry_contracts.sandbox.faults import conditions, crossed, held, population
from registry_contracts.sandbox.faults.conditions import ALWAYS, OPERATIONS, conditions_of


def test_every_clause_is_broken_by_a_fault_and_a_must_by_one_that_breaks_it_alone() -> None:
    catalogue, operations = load_catalogue(), load_description().operations
    faults = [*population.population().values(), *crossed.plainest().values()]
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


@pytest.mark.parametrize("by_night", [False, True])
def test_a_draw_holds_faults_that_break_a_must_and_that_their_names_give_again(*, by_night: bool) -> None:
    drawn = crossed.draw(300, 3, by_night=by_night)
    assert drawn == crossed.draw(300, 3, by_night=by_night) != crossed.draw(300, 4, by_night=by_night)
    assert len(set(drawn)) == len(drawn)
    for fault in drawn:
        assert population.load(fault.name) == fault
        assert fault.level is Level.MUST
        assert fault.sentence.endswith(".")
        assert fault.realms
    several = {len(conditions_of(fault.when)) for fault in drawn if fault.when != ALWAYS}
    assert several == ({1, 2, 3} if by_night else {1, 2})
    groups = Counter(crossed.kinds(fault.name)[2] for fault in drawn)
    assert set(groups.values()) == {300 // len(groups)}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_sandbox_has_the_values_of_the_factor_table(operation: str) -> None:
    theirs = {name: {each.name for each in values} for name, values in factors.table(operation).items()}
    theirs.pop("content", None)  # what texts a draft has is an effect here, by class and place
    assert {
        name: {each.name for each in values} for name, values in conditions.table(operation).items()
    } == theirs
    assert held.RELATIONS.keys() == factors.RELATIONS.keys()
    assert held.FILE_RELATIONS.keys() == factors.FILE_RELATIONS.keys()


def test_where_nothing_is_promised_there_is_no_fault() -> None:
    """The collection "my" may hold something else."""
    with pytest.raises(UsageError, match="breaks no clause"):
        population.load("listDrafts:newest-lost@list_my")
