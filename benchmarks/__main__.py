"""`python -m benchmarks`: measures and prints; `tox -e bench` calls it."""

import click

from benchmarks.commands import Timed, collection, first_answer, smoke
from benchmarks.exchange import Cost, exchange_cost
from benchmarks.latency import slow_service
from benchmarks.passage import PassageCost, passage_cost


@click.command()
@click.option(
    "--exchanges", default=600, show_default=True, help="Requests of each kind for the exchange cost."
)
def main(exchanges: int) -> None:
    """Measure collection, first answer, the smoke profile, and the cost of a checked and of a proxied exchange."""
    _say("collection of all cases", collection(), bar="3 s")
    _say("first answer of the sandbox", first_answer(), bar="about 1.5 s")
    _say("profile smoke, four realms", smoke(), bar="20 s and 300 requests")
    cost: Cost = exchange_cost(exchanges)
    click.echo(
        f"checked exchange    {cost.checked_ms:.2f} ms, bare requests.Session {cost.bare_ms:.2f} ms: "
        f"ratio {cost.ratio:.2f} (bar 1.6)"
    )
    passage: PassageCost = passage_cost(exchanges)
    click.echo(
        f"through the proxy   {passage.through_ms:.2f} ms, directly {passage.direct_ms:.2f} ms: "
        f"{passage.added_ms:.2f} ms more (bar 3 ms)"
    )
    click.echo(
        f"upload of {passage.uploaded_mb} MB through the proxy: {passage.grown_mb:.1f} MB of memory more (bar 64 MB)"
    )
    for line in slow_service(latency=0.05, workers=8).lines():
        click.echo(line)


def _say(what: str, timed: Timed, bar: str) -> None:
    note = f", {timed.note}" if timed.note else ""
    click.echo(f"{what}: {timed.seconds:.2f} s{note} (bar {bar})")


if __name__ == "__main__":
    main()
