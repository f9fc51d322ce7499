"""Judges the exchanges of an archive."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from registry_contracts.errors import UsageError
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.model.steps import site_of
from registry_contracts.traffic.archive import Archive, read_har
from registry_contracts.traffic.judge import Judge
from registry_contracts.traffic.overlaps import Span, overlapping
from registry_contracts.traffic.redaction import TrafficRedactor
from registry_contracts.traffic.report import TrafficReport


def check_archive(path: Path, shown: str, report: TrafficReport) -> TrafficReport:
    """Judge the exchanges of a HAR, called `shown` in messages.

    Args:
        report: Its `base_url` selects the service; it takes the results.

    Raises:
        UsageError: the HAR cannot be read, or has nothing to judge; one line.
    """
    archive, judge = read_har(path, shown), Judge(report, TrafficRedactor())
    spans: dict[int, Span] = {}
    judge.look_through(_noting(archive, spans))
    if not spans:
        raise UsageError(f"{shown}: has no web request; export the traffic as HAR")
    overlapped = dict(zip(spans, overlapping(list(spans.values())), strict=True))
    for exchange in archive:
        if exchange.number not in spans:
            continue
        exchange.overlapped = archive.unordered or overlapped[exchange.number]
        if report.base_url is None or _below(exchange.url, report.base_url):
            judge.count(exchange)
        else:
            report.elsewhere[site_of(exchange.url).partition("://")[2]] += 1
    times = sorted(span.started for span in spans.values() if span.started is not None)
    report.source = path.name
    if times:
        report.started, report.finished = times[0].isoformat(), times[-1].isoformat()
    report.counted["unreadable"] = len(archive) - len(spans)
    report.notes = (*archive.notes, *_notes(spans.values(), judge.without_credentials))
    return report


def _noting(archive: Archive, spans: dict[int, Span]) -> Iterator[Exchange]:
    """Yield the web requests of an archive, and note their spans by number."""
    for exchange in archive:
        # Without a host it is unknown which service was asked.
        if urlsplit(exchange.url).hostname:
            spans[exchange.number] = Span.of(exchange)
            yield exchange


def _below(url: str, base_url: str) -> bool:
    base = urlsplit(base_url).path.rstrip("/") + "/"
    return site_of(url) == site_of(base_url) and urlsplit(url).path.startswith(base)


def _notes(spans: Collection[Span], lost: Collection[str]) -> Iterator[str]:
    for site in sorted(lost):
        yield (
            f"no request to {site} carries Authorization, although protected operations succeed: the recording has "
            "lost its credentials, so tokens were not judged"
        )
    timeless = sum(span.ended is None for span in spans)
    if timeless:
        yield f"{timeless} of {len(spans)} exchanges have no times, so no sequence was judged by them"
