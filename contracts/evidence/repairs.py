"""Repairs: what a session put right by asking again, counted, and what of it no surroundings explain."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from contracts.evidence.record import RunRecord, SeenFinding
from contracts.exchanges.exchange import Exchange
from contracts.exchanges.transcript import curl
from contracts.file_formats import Count, Format
from contracts.session.authentication import ENDED_EARLY

#: Fewer of one kind come by chance, …
_OFTEN: Final = 3
#: … and so may more, where that much of a run is of the one kind that surroundings would have had to pick each time.
_BY_CHANCE: Final = 0.0001
#: What stood in the way → the clause that its repair hides.
_HIDDEN: Final = (
    (re.escape(ENDED_EARLY), "token-lasts-until-expiration"),
    ("status 429", "rate-limits"),
    ("status ", "no-server-error"),
    ("an HTML page|the answer broke off|JSON in", "json-bodies"),
    ("(?!content behind)", "answers-in-time"),
)
_SHOWN: Final = 3


class Repair(Format, frozen=True):
    """What came from an operation in a realm, and how often the same request was answered at a later try."""

    fault: str
    realm: str
    operation: str | None
    times: Count


def repairs(record: RunRecord) -> tuple[Repair, ...]:
    """Count what was put right, by kind, realm and operation."""
    counts = Counter(
        (kind, each.realm, each.operation or "")
        for kind, met in _met(record).items()
        for each in met
        if each.answered
    )
    return tuple(
        Repair(kind, realm, operation or None, n) for (kind, realm, operation), n in sorted(counts.items())
    )


def _met(record: RunRecord) -> dict[str, list[Exchange]]:
    """The exchanges that met each kind of fault, each once."""
    met: dict[str, dict[str, Exchange]] = defaultdict(dict)
    for fault in record.faults:
        exchange = record.exchanges.get(fault.get("exchange", ""))
        if exchange is not None:
            met[fault["fault"]][exchange.id] = exchange
    return {kind: [*exchanges.values()] for kind, exchanges in met.items()}


def unexplained(record: RunRecord) -> Iterator[SeenFinding]:
    """The repairs that surroundings hardly make, as findings on the clauses that they hid: in one place, always.

    A token that is refused before its expiration is of no surroundings wherever it was.
    """
    for kind, met in _met(record).items():
        mended = [each for each in met if each.answered]
        clause = next((clause for pattern, clause in _HIDDEN if re.match(pattern, kind)), None)
        places = list(_always(met, len(mended), record.exchanges))
        if clause is None or len(mended) < _OFTEN or not (places or kind == ENDED_EARLY):
            continue
        one = len({each.operation for each in met}) == 1
        for realm in dict.fromkeys(each.realm for each in mended):
            here = [each for each in mended if each.realm == realm]
            operation = here[0].operation if one else None
            yield SeenFinding(
                clause=clause,
                realm=realm,
                operation=operation,
                role=here[-1].role,
                expected="an answer at the first try",
                seen=f"{kind}, {', '.join([f'{len(here)} times', *places])}, and an answer when asked again",
                confirmed=True,
                rate=(
                    len(here),
                    sum(
                        (each.realm, each.operation) == (realm, operation or each.operation)
                        for each in record.exchanges.values()
                    ),
                ),
                exchanges=tuple(each.id for each in here[-_SHOWN:]),
                case=here[-1].case,
                curl=tuple(map(curl, here[-_SHOWN:])),
                command=record.run.command,
            )


def _always(met: Sequence[Exchange], times: int, all_sent: Mapping[str, Exchange]) -> Iterator[str]:
    """What is the same of exchanges each time, and of too few others for that to be chance, in a few words."""
    sent = list(all_sent.values())
    before = {each.id: previous for previous, each in pairwise(sent)}

    def changed(name: str) -> Callable[[Exchange], object]:
        return lambda each: each.id in before and getattr(before[each.id], name) != getattr(each, name)

    for words, of in (
        ("from {} alone", lambda each: each.operation),
        ("in {} alone", lambda each: each.realm),
        ("always behind another operation", changed("operation")),
        ("always behind another account", changed("role")),
        ("always behind another realm", changed("realm")),
    ):
        value = of(met[0])
        share = sum(of(each) == value for each in sent) / len(sent)
        if value and all(of(each) == value for each in met) and share**times < _BY_CHANCE:
            yield words.format(value)
