"""Turns, as far as typed writes need them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from app.db import turns as rows
from app.db.session import Database
from app.model import Actor


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """The turns that evidence may point to."""

    database: Database

    async def unknown(self, actor: Actor, turns: Collection[UUID]) -> set[UUID]:
        """Return which of these are no turns of the actor's tenant; asks nothing when there are none."""
        if not turns:
            return set()
        async with self.database.read(actor.tenant_id) as session:
            return set(turns) - await rows.known(session, actor.tenant_id, turns)
