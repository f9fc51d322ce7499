"""What traffic showed, as lines for a terminal: findings first, then coverage, one verdict line last."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from contracts.evidence.plain import many, plain_line
from contracts.traffic.check_json import leading
from contracts.traffic.findings import Side, Standing, TrafficFinding
from contracts.traffic.tally import Group, Tally
from contracts.traffic.verdict import TrafficVerdict

_HEADINGS: Final = {
    (Side.ANSWER, Standing.FAULT): "the service breaks the interface",
    (Side.REQUEST, Standing.FAULT): "the client breaks the interface",
    (Side.ANSWER, Standing.ADVICE): "the service does otherwise than it should",
    (Side.REQUEST, Standing.ADVICE): "the client does otherwise than it should",
    (Side.ANSWER, Standing.REMARK): "the service: to be looked at, another explanation is possible",
    (Side.REQUEST, Standing.REMARK): "the client: to be looked at, the document leaves it open",
}
_SHOWN: Final = 20


def finding_lines(tally: Tally) -> Iterator[str]:
    """The findings, what decides first."""
    shown = dict.fromkeys(_HEADINGS, 0)
    before = None
    for group in tally.groups:
        kind = (group.first.side, group.first.standing)
        if kind != before:
            yield f"{_HEADINGS[kind]}:"
        before, shown[kind] = kind, shown[kind] + 1
        if shown[kind] <= _SHOWN:
            yield from _group_lines(group)
        elif shown[kind] == _SHOWN + 1:
            yield "  and more; check.json holds all of them"
    if before is None:
        yield "no findings"


def _group_lines(group: Group) -> Iterator[str]:
    found = group.first
    listed = ", ".join(f"#{number}" for number in group.entries[:5])
    more = f" and {group.times - 5} more" if group.times > 5 else ""
    after = f" after #{found.because_of}" if found.because_of else ""
    level = f" ({found.level})" if found.level else ""
    place = " ".join(each for each in (found.operation, "in", found.realm) if each)
    name = found.fault if found.side is Side.REQUEST and found.fault else found.what
    clause = f", clause {found.clause}" if found.side is Side.REQUEST and found.clause else ""
    yield f"  {name}{level if not clause else ''}: {place}{clause}{level if clause else ''}, {listed}{more}{after}"
    if found.side is Side.ANSWER:
        yield f"    expected  {plain_line(found.expected)}"
    yield f"    seen      {plain_line(found.seen)}"


def one_line(finding: TrafficFinding) -> str:
    """A finding while traffic passes."""
    whose = "client" if finding.side is Side.REQUEST else "service"
    weight = "" if finding.standing is Standing.FAULT else f" ({finding.standing})"
    told = finding.seen if finding.side is Side.REQUEST else f"expected {finding.expected}; {finding.seen}"
    name = finding.fault if finding.side is Side.REQUEST and finding.fault else finding.what
    place = f"{finding.operation} in {finding.realm}" if finding.operation else "no operation"
    return plain_line(f"#{finding.entry} {whose}{weight}: {place}: {name}: {told}", 240)


def coverage_lines(tally: Tally, unreadable: int) -> Iterator[str]:
    """What was exercised, what was not, and what could not be judged."""
    used = {name: times for name, times in tally.operations.items() if times}
    if used:
        listed = ", ".join(f"{name} {times}" for name, times in used.items())
        yield f"exercised    {many(len(used), 'operation')}: {listed}"
    never = tally.never
    if never:
        yield f"never        {many(len(never), 'operation')}: {', '.join(never)}"
    held = [level for _, level, times, _ in tally.clauses if times]
    if held:
        yield f"clauses      {len(held)} were judged and held at least once, {held.count('must')} of them must"
    for what, counts in (
        ("not answered", tally.faults),
        ("in part", tally.obstacles),
        ("other realms", tally.other_realms),
        ("no operation", tally.strangers),
        ("elsewhere", tally.hosts),
    ):
        if counts:
            yield f"{what:<12} {many(counts.total(), 'exchange')}: {plain_line(leading(counts))}"
    if tally.preflights:
        yield f"left out     {many(tally.preflights, 'request')} with OPTIONS, which browsers send by themselves"
    if tally.breakages:
        number = many(len(tally.breakages), "exchange")
        yield f"not judged   {number}, the suite broke: {plain_line(tally.breakages[0])}"
    if unreadable:
        yield f"left out     {many(unreadable, 'line')} of the archive without a web request"


def verdict_line(verdict: TrafficVerdict) -> str:
    """The last line."""
    return f"verdict: {verdict.word} ({int(verdict.exit_code)}): {plain_line(verdict.reason, 400)}"
