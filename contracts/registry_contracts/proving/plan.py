"""The trials of a proof: the fixed set, what is drawn, and manners."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from random import Random
from typing import Final
from zlib import crc32

from registry_contracts.interface.profiles import Profile
from registry_contracts.proving.services import AND, draw_services, drawable
from registry_contracts.proving.trials import FAITHFUL, Kind, Part, Trial
from registry_contracts.sandbox.faults import population
from registry_contracts.sandbox.faults.fault import Fault
from registry_contracts.sandbox.variants import ALL as VARIANTS
from registry_contracts.sandbox.variants import chosen
from registry_contracts.sandbox.weather import ALL as WEATHERS
from registry_contracts.settings.target import DEVELOPMENT_REALMS, DOCUMENT_REALMS

#: Seed of the fixed set.
FIXED_SEED: Final = 1
#: Clauses about two realms: a run in one realm cannot see them broken.
_BETWEEN_REALMS: Final = frozenset({"realm-drafts-apart", "realm-lists-apart"})


def fixed_trials(faults: Iterable[Fault], realm: str = "") -> Iterator[Trial]:
    """Try each fault with the cases of the first of its clauses, in one of its realms."""
    for fault in faults:
        offered, name = fault.realms, fault.name
        where = realm or offered[crc32(name.encode()) % len(offered)]
        yield Trial(Part.FIXED, Kind.FAULT, name, (where,), FIXED_SEED, clauses=fault.breaks[:1], narrow=True)


def further(trial: Trial) -> Trial | None:
    """The next trial of a surviving fault: its clauses in all realms by night, then a whole gate; None after that."""
    if trial.part is not Part.FIXED or trial.kind is not Kind.FAULT or not trial.narrow:
        return None
    if trial.profile == "nightly":
        return replace(trial, profile="gate", realms=trial.realms[:1], narrow=False)
    return replace(trial, profile="nightly", realms=population.load(trial.name).realms)


def calm_trials(seed: int) -> Iterator[Trial]:
    """The faithful service in every realm, and drawn services until each variant was in one of them."""
    for realm in DEVELOPMENT_REALMS:
        yield faithful_trial((realm,))
    for name in VARIANTS:
        if VARIANTS[name].settings:
            yield service_trial(Part.FIXED, name, FIXED_SEED)
    waiting = set(drawable())
    for name in draw_services(seed, many_only=True):
        yield service_trial(Part.FIXED, name, FIXED_SEED)
        waiting -= set(name.split(AND))
        if not waiting:
            return


def faithful_trial(
    realms: tuple[str, ...], profile: str = "gate", seed: int = FIXED_SEED, functions: Iterable[str] = ()
) -> Trial:
    """A run on the faithful service; `functions`: only the cases of these test functions."""
    return Trial(Part.FIXED, Kind.SERVICE, FAITHFUL, realms, seed, profile, only=tuple(functions))


def fault_trial(fault: Fault, seed: int, realm: str = "", profile: str = "gate") -> Trial:
    """A whole run on a fault, in one of its realms; a fault between realms is tried in all of them."""
    chance = Random(f"realm {seed} {fault.name}")  # noqa: S311 - nothing secret hangs on it
    several = not _BETWEEN_REALMS.isdisjoint(fault.breaks)
    drawn = fault.realms if several else (chance.choice(fault.realms),)
    realms = (realm,) if realm else drawn
    return Trial(Part.DRAWN, Kind.FAULT, fault.name, realms, seed, profile, clauses=fault.breaks)


def service_trial(part: Part, name: str, seed: int, realm: str = "", profile: str = "gate") -> Trial:
    """A whole run on a service, in a drawn realm; the realm of the workflow alone is drawn least often.

    Raises:
        UsageError: there is no variant of one of the names.
    """
    chosen(name.split(AND))
    chance = Random(f"realm {seed} {name}")  # noqa: S311 - as above
    drawn = chance.choice((*DOCUMENT_REALMS, *DOCUMENT_REALMS, DEVELOPMENT_REALMS[-1]))
    return Trial(part, Kind.SERVICE, name, (realm or drawn,), seed, profile)


def drawn_trials(
    faults: int, services: int, seed: int, realm: str = "", profile: str = "gate"
) -> Iterator[Trial]:
    """Whole runs of a profile on drawn services and on crossed faults."""
    for name in islice(draw_services(seed), services):
        yield service_trial(Part.DRAWN, name, seed, realm, profile)
    for fault in population.draw(faults, seed, by_night=Profile(profile).includes(Profile.NIGHTLY)):
        yield fault_trial(fault, seed, realm, profile)


#: Figures with which network faults strike in short runs: of the profile smoke, and of the cases of one clause.
CLOSE: Final[Mapping[str, tuple[str, str]]] = {
    "latency": ("seconds=0.15", "seconds=0.05"),
    "sporadic-503": ("share=0.06", "share=0.15"),
    "rate-limit": ("per_second=30:burst=20", "per_second=10:burst=5"),
    "gateway-html": ("share=0.06", "share=0.15"),
    "lost-route": ("share=0.03", "share=0.1"),
    "maintenance": ("from_request=20:seconds=4", "from_request=5:seconds=3"),
    "resets": ("share=0.06", "share=0.15"),
    "truncated": ("share=0.06", "share=0.15"),
    "outage-midway": ("from_request=30", "from_request=12"),
    "restart": ("every=30", "every=15"),
}
#: Faults of the sandbox while a network fault strikes.
BENEATH: Final = (
    "getDraft:refused-400",
    "getAttachment:refused-400",
    "contact-create-designation-refused",
    "deleteDraft:refused-400",
    "uid-accepts-plus",
)
_REALM: Final = DOCUMENT_REALMS[0]
#: How many runs are killed.
_KILLS: Final = 4


def manners_trials(seed: int) -> Iterator[Trial]:
    """Every network fault with the faithful service and with a fault, runs beside others' records, and killed runs."""
    chance = Random(f"manners {seed}")  # noqa: S311 - as above
    for number in range(_KILLS):
        moment = f"{chance.uniform(1.0, 25.0):.1f}"
        yield Trial(Part.MANNERS, Kind.KILL, moment, (_REALM,), seed + number)
    faults = [population.load(name) for name in BENEATH]
    yield _canary("smoke", "", seed)
    yield _canary("gate", "-n 2", seed)
    yield _canary("gate", "-n 2", seed, faults[-1])
    for turn, (name, each) in enumerate(WEATHERS.items(), seed):
        fault = faults[turn % len(faults)]
        wide, close = (f"{name}:{figures}" if figures else name for figures in CLOSE.get(name, ("", "")))
        trial = Trial(
            Part.MANNERS, Kind.NETWORK_FAULT, wide, (_REALM,), seed, "smoke", reachable=each.passable
        )
        yield trial
        yield replace(trial, name=close, profile="gate", clauses=fault.breaks, narrow=True, fault=fault.name)


def _canary(profile: str, words: str, seed: int, fault: Fault | None = None) -> Trial:
    name = fault.name if fault else ""
    return Trial(Part.MANNERS, Kind.CANARY, words, DEVELOPMENT_REALMS, seed, profile, fault=name)
