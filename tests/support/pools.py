"""Connections to one database that its tests share: a new one reads the catalog anew, which costs more than a write."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from app.db import embedding_models
from app.db.session import Database
from app.providers.wordllama import WordllamaEmbedder
from tests.support.databases import nodes


class PlacedDatabase(Database):
    """A database that knows whether its rows are on other nodes, which the service's check of it finds out."""

    def __init__(self, url: str, **options: Any) -> None:
        super().__init__(url, **options)
        self.clustered = bool(nodes())


@asynccontextmanager
async def pooled(url: str) -> AsyncIterator[Database]:
    """Yield a migrated database, with the embedded model registered."""
    embedder = WordllamaEmbedder()
    await embedding_models.register(url, name=embedder.name, dimensions=embedder.dimensions)
    database = PlacedDatabase(url, pool_size=10)
    yield database
    await database.close()
