"""A store in a database of its own that works with one model, and the change to another, cheap one."""

from __future__ import annotations

import hashlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from app.db import embedding_models
from app.db.embedding_models import Phase, StoredModel
from app.db.sql import Model
from app.features.reembedding.service import Reembedding, VectorBackfill
from app.providers.embeddings import Embedder, Purpose, Vectors
from app.providers.protocols import RuleQuestions
from app.providers.wordllama import WordllamaEmbedder
from app.write.hype import Hype
from tests.read.conftest import MakeStore, Store, store_in
from tests.support.pools import pooled


@cache
def _word(word: str, dimensions: int) -> Any:
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
    return np.random.default_rng(seed).normal(size=dimensions)


@dataclass(slots=True)
class Bag:
    """A bag of words' model: texts that share words are alike. It notes what it embedded; `before` is awaited first."""

    dimensions: int = 24
    name: str = "bag"
    local: bool = False
    seen: list[str] = field(default_factory=list)
    before: Callable[[Sequence[str]], Awaitable[None]] | None = None

    async def embed(self, texts: Sequence[str], *, purpose: Purpose = "document") -> Vectors:
        del purpose
        if self.before is not None:
            await self.before(texts)
        self.seen += texts
        made = [sum(_word(one, self.dimensions) for one in re.findall(r"\w+", f"{text} .".lower()) or ["."])
                for text in texts]  # fmt: skip
        rows: Vectors = np.array(made, dtype=np.float32).reshape(len(texts), self.dimensions)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows

    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The change to `embedder`'s model, over the store's database."""

    store: Store
    embedder: Embedder

    @property
    def steps(self) -> Reembedding:
        store = self.store
        return Reembedding(owner_url=store.url, database=store.database, embedder=self.embedder, types=store.types)

    async def model(self) -> StoredModel:
        known = await embedding_models.read_models(self.store.database)
        mine = (self.embedder.name, self.embedder.dimensions)
        return next(one for one in known if (one.name, one.dimensions) == mine)

    async def serving(self, of: Store | None = None) -> Store:
        """The store as a service with this model reads and writes it."""
        model, store = await self.model(), of or self.store
        writes = replace(store.writes, embedder=self.embedder, model_id=model.id)
        search = replace(store.reads.search, model=Model(id=model.id, dimensions=self.embedder.dimensions))
        return replace(store, writes=writes, reads=replace(store.reads, embedder=self.embedder, search=search))

    async def keep_up(self) -> int:
        """What a service with this model does every few seconds."""
        model = await self.model()
        filling = VectorBackfill(
            database=self.store.database, embedder=self.embedder, model_id=model.id, types=self.store.types
        )
        await filling.heartbeat()
        return await filling.keep_up()


async def ask_questions(store: Store, memories: Sequence[UUID]) -> None:
    """Give memories the questions they answer, as the job does."""
    hype = Hype(
        database=store.database,
        embedder=store.reads.embedder,
        model_id=store.reads.search.model.id,
        writer=RuleQuestions(language="english"),
        types=store.types,
    )
    async for _ in hype.ask(store.tenant, memories):
        pass


async def phases(store: Store) -> dict[str, Phase]:
    return {one.name: one.phase for one in await embedding_models.read_models(store.database)}


async def quiet(store: Store) -> None:
    """Let it be long ago that a process with the model that leaves was heard of."""
    await store.sql("UPDATE embedding_models SET seen_at = now() - interval '1 hour'")


@pytest.fixture
async def make_store(fresh_database_url: str, embedder: WordllamaEmbedder) -> AsyncIterator[MakeStore]:
    async with pooled(fresh_database_url) as database:
        yield partial(store_in, database, fresh_database_url, embedder)


@pytest.fixture
async def store(make_store: MakeStore) -> Store:
    return await make_store()


@pytest.fixture(scope="session")
def embedder() -> WordllamaEmbedder:
    return WordllamaEmbedder()


@pytest.fixture
def change(store: Store) -> Change:
    return Change(store=store, embedder=Bag())
