"""Finds and reads what a run is held to: the consumer file that was named, the deviations of the target."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from contracts.errors import UsageError
from contracts.evidence.terms import Terms
from contracts.gating.consumer_file import read_consumer
from contracts.gating.deviations_file import read_deviations
from contracts.interface.catalogue import load_catalogue
from contracts.interface.description import load_description
from contracts.target.settings import FOLDER as TARGETS
from contracts.target.source import is_file

#: Folder with a file of deviations for each target.
FOLDER = "deviations"


def load_terms(
    consumer: str | None, deviations: str | None, target: str | None, name: str, search: Path
) -> Terms:
    """Read the consumer file and the target's deviations.

    Args:
        consumer: Path of the consumer file, or None: everything counts.
        deviations: Path of the deviations file, or None: `deviations/<name>.toml` below the current folder, else
            beside the settings file, else none.
        target: The settings file or name that the person gave.
        name: The target's name.
        search: The current folder.

    Raises:
        UsageError: a named file is not there, or a file cannot be used; one line with file and line.
    """
    catalogue, description = load_catalogue(), load_description()
    used = None
    if consumer is not None:
        path = _named(consumer, "--consumer", search)
        used = read_consumer(path, consumer, catalogue, description)
    found = _named(deviations, "--deviations", search) if deviations is not None else None
    found = found or next((path for path in _places(target, name, search) if is_file(path)), None)
    if found is None:
        return Terms(consumer=used)
    shown = deviations or _shown(found, search)
    return Terms(
        consumer=used,
        deviations=read_deviations(found, shown, catalogue, description),
        deviations_file=shown,
    )


def _named(path: str, option: str, search: Path) -> Path:
    if not path.strip():
        # An unset variable in a script must not silently mean something else.
        raise UsageError(f"{option} is empty; name a file, or leave the option out")
    return search / path


def _places(target: str | None, name: str, search: Path) -> Iterator[Path]:
    file = Path(FOLDER) / f"{name}.toml"
    yield search / file
    if target is not None and is_file(search / target):
        beside = (search / target).parent
        yield beside.parent / file if beside.name == TARGETS else beside / file


def _shown(path: Path, search: Path) -> str:
    """The path as a person in the current folder would write it."""
    return str(path.relative_to(search) if path.is_relative_to(search) else path)
