"""`registry-contracts explain`: describes a clause or an operation, and its status."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import click
from msgspec import structs

from contracts.checks.table import UNIVERSAL
from contracts.cli.manual_commands import labelled
from contracts.cli.options import as_json, kept_reports, print_lines
from contracts.errors import UsageError
from contracts.file_formats import plain
from contracts.interface.catalogue import Clause, Level, load_catalogue
from contracts.interface.description import Operation, load_description
from contracts.interface.known_cases import known_cases
from contracts.manual.sandbox_setup import faults
from contracts.reports.kept_runs import deviations, history_of, last_run
from contracts.safe_text import many

_COLOURS: Final = {"pass": "green", "observed": "green", "fail": "red", "error": "red"}
_PROTECTED: Final = {
    True: "needs a token",
    False: "needs no token",
    None: "whether a token is needed is not shown",
}

#: What is told of an operation as it is described.
_TOLD: Final = (
    *("id", "method", "path", "summary", "realms", "protected"),
    *("path_parameters", "query_parameters", "takes_realm"),
)


@click.command()
@click.argument("name", metavar="CLAUSE|OPERATION")
@kept_reports
@as_json
def command(*, name: str, reports: Path, as_json: bool) -> int:
    """Say what a clause or an operation is about: wording, source, cases, last verdicts, faults that prove it.

    Verdicts read from old to new: p pass, o observed, F fail, A advisory, D deviation, ? inconclusive, E error.

    Exit codes: 0 described, 4 there is no such clause or operation.

    \b
    Examples:
      registry-contracts explain uid-too-short
      registry-contracts explain saveDraft
      registry-contracts explain workflow-locked-record --json
    """  # noqa: D301 - click's mark for lines to be left as they are
    catalogue, operations = load_catalogue(), load_description().operations
    operation = next((each for key, each in operations.items() if key.lower() == name.lower()), None)
    if name in catalogue:
        facts = _clause(catalogue.clause(name), reports)
        lines = _clause_lines(facts)
    elif operation is not None:
        facts = _operation(operation)
        lines = _operation_lines(facts)
    else:
        names = [*operations, *(clause.id for clause in catalogue)]
        close = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
        advice = (
            f"did you mean {' or '.join(close)}?" if close else "`registry-contracts list clauses` lists them"
        )
        raise UsageError(f"there is no clause and no operation '{name}'; {advice}")
    if as_json:
        click.echo(json.dumps(facts, indent=2, ensure_ascii=False))
    else:
        print_lines(lines)
    return 0


def _clause(clause: Clause, reports: Path) -> dict[str, Any]:
    """Everything there is to say about a clause, as plain data."""
    run, proving = last_run(reports), faults(fixed=True)
    last = None
    if run is not None:
        last = {"run": run.name, "target": run.target, "profile": run.profile, "started": run.started}
        last |= {"realms": plain(run.cells.get(clause.id, {}))}
    trends = history_of(reports, run.target if run else None)
    accepted = [(target, entry) for target, entry in deviations(Path.cwd()) if entry.clause == clause.id]
    return {
        **plain(clause),
        "place": f"openapi/clauses/{clause.place}",
        "cases": list(known_cases().get(clause.id, ())),
        "universal": clause.id in UNIVERSAL,
        "last_run": last,
        "history": {
            realm: structs.asdict(trend) | {"line": f"  [{trend.letters}] {trend.since}"}
            for (name, realm), trend in trends.items()
            if name == clause.id
        },
        "deviations": [
            {"target": target, **plain(entry), "place": entry.place} for target, entry in accepted
        ],
        "proven_by": proving
        and [{"name": each.name, "sentence": each.sentence} for each in proving if clause.id in each.clauses],
    }


def _clause_lines(facts: dict[str, Any]) -> Iterator[str]:
    yield click.style(f"{facts['id']} ({facts['level']})", bold=True)
    yield facts["wording"]
    yield ""
    yield labelled("source", f"{facts['source']}; {facts['place']}")
    if facts["message"]:
        yield labelled("answer", f"{facts['status']} {facts['message']}")
    yield labelled("operations", ", ".join(facts["operations"]))
    yield labelled("realms", ", ".join(facts["realms"]))
    yield labelled("needs", ", ".join(facts["needs"]) or "nothing but an author")
    if facts["faults"]:
        yield labelled("faults", ", ".join(facts["faults"]))
    universal = "judged on every exchange of every case" if facts["universal"] else "none"
    yield from _several("cases", facts["cases"], facts["untested"] or universal)
    yield from _verdict_lines(facts)
    accepted = [
        f"{entry['target']} until {entry['expires']}: {entry['reason']}" for entry in facts["deviations"]
    ]
    yield from _several("accepted", accepted, "no deviation")
    proving = facts["proven_by"]
    missing = (
        "no fault that breaks it alone" if proving is not None else "known where the sandbox is installed"
    )
    yield from _several(
        "proven by", [f"{each['name']}: {each['sentence']}" for each in proving or ()], missing
    )
    tries = [f"registry-contracts run --clause {facts['id']}"]
    fault = next((fault for fault in facts["faults"] if "*" not in fault), None)
    if fault is not None:
        tries.append(f"registry-contracts call {facts['operations'][0]} --invalid {fault}")
    yield from _several("try", tries, "")


def _verdict_lines(facts: dict[str, Any]) -> Iterator[str]:
    last, history = facts["last_run"], facts["history"]
    if last is None:
        yield labelled("verdicts", "no run yet")
        return
    run = f"{last['run']} on {last['target']}, profile {last['profile']}"
    if not last["realms"]:
        yield labelled("verdicts", f"not judged in the last run ({run})")
        return
    yield labelled("verdicts", run)
    for realm, cell in last["realms"].items():
        verdict = str(cell["verdict"])
        findings = f", findings {', '.join(cell['findings'])}" if cell["findings"] else ""
        reason = cell["reason"] or many(cell["assertions"], "assertion")
        coloured = click.style(f"{verdict:<12}", fg=_COLOURS.get(verdict, "yellow"))
        trend = history[realm]["line"] if realm in history else ""
        yield labelled("", f"{realm:<8} {coloured} {reason}{findings}{trend}")


def _several(label: str, texts: Iterable[str], otherwise: str) -> Iterator[str]:
    for number, text in enumerate(list(texts) or [otherwise]):
        yield labelled("" if number else label, text)


def _operation(operation: Operation) -> dict[str, Any]:
    """Everything there is to say about an operation, as plain data."""
    clauses = load_catalogue().by_operation(operation.id)
    by_level = {str(level): [clause.id for clause in clauses if clause.level is level] for level in Level}
    return {name: plain(getattr(operation, name)) for name in _TOLD} | {"clauses": by_level}


def _operation_lines(facts: dict[str, Any]) -> Iterator[str]:
    yield click.style(facts["id"], bold=True) + f"  {facts['method']} {facts['path']}"
    yield facts["summary"]
    yield ""
    without = facts["realms"] == ["any"]
    header = "" if facts["takes_realm"] or without else " (without a Realm header)"
    yield labelled("realms", "knows no realm" if without else ", ".join(facts["realms"]) + header)
    yield labelled("token", _PROTECTED[facts["protected"]])
    for place in ("path", "query"):
        if facts[f"{place}_parameters"]:
            yield labelled(place, ", ".join(facts[f"{place}_parameters"]))
    for level, names in facts["clauses"].items():
        yield labelled(f"{len(names)} {level}", ", ".join(names) or "none")
    name = facts["id"]
    calls = [f"call {name}", f"call {name} --invalid list", f"run --operation {name}"]
    yield from _several("try", [f"registry-contracts {words}" for words in calls], "")
