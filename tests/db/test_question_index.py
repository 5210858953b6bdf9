"""Each embedding model has a vector index of questions, whether it was registered before they came or after."""

from __future__ import annotations

import asyncio

import asyncpg

from app.db import embedding_models
from app.db.migrate import downgrade, upgrade


async def indexes(url: str) -> list[str]:
    connection = await asyncpg.connect(url)
    try:
        found = await connection.fetch(
            "SELECT indexdef FROM pg_indexes WHERE indexname = 'ix_hypothetical_embeddings_model_1'"
        )
    finally:
        await connection.close()
    return [row["indexdef"] for row in found]


async def test_a_model_that_was_there_before_gets_the_same_index(fresh_database_url: str) -> None:
    assert await indexes(fresh_database_url) == []
    await embedding_models.register(fresh_database_url, name="any", dimensions=8)
    [registered] = await indexes(fresh_database_url)
    await asyncio.to_thread(downgrade, fresh_database_url, "0005")
    assert await indexes(fresh_database_url) == []
    await asyncio.to_thread(upgrade, fresh_database_url)
    assert await indexes(fresh_database_url) == [registered]
