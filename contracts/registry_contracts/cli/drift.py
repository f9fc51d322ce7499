"""`registry-contracts drift`: compares observations at silent points with the accepted baseline."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from registry_contracts.cli.options import known_realms, print_lines, reports, run_option
from registry_contracts.errors import ExitCode, UsageError
from registry_contracts.evidence.run_comparison import read_observations
from registry_contracts.file_formats import plain
from registry_contracts.history import baseline as baselines
from registry_contracts.history.baseline import accept_facts, select_facts
from registry_contracts.history.drift import (
    between_realms,
    change_lines,
    compare,
    counted,
    new_facts,
    realm_difference_lines,
)
from registry_contracts.history.observed_facts import Change, Facts, Severity
from registry_contracts.interface.catalogue import load_catalogue
from registry_contracts.plugin.run_options import BASELINE, CLAUSE, REALM
from registry_contracts.reports.kept_runs import run_folder
from registry_contracts.safe_text import json_text, many, plain_line


@dataclass(frozen=True)
class _Run:
    """One run's observations and its target's accepted baseline, both limited by the options."""

    name: str
    target: str
    path: Path
    accepted: Facts | None
    facts: Facts

    @property
    def changes(self) -> tuple[Change, ...]:
        """How the run differs from the baseline."""
        return compare(self.accepted or {}, self.facts)


@click.command()
@click.argument("words", metavar="[accept] [RUN]", nargs=-1)
@run_option(REALM, help="Only this realm; may be repeated.")
@run_option(CLAUSE, help="Only this clause; may be repeated.")
@run_option(BASELINE)
@reports
@click.option("--between-realms", "beside", is_flag=True, help="Show differences between realms.")
@click.option("--json", "as_json", is_flag=True, help="Print the changes as JSON.")
def command(*, words: tuple[str, ...], beside: bool, as_json: bool, **where: Any) -> int:
    """Compare the observations of RUN (by default the latest) with the accepted baseline of its target.

    `accept` writes these observations into the baseline; other entries stay.

    Exit codes: 0 no breaking drift, 1 breaking drift, 4 usage.

    \b
    Examples:
      registry-contracts drift
      registry-contracts drift --realm abs-dev --json
      registry-contracts drift accept
      registry-contracts drift --between-realms
    """  # noqa: D301 - click's mark for lines to be left as they are
    accepting = words[:1] == ("accept",)
    names = words[1:] if accepting else words
    if names[1:]:
        raise UsageError(f"only one run can be compared; remove '{names[1]}'")
    seen = _load(run=next(iter(names), None), **where)
    if accepting:
        return _accept(seen)
    if where["baseline"] and seen.accepted is None:
        raise UsageError(f"there is no baseline {seen.path}; `registry-contracts drift accept` writes it")
    if beside:
        return _show_realms(seen, as_json=as_json)
    if as_json:
        click.echo(json_text([plain(change) for change in seen.changes], indent=2))
    elif seen.accepted is None:
        accept = f"`registry-contracts drift accept` writes {seen.path}"
        nothing = f"{seen.name} has no observation to write into one"
        click.echo(f"no baseline of {plain_line(seen.target)} yet; {accept if seen.facts else nothing}")
    else:
        _echo_changes(seen)
    return (
        ExitCode.FAIL
        if any(change.severity is Severity.BREAKING for change in seen.changes)
        else ExitCode.PASS
    )


def _accept(seen: _Run) -> int:
    if not seen.facts:
        click.echo(f"nothing to accept: {seen.name} has no observation to write into {seen.path}")
        return 0
    before = seen.accepted or {}
    changes, fresh = seen.changes, new_facts(before, seen.facts)
    merged = accept_facts(before, seen.facts, changes)
    if merged == before:
        click.echo(f"nothing to accept: {seen.path} already holds all observations of {seen.name}")
        return 0
    baselines.write(seen.path, baselines.Baseline(seen.target, merged))
    print_lines(change_lines(changes))
    if new := fresh.total():
        click.echo(f"new ({new})")
        print_lines(f"  {clause}: {count}" for clause, count in fresh.items())
    click.echo(
        f"accepted {many(len(changes), 'change')} and {many(new, 'new fact')} of {seen.name}: {seen.path}"
    )
    return 0


def _load(
    *, run: str | None, reports: Path, baseline: str | None, clause: tuple[str, ...], realm: tuple[str, ...]
) -> _Run:
    catalogue = load_catalogue()
    clauses = [catalogue.clause(name).id for name in clause]
    known_realms(realm)
    folder = run_folder(reports, run)
    seen = read_observations(folder)
    target = seen.target
    path = Path(baseline) if baseline else baselines.path_of(target)
    accepted = baselines.read(path)
    if accepted is not None and accepted.target != target:
        raise UsageError(
            f"{path} is the baseline of {accepted.target}, and {folder.name} was run on {target}"
        )
    facts = select_facts(seen.facts, clauses, realm)
    return _Run(folder.name, target, path, accepted.facts if accepted else None, facts)


def _echo_changes(seen: _Run) -> None:
    print_lines(change_lines(seen.changes))
    new = new_facts(seen.accepted or {}, seen.facts).total()
    further = f"; {many(new, 'fact')} not accepted yet" if new else ""
    counts = counted(seen.changes) if seen.changes else "no drift"
    click.echo(f"{counts}: {seen.name} against {seen.path}{further}")


def _show_realms(seen: _Run, *, as_json: bool) -> int:
    differences = between_realms(seen.facts)
    if as_json:
        click.echo(json_text(plain(differences), indent=2))
        return 0
    print_lines(realm_difference_lines(differences))
    click.echo(f"{many(len(differences), 'point')} on which the realms of {plain_line(seen.target)} differ")
    return 0
