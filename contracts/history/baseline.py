"""The baseline: what people accepted of one target, as a YAML file that reviews well in a diff.

Sorted, one fact a line, each clause under its wording; a value stands once where all realms agree and for each realm
where they do not. YAML libraries that write comments reorder or rewrap them, so the few lines are written here; they
are read by PyYAML.

What a run was compared with, kept in its own folder, so that its reports can be made again.

Accepting what a run observed: the baseline takes over what changed and what is new, and keeps all else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import yaml

from contracts.errors import UsageError
from contracts.history.drift_report import Mode
from contracts.history.observed_facts import Change, Facts, Place, Value, status_of, text_of
from contracts.interface.operations import ANY_REALM

FOLDER: Final = Path("baselines")
_FORMAT: Final = 1
_KEYS: Final = frozenset({"format", "target", "realms", "facts"})
_WIDE: Final = 1_000_000


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
        text = path.read_text("utf-8")
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
        content = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise UsageError(f"{shown}:{line}: is not YAML: {error.problem}") from error
    if not isinstance(content, dict) or set(content) != _KEYS or content["format"] != _FORMAT:
        raise UsageError(
            f"{shown} is no baseline of this version: it needs format: {_FORMAT}, target, realms and facts; "
            "`drift accept` writes one"
        )
    facts: Facts = {}
    realms = [text_of(realm) for realm in content["realms"] or ()]
    for clause, operation, point, value in _entries(content["facts"] or {}, shown):
        if operation not in realms_of:
            raise UsageError(f"{shown}: {clause}: there is no operation '{operation}'")
        for realm, said in _by_realm(value, _concerned(realms_of[operation], realms)):
            facts.setdefault(Place(clause, operation, realm), {})[point] = _value(said)
    return Baseline(text_of(content["target"]), facts)


def _entries(facts: Any, shown: str) -> Iterator[tuple[str, str, str, Any]]:
    for clause, operations in _mapping(facts, "facts", shown):
        for operation, points in _mapping(operations, clause, shown):
            for point, value in _mapping(points, f"{clause}: {operation}", shown):
                if value is None:
                    raise UsageError(
                        f"{shown}: {clause}: {operation}: {point} has no value; take the line out"
                    )
                yield clause, operation, point, value


def _mapping(value: Any, where: str, shown: str) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, dict):
        raise UsageError(f"{shown}: {where} is not a mapping; `drift accept` writes it anew")
    return ((text_of(key), member) for key, member in value.items())


def _by_realm(value: Any, realms: list[str]) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        return ((text_of(realm), said) for realm, said in value.items())
    return ((realm, value) for realm in realms)


def _value(said: Any) -> Value:
    return tuple(sorted(text_of(each) for each in said)) if isinstance(said, list) else text_of(said)


def _concerned(has: tuple[str, ...], realms: list[str]) -> list[str]:
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
            known = {place.realm: baseline.facts[place] for place in places}
            concerned = _concerned(realms_of.get(operation, ()), realms)
            yield from _points(known, concerned)


def _points(known: Mapping[str, Mapping[str, Value]], concerned: list[str]) -> Iterator[str]:
    for point in sorted({point for facts in known.values() for point in facts}):
        said = {realm: facts[point] for realm, facts in known.items() if point in facts}
        one = set(said.values())
        if len(one) == 1 and sorted(said) == sorted(concerned):
            yield f"      {_scalar(point)}: {_shown(one.pop())}"
            continue
        yield f"      {_scalar(point)}:"
        for realm, value in sorted(said.items()):
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


@dataclass(frozen=True, slots=True)
class Kept:
    """What a run folder says about drift; `baseline` is None when there was no file at `path`."""

    mode: Mode
    path: str
    baseline: Baseline | None


def keep(run_folder: Path, mode: Mode, path: Path, realms_of: Mapping[str, tuple[str, ...]]) -> None:
    """Note in a run folder how its drift is to be judged, and copy the baseline as it is now.

    Raises:
        UsageError: the baseline cannot be read or used.
    """
    known = mode is not Mode.OFF and read(path, realms_of) is not None
    if known:
        (run_folder / BASELINE_FILE).write_text(path.read_text("utf-8"), "utf-8")
    content = {"mode": str(mode), "baseline": path.as_posix(), "known": known}
    (run_folder / SETTINGS_FILE).write_text(json.dumps(content) + "\n", "utf-8")


def kept(run_folder: Path, realms_of: Mapping[str, tuple[str, ...]]) -> Kept | None:
    """Read what `keep` noted; None for a folder where nothing was.

    Raises:
        UsageError: the folder was altered.
    """
    settings = run_folder / SETTINGS_FILE
    try:
        content = json.loads(settings.read_text("utf-8"))
        mode, path, known = Mode(content["mode"]), str(content["baseline"]), bool(content["known"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{settings} was altered: {error}") from error
    copy = run_folder / BASELINE_FILE
    if not known:
        return Kept(mode, path, None)
    try:
        return Kept(mode, path, parse(copy.read_text("utf-8"), str(copy), realms_of))
    except FileNotFoundError as error:
        raise UsageError(f"{copy} is absent: the run folder is not complete") from error


def chosen(facts: Facts, clauses: Collection[str], realms: Collection[str]) -> Facts:
    """Return the facts of these clauses and realms; empty collections choose all."""
    return {
        place: values
        for place, values in facts.items()
        if (not clauses or place.clause in clauses) and (not realms or place.realm in realms)
    }


def accept(accepted: Facts, seen: Facts, changes: Collection[Change]) -> Facts:
    """Put what a run saw into what was accepted.

    Args:
        accepted: the facts of the baseline.
        seen: the facts of the run that are accepted now.
        changes: how they differ (`compare`).

    Returns:
        The facts of the new baseline. What the run did not observe stays, and so does what is wider than the run
        shows without contradicting it: a run sees a sample.
    """
    merged: Facts = {place: dict(values) for place, values in accepted.items()}
    for place, facts in seen.items():
        known = merged.setdefault(place, {})
        for point in _changed_at(place, changes):
            _take_out(known, point)
        _forget_outlived(known, facts)
        for path, value in facts.items():
            known.setdefault(path, value)
    return {place: values for place, values in sorted(merged.items()) if values}


def _changed_at(place: Place, changes: Collection[Change]) -> list[str]:
    return [
        change.point
        for change in changes
        if (change.clause, change.operation) == place[:2] and place.realm in change.realms
    ]


def _take_out(known: dict[str, Value], point: str) -> None:
    """Remove a fact and those of members inside it, which went or changed with it."""
    for path in [path for path in known if path == point or path.startswith((f"{point}.", f"{point}["))]:
        del known[path]


def _forget_outlived(known: dict[str, Value], facts: dict[str, Value]) -> None:
    """Drop the shapes of successes whose status has given way to one that was never seen before."""
    before = {status for path in known if (status := status_of(path)) and status < "400"}
    now = {status for path in facts if (status := status_of(path)) and status < "400"}
    if not now - before:
        return
    for path in [path for path in known if status_of(path) in before - now]:
        del known[path]
