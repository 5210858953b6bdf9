"""A database of the test's own that can be filled with thousands of memories in seconds."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import cast
from uuid import UUID, uuid4

import asyncpg

from app.db import embedding_models
from app.db.session import Database
from app.model import Actor, Scope, ScopeKind, Visibility
from app.providers.wordllama import WordllamaEmbedder
from app.read.pipeline import ReadPipeline
from app.read.values import QueryRequest
from app.write.pipeline import WritePipeline
from bench.fill import Bucket, Filler
from bench.grammar import NOW, Grammar
from tests.support.stores import pipeline_in, reads_in
from tests.support.waiting import eventually

READ = """
SELECT coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::int FROM pg_stat_user_tables
WHERE relname = coalesce($1, relname)
"""
OTHERS = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """A filled database, its owner's connection, and both pipelines."""

    owner: asyncpg.Connection
    database: Database
    embedder: WordllamaEmbedder

    @property
    def filler(self) -> Filler:
        return Filler(connection=self.owner, embedder=self.embedder, large=100)

    @property
    def reads(self) -> ReadPipeline:
        return reads_in(self.database, self.embedder, _clock)

    @property
    def writes(self) -> WritePipeline:
        return pipeline_in(self.database, self.embedder, _clock)

    async def new_tenant(self) -> UUID:
        tenant = uuid4()
        await self.owner.execute("INSERT INTO tenants (id, name) VALUES ($1, $2)", tenant, str(tenant))
        return tenant

    async def fill(self, *scopes: tuple[UUID, str, int]) -> None:
        """Give each (tenant, user) so many memories; a user's name is the seed of what they say."""
        await self.filler.fill(
            [Bucket(tenant=tenant, scope=user_scope(user), count=count, seed=user) for tenant, user, count in scopes]
        )

    async def ask(self, tenant: UUID, user: str, question: str) -> list[UUID]:
        request = QueryRequest(query=question, now=NOW, visibility=Visibility(user_id=user))
        answer = await self.reads.answer(tenant, request)
        return [hit.memory.id for hit in answer.result.hits]

    async def count(self, condition: str, *arguments: object) -> int:
        return cast("int", await self.owner.fetchval(f"SELECT count(*) FROM memories WHERE {condition}", *arguments))  # noqa: S608 - the test's own


def user_scope(user: str) -> Scope:
    return Scope(kind=ScopeKind.USER, user_id=user)


def actor_of(tenant: UUID) -> Actor:
    return Actor(tenant_id=tenant, key_id=None, name="bench")


def questions(user: str, count: int) -> list[str]:
    return [draft.question for draft in Grammar(user).drafts(2 * count)][:count]


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Store]:
    embedder = WordllamaEmbedder()
    await embedding_models.register(url, name=embedder.name, dimensions=embedder.dimensions)
    database = Database(url, pool_size=2)
    owner = await asyncpg.connect(url)
    try:
        yield Store(owner=owner, database=database, embedder=embedder)
    finally:
        await owner.close()
        await database.close()


async def rows_read(
    url: str, store: Store, use: Callable[[Store], Awaitable[object]], *, table: str | None = None
) -> int:
    """Return how many rows Postgres fetched for that from all tables, or one; connections report when they close."""
    await store.owner.execute("SELECT pg_stat_force_next_flush()")
    open_before, before = await store.owner.fetchval(OTHERS), await store.owner.fetchval(READ, table)
    async with opened(url) as fresh:
        await use(fresh)

    async def closed() -> bool:
        return bool(await store.owner.fetchval(OTHERS) == open_before)

    await eventually(closed)
    return int(await store.owner.fetchval(READ, table)) - int(before)


def _clock() -> datetime:
    return NOW
