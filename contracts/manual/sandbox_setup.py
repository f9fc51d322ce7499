"""The faults that an embedded sandbox can be set up with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contracts.errors import UsageError


@dataclass(frozen=True)
class Breakage:
    """A fault, as a list shows it."""

    name: str
    sentence: str
    clauses: tuple[str, ...]
    operations: tuple[str, ...]


def faults(*, fixed: bool = False) -> Sequence[Breakage] | None:
    """Every fault, or those of the fixed set alone; None where the sandbox is not installed."""
    try:
        from contracts.sandbox.faults import population  # noqa: PLC0415 - an optional extra, and slow to import
    except ModuleNotFoundError:
        return None
    chosen = population.fixed_set() if fixed else population.population().values()
    return [Breakage(fault.name, fault.sentence, fault.breaks, fault.at) for fault in chosen]


def installed(breakages: Sequence[Breakage] | None) -> Sequence[Breakage]:
    """Insist on the sandbox.

    Raises:
        UsageError: it is not installed.
    """
    if breakages is None:
        raise UsageError("the sandbox is not installed: pip install 'registry-contracts[sandbox]'")
    return breakages
