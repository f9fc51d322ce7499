"""Faults: the population that the description and the catalogue make."""

from __future__ import annotations

from collections import Counter

import pytest

from contracts.errors import UsageError
from contracts.interface.catalogue import Level, load_catalogue
from contracts.interface.description import load_description
from contracts.sandbox.faults import population


def test_every_fault_names_operations_and_clauses_that_exist() -> None:
    catalogue, operations = load_catalogue(), load_description().operations
    for name, fault in population.population().items():
        assert name == fault.name
        assert set(fault.operations) <= operations.keys(), name
        assert all(catalogue.clause(clause).level is not Level.SILENT for clause in fault.clauses), name


def test_every_clause_is_broken_by_a_fault_and_a_must_by_one_that_breaks_it_alone() -> None:
    faults = population.population().values()
    broken = {clause for fault in faults for clause in fault.clauses}
    alone = {fault.clauses[0] for fault in faults if len(fault.clauses) == 1}
    claimed = {c.id: c.level for c in load_catalogue() if c.level is not Level.SILENT and c.untested is None}
    musts = {clause for clause, level in claimed.items() if level is Level.MUST}
    assert claimed.keys() - broken == population.UNBREAKABLE.keys() & claimed.keys()
    assert musts - alone - population.UNBREAKABLE.keys() == population.NEVER_ALONE.keys()


def test_the_name_of_a_defect_finds_the_fault_that_has_taken_over() -> None:
    assert population.load("token-in-info").name == "protocol/getDraftInfo/token-echoed/always"
    assert population.load("get-draft-without-token-in-bch").condition == "in-bch-dev"


def test_a_draw_takes_all_families_evenly_and_is_the_same_for_the_same_seed() -> None:
    families = {fault.family for fault in population.population().values()}
    drawn = population.draw(4 * len(families), 3)
    assert drawn == population.draw(4 * len(families), 3)
    assert drawn != population.draw(4 * len(families), 4)
    assert len(set(drawn)) == len(drawn)
    assert max(Counter(fault.family for fault in drawn).values()) <= 6


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("none", "`registry-contracts list faults` shows them all"),
        ("uid-accept-ten", "did you mean 'uid-accepts-ten'?"),
    ],
)
def test_an_unknown_fault_is_one_line(name: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        population.load(name)
    assert str(caught.value) == f"unknown fault '{name}'; {hint}"
