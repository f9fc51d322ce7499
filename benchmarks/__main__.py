"""`python -m benchmarks`: measures and prints; `tox -e bench` calls it, and `.ci/run` with `--small`."""

from dataclasses import replace

import click

from benchmarks.archive import checked_archive
from benchmarks.beside_schemathesis import beside
from benchmarks.commands import Timed, collection, first_answer, first_request, smoke
from benchmarks.exchange import exchange_cost
from benchmarks.latency import slow_service
from benchmarks.passage import passage
from registry_contracts.proving.plan import drawn_trials

#: A small run shows that every benchmark still works; its figures are too few to hold against a bar.
_SMALL_EXCHANGES = 50
_MANY_WORKERS, _FEW_WORKERS = 8, 2
_ENTRIES, _SMALL_ENTRIES = 200_000, 500
_UPLOADED_MB, _SMALL_UPLOADED_MB = 500, 5


@click.command()
@click.option(
    "--exchanges", default=600, show_default=True, help="Requests of each kind for the exchange cost."
)
@click.option("--small", is_flag=True, help="Run every benchmark in its smallest form.")
def main(exchanges: int, small: bool) -> None:
    """Measure collection, first answer and request, smoke, a checked exchange, the proxy, `check`, and latency.

    A bar that is missed is printed and fails nothing: machines differ. A benchmark that breaks does fail.
    """
    exchanges = min(exchanges, _SMALL_EXCHANGES) if small else exchanges
    realms = ("abs-dev",) if small else ()
    _say("collection of all cases", collection(), bar="3 s")
    _say("first answer of the sandbox", first_answer(), bar="about 1.5 s")
    _say("first request of a run", first_request(1), bar="2 s")
    workers = _FEW_WORKERS if small else _MANY_WORKERS
    _say(f"first request of a run with {workers} workers", first_request(workers), bar="4 s on two cores")
    _say(
        f"profile smoke, {'one realm' if small else 'four realms'}",
        smoke(realms),
        bar="20 s and 300 requests",
    )
    cost = exchange_cost(exchanges)
    click.echo(
        f"checked exchange    {cost.checked_ms:.2f} ms, bare requests.Session {cost.bare_ms:.2f} ms: "
        f"ratio {cost.ratio:.2f} (bar 1.5)"
    )
    uploaded = _SMALL_UPLOADED_MB if small else _UPLOADED_MB
    added, memory = passage(exchanges, uploaded)
    click.echo(
        f"through the proxy   {added:.2f} ms more a request (bar 3), {memory:.1f} MB more memory for an upload of "
        f"{uploaded} MB (bar 64)"
    )
    checked = checked_archive(_SMALL_ENTRIES if small else _ENTRIES)
    click.echo(
        f"check of {checked.entries:,} entries, {checked.size_mb:.0f} MB: {checked.seconds:.1f} s of the processor "
        f"(bar 60 s for 200,000), {checked.peak_mb:.0f} MB (bar 1,000 MB)"
    )
    slow = slow_service(0.005, 2, "smoke", realms) if small else slow_service(latency=0.05, workers=8)
    for line in slow.lines():
        click.echo(line)
    if small:  # in the realm of the fewest operations, be it one in which the fault does not show
        click.echo(
            "\n".join(beside([replace(next(drawn_trials(1, 0, 1)), realms=("ort-dev",))], [], examples=1))
        )


def _say(what: str, timed: Timed, bar: str) -> None:
    note = f", {timed.note}" if timed.note else ""
    click.echo(f"{what}: {timed.seconds:.2f} s{note} (bar {bar})")


if __name__ == "__main__":
    main()
