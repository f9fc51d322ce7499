"""`registry-contracts can-release`: may an SDK be released, by the verdicts of kept runs? No request is sent."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import click

from contracts.cli.options import as_json, known_realms, print_lines, run_option
from contracts.errors import UsageError, suggestion
from contracts.evidence.terms import Consumer, load_terms
from contracts.file_formats import checked, is_file, read_toml_file
from contracts.interface.catalogue import load_catalogue
from contracts.interface.description import load_description
from contracts.plugin.run_options import DEVIATIONS, REALM, TARGET
from contracts.reports.kept_runs import KeptRun, Unreadable, kept_runs
from contracts.reports.release import Question, ReleaseAnswer, answer, length
from contracts.safe_text import cut, json_text, many
from contracts.settings.guard import checked_base_url
from contracts.settings.settings_reader import TARGETS_FOLDER
from contracts.settings.target import DEVELOPMENT_REALMS, SANDBOX

_AGE: Final = re.compile(r"(?P<number>\d+(\.\d+)?)(?P<unit>[mhd])")
_UNITS: Final = {"m": "minutes", "h": "hours", "d": "days"}
_LISTED: Final = 10
_LONGEST: Final = 200


@click.command("can-release")
@click.argument("sources", nargs=-1, type=click.Path(path_type=Path))
@run_option(TARGET, required=True, help="Name of the target as the runs call it, or its settings file.")
@click.option(
    "--consumer", metavar="FILE", help="What the SDK uses, as for a gate; by default the whole interface."
)
@run_option(
    DEVIATIONS, help="Accepted contradictions; by default deviations/<target>.toml, else those of each run."
)
@run_option(REALM, help="Answer for this realm only; may be repeated.")
@click.option(
    "--max-age",
    default="36h",
    show_default=True,
    metavar="AGE",
    help="How long ago a run may have begun: 90m, 36h, 7d.",
)
@click.option("--base-url", metavar="URL", help="Address of the target; runs on another one are passed over.")
@as_json
def command(
    *,
    sources: tuple[Path, ...],
    target: str,
    consumer: str | None,
    deviations: str | None,
    realm: tuple[str, ...],
    max_age: str,
    base_url: str | None,
    as_json: bool,
) -> int:
    """Say whether an SDK may be released against a target, by the verdicts of kept runs; nothing is sent.

    SOURCES are folders of runs, verdict.json files, or zip archives of them such as a nightly's artifact; by default
    `reports`. For each realm the latest whole run decides, by the rules of a gate.

    Exit codes: 0 may be released, 1 may not, 4 usage, 6 the runs cannot tell.

    \b
    Examples:
      registry-contracts can-release --target dev --consumer sdk.toml
      registry-contracts can-release --target dev --consumer sdk.toml --max-age 36h contract-nightly.zip
    """  # noqa: D301 - click's mark for lines to be left as they are
    name, address, realms = _target(target, base_url)
    kept = list(kept_runs(sources or (Path("reports"),)))
    if realms is None:
        _refuse_unknown(name, kept)
    terms = load_terms(consumer, deviations, target, name, Path.cwd())
    question = Question(
        target=name,
        base_url=address,
        realms=_realms(known_realms(realm), terms.consumer, realms or DEVELOPMENT_REALMS),
        terms=terms,
        max_age=_age(max_age),
        now=datetime.now(UTC),
    )
    given = answer(question, kept, load_catalogue())
    if as_json:
        click.echo(json_text(checked(given, ReleaseAnswer, "the answer"), indent=2))
    else:
        print_lines(_lines(given))
    return given.exit_code


def _refuse_unknown(name: str, kept: Sequence[KeptRun | Unreadable]) -> None:
    """Refuse the name of a target that is neither that of a settings file nor one that the kept runs know."""
    if any(isinstance(run, Unreadable) for run in kept):
        return  # which may be one of that target
    names = sorted({run.verdict.target.name for run in kept if isinstance(run, KeptRun)})
    if names and name not in names:
        raise UsageError(f"no settings file and no kept run of a target '{name}'; {suggestion(name, names)}")


def _target(name: str, base_url: str | None) -> tuple[str, str | None, tuple[str, ...] | None]:
    """Return the target's name, its address where it is known, and its realms; None where no settings file has it."""
    if base_url is not None:
        try:
            base_url = checked_base_url(base_url)
        except ValueError as error:
            raise UsageError(f"--base-url {error}") from None
    if name == SANDBOX:
        return SANDBOX, base_url, DEVELOPMENT_REALMS
    named = Path(TARGETS_FOLDER) / name
    path = next(filter(is_file, (Path(name), named, named.with_name(f"{named.name}.toml"))), None)
    if path is None:
        if name.endswith(".toml") or "/" in name or not name.strip():
            raise UsageError(f"there is no settings file '{name}'; name the target as its runs call it")
        return name, base_url, None
    # Only these two keys: accounts are not needed, and no variable has to be set.
    tables = read_toml_file(path, str(path)).tables
    address, realms = tables.get("base_url"), tables.get("realms", DEVELOPMENT_REALMS)
    if not isinstance(address, str) or not isinstance(realms, list | tuple):
        raise UsageError(f"{path}: base_url or realms cannot be used; `registry-contracts doctor` says why")
    return path.stem, base_url or checked_base_url(address), known_realms(map(str, realms))


def _realms(given: tuple[str, ...], consumer: Consumer | None, of_target: tuple[str, ...]) -> tuple[str, ...]:
    """Return the realms to be covered: those asked for, else the consumer's, else those that have its operations."""
    if given or (consumer is not None and consumer.realms):
        return given or (consumer.realms if consumer is not None else ())
    operations = load_description().operations
    used = consumer.operations if consumer is not None and consumer.operations else tuple(operations)
    realms = {realm for name in used for realm in operations[name].realms}
    return tuple(realm for realm in of_target if realm in realms) or of_target


def _age(text: str) -> timedelta:
    match = _AGE.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"--max-age takes a number with m, h or d, such as 36h; not '{text}'")
    try:
        return timedelta(**{_UNITS[match["unit"]]: float(match["number"])})
    except OverflowError:
        raise UsageError(f"--max-age {text} is longer than any run has been kept") from None


def _lines(given: ReleaseAnswer) -> Iterator[str]:
    for run in given.rests_on:
        what = f"{run.profile}, {', '.join(run.realms) or 'any realm'}"
        began = length(timedelta(seconds=run.age_seconds))
        yield f"rests on: {run.run} ({what}; began {began} ago; {run.base_url})"
    yield from _some("passed over", [f"{run.run}: {run.reason}" for run in given.passed_over])
    yield from _some(
        "contradicted",
        [
            f"{clause.clause} ({clause.operation}) in {', '.join(clause.realms)}: {clause.says}"
            for clause in given.failing
        ],
    )
    for label, several in (("not judged", given.unjudged), ("not covered", given.not_covered)):
        yield from _some(
            label, [f"{clause.clause} in {', '.join(clause.realms)}: {clause.reason}" for clause in several]
        )
    left = [realm for realm in DEVELOPMENT_REALMS if realm not in given.realms]
    if left:
        yield f"not asked about: {', '.join(left)}"
    yield from _some("accepted", given.accepted)
    yield from (f"note: {note}" for note in given.notes)
    yield f"can-release: {given.line}"


def _some(label: str, lines: Sequence[str]) -> Iterator[str]:
    yield from (f"{label}: {cut(line, _LONGEST)}" for line in lines[:_LISTED])
    if len(lines) > _LISTED:
        yield f"{label}: {many(len(lines) - _LISTED, 'line')} more; --json has them all"
