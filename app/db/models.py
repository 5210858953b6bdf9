"""The embedding models that the stored vectors come from; one is active at a time."""

from __future__ import annotations

from sqlalchemy import func, insert, select, text
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from app.db.session import Database, driver_url
from app.db.tables import embedding_models
from app.errors import ConfigurationError


async def active(database: Database) -> tuple[int, str, int] | None:
    """Return id, name and dimensions of the active model, or None before the first start."""
    async with database.read(None) as session:
        row = (
            await session.execute(
                select(embedding_models.c.id, embedding_models.c.name, embedding_models.c.dimensions).where(
                    embedding_models.c.active
                )
            )
        ).first()
    return None if row is None else (row.id, row.name, row.dimensions)


async def register(owner_url: str, *, name: str, dimensions: int) -> None:
    """As the owner, record the first model and build its vector index; does nothing when one is active."""
    engine = create_async_engine(driver_url(owner_url), poolclass=NullPool)
    try:
        async with engine.begin() as connection:
            await connection.execute(text("LOCK TABLE embedding_models IN EXCLUSIVE MODE"))
            known = await connection.scalar(select(func.count()).select_from(embedding_models))
            if known:
                return
            await connection.execute(
                insert(embedding_models).values(id=1, name=name, dimensions=dimensions, active=True)
            )
            await connection.execute(text(index_ddl(1, dimensions)))
            await connection.execute(text(question_index_ddl(1, dimensions)))
    finally:
        await engine.dispose()


def index_name(model_id: int) -> str:
    """Return the name of one model's vector index."""
    return f"ix_memory_index_model_{model_id:d}"


def index_ddl(model_id: int, dimensions: int) -> str:
    """Return the statement that builds the vector index of one model, over the scopes that are large enough."""
    return _index_ddl("memory_index", model_id, dimensions)


def question_index_ddl(model_id: int, dimensions: int) -> str:
    """Return the same for the questions that memories are asked by."""
    return _index_ddl("hypothetical_embeddings", model_id, dimensions)


def _index_ddl(table: str, model_id: int, dimensions: int) -> str:
    return (
        f"CREATE INDEX IF NOT EXISTS ix_{table}_model_{model_id:d} ON {table} "
        f"USING hnsw ((embedding::halfvec({dimensions:d})) halfvec_cosine_ops) WHERE model_id = {model_id:d} AND ann"
    )


def check(stored: tuple[int, str, int] | None, *, name: str, dimensions: int) -> int:
    """Return the id of the active model if it is the configured one, else raise ConfigurationError."""
    if stored is None:
        raise ConfigurationError(
            "no embedding model is recorded in the database: run `typed-memory migrate` as its owner first"
        )
    model_id, stored_name, stored_dimensions = stored
    if (stored_name, stored_dimensions) != (name, dimensions):
        raise ConfigurationError(
            f"the stored vectors come from {stored_name!r} ({stored_dimensions} dimensions), but {name!r} "
            f"({dimensions}) is configured: set TM_EMBEDDING_* back, or use a new database"
        )
    return model_id
