"""`registry-contracts sandbox`: serves the embedded service."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import click

from contracts.cli.options import print_lines
from contracts.errors import UsageError
from contracts.file_formats import is_file
from contracts.manual.sandbox_setup import Imitation, imitate
from contracts.settings.embedded_sandbox import require_extra

_LIKE: Final = "--like"
_HELP: Final = (
    "--like FILE           answer like the service whose observations.json a run wrote, at every silent point "
    "that has a knob\n"
)


@click.command(
    context_settings={"ignore_unknown_options": True, "help_option_names": []}, add_help_option=False
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(arguments: tuple[str, ...]) -> int:
    """Serve the embedded sandbox until Ctrl-C; options as `registry-contracts sandbox --help` lists them."""
    require_extra()
    from contracts.sandbox.serve import main  # noqa: PLC0415 - an optional extra, and slow to import

    options, observed = _without_like(arguments)
    if observed is not None:
        imitation = imitate(observed)
        print_lines(_lines(imitation))
        # What a person names comes after, and counts.
        options = [*imitation.options, *options]
    elif {"-h", "--help"} & set(options):
        sys.stdout.write(f"  {_HELP}\n")
    return main(options)


def _without_like(arguments: Sequence[str]) -> tuple[list[str], Path | None]:
    """The options of the sandbox itself, and the file that it is to be like."""
    options, file = [], None
    rest = iter(arguments)
    for word in rest:
        name, equals, value = word.partition("=")
        if name != _LIKE:
            options.append(word)
            continue
        file = value if equals else next(rest, "")
        if not file:
            raise UsageError("--like needs the observations.json of a run")
    if file and not is_file(Path(file)):
        raise UsageError(f"no file '{file}': --like takes the observations.json of a run")
    return options, Path(file) if file else None


def _lines(imitation: Imitation) -> Iterator[str]:
    yield from imitation.lines
    if imitation.unread:
        yield f"observed, and no knob is read from it: {', '.join(imitation.unread)}"
    yield f"for --sandbox-arguments: {' '.join(imitation.options)}"
