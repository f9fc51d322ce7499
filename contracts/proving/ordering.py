"""The order of cases that the results of drawn proofs give, and the file that keeps these results.

First in the order is what finds most of the faults that are left for each request it costs.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from contracts.errors import UsageError
from contracts.file_formats import Format, Name, Names, read_file
from contracts.plugin.collection import SMOKE_REQUESTS, CaseOrder, Turn, read_order
from contracts.proving.case_costs import KnownCosts, RunningCosts, dealt_out
from contracts.proving.trials import CaseFacts
from contracts.sandbox.faults import population
from contracts.sandbox.faults.fault import Fault
from contracts.settings.target import ANY_REALM

#: What every case costs beside its requests, in requests.
_OVERHEAD: Final = 0.3
#: What a record that stays for good costs, in requests.
_RECORD: Final = 2.0
#: The share of faults that the cases which are about what they break find, all of them together.
_LIKELY: Final = 0.7
#: The share of what a case finds, of faults that differ from one that it found by their condition alone.
_LIKELY_ALIKE: Final = 0.7
#: The condition of a fault that shows in one realm only begins so.
_IN_REALM: Final = "/in-"


@dataclass
class _Faults:
    """Faults of one kind, which the same turns find.

    Attributes:
        weight: How many of a draw, as large as the faults that are known, are not found yet.
        turns: Those that find them, each with the share of them that it finds.
    """

    weight: float
    turns: Mapping[Turn, float]


def order_of_cases(
    command: str,
    found: Mapping[str, Sequence[str]],
    cases: Mapping[str, CaseFacts],
    costs: KnownCosts,
) -> CaseOrder:
    """Order cases by the faults that they find for each request, each time among those that are left.

    Every fault counts as often as a draw takes it: a drawn one for the cases that found it, another one, with less
    certainty, for those that found one that differs by its condition alone, or that are about what it breaks.

    Args:
        command: What found it out.
        found: Drawn faults by name, each with the ids of the cases that found it.
        cases: What is known of each case, by its id with `*` for the realm.
        costs: What each case costs.

    Returns:
        The order; cases that use up what others need stand last.
    """
    all_turns = [Turn(case, realm) for case, facts in cases.items() for realm in facts.realms]
    gains: dict[Turn, float] = dict.fromkeys(all_turns, 0.0)
    of_turn: dict[Turn, list[_Faults]] = defaultdict(list)
    for group in (*_measured(found, cases), *_expected(found, cases)):
        for turn, share in group.turns.items():
            gains[turn] += group.weight * share
            of_turn[turn].append(group)
    running = RunningCosts(costs, all_turns)
    requests: dict[Turn, float] = {}
    room = float(SMOKE_REQUESTS)
    while gains:
        # The profile `smoke` is the beginning, and all of its room is used.
        fitting = [turn for turn in gains if running.of(turn) <= room and not cases[turn.case].last]
        best = min(
            fitting or gains,
            key=lambda turn: (
                cases[turn.case].last,
                -gains[turn] / (running.of(turn) + _OVERHEAD + _RECORD * cases[turn.case].records),
                turn.case,
                turn.realm,
            ),
        )
        cost = round(running.of(best), 2)
        requests[best] = cost
        room = room - cost if fitting else -1.0
        running.take(best)
        for group in of_turn[best]:
            gone = group.weight * group.turns[best]
            group.weight -= gone
            for turn in group.turns.keys() & gains.keys():
                gains[turn] -= gone * group.turns[turn]
        del gains[best]
    return CaseOrder(command, len(found), requests)


def _measured(found: Mapping[str, Sequence[str]], cases: Mapping[str, CaseFacts]) -> Iterator[_Faults]:
    """The faults that were drawn, each as often as a draw takes it; its like in other realms are found alike."""
    chances = _chances()
    draws = Counter(_kind(name) for name in found if name in chances)
    for name, ids in found.items():
        if name not in chances:
            continue  # a fault that has left the population since
        kind = _kind(name)
        for like in _likes(kind):
            weight = len(found) * chances[like.name] / draws[kind]
            yield _Faults(weight, _turns(ids, cases, _realm(like), 1.0))


def _expected(found: Mapping[str, Sequence[str]], cases: Mapping[str, CaseFacts]) -> Iterator[_Faults]:
    """The other must faults, each as often as a draw takes it.

    Where a fault was drawn that differs by its condition alone, what found it may find this one, too. Any other is
    expected to be found by what its clauses and operations are about.
    """
    known = {_kind(name) for name in found}
    of_effect: dict[str, dict[str, None]] = defaultdict(dict)
    for name, ids in found.items():
        of_effect[_effect(name)] |= dict.fromkeys(ids)
    expected: defaultdict[tuple[tuple[str, ...], float, str], float] = defaultdict(float)
    for fault, chance in population.chances().items():
        if _kind(fault.name) in known:
            continue
        if ids := tuple(of_effect[_effect(fault.name)]):
            expected[ids, _LIKELY_ALIKE, _realm(fault)] += chance
        else:
            about = [
                case for case, facts in cases.items() if not set(fault.clauses).isdisjoint(facts.clauses)
            ]
            near = [case for case in about if not set(fault.operations).isdisjoint(cases[case].operations)]
            share = 1 - (1 - _LIKELY) ** (1 / max(1, len(near or about)))
            expected[tuple(near or about), share, _realm(fault)] += chance
    for (ids, share, realm), chance in expected.items():
        yield _Faults(len(found) * chance, _turns(ids, cases, realm, share))


@cache
def _chances() -> Mapping[str, float]:
    """Every must fault with its share of a long draw."""
    return {fault.name: chance for fault, chance in population.chances().items()}


@cache
def _of_kinds() -> Mapping[str, Sequence[Fault]]:
    of_kinds: dict[str, list[Fault]] = defaultdict(list)
    for fault in population.chances():
        of_kinds[_kind(fault.name)].append(fault)
    return of_kinds


def _likes(kind: str) -> Sequence[Fault]:
    """The faults of a kind: one, or one in each realm."""
    return _of_kinds()[kind]


def _realm(fault: Fault) -> str:
    """The realm in which alone a fault shows; empty for all."""
    return fault.realms[0] if fault.realms else ""


def _kind(name: str) -> str:
    """The name of a fault, the same for each realm."""
    kind, in_realm, _ = name.rpartition(_IN_REALM)
    return kind + in_realm if in_realm else name


def _effect(name: str) -> str:
    """The name of a fault without its condition."""
    return name.rpartition("/")[0]


def _turns(ids: Iterable[str], cases: Mapping[str, CaseFacts], realm: str, share: float) -> dict[Turn, float]:
    """The turns of cases that find some faults, and the share of them that each finds; `realm` for these alone."""
    return {
        Turn(case, place): share / len(cases[case].realms) if dealt_out(case) else share
        for case in ids
        if case in cases
        for place in cases[case].realms
        if realm in ("", place) or place == ANY_REALM
    }


def staleness(cases: Iterable[str]) -> str:
    """Say what the order that is kept does not know, or knows in vain; empty when it fits.

    Args:
        cases: The ids of all cases that a gate takes in, with `*` for the realm.
    """
    there, turns = set(cases), read_order().realms.keys()
    parts = (
        [f"{len(there - turns)} cases are not in it, such as {min(there - turns)}"] if there - turns else []
    )
    parts += [f"{len(turns - there)} are gone, such as {min(turns - there)}"] if turns - there else []
    remedy = "`python -m contracts.proving --part drawn --order` measures it again"
    return "; ".join([*parts, remedy]) if parts else ""


class FoundFaults(Format, frozen=True):
    """What drawn proofs found.

    Attributes:
        draws: Their commands.
        found: Each fault that was found, with the cases that found it; of a run that ended at its finding the first.
    """

    draws: Names
    found: dict[Name, Names]

    def with_draw(self, command: str, found: Mapping[str, Sequence[str]]) -> FoundFaults:
        """These with what another proof found; of two findings of a fault the one of more cases counts."""
        news = {name: tuple(ids) for name, ids in found.items() if len(ids) >= len(self.found.get(name, ()))}
        return FoundFaults(tuple(dict.fromkeys([*self.draws, *[command] * bool(found)])), self.found | news)


def read_found(path: Path) -> FoundFaults:
    """Read what drawn proofs found; nothing where there is no such file.

    Raises:
        UsageError: it cannot be read, or holds something else.
    """
    try:
        return read_file(path, FoundFaults)
    except FileNotFoundError:
        return FoundFaults((), {})


def write_found(path: Path, kept: FoundFaults) -> None:
    """Write what drawn proofs found, a line for each fault.

    Raises:
        UsageError: the file cannot be written.
    """
    lines = (f"{json.dumps(name)}: {json.dumps(kept.found[name])}" for name in sorted(kept.found))
    text = f'{{"draws": {json.dumps(kept.draws, indent=1)},\n"found": {{\n' + ",\n".join(lines) + "\n}}\n"
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write '{path}': {error.strerror}") from None
