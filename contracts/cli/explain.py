"""`registry-contracts explain`: describes a clause or an operation, and its status."""

from __future__ import annotations

import difflib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import click

from contracts.checks.table import UNIVERSAL
from contracts.cli import completion
from contracts.cli.manual_commands import labelled
from contracts.cli.options import as_json, kept_reports, print_lines
from contracts.errors import UsageError
from contracts.file_formats import plain
from contracts.interface.catalogue import Clause, Level, load_catalogue
from contracts.interface.clause_table import known_cases
from contracts.interface.description import Operation, load_description
from contracts.manual.sandbox_setup import defects
from contracts.reports.kept_runs import LastRun, deviations, history_of, last_run
from contracts.safe_text import many

_LETTERS: Final = {
    "pass": "p",
    "observed": "o",
    "fail": "F",
    "advisory": "A",
    "deviation": "D",
    "inconclusive": "?",
}
_COLOURS: Final = {"pass": "green", "observed": "green", "fail": "red", "error": "red"}
_PROTECTED: Final = {
    True: "needs a token",
    False: "needs no token",
    None: "whether a token is needed is not shown",
}


@click.command()
@click.argument("name", metavar="CLAUSE|OPERATION", shell_complete=completion.clauses_and_operations)
@kept_reports
@as_json
def command(*, name: str, reports: Path, as_json: bool) -> int:
    """Say what a clause or an operation is about: wording, source, cases, last verdicts, defects that prove it.

    Exit codes: 0 described, 4 there is no such clause or operation.

    \b
    Examples:
      registry-contracts explain uid-too-short
      registry-contracts explain saveDraft
      registry-contracts explain workflow-locked-record --json
    """  # noqa: D301 - click's mark for lines to be left as they are
    catalogue, description = load_catalogue(), load_description()
    if name in catalogue:
        facts = _clause(catalogue.clause(name), reports)
        lines = _clause_lines(facts)
    elif operation := _operation_named(name):
        facts = _operation(operation)
        lines = _operation_lines(facts)
    else:
        names = [*description.operations, *(clause.id for clause in catalogue)]
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


def _operation_named(name: str) -> Operation | None:
    operations = load_description().operations
    return next((operation for key, operation in operations.items() if key.lower() == name.lower()), None)


def _clause(clause: Clause, reports: Path) -> dict[str, Any]:
    """Everything there is to say about a clause, as plain data."""
    run, broken = last_run(reports), defects()
    return {
        "id": clause.id,
        "level": str(clause.level),
        "wording": clause.wording,
        "source": clause.source,
        "operations": list(clause.operations),
        "realms": list(clause.realms),
        "needs": list(clause.needs),
        "faults": list(clause.faults),
        "status": clause.status,
        "message": clause.message,
        "untested": clause.untested,
        "place": f"openapi/clauses/{clause.place}",
        "cases": list(known_cases().get(clause.id, ())),
        "universal": clause.id in UNIVERSAL,
        "last_run": _last(run, clause.id),
        "history": _history(reports, run, clause.id),
        "deviations": [
            {
                "target": target,
                "realms": list(accepted.realms),
                "operation": accepted.operation,
                "reason": accepted.reason,
            }
            | {"issue": accepted.issue, "expires": accepted.expires.isoformat(), "place": accepted.place}
            for target, accepted in deviations(Path.cwd())
            if accepted.clause == clause.id
        ],
        "defects": None
        if broken is None
        else [
            {"name": defect.name, "sentence": defect.sentence}
            for defect in broken
            if defect.clause == clause.id
        ],
    }


def _last(run: LastRun | None, clause: str) -> dict[str, Any] | None:
    if run is None:
        return None
    facts = {"run": run.name, "target": run.target, "profile": run.profile, "started": run.started}
    return {**facts, "realms": plain(run.cells.get(clause, {}))}


def _history(reports: Path, run: LastRun | None, clause: str) -> dict[str, Any]:
    history = history_of(reports, run.target if run else None)
    return {
        realm: {
            "verdicts": list(trend.verdicts),
            "last_green": trend.last_green,
            "red_since": trend.red_since,
        }
        for (name, realm), trend in history.items()
        if name == clause
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
    untested = facts["untested"] or (
        "judged on every exchange of every case" if facts["universal"] else "none"
    )
    yield from _several("cases", facts["cases"], untested)
    yield from _verdict_lines(facts)
    accepted = [
        f"{deviation['target']} until {deviation['expires']}: {deviation['reason']}"
        for deviation in facts["deviations"]
    ]
    yield from _several("accepted", accepted, "no deviation")
    if facts["defects"] is None:
        yield labelled("defects", "known where the sandbox is installed")
    else:
        yield from _several(
            "defects", [f"{defect['name']}: {defect['sentence']}" for defect in facts["defects"]], "none"
        )
    yield from _several("try", _tries(facts), "")


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
        strip = "".join(_LETTERS.get(verdict, "E") for verdict in history.get(realm, {}).get("verdicts", ()))
        findings = f", findings {', '.join(cell['findings'])}" if cell["findings"] else ""
        reason = cell["reason"] or many(cell["assertions"], "assertion")
        coloured = click.style(f"{verdict:<12}", fg=_COLOURS.get(verdict, "yellow"))
        yield labelled("", f"{realm:<8} {coloured} {reason}{findings}{f'  [{strip}]' if strip else ''}")


def _tries(facts: dict[str, Any]) -> list[str]:
    tries = [f"registry-contracts run --clause {facts['id']}"]
    fault = next((fault for fault in facts["faults"] if "*" not in fault), None)
    if fault is not None:
        tries.append(f"registry-contracts call {facts['operations'][0]} --invalid {fault}")
    return tries


def _several(label: str, texts: Iterable[str], otherwise: str) -> Iterator[str]:
    lines = list(texts) or [otherwise]
    for number, text in enumerate(lines):
        yield labelled("" if number else label, text)


def _operation(operation: Operation) -> dict[str, Any]:
    """Everything there is to say about an operation, as plain data."""
    clauses = load_catalogue().by_operation(operation.id)
    return {
        "id": operation.id,
        "method": operation.method,
        "path": operation.path,
        "summary": operation.summary,
        "realms": list(operation.realms),
        "protected": operation.protected,
        "path_parameters": list(operation.path_parameters),
        "query_parameters": list(operation.query_parameters),
        "takes_realm": operation.takes_realm,
        "clauses": {
            str(level): [clause.id for clause in clauses if clause.level is level] for level in Level
        },
    }


def _operation_lines(facts: dict[str, Any]) -> Iterator[str]:
    yield click.style(facts["id"], bold=True) + f"  {facts['method']} {facts['path']}"
    yield facts["summary"]
    yield ""
    realms = "knows no realm" if facts["realms"] == ["any"] else ", ".join(facts["realms"])
    header = "" if facts["takes_realm"] or facts["realms"] == ["any"] else " (without a Realm header)"
    yield labelled("realms", realms + header)
    yield labelled("token", _PROTECTED[facts["protected"]])
    for place in ("path", "query"):
        if facts[f"{place}_parameters"]:
            yield labelled(place, ", ".join(facts[f"{place}_parameters"]))
    counts = Counter({level: len(names) for level, names in facts["clauses"].items()})
    yield labelled("clauses", ", ".join(f"{number} {level}" for level, number in counts.items()))
    for level, names in facts["clauses"].items():
        yield labelled(f"  {level}", ", ".join(names) or "none")
    examples = [
        f"registry-contracts call {facts['id']}",
        f"registry-contracts call {facts['id']} --invalid list",
    ]
    yield from _several("try", [*examples, f"registry-contracts run --operation {facts['id']}"], "")
