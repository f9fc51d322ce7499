"""The faults, server variants, their settings and network faults of the sandbox, as rows for `list`."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from registry_contracts.errors import UsageError

Row = dict[str, Any]


def _of_sandbox(name: str) -> ModuleType:
    """Import a module of the sandbox, which is an optional extra and slow to import.

    Raises:
        UsageError: the sandbox is not installed.
    """
    try:
        return import_module(f"registry_contracts.sandbox.{name}")
    except ModuleNotFoundError as error:
        why = "the sandbox is not installed: pip install 'registry-contracts[sandbox]'"
        raise UsageError(why) from error


def faults(*, fixed: bool = False) -> list[Row]:
    """List every fault, or only the fixed set, with the clauses that it breaks."""
    population = _of_sandbox("faults.population")
    return [
        {
            "id": each.name,
            "sentence": each.sentence,
            "clauses": list(each.breaks),
            "operations": list(each.at),
        }
        for each in (population.fixed_set() if fixed else population.population().values())
    ]


def variants() -> list[Row]:
    """List every server variant with the silent clauses that it decides."""
    known = _of_sandbox("variants").ALL.values()
    return [{"id": each.name, "sentence": each.sentence, "silent": list(each.silent)} for each in known]


def habits() -> list[Row]:
    """List every setting for `--habit` with its default."""
    return [
        dict(zip(("id", "usual", "meaning"), each, strict=True)) for each in _of_sandbox("habits").described()
    ]


def weathers() -> list[Row]:
    """List every kind of network faults for `--weather` with its figures."""
    module = _of_sandbox("weather")
    known = module.ALL.values()
    return [
        {"id": each.name, "sentence": each.sentence, "figures": module.figures_text(each)} for each in known
    ]
