"""A tenant in a real database, and the write pipeline in front of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, cast
from uuid import UUID

import asyncpg
import pytest

from app.db import embedding_models
from app.db.session import Database, stamped, statement
from app.db.sql import Model
from app.features.erasure.memories import MemoryErasure
from app.features.erasure.service import Erasures
from app.features.erasure.turns import TurnRedaction
from app.memory.candidate import Candidate, WriteOutcome
from app.memory.registry import Registry, Types, discover
from app.model import Actor, Scope, ScopeKind
from app.providers.embeddings import Embedder
from app.providers.wordllama import WordllamaEmbedder
from app.read.pipeline import ReadPipeline
from app.read.search import MemorySearch
from app.services.index_maintenance import IndexMaintenance
from app.services.limits import Quotas
from app.services.memories import Memories
from app.write.pipeline import WritePipeline
from tests.support import owner
from tests.support.databases import on_nodes
from tests.support.pools import PlacedDatabase
from tests.support.waiting import eventually

USER = Scope(kind=ScopeKind.USER, user_id="u1")
LOCKED = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """A tenant of its own, and short ways to write to it and look inside."""

    url: str
    database: Database
    pipeline: WritePipeline
    upkeep: IndexMaintenance
    actor: Actor
    types: Registry = field(default_factory=discover)

    @property
    def tenant(self) -> UUID:
        return self.actor.tenant_id

    @property
    def memories(self) -> Memories:
        clock = self.pipeline.clock
        quotas = Quotas(database=self.database, clock=clock)
        return Memories(database=self.database, pipeline=self.pipeline, quotas=quotas, clock=clock)

    @property
    def erasing(self) -> Erasures:
        pipeline = self.pipeline
        return Erasures(
            database=self.database,
            types=self.types,
            clock=pipeline.clock,
            each=MemoryErasure(clock=pipeline.clock, language="english", redacting=TurnRedaction(pipeline=pipeline)),
        )

    def candidate(
        self, type_name: str, scope: Scope = USER, about: dict[str, Any] | None = None, **payload: Any
    ) -> Candidate:
        one = self.types.get(type_name)
        return Candidate(type=one, payload=one.payload.model_validate(payload), scope=scope, **(about or {}))

    async def write(
        self, type_name: str, scope: Scope = USER, about: dict[str, Any] | None = None, **payload: Any
    ) -> WriteOutcome:
        return await self.memories.write(self.actor, self.candidate(type_name, scope, about, **payload))

    async def write_all(self, candidates: list[Candidate]) -> list[WriteOutcome]:
        results = await self.memories.write_all(self.actor, candidates)
        assert all(isinstance(one, WriteOutcome) for one in results), results
        return cast("list[WriteOutcome]", results)

    async def sql(self, statement: str, *arguments: object) -> list[asyncpg.Record]:
        """Ask the database as its owner, past row-level security."""
        return await owner.ask(self.url, statement, *arguments)

    async def until_a_session_waits(self) -> None:
        """Wait until a session of the database waits for a lock, on any of its servers."""

        async def waits() -> bool:
            return any([await owner.ask(url, LOCKED) for url in (self.url, *on_nodes(self.url))])

        await eventually(waits)

    def as_tenant(self, tenant: UUID) -> Store:
        return replace(self, actor=replace(self.actor, tenant_id=tenant))


async def change_by_hand(database: Database, tenant: UUID, memory: UUID, assignment: str, *, at: datetime) -> None:
    """Change columns of a memory and of its index rows past the pipeline, stamped with an instant."""
    async with database.write(tenant, **stamped(at)) as session:
        for table, column in {"memories": "id", "memory_index": "memory_id"}.items():
            change = f"UPDATE {table} SET {assignment} WHERE tenant_id = :tenant AND {column} = :memory"  # noqa: S608
            await session.fetch(statement(change), {"tenant": tenant, "memory": memory})


@pytest.fixture(scope="session")
def embedder() -> WordllamaEmbedder:
    return WordllamaEmbedder()


def now() -> datetime:
    return datetime.now(UTC)


def pipeline_in(database: Database, embedder: WordllamaEmbedder, clock: Callable[[], datetime] = now) -> WritePipeline:
    return WritePipeline(
        database=database, embedder=embedder, model_id=1, language="english", clock=clock, types=discover()
    )


def reads_in(
    database: Database, embedder: Embedder, clock: Callable[[], datetime] = now, types: Types | None = None
) -> ReadPipeline:
    """Return a read pipeline that records no accesses."""
    return ReadPipeline(
        database=database,
        embedder=embedder,
        types=discover() if types is None else types,
        search=MemorySearch(model=Model(id=1, dimensions=embedder.dimensions), language="english", clock=clock),
    )


async def open_store(url: str, embedder: WordllamaEmbedder) -> Store:
    """Return a new tenant in a migrated database; its caller closes `Store.database`."""
    await embedding_models.register(url, name=embedder.name, dimensions=embedder.dimensions)
    return await store_in(PlacedDatabase(url, pool_size=5), url, embedder)


async def store_in(database: Database, url: str, embedder: WordllamaEmbedder) -> Store:
    """Return a new tenant in a database, to which `url` is the owner's login."""
    upkeep = IndexMaintenance(database=database, language="english")
    pipeline = replace(pipeline_in(database, embedder), drifted=upkeep.mark, crowded=upkeep.crowd)
    actor = await owner.new_tenant(url)
    return Store(url=url, database=database, pipeline=pipeline, upkeep=upkeep, actor=actor)


@pytest.fixture
def make_store(
    shared_database: Database, database_url: str, embedder: WordllamaEmbedder
) -> Callable[[], Awaitable[Store]]:
    return partial(store_in, shared_database, database_url, embedder)


@pytest.fixture
async def store(make_store: Callable[[], Awaitable[Store]]) -> Store:
    return await make_store()
