"""Writes what was measured: a file for machines and the tables for people."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from benchmarks.peers import sample as sampling
from benchmarks.peers.campaign import FAITHFUL_RUNS, FIRST_REALM
from benchmarks.peers.classes import Need
from benchmarks.peers.descriptions import EXACT
from benchmarks.peers.measuring import Ours, Tool
from benchmarks.peers.results import Run, Standing, stand, summary
from contracts.proving.matrix import put_between
from contracts.sandbox.defects import Defect

Sample = Mapping[Need, Sequence[Defect]]
_LONGEST_SIGNATURE = 160


@dataclass(frozen=True)
class Conditions:
    """Under which a measurement was made.

    Attributes:
        when: its end.
        per_class: defects asked for in each class.
        cores: of the machine.
        picked: whether the defects were named, not drawn.

    """

    when: datetime
    per_class: int
    cores: int
    picked: bool

    @property
    def rule(self) -> str:
        """How the defects were chosen."""
        return "named on the command line" if self.picked else sampling.RULE.format(count=self.per_class)


def write(
    folder: Path,
    document: Path | None,
    conditions: Conditions,
    tools: Sequence[Tool],
    sample: Sample,
    runs: Sequence[Run],
) -> list[Path]:
    """Write `results.json`, and the tables where a document is asked for.

    Returns:
        The files written.

    """
    measured = _standings(tools, runs)
    results = folder / "results.json"
    content = {
        "measured": conditions.when.isoformat(timespec="seconds"),
        "cores": conditions.cores,
        "sample": conditions.rule,
        "defects": {need.value: [defect.name for defect in defects] for need, defects in sample.items()},
        "tools": [
            {
                "name": tool.name,
                "version": tool.version,
                "configuration": tool.configuration,
                "command": tool.command(),
                "not_measured": tool.missing(),
            }
            for tool in tools
        ],
        "summary": summary(
            measured, {need: [each.name for each in defects] for need, defects in sample.items()}
        ),
    }
    results.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if document is None:
        return [results]
    lines = _document(conditions, tools, sample, measured)
    document.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [results, document]


def put_table(
    document: Path, conditions: Conditions, tools: Sequence[Tool], sample: Sample, runs: Sequence[Run]
) -> None:
    """Put the figures alone between the marks `peers` of a document.

    Raises:
        UsageError: the document is not there or lacks the marks.

    """
    lines = [_measured_on(conditions), "", *_figures(tools, sample, _standings(tools, runs))]
    put_between(document, "peers", "\n".join(lines))


def _standings(tools: Sequence[Tool], runs: Sequence[Run]) -> dict[str, Standing]:
    return {
        tool.name: stand([run for run in runs if run.tool == tool.name])
        for tool in tools
        if not tool.missing()
    }


def _measured_on(conditions: Conditions) -> str:
    return (
        f"Measured on {conditions.when:%Y-%m-%d}, {conditions.cores} cores, each run against a sandbox of its own "
        "on the same machine."
    )


def _document(
    conditions: Conditions, tools: Sequence[Tool], sample: Sample, measured: Mapping[str, Standing]
) -> Iterator[str]:
    yield "# Beside other tools"
    yield ""
    yield "<!-- Written by `tox -e peers`; do not edit. -->"
    yield ""
    yield _measured_on(conditions)
    yield ""
    yield from _figures(tools, sample, measured)
    yield ""
    yield from _rules(conditions)
    yield ""
    yield from _each_defect(sample, measured)
    yield ""
    yield from _ahead(measured)
    yield ""
    yield from _configurations(tools)


def _figures(tools: Sequence[Tool], sample: Sample, measured: Mapping[str, Standing]) -> Iterator[str]:
    heads = [f"{need.told} ({len(defects)})" for need, defects in sample.items()]
    columns = ["tool", *heads, "all", "false alarms, faithful", "variants with false alarms"]
    columns += ["requests", "seconds"]
    yield f"| {' | '.join(columns)} |"
    yield "|" + "---|" * len(columns)
    for tool in tools:
        if tool.name not in measured:
            yield f"| {tool.name} {tool.version} | not measured: {tool.missing()}" + " |" * (len(columns) - 1)
            continue
        standing = measured[tool.name]
        kills = [standing.kills(each.name for each in defects) for defects in sample.values()]
        alarms = max((len(found) for found in standing.alarms.values()), default=0)
        variants = f"{sum(bool(found) for found in standing.variants.values())} of {len(standing.variants)}"
        figures = [
            *kills,
            sum(kills),
            alarms,
            variants,
            f"{standing.requests:.0f}",
            f"{standing.seconds:.1f}",
        ]
        yield f"| {tool.name} {tool.version} | {' | '.join(str(each) for each in figures)} |"


def _rules(conditions: Conditions) -> Iterator[str]:
    yield "How to read it:"
    yield ""
    yield f"- Defects: {conditions.rule}."
    yield "- Killed: the tool reports a failure on the defective sandbox that it reported in none of its runs on"
    yield f"  the faithful one ({FAITHFUL_RUNS} in {FIRST_REALM}, one in each other realm), and reports it again in"
    yield "  a second run on a fresh sandbox. A failure is known by operation and check, not by its wording. It need"
    yield "  not be about the defect: the benefit of the doubt is the tool's. Ours confirms its findings itself."
    yield "- Each tool runs in one realm: the one in which the defect shows, else abs-dev. In the other realms it"
    yield "  would only lose time. All have the author's token; ours also signs in with the other accounts."
    yield "- False alarms: distinct failures on the faithful sandbox (the realm with most), and the named"
    yield "  combinations of variants (sandboxes that obey every clause and differ where the interface document is"
    yield "  silent) on which failures come up that the faithful one did not show."
    yield "- Requests and seconds: medians of a run on a defect. Requests of the other tools are counted in the"
    yield "  sandbox, ours in its own ledger; seconds are those of the tool alone, ours with the sandbox's start. They"
    yield "  depend on what else the machine had to do."
    yield f"- Tools that cannot read ranges of statuses get {EXACT}."


def _each_defect(sample: Sample, measured: Mapping[str, Standing]) -> Iterator[str]:
    yield "## Each defect"
    yield ""
    yield f"| defect | clause | class | {' | '.join(measured)} |"
    yield "|" + "---|" * (3 + len(measured))
    for need, defects in sample.items():
        for defect in defects:
            marks = " | ".join(_mark(standing, defect.name) for standing in measured.values())
            yield f"| `{defect.name}` | `{defect.clause}` | {need.value} | {marks} |"


def _mark(standing: Standing, name: str) -> str:
    if standing.killed.get(name):
        return "killed"
    return "not measured" if name in standing.troubles else ""


def _ahead(measured: Mapping[str, Standing]) -> Iterator[str]:
    """List what a peer killed and we did not."""
    yield "## Killed by another tool and not by ours"
    yield ""
    ours = measured.get(Ours.name)
    if ours is None:
        yield "Ours was not measured."
        return
    found = [
        f"- `{defect}`, {name}: {signatures[0][:_LONGEST_SIGNATURE]}"
        for name, standing in measured.items()
        for defect, signatures in standing.killed.items()
        if signatures and not ours.killed.get(defect)
    ]
    yield from found or ["None."]


def _configurations(tools: Sequence[Tool]) -> Iterator[str]:
    yield "## Configurations and commands"
    yield ""
    yield "SHARED is what all runs in a realm share, made by `benchmarks/peers`, where the settings stand too; RUN is"
    yield "the folder of one run."
    for tool in tools:
        yield ""
        yield f"**{tool.name} {tool.version}**: {tool.configuration}."
        yield ""
        yield "```sh"
        yield tool.command()
        yield "```"
