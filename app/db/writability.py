"""Check that the database takes writes: a replica, revoked rights and a full disk answer reads as well as ever."""

from __future__ import annotations

from sqlalchemy import text

from app.db.session import Database, statement
from app.errors import TypedMemoryError

_STATE = statement(
    """
    SELECT pg_is_in_recovery() AS standby, current_setting('default_transaction_read_only') = 'on' AS read_only,
        has_table_privilege('memories', 'INSERT') AND has_table_privilege('memory_index', 'INSERT')
            AND has_table_privilege('audit_events', 'SELECT') AS granted,
        has_database_privilege(current_database(), 'TEMPORARY') AS can_try
    """
)

_PROBE = text(
    "CREATE TEMPORARY TABLE write_probe ON COMMIT DROP AS SELECT repeat('x', 2000) FROM generate_series(1, 500)"
)
"""A megabyte, of which nothing stays."""


async def refusal(database: Database) -> str | None:
    """Return why writes fail, None where they don't; after one that failed, a write is tried."""
    async with database.read(None) as session:
        [row] = await session.fetch(_STATE, {})
    if row["standby"] or row["read_only"]:
        return "the database is read-only: a replica, or a server that is told to be"
    if not row["granted"]:
        return "the service's role may not write: its grants were revoked"
    if database.refused is None or not row["can_try"]:
        return None
    try:
        async with database.write(None) as session:
            await session.execute(_PROBE)
    except TypedMemoryError as error:
        return error.message
    return None
