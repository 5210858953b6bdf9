"""Writing many rows of many tables in one round trip."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from uuid import UUID

from sqlalchemy import TextClause, text

from app.db.session import WriteSession

Row = Mapping[str, object]

ON_CONFLICT: Mapping[str, str] = {
    "entities": """ON CONFLICT (tenant_id, id) DO UPDATE SET
        mention_count = entities.mention_count + excluded.mention_count,
        canonical_name = excluded.canonical_name,
        entity_type = CASE WHEN excluded.entity_type = 'unknown' THEN entities.entity_type
                           ELSE excluded.entity_type END,
        attributes = entities.attributes || excluded.attributes""",
    "entity_aliases": "ON CONFLICT DO NOTHING",
    "memory_entities": "ON CONFLICT DO NOTHING",
    "memory_links": "ON CONFLICT DO NOTHING",
    "lexical_terms": """ON CONFLICT (tenant_id, scope_id, term) DO UPDATE SET
        documents = lexical_terms.documents + excluded.documents""",
    "memory_usage": """ON CONFLICT (tenant_id, memory_id) DO UPDATE SET
        last_accessed_at = greatest(memory_usage.last_accessed_at, excluded.last_accessed_at)""",
}
"""What a table does with a row it has; the others must not have it."""


async def insert_all(session: WriteSession, rows: Mapping[str, Sequence[Row]]) -> None:
    """Insert rows into tables, by table name, as one statement; all rows of a table have the same columns.

    Foreign keys among them hold, because Postgres checks them at the end of the statement.
    """
    tables = {name: tuple(given[0]) for name, given in rows.items() if given}
    if not tables:
        return
    statement = _statement(tuple(sorted(tables.items())))
    parameters = {name: json.dumps(rows[name], default=_jsonable) for name in tables}
    await session.execute(statement, parameters)


@cache
def _statement(tables: tuple[tuple[str, tuple[str, ...]], ...]) -> TextClause:
    inserts = ",\n".join(
        f"new_{name} AS (INSERT INTO {name} ({', '.join(columns)}) SELECT {', '.join(columns)} "  # noqa: S608
        f"FROM jsonb_populate_recordset(NULL::{name}, CAST(:{name} AS jsonb)) {ON_CONFLICT.get(name, '')})"
        for name, columns in tables
    )
    return text(f"WITH {inserts} SELECT 1")


def _jsonable(value: object) -> object:
    match value:
        case UUID():
            return str(value)
        case datetime():
            return value.isoformat()
        case bytes():
            return f"\\x{value.hex()}"
        case Mapping():
            return dict(value)
        case _:
            raise TypeError(f"cannot write a {type(value).__name__} as JSON")
