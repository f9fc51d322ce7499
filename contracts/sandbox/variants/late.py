"""A variant whose lists are a second behind: created items are not listed yet, deleted ones still are.

SQLite's triggers write each change down with the moment it is due; a list first applies the changes that are
due to a copy of the table, and then reads the copy.
"""

from typing import Any

from sqlalchemy import MetaData, Select, Table
from sqlalchemy.schema import Column
from sqlalchemy.sql import visitors

from contracts.sandbox.listing import Listing, Page
from contracts.sandbox.records import Records
from contracts.sandbox.seeds import Seeds
from contracts.sandbox.tables import ATTACHMENTS, VERSIONS
from contracts.sandbox.variants.model import Variant

LATE_SECONDS = 1.0
_NOW = "((julianday('now') - 2440587.5) * 86400.0)"
_COPIES: dict[Table, Table] = {
    table: table.to_metadata(MetaData(), name=f"late_{table.name}") for table in (VERSIONS, ATTACHMENTS)
}


def _statements(table: Table, copy: Table) -> list[str]:
    """Return the SQL that makes the copy of a table, its log of changes and the triggers that fill it."""
    name, key = table.name, next(iter(table.primary_key)).name
    names = [column.name for column in table.c]
    columns, values = ", ".join(names), ", ".join(f"new.{column}" for column in names)
    due = f"{_NOW} + {LATE_SECONDS}"
    return [
        f"CREATE TABLE IF NOT EXISTS {copy.name} AS SELECT * FROM {name}",  # noqa: S608
        f"CREATE TABLE IF NOT EXISTS {copy.name}_log AS SELECT 0.0 AS due, 0 AS gone, * FROM {name} WHERE 0",  # noqa: S608
        *(
            f"CREATE TRIGGER IF NOT EXISTS {copy.name}_{event} AFTER {event} ON {name} BEGIN "  # noqa: S608
            f"INSERT INTO {copy.name}_log (due, gone, {columns}) VALUES ({due}, 0, {values}); END"
            for event in ("insert", "update")
        ),
        f"CREATE TRIGGER IF NOT EXISTS {copy.name}_delete AFTER DELETE ON {name} BEGIN "  # noqa: S608
        f"INSERT INTO {copy.name}_log (due, gone, {key}) VALUES ({due}, 1, old.{key}); END",
    ]


def _apply_due(records: Records, table: Table, copy: Table) -> None:
    """Bring the copy of a table up to the state it is meant to show by now."""
    key = next(iter(table.primary_key)).name
    columns = ", ".join(column.name for column in table.c)
    latest = f"SELECT max(rowid) FROM {copy.name}_log WHERE due <= {_NOW} GROUP BY {key}"  # noqa: S608
    run = records.connection.exec_driver_sql
    run(
        f"DELETE FROM {copy.name} WHERE {key} IN "  # noqa: S608
        f"(SELECT {key} FROM {copy.name}_log WHERE rowid IN ({latest}))"
    )
    run(
        f"INSERT INTO {copy.name} ({columns}) SELECT {columns} FROM {copy.name}_log "  # noqa: S608
        f"WHERE rowid IN ({latest}) AND gone = 0"
    )
    run(
        f"DELETE FROM {copy.name}_log WHERE rowid <= (SELECT max(rowid) FROM {copy.name}_log WHERE due <= {_NOW})"  # noqa: S608
    )


class _LateSeeds(Seeds):
    """Sets up the copies before anything is written."""

    def plant(self) -> None:
        with self.service.storage.transaction() as records:
            for table, copy in _COPIES.items():
                for statement in _statements(table, copy):
                    records.connection.exec_driver_sql(statement)
        super().plant()


class _LateListing(Listing):
    """Reads the copies in place of the tables."""

    def page(self, records: Records, rows: Select[Any], page: Page) -> list[dict[str, Any]]:
        for table, copy in _COPIES.items():
            _apply_due(records, table, copy)
        late: Any = visitors.replacement_traverse(rows, {}, _late)
        return super().page(records, late, page)


def _late(element: Any, **_: Any) -> Any:
    if isinstance(element, Column) and element.table in _COPIES:
        return _COPIES[element.table].c[element.name]
    return _COPIES.get(element) if isinstance(element, Table) else None


VARIANTS = (
    Variant(
        "lists-late",
        "When a change shows in a list is not shown: drafts and attachments come and go a second later.",
        parts={"seeds": _LateSeeds, "listing": _LateListing},
    ),
)
"""The one variant of this module."""
