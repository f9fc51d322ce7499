"""Faults: the population that the description and the catalogue make."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from contracts.errors import UsageError
from contracts.interface.catalogue import Level, load_catalogue
from contracts.interface.description import load_description
from contracts.proving.observability import observable
from contracts.sandbox.faults import population


def test_every_fault_names_operations_and_clauses_that_exist() -> None:
    catalogue, operations = load_catalogue(), load_description().operations
    for name, fault in population.population().items():
        assert name == fault.name
        assert set(fault.operations) <= operations.keys(), name
        assert all(catalogue.clause(clause).level is not Level.SILENT for clause in fault.clauses), name


def test_a_draw_takes_all_families_evenly_and_is_the_same_for_the_same_seed() -> None:
    families = {fault.family for fault in population.population().values()}
    drawn = population.draw(4 * len(families), 3)
    assert drawn == population.draw(4 * len(families), 3)
    assert drawn != population.draw(4 * len(families), 4)
    assert len(set(drawn)) == len(drawn)
    assert max(Counter(fault.family for fault in drawn).values()) <= 6


@pytest.mark.parametrize("family", ["limits", "rows", "tokens", "validation"])
def test_a_plain_client_sees_faults(family: str) -> None:
    drawn = population.draw(3, 5, families=[family])
    assert any(observable(fault, (*fault.realms, "abs-dev")[0]) for fault in drawn), drawn


@pytest.mark.parametrize("family", ["rows", "protocol"])
def test_a_fault_of_another_realm_is_not_seen_here(family: str) -> None:
    fault = population.load("rows/createWorkflowRecord/schema-unknown-taken/in-bch-dev")
    fault = replace(fault, family=family)
    assert observable(fault, "bch-dev")
    assert not observable(fault, "abs-dev")


def test_an_unknown_fault_is_one_line() -> None:
    with pytest.raises(
        UsageError, match="unknown fault 'none'; `registry-contracts sandbox --fault list` shows them all"
    ):
        population.load("none")
