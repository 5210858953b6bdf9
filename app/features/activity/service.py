"""Use cases of a tenant's activity: its users, agents and sessions, and daily counts of turns and decisions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from uuid import UUID

from app import ids
from app.db.entities import read as entity_reads
from app.db.session import Database
from app.features.activity import sql as activity
from app.features.activity.sql import EntityNeighbour, NameActivity, SessionActivity
from app.features.lifecycle.sql import drift
from app.features.lifecycle.sql.drift import DONE, StoreCount
from app.model import Actor, ScopeKind
from app.services.pages import Page, cut_page

__all__ = ["Activity", "DayActivity", "EntityNeighbour", "NameActivity", "SessionActivity"]

TURN, SKIPPED, DECISION = "turn", "skipped", "decision"


@dataclass(frozen=True, slots=True, kw_only=True)
class DayActivity:
    """Counts of a day (UTC): turns by status, skipped turns by reason, writes by decision."""

    day: date
    turns: Mapping[str, int]
    skipped: Mapping[str, int]
    decisions: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """Reads a tenant's users, agents, sessions and daily counts; every method sees only the actor's tenant."""

    database: Database
    clock: Callable[[], datetime]

    async def names(
        self, actor: Actor, kind: ScopeKind, scopes: Sequence[UUID] | None, *, text: str, after: str, limit: int
    ) -> Page[NameActivity, str]:
        """Return one page of users or agents of these scopes whose id holds `text`, in the order of ids."""
        async with self.database.read(actor.tenant_id) as session:
            found = await activity.names(
                session, actor.tenant_id, kind, scopes, text=text, after=after, limit=limit + 1
            )
        return cut_page(found, limit, lambda one: one.name)

    async def sessions(
        self, actor: Actor, *, scopes: Sequence[UUID] | None, after: str, limit: int
    ) -> Page[SessionActivity, str]:
        """Return one page of sessions that memories of these scopes come from; None: every scope."""
        async with self.database.read(actor.tenant_id) as session:
            found = await activity.sessions(session, actor.tenant_id, scopes=scopes, after=after, limit=limit + 1)
        return cut_page(found, limit, lambda one: one.session_id)

    async def neighbours(self, actor: Actor, entity: UUID, *, limit: int) -> list[EntityNeighbour]:
        """Return the entities that active memories name together with one; NotFound when there is no such entity."""
        async with self.database.read(actor.tenant_id) as session:
            ids.require(await entity_reads.find(session, actor.tenant_id, entity), ids.ENTITY, entity)
            return await activity.named_together(session, actor.tenant_id, entity, limit=limit)

    async def days(self, actor: Actor, *, days: int) -> list[DayActivity]:
        """Return the last `days` days, today included, oldest first.

        Days that the worker `drift` has counted are read from its rows; the others are counted now.
        """
        tenant, today = actor.tenant_id, self.clock().date()
        wanted = [today - timedelta(days=back) for back in range(days - 1, -1, -1)]
        async with self.database.read(tenant) as session:
            _, kept = await drift.read_counts(session, tenant, wanted[0])
            done = {one.day for one in kept if one.kind == DONE}
            missing = next(day for day in wanted if day not in done)
            fresh = await drift.count_days(session, tenant, missing, today)
        return _group_by_day(
            wanted, [one for one in kept if one.day in done] + [one for one in fresh if one.day not in done]
        )


def _group_by_day(days: Sequence[date], found: Sequence[StoreCount]) -> list[DayActivity]:
    counts: dict[tuple[date | None, str], dict[str, int]] = defaultdict(dict)
    for one in found:
        counts[one.day, one.kind][one.name] = one.count
    return [
        DayActivity(day=day, turns=counts[day, TURN], skipped=counts[day, SKIPPED], decisions=counts[day, DECISION])
        for day in days
    ]
