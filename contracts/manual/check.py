"""Judges the traffic of an archive, whatever recorded it: a browser, a proxy, a test tool, a run of this suite."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from contracts.errors import UsageError
from contracts.exchanges.exchange import Exchange
from contracts.exchanges.har import read_har
from contracts.exchanges.overlap import overlapping
from contracts.exchanges.traffic_redaction import TrafficRedactor
from contracts.manual.check_report import Occasion
from contracts.manual.sequences import site_of
from contracts.manual.traffic_summary import Tally, TrafficVerdict, verdict_of
from contracts.manual.traffic_watch import Watch

#: Ports that go without saying.
_PORTS: Final = {"http": ":80", "https": ":443"}


@dataclass(frozen=True)
class Asked:
    """Options of a check of an archive.

    Attributes:
        base_url: Judge the requests below it only; None for whatever looks like the interface.
        realms: Judge these only; empty for all.
    """

    base_url: str | None = None
    target: str | None = None
    realms: tuple[str, ...] = ()
    alone: bool = False
    strict_client: bool = False


def check_archive(path: Path, shown: str, asked: Asked) -> tuple[Tally, TrafficVerdict, Occasion]:
    """Judge the exchanges of a HAR.

    Args:
        shown: The path as messages show it.

    Raises:
        UsageError: it cannot be read, or holds nothing to judge; one line.
    """
    archive = read_har(path, shown)
    # An entry that names no host was sent to no service that could be told from another.
    entries = overlapping(each for each in archive.exchanges if urlsplit(each.url).hostname)
    unreadable = archive.unreadable + len(archive.exchanges) - len(entries)
    watch = Watch(
        TrafficRedactor(), alone=asked.alone, realms=asked.realms, strict_client=asked.strict_client
    )
    if not entries:
        raise UsageError(f"{shown}: no entry of it is a web request; export the traffic as HAR")
    for each in entries:
        if asked.base_url is None or _below(each.url, asked.base_url):
            watch.take(each)
        else:
            watch.tally.elsewhere(site_of(each.url).partition("://")[2])
    times = sorted(each.started for each in entries if each.started is not None)
    occasion = Occasion(
        kind="archive",
        source=path.name,
        target=asked.target,
        base_url=asked.base_url,
        started=times[0].isoformat() if times else None,
        finished=times[-1].isoformat() if times else None,
        alone=asked.alone,
        strict_client=asked.strict_client,
        realms=asked.realms,
        unreadable=unreadable,
        notes=tuple(_notes(entries)),
    )
    return watch.tally, verdict_of(watch.tally), occasion


def _below(url: str, base_url: str) -> bool:
    return _plain(url).startswith(_plain(base_url).rstrip("/") + "/")


def _plain(url: str) -> str:
    """An address with scheme and host in small letters, and without the port that goes without saying."""
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    scheme = scheme.lower()
    return f"{scheme}://{host.lower().removesuffix(_PORTS.get(scheme, '/'))}{slash}{path}"


def _notes(entries: Sequence[Exchange]) -> Iterator[str]:
    timeless = sum(each.ended is None for each in entries)
    if timeless:
        yield f"{timeless} of {len(entries)} exchanges have no times, so no sequence was judged by them"
