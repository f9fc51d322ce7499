"""Reads a consumer file: what an SDK uses of the interface, and which judgements it does without."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from contracts.evidence.terms import Consumer, Waiver
from contracts.gating.deviations_file import known_clause, known_operation, known_realm
from contracts.gating.source import Source, read_source
from contracts.interface.catalogue import Catalogue
from contracts.interface.description import Description
from contracts.interface.operations import ANY_REALM, WORKFLOW_REALMS

KEYS = ("operations", "methods", "clauses", "realms", "waivers")


def read_consumer(path: Path, shown: str, catalogue: Catalogue, description: Description) -> Consumer:
    """Read a consumer file.

    Args:
        path: The TOML file.
        shown: The path as messages show it.
        catalogue: The clauses it may name.
        description: The operations it may name.

    Raises:
        UsageError: one line with file, line, what is wrong and what to do.
    """
    source = read_source(path, shown, "consumer file")
    source.refuse_unknown((), source.tables, KEYS)
    if not source.tables:
        raise source.fault((), 'the consumer file says nothing; begin with operations = ["createToken", …]')
    methods = dict(_methods(source, description))
    listed = _operations(source, description)
    called = [operation for operations in methods.values() for operation in operations]
    operations = tuple(name for name in description.operations if name in {*listed, *called})
    realms = _realms(source)
    _refuse_unreachable(source, operations, realms, description)
    return Consumer(
        file=source.shown,
        operations=operations,
        methods=methods,
        clauses=_clauses(source, operations, catalogue),
        realms=realms,
        waivers=tuple(_waivers(source, catalogue)),
    )


def _operations(source: Source, description: Description) -> tuple[str, ...]:
    if "operations" not in source.tables:
        return ()
    names = source.texts_at(("operations",), source.tables["operations"], "saveDraft")
    for name in names:
        known_operation(source, ("operations",), name, description)
    return names


def _methods(source: Source, description: Description) -> Iterator[tuple[str, tuple[str, ...]]]:
    if "methods" not in source.tables:
        return
    table = source.table_at(("methods",), source.tables["methods"])
    if not table:
        raise source.fault(("methods",), 'methods is empty; write "client.drafts.save" = ["saveDraft"]')
    for keys, value in _flat(table):
        place = ("methods", *keys)
        operations = source.texts_at(place, value, "saveDraft")
        for name in operations:
            known_operation(source, place, name, description)
        yield ".".join(keys), operations


def _flat(table: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield methods by their names; a dotted name without quotes is a table in a table to TOML."""
    for key, value in table.items():
        if isinstance(value, dict) and value:
            yield from (((key, *inner), found) for inner, found in _flat(value))
        else:
            yield (key,), value


def _realms(source: Source) -> tuple[str, ...]:
    if "realms" not in source.tables:
        return ()
    realms = source.texts_at(("realms",), source.tables["realms"], "abs-dev")
    for realm in realms:
        known_realm(source, ("realms",), realm, WORKFLOW_REALMS)
    return realms


def _refuse_unreachable(
    source: Source, operations: tuple[str, ...], realms: tuple[str, ...], description: Description
) -> None:
    """Refuse an operation that none of the realms has: it would be gated by nothing."""
    for name in operations if realms else ():
        has = description.operations[name].realms
        if has != (ANY_REALM,) and not set(has) & set(realms):
            raise source.fault(
                ("realms",), f"{name} is offered in {', '.join(has)} only; name one of them, or take it out"
            )


def _clauses(source: Source, operations: tuple[str, ...], catalogue: Catalogue) -> tuple[str, ...]:
    if "clauses" not in source.tables:
        return ()
    names = source.texts_at(("clauses",), source.tables["clauses"], "draft-get-content")
    for name in names:
        clause = known_clause(source, ("clauses",), name, catalogue)
        if operations and not set(clause.operations) & set(operations):
            raise source.fault(
                ("clauses",),
                f"'{name}' concerns {', '.join(clause.operations)}, which the consumer does not use; "
                "add one of them to operations, or take the clause out",
                name,
            )
    return names


def _waivers(source: Source, catalogue: Catalogue) -> Iterator[Waiver]:
    if "waivers" not in source.tables:
        return
    table = source.table_at(("waivers",), source.tables["waivers"])
    for name, reason in table.items():
        keys = ("waivers", name)
        known_clause(source, keys, name, catalogue)
        if not isinstance(reason, str) or not reason.strip():
            raise source.fault(
                keys, f"the waiver of '{name}' has no reason; write {name} = \"why the SDK can do without\""
            )
        yield Waiver(name, reason.strip(), source.shown, source.line(keys))
