"""Statements of a change of the embedding model: models' phases and indexes, as the owner; vectors of rows.

The rows themselves record the progress: a row with its vector is not selected again. A row that another transaction
locks is left for the next sweep, so that nothing here waits for a row lock while it has locked others.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, TypeAlias
from uuid import UUID

import asyncpg
from pgvector import HalfVector

from app.db import embedding_models
from app.db.connecting import open_connection
from app.db.embedding_models import Phase, StoredModel, missing_vectors
from app.db.session import ReadSession, SqlStatement, WriteSession, statement
from app.db.sql import as_record, columns_of
from app.errors import Conflict, DatabaseUnavailable

CHANGING = 7_261_943_003
"""The advisory lock that lets one process change the model."""

_SESSION = {
    "application_name": "typed-memory reembed",
    "statement_timeout": "0",
    "max_parallel_maintenance_workers": "0",
    "client_connection_check_interval": "2000",
}
"""Settings of the owner's session: an index is built on one core, so that the others serve requests, and its build
ends with this process."""


OwnerConnection: TypeAlias = asyncpg.Connection
"""A connection of the database's owner, which alone may build and drop indexes."""


@asynccontextmanager
async def owner_connection(owner_url: str) -> AsyncIterator[OwnerConnection]:
    """Yield a connection of the owner that holds the lock for changing the model.

    Raises Conflict when another process holds the lock, and DatabaseUnavailable for errors of the database.
    """
    try:
        connection = await open_connection(owner_url, server_settings=_SESSION)
    except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        raise DatabaseUnavailable(f"the owner of the database can't connect: {error}") from error
    try:
        if not await connection.fetchval("SELECT pg_try_advisory_lock($1)", CHANGING):
            raise Conflict(
                "another `typed-memory reembed` is at work on this database: let it finish, or stop it "
                "(one that was killed while it built an index lets go within seconds)"
            )
        yield connection
    except (asyncpg.PostgresConnectionError, asyncpg.InterfaceError) as error:
        raise DatabaseUnavailable(f"the owner's connection to the database was lost: {error}") from error
    except asyncpg.PostgresError as error:
        raise DatabaseUnavailable(f"the database refused: {error}") from error
    finally:
        await connection.close()


async def add(connection: OwnerConnection, *, name: str, dimensions: int) -> int:
    """Record a model in phase `building`; return its id.

    The lock for changing the model keeps the id free between the statements, which a cluster refuses as one.
    """
    model_id = await connection.fetchval(
        """
        SELECT max(id) + CASE WHEN (max(id) - max(id) FILTER (WHERE active)) % 2 = 0 THEN 1 ELSE 2 END
        FROM embedding_models
        """
    )
    await connection.execute(
        "INSERT INTO embedding_models (id, name, dimensions, active, phase) VALUES ($1, $2, $3, false, 'building')",
        model_id,
        name,
        dimensions,
    )
    return int(model_id)


async def mark(connection: OwnerConnection, model_id: int, phase: Phase) -> None:
    """Set the phase of a model that is not active."""
    await connection.execute("UPDATE embedding_models SET phase = $2 WHERE id = $1 AND NOT active", model_id, phase)


async def switch(connection: OwnerConnection, model_id: int) -> None:
    """Make a model the active one; the former one becomes `leaving`, with a heartbeat of now."""
    # A script is one transaction, and a unique index allows one active model after each of its statements.
    await connection.execute(
        f"""
        UPDATE embedding_models SET active = false, phase = 'leaving', seen_at = now()
        WHERE active AND id <> {model_id:d};
        UPDATE embedding_models SET active = true, phase = 'active' WHERE id = {model_id:d}
        """  # noqa: S608 - a number
    )


async def index_gaps(connection: OwnerConnection, known: Sequence[StoredModel]) -> None:
    """Build the index of rows without a vector for each of these models, unless it exists."""
    for model in known:
        for table in embedding_models.TABLES:
            await _index(
                connection, embedding_models.gap_name(model.id, table), embedding_models.gap_over(table, model.id)
            )


async def index_vectors(connection: OwnerConnection, model: StoredModel) -> None:
    """Build the vector indexes of a model concurrently with writes, and analyze the tables."""
    for table in embedding_models.TABLES:
        over = embedding_models.index_over(table, model.id, model.dimensions)
        await _index(connection, embedding_models.index_name(model.id, table), over)
        await connection.execute(f"ANALYZE {table}")


async def drop_indexes(connection: OwnerConnection, model: StoredModel) -> None:
    """Drop the vector indexes of a model concurrently with reads and writes."""
    for table in embedding_models.TABLES:
        await _drop(connection, embedding_models.index_name(model.id, table))


async def drop_gaps(connection: OwnerConnection, model: StoredModel) -> None:
    """Drop the indexes of rows without a vector of a model."""
    for table in embedding_models.TABLES:
        await _drop(connection, embedding_models.gap_name(model.id, table))


async def _index(connection: OwnerConnection, name: str, over: str) -> None:
    """Build an index unless it exists and is valid; rebuild one whose build was interrupted."""
    valid = await connection.fetchval("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)", name)
    if valid is False:
        await _drop(connection, name)
    if not valid:
        await connection.execute(f"CREATE INDEX CONCURRENTLY {over}")


async def _drop(connection: OwnerConnection, name: str) -> None:
    await connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")


FIRST = (UUID(int=0), -1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lacking:
    """A memory with rows without a vector. `rows` are all of its rows of that table, by place."""

    id: UUID
    type: str
    type_version: int
    payload: Mapping[str, Any]
    rows: Mapping[int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextsToEmbed(Lacking):
    """A memory whose index rows lack a vector, with the columns that their texts are built from; `rows` are kinds."""

    scope: UUID
    content: str
    context: str | None
    session: str | None
    recorded_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionsToEmbed(Lacking):
    """A memory whose hypothetical questions lack a vector; `rows` are the questions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vector:
    """The vector of one row."""

    memory: UUID
    place: int
    vector: HalfVector


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """The number of rows with vectors, and of those that lack one of a model."""

    rows: int = 0
    lacking: int = 0

    def __add__(self, other: Count) -> Count:
        """Return the sum of both."""
        return Count(rows=self.rows + other.rows, lacking=self.lacking + other.lacking)


@cache
def _lacking(model: int, table: str, of_memory: str, of_rows: str) -> SqlStatement:
    """Return the query of memories with rows without a vector, and of all their rows, `y`, by place."""
    return statement(
        f"""
        SELECT {of_memory}, own.*
        FROM (
            SELECT DISTINCT r.memory_id FROM {table} r
            WHERE r.tenant_id = :tenant AND r.{missing_vectors(model)} AND r.memory_id > :after
            ORDER BY r.memory_id LIMIT :limit
        ) lacking
        CROSS JOIN LATERAL (
            SELECT * FROM memories x WHERE x.tenant_id = :tenant AND x.id = lacking.memory_id OFFSET 0
        ) m
        CROSS JOIN LATERAL (
            SELECT {of_rows} FROM {table} y WHERE y.tenant_id = :tenant AND y.memory_id = lacking.memory_id
        ) own
        ORDER BY m.id
        """  # noqa: S608 - composed of constants
    )


def _texts(model: int) -> SqlStatement:
    return _lacking(
        model,
        "memory_index",
        "m.id, m.scope_id AS scope, m.type, m.type_version, m.content, m.context, m.payload, m.session_id AS session, "
        "m.recorded_at",
        "array_agg(y.part ORDER BY y.part) AS parts, array_agg(y.kind ORDER BY y.part) AS kinds",
    )


def _questions(model: int) -> SqlStatement:
    return _lacking(
        model,
        "hypothetical_embeddings",
        "m.id, m.type, m.type_version, m.payload",
        "array_agg(y.ordinal ORDER BY y.ordinal) AS ordinals, array_agg(y.question ORDER BY y.ordinal) AS questions",
    )


@cache
def _lock_rows(model: int, table: str) -> SqlStatement:
    return statement(
        f"""
        SELECT r.memory_id, r.{embedding_models.TABLES[table]} AS place FROM {table} r
        WHERE r.tenant_id = :tenant AND r.memory_id = ANY(:ids) AND r.{missing_vectors(model)}
        ORDER BY 1, 2 FOR NO KEY UPDATE SKIP LOCKED
        """  # noqa: S608 - composed of constants
    )


_QUERIES_OF_TEXTS = statement("SELECT id, content, context FROM memories WHERE tenant_id = :tenant AND id = ANY(:ids)")

_ASKED_NOW = statement(
    """
    SELECT memory_id, ordinal, question FROM hypothetical_embeddings
    WHERE tenant_id = :tenant AND memory_id = ANY(:ids)
    """
)


@cache
def _fill(model: int, table: str) -> SqlStatement:
    at = columns_of(model)
    return statement(
        f"""
        UPDATE {table} r SET {at.vector} = g.vector, {at.model} = {model:d}
        FROM unnest(CAST(:ids AS uuid[]), CAST(:places AS smallint[]), CAST(:vectors AS halfvec[]))
            AS g(id, place, vector)
        WHERE r.tenant_id = :tenant AND r.memory_id = ANY(CAST(:ids AS uuid[]))
          AND r.memory_id = g.id AND r.{embedding_models.TABLES[table]} = g.place
        """  # noqa: S608 - composed of constants
    )


@cache
def _clear(model: int, kept: int, table: str) -> SqlStatement:
    at, place = columns_of(model), embedding_models.TABLES[table]
    return statement(
        f"""
        WITH locked AS (
            SELECT r.memory_id, r.{place} AS place FROM {table} r
            WHERE r.tenant_id = :tenant AND (r.memory_id, r.{place}) > (:memory, :place)
              AND r.{at.model} = {model:d} AND r.{columns_of(kept).model} = {kept:d}
            ORDER BY 1, 2 LIMIT :limit FOR NO KEY UPDATE SKIP LOCKED
        ), cleared AS (
            UPDATE {table} r SET {at.model} = NULL, {at.vector} = NULL FROM locked
            WHERE r.tenant_id = :tenant AND r.memory_id = locked.memory_id AND r.{place} = locked.place
        )
        SELECT memory_id, place FROM locked ORDER BY 1, 2
        """  # noqa: S608 - composed of constants
    )


@cache
def _count(model: int, table: str) -> SqlStatement:
    return statement(
        f"""
        SELECT (SELECT count(*) FROM {table} r WHERE r.tenant_id = :tenant) AS all_rows,
            (SELECT count(*) FROM {table} r WHERE r.tenant_id = :tenant AND r.{missing_vectors(model)}) AS lacking
        """  # noqa: S608 - composed of constants
    )


async def read_texts(session: ReadSession, tenant: UUID, model: int, after: UUID, limit: int) -> list[TextsToEmbed]:
    """Return memories whose index rows lack a vector of the model, in the order of their ids."""
    rows = await session.fetch(_texts(model), {"tenant": tenant, "after": after, "limit": limit})
    return [as_record(TextsToEmbed, row, rows=dict(zip(row["parts"], row["kinds"], strict=True))) for row in rows]


async def read_questions(
    session: ReadSession, tenant: UUID, model: int, after: UUID, limit: int
) -> list[QuestionsToEmbed]:
    """Return memories whose questions lack a vector of the model, in the order of their ids."""
    rows = await session.fetch(_questions(model), {"tenant": tenant, "after": after, "limit": limit})
    return [
        as_record(QuestionsToEmbed, row, rows=dict(zip(row["ordinals"], row["questions"], strict=True))) for row in rows
    ]


async def store_vectors(
    session: WriteSession, tenant: UUID, model: int, of: Sequence[TextsToEmbed], vectors: Sequence[Vector]
) -> int:
    """Store vectors of index rows; return how many rows got theirs.

    Rows that have one already, that are locked, or whose memory has changed are skipped.
    """
    locked = await _lock_gaps(session, tenant, model, "memory_index", vectors)
    rows = await session.fetch(_QUERIES_OF_TEXTS, {"tenant": tenant, "ids": [one.id for one in of]})
    now = {row["id"]: (row["content"], row["context"]) for row in rows}
    same = {one.id for one in of if now.get(one.id) == (one.content, one.context)}
    kept = [one for one in vectors if one.memory in same and (one.memory, one.place) in locked]
    return await _store(session, tenant, model, "memory_index", kept)


async def fill_questions(
    session: WriteSession, tenant: UUID, model: int, of: Sequence[QuestionsToEmbed], vectors: Sequence[Vector]
) -> int:
    """Store vectors of questions, as `store_vectors` does for index rows."""
    locked = await _lock_gaps(session, tenant, model, "hypothetical_embeddings", vectors)
    rows = await session.fetch(_ASKED_NOW, {"tenant": tenant, "ids": [one.id for one in of]})
    now = {(row["memory_id"], row["ordinal"]): row["question"] for row in rows}
    same = {
        (one.id, place) for one in of for place, question in one.rows.items() if now.get((one.id, place)) == question
    }
    kept = [one for one in vectors if (one.memory, one.place) in locked & same]
    return await _store(session, tenant, model, "hypothetical_embeddings", kept)


async def clear(
    session: WriteSession, tenant: UUID, table: str, *, model: int, kept: int, after: tuple[UUID, int], limit: int
) -> list[tuple[UUID, int]]:
    """Clear the model's vectors of up to `limit` rows that have one of the `kept` model; return the rows' keys."""
    memory, place = after
    rows = await session.fetch(
        _clear(model, kept, table), {"tenant": tenant, "memory": memory, "place": place, "limit": limit}
    )
    return [(row["memory_id"], row["place"]) for row in rows]


async def count(session: ReadSession, tenant: UUID, model: int) -> Count:
    """Return the number of a tenant's rows with vectors, and of those that lack one of the model."""
    total = Count()
    for table in embedding_models.TABLES:
        [row] = await session.fetch(_count(model, table), {"tenant": tenant})
        total += Count(rows=row["all_rows"], lacking=row["lacking"])
    return total


async def _lock_gaps(
    session: WriteSession, tenant: UUID, model: int, table: str, vectors: Sequence[Vector]
) -> set[tuple[UUID, int]]:
    """Lock those of the rows that lack a vector and are not locked; return their keys."""
    ids = list({one.memory for one in vectors})
    rows = await session.fetch(_lock_rows(model, table), {"tenant": tenant, "ids": ids})
    return {(row["memory_id"], row["place"]) for row in rows}


async def _store(session: WriteSession, tenant: UUID, model: int, table: str, vectors: Sequence[Vector]) -> int:
    if vectors:
        values = {
            "tenant": tenant,
            "ids": [one.memory for one in vectors],
            "places": [one.place for one in vectors],
            "vectors": [one.vector for one in vectors],
        }
        await session.fetch(_fill(model, table), values)
    return len(vectors)
