"""Online change of the embedding model: fill in the new model's vectors, make it active, drop the old vectors.

The new model's vectors are built beside the old ones, in the same rows; searches use the old ones until the new model
becomes active. Services are then restarted with the new model one by one, and the old vectors are dropped once no
process uses them. Every step can be interrupted and repeated.

While two models are in use, each service also fills in its own model's vectors of memories that a service with the
other model has just written.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar
from uuid import UUID

import structlog

from app.db import embedding_models, reembedding
from app.db.embedding_models import Phase, StoredModel
from app.db.reembedding import Count, Lacking, OwnerConnection, Vector
from app.db.session import Database, ReadSession, WriteSession
from app.db.sql import as_halfvec
from app.db.tenants import AS_OPERATOR, list_tenants
from app.errors import ConfigurationError, Conflict
from app.memory.registry import Registry, Types
from app.providers.embeddings import Embedder, Purpose, Vectors
from app.write import embed

BATCH = 256
"""Memories that get their vectors in one transaction."""

PAUSE_SECONDS = 5.0
"""The interval at which a service checks which models are in use."""

_FIRST = UUID(int=0)

log = structlog.get_logger("typed_memory.vectors")

_Own = TypeVar("_Own", bound=Lacking)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind(Generic[_Own]):
    """A table with vectors: functions that read rows without one, build their texts, and store the vectors."""

    lacking: Callable[[ReadSession, UUID, int, UUID, int], Awaitable[list[_Own]]]
    texts: Callable[[Sequence[_Own], Registry], list[list[str]]]
    purpose: Purpose
    fill: Callable[[WriteSession, UUID, int, Sequence[_Own], Sequence[Vector]], Awaitable[int]]


_MEMORIES = _Kind(
    lacking=reembedding.read_texts, texts=embed.stored_texts, purpose="document", fill=reembedding.store_vectors
)

_QUESTIONS = _Kind(
    lacking=reembedding.read_questions, texts=embed.stored_questions, purpose="query", fill=reembedding.fill_questions
)


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorBackfill:
    """Stores the missing vectors of the model `model_id`, which `embedder` computes. Repeating it changes nothing."""

    database: Database
    embedder: Embedder
    model_id: int
    types: Types

    async def run(self) -> None:
        """Fill in vectors of rows that services with another model write, until cancelled.

        Heartbeats run beside it, because filling in may take long.
        """
        await asyncio.gather(_for_ever(self.keep_up), _for_ever(self.heartbeat))

    async def heartbeat(self) -> None:
        """Record that this process uses its model, if the model is waiting to be dropped."""
        for one in await embedding_models.read_models(self.database):
            if one.id == self.model_id and one.phase is Phase.LEAVING:
                await embedding_models.heartbeat(self.database, self.model_id)

    async def keep_up(self) -> int:
        """Fill in missing vectors while two models are in use, in one process at a time; return how many rows."""
        known = {one.id: one for one in await embedding_models.read_models(self.database)}
        mine = known.get(self.model_id)
        if mine is None or mine.phase not in embedding_models.SERVING:
            return 0
        if not any(one.phase in embedding_models.SERVING for one in known.values() if one is not mine):
            return 0
        async with embedding_models.exclusive(self.database, self.model_id) as alone:
            return await self.fill_all() if alone else 0

    async def fill_all(self, report: Callable[[int], None] = lambda _: None) -> int:
        """Fill in all tenants' missing vectors; return how many rows. `report` gets the number of rows of each batch.

        Raises ProviderError when texts can't be embedded; earlier batches stay stored.
        """
        total = 0
        for tenant in await tenants(self.database):
            async for done in self.fill(tenant):
                report(done)
                total += done
        return total

    async def fill(self, tenant: UUID) -> AsyncIterator[int]:
        """Fill in a tenant's missing vectors; yield the number of rows after each batch."""
        for batches in (self._batches(tenant, _MEMORIES), self._batches(tenant, _QUESTIONS)):
            async for done in batches:
                yield done

    async def sample(self, tenant: UUID, most: int) -> list[str]:
        """Return the texts to embed of at most `most` of a tenant's memories without vectors."""
        async with self.database.read(tenant) as session:
            found = await reembedding.read_texts(session, tenant, self.model_id, _FIRST, most)
        texts = await asyncio.to_thread(embed.stored_texts, found, await self.types.of(tenant))
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
        except Exception:  # the next time may go well, and nothing else depends on it
            log.warning("a task of the embedding model change failed and will be retried", exc_info=True)
        await asyncio.sleep(PAUSE_SECONDS)


async def tenants(database: Database) -> list[UUID]:
    """Return the ids of every tenant."""
    async with database.read(None, **AS_OPERATOR) as session:
        return [one.id for one in await list_tenants(session)]


def _rows(found: Sequence[Lacking], vectors: Vectors) -> list[Vector]:
    made = iter(vectors)
    return [Vector(memory=one.id, place=place, vector=as_halfvec(next(made))) for one in found for place in one.rows]


ReportStep = Callable[[str, int, int | None], None]
"""Called with the name of a step, the rows done, and the rows in total, None if unknown."""

FEW = BATCH
"""A sweep that fills in at most this many rows is the last: services fill in newer rows themselves."""

SWEEPS = 20
"""Sweeps before a run gives up because the store is written to faster than it can be embedded."""

QUIET_SECONDS = 30.0
"""A model without a heartbeat for so long is no longer in use: processes send one every five seconds."""

DROP_BATCH = 2_000
"""Rows whose vectors are dropped in one transaction."""

NO_MODEL = -1
"""Stands for the id of a model that is not recorded yet, so that every row lacks its vector."""

_PROBE = "Is this what was configured?"

SAMPLE = 256
"""Memories that an estimate embeds."""

_END: Mapping[Phase, str] = {
    Phase.ACTIVE: "it is in use",
    Phase.BUILDING: "let `typed-memory reembed` with its TM_EMBEDDING_* come to its end, or take it back: --abandon",
    Phase.LEAVING: "drop it first, with `typed-memory reembed --drop`",
    Phase.DROPPING: "let that end first, with `typed-memory reembed --drop` and the TM_EMBEDDING_* of the active one",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The cost of a change: `seconds` of embedding, and the `bytes` that the vectors need beside the old ones."""

    rows: int
    lacking: int
    tenants: int
    seconds: float
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexBuild:
    """The result of a run: the model, the rows that were filled in, and whether the run made the model active."""

    model: StoredModel
    filled: int
    seconds: float
    switched: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelProgress:
    """A model, and while it is being built the number of a tenant's rows and of those that lack its vectors."""

    model: StoredModel
    rows: int | None = None
    lacking: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingModels:
    """The models as a tenant's administrators see them."""

    database: Database

    async def list(self, tenant: UUID) -> list[ModelProgress]:
        """Return the models, the active one first; rows are counted for one that is being built alone."""
        found = []
        for one in await embedding_models.read_models(self.database):
            progress = ModelProgress(model=one)
            if one.phase is Phase.BUILDING:
                async with self.database.read(tenant) as session:
                    count = await reembedding.count(session, tenant, one.id)
                progress = ModelProgress(model=one, rows=count.rows, lacking=count.lacking)
            found.append(progress)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Reembedding:
    """The steps of a change to `embedder`'s model. `owner_url` is the login of the owner, who builds indexes."""

    owner_url: str
    database: Database
    embedder: Embedder
    types: Types
    report: ReportStep = lambda _what, _done, _of: None

    async def status(self) -> list[tuple[StoredModel, Count]]:
        """Return the models, each with the number of rows and of rows without its vectors."""
        return [(one, await self._count(one.id)) for one in await embedding_models.read_models(self.database)]

    async def estimate(self) -> Estimate:
        """Return the cost of a run, extrapolated from embedding some memories; nothing is written."""
        known = await embedding_models.read_models(self.database)
        found = self._configured(known)
        everyone = await tenants(self.database)
        count = await self._count(NO_MODEL if found is None else found.id)
        texts, seconds = await self._sample(everyone)
        return Estimate(
            rows=count.rows,
            lacking=count.lacking,
            tenants=len(everyone),
            seconds=count.lacking * seconds / max(1, texts),
            bytes=count.lacking * (2 * self.embedder.dimensions + 8),
        )

    async def build(self) -> IndexBuild:
        """Give every row a vector of the configured model, index the vectors, and make the model the active one.

        If the model is active already, only missing vectors are filled in. Raises Conflict when another run or another
        change is under way, ProviderError when texts can't be embedded: a repeated run continues from there.
        """
        started = time.monotonic()
        async with reembedding.owner_connection(self.owner_url) as connection:
            model = await self._record_model(connection)
            filling = self._filling(model)
            filled = await self._sweep_until_done(filling, model)
            self.report("building the vector index", 0, None)
            await reembedding.index_vectors(connection, model)
            filled += await self._sweep_until_done(filling, model)
            if model.phase is not Phase.ACTIVE:
                await reembedding.switch(connection, model.id)
        seconds = time.monotonic() - started
        return IndexBuild(model=model, filled=filled, seconds=seconds, switched=model.phase is not Phase.ACTIVE)

    async def drop(self, *, force: bool = False) -> tuple[StoredModel, int] | None:
        """Drop the vectors of the model that the configured one replaced; return it and the number of rows.

        Returns None when there is none to drop. Raises Conflict when the configured model is not the active one, or,
        without `force`, when processes still use the old one.
        """
        async with reembedding.owner_connection(self.owner_url) as connection:
            known = await embedding_models.read_models(self.database)
            active, configured = _active(known), self._configured(known)
            if configured != active:
                raise Conflict(f"{active} is the active model: run this with its TM_EMBEDDING_*")
            old = next((one for one in known if one.phase in {Phase.LEAVING, Phase.DROPPING}), None)
            if old is None:
                return None
            if old.phase is Phase.LEAVING and not force and (old.unseen or 0.0) < QUIET_SECONDS:
                raise Conflict(
                    f"a process that works with {old} was seen {old.unseen or 0:.0f} seconds ago: restart all of "
                    f"them with {active}, wait half a minute and try again; --force drops it under them"
                )
            await reembedding.mark(connection, old.id, Phase.DROPPING)
            await self._sweep_until_done(self._filling(active), active)
            return old, await self._drop_vectors(connection, old, kept=active)

    async def abandon(self) -> tuple[StoredModel, int] | None:
        """Drop the vectors of a model that is not active yet; return it and the number of rows, None without one."""
        async with reembedding.owner_connection(self.owner_url) as connection:
            known = await embedding_models.read_models(self.database)
            begun = next((one for one in known if one.phase in {Phase.BUILDING, Phase.DROPPING}), None)
            if begun is None:
                return None
            await reembedding.mark(connection, begun.id, Phase.DROPPING)
            return begun, await self._drop_vectors(connection, begun, kept=_active(known))

    async def _record_model(self, connection: OwnerConnection) -> StoredModel:
        """Record the configured model if it is new, index the rows without its vectors, and return the model."""
        known = await embedding_models.read_models(self.database)
        found = self._configured(known)
        if found is None:
            active = _active(known)
            for other in known:
                if other is not active:
                    raise Conflict(
                        f"{other} is {other.phase}, and there is room for two models only: {_END[other.phase]}"
                    )
            # Recording a model whose vectors have other dimensions than configured would block every later change.
            await self.embedder.embed([_PROBE], purpose="document")
            added = await reembedding.add(connection, name=self.embedder.name, dimensions=self.embedder.dimensions)
            known = await embedding_models.read_models(self.database)
            found = next(one for one in known if one.id == added)
        if found.phase is Phase.DROPPING:
            raise Conflict(f"the vectors of {found} are being dropped: {_END[found.phase]}")
        self.report("looking for what lacks vectors", 0, None)
        await reembedding.index_gaps(connection, known)
        return found

    async def _sweep_until_done(self, filling: VectorBackfill, model: StoredModel) -> int:
        """Sweep until next to nothing is missing; return how many rows were filled in."""
        total = 0
        for _ in range(SWEEPS):
            done = await self._sweep(filling, model)
            total += done
            if done <= FEW:
                return total
        raise Conflict("memories are written faster than they can be embedded: run this again when it is quieter")

    async def _sweep(self, filling: VectorBackfill, model: StoredModel) -> int:
        """Fill in the vectors that are missing now, with reports of progress; return how many rows."""
        lacking, done = (await self._count(model.id)).lacking, 0

        def add(rows: int) -> None:
            nonlocal done
            done += rows
            self.report(f"embedding with {model.name}", done, lacking)

        return await filling.fill_all(add)

    async def _drop_vectors(self, connection: OwnerConnection, old: StoredModel, *, kept: StoredModel) -> int:
        """Drop a model's vectors, indexes and record; return the number of rows."""
        await reembedding.drop_indexes(connection, old)
        total = 0
        for tenant in await tenants(self.database):
            for table in embedding_models.TABLES:
                async for rows in self._clear(tenant, table, old, kept):
                    total += rows
                    self.report(f"dropping vectors of {old.name}", total, None)
        await reembedding.drop_gaps(connection, old)
        await reembedding.mark(connection, old.id, Phase.DROPPED)
        return total

    async def _clear(self, tenant: UUID, table: str, old: StoredModel, kept: StoredModel) -> AsyncIterator[int]:
        """Clear a tenant's rows, again while other transactions lock some; yield the number of rows of each batch."""
        seen = True
        while seen:
            after, seen = reembedding.FIRST, False
            while True:
                async with self.database.write(tenant) as session:
                    done = await reembedding.clear(
                        session, tenant, table, model=old.id, kept=kept.id, after=after, limit=DROP_BATCH
                    )
                if not done:
                    break
                seen, after = True, done[-1]
                yield len(done)

    async def _count(self, model_id: int) -> Count:
        total = Count()
        for tenant in await tenants(self.database):
            async with self.database.read(tenant) as session:
                total += await reembedding.count(session, tenant, model_id)
        return total

    async def _sample(self, everyone: Sequence[UUID]) -> tuple[int, float]:
        """Embed texts of some memories; return how many, and the seconds that it took."""
        filling = VectorBackfill(database=self.database, embedder=self.embedder, model_id=NO_MODEL, types=self.types)
        for tenant in everyone:
            texts = await filling.sample(tenant, SAMPLE)
            if texts:
                started = time.monotonic()
                await self.embedder.embed(texts, purpose="document")
                return len(texts), time.monotonic() - started
        return 0, 0.0

    def _filling(self, model: StoredModel) -> VectorBackfill:
        return VectorBackfill(database=self.database, embedder=self.embedder, model_id=model.id, types=self.types)

    def _configured(self, known: Sequence[StoredModel]) -> StoredModel | None:
        """Return the configured model, None if it is not recorded."""
        mine = (self.embedder.name, self.embedder.dimensions)
        return next((one for one in known if (one.name, one.dimensions) == mine), None)


def _active(known: Sequence[StoredModel]) -> StoredModel:
    """Return the active model, or raise ConfigurationError before the first start."""
    for one in known:
        if one.phase is Phase.ACTIVE:
            return one
    raise ConfigurationError("no embedding model is recorded in the database: start the service with it once first")
