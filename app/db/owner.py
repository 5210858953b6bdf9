"""What only the owner of the database does for a change of its embedding model: phases of models, their indexes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import asyncpg

from app.db import models
from app.db.models import Phase, StoredModel
from app.errors import Conflict, DatabaseUnavailable

CHANGING = 7_261_943_003
"""The advisory lock that lets one process change the model."""

_SESSION = {
    "application_name": "typed-memory reembed",
    "statement_timeout": "0",
    "max_parallel_maintenance_workers": "0",
    "client_connection_check_interval": "2000",
}
"""An index is built on one core, so that the others answer questions; and no longer than this process lives."""


@asynccontextmanager
async def changing(owner_url: str) -> AsyncIterator[asyncpg.Connection]:
    """Yield a connection of the owner's, while nobody else changes the model.

    Raises Conflict when somebody does, and DatabaseUnavailable when the database refuses something.
    """
    plain = owner_url.replace("postgresql+asyncpg://", "postgresql://", 1)
    try:
        connection = await asyncpg.connect(plain, server_settings=_SESSION)
    except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        raise DatabaseUnavailable(f"the owner of the database can't connect: {error}") from error
    try:
        if not await connection.fetchval("SELECT pg_try_advisory_lock($1)", CHANGING):
            raise Conflict(
                "another `typed-memory reembed` is at work on this database: let it finish, or stop it "
                "(one that was killed while it built an index lets go within seconds)"
            )
        yield connection
    except asyncpg.PostgresError as error:
        raise DatabaseUnavailable(f"the database refused: {error}") from error
    finally:
        await connection.close()


async def add(connection: asyncpg.Connection, *, name: str, dimensions: int) -> int:
    """Record a model whose vectors are to be built beside the active one's; return its id."""
    return int(
        await connection.fetchval(
            """
            INSERT INTO embedding_models (id, name, dimensions, active, phase)
            SELECT max(id) + CASE WHEN (max(id) - max(id) FILTER (WHERE active)) % 2 = 0 THEN 1 ELSE 2 END,
                $1, $2, false, 'building'
            FROM embedding_models RETURNING id
            """,
            name,
            dimensions,
        )
    )


async def mark(connection: asyncpg.Connection, model_id: int, phase: Phase) -> None:
    """Say what a model that is not active is used for from now on."""
    await connection.execute("UPDATE embedding_models SET phase = $2 WHERE id = $1 AND NOT active", model_id, phase)


async def switch(connection: asyncpg.Connection, model_id: int) -> None:
    """Make a model the active one, at once; the one that was is on its way out, and counts as just seen."""
    async with connection.transaction():
        await connection.execute(
            "UPDATE embedding_models SET active = false, phase = 'leaving', seen_at = clock_timestamp()"
            " WHERE active AND id <> $1",
            model_id,
        )
        await connection.execute("UPDATE embedding_models SET active = true, phase = 'active' WHERE id = $1", model_id)


async def index_gaps(connection: asyncpg.Connection, known: Sequence[StoredModel]) -> None:
    """Index the rows that lack a vector of each of these models; what is indexed already is left alone."""
    for model in known:
        for table in models.TABLES:
            await _index(connection, models.gap_name(model.id, table), models.gap_over(table, model.id))


async def index_vectors(connection: asyncpg.Connection, model: StoredModel) -> None:
    """Build the vector indexes of a model while its tables are written to, and look at the tables anew for plans."""
    for table in models.TABLES:
        over = models.index_over(table, model.id, model.dimensions)
        await _index(connection, models.index_name(model.id, table), over)
        await connection.execute(f"ANALYZE {table}")


async def drop_indexes(connection: asyncpg.Connection, model: StoredModel) -> None:
    """Drop the vector indexes of a model while its tables are read and written."""
    for table in models.TABLES:
        await _drop(connection, models.index_name(model.id, table))


async def drop_gaps(connection: asyncpg.Connection, model: StoredModel) -> None:
    """Drop the indexes of the rows that lack a vector of a model."""
    for table in models.TABLES:
        await _drop(connection, models.gap_name(model.id, table))


async def _index(connection: asyncpg.Connection, name: str, over: str) -> None:
    """Build an index unless it is there, and whole; one whose building was cut off is built anew."""
    valid = await connection.fetchval("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)", name)
    if valid is False:
        await _drop(connection, name)
    if not valid:
        await connection.execute(f"CREATE INDEX CONCURRENTLY {over}")


async def _drop(connection: asyncpg.Connection, name: str) -> None:
    await connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
