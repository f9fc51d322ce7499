"""The baseline: accepted observations of one target, in a YAML file that is easy to review as a diff.

It is sorted, with one fact a line; a fact has one value if all realms agree, else one value per realm. Damaged files
raise a `UsageError` of one line that names the file.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import yaml
from msgspec import Meta

from registry_contracts.errors import UsageError
from registry_contracts.file_formats import (
    FileName,
    Format,
    Name,
    convert,
    plain,
    read_bytes,
    read_file,
    write_file,
)
from registry_contracts.history.drift import Mode
from registry_contracts.history.observed_facts import Change, Facts, Place, Value
from registry_contracts.interface.description import load_description
from registry_contracts.interface.operations import ANY_REALM

FOLDER: Final = Path("baselines")
_FORMAT: Final = "1"
_KEYS: Final = frozenset({"format", "target", "realms", "facts"})
_WIDE: Final = 1_000_000

_HEAD: Final = """\
# Accepted observations of {} where the interface document is silent.
# `registry-contracts drift accept` writes this file; `registry-contracts drift` compares a run with it.
# One fact a line: its value in all realms, or one value a realm. Shapes: <status> body.<member>: <kind>.
"""


class BaselineFile(Format, frozen=True):
    """The content of a baseline file; `facts`: clause id → operation → name of the fact → value, or realm → value."""

    format: Literal["1"]
    target: FileName
    realms: tuple[str, ...]
    facts: Mapping[str, Mapping[str, Mapping[str, Value | Mapping[str, Value]]]]


@dataclass(frozen=True, slots=True)
class Baseline:
    """The accepted observations of a target."""

    target: str
    facts: Facts = field(default_factory=dict)


def path_of(target: str) -> Path:
    """Return the default path of a target's baseline."""
    return FOLDER / f"{re.sub(r'[^A-Za-z0-9._-]+', '-', target)}.yaml"


def write(path: Path, baseline: Baseline) -> None:
    """Write a baseline file."""
    realms = sorted({place.realm for place in baseline.facts} - {ANY_REALM})
    by_point: dict[tuple[str, str, str], dict[str, Value]] = defaultdict(dict)
    for place, facts in baseline.facts.items():
        for point, value in facts.items():
            by_point[place.clause, place.operation, point][place.realm] = value
    nested: dict[str, dict[str, dict[str, Any]]] = defaultdict(lambda: defaultdict(dict))
    for (clause, operation, point), values in by_point.items():
        nested[clause][operation][point] = _together(values, _concerned(operation, realms))
    content = plain({"format": int(_FORMAT), "target": baseline.target, "realms": realms, "facts": nested})
    text = _HEAD.format(baseline.target) + yaml.safe_dump(content, width=_WIDE, allow_unicode=True)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}; choose another with --baseline") from error


def _together(values: Mapping[str, Value], concerned: Sequence[str]) -> Any:
    """The value that all realms share, or the value of each realm."""
    alike = len(set(values.values())) == 1 and sorted(values) == sorted(concerned)
    return next(iter(values.values())) if alike else values


def read(path: Path) -> Baseline | None:
    """Read a baseline file; None if it does not exist."""
    try:
        text = read_bytes(path).decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the baseline {path}: {error}") from error
    return parse(text, str(path))


def parse(text: str, shown: str) -> Baseline:
    """Read the text of a baseline file; `shown` names it in messages."""
    file = convert(_content(text, shown), BaselineFile, shown)
    known = load_description().operations
    facts: Facts = defaultdict(dict)
    for clause, operations in file.facts.items():
        for operation, points in operations.items():
            if operation not in known:
                raise UsageError(f"{shown}: {clause}: there is no operation '{operation}'")
            for point, value in points.items():
                everywhere = _concerned(operation, file.realms)
                values = value if isinstance(value, Mapping) else dict.fromkeys(everywhere, value)
                for realm, said in values.items():
                    ordered = tuple(sorted(said)) if isinstance(said, tuple) else said
                    facts[Place(clause, operation, realm)][point] = ordered
    return Baseline(file.target, dict(facts))


def _content(text: str, shown: str) -> Any:
    """The YAML of a baseline file."""
    try:
        # Nested aliases can expand a few lines to a thousand million values.
        if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text, yaml.SafeLoader)):
            raise UsageError(f"{shown}: holds an alias (*); write the values out")
        # Read every scalar as text: people write `201` and `true` without quotes.
        content = yaml.load(text, yaml.BaseLoader)  # noqa: S506 - it makes nothing but texts, lists and mappings
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise UsageError(f"{shown}:{line}: is not YAML: {error.problem}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UsageError(f"{shown}: is not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(content, dict) or set(content) != _KEYS or content["format"] != _FORMAT:
        raise UsageError(
            f"{shown} is not a baseline of this version: it needs format: {_FORMAT}, target, realms and facts; "
            "`drift accept` writes one"
        )
    return content


def _concerned(operation: str, realms: Collection[str]) -> list[str]:
    """Return the realms that a value without realm applies to."""
    has = load_description().operations[operation].realms
    return list(has) if has == (ANY_REALM,) else [realm for realm in has if realm in realms]


SETTINGS_FILE: Final = "drift.json"
BASELINE_FILE: Final = "baseline.yaml"


class DriftSettings(Format, frozen=True):
    """`drift.json`: what a run's observations are compared with; `known`: the file was there when the run began."""

    mode: Mode
    baseline: Annotated[
        Name,
        Meta(description="The file; a copy of it is baseline.yaml beside this one, where it was there."),
    ]
    known: bool


def save_drift_settings(run_folder: Path, mode: Mode, path: Path) -> None:
    """Write the drift settings and a copy of the present baseline into a run folder."""
    exists = mode is not Mode.OFF and read(path) is not None
    if exists:
        (run_folder / BASELINE_FILE).write_text(path.read_text("utf-8"), "utf-8")
    write_file(run_folder / SETTINGS_FILE, DriftSettings(mode, path.as_posix(), exists), DriftSettings)


def load_drift_settings(run_folder: Path) -> tuple[DriftSettings, Baseline | None] | None:
    """Read the drift settings and the baseline of a run folder; None for a folder without them."""
    if not os.path.lexists(run_folder / SETTINGS_FILE):
        return None
    settings = read_file(run_folder / SETTINGS_FILE, DriftSettings)
    accepted = read(run_folder / BASELINE_FILE) if settings.known else None
    if settings.known and accepted is None:
        raise UsageError(f"{run_folder / BASELINE_FILE} is absent: the run folder is not complete")
    return settings, accepted


def select_facts(facts: Facts, clauses: Collection[str], realms: Collection[str]) -> Facts:
    """Return the facts of these clauses and realms; empty collections choose all."""
    return {
        place: values
        for place, values in facts.items()
        if (not clauses or place.clause in clauses) and (not realms or place.realm in realms)
    }


def accept_facts(accepted: Facts, seen: Facts, changes: Collection[Change]) -> Facts:
    """Return the accepted facts, updated by a run's facts and their changes (`compare`).

    Facts that the run did not observe stay, and so do wider values that the run does not contradict: a run sees a
    sample. Facts inside a changed member are removed.
    """
    merged: Facts = defaultdict(dict, {place: dict(values) for place, values in accepted.items()})
    for change in changes:
        for realm in change.realms:
            kept = merged[Place(change.clause, change.operation, realm)]
            inside = (f"{change.point}.", f"{change.point}[")
            for path in [path for path in kept if path == change.point or path.startswith(inside)]:
                del kept[path]
    for place, facts in seen.items():
        merged[place] = facts | merged[place]
    return {place: values for place, values in sorted(merged.items()) if values}
