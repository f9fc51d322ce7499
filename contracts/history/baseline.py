"""The baseline: what people accepted of one target, as a YAML file that reviews well in a diff.

Sorted, one fact a line, each clause under its wording; a value stands once where all realms agree and for each realm
where they do not. YAML libraries that write comments reorder or rewrap them, so the few lines are written here; they
are read by PyYAML.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import yaml
from msgspec import Meta

from contracts.errors import UsageError
from contracts.file_formats import Format, Name, convert, read_bytes, read_file, write_file
from contracts.history.drift import Mode
from contracts.history.observed_facts import Change, Facts, Place, Value, status_of, text_of
from contracts.interface.operations import ANY_REALM

FOLDER: Final = Path("baselines")
_FORMAT: Final = "1"
_KEYS: Final = frozenset({"format", "target", "realms", "facts"})
_WIDE: Final = 1_000_000

_ByRealm = Mapping[str, Value]


class BaselineFile(Format, frozen=True):
    """The content of a baseline file; `facts`: clause id → operation → name of the fact → value, or realm → value."""

    format: Literal["1"]
    target: str
    realms: tuple[str, ...] | None
    facts: Any


@dataclass(frozen=True, slots=True)
class Baseline:
    """What was accepted of a target."""

    target: str
    facts: Facts = field(default_factory=dict)


def path_of(target: str) -> Path:
    """Return where the baseline of a target stands unless an option says otherwise."""
    return FOLDER / f"{re.sub(r'[^A-Za-z0-9._-]+', '-', target)}.yaml"


def write(
    path: Path, baseline: Baseline, wordings: Mapping[str, str], realms_of: Mapping[str, tuple[str, ...]]
) -> None:
    """Write a baseline file.

    Args:
        wordings: clause id to wording, for the comments.
        realms_of: operation to the realms that have it.

    Raises:
        UsageError: the file cannot be written.
    """
    text = "\n".join(_lines(baseline, wordings, realms_of)) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}; choose another with --baseline") from error


def read(path: Path, realms_of: Mapping[str, tuple[str, ...]]) -> Baseline | None:
    """Read a baseline file.

    Returns:
        The baseline, or None when there is no such file.

    Raises:
        UsageError: the file cannot be read or used; one line that says what is wrong.
    """
    try:
        text = read_bytes(path).decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the baseline {path}: {error}") from error
    return parse(text, str(path), realms_of)


def parse(text: str, shown: str, realms_of: Mapping[str, tuple[str, ...]]) -> Baseline:
    """Read the text of a baseline file; `shown` names it in messages.

    Raises:
        UsageError: it cannot be used.
    """
    try:
        # Nine lines of aliases of aliases stand for a thousand million values.
        if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text, yaml.SafeLoader)):
            raise UsageError(f"{shown}: holds an alias (*); write the values out")
        content = _texts(yaml.safe_load(text))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise UsageError(f"{shown}:{line}: is not YAML: {error.problem}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UsageError(f"{shown}: is not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(content, dict) or set(content) != _KEYS or content["format"] != _FORMAT:
        raise UsageError(
            f"{shown} is no baseline of this version: it needs format: {_FORMAT}, target, realms and facts; "
            "`drift accept` writes one"
        )
    file = convert(content, BaselineFile, shown)
    facts: Facts = {}
    for clause, operation, point, value in _entries(file.facts or {}, shown):
        if operation not in realms_of:
            raise UsageError(f"{shown}: {clause}: there is no operation '{operation}'")
        for realm, of_realm in _by_realm(value, _concerned(realms_of[operation], file.realms or ())):
            facts.setdefault(Place(clause, operation, realm), {})[point] = of_realm
    return Baseline(file.target, facts)


def _texts(value: Any) -> Any:
    """Return what YAML read with every scalar as text: people write `201` and `true` without quotes."""
    if isinstance(value, dict):
        return {text_of(key): _texts(member) for key, member in value.items()}
    if isinstance(value, list):
        return sorted(map(text_of, value)) if _is_flat(value) else list(map(_texts, value))
    return None if value is None else text_of(value)


def _is_flat(items: list[Any]) -> bool:
    return not any(item is None or isinstance(item, dict | list) for item in items)


def _entries(facts: Any, shown: str) -> Iterator[tuple[str, str, str, Value | _ByRealm]]:
    for clause, operations in _mapping(facts, "facts", shown):
        for operation, points in _mapping(operations, clause, shown):
            for point, value in _mapping(points, f"{clause}: {operation}", shown):
                place = f"{shown}: {clause}: {operation}: {point}"
                if value is None:
                    raise UsageError(f"{place} has no value; take the line out")
                # mypy takes no union for a type; msgspec does.
                yield clause, operation, point, convert(value, Value | _ByRealm, place)  # type: ignore[arg-type]


def _mapping(value: Any, where: str, shown: str) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, dict):
        raise UsageError(f"{shown}: {where} is not a mapping; `drift accept` writes it anew")
    yield from value.items()


def _by_realm(value: Value | _ByRealm, realms: Collection[str]) -> Iterator[tuple[str, Value]]:
    if isinstance(value, Mapping):
        yield from value.items()
    else:
        yield from ((realm, value) for realm in realms)


def _concerned(has: tuple[str, ...], realms: Collection[str]) -> list[str]:
    """Return the realms that a value given once stands for."""
    return list(has) if has == (ANY_REALM,) else [realm for realm in has if realm in realms]


def _lines(
    baseline: Baseline, wordings: Mapping[str, str], realms_of: Mapping[str, tuple[str, ...]]
) -> Iterator[str]:
    realms = sorted({place.realm for place in baseline.facts} - {ANY_REALM})
    yield f"# What {baseline.target} was accepted to do where the interface document is silent."
    yield "# `registry-contracts drift accept` writes this file; `registry-contracts drift` compares a run with it."
    yield "# One fact a line: its value in all realms, or one value a realm. Shapes: <status> body.<member>: <kind>."
    yield f"format: {_FORMAT}"
    yield f"target: {_scalar(baseline.target)}"
    yield f"realms: [{', '.join(map(_scalar, realms))}]"
    yield "facts:" if baseline.facts else "facts: {}"
    for clause, of_clause in groupby(sorted(baseline.facts), key=lambda place: place.clause):
        if clause in wordings:
            yield f"  # {' '.join(wordings[clause].split())}"
        yield f"  {_scalar(clause)}:"
        for operation, places in groupby(of_clause, key=lambda place: place.operation):
            yield f"    {_scalar(operation)}:"
            facts_of_realm = {place.realm: baseline.facts[place] for place in places}
            concerned = _concerned(realms_of.get(operation, ()), realms)
            yield from _points(facts_of_realm, concerned)


def _points(facts_of_realm: Mapping[str, Mapping[str, Value]], concerned: list[str]) -> Iterator[str]:
    for point in sorted({point for facts in facts_of_realm.values() for point in facts}):
        values = {realm: facts[point] for realm, facts in facts_of_realm.items() if point in facts}
        one = set(values.values())
        if len(one) == 1 and sorted(values) == sorted(concerned):
            yield f"      {_scalar(point)}: {_shown(one.pop())}"
            continue
        yield f"      {_scalar(point)}:"
        for realm, value in sorted(values.items()):
            yield f"        {_scalar(realm)}: {_shown(value)}"


def _shown(value: Value) -> str:
    return f"[{', '.join(map(_scalar, value))}]" if isinstance(value, tuple) else _scalar(value)


def _scalar(text: str) -> str:
    """Return a text as YAML, bare where it reads back as itself."""
    plain = yaml.safe_load(text) if text.isalnum() and text.isascii() else None
    if isinstance(plain, int | bool) and text_of(plain) == text:
        return text
    written: str = yaml.safe_dump(text, width=_WIDE, allow_unicode=True, default_flow_style=True)
    return written.removesuffix("\n").removesuffix("\n...")


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


@dataclass(frozen=True, slots=True)
class DriftComparison:
    """What a run folder says about drift; `baseline` is None when there was no file at `path`."""

    mode: Mode
    path: str
    baseline: Baseline | None


def save_drift_settings(
    run_folder: Path, mode: Mode, path: Path, realms_of: Mapping[str, tuple[str, ...]]
) -> None:
    """Note in a run folder how its drift is to be judged, and copy the baseline as it is now.

    Raises:
        UsageError: the baseline cannot be read or used.
    """
    exists = mode is not Mode.OFF and read(path, realms_of) is not None
    if exists:
        (run_folder / BASELINE_FILE).write_text(path.read_text("utf-8"), "utf-8")
    write_file(run_folder / SETTINGS_FILE, DriftSettings(mode, path.as_posix(), exists), DriftSettings)


def load_drift_settings(run_folder: Path, realms_of: Mapping[str, tuple[str, ...]]) -> DriftComparison | None:
    """Read what `keep` noted; None for a folder where nothing was.

    Raises:
        UsageError: the folder was altered.
    """
    try:
        settings = read_file(run_folder / SETTINGS_FILE, DriftSettings)
    except FileNotFoundError:
        return None
    copy = run_folder / BASELINE_FILE
    if not settings.known:
        return DriftComparison(settings.mode, settings.baseline, None)
    accepted = read(copy, realms_of)
    if accepted is None:
        raise UsageError(f"{copy} is absent: the run folder is not complete")
    return DriftComparison(settings.mode, settings.baseline, accepted)


def select_facts(facts: Facts, clauses: Collection[str], realms: Collection[str]) -> Facts:
    """Return the facts of these clauses and realms; empty collections choose all."""
    return {
        place: values
        for place, values in facts.items()
        if (not clauses or place.clause in clauses) and (not realms or place.realm in realms)
    }


def accept_facts(accepted: Facts, seen: Facts, changes: Collection[Change]) -> Facts:
    """Put what a run saw into what was accepted.

    Args:
        seen: the facts of the run that are accepted now.
        changes: how they differ (`compare`).

    Returns:
        The facts of the new baseline. What the run did not observe stays, and so does what is wider than the run
        shows without contradicting it: a run sees a sample.
    """
    merged: Facts = {place: dict(values) for place, values in accepted.items()}
    for place, facts in seen.items():
        facts_kept = merged.setdefault(place, {})
        for point in _changed_at(place, changes):
            _take_out(facts_kept, point)
        _forget_outlived(facts_kept, facts)
        for path, value in facts.items():
            facts_kept.setdefault(path, value)
    return {place: values for place, values in sorted(merged.items()) if values}


def _changed_at(place: Place, changes: Collection[Change]) -> list[str]:
    return [
        change.point
        for change in changes
        if (change.clause, change.operation) == place[:2] and place.realm in change.realms
    ]


def _take_out(facts: dict[str, Value], point: str) -> None:
    """Remove a fact and those of members inside it, which went or changed with it."""
    for path in [path for path in facts if path == point or path.startswith((f"{point}.", f"{point}["))]:
        del facts[path]


def _forget_outlived(accepted: dict[str, Value], facts: dict[str, Value]) -> None:
    """Drop the shapes of successes whose status has given way to one that was never seen before."""
    before = {status for path in accepted if (status := status_of(path)) and status < "400"}
    now = {status for path in facts if (status := status_of(path)) and status < "400"}
    if not now - before:
        return
    for path in [path for path in accepted if status_of(path) in before - now]:
        del accepted[path]
