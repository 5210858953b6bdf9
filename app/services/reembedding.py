"""Changing the embedding model of a store that is in use.

The new model's vectors are built beside the old one's, in the same rows; what is asked meanwhile is answered by the
old ones. Then the new model becomes the active one, services are started with it one after the other, and when
none works with the old one any more, its vectors are dropped. Every step can be cut off and done again.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import asyncpg

from app.db import models, owner, refill
from app.db.models import Phase, StoredModel
from app.db.refill import Count
from app.db.session import Database
from app.errors import ConfigurationError, Conflict
from app.memory.registry import Types
from app.providers.embeddings import Embedder
from app.services.refilling import BATCH, Refilling, tenants

Told = Callable[[str, int, int | None], None]
"""Told what is under way, how many rows of it are done, and of how many, if that is known."""

FEW = BATCH
"""Rows that a sweep may still have found for the model to be switched to: services fill in the others at once."""

SWEEPS = 20
"""After so many the store is written to faster than it can be embedded, and it is said so."""

QUIET_SECONDS = 30.0
"""A model that no process was heard of with for so long is no longer in use: they tell every five seconds."""

CLEARED = 2_000
"""Rows whose vectors are dropped in one transaction."""

NO_MODEL = -1
"""In place of the id of a model that is not recorded yet: every row lacks its vector."""

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
    """What a change would come to. `seconds` is the embedder's share; `bytes` what the vectors take beside the old."""

    rows: int
    lacking: int
    tenants: int
    seconds: float
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """What a run came to: the model, the rows that it gave vectors to, and whether it is active only now."""

    model: StoredModel
    filled: int
    seconds: float
    switched: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Reembedding:
    """The steps of a change of the model to `embedder`'s. `owner_url` is the owner's login, which builds indexes."""

    owner_url: str
    database: Database
    embedder: Embedder
    types: Types
    told: Told = lambda _what, _done, _of: None

    async def status(self) -> list[tuple[StoredModel, Count]]:
        """Return the models that there are, and how many rows there are and lack their vectors."""
        return [(one, await self._count(one.id)) for one in await models.stored(self.database)]

    async def estimate(self) -> Estimate:
        """Return what a run would come to, by embedding some memories; nothing is written."""
        known = await models.stored(self.database)
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

    async def build(self) -> Built:
        """Give every row a vector of the configured model, index them, and make the model the active one.

        Of the model that is active already, what is lacking is filled in. Raises Conflict when another run or
        another change is under way, ProviderError when texts can't be embedded: run again, it goes on from there.
        """
        started = time.monotonic()
        async with owner.changing(self.owner_url) as connection:
            model = await self._begun(connection)
            filling = self._filling(model)
            filled = await self._swept(filling, model)
            self.told("building the vector index", 0, None)
            await owner.index_vectors(connection, model)
            filled += await self._swept(filling, model)
            if model.phase is not Phase.ACTIVE:
                await owner.switch(connection, model.id)
        seconds = time.monotonic() - started
        return Built(model=model, filled=filled, seconds=seconds, switched=model.phase is not Phase.ACTIVE)

    async def drop(self, *, force: bool = False) -> tuple[StoredModel, int] | None:
        """Drop the vectors of the model that the configured one took the place of; return it and of how many rows.

        None when there is none to drop. `force`: although processes still work with it. Raises Conflict when
        they do, or when the configured model is not the active one.
        """
        async with owner.changing(self.owner_url) as connection:
            known = await models.stored(self.database)
            active, configured = _active(known), self._configured(known)
            if configured != active:
                raise Conflict(f"{active} is the active model: run this with its TM_EMBEDDING_*")
            old = next((one for one in known if one.phase in {Phase.LEAVING, Phase.DROPPING}), None)
            if old is None:
                return None
            if old.phase is Phase.LEAVING and not force and (old.unseen or 0.0) < QUIET_SECONDS:
                raise Conflict(
                    f"a process that works with {old} was heard of {old.unseen or 0:.0f} seconds ago: restart all of "
                    f"them with {active}, wait half a minute and try again; --force drops it under them"
                )
            await owner.mark(connection, old.id, Phase.DROPPING)
            await self._swept(self._filling(active), active)
            return old, await self._dropped(connection, old, kept=active)

    async def abandon(self) -> tuple[StoredModel, int] | None:
        """Drop what was built of a model that is not active yet; return it and the rows, None if there is none."""
        async with owner.changing(self.owner_url) as connection:
            known = await models.stored(self.database)
            begun = next((one for one in known if one.phase in {Phase.BUILDING, Phase.DROPPING}), None)
            if begun is None:
                return None
            await owner.mark(connection, begun.id, Phase.DROPPING)
            return begun, await self._dropped(connection, begun, kept=_active(known))

    async def _begun(self, connection: asyncpg.Connection) -> StoredModel:
        """Return the configured model, recorded if it is new, with what is lacking indexed."""
        known = await models.stored(self.database)
        found = self._configured(known)
        if found is None:
            active = _active(known)
            for other in known:
                if other is not active:
                    raise Conflict(
                        f"{other} is {other.phase}, and there is room for two models only: {_END[other.phase]}"
                    )
            # A model whose vectors are not what is configured would be recorded, and stand in the way until it is gone.
            await self.embedder.embed([_PROBE], purpose="document")
            added = await owner.add(connection, name=self.embedder.name, dimensions=self.embedder.dimensions)
            known = await models.stored(self.database)
            found = next(one for one in known if one.id == added)
        if found.phase is Phase.DROPPING:
            raise Conflict(f"the vectors of {found} are being dropped: {_END[found.phase]}")
        self.told("looking for what lacks vectors", 0, None)
        await owner.index_gaps(connection, known)
        return found

    async def _swept(self, filling: Refilling, model: StoredModel) -> int:
        """Fill in what is lacking until there is next to nothing; return how many rows were."""
        total = 0
        for _ in range(SWEEPS):
            done = await self._sweep(filling, model)
            total += done
            if done <= FEW:
                return total
        raise Conflict("memories are written faster than they can be embedded: run this again when it is quieter")

    async def _sweep(self, filling: Refilling, model: StoredModel) -> int:
        """Fill in what is lacking now, and tell of it."""
        lacking, done = (await self._count(model.id)).lacking, 0

        def told(rows: int) -> None:
            nonlocal done
            done += rows
            self.told(f"embedding with {model.name}", done, lacking)

        return await filling.fill_all(told)

    async def _dropped(self, connection: asyncpg.Connection, old: StoredModel, *, kept: StoredModel) -> int:
        """Take a model's vectors and indexes away, and record that there are none."""
        await owner.drop_indexes(connection, old)
        total = 0
        for tenant in await tenants(self.database):
            for table in models.TABLES:
                async for rows in self._cleared(tenant, table, old, kept):
                    total += rows
                    self.told(f"dropping vectors of {old.name}", total, None)
        await owner.drop_gaps(connection, old)
        await owner.mark(connection, old.id, Phase.DROPPED)
        return total

    async def _cleared(self, tenant: UUID, table: str, old: StoredModel, kept: StoredModel) -> AsyncIterator[int]:
        """Clear a tenant's rows, again and again while some were held by others; yield how many, batch by batch."""
        seen = True
        while seen:
            after, seen = refill.FIRST, False
            while True:
                async with self.database.write(tenant) as session:
                    done = await refill.clear(
                        session, tenant, table, model=old.id, kept=kept.id, after=after, limit=CLEARED
                    )
                if not done:
                    break
                seen, after = True, done[-1]
                yield len(done)

    async def _count(self, model_id: int) -> Count:
        total = Count()
        for tenant in await tenants(self.database):
            async with self.database.read(tenant) as session:
                total += await refill.count(session, tenant, model_id)
        return total

    async def _sample(self, everyone: Sequence[UUID]) -> tuple[int, float]:
        """Embed texts of some memories; return how many, and the seconds it took."""
        filling = Refilling(database=self.database, embedder=self.embedder, model_id=NO_MODEL, types=self.types)
        for tenant in everyone:
            texts = await filling.sample(tenant, SAMPLE)
            if texts:
                started = time.monotonic()
                await self.embedder.embed(texts, purpose="document")
                return len(texts), time.monotonic() - started
        return 0, 0.0

    def _filling(self, model: StoredModel) -> Refilling:
        return Refilling(database=self.database, embedder=self.embedder, model_id=model.id, types=self.types)

    def _configured(self, known: Sequence[StoredModel]) -> StoredModel | None:
        """Return the model that is configured, None while it is not there."""
        mine = (self.embedder.name, self.embedder.dimensions)
        return next((one for one in known if (one.name, one.dimensions) == mine), None)


def _active(known: Sequence[StoredModel]) -> StoredModel:
    """Return the active model, or raise ConfigurationError before the first start."""
    for one in known:
        if one.phase is Phase.ACTIVE:
            return one
    raise ConfigurationError("no embedding model is recorded in the database: start the service with it once first")
