"""The tables that refer to memories, entities and scopes, read from the foreign keys.

Erasure and export use them, so that a table that a later migration adds is erased and exported with the rest.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Table

from app.db.tables import entities, memories, metadata, scopes


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignKey:
    """A column of a table that refers to a row of another."""

    table: str
    column: str


def children(parent: Table) -> tuple[ForeignKey, ...]:
    """Return every column of other tables that refers to the table's rows, by table name."""
    found = {
        ForeignKey(table=table.name, column=column)
        for table in metadata.tables.values()
        if table is not parent
        for column in referring(table, parent)
    }
    return tuple(sorted(found, key=lambda one: (one.table, one.column)))


def referring(table: Table, parent: Table) -> tuple[str, ...]:
    """Return the columns of a table, beside the tenant's, that refer to another table's rows."""
    # SQLAlchemy's own strings are slow to write as JSON.
    return tuple(
        str(element.parent.name)
        for key in table.foreign_key_constraints
        if key.referred_table is parent
        for element in key.elements
        if element.parent.name != "tenant_id"
    )


OF_MEMORY = children(memories)
"""Tables that belong to a memory, and are deleted with it."""

OF_ENTITY = tuple(one for one in children(entities) if one.table not in {child.table for child in OF_MEMORY})
"""Tables that belong to an entity and to no memory."""

IN_SCOPE = tuple(one.table for one in children(scopes) if one.table not in {"memories", "entities", "turns"})
"""Tables of a scope besides memories, entities and turns."""
