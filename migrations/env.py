"""Runs migrations as the owner over asyncpg, one process at a time."""

from __future__ import annotations

import asyncio
import time

from alembic import context
from sqlalchemy import Connection, text
from sqlalchemy.pool import NullPool

from app.db.connecting import engine_of
from app.db.migrate import GIVE_WAY, LOCK_TIMEOUT_SECONDS, SET_LOCK_TIMEOUT
from app.db.tables import metadata

LOCK = 7_261_943_001
"""Advisory lock that lets one process migrate while others wait."""

PAUSE_SECONDS = 0.2


def ours(_item: object, name: str | None, kind: str, *_others: object) -> bool:
    """Leave out indexes of single embedding models and memory types, which are no part of the tables, and the queue."""
    tables = ("memory_index", "hypothetical_embeddings")
    indexes = (*(f"ix_{table}_{of}_" for table in tables for of in ("model", "lacks")), "ix_memories_type_")
    left_out = {"index": indexes, "table": ("pgqueuer",)}.get(kind)
    return name is None or left_out is None or not name.startswith(left_out)


def run(connection: Connection) -> None:
    context.configure(
        connection=connection,
        target_metadata=metadata,
        include_object=ours,
        compare_type=True,
        transaction_per_migration=True,
    )
    connection.execute(text(GIVE_WAY))
    wait_for_turn(connection)
    try:
        with context.begin_transaction():
            context.run_migrations()
    finally:
        connection.execute(text("SELECT pg_advisory_unlock(:lock)"), {"lock": LOCK})
        connection.commit()


def wait_for_turn(connection: Connection) -> None:
    """Take the lock; between attempts no transaction is open: an index that is built concurrently waits for those."""
    while not connection.execute(text("SELECT pg_try_advisory_lock(:lock)"), {"lock": LOCK}).scalar_one():
        connection.commit()
        time.sleep(PAUSE_SECONDS)
    connection.commit()


async def online() -> None:
    url = context.config.attributes["url"]
    settings = {"lock_timeout": f"{LOCK_TIMEOUT_SECONDS}s"}
    engine = engine_of(url, poolclass=NullPool, connect_args={"server_settings": settings})
    async with engine.connect() as connection:
        await connection.run_sync(run)
    await engine.dispose()


def offline() -> None:
    """Write the SQL instead of running it, for linters."""
    context.configure(
        dialect_name="postgresql",
        target_metadata=metadata,
        literal_binds=True,
        transaction_per_migration=True,
    )
    context.execute(SET_LOCK_TIMEOUT)
    with context.begin_transaction():
        context.run_migrations()


if context.is_offline_mode():
    offline()
else:
    asyncio.run(online())
