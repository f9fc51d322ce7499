"""What an embedded sandbox can be set up with: faults, variants, habits and weathers."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

from contracts.errors import UsageError


@dataclass(frozen=True)
class Breakage:
    """A fault, as a list shows it."""

    name: str
    sentence: str
    clauses: tuple[str, ...]
    operations: tuple[str, ...]


def _of_sandbox(name: str) -> ModuleType:
    """A module of the sandbox, which is an optional extra and slow to import.

    Raises:
        UsageError: it is not installed.
    """
    try:
        return import_module(f"contracts.sandbox.{name}")
    except ModuleNotFoundError as error:
        why = "the sandbox is not installed: pip install 'registry-contracts[sandbox]'"
        raise UsageError(why) from error


def faults(*, fixed: bool = False) -> list[Breakage]:
    """Every fault, or those of the fixed set alone."""
    population = _of_sandbox("faults.population")
    chosen = population.fixed_set() if fixed else population.population().values()
    return [Breakage(fault.name, fault.sentence, fault.breaks, fault.at) for fault in chosen]


def variants() -> list[dict[str, Any]]:
    """Every variant with its sentence."""
    known = _of_sandbox("variants").ALL.values()
    return [{"id": each.name, "silent": list(each.silent), "sentence": each.sentence} for each in known]


def habits() -> list[dict[str, Any]]:
    """Every habit with its usual value, as `--habit` takes it, and what it is about."""
    return [
        {"id": name, "usual": usual, "meaning": meaning}
        for name, usual, meaning in _of_sandbox("habits").described()
    ]


def weathers() -> list[dict[str, Any]]:
    """Every weather with its sentence, and its figures as `--weather` takes them."""
    module = _of_sandbox("weather")
    return [
        {"id": each.name, "figures": module.figures_text(each), "sentence": each.sentence}
        for each in module.ALL.values()
    ]
