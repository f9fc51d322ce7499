"""Repairs: counts faults that retries overcame, and finds those that the environment does not explain."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from registry_contracts.evidence.findings import UNWEIGHED, Finding, Reproduce
from registry_contracts.evidence.record import RunRecord
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.exchanges.transcript import curl
from registry_contracts.file_formats import Count, Format
from registry_contracts.interface.catalogue import load_catalogue
from registry_contracts.interface.operations import ANY_REALM
from registry_contracts.session.authentication import ENDED_EARLY

#: Fewer repairs of one kind than this are taken for chance.
_OFTEN: Final = 3
#: Repairs are more than chance if chance picks the same place each time with less than this probability.
_BY_CHANCE: Final = 0.0001
#: Pattern of a fault → the clause that its repair would hide.
_HIDDEN: Final = (
    (re.escape(ENDED_EARLY), "token-lasts-until-expiration"),
    ("status 429", "rate-limits"),
    ("status 5", "no-server-error"),
    ("an HTML page|an empty body|a body of type|the answer broke off in the middle", "json-bodies"),
    ("no answer|the answer (did not end|broke off)|the connection was (reset|closed)", "answers-in-time"),
)
#: What a cache or a known gateway says about itself in the text of a fault.
_SAYS_WHO: Final = re.compile(r"[(,] ?(age\b|[\w-]+: hit\b|server: )")
#: Beginnings of faults after which nothing was retried: the answer was read all the same.
_NOT_REPAIRED: Final = ("content after", "JSON in")
_SHOWN: Final = 3


class Repair(Format, frozen=True):
    """How often a fault of an operation in a realm was overcome by a retry."""

    fault: str
    realm: str
    operation: str | None
    times: Count


def repairs(record: RunRecord) -> tuple[Repair, ...]:
    """Count repairs by fault, realm and operation."""
    met = ((kind, each) for kind, exchanges in _met(record).items() for each in exchanges)
    counts = Counter((kind, each.realm, each.operation) for kind, each in met if each.answered)
    return tuple(Repair(*place, times) for place, times in sorted(counts.items(), key=str))


def _met(record: RunRecord) -> dict[str, list[Exchange]]:
    """The exchanges that met each kind of fault, once each, in their order."""
    met: dict[str, set[str]] = defaultdict(set)
    for fault in record.faults:
        if not fault.fault.startswith(_NOT_REPAIRED):
            met[fault.fault].add(fault.exchange)
    sent = record.exchanges.values()
    found = {kind: [each for each in sent if each.id in names] for kind, names in met.items()}
    return {kind: exchanges for kind, exchanges in found.items() if exchanges}


def unexplained(record: RunRecord) -> Iterator[Finding]:
    """Findings for repairs that always hit the same place, which the environment hardly explains.

    A token that is refused before its expiration is always such a finding.
    """
    sent = list(record.exchanges.values())
    for kind, met in _met(record).items():
        mended = [each for each in met if each.answered]
        clause = next((clause for pattern, clause in _HIDDEN if re.match(pattern, kind)), None)
        if clause is None or _SAYS_WHO.search(kind) or len(mended) < _OFTEN:
            continue
        places = list(_always(met, len(mended), sent))
        # Report it at the operation that was always hit, or else at the clause's only operation.
        hit_all, (own, *others) = {each.operation for each in met}, load_catalogue().clause(clause).operations
        one = len(hit_all) == 1
        if kind != ENDED_EARLY and (not places or (one and not hit_all <= {own, *others})):
            continue
        for realm in dict.fromkeys(each.realm for each in mended):
            here = [each for each in mended if each.realm == realm]
            shown, hit = here[-_SHOWN:], here[0].operation if one else None
            tries = [each for each in sent if each.realm == realm and hit in (None, each.operation)]
            yield Finding(
                clause=clause,
                realm=realm,
                operation=hit or (None if others else own),
                role=here[-1].role,
                expected="an answer at the first try",
                seen=f"{kind}, {', '.join([f'{len(here)} times', *places])}, and an answer after a retry",
                confirmed=True,
                rate=(len(here), len(tries)),
                exchanges=tuple(each.id for each in shown),
                cases=(here[-1].case,),
                reproduce=Reproduce(record.run.command, tuple(map(curl, shown))),
                **UNWEIGHED,
            )


def _always(met: Sequence[Exchange], times: int, sent: Sequence[Exchange]) -> Iterator[str]:
    """What the exchanges have in common, as texts, if chance hardly explains it.

    Compares with all exchanges from the first to the last of them, since a short disturbance hits few operations.
    """
    around = sent[sent.index(met[0]) : sent.index(met[-1]) + 1]
    before = {each.id: previous for previous, each in pairwise(sent)}

    def changed(name: str) -> Callable[[Exchange], object]:
        return lambda each: each.id in before and getattr(before[each.id], name) != getattr(each, name)

    for words, of in (
        ("from {} alone", lambda each: each.operation),
        ("in {} alone", lambda each: "" if each.realm == ANY_REALM else each.realm),
        ("always after another operation", changed("operation")),
        ("always after another account", changed("role")),
        ("always after another realm", changed("realm")),
    ):
        place = of(met[0])
        share = sum(of(each) == place for each in around) / len(around)
        if place and all(of(each) == place for each in met) and share**times < _BY_CHANCE:
            yield words.format(place)
