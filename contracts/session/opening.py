"""Puts a door together for a target: whoever sends, a run or a sweep, does it in the same manner."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

from contracts.session.budget import RequestBudget
from contracts.session.door import Door, Recorder
from contracts.session.ledger import Ledger
from contracts.session.namespace import Namespace
from contracts.session.pace import Pace
from contracts.session.transport import Transport
from contracts.target.guard import GuardViolation, refuse_request
from contracts.target.model import Target

#: Settings that name records for the suite to write to; every such write is meant to be refused, but for spare and
#: existing ones.
_GRANTS = (
    "locked_identifier",
    "existing_identifier",
    "others_identifier",
    "published_identifier",
    "spare_identifiers",
)
#: Settings that name records which are only referred to.
_REFERENCES = ("contact_organization",)


def open_door(
    target: Target,
    *,
    pace: Pace,
    ledger: Ledger,
    namespace: Namespace,
    recorder: Recorder,
    name: str,
    on_break: Callable[[str], None],
    shared: Path | None = None,
) -> Door:
    """A door to a target, guarded against production, whose redirects keep the pace too."""
    ca_bundle = target.tls.ca_bundle
    transport = Transport(
        target.base_url,
        target.pace.timeout_seconds,
        str(ca_bundle) if ca_bundle else None,
        lambda method, url: _harmless(target, method, url) and pace.hop(),
    )
    return Door(
        transport=transport,
        guard=lambda method, url, headers: refuse_request(method, url, headers, target),
        pace=pace,
        ledger=ledger,
        namespace=namespace,
        recorder=recorder,
        name=name,
        on_break=on_break,
        shared=shared,
    )


def pace_of(
    target: Target,
    private: Path,
    *,
    budget: int | None,
    unhurried: bool,
    on_spent: Callable[[str], None] | None = None,
) -> Pace:
    """The pace of a target.

    Args:
        private: Folder that all who send to the target together see.
        budget: Requests they may send in all; None for no limit.
        unhurried: Nobody else uses the target, so only the budget holds.
    """
    known = target.pace
    return Pace(
        private,
        None if unhurried else known.requests_per_second,
        None if unhurried else known.concurrency,
        RequestBudget(private, budget),
        on_spent,
    )


def namespace_of(target: Target, token: str, seed: str | None = None) -> Namespace:
    """The identifiers that may be written to on a target: the run's own, and those that the settings name."""
    return Namespace(token, _named(target, _GRANTS), seed, foreign=_named(target, _REFERENCES))


def proxy_passwords(environ: Mapping[str, str] = os.environ) -> set[str]:
    """Passwords of proxies in the usual variables, which are secrets like any other."""
    addresses = [value for name, value in environ.items() if name.lower().endswith("_proxy")]
    found = {_password(address) for address in addresses}
    return {form for password in found if password for form in (password, unquote(password))}


def _password(address: str) -> str | None:
    try:
        return urlsplit(address if "://" in address else f"//{address}").password
    except ValueError:
        return None


def _harmless(target: Target, method: str, url: str) -> bool:
    """Whether a redirect may be followed: to any host, which gets no credentials, but never to production."""
    parts = urlsplit(url)
    there = replace(target, base_url=f"{parts.scheme}://{parts.netloc}")
    try:
        refuse_request(method, url, {}, there)
    except GuardViolation:
        return False
    return True


def _named(target: Target, names: tuple[str, ...]) -> set[str]:
    found: set[str] = set()
    for settings in target.realm.values():
        for name in names:
            value = getattr(settings, name)
            found |= {value} if isinstance(value, str) else set(value or ())
    return found
