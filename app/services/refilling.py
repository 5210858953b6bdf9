"""Giving stored memories the vectors of a model that they lack, a batch a transaction.

It is what a change of the model does to all of them, and what a service does, while two models are in use, to
those that a service with the other model has just written.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar
from uuid import UUID

import structlog

from app.db import models, refill
from app.db.models import Phase
from app.db.refill import Lacking, Vector
from app.db.session import Database, ReadSession, WriteSession
from app.db.tenants import AS_OPERATOR, list_tenants
from app.db.vectors import as_halfvec
from app.memory.registry import Registry, Types
from app.providers.embeddings import Embedder, Purpose, Vectors
from app.write import again

BATCH = 256
"""Memories that get their vectors in one transaction."""

PAUSE_SECONDS = 5.0
"""How often a service looks at which models there are."""

_FIRST = UUID(int=0)

log = structlog.get_logger("typed_memory.vectors")


_Own = TypeVar("_Own", bound=Lacking)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind(Generic[_Own]):
    """Rows that keep vectors: how those that lack one are read, worded, embedded and filled."""

    lacking: Callable[[ReadSession, UUID, int, UUID, int], Awaitable[list[_Own]]]
    texts: Callable[[Sequence[_Own], Registry], list[list[str]]]
    purpose: Purpose
    fill: Callable[[WriteSession, UUID, int, Sequence[_Own], Sequence[Vector]], Awaitable[int]]


_MEMORIES = _Kind(lacking=refill.told, texts=again.texts, purpose="document", fill=refill.fill)
_QUESTIONS = _Kind(lacking=refill.asked, texts=again.questions, purpose="query", fill=refill.fill_questions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refilling:
    """Fills in vectors of the model `model_id`, which are `embedder`'s. Doing it again changes nothing."""

    database: Database
    embedder: Embedder
    model_id: int
    types: Types

    async def run(self) -> None:
        """See to it for ever that what services with another model write is found by this one, too.

        And say, beside that, that this model is in use: filling in may take long.
        """
        await asyncio.gather(_for_ever(self.keep_up), _for_ever(self.tell))

    async def tell(self) -> None:
        """Record that this process works with its model, if that is to be dropped when none does any more."""
        for one in await models.stored(self.database):
            if one.id == self.model_id and one.phase is Phase.LEAVING:
                await models.beat(self.database, self.model_id)

    async def keep_up(self) -> int:
        """Fill in what is lacking while two models are in use; return how many rows were. One process does it."""
        known = {one.id: one for one in await models.stored(self.database)}
        mine = known.get(self.model_id)
        if mine is None or mine.phase not in models.SERVING:
            return 0
        if not any(one.phase in models.SERVING for one in known.values() if one is not mine):
            return 0
        async with models.alone(self.database, self.model_id) as alone:
            return await self.fill_all() if alone else 0

    async def fill_all(self, told: Callable[[int], None] = lambda _: None) -> int:
        """Fill in what any tenant lacks; `told` is called with the rows of each batch. Return how many rows were.

        Raises ProviderError when texts can't be embedded; the batches before are done then.
        """
        total = 0
        for tenant in await tenants(self.database):
            async for done in self.fill(tenant):
                told(done)
                total += done
        return total

    async def fill(self, tenant: UUID) -> AsyncIterator[int]:
        """Fill in what a tenant lacks; yield how many rows were, after each batch."""
        for batches in (self._batches(tenant, _MEMORIES), self._batches(tenant, _QUESTIONS)):
            async for done in batches:
                yield done

    async def sample(self, tenant: UUID, most: int) -> list[str]:
        """Return the texts of some of a tenant's memories that lack vectors, as they would be embedded."""
        async with self.database.read(tenant) as session:
            found = await refill.told(session, tenant, self.model_id, _FIRST, most)
        texts = await asyncio.to_thread(again.texts, found, await self.types.of(tenant))
        return [text for own in texts for text in own]

    async def _batches(self, tenant: UUID, kind: _Kind[_Own]) -> AsyncIterator[int]:
        after = _FIRST
        while True:
            async with self.database.read(tenant) as session:
                found = await kind.lacking(session, tenant, self.model_id, after, BATCH)
            if not found:
                return
            texts = await asyncio.to_thread(kind.texts, found, await self.types.of(tenant))
            vectors = await self.embedder.embed([text for own in texts for text in own], purpose=kind.purpose)
            rows = await asyncio.to_thread(_rows, found, vectors)
            async with self.database.write(tenant) as session:
                done = await kind.fill(session, tenant, self.model_id, found, rows)
            yield done
            after = found[-1].id


async def _for_ever(step: Callable[[], Awaitable[object]]) -> None:
    while True:
        try:
            await step()
        except Exception as error:  # noqa: BLE001 - the next time may go well, and nothing else depends on it
            log.warning("what a change of the embedding model needs failed: it is tried again", reason=str(error))
        await asyncio.sleep(PAUSE_SECONDS)


async def tenants(database: Database) -> list[UUID]:
    """Return the ids of every tenant."""
    async with database.read(None, **AS_OPERATOR) as session:
        return [one.id for one in await list_tenants(session)]


def _rows(found: Sequence[Lacking], vectors: Vectors) -> list[Vector]:
    made = iter(vectors)
    return [Vector(memory=one.id, place=place, vector=as_halfvec(next(made))) for one in found for place in one.rows]
