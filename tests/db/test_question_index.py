"""Each embedding model has a vector index of questions."""

from __future__ import annotations

from app.db import embedding_models
from tests.support import owner

INDEX = "SELECT indexdef FROM pg_indexes WHERE indexname = 'ix_hypothetical_embeddings_model_1'"


async def test_a_model_gets_its_index_when_it_is_registered(fresh_database_url: str) -> None:
    assert await owner.ask(fresh_database_url, INDEX) == []
    await embedding_models.register(fresh_database_url, name="any", dimensions=8)
    [registered] = await owner.ask(fresh_database_url, INDEX)
    assert "halfvec(8)" in registered["indexdef"]
    assert "model_id = 1" in registered["indexdef"]
