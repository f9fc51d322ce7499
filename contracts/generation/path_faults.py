"""Schemas and identifiers that do not belong in the path of a submission."""

from __future__ import annotations

from typing import Final

from contracts.judging.outcomes import Untested
from contracts.session.namespace import UID_LONGEST, UID_SHORTEST, Namespace
from contracts.target.model import Target

#: What the identifier rule leaves out: near misses, both misreadings of its pattern, other scripts, white space.
_FORBIDDEN: Final = (".", " ", "]", "\\", "é", "\n")


def foreign_schema(target: Target, realm: str, turn: str) -> str:
    """A workflow schema of another realm that is not this one's; another one for each turn, as far as there are.

    Raises:
        Untested: the settings name none.
    """
    own = target.realm_settings(realm).workflow_schema
    named = (target.realm_settings(other).workflow_schema for other in target.realms if other != realm)
    found = [schema for schema in dict.fromkeys(named) if schema and schema != own]
    if not found:
        raise Untested("setting realm.<another realm>.workflow_schema is missing")
    return found[sum(map(ord, turn)) % len(found)]


def forbidden_identifiers(fresh: Namespace) -> dict[str, list[str]]:
    """Identifiers outside the rule, inside the run's prefix, by the clause that forbids them."""
    return {
        "workflow-identifier-too-short": [fresh.uid(UID_SHORTEST - 1), fresh.uid(len(fresh.prefix) + 1)],
        "workflow-identifier-too-long": [fresh.uid(UID_LONGEST + 1), fresh.uid(2 * UID_LONGEST)],
        "workflow-identifier-characters": [fresh.uid() + each for each in _FORBIDDEN],
    }


def other_case(fresh: Namespace, identifier: str) -> str:
    """An identifier that differs in letter case only, behind the run's prefix."""
    return fresh.prefix + identifier.removeprefix(fresh.prefix).swapcase()
