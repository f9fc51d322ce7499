"""Judges the exchanges of an archive."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from registry_contracts.exchanges.exchange import NO_BODY, Exchange
from registry_contracts.model.steps import site_of
from registry_contracts.traffic.archive import read_har
from registry_contracts.traffic.judge import Judge
from registry_contracts.traffic.overlaps import mark_overlaps
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
    exchanges = archive.exchanges
    judge.look_through(exchanges)
    mark_overlaps(exchanges)
    for exchange in exchanges:
        exchange.overlapped |= archive.unordered
        if report.base_url is None or _below(exchange.url, report.base_url):
            judge.take(exchange)
        else:
            report.elsewhere[site_of(exchange.url).partition("://")[2]] += 1
        exchange.request_body, exchange.response = NO_BODY, None  # a long archive fits in memory
    times = sorted(each.started for each in exchanges if each.started is not None)
    report.source = path.name
    if times:
        report.started, report.finished = times[0].isoformat(), times[-1].isoformat()
    report.counted["unreadable"] = archive.entries - len(exchanges)
    report.notes = (*archive.notes, *_notes(exchanges, judge.without_credentials))
    return report


def _below(url: str, base_url: str) -> bool:
    base = urlsplit(base_url).path.rstrip("/") + "/"
    return site_of(url) == site_of(base_url) and urlsplit(url).path.startswith(base)


def _notes(exchanges: Collection[Exchange], lost: Collection[str]) -> Iterator[str]:
    for site in sorted(lost):
        yield (
            f"no request to {site} carries Authorization, although protected operations succeed: the recording has "
            "lost its credentials, so tokens were not judged"
        )
    timeless = sum(each.ended is None for each in exchanges)
    if timeless:
        yield f"{timeless} of {len(exchanges)} exchanges have no times, so no sequence was judged by them"
