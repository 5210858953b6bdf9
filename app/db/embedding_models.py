"""The embedding models of the stored vectors: their phases, heartbeats, and vector indexes.

One model is active: the one that services start with. During a change there is a second one, whose vectors are being
built, or which is about to be dropped. Ids are never reused.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import insert, select, text, update

from app.db.session import Database, owner_transaction, statement
from app.db.sql import as_record, columns_of
from app.db.tables import embedding_models
from app.errors import ConfigurationError

TABLES = {"memory_index": "part", "hypothetical_embeddings": "ordinal"}
"""Tables with vectors, in the columns that `app.db.sql` names, each with the column that numbers a memory's rows."""

FILLING = 726_194_301
"""The first key of the advisory lock that a process holds while it fills in vectors; the second is the model."""


class Phase(StrEnum):
    """The phase of a model in a change of models."""

    BUILDING = "building"
    ACTIVE = "active"
    LEAVING = "leaving"
    DROPPING = "dropping"
    DROPPED = "dropped"


SERVING = (Phase.ACTIVE, Phase.LEAVING)
"""Phases in which a service may use a model: all rows but those just written have its vectors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredModel:
    """A model whose vectors are stored. `unseen` is the number of seconds since its last heartbeat.

    `unrelated` and `related` are its calibration, None for a model that was not calibrated.
    """

    id: int
    name: str
    dimensions: int
    phase: Phase
    unseen: float | None = None
    unrelated: float | None = None
    related: float | None = None

    def __str__(self) -> str:
        """Return name and dimensions for messages."""
        return f"{self.name!r} ({self.dimensions} dimensions)"


_MODELS = statement(
    """
    SELECT id, name, dimensions, phase, unrelated, related,
        CAST(extract(epoch FROM clock_timestamp() - seen_at) AS float8) AS unseen
    FROM embedding_models WHERE phase <> 'dropped' ORDER BY active DESC, id
    """
)


async def read_models(database: Database) -> tuple[StoredModel, ...]:
    """Return the recorded models, the active one first; none before the first start."""
    async with database.read(None) as session:
        return tuple(as_record(StoredModel, row, phase=Phase(row["phase"])) for row in await session.fetch(_MODELS, {}))


async def register(owner_url: str, *, name: str, dimensions: int) -> str:
    """As the owner, record the first model and build its vector index; return the name of the active model."""
    known = select(embedding_models.c.name).where(embedding_models.c.active)
    async with owner_transaction(owner_url) as connection:
        if found := await connection.scalar(known):
            return str(found)
        await connection.execute(text("LOCK TABLE embedding_models IN EXCLUSIVE MODE"))
        if found := await connection.scalar(known):
            return str(found)
        await connection.execute(insert(embedding_models).values(id=1, name=name, dimensions=dimensions, active=True))
        for table in TABLES:
            await connection.execute(text(f"CREATE INDEX IF NOT EXISTS {index_over(table, 1, dimensions)}"))
        return name


async def calibrate(owner_url: str, model_id: int, *, unrelated: float, related: float) -> None:
    """As the owner, record the calibration of a model."""
    async with owner_transaction(owner_url) as connection:
        await connection.execute(
            update(embedding_models)
            .where(embedding_models.c.id == model_id)
            .values(unrelated=unrelated, related=related)
        )


_HEARTBEAT = statement("UPDATE embedding_models SET seen_at = now() WHERE id = :id")


async def heartbeat(database: Database, model_id: int) -> None:
    """Record that a process uses a model, so that its vectors are not dropped."""
    async with database.write(None) as session:
        await session.change(_HEARTBEAT, {"id": model_id})


@asynccontextmanager
async def exclusive(database: Database, model_id: int) -> AsyncIterator[bool]:
    """Yield whether this process got the lock for filling in a model's vectors; it is held until the block ends."""
    async with database.dedicated() as connection:
        yield bool(await connection.fetchval("SELECT pg_try_advisory_lock($1, $2)", FILLING, model_id))


def index_name(model_id: int, table: str = "memory_index") -> str:
    """Return the name of one model's vector index."""
    return f"ix_{table}_model_{model_id:d}"


def index_over(table: str, model_id: int, dimensions: int) -> str:
    """Return name and definition of a model's vector index."""
    at = columns_of(model_id)
    return (
        f"{index_name(model_id, table)} ON {table} "
        f"USING hnsw (({at.vector}::halfvec({dimensions:d})) halfvec_cosine_ops) "
        f"WHERE {at.model} = {model_id:d} AND ann"
    )


def gap_name(model_id: int, table: str) -> str:
    """Return the name of the index of a table's rows without a vector of a model."""
    return f"ix_{table}_lacks_{model_id:d}"


def gap_over(table: str, model_id: int) -> str:
    """Return name and definition of that index; rows leave it as they are filled in."""
    keys = f"tenant_id, memory_id, {TABLES[table]}"
    return f"{gap_name(model_id, table)} ON {table} ({keys}) WHERE {missing_vectors(model_id)}"


def missing_vectors(model_id: int) -> str:
    """Return the condition of that index; the model's id must be a literal for the index to be used."""
    return f"{columns_of(model_id).model} IS DISTINCT FROM {model_id:d}"


def check(known: Sequence[StoredModel], *, name: str, dimensions: int) -> StoredModel:
    """Return the configured model if it is recorded and complete, else raise ConfigurationError."""
    active = next((one for one in known if one.phase is Phase.ACTIVE), None)
    if active is None:
        raise ConfigurationError(
            "no embedding model is recorded in the database: run `typed-memory migrate` as its owner first"
        )
    for one in known:
        if (one.name, one.dimensions) == (name, dimensions):
            if one.phase in SERVING:
                return one
            if one.phase is Phase.BUILDING:
                raise ConfigurationError(
                    f"the vectors of {one} are being built: let `typed-memory reembed` finish first, "
                    f"and run with TM_EMBEDDING_* as they were, for {active}, until then"
                )
    raise ConfigurationError(
        f"the stored vectors come from {active}, but {name!r} ({dimensions}) is configured: run "
        "`typed-memory reembed` with these settings, which builds its vectors while the service uses the old "
        "ones; or set TM_EMBEDDING_* back"
    )
