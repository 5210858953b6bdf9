from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from app.features.erasure.memories import MemoryErasure
from app.features.erasure.service import Erasures
from app.features.erasure.turns import TurnRedaction
from app.model import Memory
from app.services.entities import Entities
from app.services.limits import Quotas
from app.services.memories import Memories
from tests.read.conftest import Store, make_store, store
from tests.support import owner
from tests.support.stores import change_by_hand, embedder

__all__ = ["embedder", "make_store", "store"]

START = datetime(2026, 5, 14, 12, tzinfo=UTC)


@dataclass(slots=True)
class Clock:
    """A clock that moves when it is told to."""

    now: datetime = START

    def __call__(self) -> datetime:
        return self.now

    def tick(self, **by: float) -> datetime:
        self.now += timedelta(**(by or {"minutes": 1}))
        return self.now


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """A store whose every part goes by one clock."""

    store: Store
    clock: Clock = field(default_factory=Clock)

    @property
    def memories(self) -> Memories:
        quotas = Quotas(database=self.store.database, clock=self.clock)
        return Memories(database=self.store.database, pipeline=self.store.writes, quotas=quotas, clock=self.clock)

    @property
    def erasing(self) -> Erasures:
        redacting = TurnRedaction(pipeline=self.store.writes)
        each = MemoryErasure(clock=self.clock, language="english", redacting=redacting)
        return Erasures(database=self.store.database, types=self.store.types, clock=self.clock, each=each)

    @property
    def entities(self) -> Entities:
        return Entities(database=self.store.database, types=self.store.types, clock=self.clock)

    async def put(self, type_name: str, /, about: dict[str, Any] | None = None, **payload: Any) -> UUID:
        given = {"stated_at": None, **(about or {})}
        return await self.store.put(type_name, payload, **given)

    async def theme(self, value: str, **about: Any) -> UUID:
        return await self.put("preference", about, preference_key="editor.theme", preference_value=value)

    async def found(self, query: str = "Which editor theme?", **request: Any) -> list[UUID]:
        request.setdefault("now", request.get("known_at") or self.clock.now)
        return await self.store.found(query, **request)

    async def told(self, query: str = "Which editor theme?", **request: Any) -> list[Memory]:
        """Ask, and return the memories without what counts their use, by id."""
        request.setdefault("now", request.get("known_at") or self.clock.now)
        result = await self.store.ask(query, **request)
        return sorted((unused(hit.memory) for hit in result.hits), key=lambda one: one.id)

    async def set(self, memory: UUID, assignment: str) -> None:
        """Change columns of a memory by hand, and of its index rows."""
        store = self.store
        await change_by_hand(store.database, store.tenant, memory, assignment, at=self.clock.now)


def unused(memory: Memory) -> Memory:
    return replace(memory, access_count=0, last_accessed_at=None)


async def timed_store(store: Store) -> Timed:
    """A tenant of its own in the database of a store, with a clock of its own."""
    store = store.as_tenant((await owner.new_tenant(store.url)).tenant_id)
    clock = Clock()
    writes = replace(store.writes, clock=clock)
    reads = replace(store.reads, search=replace(store.reads.search, clock=clock))
    return Timed(store=replace(store, writes=writes, reads=reads), clock=clock)


@pytest.fixture
async def timed(store: Store) -> Timed:
    return await timed_store(store)
