"""`check`: judges the traffic of an archive, and writes the report of recorded or proxied traffic."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from registry_contracts.checks.sequences import site_of
from registry_contracts.errors import UsageError
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.exchanges.har import Archive, read_har
from registry_contracts.exchanges.overlaps import Span, overlapping, span_of
from registry_contracts.exchanges.redaction import TrafficRedactor
from registry_contracts.file_formats import (
    Count,
    Format,
    Moment,
    Name,
    RunExitCode,
    RunWord,
    one_of,
    plain,
    same_outcome,
    write_file,
)
from registry_contracts.interface.description import where_in_words
from registry_contracts.interface.operations import ANY_REALM
from registry_contracts.manual.traffic_findings import (
    CheckedClause,
    Side,
    Standing,
    Tally,
    TrafficFinding,
    TrafficVerdict,
    verdict_of,
)
from registry_contracts.manual.traffic_watch import Watch
from registry_contracts.safe_text import encodable, many, plain_line

JSON_NAME: Final = "check.json"
_MOST: Final = 200


@dataclass(frozen=True)
class CheckFacts:
    """Where traffic was watched, and how; what is not known yet is left out.

    Attributes:
        kind: `archive` or `proxy`.
        source: Name of the archive; None for a proxy.
        target, base_url: The service, where it is known; of an archive only requests below that address were judged.
        started, finished: ISO 8601; None when unknown.
        alone: No other client wrote to the service meanwhile.
        unreadable: Entries of the archive that are no request.
        notes: What people may want to know, a line each.
    """

    kind: str = "archive"
    source: str | None = None
    target: str | None = None
    base_url: str | None = None
    started: str | None = None
    finished: str | None = None
    alone: bool = False
    unreadable: int = 0
    notes: tuple[str, ...] = ()


Counts = dict[str, Count]


class CheckedExchanges(Format, frozen=True, kw_only=True):
    """What was looked at.

    `by_hand`: sent from the page in place of a client, whose own faults are remarks. `not_answered`: faults of the
    environment, and responses that something else than the service gave. `judged_in_part`: why responses were not
    judged in full. `no_operation`: requests below the interface's paths that are no operation; `elsewhere`: to other
    paths, by host. `unreadable`: entries of the archive that are no request.
    """

    all: Count
    by_hand: Count
    of_the_interface: Count
    by_realm: Counts
    not_answered: Counts
    judged_in_part: Counts
    no_operation: Counts
    elsewhere: Counts
    preflights: Count
    unreadable: Count


class CheckFile(Format, frozen=True, kw_only=True):
    """What traffic showed about the interface, from an archive or through the proxy.

    `alone`: nothing else wrote to the service meanwhile, so that sequences decide. `breaks`: how many different
    findings decide, by the side that breaks the interface. In `findings`, what decides comes first. `operations` counts
    requests of all operations. Format 1 also told of realms that were left out.
    """

    format: Literal[2] = 2
    kind: Annotated[str, one_of("archive", "proxy")]
    verdict: RunWord
    exit_code: RunExitCode
    reason: Name
    breaks: Counts
    source: str | None
    target: dict[str, str | None]
    started: Moment | None
    finished: Moment | None
    alone: bool
    exchanges: CheckedExchanges
    findings: tuple[TrafficFinding, ...]
    operations: Counts
    never_exercised: tuple[str, ...]
    clauses: tuple[CheckedClause, ...]
    notes: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse a verdict with the exit code of another."""
        same_outcome(self.verdict, self.exit_code)


def build(tally: Tally, verdict: TrafficVerdict, facts: CheckFacts) -> CheckFile:
    """The content of `check.json`."""
    broken = [f"the suite broke on {breakage}" for breakage in tally.breakages]
    return CheckFile(
        kind=facts.kind,
        verdict=verdict.word,
        exit_code=int(verdict.exit_code),
        reason=verdict.reason,
        breaks={"client": verdict.client, "service": verdict.service},
        source=facts.source,
        target={"name": facts.target, "base_url": facts.base_url},
        started=facts.started,
        finished=facts.finished,
        alone=facts.alone,
        exchanges=CheckedExchanges(
            all=tally.exchanges,
            by_hand=tally.by_hand,
            of_the_interface=sum(tally.of_interface.values()),
            by_realm=dict(tally.realms),
            not_answered=dict(tally.faults.most_common(_MOST)),
            judged_in_part=dict(tally.obstacles.most_common(_MOST)),
            no_operation=dict(tally.strangers.most_common(_MOST)),
            elsewhere=dict(tally.hosts.most_common(_MOST)),
            preflights=tally.preflights,
            unreadable=facts.unreadable,
        ),
        findings=tuple(tally.findings),
        operations=tally.operations,
        never_exercised=tuple(tally.never),
        clauses=tuple(tally.clauses),
        notes=(*facts.notes, *broken),
    )


def leading(counts: Counter[str], most: int = 3) -> str:
    """The most frequent names of a count with their numbers, for a sentence."""
    shown = ", ".join(f"{name} ({times})" for name, times in counts.most_common(most))
    return shown if len(counts) <= most else f"{shown} and {len(counts) - most} more"


def write(tally: Tally, verdict: TrafficVerdict, facts: CheckFacts, folder: Path) -> dict[str, Any]:
    """Write the report of what was taken in so far.

    Returns:
        What `check.json` holds.

    Raises:
        UsageError: it cannot be written.
        SuiteError: it does not fit its own schema.
    """
    content: dict[str, Any] = encodable(plain(build(tally, verdict, facts)))
    try:
        write_file(folder / JSON_NAME, content, CheckFile)
    except OSError as error:
        raise UsageError(f"cannot write the report to '{folder}': {error.strerror}") from None
    return content


_HEADINGS: Final = {
    (Side.ANSWER, Standing.FAULT): "the service breaks the interface",
    (Side.REQUEST, Standing.FAULT): "the client breaks the interface",
    (Side.ANSWER, Standing.ADVICE): "the service does otherwise than it should",
    (Side.REQUEST, Standing.ADVICE): "the client does otherwise than it should",
    (Side.ANSWER, Standing.REMARK): "the service: to be looked at, another explanation is possible",
    (Side.REQUEST, Standing.REMARK): "the client: to be looked at, the document leaves it open",
}
_SHOWN: Final = 20
_LONGEST_COMMENT: Final = 160


def finding_lines(tally: Tally) -> Iterator[str]:
    """The findings, what decides first."""
    shown = dict.fromkeys(_HEADINGS, 0)
    before = None
    for finding in tally.findings:
        kind = (finding.side, finding.standing)
        if kind != before:
            yield f"{_HEADINGS[kind]}:"
        before, shown[kind] = kind, shown[kind] + 1
        if shown[kind] <= _SHOWN:
            yield from _lines_of(finding)
        elif shown[kind] == _SHOWN + 1:
            yield "  and more; check.json holds all of them"
    if before is None:
        yield "no findings"


def _lines_of(finding: TrafficFinding) -> Iterator[str]:
    listed = ", ".join(f"#{number}" for number in finding.entries[:5])
    more = f" and {finding.times - 5} more" if finding.times > 5 else ""
    after = f" after #{finding.because_of}" if finding.because_of else ""
    level = f" ({finding.level})" if finding.level else ""
    place = " ".join(word for word in (finding.operation, "in", finding.realm) if word)
    name = finding.fault or finding.what
    clause = f", clause {finding.clause}" if finding.side is Side.REQUEST and finding.clause else ""
    yield f"  {name}{level if not clause else ''}: {place}{clause}{level if clause else ''}, {listed}{more}{after}"
    if finding.side is Side.ANSWER:
        yield f"    expected  {plain_line(finding.expected)}"
    yield f"    seen      {plain_line(finding.seen)}"


def one_line(finding: TrafficFinding) -> str:
    """A finding while traffic passes."""
    whose = "client" if finding.side is Side.REQUEST else "service"
    weight = "" if finding.standing is Standing.FAULT else f" ({finding.standing})"
    sentence = (
        finding.seen if finding.side is Side.REQUEST else f"expected {finding.expected}; {finding.seen}"
    )
    name = finding.fault or finding.what
    where = where_in_words(finding.operation, [finding.realm])
    place = f"{finding.operation} {where}" if finding.operation else "no operation"
    return plain_line(f"#{finding.entries[0]} {whose}{weight}: {place}: {name}: {sentence}", 240)


def coverage_lines(tally: Tally, unreadable: int) -> Iterator[str]:
    """What was exercised, what was not, and what could not be judged."""
    used = {name: times for name, times in tally.operations.items() if times}
    if used:
        listed = ", ".join(f"{name} {times}" for name, times in used.items())
        yield f"exercised    {many(len(used), 'operation')}: {listed}"
    never = tally.never
    if never:
        yield f"never        {many(len(never), 'operation')}: {', '.join(never)}"
    held = [clause.level for clause in tally.clauses if clause.held]
    if held:
        yield f"clauses      {len(held)} were judged and held at least once, {held.count('must')} of them must"
    if tally.by_hand:
        yield f"by hand      {many(tally.by_hand, 'exchange')} from the page, whose own faults are remarks"
    for what, counts in (
        ("not judged", tally.faults),
        ("in part", tally.obstacles),
        ("no operation", tally.strangers),
        ("elsewhere", tally.hosts),
    ):
        if counts:
            yield f"{what:<12} {many(counts.total(), 'exchange')}: {plain_line(leading(counts))}"
    if tally.preflights:
        yield f"left out     {many(tally.preflights, 'request')} with OPTIONS, which browsers send by themselves"
    if tally.breakages:
        number = many(len(tally.breakages), "exchange")
        yield f"broken       {number}, the suite broke: {plain_line(tally.breakages[0])}"
    if unreadable:
        yield f"left out     {many(unreadable, 'line')} of the archive without a web request"


def verdict_line(verdict: TrafficVerdict, judged: str) -> str:
    """The last line.

    Args:
        judged: The service, in words.
    """
    reason = plain_line(verdict.reason, 400)
    return f"verdict: {verdict.word} ({int(verdict.exit_code)}): {reason} (target: {plain_line(judged)})"


def check_archive(
    path: Path, shown: str, asked: CheckFacts, say: Callable[[str], object] = lambda _: None
) -> tuple[Tally, TrafficVerdict, CheckFacts]:
    """Judge the exchanges of a HAR.

    Args:
        shown: The path as messages show it.
        asked: How it is to be judged.
        say: Takes a line now and then while a long archive is read.

    Raises:
        UsageError: it cannot be read, or holds nothing to judge; one line.
    """
    archive = read_har(path, shown, say)
    spans: dict[int, Span] = {}
    watch = Watch(TrafficRedactor(), alone=asked.alone)
    watch.look_through(_noting(archive, spans))
    if not spans:
        raise UsageError(f"{shown}: no entry of it is a web request; export the traffic as HAR")
    unordered = archive.clock_turned or archive.lost > 0
    overlapped = dict(zip(spans, overlapping(list(spans.values())), strict=True))
    for exchange in archive:
        if exchange.number not in spans:
            continue
        exchange.overlapped = unordered or overlapped[exchange.number]
        if asked.base_url is None or _below(exchange.url, asked.base_url):
            watch.count(exchange)
        else:
            watch.tally.hosts[site_of(exchange.url).partition("://")[2]] += 1
    times = sorted(span.started for span in spans.values() if span.started is not None)
    facts = replace(
        asked,
        source=path.name,
        started=times[0].isoformat() if times else None,
        finished=times[-1].isoformat() if times else None,
        unreadable=len(archive) - len(spans),
        notes=tuple(_notes(archive, spans.values(), watch.without_credentials)),
    )
    return watch.tally, verdict_of(watch.tally), facts


def _noting(archive: Archive, spans: dict[int, Span]) -> Iterator[Exchange]:
    """Pass on the web requests of an archive, and note their spans by number."""
    for exchange in archive:
        # An entry that names no host was sent to no service that could be told from another.
        if urlsplit(exchange.url).hostname:
            spans[exchange.number] = span_of(exchange)
            yield exchange


def _below(url: str, base_url: str) -> bool:
    base = urlsplit(base_url).path.rstrip("/") + "/"
    return site_of(url) == site_of(base_url) and urlsplit(url).path.startswith(base)


def consumer_toml(tally: Tally, source: str) -> str:
    """The consumer file that says what traffic used of the interface; it used at least one operation.

    Args:
        source: Name of the archive.
    """
    used = {name: times for name, times in tally.operations.items() if times}
    width = max(map(len, used)) + len('"",')
    lines = [f"# What {plain_line(source, _LONGEST_COMMENT)} uses of the interface.", "operations = ["]
    lines += [f"    {json.dumps(name) + ',':<{width}}  # {times}" for name, times in used.items()]
    lines.append("]")
    realms = Counter({name: times for name, times in tally.realms.items() if name != ANY_REALM})
    if realms:
        lines += [
            "",
            f"# Realms seen: {leading(realms, len(realms))}. To gate some only, name development realms:",
        ]
        lines.append('# realms = ["abs-dev"]')
    if tally.strangers:
        lines += ["", "# No operation of the interface, so not gated:"]
        named = tally.strangers.most_common(_SHOWN)
        lines += [f"#   {plain_line(name, _LONGEST_COMMENT)} ({times})" for name, times in named]
    return "\n".join(lines) + "\n"


def _notes(archive: Archive, spans: Collection[Span], lost: Collection[str]) -> Iterator[str]:
    if archive.sorted:
        yield "the entries stand in another order than their times: they are judged and numbered by their times"
    if archive.lost:
        yield f"{archive.lost} of {len(archive)} entries tell of no request, and may be writes: no sequence was judged"
    if archive.clock_turned:
        yield (
            "the times of the entries go back, as where a clock was set or two recordings were joined: no sequence was "
            "judged; record again, or check each recording by itself"
        )
    for site in sorted(lost):
        yield (
            f"no request to {site} carries Authorization, although protected operations succeed: the recording has "
            "lost its credentials, so nothing is said about tokens"
        )
    timeless = sum(span.ended is None for span in spans)
    if timeless:
        yield f"{timeless} of {len(spans)} exchanges have no times, so no sequence was judged by them"
