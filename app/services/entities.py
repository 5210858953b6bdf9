"""The use cases of entities: list them, read one, look around it."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from app import ids
from app.db import entities
from app.db.entities import Edge, Entity
from app.db.session import Database
from app.errors import NotFound
from app.memory import normalise
from app.model import Actor


@dataclass(frozen=True, slots=True, kw_only=True)
class Entities:
    """Entities as callers see them; every method sees only the actor's tenant."""

    database: Database

    async def list(
        self,
        actor: Actor,
        *,
        scopes: tuple[UUID, ...] | None,
        entity_type: str | None = None,
        name: str | None = None,
        after: UUID | None = None,
        limit: int = 50,
    ) -> tuple[tuple[Entity, ...], bool]:
        """Return entities in the order of their ids, and whether there are more; `name` is any of its names."""
        async with self.database.read(actor.tenant_id) as session:
            found = await entities.page(
                session,
                actor.tenant_id,
                scopes=scopes,
                entity_type=None if entity_type is None else normalise.key(entity_type),
                alias=None if name is None else normalise.name(name),
                after=after,
                limit=limit + 1,
            )
        return tuple(found[:limit]), len(found) > limit

    async def get(self, actor: Actor, entity: UUID) -> Entity:
        """Return an entity, or raise NotFound."""
        async with self.database.read(actor.tenant_id) as session:
            found = await entities.find(session, actor.tenant_id, entity)
        if found is None:
            raise NotFound(f"no such entity: {ids.public(ids.ENTITY, entity)}")
        return found

    async def graph(self, actor: Actor, entity: UUID, *, depth: int) -> tuple[Entity, tuple[Edge, ...]]:
        """Return an entity and the edges within `depth` steps of it."""
        async with self.database.read(actor.tenant_id) as session:
            found = await entities.find(session, actor.tenant_id, entity)
            if found is None:
                raise NotFound(f"no such entity: {ids.public(ids.ENTITY, entity)}")
            return found, tuple(await entities.around(session, actor.tenant_id, entity, depth=depth))
