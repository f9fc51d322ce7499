"""`python -m benchmarks`: measures and prints; `tox -e bench` calls it."""

import click

from benchmarks.commands import Timed, collection, first_answer, smoke
from benchmarks.exchange import Cost, exchange_cost


@click.command()
@click.option(
    "--exchanges", default=600, show_default=True, help="Requests of each kind for the exchange cost."
)
def main(exchanges: int) -> None:
    """Measure collection, the sandbox's first answer, the smoke profile, and the cost of a checked exchange."""
    _say("collection of all cases", collection(), bar="3 s")
    _say("first answer of the sandbox", first_answer(), bar="about 1.5 s")
    _say("profile smoke, four realms", smoke(), bar="20 s and 300 requests")
    cost: Cost = exchange_cost(exchanges)
    click.echo(
        f"checked exchange    {cost.checked_ms:.2f} ms, bare requests.Session {cost.bare_ms:.2f} ms: "
        f"ratio {cost.ratio:.2f} (bar 1.6)"
    )


def _say(what: str, timed: Timed, bar: str) -> None:
    note = f", {timed.note}" if timed.note else ""
    click.echo(f"{what}: {timed.seconds:.2f} s{note} (bar {bar})")


if __name__ == "__main__":
    main()
