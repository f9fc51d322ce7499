"""`registry-contracts explain`: describes a clause, with its cases, variants, verdicts and faults."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import click
from msgspec import structs

from registry_contracts.checks.table import UNIVERSAL
from registry_contracts.cli.list import faults, variants
from registry_contracts.cli.options import as_json, kept_reports, labelled, print_lines
from registry_contracts.errors import UsageError
from registry_contracts.file_formats import plain
from registry_contracts.history import runs
from registry_contracts.interface.catalogue import Clause, load_catalogue
from registry_contracts.interface.description import load_description
from registry_contracts.interface.known_cases import known_cases, relied_on
from registry_contracts.reports.kept_runs import deviations, last_run
from registry_contracts.safe_text import cut, many

_COLOURS: Final = {"pass": "green", "observed": "green", "fail": "red", "error": "red"}
#: Characters of a reason beside a finding, which holds all of it.
_LONGEST_SEEN: Final = 60


@click.command()
@click.argument("name", metavar="CLAUSE")
@kept_reports
@as_json
def command(*, name: str, reports: Path, as_json: bool) -> int:
    """Describe a clause: wording, source, cases, services that these spare, last verdicts, faults that prove it.

    Verdicts read from old to new: p pass, o observed, F fail, A advisory, D deviation, ? inconclusive, E error.

    Exit codes: 0 described, 4 no clause of this name.

    \b
    Examples:
      registry-contracts explain uid-too-short
      registry-contracts explain workflow-locked-record --json
    """  # noqa: D301 - click's mark for lines to be left as they are
    if name in load_description().operations:
        listing = f"`registry-contracts list clauses --operation {name}`"
        raise UsageError(f"'{name}' is an operation: {listing} lists its clauses")
    facts = _clause(load_catalogue().clause(name), reports)
    if as_json:
        click.echo(json.dumps(facts, indent=2, ensure_ascii=False))
    else:
        print_lines(_clause_lines(facts))
    return 0


def _clause(clause: Clause, reports: Path) -> dict[str, Any]:
    """Collect all facts about a clause, as plain data."""
    kept, proving, sentences = last_run(reports), None, dict[str, str]()
    with suppress(UsageError):  # the sandbox is an optional extra
        proving = faults(fixed=True)
        sentences = {each["id"]: each["sentence"] for each in variants()}
    last, target = None, None
    if kept is not None:
        name, run = kept
        target = run.target.name
        last = {"run": name, "target": target, "profile": run.profile, "started": run.started}
        last |= {"realms": plain(run.cells_of(clause.id))}
    past = runs.past_of(runs.read(reports / runs.FILE_NAME), target)
    accepted = [(target, entry) for target, entry in deviations(Path.cwd()) if entry.clause == clause.id]
    return {
        **plain(clause),
        "place": f"openapi/clauses/{clause.place}",
        "cases": list(known_cases().get(clause.id, ())),
        "relies_on": list(relied_on().get(clause.id, ())),
        "universal": clause.id in UNIVERSAL,
        "spares": [{"name": name, "sentence": sentences.get(name, "")} for name in clause.spares],
        "last_run": last,
        "history": {
            realm: structs.asdict(trend) | {"line": f"  [{trend.letters}] {trend.since}"}
            for realm, trend in past.cells.get(clause.id, {}).items()
        },
        "deviations": [
            {"target": target, **plain(entry), "place": entry.place} for target, entry in accepted
        ],
        "proven_by": proving
        and [
            {"name": each["id"], "sentence": each["sentence"]}
            for each in proving
            if clause.id in each["clauses"]
        ],
    }


def _clause_lines(facts: dict[str, Any]) -> Iterator[str]:
    yield click.style(f"{facts['id']} ({facts['level']})", bold=True)
    yield facts["wording"]
    if facts["otherwise"]:
        yield f"Advisory, as the document has another reading: {facts['otherwise']}."
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
    yield labelled("relies on", ", ".join(facts["relies_on"]) or "no other clause")
    if facts["spares"]:
        yield from _several("spares", [f"{each['name']}: {each['sentence']}" for each in facts["spares"]], "")
    yield from _verdict_lines(facts)
    accepted = [
        f"{entry['target']} until {entry['expires']}: {entry['reason']}" for entry in facts["deviations"]
    ]
    yield from _several("accepted", accepted, "no deviation")
    proving = facts["proven_by"]
    missing = "no fault" if proving is not None else "unknown, as the sandbox is not installed"
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
        reason = cut(reason, _LONGEST_SEEN) if findings else reason
        coloured = click.style(f"{verdict:<12}", fg=_COLOURS.get(verdict, "yellow"))
        trend = history[realm]["line"] if realm in history else ""
        yield labelled("", f"{realm:<8} {coloured} {reason}{findings}{trend}")


def _several(label: str, texts: Iterable[str], otherwise: str) -> Iterator[str]:
    for number, text in enumerate(list(texts) or [otherwise]):
        yield labelled("" if number else label, text)
