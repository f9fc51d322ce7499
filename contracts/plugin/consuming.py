"""Which cases a consumer needs: those on its operations, and those that alone judge a clause on them."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from contracts.evidence.terms import Consumer
from contracts.interface.catalogue import load_catalogue
from contracts.interface.description import load_description
from contracts.judging.universal import UNIVERSAL

#: A case with its clauses, its operations and its realm.
Facts = tuple[pytest.Item, tuple[str, ...], tuple[str, ...], str]


def outside(consumer: Consumer | None, cases: Iterable[Facts]) -> set[str]:
    """Return the node ids of the cases that a consumer does not need; without a consumer, none.

    A case is needed when it exercises an operation of the consumer's. One on another operation is needed too where
    it speaks of a clause that the consumer relies on and no case on the consumer's own operations does.
    """
    if consumer is None:
        return set()
    known = list(cases)
    direct = [each for each in known if _concerns(consumer, each)]
    judged = {(clause, realm) for _, clauses, _, realm in direct for clause in clauses}
    taken = {item.nodeid for item, *_ in direct}
    for item, clauses, _, realm in known:
        if any((name, realm) not in judged and _relies(consumer, name, realm) for name in clauses):
            taken.add(item.nodeid)
    return {item.nodeid for item, *_ in known} - taken


def _concerns(consumer: Consumer, case: Facts) -> bool:
    _, clauses, operations, realm = case
    return any(consumer.counts(clause, realm, operation) for clause in clauses for operation in operations)


def _relies(consumer: Consumer, name: str, realm: str) -> bool:
    """Whether the clause speaks, in the realm, of an operation of the consumer's; what every exchange shows aside."""
    offered = load_description().operations
    return name not in UNIVERSAL and any(
        realm in offered[operation].realms and consumer.counts(name, realm, operation)
        for operation in load_catalogue().clause(name).operations
    )
