"""The baseline: what people accepted of one target, as a YAML file that reviews well in a diff.

Sorted, one fact a line, each clause under its wording; a value stands once where all realms agree and for each realm
where they do not. YAML libraries that write comments reorder or rewrap them, so the few lines are written here; they
are read by PyYAML.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import yaml

from contracts.drift.facts import Facts, Place, Value, text_of
from contracts.errors import UsageError
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
