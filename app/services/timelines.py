"""The use cases of Aegis Memory's two listings: a session's timeline, and what is known about an entity."""

from __future__ import annotations

from dataclasses import dataclass

from app import ids
from app.db import timelines
from app.db.listing import Filters, Position
from app.db.session import Database
from app.model import Actor
from app.services.memories import Page


@dataclass(frozen=True, slots=True, kw_only=True)
class Timelines:
    """Timelines as callers read them; each sees only the actor's tenant."""

    database: Database

    async def session(
        self, actor: Actor, filters: Filters, *, session_id: str, limit: int, after: Position | None
    ) -> Page:
        """Return one page of a session's episodes, in sequence."""
        async with self.database.read(actor.tenant_id) as session:
            found = await timelines.episodes(
                session, actor.tenant_id, filters, of=session_id, limit=limit + 1, after=after
            )
        if len(found) <= limit:
            return Page(memories=tuple(found), next=None)
        last = found[limit - 1]
        value = last.stated_at if last.sequence_number is None else float(last.sequence_number)
        return Page(memories=tuple(found[:limit]), next=Position(id=last.id, value=value))

    async def entity(
        self, actor: Actor, filters: Filters, *, entity_id: str, limit: int, after: Position | None
    ) -> Page:
        """Return one page of what is known about an entity, by the caller's own id for it or by its `ent_` id."""
        entity = ids.told(ids.ENTITY, entity_id) or entity_id
        async with self.database.read(actor.tenant_id) as session:
            found = await timelines.known_about(
                session, actor.tenant_id, filters, entity=entity, limit=limit + 1, after=after
            )
        if len(found) <= limit:
            return Page(memories=tuple(found), next=None)
        return Page(memories=tuple(found[:limit]), next=Position(id=found[limit - 1].id))
