"""The fault catalogue: hand-written and crossed faults by name, the fixed set of a proof, and draws.

A crossed fault combines conditions of the factor table, an operation and an effect. A table lists each effect with its
operations and the clauses that it breaks there. One rule, `_broken`, changes these clauses by the conditions.
`_promised` says whether the document promises anything of a request that a fault acts on. Nothing here reads the cases.
"""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import cycle, islice, product
from random import Random
from typing import Final

from registry_contracts.errors import UsageError
from registry_contracts.interface.catalogue import load_catalogue
from registry_contracts.interface.description import load_description
from registry_contracts.interface.operations import Operation, is_valid_uid
from registry_contracts.sandbox.faults import attachments, contacts, drafts, lists, protocol, workflow
from registry_contracts.sandbox.faults.conditions import COUNTED, Condition, conditions_of, musts, table
from registry_contracts.sandbox.faults.crossed_answers import on_answers, on_lists, on_refusals
from registry_contracts.sandbox.faults.crossed_state import on_neighbours, on_records, on_values
from registry_contracts.sandbox.faults.effects import Clauses, Effect, Side
from registry_contracts.sandbox.faults.fault import Fault
from registry_contracts.sandbox.faults.messages import Request

_WRITTEN: Final = (drafts, lists, attachments, contacts, workflow, protocol)
_TABLES: Final = (on_answers, on_refusals, on_lists, on_records, on_neighbours, on_values)
#: How many conditions a drawn fault has, by weight. Most failures need one or two (NIST); the nightly draw has three.
_CONDITIONS: Final = {0: 15, 1: 45, 2: 40}
_BY_NIGHT: Final = {0: 10, 1: 35, 2: 40, 3: 15}
#: This share of the faults in accepted requests begins with the second or third request.
_COUNTED: Final = 0.1
#: How often conditions are drawn for an effect.
_TRIES: Final = 50
#: Separates the operation and the effect in the name of a crossed fault.
_BETWEEN: Final = ":"


def _broken(effect: Effect, operation: str, values: Sequence[Condition]) -> Clauses:
    """The clauses that an effect breaks at an operation under some values; none if the document promises nothing.

    A request that must be refused has exactly one reason; the state counts before the content. A request that must be
    accepted has none. The caller alone never shows that a refusal is wrong: the account may lack a right.
    """
    refusing = {value.factor for value in values if value.refusing(operation)}
    if refusing == {"state", "body"}:
        values, refusing = [value for value in values if value.factor != "body"], {"state"}
    unclear = any(value.may and not musts(value.taken, operation) for value in values)
    given = effect.at[operation]
    own = given(operation, values) if callable(given) else given
    if effect.side is Side.ALL:
        return own if len(refusing) < 2 else ()
    if effect.side is Side.REFUSED:
        return own if len(refusing) == 1 and not (effect.clean and unclear) else ()
    alone = {value.factor for value in values if value.factor} == {"caller"}
    if refusing or (effect.acceptance and (alone or unclear)):
        return ()
    unlike = {clause for value in values for clause in value.unlike}
    # A write under an identifier that takes effect shows that the identifier is accepted.
    lost, elsewhere = effect.acceptance or effect.lost, effect.group == "neighbour" or not own
    counting = [v for v in values if not elsewhere and (lost or v.factor == "identifier")]
    more = (clause for value in counting for clause in value.taken)
    covering = [name for name in more if operation in load_catalogue().clause(name).operations]
    return tuple(dict.fromkeys(name for name in (*own, *covering) if name not in unlike))


def _promised(effect: Effect, operation: Operation, request: Request) -> bool:
    """Whether the document promises anything of a request, by all conditions that it meets."""
    if effect.side is Side.ALL:
        return True
    factors = table(operation.id)
    holding = [v for name in factors for v in factors[name][name != "question" :] if v.acts(request)]
    if any(value.factor == "realm" and value.refusing(operation.id) for value in holding):
        holding = [value for value in holding if value.factor != "state"]  # no realm, no record to look at
    known = operation.family not in ("draft", "contact") or request.realm in operation.realms
    asked = "question" not in factors or any(value.factor == "question" for value in holding)
    broken = known and asked and musts(_broken(effect, operation.id, holding))
    return bool(broken) and (effect.side is Side.REFUSED or _owned(operation, request))


def _owned(operation: Operation, request: Request) -> bool:
    """Whether the caller may write, and the record is the caller's and not locked."""
    if request.role in ("", "restricted") or (
        operation.family == "draft" and request.held.is_locked(*request.key)
    ):
        return False
    owners = request.held.owners_anywhere(request.uid)
    owned = owners == {request.role} or not (owners or operation.family == "attachment")
    return not request.uid or (is_valid_uid(request.uid) and owned)


@cache
def effects() -> Mapping[str, Mapping[str, Effect]]:
    """Every effect by operation and name."""
    found: dict[str, dict[str, Effect]] = defaultdict(dict)
    for make in _TABLES:
        for effect in make():
            for operation in effect.at:
                found[operation][effect.name] = effect
    return found


@cache
def population() -> Mapping[str, Fault]:
    """Every hand-written fault by its name."""
    return {fault.name: fault for module in _WRITTEN for fault in module.ROWS}


def load(name: str) -> Fault:
    """Find a fault by its name, hand-written or `OPERATION:EFFECT`; a name may end with `@CONDITION`.

    Raises:
        UsageError: there is none of this name or no such condition, or a crossed fault breaks nothing under it.
    """
    base, _, when = name.partition("@")
    written = population().get(name) or population().get(base)
    if written is not None:
        return written if written.name == name else written.under(when)
    operation, _, of = base.partition(_BETWEEN)
    effect = effects().get(operation, {}).get(of)
    if effect is None:
        near = difflib.get_close_matches(name, population(), n=1)
        hint = f"did you mean '{near[0]}'?" if near else "`registry-contracts list faults` shows them all"
        raise UsageError(f"unknown fault '{name}'; {hint}")
    fault = _fault(effect, operation, conditions_of(when))
    if not fault.breaks:
        raise UsageError(f"'{fault.name}' breaks no clause: of such requests nothing is promised")
    return fault


def _fault(effect: Effect, operation: str, values: Sequence[Condition]) -> Fault:
    when = "+".join(value.name for value in values)
    return Fault(
        f"{operation}{_BETWEEN}{effect.name}" + (f"@{when}" if when else ""),
        _broken(effect, operation, values),
        (operation,),
        effect.make(values),
        f"{operation} {effect.says}.",
        when=when,
        promised=partial(_promised, effect, load_description().operations[operation]),
    )


@cache
def plainest() -> Mapping[str, Fault]:
    """By clause a fault that breaks it, first of all, with one condition at most.

    Best is one that breaks it alone, then what accepts a request that must be refused, then what breaks few others.
    """
    made = []
    places = [(effect, operation) for make in _TABLES for effect in make() for operation in effect.at]
    for conditional, (effect, operation) in product((False, True), places):
        every = [[value] for values in table(operation).values() for value in values] if conditional else [[]]
        made += [(_broken(effect, operation, values), effect, operation, values) for values in every]
    made.sort(
        key=lambda each: (len(each[0]) > 1, len(each[0]) > 1 and each[1].name != "accepted", len(each[0]))
    )
    found: dict[str, Fault] = {}
    for broken, effect, operation, values in made:
        for clause in (name for name in broken if name not in found):
            first = tuple(dict.fromkeys((clause, *broken)))
            found[clause] = replace(_fault(effect, operation, values), breaks=first)
    return found


@cache
def fixed_set() -> tuple[Fault, ...]:
    """The hand-written faults, each for its first clause, and a crossed one for each clause that is first of none."""
    own = population().values()
    broken = {fault.breaks[0] for fault in own}
    return (*own, *(fault for clause, fault in plainest().items() if clause not in broken))


def draw(number: int, seed: int, *, by_night: bool = False) -> list[Fault]:
    """Draw crossed faults that break a must; the same for the same seed.

    The groups of effects rotate. In a group all operations are equally likely, and at an operation all effects.
    """
    chance = Random(f"crossed {seed}")  # noqa: S311 - nothing secret hangs on it
    groups: dict[str, dict[str, list[Effect]]] = defaultdict(lambda: defaultdict(list))
    for operation, by_name in effects().items():
        for effect in by_name.values():
            groups[effect.group][operation].append(effect)
    drawn: dict[str, Fault] = {}
    for group in islice(cycle(groups.values()), number):
        fault = None
        while fault is None or fault.name in drawn:
            operation = chance.choice([*group])
            fault = _drawn(
                chance.choice(group[operation]), operation, chance, _BY_NIGHT if by_night else _CONDITIONS
            )
        drawn[fault.name] = fault
    return list(drawn.values())


def _drawn(effect: Effect, operation: str, chance: Random, weights: Mapping[int, int]) -> Fault | None:
    """Draw conditions for an effect until it breaks a must clause; None after too many tries."""
    factors = {name: values[1:] for name, values in table(operation).items()}
    if operation == "saveDraft":
        factors["state"] = table(operation)["state"]
    names = [name for name, values in sorted(factors.items()) if values]
    for _ in range(_TRIES):
        several = max(chance.choices([*weights], [*weights.values()])[0], effect.side is Side.REFUSED)
        values = [chance.choice(factors[name]) for name in chance.sample(names, min(several, len(names)))]
        counted = effect.side is Side.TAKEN and chance.random() < _COUNTED
        if counted and "free" not in {value.name for value in values}:
            values = [*values[:1], *conditions_of(chance.choice(COUNTED))]
        fault = _fault(effect, operation, values)
        if musts(fault.breaks):
            return fault
    return None
