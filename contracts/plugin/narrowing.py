"""What a selection leaves out: a clause that not every case was asked about may hide a contradiction that is there."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from pathlib import Path

import pytest

from contracts.interface.catalogue import load_catalogue
from contracts.interface.location import cases_directory
from contracts.judging.universal import UNIVERSAL

#: Pairs of clause and realm.
Cells = set[tuple[str, str]]
#: Why cases were left out, and the cells concerned; None for all of them.
Narrowing = tuple[str, list[list[str]] | None]


def narrowings(config: pytest.Config, left_out: Iterable[Cells]) -> list[Narrowing]:
    """Say where cases were left out, by options of the suite or of pytest itself.

    Args:
        config: The session's settings.
        left_out: The cells of each case that was left out.
    """
    found: list[Narrowing] = []
    if not _all_asked_for(config):
        found.append(("the command names some cases only", None))
    if config.getoption("maxfail", 0):
        found.append(("the run stops at the first failures", None))
    cells: Cells = set().union(*left_out)
    if cells:
        realms = {realm for clause in load_catalogue() for realm in clause.realms}
        cells |= set(product(UNIVERSAL, realms))
        found.append(("cases were left out by the selection", [list(cell) for cell in sorted(cells)]))
    return found


def _all_asked_for(config: pytest.Config) -> bool:
    cases = cases_directory()
    return any(cases.is_relative_to(Path(argument).resolve()) for argument in config.args)
