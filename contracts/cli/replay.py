"""`registry-contracts replay`: sends the requests of a finding or an archive again, on fresh data."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import click

from contracts.cli import manual_commands
from contracts.cli.options import as_json, print_lines
from contracts.errors import UsageError, suggestion
from contracts.exchanges.transcript import curl
from contracts.interface.catalogue import load_catalogue
from contracts.interface.operations import ANY_REALM
from contracts.manual.manual_session import Leftovers, ManualSession, SessionOptions, open_manual_session
from contracts.manual.recorded_sequence import RecordedSequence, find, read_entries
from contracts.manual.replay import Outcome, Replayed, make_ready, replay, rounds_for, together
from contracts.safe_text import json_text, many, printable
from contracts.settings.guard import refuse_production_realm
from contracts.settings.settings_reader import load_target
from contracts.settings.target import SANDBOX, Target, target_in_words

_COLOURS: Final = {
    Outcome.REPRODUCED: "red",
    Outcome.INTERMITTENT: "yellow",
    Outcome.NOT: "green",
    Outcome.UNDECIDED: "yellow",
}


_SANDBOX_ARGUMENTS: Final = "--sandbox-arguments="
_NO_CHECK: Final = "comparing the answers with the recorded ones: the finding names no check of the table"


@click.command()
@click.argument("finding")
@click.option("--finding", "chosen", metavar="ID", help="Which finding of a folder or zip with several.")
@click.option("--entries", metavar="N-M", help="Which requests of a HAR, counted from 1.")
@click.option(
    "--times",
    metavar="N",
    type=click.IntRange(1, 100),
    help="How often; by default 3, and 1 where a round leaves what cannot be removed.",
)
@click.option("-v", "--verbose", is_flag=True, help="Show every exchange in full.")
@as_json
@manual_commands.options
def command(
    *,
    finding: str,
    chosen: str | None,
    entries: str | None,
    times: int | None,
    verbose: bool,
    as_json: bool,
    realm: str | None,
    **where: Any,
) -> int:
    """Send the sequence of a FINDING again: same shape, fresh data, against the same or another target or realm.

    Without --target it goes to the target that it was recorded on, or nowhere.

    FINDING is the id of a finding of your runs (or its beginning), a findings/<id>.json, a run folder, a zip of
    either from another machine, a HAR, or what `call --save` kept. What the old run called its records is renamed
    into the namespace of this one; tokens come from the accounts of the target; ids that the service gives are
    carried over from its answers.

    Exit codes: 0 it does not come back, 1 it does, sometimes or always, 4 usage (nothing was sent), 6 the environment.

    \b
    Examples:
      registry-contracts replay 3f0c2a91bd
      registry-contracts replay nightly-report.zip --finding 3f0c --target dev --times 5
      registry-contracts replay reports/latest --realm bch-dev
      registry-contracts replay session.har --entries 3-7 --target sandbox
    """  # noqa: D301 - click's mark for lines to be left as they are
    session_options, left = manual_commands.session_options(**where), Leftovers()
    sequence = find(finding, session_options.reports, chosen, read_entries(entries) if entries else None)
    session_options = _own_target(sequence, session_options)
    with manual_commands.reporting_left(left), open_manual_session(session_options, left) as session:
        place = _realm(sequence, realm, session.target)
        make_ready(session, sequence)
        rounds = [replay(session, sequence, place, n) for n in range(rounds_for(sequence, times))]
        data = _as_data(session, sequence, place, rounds)
        lines = list(_lines(session, sequence, place, rounds, verbose=verbose))
    if as_json:
        click.echo(json_text(data, indent=2))
    else:
        print_lines(lines)
    manual_commands.print_left(left)
    return int(data["exit_code"])


def _own_target(sequence: RecordedSequence, options: SessionOptions) -> SessionOptions:
    """Aim at the target that a sequence was recorded on, unless a person named another.

    Raises:
        UsageError: its settings are not found here, or aim at another address.
    """
    if options.target is not None or options.sandbox_arguments or not sequence.target:
        return options
    words = shlex.split(sequence.found.command) if sequence.found else []
    recorded_on = target_in_words(sequence.target, sequence.base_url)
    if recorded_on == target_in_words(SANDBOX, sequence.base_url):
        arguments = next((word for word in words if word.startswith(_SANDBOX_ARGUMENTS)), "")
        given = shlex.split(arguments.removeprefix(_SANDBOX_ARGUMENTS))
        return replace(options, target=SANDBOX, sandbox_arguments=tuple(given))
    named = words[words.index("--target") + 1] if "--target" in words[:-1] else sequence.target
    for name in dict.fromkeys((named, sequence.target, None)):
        with suppress(UsageError):
            target = load_target(name, os.environ, Path.cwd())
            if target is not None and target.base_url == sequence.base_url:
                return replace(options, target=name)
    raise UsageError(
        f"{sequence.source} was recorded on {recorded_on}, whose settings are not found here; "
        "name with --target where to send it"
    )


def _realm(sequence: RecordedSequence, chosen: str | None, target: Target) -> str:
    refuse_production_realm(chosen)
    if chosen is not None and sequence.realm == ANY_REALM:
        raise UsageError(
            f"{sequence.what}: the sequence names no realm of its own, or several; leave --realm out"
        )
    place = chosen or sequence.realm
    if place != ANY_REALM and place not in target.realms:
        raise UsageError(f"{target.name} has no realm '{place}'; {suggestion(place, target.realms)}")
    return place


def _lines(
    session: ManualSession, sequence: RecordedSequence, realm: str, rounds: list[Replayed], *, verbose: bool
) -> Iterator[str]:
    finding = sequence.found
    yield click.style(sequence.what, bold=True)
    yield manual_commands.labelled(
        "from", f"{sequence.source}{f', recorded on {sequence.target}' if sequence.target else ''}"
    )
    yield manual_commands.labelled(
        "to", f"{session.target.in_words}{f', {realm}' if realm != ANY_REALM else ''}"
    )
    if finding is not None:
        yield manual_commands.labelled("expected", finding.expected)
        yield manual_commands.labelled("seen then", printable(finding.seen))
        yield manual_commands.labelled(
            "judged by", f"the check {finding.check}" if finding.check else _NO_CHECK
        )
    if sequence.left_out:
        yield manual_commands.labelled(
            "left out",
            f"{many(sequence.left_out, 'request')} of the suite's own, or no operation of the interface",
        )
    for number, done in enumerate(rounds, 1):
        yield ""
        yield from _round(session, done, number, rounds[: number - 1], verbose=verbose)
    yield ""
    yield _verdict(rounds, sequence)
    if finding is not None and finding.command:
        yield manual_commands.unwrapped("by cases", finding.command)


def _round(
    session: ManualSession, done: Replayed, number: int, before: list[Replayed], *, verbose: bool
) -> Iterator[str]:
    yield (
        click.style(f"round {number}: ", bold=True)
        + click.style(done.outcome, fg=_COLOURS[done.outcome])
        + f", {done.why}"
    )
    for pair in done.pairs:
        recorded = session.notes.of(pair.new)
        then = f" (was {pair.old.status})" if pair.old.status is not None else ""
        mark = "  " if pair.decisive else "  first: "
        yield f"{mark}{manual_commands.one_line(recorded)}{then}"
        if verbose:
            yield from (f"    {line}" for line in list(manual_commands.exchange_lines(recorded))[1:])
    if verbose or not any(_shows(done) == _shows(earlier) for earlier in before):
        yield from _shown(done)


def _shows(done: Replayed) -> tuple[object, ...]:
    """What a round shows, so that the same is not printed twice."""
    clauses = tuple(finding.clause for judged in done.judgements for finding in judged.findings)
    return clauses, tuple((label, difference.partition(",")[0]) for label, difference in done.differences)


def _shown(done: Replayed) -> Iterator[str]:
    for label, difference in done.differences:
        yield manual_commands.unwrapped("  differs", f" {label}: {difference}")
    catalogue = load_catalogue()
    for judged in done.judgements:
        for finding in judged.findings:
            yield from manual_commands.finding_lines(finding, catalogue)


def _verdict(rounds: list[Replayed], sequence: RecordedSequence) -> str:
    outcome, again, decided = together(rounds)
    rate = (
        f" in {many(decided, 'round')}"
        if outcome is Outcome.NOT
        else f" in {again} of {many(decided, 'round')}"
        if decided
        else ""
    )
    spoilt = len(rounds) - decided
    rest = f"; {many(spoilt, 'round')} could not tell: {_last_why(rounds)}" if spoilt else ""
    before = sequence.found.rate if sequence.found else None
    then = f" (then: {before[0]} of {before[1]})" if before else ""
    return click.style(str(outcome), fg=_COLOURS[outcome], bold=True) + f"{rate}{then}{rest}"


def _last_why(rounds: list[Replayed]) -> str:
    return next(attempt.why for attempt in reversed(rounds) if attempt.outcome is Outcome.UNDECIDED)


def _as_data(
    session: ManualSession, sequence: RecordedSequence, realm: str, rounds: list[Replayed]
) -> dict[str, Any]:
    outcome, again, decided = together(rounds)
    return {
        "source": sequence.source,
        "finding": sequence.found.id if sequence.found else None,
        "clause": sequence.found.clause if sequence.found else None,
        "target": session.target.name,
        "realm": realm,
        "outcome": str(outcome),
        "rate": [again, decided],
        "rounds": [
            {
                "outcome": str(attempt.outcome),
                "why": attempt.why,
                "differences": [f"{label}: {difference}" for label, difference in attempt.differences],
                "exchanges": [
                    {
                        "operation": pair.new.operation,
                        "decisive": pair.decisive,
                        "was": pair.old.status,
                        "is": pair.new.response.status if pair.new.response else None,
                        "curl": curl(pair.new, session.redactor),
                    }
                    for pair in attempt.pairs
                ],
                "contradicted": [
                    finding.clause for judged in attempt.judgements for finding in judged.findings
                ],
            }
            for attempt in rounds
        ],
        "exit_code": _code(sequence, rounds),
    }


def _code(sequence: RecordedSequence, rounds: list[Replayed]) -> int:
    outcome, _, _ = together(rounds)
    if outcome is Outcome.UNDECIDED:
        return manual_commands.INCONCLUSIVE
    if sequence.found is not None:
        return manual_commands.NO_FINDING if outcome is Outcome.NOT else manual_commands.FINDING
    contradicted = any(judged.findings for attempt in rounds for judged in attempt.judgements)
    return manual_commands.FINDING if contradicted else manual_commands.NO_FINDING
