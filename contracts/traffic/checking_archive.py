"""Judges an archive as a whole."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.errors import UsageError
from contracts.traffic.archive import read_archive
from contracts.traffic.check_json import Occasion
from contracts.traffic.discretion import Discretion
from contracts.traffic.passed import Passed
from contracts.traffic.sign_ins import site_of
from contracts.traffic.tally import Tally
from contracts.traffic.verdict import TrafficVerdict, verdict_of
from contracts.traffic.watching import Watch

#: Ports that go without saying.
_PORTS: Final = {"http": ":80", "https": ":443"}


@dataclass(frozen=True)
class Asked:
    """What somebody wants to know of an archive.

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
    entries, unreadable = read_archive(path, shown)
    watch = Watch(Discretion(), alone=asked.alone, realms=asked.realms, strict_client=asked.strict_client)
    if not entries:
        raise UsageError(f"{shown}: no entry of it is a web request; export the traffic as HAR")
    for each in entries:
        if asked.base_url is None or _below(each.url, asked.base_url):
            watch.take(each)
        else:
            watch.tally.elsewhere(site_of(each.url).partition("://")[2])
    times = sorted(each.at for each in entries if each.at is not None)
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


def _notes(entries: Iterable[Passed]) -> list[str]:
    known = list(entries)
    notes = []
    timeless = sum(each.ended is None for each in known)
    if timeless:
        notes.append(f"{timeless} of {len(known)} exchanges have no times, so no sequence was judged by them")
    return notes
