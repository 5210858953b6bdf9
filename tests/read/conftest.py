from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from app.db.session import Database, ReadSession, SqlStatement
from app.features.query_log.service import QueryLog
from app.memory.candidate import Candidate, WriteOutcome
from app.memory.registry import Registry, discover
from app.model import Actor, Scope, ScopeKind, Visibility
from app.providers.wordllama import WordllamaEmbedder
from app.read.access import AccessTracker
from app.read.pipeline import ReadPipeline
from app.read.values import QueryRequest, QueryResult
from app.services.query import Queries
from app.write.pipeline import WritePipeline
from tests.support import owner
from tests.support.pools import pooled
from tests.support.stores import embedder, now, pipeline_in, reads_in

__all__ = ["embedder"]

USER = Scope(kind=ScopeKind.USER, user_id="u1")
NOW = datetime(2026, 5, 14, 12, tzinfo=UTC)
"""A Thursday; last Tuesday is 5 May."""


@dataclass(frozen=True, slots=True)
class Watched(ReadSession):
    """A session that notes down the statements of its transaction."""

    seen: list[str]

    async def fetch(self, statement: SqlStatement, values: Mapping[str, object]) -> list[asyncpg.Record]:
        self.seen.append(statement.sql)
        return await ReadSession.fetch(self, statement, values)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Store:
    """A tenant of its own, with short ways to write to it, to ask it, and to look inside.

    Its repr is short: hypothesis prints it with a failing script, and refuses to print pages.
    """

    url: str
    database: Database
    writes: WritePipeline
    reads: ReadPipeline
    tracker: AccessTracker
    actor: Actor
    types: Registry = field(default_factory=discover)

    @property
    def tenant(self) -> UUID:
        return self.actor.tenant_id

    def candidate(
        self,
        type_name: str,
        payload: dict[str, Any],
        scope: Scope = USER,
        **about: Any,
    ) -> Candidate:
        one = self.types.get(type_name)
        about.setdefault("stated_at", NOW)
        return Candidate(type=one, payload=one.payload.model_validate(payload), scope=scope, **about)

    async def write(self, *candidates: Candidate) -> list[UUID]:
        """Write and return the ids of what holds each belief now."""
        results = await self.writes.write(self.actor, candidates)
        assert all(isinstance(one, WriteOutcome) for one in results), results
        return [one.memory.id for one in results if isinstance(one, WriteOutcome) and one.memory is not None]

    async def put(
        self,
        type_name: str,
        payload: dict[str, Any],
        scope: Scope = USER,
        **about: Any,
    ) -> UUID:
        [memory] = await self.write(self.candidate(type_name, payload, scope, **about))
        return memory

    async def ask(self, query: str, **request: Any) -> QueryResult:
        request.setdefault("now", NOW)
        request.setdefault("visibility", Visibility(user_id="u1"))
        log = QueryLog(database=self.database, clock=self.tracker.clock)
        queries = Queries(pipeline=self.reads, tracker=self.tracker, log=log)
        return await queries.query(self.actor, QueryRequest(query=query, **request))

    async def found(self, query: str, **request: Any) -> list[UUID]:
        return [hit.memory.id for hit in (await self.ask(query, **request)).hits]

    async def sql(self, statement: str, *arguments: object) -> list[asyncpg.Record]:
        """Ask the database as its owner, past row-level security."""
        return await owner.ask(self.url, statement, *arguments)

    def as_tenant(self, tenant: UUID) -> Store:
        return replace(self, actor=replace(self.actor, tenant_id=tenant))

    @contextmanager
    def statements(self) -> Iterator[list[str]]:
        """Yield a list that every statement of a read is added to within the block."""
        seen: list[str] = []
        read = self.database.read

        @asynccontextmanager
        async def watched(tenant: UUID | None, **local: str) -> AsyncIterator[ReadSession]:
            async with read(tenant, **local) as session:
                yield Watched(session.driver, seen)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(self.database, "read", watched)
            yield seen


MakeStore = Callable[[], Awaitable[Store]]


async def store_in(database: Database, url: str, embedder: WordllamaEmbedder) -> Store:
    """Return a new tenant in a database, to which `url` is the owner's login."""
    return Store(
        url=url,
        database=database,
        writes=pipeline_in(database, embedder),
        reads=reads_in(database, embedder),
        tracker=AccessTracker(database=database, clock=now),
        actor=await owner.new_tenant(url),
    )


@pytest.fixture
def make_store(database_url: str, shared_database: Database, embedder: WordllamaEmbedder) -> MakeStore:
    return partial(store_in, shared_database, database_url, embedder)


@pytest.fixture
async def lone_store(fresh_database_url: str, embedder: WordllamaEmbedder) -> AsyncIterator[Store]:
    """A store in a database of its own, for what depends on how much else is there."""
    async with pooled(fresh_database_url) as database:
        yield await store_in(database, fresh_database_url, embedder)


@pytest.fixture
async def store(make_store: MakeStore) -> Store:
    return await make_store()
