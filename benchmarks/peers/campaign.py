"""Which runs a measurement is made of, and carrying them out for one tool."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from benchmarks.peers.classes import Need
from benchmarks.peers.measuring import Tool
from benchmarks.peers.peer import Measured
from benchmarks.peers.results import DEFECT, FAITHFUL, VARIANT, Record, Run
from contracts.sandbox.defects import Defect
from contracts.sandbox.variants import COMBINATIONS

FIRST_REALM = "abs-dev"
FAITHFUL_RUNS = 2
"""How often a tool meets the faithful sandbox in the first realm; in each other one it meets it once."""


@dataclass(frozen=True)
class Step:
    """One run to make.

    Attributes:
        kind: of sandbox, as in `Run`.
        name: of the variant or defect, or a number.
        realm: the one the tool is pointed at.
        arguments: how the sandbox is altered.

    """

    kind: str
    name: str
    realm: str
    arguments: tuple[str, ...] = ()


def planned(sample: Mapping[Need, Sequence[Defect]], variants: bool) -> list[Step]:
    """Return the runs of each tool: the faithful sandbox first, in every realm that a defect needs.

    Args:
        sample: the defects by class.
        variants: whether the combinations of variants are among them.

    """
    return list(_steps(sample, variants))


def _steps(sample: Mapping[Need, Sequence[Defect]], variants: bool) -> Iterator[Step]:
    chosen = [(defect, _realm(defect)) for defects in sample.values() for defect in defects]
    for realm in dict.fromkeys([FIRST_REALM, *(realm for _, realm in chosen)]):
        for number in range(1, FAITHFUL_RUNS + 1 if realm == FIRST_REALM else 2):
            yield Step(FAITHFUL, str(number), realm)
    for name in COMBINATIONS if variants else ():
        yield Step(VARIANT, name, FIRST_REALM, ("--variant", name))
    for defect, realm in chosen:
        yield Step(DEFECT, defect.name, realm, ("--defect", defect.name))


def _realm(defect: Defect) -> str:
    """Point a tool at a realm in which the defect shows; in the others it would only lose time."""
    return defect.realms[0] if defect.realms else FIRST_REALM


def carry_out(tool: Tool, steps: Sequence[Step], record: Record, say: Callable[[str], object]) -> None:
    """Make the runs that are not in the record yet.

    Args:
        tool: is there and ready.
        steps: all of a measurement.
        record: keeps each run as it ends.
        say: shows a line of progress.

    """
    for number, step in enumerate(steps, 1):
        key = (tool.name, step.kind, step.name, step.realm)
        if key in record:
            continue
        measured = _measured(tool, step, record)
        run = Run(
            *key, tuple(sorted(measured.failures)), measured.requests, measured.seconds, measured.trouble
        )
        record.add(run)
        figures = f"{len(run.failures)} failures, {run.requests} requests, {run.seconds:.1f} s"
        trouble = f", {run.trouble}" if run.trouble else ""
        say(f"{tool.name} {number}/{len(steps)}: {run.kind} {run.name} in {run.realm}: {figures}{trouble}")


def _measured(tool: Tool, step: Step, record: Record) -> Measured:
    first = tool.measure(step.arguments, step.realm)
    known = record.alarms(tool.name, step.realm)
    fresh = first.failures - known
    if tool.confirms or step.kind == FAITHFUL or not fresh:
        return first
    again = tool.measure(step.arguments, step.realm)
    return replace(first, failures=first.failures - (fresh - again.failures))
