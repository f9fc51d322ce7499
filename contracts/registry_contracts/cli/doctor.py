"""`registry-contracts doctor`: checks whether a target can be judged, and which settings are missing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from registry_contracts.cli.leftovers import left_as_data, print_left, reporting_left
from registry_contracts.cli.options import as_json, print_lines, reports, sandbox_arguments, target, wait
from registry_contracts.cli.run import forecast_of_gate
from registry_contracts.errors import ExitCode
from registry_contracts.file_formats import plain
from registry_contracts.interface.catalogue import load_catalogue
from registry_contracts.manual.manual_session import Leftovers, SessionOptions, open_manual_session
from registry_contracts.manual.readiness import Readiness, examine
from registry_contracts.plugin.forecast import Forecast
from registry_contracts.plugin.preflight import State
from registry_contracts.safe_text import json_text, many, printable

#: By state: the exit code, the colour, and the verdict.
_VERDICTS: Final = {
    State.OK: (ExitCode.PASS, "green", "ready: a run can judge this target"),
    State.NOTE: (ExitCode.PASS, "yellow", ""),
    State.UNKNOWN: (ExitCode.PASS, None, ""),
    State.SETTINGS: (ExitCode.USAGE, "red", "not ready: the settings do not fit the target"),
    State.SERVICE: (
        ExitCode.FAIL,
        "red",
        "not ready: the sign-in breaks the interface, which a run reports as a finding",
    ),
    State.ENVIRONMENT: (
        ExitCode.INCONCLUSIVE,
        "red",
        "not ready: the environment prevents a run",
    ),
}
_WIDEST_SUBJECT: Final = 34


@click.command()
@target
@click.option("--write", is_flag=True, help="Also save a draft, to see whether the accounts may write.")
@wait
@sandbox_arguments
@reports
@as_json
def command(
    *,
    target: str | None,
    write: bool,
    wait: int,
    sandbox_arguments: str,
    reports: Path,
    as_json: bool,
) -> int:
    """Check a target before the first run: whether it answers, which accounts sign in, which realms exist.

    Sends only reads unless --write is given: a sign-in for each account, a list for each realm, and each record in the
    settings. Then prints how many must clauses a run would judge with these settings, and what prevents the others.

    Exit codes: 0 ready, 1 the sign-in breaks the interface, 4 settings that do not fit, 6 the environment.

    \b
    Examples:
      registry-contracts doctor
      registry-contracts doctor --base-url https://registry.example.test
      registry-contracts doctor --target dev.local
      registry-contracts doctor --target dev.local --write --json
    """  # noqa: D301 - click's mark for lines to be left as they are
    left = Leftovers()
    options = SessionOptions(target, sandbox_arguments, reports)
    with reporting_left(left), open_manual_session(options, left) as session:
        readiness = examine(session, write=write, wait_seconds=wait)
        aimed = session.target
    # A target that no run can judge yet costs nothing.
    gate = forecast_of_gate(target, reports) if readiness.state is State.OK else None
    if as_json:
        named = {"target": aimed.name, "base_url": aimed.base_url}
        click.echo(json_text(named | _as_data(readiness, gate, left), indent=2))
    else:
        print_lines(_lines(readiness, gate, aimed.in_words))
        print_left(left)
    return _VERDICTS[readiness.state][0]


def _lines(readiness: Readiness, gate: Forecast | None, in_words: str) -> Iterator[str]:
    yield f"target: {in_words}, {many(readiness.requests, 'request')} in {readiness.seconds:.1f} s"
    yield ""
    longest = max((len(diagnosis.subject) for diagnosis in readiness.diagnoses), default=0)
    for diagnosis in readiness.diagnoses:
        state = click.style(f"{diagnosis.state:<11}", fg=_VERDICTS[diagnosis.state][1])
        yield f"{state}  {diagnosis.subject:<{min(_WIDEST_SUBJECT, longest)}}  {printable(diagnosis.text)}"
    yield ""
    verdict = _VERDICTS[readiness.state][2]
    if gate:
        share = f"{len(gate.musts - gate.lacking_settings)} of {many(len(gate.musts), 'must clause')}"
        beyond = sum(clause.untested is not None for clause in load_catalogue().must)
        yield f"A gate would judge {share} in each of their realms; {beyond} more cannot be judged by any run."
        yield from gate.lines()
        yield ""
        if gate.lacking_settings:
            verdict = (
                f"not ready for a gate: a run can judge {share}; the settings above let it judge the rest"
            )
    yield click.style(verdict, bold=True)


def _as_data(readiness: Readiness, gate: Forecast | None, left: Leftovers) -> dict[str, object]:
    costs = ("requests", "minutes", "permanent_records", "rotated", "untested")
    return {
        "requests": readiness.requests,
        "seconds": round(readiness.seconds, 3),
        "state": readiness.state,
        "exit_code": _VERDICTS[readiness.state][0],
        "diagnoses": [plain(diagnosis) for diagnosis in readiness.diagnoses],
        "must_clauses": {"all": len(gate.musts), "judged": len(gate.musts - gate.lacking_settings)}
        if gate
        else None,
        "costs": {"gate": {name: getattr(gate, name) for name in costs} | {"temporary_files": gate.files}}
        if gate
        else {},
        "left": left_as_data(left),
    }
